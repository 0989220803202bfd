//! One document: the events of `granit-parser` become a tree with places, as `decode.go` of `go.yaml.in/yaml/v2` and
//! `yaml.go` of `sigs.k8s.io/yaml` make a value of them.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;

use granit_parser::{Event, Parser, ScalarStyle};

use super::node::{Entry, Key, Kind, Node};
use super::read::{Limits, ReadError, ReadErrorKind};
use super::scalar::{self, Tag};
use super::syntax;

/// What is left of the [`Limits`] while a text is read.
#[derive(Debug, Clone, Copy)]
pub(super) struct Budget {
    limits: Limits,
    nodes: usize,
    alias_nodes: usize,
}

impl Budget {
    pub(super) fn new(limits: &Limits) -> Self {
        Budget { limits: *limits, nodes: limits.nodes, alias_nodes: limits.alias_nodes }
    }

    /// The depth that collections may have.
    pub(super) fn depth(&self) -> usize {
        self.limits.depth
    }

    /// Counts `count` values at `span`.
    pub(super) fn spend(&mut self, count: usize, span: &Range<usize>) -> Result<(), ReadError> {
        match self.nodes.checked_sub(count) {
            Some(left) => {
                self.nodes = left;
                Ok(())
            }
            None => Err(limit(span, format!("the text holds more than {} values", self.limits.nodes))),
        }
    }

    fn spend_alias(&mut self, count: usize, span: &Range<usize>) -> Result<(), ReadError> {
        self.spend(count, span)?;
        match self.alias_nodes.checked_sub(count) {
            Some(left) => {
                self.alias_nodes = left;
                Ok(())
            }
            None => Err(limit(span, format!("aliases expand to more than {} values", self.limits.alias_nodes))),
        }
    }

    /// Refuses a collection at `depth`, the outermost having depth 1.
    pub(super) fn check_depth(&self, depth: usize, span: &Range<usize>) -> Result<(), ReadError> {
        if depth > self.limits.depth {
            return Err(limit(span, format!("lists and mappings are nested more than {} deep", self.limits.depth)));
        }
        Ok(())
    }
}

fn limit(span: &Range<usize>, message: String) -> ReadError {
    ReadError { span: span.clone(), kind: ReadErrorKind::Limit, message, hint: None }
}

/// A value on its way into the tree.
struct Value {
    node: Node,
    /// Collections inside each other; 0 for a scalar.
    height: usize,
    /// It stands there as an alias.
    alias: bool,
    /// The plain key `<<`.
    merge: bool,
}

impl Value {
    fn scalar(kind: Kind, span: Range<usize>) -> Self {
        Value { node: Node { kind, span }, height: 0, alias: false, merge: false }
    }
}

/// A collection that is still open.
struct Frame {
    start: usize,
    anchor: usize,
    height: usize,
    content: Content,
}

enum Content {
    Sequence(Vec<Node>),
    Mapping { entries: Vec<Entry>, key: PendingKey, merged: Option<Merged> },
}

/// What stands left of the next value of a mapping.
enum PendingKey {
    None,
    Key(Key),
    Merge,
    /// A key with a problem; its value is dropped.
    Broken,
}

/// Which entries of a mapping came in by `<<`: they give way, the others are duplicates.
struct Merged {
    from_merge: Vec<bool>,
    places: BTreeMap<String, usize>,
}

struct Anchor {
    node: Node,
    height: usize,
    size: usize,
}

struct Tree<'a> {
    text: &'a str,
    /// Where `text` begins in the whole text.
    start: usize,
    budget: &'a mut Budget,
    frames: Vec<Frame>,
    anchors: BTreeMap<usize, Anchor>,
    root: Option<Node>,
    errors: Vec<ReadError>,
}

