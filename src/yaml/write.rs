//! The writer: one canonical text of a value, read back by Kubernetes as the same value.
//!
//! Keys: `apiVersion`, `kind`, `metadata` first in the document, `name` first in the items of a list, everything else
//! by the bytes of the key. Lists are not indented under their key. A line is never folded. A string of several lines
//! is a `|` block wherever YAML can hold it in one. A string is plain only if no reader of YAML 1.1 or 1.2 could take
//! it for something else; otherwise it stands in double quotes.

use std::fmt::Write as _;

use serde::Serialize;
use serde_json::Value;

use super::scalar;
use super::walk::{Unwritable, Walk};

/// Appends the canonical YAML of one object. It ends with a line feed and does not begin with `---`.
pub fn write_document(out: &mut String, value: &Value) {
    // A Value has no keys but text and no number that is none.
    let written = write_object(out, value);
    debug_assert!(written.is_ok(), "{written:?}");
}

/// The same of anything that serialises, without a [`Value`] in between.
///
/// # Errors
///
/// A key that is no text, infinity, not-a-number, bytes. What has been written by then stays in `out`.
pub fn write_object<T: Serialize + ?Sized>(out: &mut String, object: &T) -> Result<(), Unwritable> {
    Walk::new(out).document(object)
}

/// Appends the canonical YAML of several objects, with `---` between them. Nothing for none.
pub fn write_stream<'v>(out: &mut String, values: impl IntoIterator<Item = &'v Value>) {
    for (index, value) in values.into_iter().enumerate() {
        if index > 0 {
            out.push_str("---\n");
        }
        write_document(out, value);
    }
}

/// A text as a value, without a line feed behind it unless it is a block. `indent` is that of the lines of a block.
pub(super) fn string(out: &mut String, text: &str, indent: usize, root: bool) {
    if let Some(chomping) = chomping(text) {
        return block(out, text, chomping, indent);
    }
    if is_plain(text) && !(root && text.starts_with('-')) {
        out.push_str(text);
    } else {
        quoted(out, text);
    }
    out.push('\n');
}

/// A key and its colon.
pub(super) fn key(out: &mut String, key: &str, indent: usize) {
    let start = out.len();
    if is_plain(key) {
        out.push_str(key);
    } else {
        quoted(out, key);
    }
    // Readers give up on a key whose colon does not come within 1,024 characters.
    if out.len() - start > 1000 {
        out.insert_str(start, "? ");
        out.push('\n');
        blanks(out, indent);
    }
    out.push(':');
}

/// A number that is no integer.
pub(super) fn float(out: &mut String, value: f64) {
    // One spelling per value: 8.0 is 8, since the API server has no other. A String takes whatever is written.
    let _ = match scalar::float_number(value).and_then(|number| number.as_i64()) {
        Some(whole) => write!(out, "{whole}"),
        None if (1e-5..1e16).contains(&value.abs()) => write!(out, "{value}"),
        None => write!(out, "{value:e}"),
    };
}

fn block(out: &mut String, text: &str, chomping: &str, indent: usize) {
    out.push('|');
    out.push_str(chomping);
    out.push('\n');
    for line in text.strip_suffix('\n').unwrap_or(text).split('\n') {
        if !line.is_empty() {
            blanks(out, indent);
            out.push_str(line);
        }
        out.push('\n');
    }
}

fn quoted(out: &mut String, text: &str) {
    out.push('"');
    let mut from = 0;
    for (at, character) in text.char_indices() {
        let escape = match character {
            ' '..='!' | '#'..='[' | ']'..='~' => continue,
            '"' => "\\\"",
            '\\' => "\\\\",
            '\n' => "\\n",
            '\t' => "\\t",
            '\r' => "\\r",
            '\0' => "\\0",
            _ if is_visible(character) => continue,
            _ => "",
        };
        out.push_str(&text[from..at]);
        out.push_str(escape);
        if escape.is_empty() {
            let code = u32::from(character);
            let _ = if code < 0x100 { write!(out, "\\x{code:02X}") } else { write!(out, "\\u{code:04X}") };
        }
        from = at + character.len_utf8();
    }
    out.push_str(&text[from..]);
    out.push('"');
}

