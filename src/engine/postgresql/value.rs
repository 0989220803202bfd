//! A setting's value, read exactly as the server reads it (`src/backend/utils/misc/guc.c`: `parse_bool`, `parse_int`,
//! `parse_real`, `config_enum_lookup_by_name`). `tests/postgresql_settings.rs` compares it with a real server.

use super::parameters::{Kind, Parameter, Unit};

/// A value in one spelling, so that equal values are equal text.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value {
    Bool(bool),
    /// In the base unit.
    Integer(i64),
    /// In the base unit.
    Real(f64),
    /// In the table's letter case.
    Word(&'static str),
    Text(String),
}

/// Reads a value. The error says what the value must be, in words that can stand behind "must be".
pub(super) fn read(parameter: &Parameter, text: &str) -> Result<Value, String> {
    match &parameter.kind {
        Kind::Bool => boolean(text).map(Value::Bool).ok_or_else(|| "on or off".to_owned()),
        Kind::Integer { least, largest, unit } => {
            let value = integer(text, *unit).ok_or_else(|| a_number("a whole number", *unit))?;
            if (*least..=*largest).contains(&value) {
                Ok(Value::Integer(value))
            } else {
                Err(format!("between {} and {}", with_unit(*least, *unit), with_unit(*largest, *unit)))
            }
        }
        Kind::Real { least, largest, unit } => {
            let value = real(text, *unit).ok_or_else(|| a_number("a number", *unit))?;
            if (*least..=*largest).contains(&value) {
                Ok(Value::Real(value))
            } else {
                let unit = unit.map(base).unwrap_or_default();
                Err(format!("between {least}{unit} and {largest}{unit}"))
            }
        }
        Kind::Words(words) => match words.iter().find(|word| word.eq_ignore_ascii_case(text)) {
            Some(word) => Ok(Value::Word(word)),
            None => Err(format!(
                "one of {}",
                words.iter().filter(|word| !word.is_empty()).copied().collect::<Vec<_>>().join(", ")
            )),
        },
        Kind::Text => Ok(Value::Text(text.to_owned())),
    }
}

impl Value {
    /// The one spelling: `on`, `64MB`, `5min`, `0.9`.
    pub(super) fn text(&self, parameter: &Parameter) -> String {
        match (self, &parameter.kind) {
            (Value::Bool(value), _) => if *value { "on" } else { "off" }.to_owned(),
            (Value::Integer(value), Kind::Integer { unit, .. }) => with_unit(*value, *unit),
            (Value::Integer(value), _) => value.to_string(),
            (Value::Real(value), Kind::Real { unit: Some(unit), .. }) if *value > 0.0 => {
                format!("{value}{}", base(*unit))
            }
            (Value::Real(value), _) => value.to_string(),
            (Value::Word(word), _) => (*word).to_owned(),
            (Value::Text(text), _) => text.clone(),
        }
    }

    /// The number in the base unit, of a whole number.
    pub(super) fn integer(&self) -> Option<i64> {
        match self {
            Value::Integer(value) => Some(*value),
            _ => None,
        }
    }
}

fn a_number(what: &str, unit: Option<Unit>) -> String {
    match unit {
        None => what.to_owned(),
        Some(unit) if is_time(unit) => {
            format!("{what}, with one of the units us, ms, s, min, h, d; without one it counts in {}", base(unit))
        }
        Some(unit) => {
            format!("{what}, with one of the units B, kB, MB, GB, TB; without one it counts in {}", base(unit))
        }
    }
}

/// Any start of true, false, yes or no; on and off, from the second letter on; 1 and 0. In any letter case.
fn boolean(text: &str) -> Option<bool> {
    let text = text.to_ascii_lowercase();
    let starts = |word: &str| !text.is_empty() && word.starts_with(text.as_str());
    match text.as_str() {
        "1" | "on" => Some(true),
        "0" | "of" | "off" => Some(false),
        _ if starts("true") || starts("yes") => Some(true),
        _ if starts("false") || starts("no") => Some(false),
        _ => None,
    }
}

