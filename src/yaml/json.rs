//! JSON with places, as strict as `encoding/json` of Go, which Kubernetes uses for a text that begins with `{`.

use std::ops::Range;

use super::budget::Budget;
use super::node::{Entry, Key, Kind, Node};
use super::read::{ReadError, ReadErrorKind};
use super::scalar;

/// The length of the blanks at the start of the text.
pub(super) fn blanks(text: &str) -> usize {
    text.bytes().take_while(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r')).count()
}

/// Reads one JSON value that begins at `at`.
///
/// # Errors
/// `Syntax` where the text is not JSON, which may mean that it is YAML; `Number` and `Limit` are final.
pub(super) fn read(text: &str, at: usize, budget: &mut Budget) -> Result<Node, ReadError> {
    let mut reader = Reader { text, at, budget, depth: 0 };
    reader.value()
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
    budget: &'a mut Budget,
    depth: usize,
}

impl Reader<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn skip_blanks(&mut self) {
        self.at += blanks(&self.text[self.at..]);
    }

    fn wrong(&self, message: &str) -> ReadError {
        let width = self.text[self.at..].chars().next().map_or(0, char::len_utf8);
        ReadError {
            span: self.at..self.at + width,
            kind: ReadErrorKind::Syntax,
            message: message.to_owned(),
            hint: None,
        }
    }

    fn expect(&mut self, byte: u8, message: &str) -> Result<(), ReadError> {
        if self.peek() == Some(byte) {
            self.at += 1;
            return Ok(());
        }
        Err(self.wrong(message))
    }

    fn value(&mut self) -> Result<Node, ReadError> {
        let start = self.at;
        self.budget.spend(1, &(start..start))?;
        let kind = match self.peek() {
            Some(b'{') => self.nested(Self::object)?,
            Some(b'[') => self.nested(Self::array)?,
            Some(b'"') => Kind::String(self.string()?),
            Some(b'-' | b'0'..=b'9') => self.number()?,
            _ => self.word()?,
        };
        Ok(Node { kind, span: start..self.at })
    }

    fn nested(&mut self, read: fn(&mut Self) -> Result<Kind, ReadError>) -> Result<Kind, ReadError> {
        self.depth += 1;
        self.budget.check_depth(self.depth, &(self.at..self.at + 1))?;
        self.at += 1;
        self.skip_blanks();
        let kind = read(self)?;
        self.depth -= 1;
        Ok(kind)
    }

    fn object(&mut self) -> Result<Kind, ReadError> {
        let mut entries = Vec::new();
        if self.peek() == Some(b'}') {
            self.at += 1;
            return Ok(Kind::Mapping(entries));
        }
        loop {
            self.skip_blanks();
            let start = self.at;
            if self.peek() != Some(b'"') {
                return Err(self.wrong("a key in double quotes is expected here"));
            }
            let key = Key { text: self.string()?, span: start..self.at };
            self.skip_blanks();
            self.expect(b':', "`:` is missing behind the key")?;
            self.skip_blanks();
            let value = self.value()?;
            entries.push(Entry { key, value });
            self.skip_blanks();
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(b'}') => {
                    self.at += 1;
                    return Ok(Kind::Mapping(entries));
                }
                _ => return Err(self.wrong("`,` or `}` is missing")),
            }
        }
    }

    fn array(&mut self) -> Result<Kind, ReadError> {
        let mut items = Vec::new();
        if self.peek() == Some(b']') {
            self.at += 1;
            return Ok(Kind::Sequence(items));
        }
        loop {
            self.skip_blanks();
            items.push(self.value()?);
            self.skip_blanks();
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(b']') => {
                    self.at += 1;
                    return Ok(Kind::Sequence(items));
                }
                _ => return Err(self.wrong("`,` or `]` is missing")),
            }
        }
    }

    fn word(&mut self) -> Result<Kind, ReadError> {
        for (word, kind) in [("true", Kind::Bool(true)), ("false", Kind::Bool(false)), ("null", Kind::Null)] {
            if self.text[self.at..].starts_with(word) {
                self.at += word.len();
                return Ok(kind);
            }
        }
        Err(self.wrong("a JSON value is expected here"))
    }

    fn number(&mut self) -> Result<Kind, ReadError> {
        let start = self.at;
        self.at += usize::from(self.peek() == Some(b'-'));
        match self.peek() {
            Some(b'0') => self.at += 1,
            Some(b'1'..=b'9') => self.digits()?,
            _ => return Err(self.wrong("a digit is expected here")),
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.digits()?;
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.at += 1;
            self.at += usize::from(matches!(self.peek(), Some(b'-' | b'+')));
            self.digits()?;
        }
        let text = &self.text[start..self.at];
        if let Ok(whole) = text.parse::<i64>() {
            return Ok(Kind::Number(whole.into()));
        }
        let number = text.parse::<f64>().ok().filter(|value| value.is_finite()).and_then(scalar::float_number);
        number.map(Kind::Number).ok_or_else(|| ReadError {
            span: start..self.at,
            kind: ReadErrorKind::Number,
            message: "this number is larger than a float can be".to_owned(),
            hint: None,
        })
    }

    fn digits(&mut self) -> Result<(), ReadError> {
        let count = self.text[self.at..].bytes().take_while(u8::is_ascii_digit).count();
        if count == 0 {
            return Err(self.wrong("a digit is expected here"));
        }
        self.at += count;
        Ok(())
    }

    fn string(&mut self) -> Result<String, ReadError> {
        let start = self.at;
        self.at += 1;
        let mut out = String::new();
        loop {
            let rest = &self.text[self.at..];
            let plain = rest.bytes().take_while(|byte| !matches!(byte, b'"' | b'\\' | 0..0x20)).count();
            out.push_str(&rest[..plain]);
            self.at += plain;
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(out);
                }
                Some(b'\\') => self.escape(&mut out)?,
                Some(_) => return Err(self.wrong("a control character stands inside a JSON string")),
                None => return Err(unclosed(start..self.at)),
            }
        }
    }

    fn escape(&mut self, out: &mut String) -> Result<(), ReadError> {
        let character = match self.text.as_bytes().get(self.at + 1) {
            Some(b'"') => '"',
            Some(b'\\') => '\\',
            Some(b'/') => '/',
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{C}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => {
                let high = self.hex(self.at)?;
                self.at += 6;
                let low = if (0xD800..0xDC00).contains(&high) { self.hex(self.at).ok() } else { None };
                let character = match low {
                    Some(low) if (0xDC00..0xE000).contains(&low) => {
                        self.at += 6;
                        char::from_u32(0x1_0000 + ((high - 0xD800) << 10) + (low - 0xDC00))
                    }
                    _ => char::from_u32(high),
                };
                // Go reads half a surrogate pair as U+FFFD.
                out.push(character.unwrap_or('\u{FFFD}'));
                return Ok(());
            }
            _ => return Err(self.wrong("this escape is unknown in JSON")),
        };
        out.push(character);
        self.at += 2;
        Ok(())
    }

    /// The four digits of the `\uXXXX` at `at`.
    fn hex(&self, at: usize) -> Result<u32, ReadError> {
        let digits = match self.text.as_bytes().get(at..at + 6) {
            Some([b'\\', b'u', digits @ ..]) => digits,
            _ => return Err(self.wrong("\\u takes four digits")),
        };
        digits.iter().try_fold(0, |value, digit| {
            let digit =
                char::from(*digit).to_digit(16).ok_or_else(|| self.wrong("\\u takes four hexadecimal digits"))?;
            Ok(value << 4 | digit)
        })
    }
}

fn unclosed(span: Range<usize>) -> ReadError {
    ReadError {
        span,
        kind: ReadErrorKind::Syntax,
        message: "the text ends before the quotes are closed".to_owned(),
        hint: None,
    }
}
