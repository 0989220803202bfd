//! `metadata` of a Database: name, namespace, labels and annotations, and what a cluster adds to them.

use std::collections::BTreeMap;

use kube::core::ObjectMeta;
use serde_json::Value;

use super::document::texts;
use super::reader::Reader;
use super::schema::{Object, Schema};
use super::trail::Trail;
use crate::problem::{Code, FieldPath, Problem};
use crate::yaml::{Kind, Node};

/// Keys that a person writes.
const WRITTEN: [&str; 4] = ["name", "namespace", "labels", "annotations"];

/// Keys that `kubectl get -o yaml` prints. They are read over.
const PRINTED: [&str; 10] = [
    "creationTimestamp",
    "deletionGracePeriodSeconds",
    "deletionTimestamp",
    "finalizers",
    "generation",
    "managedFields",
    "ownerReferences",
    "resourceVersion",
    "selfLink",
    "uid",
];

/// Reads the metadata; what is wrong with them is reported to the reader.
pub(super) fn read(reader: &mut Reader<'_>, root: &Node) -> ObjectMeta {
    let mut meta = ObjectMeta::default();
    let top = Trail::Root;
    let trail = Trail::Key(&top, "metadata");
    let entries = match root.get("metadata") {
        Some(Node { kind: Kind::Mapping(entries), .. }) => entries,
        None | Some(Node { kind: Kind::Null, .. }) => {
            missing(reader, root, "metadata", "metadata is missing", "add metadata with name and namespace");
            return meta;
        }
        Some(node) => {
            reader.value(node, &mapping(), &trail);
            return meta;
        }
    };
    reader.duplicates(entries, &trail);
    let text = Schema::Text(Vec::new());
    for entry in entries {
        let key = entry.key.text.as_str();
        let below = Trail::Key(&trail, key);
        match key {
            "name" => meta.name = string(reader.value(&entry.value, &text, &below)),
            "namespace" => meta.namespace = string(reader.value(&entry.value, &text, &below)),
            "labels" => meta.labels = map(reader.value(&entry.value, &texts(), &below)),
            "annotations" => meta.annotations = map(reader.value(&entry.value, &texts(), &below)),
            "generateName" if reader.has_room() => {
                let problem = Problem::new(
                    Code::UnknownField,
                    below.path(),
                    "metadata.generateName makes a new name at each apply",
                );
                let place = reader.key_place(entry);
                reader.push(problem.with_hint("write metadata.name").at(place));
            }
            _ if PRINTED.contains(&key) => {}
            _ => reader.unknown(entry, &known_object(), &trail),
        }
    }
    if root.get("metadata").and_then(|m| m.get("name")).is_none_or(|name| name.kind == Kind::Null) {
        missing(reader, root, "metadata.name", "metadata.name is missing", "add metadata.name");
    }
    reader.subject = meta.name.clone().map(|name| match &meta.namespace {
        Some(namespace) => format!("{namespace}/{name}"),
        None => name,
    });
    meta
}

fn missing(reader: &mut Reader<'_>, root: &Node, path: &str, message: &str, hint: &str) {
    if reader.has_room() {
        let problem = Problem::new(Code::MissingField, FieldPath::of(path), message).with_hint(hint);
        reader.push(super::place::locate(root, reader.source, problem));
    }
}

fn mapping() -> Schema {
    Schema::Object(known_object())
}

fn known_object() -> Object {
    Object { fields: WRITTEN.map(|name| (name.to_owned(), Schema::Any)).into(), ..Object::default() }
}

fn string(value: Option<Value>) -> Option<String> {
    value.and_then(|value| value.as_str().map(str::to_owned)).filter(|text| !text.is_empty())
}

fn map(value: Option<Value>) -> Option<BTreeMap<String, String>> {
    let map =
        value?.as_object()?.iter().filter_map(|(key, value)| Some((key.clone(), value.as_str()?.to_owned()))).collect();
    Some(map)
}