/// `parse_int`: C's `strtol`, or `strtod` where a fraction, an exponent or an overflow follows; a unit; rounded half to
/// even; within 32 bits.
fn integer(text: &str, unit: Option<Unit>) -> Option<i64> {
    let (value, rest) = match whole(text) {
        Some((Some(value), rest)) if !rest.starts_with(['.', 'e', 'E']) => (value, rest),
        // Of digits that do not begin with one, C looks at the character at the very start.
        None if !text.starts_with(['.', 'e', 'E']) => return None,
        _ => float(text)?,
    };
    let value = converted(value, rest, unit)?.round_ties_even();
    #[expect(clippy::cast_possible_truncation, reason = "checked to be within 32 bits")]
    (f64::from(i32::MIN)..=f64::from(i32::MAX)).contains(&value).then_some(value as i64)
}

/// `parse_real`.
fn real(text: &str, unit: Option<Unit>) -> Option<f64> {
    let (value, rest) = float(text)?;
    converted(value, rest, unit)
}

/// The value in the base unit, when the rest is nothing or a unit that the setting takes.
fn converted(value: f64, rest: &str, unit: Option<Unit>) -> Option<f64> {
    const LONGEST: usize = 3;
    let rest = rest.trim_start_matches(is_space);
    if rest.is_empty() {
        return Some(value);
    }
    let end = rest.find(is_space).unwrap_or(rest.len()).min(LONGEST);
    let (word, after) = (rest.get(..end)?, rest.get(end..)?);
    if !after.chars().all(is_space) {
        return None;
    }
    let table = table(unit?);
    let at = table.iter().position(|(name, _)| *name == word)?;
    let converted = value * table[at].1;
    // A fraction is rounded to the next smaller unit: 30.1GB is 30822.4MB and becomes 30822MB.
    Some(match table.get(at + 1) {
        Some((_, smaller)) => (converted / smaller).round_ties_even() * smaller,
        None => converted,
    })
}

/// Units that a setting of this base unit takes, largest first, with their factors.
fn table(base: Unit) -> &'static [(&'static str, f64)] {
    const K: f64 = 1024.0;
    match base {
        Unit::Bytes => &[("TB", K * K * K * K), ("GB", K * K * K), ("MB", K * K), ("kB", K), ("B", 1.0)],
        Unit::Kilobytes => &[("TB", K * K * K), ("GB", K * K), ("MB", K), ("kB", 1.0), ("B", 1.0 / K)],
        Unit::Blocks => {
            &[("TB", K * K * K / 8.0), ("GB", K * K / 8.0), ("MB", K / 8.0), ("kB", 1.0 / 8.0), ("B", 1.0 / (8.0 * K))]
        }
        Unit::Megabytes => &[("TB", K * K), ("GB", K), ("MB", 1.0), ("kB", 1.0 / K), ("B", 1.0 / (K * K))],
        Unit::Milliseconds => &[
            ("d", 86_400_000.0),
            ("h", 3_600_000.0),
            ("min", 60_000.0),
            ("s", 1000.0),
            ("ms", 1.0),
            ("us", 1.0 / 1000.0),
        ],
        Unit::Seconds => &[
            ("d", 86_400.0),
            ("h", 3600.0),
            ("min", 60.0),
            ("s", 1.0),
            ("ms", 1.0 / 1000.0),
            ("us", 1.0 / 1_000_000.0),
        ],
        Unit::Minutes => &[
            ("d", 1440.0),
            ("h", 60.0),
            ("min", 1.0),
            ("s", 1.0 / 60.0),
            ("ms", 1.0 / 60_000.0),
            ("us", 1.0 / 60_000_000.0),
        ],
    }
}

const fn is_time(unit: Unit) -> bool {
    matches!(unit, Unit::Milliseconds | Unit::Seconds | Unit::Minutes)
}

const fn base(unit: Unit) -> &'static str {
    match unit {
        Unit::Bytes => "B",
        Unit::Kilobytes => "kB",
        Unit::Blocks => "8kB",
        Unit::Megabytes => "MB",
        Unit::Milliseconds => "ms",
        Unit::Seconds => "s",
        Unit::Minutes => "min",
    }
}

