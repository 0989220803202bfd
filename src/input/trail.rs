//! The way from the root to the value that is being read, without an allocation while nothing is wrong.

use crate::problem::{FieldPath, Step};

/// One step and what came before it.
#[derive(Clone, Copy)]
pub(super) enum Trail<'a> {
    /// The object itself.
    Root,
    /// A key of a mapping.
    Key(&'a Trail<'a>, &'a str),
    /// A position in a sequence.
    Index(&'a Trail<'a>, usize),
}

impl Trail<'_> {
    /// The path, for a problem.
    pub(super) fn path(&self) -> FieldPath {
        match self {
            Trail::Root => FieldPath::root(),
            Trail::Key(parent, key) => parent.path().key(*key),
            Trail::Index(parent, index) => parent.path().index(*index),
        }
    }

    /// The path as text; `the object` for the root, which has none.
    pub(super) fn text(&self) -> String {
        let path = self.path();
        if path.is_root() { "the object".to_owned() } else { path.to_string() }
    }

    /// The last key, for a hint that shows what to type.
    pub(super) fn last_key(&self) -> String {
        match self.path().steps().last() {
            Some(Step::Key(key)) => format!("{key}: "),
            Some(Step::Index(_)) => "- ".to_owned(),
            None => String::new(),
        }
    }
}