/// Reads the one document in `text`, which stands at `start` of the whole text. Nothing if it is empty.
pub(super) fn read(text: &str, start: usize, budget: &mut Budget) -> Result<Option<Node>, Vec<ReadError>> {
    let mut options = granit_parser::options! {
        disallow_directives: true,
        flow_nesting_limit: budget.depth(),
        block_nesting_limit: budget.depth(),
    };
    options.set_emit_comments(false);
    let parser = Parser::new_from_str_with_options(text, options);
    let mut tree =
        Tree { text, start, budget, frames: Vec::new(), anchors: BTreeMap::new(), root: None, errors: Vec::new() };
    let mut documents = 0;
    for next in parser {
        let (event, span) = match next {
            Ok((event, span)) => (event, span.byte_range().unwrap_or(0..0)),
            Err(error) => {
                tree.errors.push(syntax::error(text, start, &error));
                return Err(tree.errors);
            }
        };
        if matches!(event, Event::DocumentStart(..)) {
            documents += 1;
            if documents > 1 {
                let end = start + text.trim_end().len();
                tree.errors.push(ReadError {
                    span: (start + span.start).min(end)..end,
                    kind: ReadErrorKind::AfterEnd,
                    message: "Kubernetes drops the text behind the end of the document without a word".to_owned(),
                    hint: Some("begin the next document with --- in a line of its own".to_owned()),
                });
                return Err(tree.errors);
            }
            continue;
        }
        if let Err(error) = tree.event(event, span) {
            tree.errors.push(error);
            return Err(tree.errors);
        }
    }
    if tree.errors.is_empty() { Ok(tree.root) } else { Err(tree.errors) }
}

