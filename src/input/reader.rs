//! One tree against one schema: the value that the API server would store, or every problem that it would have.
//!
//! Nulls are dropped, as the API server drops them where a field is not nullable, and then counts the field as absent.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::{Map, Value};

use super::place;
use super::schema::{Object, Schema};
use super::trail::Trail;
use super::wrong_type;
use crate::problem::{Code, Place, Problem, Problems, nearest};
use crate::yaml::{Entry, Kind, Node};

/// Problems of one document that are told. A hostile document would make millions.
const TOLD: usize = 100;

/// Reads values of one document.
pub(super) struct Reader<'a> {
    /// Index of the source.
    pub(super) source: usize,
    /// Its text, to show a value as it was written.
    text: &'a str,
    /// The document's tree, to find the place of what is absent.
    document: &'a Node,
    /// `namespace/name`, once it is known.
    pub(super) subject: Option<String>,
    /// The whole schema and its own path, to say where a misplaced key belongs.
    schema: &'a Schema,
    above: &'static str,
    problems: Vec<Problem>,
    untold: usize,
}

impl<'a> Reader<'a> {
    pub(super) fn new(
        source: usize,
        text: &'a str,
        document: &'a Node,
        schema: &'a Schema,
        above: &'static str,
    ) -> Reader<'a> {
        Reader { source, text, document, subject: None, schema, above, problems: Vec::new(), untold: 0 }
    }

    /// Hands the problems over. Whether there were none.
    pub(super) fn finish(self, out: &mut Problems) -> bool {
        let clean = self.problems.is_empty();
        let rest = self.problems.last().filter(|_| self.untold > 0).map(|last| {
            let mut rest = Problem::new(
                last.code,
                last.path.clone(),
                format!("{} more problems in this document are not shown", self.untold),
            )
            .with_hint("mend the ones above first");
            rest.place.clone_from(&last.place);
            rest
        });
        out.extend(self.problems.into_iter().chain(rest).map(|mut problem| {
            problem.subject.clone_from(&self.subject);
            problem
        }));
        clean
    }

    /// Whether one more problem would be told; counts it where it would not.
    pub(super) fn has_room(&mut self) -> bool {
        let room = self.problems.len() < TOLD;
        self.untold += usize::from(!room);
        room
    }

    /// Adds a problem for which [`Reader::has_room`] found room.
    pub(super) fn push(&mut self, problem: Problem) {
        self.problems.push(problem);
    }

    pub(super) fn place(&self, node: &Node) -> Place {
        Place { source: self.source, span: node.span.clone(), absent: false }
    }

    pub(super) fn key_place(&self, entry: &Entry) -> Place {
        Place { source: self.source, span: entry.key.span.clone(), absent: false }
    }

    /// The text of a value as it stands in the source.
    pub(super) fn written(&self, node: &Node) -> &'a str {
        self.text.get(node.span.clone()).unwrap_or_default()
    }

    /// The value of a node, null dropped. `None`: it is null, or a problem has been reported.
    pub(super) fn value(&mut self, node: &Node, schema: &Schema, trail: &Trail<'_>) -> Option<Value> {
        if node.kind == Kind::Null {
            return None;
        }
        match (schema, &node.kind) {
            (Schema::Any, _) => Some(node.to_json()),
            (Schema::Object(object), Kind::Mapping(entries)) => {
                let most = object.most.unwrap_or(usize::MAX);
                if !self.fits(entries.len(), most, "entries", node, trail) {
                    return None;
                }
                Some(Value::Object(self.mapping(entries, object, trail)))
            }
            (Schema::List(items), Kind::Sequence(nodes)) => Some(Value::Array(self.list(nodes, items, trail))),
            (Schema::Short(longest), Kind::String(text)) => {
                let found = text.chars().count();
                self.fits(found, *longest, "characters", node, trail).then(|| Value::String(text.clone()))
            }
            (Schema::Text(words), Kind::String(text)) => self.text(node, text, words, trail),
            (Schema::Boolean, Kind::Bool(value)) => Some(Value::Bool(*value)),
            (Schema::Number, Kind::Number(number)) => Some(Value::Number(number.clone())),
            (Schema::Integer(least, largest), Kind::Number(number)) => {
                self.integer(node, number, *least, *largest, trail)
            }
            _ => {
                self.wrong_type(node, schema, trail);
                None
            }
        }
    }

    fn mapping(&mut self, entries: &[Entry], object: &Object, trail: &Trail<'_>) -> Map<String, Value> {
        self.duplicates(entries, trail);
        let mut map = Map::new();
        for entry in entries {
            let key = entry.key.text.as_str();
            let below = Trail::Key(trail, key);
            match object.field(key).or(object.others.as_deref()) {
                Some(_) if self.key_is_misread(entry) => self.misread_key(entry, trail),
                Some(schema) => {
                    if let Some(value) = self.value(&entry.value, schema, &below) {
                        map.insert(key.to_owned(), value);
                    }
                }
                None => self.unknown(entry, object, trail),
            }
        }
        for key in &object.required {
            // A value that is there and wrong has been reported already.
            let there = entries.iter().any(|entry| entry.key.text == *key && entry.value.kind != Kind::Null);
            if !there && self.has_room() {
                self.missing(key, entries.iter().any(|entry| entry.key.text == *key), trail);
            }
        }
        map
    }

    fn missing(&mut self, key: &str, null: bool, trail: &Trail<'_>) {
        let path = trail.path().key(key);
        let message = if null { format!("{path} has no value") } else { format!("{path} is missing") };
        let problem = Problem::new(Code::MissingField, path, message);
        let problem = if null { problem.with_hint("write a value behind the key") } else { problem };
        self.push(place::locate(self.document, self.source, problem));
    }

    fn list(&mut self, nodes: &[Node], items: &Schema, trail: &Trail<'_>) -> Vec<Value> {
        let mut values = Vec::new();
        for (index, node) in nodes.iter().enumerate() {
            let below = Trail::Index(trail, index);
            // Only a field can be null; an item of a list is there.
            if node.kind == Kind::Null {
                self.wrong_type(node, items, &below);
            } else {
                values.extend(self.value(node, items, &below));
            }
        }
        values
    }

    fn text(&mut self, node: &Node, text: &str, words: &[String], trail: &Trail<'_>) -> Option<Value> {
        if words.is_empty() || words.iter().any(|word| word == text) {
            return Some(Value::String(text.to_owned()));
        }
        if self.has_room() {
            let list = words.join(", ");
            let message = format!("{} cannot be {}; it is one of {list}", trail.text(), quoted(text));
            let problem = Problem::new(Code::UnknownValue, trail.path(), message).at(self.place(node));
            let near = nearest(text, words.iter().map(String::as_str));
            self.push(match (near, words) {
                (Some(word), _) => problem.with_hint(format!("did you mean {word}?")),
                (None, [only]) => problem.with_hint(format!("write {only}")),
                (None, _) => problem.with_hint(format!("use one of {list}")),
            });
        }
        None
    }

    fn integer(
        &mut self,
        node: &Node,
        number: &serde_json::Number,
        least: i64,
        largest: i64,
        trail: &Trail<'_>,
    ) -> Option<Value> {
        let Some(value) = number.as_i64() else {
            if number.as_u64().is_some() || number.as_f64().is_some_and(|float| float.abs() >= 9e18) {
                self.out_of_range(node, least, largest, trail);
            } else if self.has_room() {
                let message = format!("{} must be a whole number, found {}", trail.text(), self.written(node));
                self.push(
                    Problem::new(Code::WrongType, trail.path(), message)
                        .with_hint("write it without a fraction")
                        .at(self.place(node)),
                );
            }
            return None;
        };
        if value < least || value > largest {
            self.out_of_range(node, least, largest, trail);
            return None;
        }
        Some(Value::from(value))
    }

    /// Whether there are no more of something than the schema allows; reports it where there are.
    fn fits(&mut self, found: usize, most: usize, what: &str, node: &Node, trail: &Trail<'_>) -> bool {
        if found > most && self.has_room() {
            let message = format!("{} may have at most {most} {what}, found {found}", trail.text());
            let problem = Problem::new(Code::OutOfRange, trail.path(), message);
            let problem = problem.with_hint(format!("leave some of the {what} out"));
            self.push(match node.kind {
                // Of a mapping over many lines its key says more than all of it.
                Kind::Mapping(_) => place::locate(self.document, self.source, problem),
                _ => problem.at(self.place(node)),
            });
        }
        found <= most
    }

    fn out_of_range(&mut self, node: &Node, least: i64, largest: i64, trail: &Trail<'_>) {
        if !self.has_room() {
            return;
        }
        let bounds = match (least, largest) {
            (i64::MIN, i64::MAX) => "a number of 64 bits".to_owned(),
            (least, i64::MAX) => format!("{least} or more"),
            (i64::MIN, largest) => format!("{largest} or less"),
            (least, largest) => format!("between {least} and {largest}"),
        };
        let message = format!("{} must be {bounds}, found {}", trail.text(), self.written(node));
        self.push(Problem::new(Code::OutOfRange, trail.path(), message).at(self.place(node)));
    }

    fn wrong_type(&mut self, node: &Node, schema: &Schema, trail: &Trail<'_>) {
        if self.has_room() {
            let (message, hint) = wrong_type::explain(node, self.written(node), schema, trail);
            self.push(Problem::new(Code::WrongType, trail.path(), message).with_hint(hint).at(self.place(node)));
        }
    }

    pub(super) fn unknown(&mut self, entry: &Entry, object: &Object, trail: &Trail<'_>) {
        if !self.has_room() {
            return;
        }
        let key = entry.key.text.as_str();
        let names: Vec<&str> = object.names().collect();
        let mut hint = String::new();
        // A key that is right elsewhere is in the wrong place rather than misspelt.
        let elsewhere = self.schema.find(key, self.above);
        if let Some(name) = nearest(key, names.iter().copied()) {
            let _ = write!(hint, "did you mean {name}?");
        } else if let [place] = elsewhere.as_slice() {
            let _ = write!(hint, "there is {place}");
        }
        if !names.is_empty() && names.len() <= 40 {
            let separator = if hint.is_empty() { "" } else { " " };
            let _ = write!(hint, "{separator}(fields here: {})", names.join(", "));
        }
        let message = format!("{} has no field {}", trail.text(), quoted(key));
        let problem = Problem::new(Code::UnknownField, trail.path().key(key), message).at(self.key_place(entry));
        self.push(if hint.is_empty() { problem } else { problem.with_hint(hint) });
    }

    /// Whether YAML reads a key as another word than stands there: `y`, `on` and `1.10` are `true`, `true` and `1.1`.
    fn key_is_misread(&self, entry: &Entry) -> bool {
        let written = self.text.get(entry.key.span.clone()).unwrap_or_default();
        written != entry.key.text && written.chars().all(|c| c.is_ascii_alphanumeric() || "._+-".contains(c))
    }

    fn misread_key(&mut self, entry: &Entry, trail: &Trail<'_>) {
        if self.has_room() {
            let written = self.text.get(entry.key.span.clone()).unwrap_or_default();
            let message = format!("YAML reads the key {written} in {} as {}", trail.text(), entry.key.text);
            let problem = Problem::new(Code::WrongType, trail.path().key(entry.key.text.as_str()), message);
            self.push(problem.with_hint(format!("quote it: \"{written}\": …")).at(self.key_place(entry)));
        }
    }

    /// Reports keys that stand twice in a mapping, each with the place where it stood before.
    pub(super) fn duplicates(&mut self, entries: &[Entry], trail: &Trail<'_>) {
        let mut seen: BTreeMap<&str, &Entry> = BTreeMap::new();
        for entry in entries {
            let Some(first) = seen.insert(&entry.key.text, entry) else { continue };
            // A merge key brings the same entry in again by another way; it stands in the text once.
            if first.key.span != entry.key.span && self.has_room() {
                let path = trail.path().key(entry.key.text.as_str());
                let problem = Problem::new(Code::DuplicateKey, path.clone(), format!("{path} stands twice"));
                let first = self.key_place(first);
                self.push(problem.at(self.key_place(entry)).and(first, "it stands here first"));
            }
        }
    }
}

/// Text for a message: in double quotes, cut where it is long.
pub(super) fn quoted(text: &str) -> String {
    const LONGEST: usize = 80;
    if text.chars().count() <= LONGEST {
        return format!("{text:?}");
    }
    let start: String = text.chars().take(LONGEST).collect();
    format!("{start:?}…")
}
