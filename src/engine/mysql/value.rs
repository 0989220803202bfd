//! A setting's value, read as the server reads it from an option file (`mysys/my_getopt.cc`: `get_bool_argument`,
//! `eval_num_suffix`), and written in one spelling that both an option file and `SET GLOBAL` take.

use super::parameters::{Kind, Parameter};

/// The value in one spelling. The error says what the value must be, in words that can stand behind "must be".
pub(super) fn read(parameter: &Parameter, text: &str) -> Result<String, String> {
    match &parameter.kind {
        Kind::Boolean => {
            boolean(text).map(|on| if on { "ON" } else { "OFF" }.to_owned()).ok_or_else(|| "ON or OFF".to_owned())
        }
        Kind::Integer { least, largest } => {
            let number = integer(text)
                .ok_or_else(|| "a whole number, perhaps with one of the suffixes K, M, G, T".to_owned())?;
            if (*least..=*largest).contains(&number) {
                Ok(number.to_string())
            } else {
                Err(format!("between {least} and {largest}"))
            }
        }
        Kind::Number { least, largest } => {
            let plain = |text: &str| text.bytes().all(|b| b.is_ascii_digit() || b == b'.' || b == b'-');
            let number: f64 = Some(text)
                .filter(|text| plain(text))
                .and_then(|text| text.parse().ok())
                .ok_or_else(|| "a number".to_owned())?;
            if (*least..=*largest).contains(&number) {
                Ok(number.to_string())
            } else {
                Err(format!("between {least} and {largest}"))
            }
        }
        Kind::Words(words) => words
            .iter()
            .find(|word| word.eq_ignore_ascii_case(text))
            .map(|word| (*word).to_owned())
            .ok_or_else(|| format!("one of {}", words.join(", "))),
        Kind::Text => Ok(text.to_owned()),
    }
}

fn boolean(text: &str) -> Option<bool> {
    match text.to_ascii_lowercase().as_str() {
        "1" | "on" | "true" => Some(true),
        "0" | "off" | "false" => Some(false),
        _ => None,
    }
}

/// Digits with a suffix of one letter, a power of 1024.
fn integer(text: &str) -> Option<i128> {
    let (digits, shift) = match text.char_indices().next_back()? {
        (at, suffix) if suffix.is_ascii_alphabetic() => {
            let power = "KMGTPE".find(suffix.to_ascii_uppercase())? + 1;
            (&text[..at], power * 10)
        }
        _ => (text, 0),
    };
    let number = digits.strip_prefix('-').unwrap_or(digits);
    if number.is_empty() || number.len() > 20 || !number.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    // Twenty digits and sixty bits more are within 128 bits.
    digits.parse::<i128>().ok().map(|value| value * (1i128 << shift))
}

#[cfg(test)]
mod tests {
    use super::read;
    use crate::engine::mysql::parameters::find;

    #[test]
    fn values_are_read_as_the_server_reads_them() {
        for (name, text, expected) in [
            ("max_connections", "200", Some("200")),
            ("max_connections", "1K", Some("1024")),
            ("max_connections", "0", None),
            ("max_connections", "1.5", None),
            ("max_connections", "", None),
            ("max_connections", "-", None),
            ("max_connections", "99999999999999999999E", None),
            ("innodb_buffer_pool_size", "256M", Some("268435456")),
            ("innodb_buffer_pool_size", "256m", Some("268435456")),
            ("innodb_buffer_pool_size", "256Mi", None),
            ("innodb_buffer_pool_size", "256MB", None),
            ("innodb_print_all_deadlocks", "true", Some("ON")),
            ("innodb_print_all_deadlocks", "off", Some("OFF")),
            ("innodb_print_all_deadlocks", "yes", None),
            ("long_query_time", "0.5", Some("0.5")),
            ("long_query_time", "nan", None),
            ("long_query_time", "1e3", None),
            ("transaction_isolation", "read-committed", Some("READ-COMMITTED")),
            ("transaction_isolation", "snapshot", None),
            ("sql_mode", "ANSI_QUOTES", Some("ANSI_QUOTES")),
        ] {
            let parameter = find(name).expect("a setting of the server");
            assert_eq!(read(parameter, text).ok().as_deref(), expected, "{name} = {text:?}");
        }
    }
}