impl Tree<'_> {
    /// An `Err` ends the document; problems of single values are kept in `errors`.
    fn event(&mut self, event: Event<'_>, local: Range<usize>) -> Result<(), ReadError> {
        let span = self.start + local.start..self.start + local.end;
        match event {
            Event::Scalar(text, style, anchor, tag) => {
                self.budget.spend(1, &span)?;
                let as_key = self.expects_key();
                if as_key && anchor != 0 {
                    // An alias repeats what was written, so `&a 1.10: x` is a number there and text here.
                    let value = self.scalar(text.clone(), style, tag.as_deref(), &span, &local, false)?;
                    self.anchor(&value, anchor)?;
                }
                let value = self.scalar(text, style, tag.as_deref(), &span, &local, as_key)?;
                self.value(value, if as_key { 0 } else { anchor })
            }
            Event::SequenceStart(_, anchor, tag) => {
                self.collection_tag(tag.as_deref(), "seq", &span);
                self.open(Content::Sequence(Vec::new()), anchor, span)
            }
            Event::MappingStart(_, anchor, tag) => {
                self.collection_tag(tag.as_deref(), "map", &span);
                self.open(Content::Mapping { entries: Vec::new(), key: PendingKey::None, merged: None }, anchor, span)
            }
            Event::SequenceEnd | Event::MappingEnd => self.close(span.end),
            Event::Alias(id) => {
                let Some(anchor) = self.anchors.get(&id) else {
                    return Err(ReadError {
                        span,
                        kind: ReadErrorKind::Alias,
                        message: "the alias stands inside the value that it stands for".to_owned(),
                        hint: None,
                    });
                };
                self.budget.spend_alias(anchor.size, &span)?;
                let node = Node { kind: anchor.node.kind.clone(), span };
                let value = Value { node, height: anchor.height, alias: true, merge: false };
                self.value(value, 0)
            }
            _ => Ok(()),
        }
    }

    fn open(&mut self, content: Content, anchor: usize, span: Range<usize>) -> Result<(), ReadError> {
        self.budget.spend(1, &span)?;
        self.budget.check_depth(self.frames.len() + 1, &span)?;
        self.frames.push(Frame { start: span.start, anchor, height: 1, content });
        Ok(())
    }

    fn close(&mut self, end: usize) -> Result<(), ReadError> {
        let Some(frame) = self.frames.pop() else { return Ok(()) };
        let (kind, last) = match frame.content {
            Content::Sequence(items) => {
                let last = items.last().map(|item| item.span.end);
                (Kind::Sequence(items), last)
            }
            Content::Mapping { entries, .. } => {
                let last = entries.last().map(|entry| entry.value.span.end.max(entry.key.span.end));
                (Kind::Mapping(entries), last)
            }
        };
        // A block collection ends where the next token begins; its last value is the better end.
        let closed_by_bracket = self.text.as_bytes()[..end.saturating_sub(self.start).min(self.text.len())]
            .last()
            .is_some_and(|byte| matches!(byte, b']' | b'}'));
        let end = if closed_by_bracket { end } else { last.unwrap_or(end) };
        let node = Node { kind, span: frame.start..end.max(frame.start) };
        self.value(Value { node, height: frame.height, alias: false, merge: false }, frame.anchor)
    }

    /// Keeps a copy of the value for the aliases of `anchor`, unless that is 0.
    fn anchor(&mut self, value: &Value, anchor: usize) -> Result<(), ReadError> {
        if anchor != 0 {
            let size = size(&value.node);
            self.budget.spend(size, &value.node.span)?;
            self.anchors.insert(anchor, Anchor { node: value.node.clone(), height: value.height, size });
        }
        Ok(())
    }

    /// Puts a finished value where it belongs.
    fn value(&mut self, value: Value, anchor: usize) -> Result<(), ReadError> {
        // An alias brings collections of its own, so the depth is checked again.
        self.budget.check_depth(self.frames.len() + value.height, &value.node.span)?;
        self.anchor(&value, anchor)?;
        let Some(frame) = self.frames.last_mut() else {
            self.root = Some(value.node);
            return Ok(());
        };
        frame.height = frame.height.max(value.height + 1);
        match &mut frame.content {
            Content::Sequence(items) => items.push(value.node),
            Content::Mapping { entries, key, merged } => match std::mem::replace(key, PendingKey::None) {
                PendingKey::None => {
                    *key = match pending_key(value) {
                        Ok(key) => key,
                        Err(error) => {
                            self.errors.push(syntax::template_key(self.text, self.start, error));
                            PendingKey::Broken
                        }
                    }
                }
                PendingKey::Key(name) => push_entry(entries, merged, Entry { key: name, value: value.node }),
                PendingKey::Merge => {
                    if let Err(error) = merge(entries, merged, value) {
                        self.errors.push(error);
                    }
                }
                PendingKey::Broken => {}
            },
        }
        Ok(())
    }

    fn scalar(
        &mut self,
        text: Cow<'_, str>,
        style: ScalarStyle,
        tag: Option<&granit_parser::Tag>,
        span: &Range<usize>,
        local: &Range<usize>,
        as_key: bool,
    ) -> Result<Value, ReadError> {
        if style == ScalarStyle::DoubleQuoted
            && let Some(error) = self.text.get(local.clone()).and_then(|raw| syntax::foreign_escape(raw, span.start))
        {
            return Err(error);
        }
        let known = match tag {
            None if style == ScalarStyle::Plain => None,
            None => Some(Tag::Str),
            Some(tag) => match scalar_tag(tag) {
                Some(known) => Some(known),
                None => {
                    self.errors.push(unknown_tag(tag, span));
                    return Ok(Value::scalar(Kind::Null, span.clone()));
                }
            },
        };
        if as_key && tag.is_none() && style == ScalarStyle::Plain && text == "<<" {
            let node = Node { kind: Kind::Null, span: span.clone() };
            return Ok(Value { node, height: 0, alias: false, merge: true });
        }
        if known == Some(Tag::Str) {
            return Ok(Value::scalar(Kind::String(text.into_owned()), span.clone()));
        }
        let Some(resolved) = scalar::resolve(&text, known) else {
            self.errors.push(ReadError {
                kind: ReadErrorKind::Tag,
                message: format!("`{}` is no {}", short(&text), known.map_or("value", Tag::text)),
                hint: Some("remove the tag".to_owned()),
                span: span.clone(),
            });
            return Ok(Value::scalar(Kind::Null, span.clone()));
        };
        if as_key {
            let kind = scalar::key(resolved, &text).map_or(Kind::Null, Kind::String);
            return Ok(Value::scalar(kind, span.clone()));
        }
        let kind = scalar::kind(resolved, &text).unwrap_or_else(|| {
            self.errors.push(ReadError {
                kind: ReadErrorKind::Number,
                message: format!("`{text}` is a number that JSON does not have"),
                hint: Some(format!("write \"{text}\" if it is meant as text")),
                span: span.clone(),
            });
            Kind::Null
        });
        Ok(Value::scalar(kind, span.clone()))
    }

    /// The next value is the key of a mapping.
    fn expects_key(&self) -> bool {
        matches!(self.frames.last(), Some(Frame { content: Content::Mapping { key: PendingKey::None, .. }, .. }))
    }

    fn collection_tag(&mut self, tag: Option<&granit_parser::Tag>, fitting: &str, span: &Range<usize>) {
        if let Some(tag) = tag
            && tag.core_suffix() != Some(fitting)
        {
            self.errors.push(unknown_tag(tag, span));
        }
    }
}

