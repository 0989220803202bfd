//! The text before it is parsed: its encoding, the characters that it may hold, and where Kubernetes cuts it.

use std::ops::Range;

use super::read::{ReadError, ReadErrorKind};

const BOM: char = '\u{FEFF}';

/// The text without a byte order mark at its start, and the length of the mark.
pub(super) fn strip_bom(text: &str) -> (&str, usize) {
    match text.strip_prefix(BOM) {
        Some(rest) => (rest, BOM.len_utf8()),
        None => (text, 0),
    }
}

/// A part of the text between two separator lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Chunk {
    /// Its bytes, without the separator lines around it.
    pub(super) span: Range<usize>,
    /// What stands in the separator line in front of it and may not stand there.
    pub(super) after_separator: Option<Range<usize>>,
}

/// Cuts the text as `YAMLReader` of `k8s.io/apimachinery/pkg/util/yaml/decoder.go` does: a line that starts with `---`
/// ends a document, and after it only blanks or a comment may follow. Nothing else is looked at, so a `---` inside a
/// block scalar is text only if it is indented.
///
/// After a separator line that is malformed, the chunk starts in that line if a blank follows the `---`, since then
/// the user meant the document to begin there.
pub(super) fn chunks(text: &str, start: usize) -> impl Iterator<Item = Chunk> + '_ {
    let mut next = Some((start, None));
    // Where the text begins a line begins, also behind a JSON object.
    let is_line_start = move |at: usize| at == start || text.as_bytes()[at - 1] == b'\n';
    std::iter::from_fn(move || {
        let (from, after_separator) = next.take()?;
        let here = is_line_start(from) && text[from..].starts_with("---");
        let Some(at) = (if here { Some(from) } else { text[from..].find("\n---").map(|found| from + found + 1) })
        else {
            return Some(Chunk { span: from..text.len(), after_separator });
        };
        let behind = at + 3;
        let end = text[behind..].find('\n').map_or(text.len(), |found| behind + found);
        let rest = &text[behind..end];
        let trimmed = rest.trim();
        // Kubernetes takes `---#` for a separator only if text stands before it.
        next = Some(if trimmed.is_empty() || (trimmed.starts_with('#') && !rest.starts_with('#')) {
            ((end + 1).min(text.len()), None)
        } else {
            let content = behind + (rest.len() - rest.trim_start().len());
            let bad = content..content + trimmed.len();
            let resume = if rest.starts_with([' ', '\t']) { behind } else { (end + 1).min(text.len()) };
            (resume, Some(bad))
        });
        Some(Chunk { span: from..at, after_separator })
    })
}

/// The first character that the YAML reader of Kubernetes refuses, or takes for a line break where no editor shows one.
pub(super) fn forbidden(text: &str) -> Option<(Range<usize>, char)> {
    let bytes = text.as_bytes();
    let mut at = 0;
    while let Some(offset) = bytes[at..].iter().position(|byte| !PLAIN[usize::from(*byte)]) {
        at += offset;
        let bad = match bytes[at] {
            0xC2 => bytes.get(at + 1).is_some_and(|next| (0x80..0xA0).contains(next)),
            0xE2 => matches!(bytes.get(at + 1..at + 3), Some([0x80, 0xA8 | 0xA9])),
            0xEF => matches!(bytes.get(at + 1..at + 3), Some([0xBF, 0xBE | 0xBF])),
            _ => true,
        };
        if bad {
            let character = text[at..].chars().next()?;
            return Some((at..at + character.len_utf8(), character));
        }
        at += 1;
    }
    None
}

/// Bytes that need no second look: everything but control characters and the first bytes of forbidden characters.
const PLAIN: [bool; 256] = {
    let mut table = [true; 256];
    let mut byte = 0;
    while byte < 0x20 {
        table[byte] = matches!(byte as u8, b'\t' | b'\n' | b'\r');
        byte += 1;
    }
    table[0x7F] = false;
    table[0xC2] = false;
    table[0xE2] = false;
    table[0xEF] = false;
    table
};

/// The error for a character that [`forbidden`] found.
pub(super) fn forbidden_error(span: Range<usize>, character: char) -> ReadError {
    let code = u32::from(character);
    let (message, hint) = match character {
        '\u{85}' | '\u{2028}' | '\u{2029}' => (
            format!("U+{code:04X} is a line break for Kubernetes and invisible in most editors"),
            format!("remove it, or write \"\\u{code:04X}\" inside double quotes"),
        ),
        '\0' => (
            "the text holds a zero byte: this is no UTF-8 text".to_owned(),
            "save the file as UTF-8; a zero byte inside a value is written \"\\0\" inside double quotes".to_owned(),
        ),
        _ => (
            format!("the control character U+{code:04X} may not stand in YAML"),
            format!("remove it, or write \"\\u{code:04X}\" inside double quotes"),
        ),
    };
    ReadError { span, kind: ReadErrorKind::Character, message, hint: Some(hint) }
}
