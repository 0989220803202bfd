//! One document: the events of `granit-parser` become a tree with places, as `decode.go` of `go.yaml.in/yaml/v2` and
//! `yaml.go` of `sigs.k8s.io/yaml` make a value of them.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;

use granit_parser::{Event, Parser, ScalarStyle, StructureStyle};

use super::budget::Budget;
use super::merge::Entries;
use super::node::{Entry, Key, Kind, Node};
use super::read::{ReadError, ReadErrorKind};
use super::scalar::{self, Tag};
use super::strict::{self, Zone, ZoneKind};
use super::{syntax, tag};

/// A value on its way into the tree.
struct Value {
    node: Node,
    /// Collections inside each other; 0 for a scalar.
    height: usize,
    role: Role,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    Written,
    Alias,
    /// The plain key `<<`.
    MergeKey,
}

impl Value {
    fn scalar(kind: Kind, span: &Range<usize>) -> Self {
        Value { node: Node { kind, span: span.clone() }, height: 0, role: Role::Written }
    }
}

/// A collection that is still open.
struct Frame {
    start: usize,
    anchor: usize,
    height: usize,
    brackets: bool,
    content: Content,
}

enum Content {
    Sequence(Vec<Node>),
    Mapping { entries: Entries, key: PendingKey },
}

/// What stands left of the next value of a mapping.
enum PendingKey {
    None,
    Key(Key),
    Merge,
    /// A key with a problem; its value is dropped.
    Broken,
}

struct Anchor {
    node: Node,
    height: usize,
    size: usize,
}

/// A scalar as the parser gives it. Its place is in the document, not in the whole text.
struct Written<'e> {
    text: Cow<'e, str>,
    style: ScalarStyle,
    tag: Option<Cow<'e, granit_parser::Tag>>,
    place: Range<usize>,
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
    /// The key that was read last, if nothing was read since.
    key: Option<Range<usize>>,
    /// Kept only if there is a tab in the text.
    zones: Option<Vec<Zone>>,
}

/// Reads the one document in `text`, which stands at `start` of the whole text. Nothing if it is empty.
pub(super) fn read(text: &str, start: usize, budget: &mut Budget) -> Result<Option<Node>, Vec<ReadError>> {
    let mut tree = Tree {
        text,
        start,
        budget,
        frames: Vec::new(),
        anchors: BTreeMap::new(),
        root: None,
        errors: Vec::new(),
        key: None,
        zones: text.contains('\t').then(Vec::new),
    };
    if let Err(error) = tree.run() {
        // Behind a template everything looks wrong.
        if !tree.errors.iter().any(|error| error.kind == ReadErrorKind::Template) {
            tree.errors.push(error);
        }
    }
    if tree.errors.is_empty() { Ok(tree.root) } else { Err(tree.errors) }
}

