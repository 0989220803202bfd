//! Labels, annotations, and the rest of metadata, which is the server's; and what members keep in annotations.

use serde_json::Value;

use super::Bucket;
use super::defaults::{Extra, Kind};
use super::path::Step;
use super::rule::Rule;
use super::walk::{EMPTY, Walk};

static TEXT: Kind = Kind::Scalar;
static JSON: Kind = Kind::Json;

/// Annotations that hold JSON on both sides, read.
pub(super) type Structured = Vec<(String, Value, Value)>;

impl<'a> Walk<'a> {
    /// Compares metadata.
    pub(super) fn metadata(&mut self, desired: &'a Value, live: &'a Value) {
        self.at(Step::Field("metadata"), |walk| {
            for field in ["labels", "annotations"] {
                let wanted = desired.get(field).and_then(Value::as_object).unwrap_or(&EMPTY);
                let have = live.get(field).and_then(Value::as_object).unwrap_or(&EMPTY);
                walk.at(Step::Field(field), |walk| walk.map(&TEXT, Extra::Foreign, wanted, have));
            }
            for (name, value) in live.as_object().into_iter().flatten() {
                walk.at(Step::Field(name), |walk| match name.as_str() {
                    "name" | "namespace" | "labels" | "annotations" => {}
                    "creationTimestamp"
                    | "deletionGracePeriodSeconds"
                    | "generateName"
                    | "generation"
                    | "resourceVersion"
                    | "selfLink"
                    | "uid" => walk.ignore(Rule::ServerMetadata),
                    "ownerReferences" => walk.ignore(Rule::OwnerReference),
                    "deletionTimestamp" => walk.addition(Extra::Drift, value),
                    _ => walk.addition(Extra::Foreign, value),
                });
            }
        });
    }

    /// Of an object that members use as their store: what they write is theirs, and JSON is compared as what it means,
    /// because they write it in their own way.
    pub(super) fn store(&mut self, members: &[&str], structured: &'a Structured) {
        let mut theirs = Vec::new();
        self.found.retain(|found| match found.steps.as_slice() {
            [Step::Field("metadata"), Step::Field("annotations"), Step::Field(name)] => {
                let is_theirs = found.bucket == Bucket::Foreign && members.contains(name);
                if is_theirs {
                    theirs.push(found.steps.clone());
                }
                !is_theirs && !structured.iter().any(|(other, ..)| other == name)
            }
            _ => true,
        });
        theirs.iter().for_each(|steps| self.ignored.count(Rule::Members, steps));
        for (name, wanted, have) in structured {
            self.at(Step::Field("metadata"), |walk| {
                walk.at(Step::Field("annotations"), |walk| {
                    walk.at(Step::Field(name), |walk| walk.value(&JSON, wanted, have));
                });
            });
        }
    }
}

/// Annotations that both sides have and that hold a JSON object on both.
pub(super) fn structured(desired: &Value, live: &Value) -> Structured {
    let annotations =
        |value: &Value| value.pointer("/metadata/annotations").and_then(Value::as_object).cloned().unwrap_or_default();
    let live = annotations(live);
    let read = |value: &Value| serde_json::from_str::<Value>(value.as_str()?).ok().filter(Value::is_object);
    annotations(desired)
        .into_iter()
        .filter_map(|(name, wanted)| {
            let (wanted, have) = (read(&wanted)?, read(live.get(&name)?)?);
            Some((name, wanted, have))
        })
        .collect()
}
