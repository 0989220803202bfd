//! What the tests of every engine's rules begin and end with.

use serde_json::{Value, json};

use crate::api::{DatabaseSpec, EngineName};
use crate::problem::Problems;

/// A spec of the smallest kind, with what differs.
pub(super) fn spec(engine: EngineName, version: &str, changes: &Value) -> DatabaseSpec {
    let mut value = json!({"engine": engine, "version": version, "storage": {"size": "10Gi"}});
    if let (Some(value), Some(changes)) = (value.as_object_mut(), changes.as_object()) {
        value.extend(changes.clone());
    }
    serde_json::from_value(value).expect("the spec has the types of the schema")
}

/// Each problem in a line.
pub(super) fn lines(out: &Problems) -> Vec<String> {
    out.iter().map(|p| format!("{} {} {} ({})", p.code.id(), p.path, p.message, p.hint)).collect()
}
