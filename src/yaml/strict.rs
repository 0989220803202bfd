//! What `granit-parser`, which reads YAML 1.2, takes and the YAML 1.1 parser of Kubernetes refuses or reads otherwise.
//! Each of these is refused. `tests/kubernetes_reads.rs` finds what is missing here.

use std::ops::Range;

use super::read::{ReadError, ReadErrorKind};

fn error(span: Range<usize>, kind: ReadErrorKind, message: &str, hint: &str) -> ReadError {
    ReadError { span, kind, message: message.to_owned(), hint: Some(hint.to_owned()) }
}

/// A `...` or a byte order mark in front of the first thing of the document. Places in this file are places in `text`, the document alone.
pub(super) fn prefix(text: &str) -> Option<ReadError> {
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let content = line.trim();
        if line.starts_with("...") && (content == "..." || line[3..].starts_with([' ', '\t'])) {
            return Some(error(
                at..at + 3,
                ReadErrorKind::AfterEnd,
                "the document ends here before it has begun",
                "remove the line",
            ));
        }
        if content.starts_with('\u{FEFF}') {
            let start = at + line.find('\u{FEFF}').unwrap_or(0);
            return Some(error(
                start..start + 3,
                ReadErrorKind::Character,
                "a byte order mark stands inside the document",
                "remove the invisible character U+FEFF",
            ));
        }
        if !content.is_empty() && !content.starts_with('#') {
            return None;
        }
        at += line.len();
    }
    None
}

/// A plain scalar inside brackets that means something else in YAML 1.1: there `?` ends it, it may not begin with `:`,
/// and it goes on over a `:` that stands before a bracket or a comma.
pub(super) fn plain_in_brackets(text: &str, span: &Range<usize>) -> Option<ReadError> {
    let raw = text.get(span.clone())?;
    let mut behind = text[span.end..].trim_start_matches([' ', '\t']).chars();
    let foreign = raw.contains('?')
        || raw.starts_with(':')
        || (behind.next() == Some(':') && matches!(behind.next(), Some(',' | '[' | ']' | '{' | '}')));
    foreign.then(|| {
        error(
            span.clone(),
            ReadErrorKind::Syntax,
            "Kubernetes reads `?` and `:` inside brackets in its own way",
            "put the text into quotes",
        )
    })
}

/// A key over several lines, which YAML 1.1 has only behind `? `.
pub(super) fn key_of_lines(text: &str, span: &Range<usize>) -> Option<ReadError> {
    text.get(span.clone())?.contains(['\n', '\r']).then(|| {
        error(
            span.clone(),
            ReadErrorKind::Syntax,
            "a key may not go over several lines",
            "close the quotes or the bracket",
        )
    })
}

/// A tag without a blank behind it: inside brackets YAML 1.1 counts `,` and `]` as part of the tag.
pub(super) fn tag_end(text: &str, span: &Range<usize>) -> Option<ReadError> {
    let next = text.get(span.end..)?.chars().next()?;
    (!matches!(next, ' ' | '\t' | '\n' | '\r')).then(|| {
        error(
            span.clone(),
            ReadErrorKind::Tag,
            "a blank is missing behind the tag",
            "text that begins with ! needs quotes",
        )
    })
}

/// An anchor or alias whose name YAML 1.1 would end earlier. `span` has the `&` or `*`.
pub(super) fn anchor_name(text: &str, span: &Range<usize>) -> Option<ReadError> {
    let name = text.get(span.start + 1..span.end)?;
    let known = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    let ends = matches!(text[span.end..].chars().next(), None | Some(' ' | '\t' | '\n' | '\r' | ',' | ']' | '}'));
    (!ends || !name.bytes().all(known)).then(|| {
        error(
            span.clone(),
            ReadErrorKind::Alias,
            "the name of an anchor has letters, digits, - and _ only, and a blank behind it",
            "text that begins with & or * needs quotes",
        )
    })
}

/// An escape inside double quotes that YAML 1.1 does not have: `\/` and halves of surrogate pairs.
pub(super) fn escape(text: &str, span: &Range<usize>) -> Option<ReadError> {
    let raw = text.get(span.clone())?;
    let bytes = raw.as_bytes();
    let mut at = 0;
    while let Some(found) = bytes[at..].iter().position(|byte| *byte == b'\\') {
        at += found;
        let (length, hint) = match bytes.get(at + 1..) {
            Some([b'/', ..]) => (2, "write / without the backslash"),
            Some([b'u', b'd' | b'D', b'8'..=b'9' | b'a'..=b'f' | b'A'..=b'F', ..]) => {
                (6, "write the character itself, or \\U and eight digits")
            }
            _ => {
                at = (at + 2).min(bytes.len());
                continue;
            }
        };
        let end = (at + length).min(raw.len());
        let message =
            format!("Kubernetes does not know {} in YAML, only in JSON", raw.get(at..end).unwrap_or("this escape"));
        return Some(error(span.start + at..span.start + end, ReadErrorKind::Escape, &message, hint));
    }
    None
}