/// With the largest unit that leaves a whole number, as SHOW prints it. Special values such as -1 and 0 have no unit.
fn with_unit(value: i64, unit: Option<Unit>) -> String {
    let Some(unit) = unit.filter(|_| value > 0) else { return value.to_string() };
    // Pages have no unit of their own that could be read back.
    let (value, unit) = if unit == Unit::Blocks { (value * 8, Unit::Kilobytes) } else { (value, unit) };
    #[expect(clippy::cast_possible_truncation, reason = "factors of at least one are small whole numbers")]
    let fits =
        table(unit).iter().filter(|(_, factor)| *factor >= 1.0).find(|(_, factor)| value % (*factor as i64) == 0);
    match fits {
        #[expect(clippy::cast_possible_truncation, reason = "factors of at least one are small whole numbers")]
        Some((name, factor)) => format!("{}{name}", value / (*factor as i64)),
        None => value.to_string(),
    }
}

/// C's `isspace`.
fn is_space(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | '\u{b}' | '\u{c}' | '\r')
}

/// C's `strtol` with base 0: the value, nothing of it where it overflows, and what follows. `None`: no digit.
fn whole(text: &str) -> Option<(Option<f64>, &str)> {
    let (negative, rest) = sign(text.trim_start_matches(is_space));
    let (base, digits) = match rest.as_bytes() {
        [b'0', b'x' | b'X', next, ..] if next.is_ascii_hexdigit() => (16, &rest[2..]),
        [b'0', ..] => (8, rest),
        _ => (10, rest),
    };
    let end = digits.find(|c: char| !c.is_digit(base)).unwrap_or(digits.len());
    if end == 0 {
        return None;
    }
    #[expect(clippy::cast_precision_loss, reason = "the server converts to a double as well")]
    let value = i64::from_str_radix(&digits[..end], base)
        .ok()
        .map(|value| if negative { -(value as f64) } else { value as f64 });
    Some((value, &digits[end..]))
}

/// C's `strtod`, without infinity and not-a-number, which no setting takes: the value and what follows. `None`: no
/// number, or one that a double does not hold.
fn float(text: &str) -> Option<(f64, &str)> {
    let (negative, rest) = sign(text.trim_start_matches(is_space));
    let (value, rest) = match rest.as_bytes() {
        [b'0', b'x' | b'X', next, ..] if next.is_ascii_hexdigit() || *next == b'.' => hexadecimal(&rest[2..])?,
        _ => decimal(rest)?,
    };
    Some((if negative { -value } else { value }, rest))
}

fn decimal(text: &str) -> Option<(f64, &str)> {
    let mantissa = digits_and_point(text, |b| b.is_ascii_digit())?;
    let end = mantissa + exponent(&text[mantissa..], b"eE");
    let value: f64 = text[..end].parse().ok()?;
    let zero = !text[..mantissa].bytes().any(|b| (b'1'..=b'9').contains(&b));
    // Beyond a double's range C reports an error, at both ends.
    (value.is_normal() || (value == 0.0 && zero)).then_some((value, &text[end..]))
}

fn hexadecimal(text: &str) -> Option<(f64, &str)> {
    let mantissa = digits_and_point(text, |b| b.is_ascii_hexdigit())?;
    let mut value = 0.0;
    let mut scale = 0i32;
    let mut fraction = false;
    for c in text[..mantissa].chars() {
        match c.to_digit(16) {
            Some(digit) => {
                value = value * 16.0 + f64::from(digit);
                scale -= if fraction { 4 } else { 0 };
            }
            None => fraction = true,
        }
    }
    let length = exponent(&text[mantissa..], b"pP");
    let power: i32 = if length == 0 { 0 } else { text[mantissa + 1..mantissa + length].parse().ok()? };
    let value = value * 2f64.powi(scale.checked_add(power)?);
    (value.is_normal() || value == 0.0).then_some((value, &text[mantissa + length..]))
}