impl Tree<'_> {
    /// An `Err` ends the document; problems of single values are kept in `errors`.
    fn run(&mut self) -> Result<(), ReadError> {
        self.refuse(strict::prefix(self.text))?;
        let depth = self.budget.limits.depth;
        let mut options = granit_parser::options! {
            disallow_directives: true,
            emit_anchor_events: true,
            flow_nesting_limit: depth,
            block_nesting_limit: depth,
        };
        options.set_emit_comments(false);
        let mut documents = 0;
        for next in Parser::new_from_str_with_options(self.text, options) {
            let (event, span) = next.map_err(|error| syntax::error(self.text, self.start, &error))?;
            let place = span.byte_range().unwrap_or(0..0);
            if let Some(tag) = span.tag_span().and_then(|span| span.byte_range()) {
                self.refuse(strict::tag_end(self.text, &tag))?;
                if self.expects_key() && matches!(event, Event::Scalar(..)) {
                    self.refuse(strict::key_of_lines(self.text, &(tag.start..place.end)))?;
                }
            }
            if matches!(event, Event::DocumentStart(..)) {
                documents += 1;
                if documents > 1 {
                    let end = self.text.trim_end().len();
                    return Err(ReadError {
                        span: self.whole(&(place.start.min(end)..end)),
                        kind: ReadErrorKind::AfterEnd,
                        message: "Kubernetes drops the text behind the end of the document without a word".to_owned(),
                        hint: Some("begin the next document with --- in a line of its own".to_owned()),
                    });
                }
                continue;
            }
            self.event(event, place)?;
            if self.errors.len() > self.budget.limits.errors {
                return Ok(());
            }
        }
        let zones = self.zones.take().unwrap_or_default();
        self.refuse(strict::tab(self.text, &zones))
    }

    fn event(&mut self, event: Event<'_>, place: Range<usize>) -> Result<(), ReadError> {
        match event {
            Event::Scalar(text, style, anchor, tag) => self.scalar(&Written { text, style, tag, place }, anchor),
            Event::SequenceStart(style, anchor, tag) => {
                let place = if style == StructureStyle::Block { self.dash_to_end(place) } else { place };
                self.collection_tag(tag.as_deref(), "seq", &place);
                self.open(Content::Sequence(Vec::new()), style, anchor, &place)
            }
            Event::MappingStart(style, anchor, tag) => {
                self.collection_tag(tag.as_deref(), "map", &place);
                let content = Content::Mapping { entries: Entries::default(), key: PendingKey::None };
                self.open(content, style, anchor, &place)
            }
            Event::SequenceEnd | Event::MappingEnd => self.close(place.end),
            Event::Anchor(..) => {
                self.refuse(strict::anchor_name(self.text, &place))?;
                // The event stands behind the one of the node that it names.
                match self.key.take() {
                    Some(key) => self.refuse(strict::key_of_lines(self.text, &(place.start..key.end))),
                    None => Ok(()),
                }
            }
            Event::Alias(id) => {
                self.refuse(strict::anchor_name(self.text, &place))?;
                let span = self.whole(&place);
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
                self.value(Value { node, height: anchor.height, role: Role::Alias }, 0)
            }
            _ => Ok(()),
        }
    }

    fn open(
        &mut self,
        content: Content,
        style: StructureStyle,
        anchor: usize,
        place: &Range<usize>,
    ) -> Result<(), ReadError> {
        let span = self.whole(place);
        self.key = None;
        self.budget.spend(1, &span)?;
        self.budget.check_depth(self.frames.len() + 1, &span)?;
        let brackets = style == StructureStyle::Flow;
        self.frames.push(Frame { start: span.start, anchor, height: 1, brackets, content });
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
                (Kind::Mapping(entries.into_list()), last)
            }
        };
        let end = self.start + end;
        let span = if frame.brackets {
            if !self.in_brackets() {
                self.zone(frame.start - self.start..end - self.start, ZoneKind::Brackets);
            }
            frame.start..end
        } else {
            // The parser ends a block collection where the next token begins; its last value is the better end.
            frame.start..last.unwrap_or(end).max(frame.start)
        };
        self.value(Value { node: Node { kind, span }, height: frame.height, role: Role::Written }, frame.anchor)
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
            Content::Mapping { entries, key } => match std::mem::replace(key, PendingKey::None) {
                PendingKey::None => {
                    *key = pending_key(value).unwrap_or_else(|error| {
                        self.errors.push(syntax::template_key(self.text, self.start, error));
                        PendingKey::Broken
                    });
                }
                PendingKey::Key(key) => entries.push(Entry { key, value: value.node }),
                PendingKey::Merge => {
                    if let Err(error) = entries.merge(value.node, value.role == Role::Alias) {
                        self.errors.push(error);
                    }
                }
                PendingKey::Broken => {}
            },
        }
        Ok(())
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

    fn scalar(&mut self, written: &Written<'_>, anchor: usize) -> Result<(), ReadError> {
        let as_key = self.expects_key();
        let place = &written.place;
        self.budget.spend(1, &self.whole(place))?;
        match written.style {
            ScalarStyle::Plain => {
                if self.in_brackets() {
                    self.refuse(strict::plain_in_brackets(self.text, place))?;
                }
                self.zone(place.clone(), ZoneKind::Plain);
            }
            ScalarStyle::SingleQuoted => self.zone(place.clone(), ZoneKind::Quoted),
            ScalarStyle::DoubleQuoted => {
                self.refuse(strict::escape(self.text, place))?;
                self.zone(place.clone(), ZoneKind::Quoted);
            }
            ScalarStyle::Literal | ScalarStyle::Folded => {
                let empty = written.text.bytes().all(|byte| byte == b'\n');
                self.refuse(strict::block(self.text, place, empty))?;
                self.zone(place.clone(), ZoneKind::Block(strict::block_column(self.text, place, empty)));
            }
        }
        self.key = None;
        if as_key && !matches!(written.style, ScalarStyle::Literal | ScalarStyle::Folded) {
            self.refuse(strict::key_of_lines(self.text, place))?;
            self.key = Some(place.clone());
        }
        if as_key && anchor != 0 {
            // An alias repeats what was written, so `&a 1.10: x` is a number there and text here.
            let value = self.resolve(written, false);
            self.anchor(&value, anchor)?;
        }
        let value = self.resolve(written, as_key);
        self.value(value, if as_key { 0 } else { anchor })
    }

    /// The value of a scalar. With a problem, which is kept, it is null.
    fn resolve(&mut self, written: &Written<'_>, as_key: bool) -> Value {
        let Written { text, style, tag, place } = written;
        let end = match style {
            ScalarStyle::Literal | ScalarStyle::Folded => {
                place.start + self.text[place.clone()].trim_end_matches(['\n', '\r', ' ']).len()
            }
            _ => place.end,
        };
        let span = self.start + place.start..self.start + end;
        let plain = *style == ScalarStyle::Plain;
        if as_key && plain && text == "<<" {
            if let Some(tag) = tag {
                self.errors.push(tag::unknown(tag, &span));
            }
            return Value { role: Role::MergeKey, ..Value::scalar(Kind::Null, &span) };
        }
        let known = match tag {
            None if plain => None,
            None => Some(Tag::Str),
            Some(tag) => match tag::scalar(tag) {
                Some(known) => Some(known),
                None => {
                    self.errors.push(tag::unknown(tag, &span));
                    return Value::scalar(Kind::Null, &span);
                }
            },
        };
        if known == Some(Tag::Str) {
            return Value::scalar(Kind::String(text.as_ref().to_owned()), &span);
        }
        let problem = |kind, message, hint: String| ReadError { span: span.clone(), kind, message, hint: Some(hint) };
        let Some(resolved) = scalar::resolve(text, known) else {
            let message = format!("`{}` is no {}", tag::short(text), known.map_or("value", Tag::text));
            self.errors.push(problem(ReadErrorKind::Tag, message, "remove the tag".to_owned()));
            return Value::scalar(Kind::Null, &span);
        };
        if as_key {
            let key = scalar::key(resolved, text);
            return Value::scalar(key.map_or(Kind::Null, Kind::String), &span);
        }
        let kind = scalar::kind(resolved, text).unwrap_or_else(|| {
            let message = format!("`{text}` is a number that JSON does not have");
            self.errors.push(problem(
                ReadErrorKind::Number,
                message,
                format!("write \"{text}\" if it is meant as text"),
            ));
            Kind::Null
        });
        Value::scalar(kind, &span)
    }

    /// The next value is the key of a mapping.
    fn expects_key(&self) -> bool {
        matches!(self.frames.last(), Some(Frame { content: Content::Mapping { key: PendingKey::None, .. }, .. }))
    }

    fn in_brackets(&self) -> bool {
        self.frames.last().is_some_and(|frame| frame.brackets)
    }

    /// Remembers a part in which tabs are harmless. Inside brackets the brackets are the part.
    fn zone(&mut self, span: Range<usize>, kind: ZoneKind) {
        if !self.in_brackets()
            && let Some(zones) = &mut self.zones
        {
            zones.push(Zone { span, kind });
        }
    }

    /// A place in the document as a place in the whole text.
    fn whole(&self, place: &Range<usize>) -> Range<usize> {
        self.start + place.start..self.start + place.end
    }

    /// Ends the document with the error, whose place is in the document.
    fn refuse(&self, error: Option<ReadError>) -> Result<(), ReadError> {
        match error {
            Some(error) => Err(ReadError { span: self.whole(&error.span), ..error }),
            None => Ok(()),
        }
    }

    /// A list as a block begins with its dash; for the parser it begins behind it.
    fn dash_to_end(&self, place: Range<usize>) -> Range<usize> {
        let before = self.text[..place.start].trim_end();
        if before.ends_with('-') { before.len() - 1..place.end } else { place }
    }

    fn collection_tag(&mut self, tag: Option<&granit_parser::Tag>, fitting: &str, place: &Range<usize>) {
        if let Some(tag) = tag
            && tag.core_suffix() != Some(fitting)
        {
            self.errors.push(tag::unknown(tag, &self.whole(place)));
        }
    }
}

fn pending_key(value: Value) -> Result<PendingKey, ReadError> {
    if value.role == Role::MergeKey {
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

/// Values in the tree of `node`, itself included.
fn size(node: &Node) -> usize {
    match &node.kind {
        Kind::Sequence(items) => 1 + items.iter().map(size).sum::<usize>(),
        Kind::Mapping(entries) => 1 + entries.iter().map(|entry| 1 + size(&entry.value)).sum::<usize>(),
        _ => 1,
    }
}
