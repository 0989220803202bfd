//! Errors of the parser in the user's words.

use granit_parser::{ErrorKind, ScanError};

use super::read::{ReadError, ReadErrorKind};

/// The error of the parser, which reads `text` at `start` of the whole text.
pub(super) fn error(text: &str, start: usize, error: &ScanError) -> ReadError {
    let at = error.marker().byte_offset().unwrap_or(0).min(text.len());
    let width = text
        .get(at..)
        .and_then(|rest| rest.chars().next())
        .map_or(0, |next| if next == '\n' { 0 } else { next.len_utf8() });
    let span = start + at..start + at + width;
    if let Some((marker, line)) = conflict_marker(text, at) {
        return ReadError {
            span: start + line..start + line + marker.len(),
            kind: ReadErrorKind::ConflictMarker,
            message: format!("a merge conflict of Git was left in the file ({marker})"),
            hint: Some("solve it, then remove the lines <<<<<<<, ======= and >>>>>>>".to_owned()),
        };
    }
    if let Some(place) = template(text, at) {
        return template_error(start + place);
    }
    let (kind, message, hint) = words(error.kind());
    // The parser stands a little further, or at the quotes.
    let place = match kind {
        ReadErrorKind::Tab => last_tab(text, at).map(|place| place..place + 1),
        ReadErrorKind::Escape => wrong_escape(text, at).map(|place| place..place + 2),
        _ => None,
    };
    let span = place
        .filter(|place| text.get(place.clone()).is_some())
        .map_or(span, |place| start + place.start..start + place.end);
    ReadError { span, kind, message, hint: hint.map(str::to_owned) }
}

/// The same error, or a better one if the key that cannot be one is the inside of `{{ … }}`.
pub(super) fn template_key(text: &str, start: usize, error: ReadError) -> ReadError {
    let at = error.span.start - start;
    if at > 0 && text.get(at - 1..).is_some_and(|rest| rest.starts_with("{{")) {
        return template_error(error.span.start - 1);
    }
    error
}

fn template_error(at: usize) -> ReadError {
    ReadError {
        span: at..at + 2,
        kind: ReadErrorKind::Template,
        message: "this is a template, not YAML: {{ … }} has not been rendered".to_owned(),
        hint: Some("give the rendered file, or put the value into quotes".to_owned()),
    }
}

fn words(kind: &ErrorKind) -> (ReadErrorKind, String, Option<&'static str>) {
    use ErrorKind as K;
    let (message, hint) = match kind {
        K::RecursionLimitExceeded => {
            return (ReadErrorKind::Limit, "lists and mappings are nested too deep".to_owned(), None);
        }
        K::DirectiveDisallowed => {
            return (
                ReadErrorKind::Directive,
                "Kubernetes refuses directives such as %YAML".to_owned(),
                Some("remove the line; text that begins with % needs quotes"),
            );
        }
        K::ExpectedDocumentStart => {
            return (
                ReadErrorKind::AfterEnd,
                "the document has ended before this line; Kubernetes drops the rest without a word".to_owned(),
                Some("check the indentation, or begin a document with --- in a line of its own"),
            );
        }
        K::BomInsideDocument => {
            return (
                ReadErrorKind::Character,
                "a byte order mark stands inside the document".to_owned(),
                Some("remove the invisible character U+FEFF"),
            );
        }
        K::TabNotAllowed
        | K::TabInBlockIndentation
        | K::TabInIndentation
        | K::TabAtBlockScalarStart
        | K::TabInPlainScalar => {
            return (
                ReadErrorKind::Tab,
                "a tab stands where YAML allows only blanks".to_owned(),
                Some("indent with blanks"),
            );
        }
        K::UnknownAnchor => {
            return (
                ReadErrorKind::Alias,
                "no anchor of this name stands before the alias in the same document".to_owned(),
                Some("text that begins with * needs quotes"),
            );
        }
        K::UnknownQuotedScalarEscape
        | K::InvalidQuotedScalarHexEscape
        | K::InvalidLowSurrogateHexEscape
        | K::InvalidLowSurrogate
        | K::MissingLowSurrogate
        | K::UnpairedLowSurrogate
        | K::InvalidUnicodeEscape => {
            return (
                ReadErrorKind::Escape,
                "this escape is unknown inside double quotes".to_owned(),
                Some("write a backslash as \\\\, or use single quotes"),
            );
        }
        K::UndeclaredTagHandle
        | K::ExpectedTagBang
        | K::InvalidTagTerminator
        | K::MissingTagUri
        | K::UnclosedVerbatimTag
        | K::InvalidTagEscape
        | K::InvalidTagUtf8LeadingByte
        | K::InvalidTagUtf8TrailingByte
        | K::InvalidTagUtf8
        | K::InvalidGlobalTagCharacter => {
            return (ReadErrorKind::Tag, "this is no tag".to_owned(), Some("text that begins with ! needs quotes"));
        }
        K::UnexpectedEofFlowSequence
        | K::UnexpectedEofFlowMapping
        | K::UnexpectedEofImplicitFlowMapping
        | K::UnclosedFlowCollection { .. } => ("the text ends before a bracket is closed", None),
        K::ExpectedFlowMappingSeparator => ("`,` or `}` is missing", None),
        K::ExpectedFlowSequenceSeparator => ("`,` or `]` is missing", None),
        K::MisplacedFlowCollectionEnd => ("this bracket closes nothing", None),
        K::MismatchedFlowCollectionEnd { open, close } => {
            return (ReadErrorKind::Syntax, format!("`{open}` is closed by `{close}`"), None);
        }
        K::UnclosedQuotedScalar => ("the text ends before the quotes are closed", None),
        K::DocumentIndicatorInQuotedScalar => {
            ("a line --- or ... stands inside quotes", Some("close the quotes before it"))
        }
        K::InvalidTrailingSingleQuotedScalar | K::InvalidTrailingDoubleQuotedScalar => {
            ("something stands behind the closing quote", Some("put the whole value into quotes"))
        }
        K::SimpleKeyExpected | K::InvalidSimpleKey => {
            ("a `:` is missing behind this key, or the line is indented wrongly", None)
        }
        K::MappingValueNotAllowed => ("a `:` makes a second key here", Some("a value that holds `: ` needs quotes")),
        K::UnexpectedCharacter { character } => {
            return (
                ReadErrorKind::Syntax,
                format!("no value may begin with `{}`", character.escape_debug()),
                Some("put the value into quotes"),
            );
        }
        K::ExpectedBlockMappingKey => ("a key is expected here", Some("check the indentation")),
        K::ExpectedBlockSequenceEntry => ("a list item `- ` is expected here", Some("check the indentation")),
        K::BlockSequenceEntryNotAllowed | K::BlockEntryInFlowCollection => {
            ("a list item `- ` may not stand here", None)
        }
        K::InvalidIndentation
        | K::InvalidQuotedScalarIndent
        | K::InvalidFlowScalarIndent
        | K::InvalidBlockScalarIndent => ("the indentation does not fit the lines above", None),
        K::PlainScalarStartsWithDashFlowIndicator => ("a lone `-` inside brackets needs quotes", None),
        K::CommentNotSeparated => ("a blank is missing before #", None),
        K::CommentInterceptedScalar => ("a comment interrupts a value of several lines", None),
        K::InvalidBlockScalarHeader | K::ZeroBlockScalarIndent => {
            ("the block begins with something other than | or > and -, + or a digit", None)
        }
        K::MissingAnchorOrAliasName => ("a name is missing", Some("text that begins with & or * needs quotes")),
        K::InvalidDocumentEnd => ("something stands behind ... in the same line", None),
        _ => ("this is not YAML", Some("check the indentation and the quotes")),
    };
    (ReadErrorKind::Syntax, message.to_owned(), hint)
}

