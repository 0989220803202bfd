//! What a scalar means: a port of `resolve.go` of `go.yaml.in/yaml/v2`, the YAML 1.1 rules inside `kubectl` and the
//! API server, and of the way that `sigs.k8s.io/yaml` turns keys into text.

use super::node::Kind;

/// A tag that Kubernetes gives a meaning on a scalar. Every other tag is refused by the reader.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tag {
    Str,
    Bool,
    Int,
    Float,
    Null,
}

impl Tag {
    /// As it stands in a YAML file.
    pub(super) fn text(self) -> &'static str {
        match self {
            Tag::Str => "!!str",
            Tag::Bool => "!!bool",
            Tag::Int => "!!int",
            Tag::Float => "!!float",
            Tag::Null => "!!null",
        }
    }
}

/// A resolved scalar. The number types are those of the Go reader: they decide how a key is printed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Scalar {
    Null,
    Bool(bool),
    Int(i64),
    /// Above `i64::MAX` only.
    Uint(u64),
    Float(f64),
    Str,
}

/// The meaning of a plain scalar, or of any scalar under a tag; nothing if the text is not of the tag's type.
pub(super) fn resolve(text: &str, tag: Option<Tag>) -> Option<Scalar> {
    if tag == Some(Tag::Str) {
        return Some(Scalar::Str);
    }
    let found = untagged(text);
    match (tag, found) {
        (None, _)
        | (Some(Tag::Bool), Scalar::Bool(_))
        | (Some(Tag::Int), Scalar::Int(_) | Scalar::Uint(_))
        | (Some(Tag::Float), Scalar::Float(_))
        | (Some(Tag::Null), Scalar::Null) => Some(found),
        // Go converts by a cast, and so does `as`.
        (Some(Tag::Float), Scalar::Int(value)) => Some(Scalar::Float(value as f64)),
        _ => None,
    }
}

fn untagged(text: &str) -> Scalar {
    let Some(&first) = text.as_bytes().first() else {
        return Scalar::Null;
    };
    match first {
        b'y' | b'Y' | b'n' | b'N' | b't' | b'T' | b'f' | b'F' | b'o' | b'O' | b'~' => word(text),
        b'.' => match text {
            ".nan" | ".NaN" | ".NAN" => Scalar::Float(f64::NAN),
            ".inf" | ".Inf" | ".INF" => Scalar::Float(f64::INFINITY),
            _ => float_with_underscores(text),
        },
        b'0'..=b'9' | b'+' | b'-' => match text {
            "+.inf" | "+.Inf" | "+.INF" => Scalar::Float(f64::INFINITY),
            "-.inf" | "-.Inf" | "-.INF" => Scalar::Float(f64::NEG_INFINITY),
            _ if text.contains('_') => number(&text.replace('_', "")),
            _ => number(text),
        },
        _ => Scalar::Str,
    }
}

fn word(text: &str) -> Scalar {
    match text {
        "y" | "Y" | "yes" | "Yes" | "YES" | "true" | "True" | "TRUE" | "on" | "On" | "ON" => Scalar::Bool(true),
        "n" | "N" | "no" | "No" | "NO" | "false" | "False" | "FALSE" | "off" | "Off" | "OFF" => Scalar::Bool(false),
        "~" | "null" | "Null" | "NULL" => Scalar::Null,
        _ => Scalar::Str,
    }
}

/// `text` begins with a digit or a sign and has no underscores any more.
fn number(text: &str) -> Scalar {
    if let Some(value) = integer(text) {
        return value;
    }
    if let Some(value) = float(text) {
        return Scalar::Float(value);
    }
    // Go's own parser has read `0b1` by now; what is left here are spellings such as `0b-1`, which it reads as -1.
    let binary = if let Some(digits) = text.strip_prefix("0b") {
        i64::from_str_radix(digits, 2).ok()
    } else if let Some(digits) = text.strip_prefix("-0b") {
        magnitude(digits, 2).and_then(|value| 0_i64.checked_sub_unsigned(value))
    } else {
        None
    };
    binary.map_or(Scalar::Str, Scalar::Int)
}

/// `strconv.ParseInt(text, 0, 64)`, and `ParseUint` where that overflows.
fn integer(text: &str) -> Option<Scalar> {
    let (negative, signed, digits) = match text.as_bytes().first()? {
        b'-' => (true, true, &text[1..]),
        b'+' => (false, true, &text[1..]),
        _ => (false, false, text),
    };
    let bytes = digits.as_bytes();
    let (base, digits) = match bytes {
        [b'0', b'b' | b'B', _, ..] => (2, &digits[2..]),
        [b'0', b'o' | b'O', _, ..] => (8, &digits[2..]),
        [b'0', b'x' | b'X', _, ..] => (16, &digits[2..]),
        [b'0'] => return Some(Scalar::Int(0)),
        [b'0', ..] => (8, &digits[1..]),
        _ => (10, digits),
    };
    let value = magnitude(digits, base)?;
    if negative {
        return 0_i64.checked_sub_unsigned(value).map(Scalar::Int);
    }
    match i64::try_from(value) {
        Ok(value) => Some(Scalar::Int(value)),
        // ParseUint knows no sign.
        Err(_) if !signed => Some(Scalar::Uint(value)),
        Err(_) => None,
    }
}

