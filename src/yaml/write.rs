//! The writer: one canonical text of a value, read back by Kubernetes as the same value.
//!
//! Keys: `apiVersion`, `kind`, `metadata` first in the document, `name` first in the items of a list, everything else
//! by the bytes of the key. Lists are not indented under their key. A line is never folded. A string of several lines
//! is a `|` block wherever YAML can hold it in one. A string is plain only if no reader of YAML 1.1 or 1.2 could take
//! it for something else; otherwise it stands in double quotes.

use std::cmp::Ordering;
use std::fmt::Write as _;

use serde_json::{Map, Value};

use super::scalar;

/// Appends the canonical YAML of one object. It ends with a line feed and does not begin with `---`.
pub fn write_document(out: &mut String, value: &Value) {
    let mut writer = Writer { out, order: Vec::new() };
    match value {
        Value::Object(map) if !map.is_empty() => writer.mapping(map, 0, Place::Document, Start::Line),
        Value::Array(items) if !items.is_empty() => writer.sequence(items, 0, Start::Line),
        // `{}` is the whole text here, which Kubernetes reads as JSON: the same value.
        _ => writer.leaf(value, 0, true),
    }
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

/// Where a mapping stands; decides which keys come first.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Document,
    Item,
    Field,
}

/// Whether the first entry begins a line of its own or continues the line of a `- `.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Start {
    Line,
    Inline,
}

struct Writer<'o, 'v> {
    out: &'o mut String,
    /// The entries of all mappings that are open, in the order in which they are written.
    order: Vec<(&'v str, &'v Value)>,
}

impl<'v> Writer<'_, 'v> {
    fn mapping(&mut self, map: &'v Map<String, Value>, indent: usize, place: Place, start: Start) {
        let from = self.order.len();
        self.order.extend(map.iter().map(|(key, value)| (key.as_str(), value)));
        let compare = |left: &(&str, &Value), right: &(&str, &Value)| compare_keys(left.0, right.0, place);
        let entries = &mut self.order[from..];
        if !entries.is_sorted_by(|left, right| compare(left, right) != Ordering::Greater) {
            entries.sort_unstable_by(compare);
        }
        for index in from..self.order.len() {
            let (key, value) = self.order[index];
            if index > from || start == Start::Line {
                self.indent(indent);
            }
            self.key(key, indent);
            self.field(value, indent);
        }
        self.order.truncate(from);
    }

    /// The value behind a key and its colon.
    fn field(&mut self, value: &'v Value, indent: usize) {
        match value {
            Value::Object(map) if !map.is_empty() => {
                self.out.push('\n');
                self.mapping(map, indent + 2, Place::Field, Start::Line);
            }
            Value::Array(items) if !items.is_empty() => {
                self.out.push('\n');
                self.sequence(items, indent, Start::Line);
            }
            _ => {
                self.out.push(' ');
                self.leaf(value, indent, false);
            }
        }
    }

    fn sequence(&mut self, items: &'v [Value], indent: usize, start: Start) {
        for (index, item) in items.iter().enumerate() {
            if index > 0 || start == Start::Line {
                self.indent(indent);
            }
            self.out.push_str("- ");
            match item {
                Value::Object(map) if !map.is_empty() => self.mapping(map, indent + 2, Place::Item, Start::Inline),
                Value::Array(items) if !items.is_empty() => self.sequence(items, indent + 2, Start::Inline),
                _ => self.leaf(item, indent, false),
            }
        }
    }

    /// A value that is no filled collection, and the line feed behind it.
    fn leaf(&mut self, value: &Value, indent: usize, root: bool) {
        match value {
            Value::Null => self.out.push_str("null"),
            Value::Bool(true) => self.out.push_str("true"),
            Value::Bool(false) => self.out.push_str("false"),
            Value::Number(number) => self.number(number),
            Value::String(text) => {
                if let Some(chomping) = block(text) {
                    return self.block(text, chomping, indent + 2);
                }
                if is_plain(text) && !(root && text.starts_with('-')) {
                    self.out.push_str(text);
                } else {
                    self.quoted(text);
                }
            }
            Value::Array(_) => self.out.push_str("[]"),
            Value::Object(_) => self.out.push_str("{}"),
        }
        self.out.push('\n');
    }

    fn key(&mut self, key: &str, indent: usize) {
        let start = self.out.len();
        if is_plain(key) {
            self.out.push_str(key);
        } else {
            self.quoted(key);
        }
        // Readers give up on a key whose colon does not come within 1,024 characters.
        if self.out.len() - start > 1000 {
            self.out.insert_str(start, "? ");
            self.out.push('\n');
            self.indent(indent);
        }
        self.out.push(':');
    }

    fn number(&mut self, number: &serde_json::Number) {
        // One spelling per value: 8.0 is 8, since the API server has no other. A String takes whatever is written.
        let _ = match number.as_f64() {
            Some(float) if number.is_f64() => match scalar::float_number(float).and_then(|number| number.as_i64()) {
                Some(whole) => write!(self.out, "{whole}"),
                None if (1e-5..1e16).contains(&float.abs()) => write!(self.out, "{float}"),
                None => write!(self.out, "{float:e}"),
            },
            _ => write!(self.out, "{number}"),
        };
    }

    fn block(&mut self, text: &str, chomping: &str, indent: usize) {
        self.out.push('|');
        self.out.push_str(chomping);
        self.out.push('\n');
        for line in text.strip_suffix('\n').unwrap_or(text).split('\n') {
            if !line.is_empty() {
                self.indent(indent);
                self.out.push_str(line);
            }
            self.out.push('\n');
        }
    }

    fn quoted(&mut self, text: &str) {
        self.out.push('"');
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
            self.out.push_str(&text[from..at]);
            self.out.push_str(escape);
            if escape.is_empty() {
                let code = u32::from(character);
                let _ =
                    if code < 0x100 { write!(self.out, "\\x{code:02X}") } else { write!(self.out, "\\u{code:04X}") };
            }
            from = at + character.len_utf8();
        }
        self.out.push_str(&text[from..]);
        self.out.push('"');
    }

    fn indent(&mut self, width: usize) {
        const BLANKS: &str = "                                                                ";
        let mut left = width;
        while left > BLANKS.len() {
            self.out.push_str(BLANKS);
            left -= BLANKS.len();
        }
        self.out.push_str(&BLANKS[..left]);
    }
}

