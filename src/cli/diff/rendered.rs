//! `--rendered DIR`: manifests that were rendered before are the desired side.

use std::collections::BTreeMap;
use std::path::Path;

use super::super::args::InputFlags;
use super::super::load::{Loaded, count};
use super::super::tell::Tell;
use super::Stop;
use super::desired::Wanted;
use crate::diff::KINDS;
use crate::io;
use crate::problem::{Code, FieldPath, Problem};
use crate::render::{DATABASE_LABEL, Object};
use crate::yaml::{Limits, read_stream};

/// Reads every manifest of a folder that belongs to a Database. Others are skipped and counted.
pub(super) fn read(dir: &Path, flags: &InputFlags, tell: &Tell) -> Result<Wanted, Stop> {
    if !dir.is_dir() {
        let message = format!("cannot read {}: it is no folder", dir.display());
        return Err(Problem::new(Code::Unreadable, FieldPath::root(), message).into());
    }
    let mut loaded = Loaded::default();
    loaded.sources = io::read_manifests(dir, &mut loaded.problems);
    let mut by_database: BTreeMap<(String, String), Vec<Object>> = BTreeMap::new();
    let mut skipped = 0;
    for (index, source) in loaded.sources.iter().enumerate() {
        let (documents, errors) = read_stream(&source.text, &Limits::default());
        loaded.problems.extend(errors.iter().map(|error| crate::input::not_text(index, error)));
        for document in documents {
            match object(document.root.to_json(), flags.namespace.as_deref()) {
                Some((database, object)) => {
                    by_database.entry((object.namespace.clone(), database)).or_default().push(object);
                }
                None => skipped += 1,
            }
        }
    }
    tell.detail(|| {
        format!("read {}, {} of other kinds", count(loaded.sources.len(), "file"), count(skipped, "document"))
    });
    if by_database.is_empty() && !loaded.problems.has_errors() {
        let message = format!("no manifest of a Database was found in {}", dir.display());
        let hint = "name the folder that `dbrender render --output-dir` wrote";
        loaded.nothing = Some(Problem::new(Code::NothingFound, FieldPath::root(), message).with_hint(hint));
    }
    // Names and not places order the files; objects are compared in the order in which they are applied.
    let order = |object: &Object| KINDS.iter().position(|kind| kind.kind == object.kind);
    let rendered = by_database
        .into_iter()
        .map(|((namespace, name), mut objects)| {
            objects.sort_by_key(order);
            (namespace, name, objects)
        })
        .collect();
    let part = loaded.problems.has_errors();
    Ok(Wanted::of_manifests(rendered, loaded, format!("desired: {}", dir.display()), part))
}

/// The object and the Database that its label names. `None`: it is none of ours.
fn object(value: serde_json::Value, namespace: Option<&str>) -> Option<(String, Object)> {
    let text = |pointer: &str| value.pointer(pointer).and_then(serde_json::Value::as_str).map(str::to_owned);
    let database = value.pointer("/metadata/labels")?.get(DATABASE_LABEL)?.as_str()?.to_owned();
    let kind = text("/kind").filter(|kind| KINDS.iter().any(|known| known.kind == kind))?;
    let object = Object {
        api_version: text("/apiVersion")?,
        kind,
        namespace: text("/metadata/namespace").or_else(|| namespace.map(str::to_owned)).unwrap_or_default(),
        name: text("/metadata/name")?,
        value,
    };
    Some((database, object))
}