/// Length of digits with at most one point among them, at least one digit.
fn digits_and_point(text: &str, digit: impl Fn(u8) -> bool) -> Option<usize> {
    let mut point = false;
    let end = text
        .bytes()
        .position(|b| {
            let first_point = b == b'.' && !point;
            point |= first_point;
            !digit(b) && !first_point
        })
        .unwrap_or(text.len());
    text[..end].bytes().any(digit).then_some(end)
}

/// Length of an exponent; zero where there is none.
fn exponent(text: &str, letters: &[u8]) -> usize {
    if !text.as_bytes().first().is_some_and(|b| letters.contains(b)) {
        return 0;
    }
    let (_, digits) = sign(&text[1..]);
    let count = digits.bytes().take_while(u8::is_ascii_digit).count();
    if count == 0 { 0 } else { text.len() - digits.len() + count }
}

fn sign(text: &str) -> (bool, &str) {
    match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    }
}

#[cfg(test)]
mod tests {
    use super::read;
    use crate::engine::postgresql::parameters::find;

    /// Values and what PostgreSQL's SHOW prints for them.
    #[test]
    fn values_are_read_as_the_server_reads_them() {
        for (name, text, expected) in [
            ("work_mem", "64MB", Some("64MB")),
            ("work_mem", "65536", Some("64MB")),
            ("work_mem", " 64 MB ", Some("64MB")),
            ("work_mem", "1.5MB", Some("1536kB")),
            ("work_mem", "64mb", None),
            ("work_mem", "64Mi", None),
            ("work_mem", "64M", None),
            ("work_mem", "10kB", None),
            ("work_mem", "0x10000", Some("64MB")),
            ("work_mem", "0200000", Some("64MB")),
            ("work_mem", "1e3", Some("1000kB")),
            ("work_mem", "", None),
            ("work_mem", "9e99", None),
            ("shared_buffers", "128MB", Some("128MB")),
            ("shared_buffers", "16384", Some("128MB")),
            ("max_connections", "100.4", Some("100")),
            ("max_connections", "100MB", None),
            ("max_connections", "0", None),
            ("max_connections", "100.5", Some("100")),
            ("max_connections", "101.5", Some("102")),
            ("statement_timeout", "1.5h", Some("90min")),
            ("statement_timeout", "1us", Some("0")),
            ("checkpoint_timeout", "5min", Some("5min")),
            ("checkpoint_timeout", "29s", None),
            ("checkpoint_completion_target", "0.9", Some("0.9")),
            ("checkpoint_completion_target", ".9", Some("0.9")),
            ("checkpoint_completion_target", "1.1", None),
            ("vacuum_cost_delay", "1500us", Some("1.5ms")),
            ("jit", "on", Some("on")),
            ("jit", "TRUE", Some("on")),
            ("jit", "t", Some("on")),
            ("jit", "of", Some("off")),
            ("jit", "o", None),
            ("jit", "", None),
            ("jit", " on", None),
            ("synchronous_commit", "REMOTE_APPLY", Some("remote_apply")),
            ("synchronous_commit", "remote", None),
            ("temp_file_limit", "-1", Some("-1")),
            ("search_path", "a, b", Some("a, b")),
        ] {
            let parameter = find(name, "16").expect("a setting of the server");
            let found = read(parameter, text).ok().map(|value| value.text(parameter));
            assert_eq!(found.as_deref(), expected, "{name} = {text:?}");
        }
    }

    #[test]
    fn a_value_in_one_spelling_reads_as_itself() {
        for (name, text) in [
            ("shared_buffers", "1234567"),
            ("work_mem", "99999"),
            ("wal_writer_delay", "9999"),
            ("vacuum_cost_delay", "3.25"),
            ("autovacuum_naptime", "86400"),
        ] {
            let parameter = find(name, "18").expect("a setting of the server");
            let value = read(parameter, text).expect("a value");
            assert_eq!(read(parameter, &value.text(parameter)), Ok(value), "{name} {text}");
        }
    }
}
