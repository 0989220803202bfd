//! Which documents are Databases, and one of them from its tree.

use serde_json::Value;

use super::metadata;
use super::reader::{Reader, quoted};
use super::schema::{Object, Schema};
use super::trail::Trail;
use super::{Declared, Parsed, Schemas};
use crate::api::{API_VERSION, Database, DatabaseSpec, GROUP, KIND, PLATFORM_API_VERSION, PLATFORM_KIND};
use crate::problem::{Code, FieldPath, Place, Problem, Problems, nearest};
use crate::yaml::{Kind, Node};

/// The documents of one text on their way into [`Parsed`].
pub(super) struct Texts<'a> {
    pub(super) index: usize,
    pub(super) text: &'a str,
    pub(super) schemas: &'a Schemas,
    pub(super) parsed: &'a mut Parsed,
    /// Problems before this text.
    pub(super) before: usize,
    pub(super) full: bool,
    pub(super) out: &'a mut Problems,
}

/// Problems of one text that are told. A hostile text would make a million.
const TOLD: usize = 1000;

/// What a document is.
enum Sort {
    Database,
    /// A list of whatever its items are.
    List,
    Platform,
    /// Nothing of ours.
    Other,
    /// Meant to be ours and not readable as it; reported.
    Broken,
}

impl Texts<'_> {
    /// Takes one document, or one item of a list.
    pub(super) fn take(&mut self, root: Node) {
        if self.is_full() {
            return;
        }
        match self.sort(&root) {
            Sort::Database => self.database(root),
            Sort::List => self.list(root),
            Sort::Platform => self.parsed.platforms += 1,
            Sort::Other => self.parsed.skipped += 1,
            Sort::Broken => {}
        }
    }

    /// Whether so many problems have been told that the rest is not looked at; says so once.
    fn is_full(&mut self) -> bool {
        let full = self.out.len() >= self.before + TOLD;
        if full && !self.full {
            let message = format!("more than {TOLD} problems; the rest of the text was not looked at");
            let place = Place { source: self.index, span: 0..0, absent: false };
            self.out.push(
                Problem::new(Code::TooLarge, FieldPath::root(), message)
                    .with_hint("mend the ones above first")
                    .at(place),
            );
        }
        self.full |= full;
        full
    }

    fn sort(&mut self, root: &Node) -> Sort {
        let word = |key| root.get(key).and_then(Node::as_str);
        let (version, kind) = (word("apiVersion"), word("kind"));
        match (version, kind) {
            (Some(API_VERSION), Some(KIND)) => Sort::Database,
            (Some("v1"), Some("List")) | (Some(API_VERSION), Some("DatabaseList")) => Sort::List,
            (Some(PLATFORM_API_VERSION), Some(PLATFORM_KIND)) => Sort::Platform,
            (Some(version), Some(KIND | "DatabaseList")) if group(version) == GROUP => {
                let message = format!("apiVersion {} is not known to this dbrender", quoted(version));
                self.report(root, "apiVersion", Code::UnknownVersion, message, None)
            }
            // Helm and kustomize files name neither; a document that names one of the two is an object.
            (None, Some(KIND)) => self.report(
                root,
                "apiVersion",
                Code::MissingField,
                "apiVersion is missing".to_owned(),
                Some(format!("add apiVersion: {API_VERSION}")),
            ),
            (Some(version), None) if group(version) == GROUP => self.report(
                root,
                "kind",
                Code::MissingField,
                "kind is missing".to_owned(),
                Some(format!("add kind: {KIND}")),
            ),
            (Some(version), Some(kind)) if group(version) == GROUP => match nearest(kind, [KIND, "DatabaseList"]) {
                Some(near) => {
                    let message = format!("kind {} is none of {GROUP}", quoted(kind));
                    self.report(root, "kind", Code::UnknownValue, message, Some(format!("did you mean {near}?")))
                }
                None => Sort::Other,
            },
            _ => Sort::Other,
        }
    }

    fn report(&mut self, root: &Node, key: &str, code: Code, message: String, hint: Option<String>) -> Sort {
        let problem = Problem::new(code, FieldPath::of(key), message);
        let problem = match hint {
            Some(hint) => problem.with_hint(hint),
            None => problem,
        };
        self.out.push(super::place::locate(root, self.index, problem));
        Sort::Broken
    }

    fn list(&mut self, root: Node) {
        let Kind::Mapping(entries) = root.kind else { return };
        let Some(items) = entries.into_iter().rev().find(|entry| entry.key.text == "items") else { return };
        match items.value.kind {
            Kind::Sequence(items) => {
                for item in items {
                    self.item(item);
                }
            }
            Kind::Null => {}
            _ => {
                let place = Place { source: self.index, span: items.value.span, absent: false };
                let problem = Problem::new(Code::WrongType, FieldPath::of("items"), "items must be a list");
                self.out
                    .push(problem.with_hint("write each item in a line of its own, with a dash in front").at(place));
            }
        }
    }

    /// An item of a list is an object, whatever it is: kubectl refuses one without a kind.
    fn item(&mut self, item: Node) {
        if item.get("kind").is_none() {
            let message = "an item of the list has no kind".to_owned();
            self.report(
                &item,
                "kind",
                Code::MissingField,
                message,
                Some("add apiVersion and kind to the item".to_owned()),
            );
        } else {
            self.take(item);
        }
    }

    fn database(&mut self, root: Node) {
        let mut reader = Reader::new(self.index, self.text, &root, &self.schemas.spec, "spec");
        let Kind::Mapping(entries) = &root.kind else { return };
        reader.duplicates(entries, &Trail::Root);
        let metadata = metadata::read(&mut reader, &root);
        let mut spec = None;
        for entry in entries {
            match entry.key.text.as_str() {
                "apiVersion" | "kind" | "metadata" => {}
                // What a cluster has written there is no wish.
                "status" => {}
                "spec" => spec = Some(&entry.value),
                _ => reader.unknown_at_root(entry),
            }
        }
        let value = reader.spec(&root, spec, &self.schemas.spec);
        if !reader.finish(self.out) {
            return;
        }
        // Every type has been looked at, so this is a gap between schema and types, told rather than hidden.
        match serde_json::from_value::<DatabaseSpec>(value) {
            Ok(spec) => {
                let database = Database { metadata, spec, status: None };
                self.parsed.databases.push(Declared { database, source: self.index, root });
            }
            Err(error) => {
                self.report(&root, "spec", Code::WrongType, format!("spec cannot be read: {error}"), None);
            }
        }
    }
}