fn compare_keys(left: &str, right: &str, place: Place) -> Ordering {
    let rank = |key: &str| match (place, key) {
        (Place::Document, "apiVersion") | (Place::Item, "name") => 0,
        (Place::Document, "kind") => 1,
        (Place::Document, "metadata") => 2,
        _ => 3,
    };
    match place {
        Place::Field => left.cmp(right),
        Place::Document | Place::Item => rank(left).cmp(&rank(right)).then_with(|| left.cmp(right)),
    }
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
fn block(text: &str) -> Option<&'static str> {
    let mut breaks = 0_usize;
    let mut first = None;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'\n' => breaks += 1,
            b'\t' | b' '..=b'~' => first = first.or(Some((at, byte))),
            0x80.. => first = first.or(Some((at, byte))),
            _ => return None,
        }
    }
    let (_, first) = first?;
    if breaks == 0 || matches!(first, b' ' | b'\t') {
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
    let mut previous = first;
    for &byte in bytes {
        match byte {
            b' '..=b'~' => {}
            _ => return false,
        }
        if (byte == b' ' && previous == b':') || (byte == b'#' && previous == b' ') {
            return false;
        }
        previous = byte;
    }
    !is_word(bytes) && !looks_like_number(bytes)
}

/// Words that some reader takes for a boolean, null, infinity or not-a-number, in any case.
fn is_word(bytes: &[u8]) -> bool {
    const WORDS: [&str; 14] =
        ["y", "n", "yes", "no", "on", "off", "true", "false", "null", "nil", "none", "inf", "nan", "infinity"];
    bytes.len() <= 8 && WORDS.iter().any(|word| word.as_bytes().eq_ignore_ascii_case(bytes))
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
