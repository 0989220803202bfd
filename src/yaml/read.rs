//! The reader: text to spanned trees, with every problem of the text beside them.

use std::ops::Range;

use super::budget::Budget;
use super::json;
use super::node::{Kind, Node};
use super::text::{self, Chunk};
use super::tree;

/// One parsed document that is not null.
#[derive(Debug, Clone, PartialEq)]
pub struct Document {
    /// Its value. Usually a mapping; the reader does not ask for one.
    pub root: Node,
    /// Bytes of the document in the text, without the separator lines around it.
    pub span: Range<usize>,
}

/// How much a text may ask for. What goes beyond is a problem, never a crash.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of the text.
    pub bytes: usize,
    /// Collections inside each other, aliases expanded.
    pub depth: usize,
    /// Values of all documents together, aliases expanded: what bounds the memory.
    pub nodes: usize,
    /// Values that come from aliases (`*name`, `<<: *name`), of all documents together.
    pub alias_nodes: usize,
    /// Problems that are reported; after them the reader stops.
    pub errors: usize,
}

impl Default for Limits {
    /// 16 MiB, depth 200, a million values, of which 100,000 from aliases, 100 problems.
    fn default() -> Self {
        Limits { bytes: 16 << 20, depth: 200, nodes: 1_000_000, alias_nodes: 100_000, errors: 100 }
    }
}

/// Why a part of a text cannot be read, or would not be read as it looks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadError {
    /// Bytes of the text that are at fault; empty at the end of the text.
    pub span: Range<usize>,
    /// Which kind of fault.
    pub kind: ReadErrorKind,
    /// One sentence without a full stop.
    pub message: String,
    /// What to type instead, if that is known.
    pub hint: Option<String>,
}

/// The kinds of [`ReadError`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ReadErrorKind {
    /// Not UTF-8.
    Encoding,
    /// A character that Kubernetes refuses in YAML, or takes for an invisible line break.
    Character,
    /// Not YAML.
    Syntax,
    /// A tab where only blanks may stand.
    Tab,
    /// A line `<<<<<<<`, `=======` or `>>>>>>>` that Git left.
    ConflictMarker,
    /// `{{ … }}` of a template that has not been rendered.
    Template,
    /// Something behind `---` in the same line.
    Separator,
    /// A line such as `%YAML 1.2`.
    Directive,
    /// Text behind `...`, which Kubernetes drops in silence.
    AfterEnd,
    /// A tag such as `!name` that means nothing here, or does not fit its value.
    Tag,
    /// An alias without an anchor in the same document, or inside its own anchor.
    Alias,
    /// `<<` with something that is no mapping.
    Merge,
    /// A key that is null, a list, a mapping or a number above 64 bits.
    Key,
    /// Infinity, not-a-number, or a JSON number that no float holds.
    Number,
    /// An escape that Kubernetes does not know inside double quotes.
    Escape,
    /// Beyond one of the [`Limits`].
    Limit,
}

/// The bytes as text. A byte order mark of UTF-8 stays in it, so that places in the text are places in the file;
/// [`read_stream`] skips it.
///
/// # Errors
/// The first byte that is not UTF-8; a text of another encoding, known by its byte order mark.
pub fn decode(bytes: &[u8]) -> Result<&str, ReadError> {
    let encoding = |span, message: &str| ReadError {
        span,
        kind: ReadErrorKind::Encoding,
        message: message.to_owned(),
        hint: Some("save the file as UTF-8".to_owned()),
    };
    match bytes {
        [0xFF, 0xFE, 0, 0, ..] | [0, 0, 0xFE, 0xFF, ..] => return Err(encoding(0..4, "the file is UTF-32, not UTF-8")),
        [0xFF, 0xFE, ..] | [0xFE, 0xFF, ..] => return Err(encoding(0..2, "the file is UTF-16, not UTF-8")),
        _ => {}
    }
    std::str::from_utf8(bytes).map_err(|error| {
        let at = error.valid_up_to();
        let length = error.error_len().unwrap_or(bytes.len() - at);
        encoding(at..at + length, &format!("byte {at} of the file is not UTF-8 (0x{:02X})", bytes[at]))
    })
}