pub(super) fn blanks(out: &mut String, width: usize) {
    const BLANKS: &str = "                                                                ";
    let mut left = width;
    while left > BLANKS.len() {
        out.push_str(BLANKS);
        left -= BLANKS.len();
    }
    out.push_str(&BLANKS[..left]);
}

/// A character above ASCII that may stand raw in double quotes and blocks. Not one of these: C1 controls, the
/// no-break space, line breaks, the byte order mark and what is no character.
fn is_visible(character: char) -> bool {
    character >= '\u{A1}' && !matches!(character, '\u{2028}' | '\u{2029}' | '\u{FEFF}' | '\u{FFFE}' | '\u{FFFF}')
}

/// The chomping sign of the `|` block that holds the text, or nothing if only quotes can hold it.
///
/// The first line with text in it sets the indentation, so it must not begin with a blank, and a tab there is an error
/// for Kubernetes. Blanks at the end of a line and tabs further inside are kept by every reader.
fn chomping(text: &str) -> Option<&'static str> {
    if !text.contains('\n') {
        return None;
    }
    let mut first = None;
    for byte in text.bytes() {
        match byte {
            b'\n' => {}
            b'\t' | b' '..=b'~' => first = first.or(Some(byte)),
            0x80.. => first = first.or(Some(byte)),
            _ => return None,
        }
    }
    let first = first?;
    if matches!(first, b' ' | b'\t') {
        return None;
    }
    if !text.is_ascii() && text.chars().any(|character| !character.is_ascii() && !is_visible(character)) {
        return None;
    }
    Some(match (text.ends_with('\n'), text.ends_with("\n\n")) {
        (false, _) => "-",
        (true, false) => "",
        (true, true) => "+",
    })
}

/// No reader of YAML 1.1 or 1.2 takes the text for anything but itself when it stands without quotes, as a key or as a
/// value. ASCII only, so that the answer can never depend on a version of Unicode.
fn is_plain(text: &str) -> bool {
    let bytes = text.as_bytes();
    let Some(&first) = bytes.first() else { return false };
    let starts_well = match first {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'_' | b'$' | b'(' => true,
        // An option such as --config.
        b'-' => matches!(bytes, [b'-', b'-', next, ..] if next.is_ascii_alphabetic()),
        _ => false,
    };
    if !starts_well || matches!(bytes.last(), Some(b' ' | b':')) {
        return false;
    }
    if !bytes.iter().all(|byte| matches!(byte, b' '..=b'~')) {
        return false;
    }
    if bytes.contains(&b' ') && bytes.windows(2).any(|pair| matches!(pair, b": " | b" #")) {
        return false;
    }
    !is_word(bytes) && !looks_like_number(bytes)
}

/// Words that some reader takes for a boolean, null, infinity or not-a-number, in any case.
fn is_word(bytes: &[u8]) -> bool {
    const WORDS: [&str; 14] =
        ["y", "n", "yes", "no", "on", "off", "true", "false", "null", "nil", "none", "inf", "nan", "infinity"];
    // Nearly every text of a manifest comes by here.
    let may_be = |first: &u8| matches!(first.to_ascii_lowercase(), b'y' | b'n' | b'o' | b't' | b'f' | b'i');
    bytes.len() <= 8
        && bytes.first().is_some_and(may_be)
        && WORDS.iter().any(|word| word.as_bytes().eq_ignore_ascii_case(bytes))
}

/// A wide net around everything that some reader takes for a number, a date or a time: no letters but those of
/// hexadecimal digits, exponents, radix signs, time zones, `inf` and `nan`.
fn looks_like_number(bytes: &[u8]) -> bool {
    matches!(bytes.first(), Some(b'0'..=b'9' | b'.' | b'-' | b'+'))
        && bytes.iter().all(|byte| {
            matches!(byte, b'0'..=b'9' | b'a'..=b'f' | b'A'..=b'F' | b'_' | b'.' | b'+' | b'-' | b':' | b' ' | b','
                | b'x' | b'X' | b'o' | b'O' | b't' | b'T' | b'z' | b'Z' | b'p' | b'P' | b'i' | b'I' | b'n' | b'N')
        })
}
