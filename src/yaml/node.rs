//! The tree that the reader gives: values as Kubernetes reads them, each with its place in the text.

use std::ops::Range;

/// A value and the bytes it was read from.
///
/// A value that was written as an alias (`*name`) has the place of the alias; what is inside it has the place of its
/// definition. A key with nothing after it has an empty range just behind the key.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    /// What the text says.
    pub kind: Kind,
    /// Bytes of the whole text, from the first byte of the value to the one behind its last.
    pub span: Range<usize>,
}

/// The value of a [`Node`], in the terms of JSON.
#[derive(Debug, Clone, PartialEq)]
pub enum Kind {
    /// `null`, `~`, or nothing at all.
    Null,
    /// Also from `yes`, `no`, `on`, `off`, `y`, `n`.
    Bool(bool),
    /// A whole number of 64 bits with a sign, otherwise a finite float, as the API server keeps it (`8.0` is 8).
    Number(serde_json::Number),
    /// Any other scalar.
    String(String),
    /// A list.
    Sequence(Vec<Node>),
    /// Entries in the order of the text. A key that stands there twice is here twice; Kubernetes takes the last.
    Mapping(Vec<Entry>),
}

/// A key and its value.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// The key.
    pub key: Key,
    /// The value.
    pub value: Node,
}

/// The key of an [`Entry`] as Kubernetes reads it: `yes:` is the key `true`, `1.10:` the key `1.1`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Key {
    /// The key as text.
    pub text: String,
    /// Bytes of the key in the whole text.
    pub span: Range<usize>,
}

/// One step from a value to a value inside it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step<'a> {
    /// To the value of a key of a mapping.
    Key(&'a str),
    /// To an item of a sequence, counted from 0.
    Index(usize),
}

impl Node {
    /// The value of `key`, if this is a mapping that has it. Of duplicates the last, as Kubernetes reads them.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Node> {
        self.entry(key).map(|entry| &entry.value)
    }

    /// The entry of `key`, if this is a mapping that has it. Of duplicates the last, as Kubernetes reads them.
    #[must_use]
    pub fn entry(&self, key: &str) -> Option<&Entry> {
        self.entries().iter().rev().find(|entry| entry.key.text == key)
    }

    /// The entries of a mapping; none for everything else.
    #[must_use]
    pub fn entries(&self) -> &[Entry] {
        match &self.kind {
            Kind::Mapping(entries) => entries,
            _ => &[],
        }
    }

    /// The items of a sequence; none for everything else.
    #[must_use]
    pub fn items(&self) -> &[Node] {
        match &self.kind {
            Kind::Sequence(items) => items,
            _ => &[],
        }
    }

    /// The text of a string; nothing for everything else.
    #[must_use]
    pub fn as_str(&self) -> Option<&str> {
        match &self.kind {
            Kind::String(text) => Some(text),
            _ => None,
        }
    }

    /// The value at the end of `path`, if it is there.
    #[must_use]
    pub fn find(&self, path: &[Step<'_>]) -> Option<&Node> {
        let (node, walked) = self.nearest(path);
        (walked == path.len()).then_some(node)
    }

    /// The last value on the way along `path` that is there, and how many steps lead to it.
    #[must_use]
    pub fn nearest(&self, path: &[Step<'_>]) -> (&Node, usize) {
        let mut node = self;
        for (walked, step) in path.iter().enumerate() {
            let next = match step {
                Step::Key(key) => node.get(key),
                Step::Index(index) => node.items().get(*index),
            };
            match next {
                Some(next) => node = next,
                None => return (node, walked),
            }
        }
        (node, path.len())
    }

    /// The same value without its places, keys in the order of the text. Of duplicates the last value.
    #[must_use]
    pub fn to_json(&self) -> serde_json::Value {
        use serde_json::Value;
        match &self.kind {
            Kind::Null => Value::Null,
            Kind::Bool(value) => Value::Bool(*value),
            Kind::Number(number) => Value::Number(number.clone()),
            Kind::String(text) => Value::String(text.clone()),
            Kind::Sequence(items) => Value::Array(items.iter().map(Node::to_json).collect()),
            Kind::Mapping(entries) => {
                Value::Object(entries.iter().map(|entry| (entry.key.text.clone(), entry.value.to_json())).collect())
            }
        }
    }
}