fn magnitude(digits: &str, base: u32) -> Option<u64> {
    // `from_str_radix` would take a sign; here it has been read already.
    let clean = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_alphanumeric());
    if clean { u64::from_str_radix(digits, base).ok() } else { None }
}

/// `^[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?$`, finite.
fn float(text: &str) -> Option<f64> {
    let bytes = text.as_bytes();
    let mut at = usize::from(matches!(bytes.first(), Some(b'-' | b'+')));
    let whole = digits(bytes, &mut at);
    if bytes.get(at) == Some(&b'.') {
        at += 1;
        let fraction = digits(bytes, &mut at);
        if whole == 0 && fraction == 0 {
            return None;
        }
    } else if whole == 0 {
        return None;
    }
    if matches!(bytes.get(at), Some(b'e' | b'E')) {
        at += 1;
        at += usize::from(matches!(bytes.get(at), Some(b'-' | b'+')));
        if digits(bytes, &mut at) == 0 {
            return None;
        }
    }
    if at != bytes.len() {
        return None;
    }
    // Go refuses what overflows and rounds what underflows to zero.
    text.parse().ok().filter(|value: &f64| value.is_finite())
}

fn digits(bytes: &[u8], at: &mut usize) -> usize {
    let from = *at;
    while bytes.get(*at).is_some_and(u8::is_ascii_digit) {
        *at += 1;
    }
    *at - from
}

/// A float that begins with a dot. Go reads it without removing underscores first: each must stand between digits.
fn float_with_underscores(text: &str) -> Scalar {
    let bytes = text.as_bytes();
    let between_digits = bytes.iter().enumerate().all(|(at, byte)| {
        *byte != b'_' || (at > 0 && bytes[at - 1].is_ascii_digit() && bytes.get(at + 1).is_some_and(u8::is_ascii_digit))
    });
    let value = match (between_digits, text.contains('_')) {
        (false, _) => None,
        (true, false) => float(text),
        (true, true) => float(&text.replace('_', "")),
    };
    value.map_or(Scalar::Str, Scalar::Float)
}

/// The number that the API server gets, or nothing for infinity and not-a-number, which JSON cannot hold.
///
/// A whole float comes out of the conversion to JSON without a point, with the least digits that tell it from its
/// neighbours, so it arrives as an integer; an integer beyond 64 bits with a sign arrives as a float.
pub(super) fn float_number(value: f64) -> Option<serde_json::Number> {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    if value.fract() == 0.0 {
        if value.abs() < EXACT {
            return Some((value as i64).into());
        }
        if value.abs() < 1e19
            && let Ok(whole) = format!("{value}").parse::<i64>()
        {
            return Some(whole.into());
        }
    }
    serde_json::Number::from_f64(value)
}

/// The value of a resolved scalar; nothing for infinity and not-a-number.
pub(super) fn kind(scalar: Scalar, text: &str) -> Option<Kind> {
    Some(match scalar {
        Scalar::Null => Kind::Null,
        Scalar::Bool(value) => Kind::Bool(value),
        Scalar::Int(value) => Kind::Number(value.into()),
        Scalar::Uint(value) => Kind::Number(float_number(value as f64)?),
        Scalar::Float(value) => Kind::Number(float_number(value)?),
        Scalar::Str => Kind::String(text.to_owned()),
    })
}

/// The text of a scalar as a key; nothing if Kubernetes refuses it as a key.
pub(super) fn key(scalar: Scalar, text: &str) -> Option<String> {
    match scalar {
        Scalar::Null | Scalar::Uint(_) => None,
        Scalar::Bool(value) => Some(value.to_string()),
        Scalar::Int(value) => Some(value.to_string()),
        Scalar::Float(value) => Some(float_key(value)),
        Scalar::Str => Some(text.to_owned()),
    }
}

/// `strconv.FormatFloat(value, 'g', -1, 32)`: the shortest digits that single precision needs.
fn float_key(value: f64) -> String {
    let single = value as f32;
    if single.is_nan() {
        return ".nan".to_owned();
    }
    if single.is_infinite() {
        return if single > 0.0 { ".inf" } else { "-.inf" }.to_owned();
    }
    let scientific = format!("{single:e}");
    let (digits, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    // Go's `%g` with the shortest digits turns to an exponent below 1e-4 and from 1e6 on.
    if (-4..6).contains(&exponent) {
        return format!("{single}");
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{digits}e{sign}{:02}", exponent.unsigned_abs())
}