/// The group of an apiVersion; empty for the core group.
fn group(version: &str) -> &str {
    version.split_once('/').map_or("", |(group, _)| group)
}

impl Reader<'_> {
    fn spec(&mut self, root: &Node, spec: Option<&Node>, schema: &Schema) -> Value {
        let trail = Trail::Root;
        match spec.filter(|node| node.kind != Kind::Null) {
            Some(node) => self.value(node, schema, &Trail::Key(&trail, "spec")).unwrap_or_default(),
            None => {
                if self.has_room() {
                    let problem = Problem::new(Code::MissingField, FieldPath::of("spec"), "spec is missing");
                    let hint = "add spec with engine, version and storage";
                    self.push(super::place::locate(root, self.source, problem.with_hint(hint)));
                }
                Value::Null
            }
        }
    }

    fn unknown_at_root(&mut self, entry: &crate::yaml::Entry) {
        let field = |name: &str| (name.to_owned(), Schema::Any);
        let fields = ["apiVersion", "kind", "metadata", "spec"].map(field).into();
        let object = Object { fields, ..Object::default() };
        self.unknown(entry, &object, &Trail::Root);
    }
}

/// The schema of a mapping from text to text.
pub(super) fn texts() -> Schema {
    let text = Schema::Text(Vec::new());
    Schema::Object(Object { others: Some(Box::new(text)), ..Object::default() })
}