/// Every document of the text, as Kubernetes would cut and read it, and every problem of those that cannot be read.
///
/// Documents that are empty, hold only comments or are null are skipped, as `kubectl` skips them. A text that begins
/// with `{` is read as JSON objects after each other, and as YAML from the first one on that is not JSON.
/// `kind: List` is not expanded. Duplicate keys are no error here: both entries are in the tree.
#[must_use]
pub fn read_stream(text: &str, limits: &Limits) -> (Vec<Document>, Vec<ReadError>) {
    let mut out = Output { documents: Vec::new(), errors: Vec::new(), limit: limits.errors.max(1) };
    if text.len() > limits.bytes {
        out.errors.push(ReadError {
            span: 0..0,
            kind: ReadErrorKind::Limit,
            message: format!("the text has {} bytes, the limit is {}", text.len(), limits.bytes),
            hint: Some("split it into several files".to_owned()),
        });
        return (out.documents, out.errors);
    }
    let mut budget = Budget::new(limits);
    let rest = read_json(text, &mut budget, &mut out);
    if let Some(start) = rest {
        for chunk in text::chunks(text, start) {
            if !out.take(read_chunk(text, &chunk, &mut budget)) {
                break;
            }
        }
    }
    (out.documents, out.errors)
}

struct Output {
    documents: Vec<Document>,
    errors: Vec<ReadError>,
    limit: usize,
}

impl Output {
    /// Keeps what a chunk gave; false when nothing more may be read.
    fn take(&mut self, (document, errors): (Option<Document>, Vec<ReadError>)) -> bool {
        self.documents.extend(document);
        let spent = errors.iter().any(|error| error.kind == ReadErrorKind::Limit);
        self.errors.extend(errors);
        if self.errors.len() > self.limit {
            self.errors.truncate(self.limit);
            let span = self.errors.last().map_or(0..0, |error| error.span.clone());
            self.errors.push(ReadError {
                span,
                kind: ReadErrorKind::Limit,
                message: format!("more than {} problems; the rest of the text was not read", self.limit),
                hint: None,
            });
            return false;
        }
        !spent
    }
}

/// Reads JSON objects from the start of the text, as `YAMLOrJSONDecoder` does. Gives the place from which on the text
/// is to be read as YAML, or nothing if all of it has been read.
fn read_json(text: &str, budget: &mut Budget, out: &mut Output) -> Option<usize> {
    let (body, start) = text::strip_bom(text);
    // With a byte order mark Go takes the text for YAML.
    if start > 0 || !body.trim_start().starts_with('{') {
        return Some(0);
    }
    let mut at = 0;
    let mut count = 0;
    loop {
        let before = *budget;
        let begin = at + json::blanks(&text[at..]);
        if begin == text.len() {
            return None;
        }
        match json::read(text, begin, budget) {
            Ok(root) => {
                at = root.span.end;
                count += 1;
                if root.kind != Kind::Null && !out.take((Some(Document { span: root.span.clone(), root }), Vec::new()))
                {
                    return None;
                }
            }
            // One object or none: it may be YAML.
            Err(error) if error.kind == ReadErrorKind::Syntax && count <= 1 => {
                *budget = before;
                if let Some(start) = yaml_start(&text[at..]) {
                    return Some(at + start);
                }
                out.take((None, vec![error]));
                return None;
            }
            Err(error) => {
                out.take((None, vec![error]));
                return None;
            }
        }
    }
}

/// Where YAML begins in a text that is not JSON: behind blanks and one line break. Nothing where Kubernetes does not ask
/// whether it is YAML, which it finds out from four bytes at a time.
fn yaml_start(text: &str) -> Option<usize> {
    let line = text.find('\n').map_or(text.len(), |found| found + 1);
    let start = line - text[..line].trim_start().len();
    let seen = if text[..start].ends_with('\n') { start - 1 } else { start };
    (text.len() - seen >= 4).then_some(start)
}

fn read_chunk(text: &str, chunk: &Chunk, budget: &mut Budget) -> (Option<Document>, Vec<ReadError>) {
    let mut errors = Vec::new();
    if let Some(span) = &chunk.after_separator {
        errors.push(ReadError {
            span: span.clone(),
            kind: ReadErrorKind::Separator,
            message: "Kubernetes allows nothing but a comment behind --- in the same line".to_owned(),
            hint: Some(
                if text[span.clone()].starts_with('#') {
                    "a blank is missing before #"
                } else {
                    "write --- alone in its line"
                }
                .to_owned(),
            ),
        });
    }
    // A parser of its own costs as much as a few values.
    if let Err(error) = budget.spend(4, &(chunk.span.start..chunk.span.start)) {
        errors.push(error);
        return (None, errors);
    }
    let (body, skipped) = text::strip_bom(&text[chunk.span.clone()]);
    let start = chunk.span.start + skipped;
    if let Some((span, character)) = text::forbidden(body) {
        errors.push(text::forbidden_error(start + span.start..start + span.end, character));
        return (None, errors);
    }
    match tree::read(body, start, budget) {
        Ok(Some(root)) if root.kind != Kind::Null => (Some(Document { root, span: chunk.span.clone() }), errors),
        Ok(_) => (None, errors),
        Err(more) => {
            errors.extend(more);
            (None, errors)
        }
    }
}
