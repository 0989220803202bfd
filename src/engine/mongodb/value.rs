//! A setting's value, read as the server reads it from its configuration file, and written in one spelling that both
//! YAML and JSON take.

use super::parameters::{Kind, Parameter};

/// The value in one spelling. The error says what the value must be, in words that can stand behind "must be".
pub(super) fn read(parameter: &Parameter, text: &str) -> Result<String, String> {
    match &parameter.kind {
        Kind::Boolean => match text {
            "true" | "false" => Ok(text.to_owned()),
            _ => Err("true or false".to_owned()),
        },
        Kind::Integer { least, largest } => {
            let number = integer(text).ok_or_else(|| "a whole number without a unit".to_owned())?;
            if (*least..=*largest).contains(&number) {
                Ok(number.to_string())
            } else {
                Err(between(*least, *largest, i64::from(i32::MAX)))
            }
        }
        Kind::Number { least, largest } => {
            let plain = |text: &str| text.bytes().all(|b| b.is_ascii_digit() || b == b'.' || b == b'-');
            let number: f64 = Some(text)
                .filter(|text| plain(text))
                .and_then(|text| text.parse().ok())
                .ok_or_else(|| "a number without a unit".to_owned())?;
            if (*least..=*largest).contains(&number) {
                Ok(number.to_string())
            } else {
                Err(between(*least, *largest, 1e308))
            }
        }
        Kind::Words(words) => {
            if words.contains(&text) {
                Ok(text.to_owned())
            } else {
                Err(format!("one of {}", words.join(", ")))
            }
        }
        Kind::List(words) => {
            let known = !text.is_empty() && text.split(',').all(|word| words.contains(&word));
            known
                .then(|| text.to_owned())
                .ok_or_else(|| format!("some of {}, with commas and no spaces", words.join(", ")))
        }
        Kind::Text => Ok(text.to_owned()),
    }
}

/// Bounds in words; the largest number there is says nothing.
fn between<T: PartialEq + std::fmt::Display>(least: T, largest: T, end: T) -> String {
    if largest == end { format!("{least} or more") } else { format!("between {least} and {largest}") }
}

/// Digits, perhaps with a sign.
fn integer(text: &str) -> Option<i64> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    text.parse().ok()
}

/// The value as YAML and JSON write it: text in quotes, everything else as it is.
pub(super) fn literal(parameter: &Parameter, value: &str) -> String {
    match parameter.kind {
        Kind::Boolean | Kind::Integer { .. } | Kind::Number { .. } => value.to_owned(),
        Kind::Words(_) | Kind::List(_) | Kind::Text => quoted(value),
    }
}

/// Text in double quotes. JSON's escapes are YAML's as well.
pub(super) fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use super::{literal, quoted, read};
    use crate::engine::mongodb::parameters::known;

    #[test]
    fn values_are_read_as_the_server_reads_them() {
        for (name, text, expected) in [
            ("logLevel", "2", Some("2")),
            ("logLevel", "6", None),
            ("logLevel", "1.5", None),
            ("logLevel", "", None),
            ("logLevel", "-", None),
            ("logLevel", "+1", None),
            ("logLevel", "99999999999999999999", None),
            ("replBatchLimitBytes", "32MB", None),
            ("maxTransactionLockRequestTimeoutMillis", "-1", Some("-1")),
            ("enableFlowControl", "true", Some("true")),
            ("enableFlowControl", "True", None),
            ("enableFlowControl", "1", None),
            ("storage.wiredTiger.engineConfig.cacheSizeGB", "0.50", Some("0.5")),
            ("storage.wiredTiger.engineConfig.cacheSizeGB", "0.2", None),
            ("storage.wiredTiger.engineConfig.cacheSizeGB", "1GB", None),
            ("storage.wiredTiger.engineConfig.cacheSizeGB", "nan", None),
            ("storage.oplogMinRetentionHours", "1.5", Some("1.5")),
            ("operationProfiling.mode", "slowOp", Some("slowOp")),
            ("operationProfiling.mode", "slowop", None),
            ("net.compression.compressors", "zstd,snappy", Some("zstd,snappy")),
            ("net.compression.compressors", "zstd, snappy", None),
            ("net.compression.compressors", "", None),
            ("planCacheSize", "8.5%", Some("8.5%")),
        ] {
            let parameter = known(name).expect("a setting of the server");
            assert_eq!(read(parameter, text).ok().as_deref(), expected, "{name} = {text:?}");
        }
    }

    #[test]
    fn text_is_quoted_and_numbers_are_not() {
        let of = |name: &str, value: &str| literal(known(name).expect("a setting of the server"), value);
        assert_eq!(of("logLevel", "2"), "2");
        assert_eq!(of("planCacheSize", "8.5%"), "\"8.5%\"");
        assert_eq!(quoted("a\"b\\c"), r#""a\"b\\c""#);
    }
}