fn scalar_tag(tag: &granit_parser::Tag) -> Option<Tag> {
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

fn unknown_tag(tag: &granit_parser::Tag, span: &Range<usize>) -> ReadError {
    ReadError {
        span: span.clone(),
        kind: ReadErrorKind::Tag,
        message: format!("the tag `{}` means nothing here", short(&tag.original())),
        hint: Some("remove the tag; text that begins with ! needs quotes".to_owned()),
    }
}

fn pending_key(value: Value) -> Result<PendingKey, ReadError> {
    if value.merge {
        return Ok(PendingKey::Merge);
    }
    let span = value.node.span;
    let message = match value.node.kind {
        Kind::String(text) => return Ok(PendingKey::Key(Key { text, span })),
        // Only an alias gets here with one of these two; a key in its own place is text by now.
        Kind::Bool(flag) => return Ok(PendingKey::Key(Key { text: flag.to_string(), span })),
        Kind::Number(_) => "an alias of a number cannot be a key",
        Kind::Null => "a key is null or too large a number",
        Kind::Sequence(_) | Kind::Mapping(_) => "a list or a mapping cannot be a key",
    };
    Err(ReadError {
        span,
        kind: ReadErrorKind::Key,
        message: message.to_owned(),
        hint: Some("put the key into quotes if it is meant as text".to_owned()),
    })
}

fn push_entry(entries: &mut Vec<Entry>, merged: &mut Option<Merged>, entry: Entry) {
    if let Some(merged) = merged {
        if let Some(&place) = merged.places.get(&entry.key.text)
            && merged.from_merge[place]
        {
            merged.from_merge[place] = false;
            entries[place] = entry;
            return;
        }
        merged.places.insert(entry.key.text.clone(), entries.len());
        merged.from_merge.push(false);
    }
    entries.push(entry);
}

/// Takes the entries of `value` into the mapping. A key that is already there gets the merged value: so does the
/// reader of Kubernetes, which sets keys one after the other in the order of the text.
fn merge(entries: &mut Vec<Entry>, merged: &mut Option<Merged>, value: Value) -> Result<(), ReadError> {
    let wrong = |span: Range<usize>| ReadError {
        span,
        kind: ReadErrorKind::Merge,
        message: "<< takes a mapping, an alias of a mapping, or a list of these".to_owned(),
        hint: Some("write \"<<\" in quotes if it is meant as a key".to_owned()),
    };
    let sources = match value.node.kind {
        Kind::Mapping(source) => vec![source],
        Kind::Sequence(items) if !value.alias => {
            let mut sources = Vec::with_capacity(items.len());
            for item in items {
                match item.kind {
                    Kind::Mapping(source) => sources.push(source),
                    _ => return Err(wrong(item.span)),
                }
            }
            // The first of the list wins, so it comes last.
            sources.reverse();
            sources
        }
        _ => return Err(wrong(value.node.span)),
    };
    let merged = merged.get_or_insert_with(|| Merged {
        from_merge: vec![false; entries.len()],
        places: entries.iter().enumerate().map(|(place, entry)| (entry.key.text.clone(), place)).collect(),
    });
    for entry in sources.into_iter().flatten() {
        match merged.places.get(&entry.key.text) {
            Some(&place) => entries[place] = entry,
            None => {
                merged.places.insert(entry.key.text.clone(), entries.len());
                merged.from_merge.push(true);
                entries.push(entry);
            }
        }
    }
    Ok(())
}

/// Values in the tree of `node`, itself included.
fn size(node: &Node) -> usize {
    match &node.kind {
        Kind::Sequence(items) => 1 + items.iter().map(size).sum::<usize>(),
        Kind::Mapping(entries) => 1 + entries.iter().map(|entry| 1 + size(&entry.value)).sum::<usize>(),
        _ => 1,
    }
}

/// The first characters of a text, for a message.
fn short(text: &str) -> Cow<'_, str> {
    match text.char_indices().nth(40) {
        Some((at, _)) => Cow::Owned(format!("{}…", &text[..at])),
        None => Cow::Borrowed(text),
    }
}