/// A part of the text in which a tab is content, or harmless.
pub(super) struct Zone {
    pub(super) span: Range<usize>,
    pub(super) kind: ZoneKind,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum ZoneKind {
    Plain,
    Quoted,
    /// The content of a `|` or `>` block from its first character on, which stands in this column.
    Block(usize),
    Brackets,
}

/// The content of a block that is not indented, which only YAML 1.2 allows at the top of a document; and a last line of
/// blanks without a line break, which a block that keeps its line breaks (`|+`) counts in 1.1 and not in 1.2.
///
/// `span` is the content without the header, unless there is no content (`empty`).
pub(super) fn block(text: &str, span: &Range<usize>, empty: bool) -> Option<ReadError> {
    if !empty && column(text, span.start) == 0 {
        let place = span.start..span.start;
        return Some(error(place, ReadErrorKind::Syntax, "the text of a block has to be indented", "indent it"));
    }
    let last = text.trim_end_matches(' ').len();
    let blanks = last < text.len() && text[..last].ends_with('\n') && span.end >= last;
    let header = if empty { span.start } else { text[..span.start].rfind(['|', '>'])? };
    let keeps = text[header..].bytes().take(3).any(|byte| byte == b'+');
    (blanks && keeps)
        .then(|| error(last..text.len(), ReadErrorKind::Syntax, "the text ends in blanks", "end it with a line break"))
}

/// The column from which on tabs are content in the lines of a block, in bytes, counted from 0.
pub(super) fn block_column(text: &str, span: &Range<usize>, empty: bool) -> usize {
    if empty || text[span.start..].starts_with([' ', '\t', '\n', '\r']) { usize::MAX } else { column(text, span.start) }
}

fn column(text: &str, at: usize) -> usize {
    at - text[..at].rfind('\n').map_or(0, |found| found + 1)
}

/// A tab where YAML 1.1 allows only blanks: in front of the first thing of a line, behind `- ` and `? `, and in the
/// indentation of a block. `zones` are in the order of the text and do not overlap.
pub(super) fn tab(text: &str, zones: &[Zone]) -> Option<ReadError> {
    let mut zones = zones.iter().peekable();
    let mut zone_end = 0;
    let mut line = 0;
    // Whether nothing but blanks and tabs stands in the line up to `from`.
    let mut in_indentation = true;
    let mut from = 0;
    while let Some(found) = text[from..].find('\t') {
        let at = from + found;
        if let Some(last) = text[from..at].rfind('\n') {
            line = from + last + 1;
            in_indentation = true;
        }
        in_indentation = in_indentation && text[line.max(from)..at].bytes().all(|byte| byte == b' ');
        from = at + 1;
        while let Some(zone) = zones.next_if(|zone| zone.span.end <= at) {
            zone_end = zone.span.end;
        }
        let allowed = match zones.peek() {
            Some(zone) if zone.span.start <= at => match zone.kind {
                ZoneKind::Quoted | ZoneKind::Brackets => true,
                ZoneKind::Plain => !in_indentation,
                // The content may not begin with one either.
                ZoneKind::Block(column) => at > zone.span.start && (!in_indentation || at - line >= column),
            },
            _ => {
                let gap = &text[line.max(zone_end)..at];
                // Nothing up to the end of the line, or of the run of blanks, needs another look.
                from += if gap.contains('#') { text[from..].find('\n').unwrap_or(0) } else { blanks(&text[from..]) };
                let gap_end = gap.trim_end();
                // Behind these another key may begin, and so nothing may be indented by tabs.
                let indicator = gap_end.ends_with(['-', '?']) || text[line..at].trim() == ":";
                gap.contains('#') || !(indicator || in_indentation)
            }
        };
        if !allowed {
            return Some(error(
                at..at + 1,
                ReadErrorKind::Tab,
                "a tab stands where YAML allows only blanks",
                "indent with blanks",
            ));
        }
    }
    None
}

fn blanks(text: &str) -> usize {
    text.len() - text.trim_start_matches([' ', '\t']).len()
}
