//! A secret in the forms in which programs have let one out: as it is, in base64 and its url-safe alphabet, percent-encoded,
//! as hexadecimal digits, reversed, as a list of bytes, and escaped as in JSON.

#![allow(dead_code, reason = "each test binary uses its part of this module")]

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE, URL_SAFE_NO_PAD};

/// Each form with its name.
pub(crate) fn all(secret: &str) -> Vec<(&'static str, String)> {
    let bytes = secret.as_bytes();
    let reversed: String = secret.chars().rev().collect();
    let list = |separator: &str| bytes.iter().map(u8::to_string).collect::<Vec<_>>().join(separator);
    let percent = |keep: &dyn Fn(u8) -> bool, upper: bool| -> String {
        bytes
            .iter()
            .map(|&byte| match (keep(byte), upper) {
                (true, _) => char::from(byte).to_string(),
                (false, true) => format!("%{byte:02X}"),
                (false, false) => format!("%{byte:02x}"),
            })
            .collect()
    };
    let unreserved = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    let nothing = |_: u8| false;
    let json = serde_json::Value::from(secret).to_string();
    // base64 of a text that only holds the secret begins at one of three places; the middle of each is the same always.
    let inner = |skip: usize| {
        let padded: Vec<u8> = std::iter::repeat_n(b'x', skip).chain(bytes.iter().copied()).collect();
        let text = STANDARD_NO_PAD.encode(padded);
        let start = if skip == 0 { 0 } else { 4 };
        text[start..text.len().saturating_sub(2)].to_owned()
    };
    vec![
        ("as it is", secret.to_owned()),
        ("escaped as in JSON", json.trim_matches('"').to_owned()),
        ("in base64", STANDARD.encode(bytes)),
        ("in base64 without padding", STANDARD_NO_PAD.encode(bytes)),
        ("in base64 for URLs", URL_SAFE.encode(bytes)),
        ("in base64 for URLs without padding", URL_SAFE_NO_PAD.encode(bytes)),
        ("inside of something in base64", inner(0)),
        ("inside of something in base64, one byte on", inner(1)),
        ("inside of something in base64, two bytes on", inner(2)),
        ("in base64 twice", STANDARD.encode(STANDARD.encode(bytes))),
        ("percent-encoded", percent(&unreserved, true)),
        ("percent-encoded in small letters", percent(&unreserved, false)),
        ("percent-encoded as a whole", percent(&nothing, true)),
        ("as a form encodes it", percent(&|byte| unreserved(byte) || byte == b' ', true).replace(' ', "+")),
        ("as a JSON pointer", secret.replace('~', "~0").replace('/', "~1")),
        ("reversed", reversed.clone()),
        ("reversed and in base64", STANDARD.encode(reversed.as_bytes())),
        ("in base64 and reversed", STANDARD.encode(bytes).chars().rev().collect()),
        ("as a list of bytes", list(", ")),
        ("as a list of bytes without spaces", list(",")),
        ("as bytes with spaces", list(" ")),
        ("as hexadecimal digits", bytes.iter().map(|byte| format!("{byte:02x}")).collect()),
    ]
}

/// The first form in which `text` holds the secret.
pub(crate) fn found(text: &str, secret: &str) -> Option<&'static str> {
    // A list of bytes may be broken over lines, as JSON for people is.
    let dense: String = text.split_whitespace().collect::<Vec<_>>().join("");
    all(secret)
        .into_iter()
        .find(|(_, form)| text.contains(form) || dense.contains(&form.replace(' ', "")))
        .map(|(name, _)| name)
}
