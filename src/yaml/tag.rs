//! Tags: which ones have a meaning, and the errors of those that do not.

use std::borrow::Cow;
use std::ops::Range;

use super::read::{ReadError, ReadErrorKind};
use super::scalar::Tag;

/// The tag of a scalar, if it has a meaning here.
pub(super) fn scalar(tag: &granit_parser::Tag) -> Option<Tag> {
    match tag.core_suffix() {
        Some("str") => Some(Tag::Str),
        Some("bool") => Some(Tag::Bool),
        Some("int") => Some(Tag::Int),
        Some("float") => Some(Tag::Float),
        Some("null") => Some(Tag::Null),
        // `! 12` is the text 12.
        None if tag.original() == "!" => Some(Tag::Str),
        _ => None,
    }
}

/// The error for a tag without a meaning, at `span`.
pub(super) fn unknown(tag: &granit_parser::Tag, span: &Range<usize>) -> ReadError {
    ReadError {
        span: span.clone(),
        kind: ReadErrorKind::Tag,
        message: format!("the tag `{}` means nothing here", short(&tag.original())),
        hint: Some("remove the tag; text that begins with ! needs quotes".to_owned()),
    }
}

/// The first characters of a text, for a message.
pub(super) fn short(text: &str) -> Cow<'_, str> {
    match text.char_indices().nth(40) {
        Some((at, _)) => Cow::Owned(format!("{}…", &text[..at])),
        None => Cow::Borrowed(text),
    }
}