/// The nearest conflict marker at the start of a line, from the line of `at` upwards.
fn conflict_marker(text: &str, at: usize) -> Option<(&'static str, usize)> {
    const OURS: &str = "<<<<<<<";
    const THEIRS: &str = ">>>>>>>";
    let end = text[at..].find('\n').map_or(text.len(), |found| at + found);
    let above = [OURS, THEIRS].into_iter().filter_map(|marker| {
        let place = if text.starts_with(marker) { Some(0) } else { None };
        let line = text[..end].rfind(&format!("\n{marker}")).map(|found| found + 1);
        line.or(place).map(|place| (marker, place))
    });
    above.max_by_key(|(_, place)| *place)
}

/// The place of `{{` in the line of `at` or the line before.
fn template(text: &str, at: usize) -> Option<usize> {
    let end = text[at..].find('\n').map_or(text.len(), |found| at + found);
    let line = text[..at].rfind('\n').map_or(0, |found| found + 1);
    let before = text[..line.saturating_sub(1)].rfind('\n').map_or(0, |found| found + 1);
    text[before..end].find("{{").map(|found| before + found)
}

/// The tab at `at`, or the last one before it in the same line.
fn last_tab(text: &str, at: usize) -> Option<usize> {
    let line = text[..at].rfind('\n').map_or(0, |found| found + 1);
    if text[at..].starts_with('\t') { Some(at) } else { text[line..at].rfind('\t').map(|found| line + found) }
}

/// The first escape behind `at` that YAML does not have, or that does not have its digits.
fn wrong_escape(text: &str, at: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut at = at;
    loop {
        at += bytes.get(at..)?.iter().position(|byte| *byte == b'\\')?;
        let width = match bytes.get(at + 1)? {
            b'x' => 2,
            b'u' => 4,
            b'U' => 8,
            b'0' | b'a' | b'b' | b't' | b'n' | b'v' | b'f' | b'r' | b'e' | b'"' | b'/' | b'\\' | b'N' | b'_' | b'L'
            | b'P' | b' ' | b'\t' | b'\n' | b'\r' => 0,
            _ => return Some(at),
        };
        let digits =
            text.get(at + 2..at + 2 + width).filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()));
        let Some(digits) = digits else { return Some(at) };
        if width > 2 && u32::from_str_radix(digits, 16).ok().and_then(char::from_u32).is_none() {
            return Some(at);
        }
        at += 2 + width;
    }
}
