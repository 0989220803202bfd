//! A rendered object as an API server would keep it, by the tables: for tests, and for whoever wants to see them at work.

use serde_json::{Map, Value, json};

use crate::api::Quantity;
use crate::diff::Minor;

use super::{Field, Fill, Kind, fields_of};

/// The object with what an API server of this minor fills in, and with bookkeeping of the usual form.
///
/// A model and no server: it knows exactly what the tables know.
#[must_use]
pub fn as_stored(object: &Value, minor: Minor) -> Value {
    let mut stored = object.clone();
    let kind = stored.get("kind").and_then(Value::as_str).unwrap_or_default().to_owned();
    if let Value::Object(map) = &mut stored {
        fields(map, fields_of(&kind), minor);
        if let Some(Value::Object(metadata)) = map.get_mut("metadata") {
            metadata.insert("creationTimestamp".to_owned(), json!("2026-11-30T12:00:00Z"));
            metadata.insert("generation".to_owned(), json!(1));
            metadata.insert("resourceVersion".to_owned(), json!("4711"));
            metadata.insert("uid".to_owned(), json!("0b3a5b3e-8a4c-4d66-9f5f-2d1f3c9f7a10"));
        }
    }
    assigned(&kind, &mut stored);
    stored
}

fn fields(map: &mut Map<String, Value>, table: &'static [Field], minor: Minor) {
    map.retain(|name, value| {
        let field = table.iter().find(|field| field.name == name);
        let is_filled_zero = field.is_some_and(|field| matches!(field.fill, Fill::Zero)) && is_zero(value);
        !value.is_null() && !is_filled_zero
    });
    for field in table {
        let filled = match field.fill.at(minor) {
            Fill::Int(number) => Some(json!(number)),
            Fill::Text(text) => Some(json!(text)),
            Fill::Bool(value) => Some(json!(value)),
            Fill::List(words) => Some(json!(words)),
            Fill::Same(other) => map.get(other).cloned(),
            Fill::Computed(value, _) => Some(value(map)),
            Fill::Object => Some(json!({})),
            Fill::Nothing | Fill::Zero | Fill::Assigned(_) | Fill::Until(..) => None,
        };
        if let Some(filled) = filled {
            map.entry(field.name).or_insert(filled);
        }
        if let Some(value) = map.get_mut(field.name) {
            inside(value, field.kind, minor);
        }
    }
}

fn inside(value: &mut Value, kind: &'static Kind, minor: Minor) {
    match (kind, value) {
        (Kind::Fields(table) | Kind::Presence(table), Value::Object(map)) => fields(map, table, minor),
        (Kind::Keyed(_, item, _) | Kind::Items(item, _), Value::Array(items)) => {
            items.iter_mut().for_each(|value| inside(value, item, minor));
        }
        (Kind::Map(item, _), Value::Object(map)) => map.values_mut().for_each(|value| inside(value, item, minor)),
        (Kind::Quantity, value) => {
            if let Some(amount) = value.as_str().and_then(|text| Quantity::parse(text).ok()) {
                *value = json!(amount.canonical());
            }
        }
        _ => {}
    }
}

fn is_zero(value: &Value) -> bool {
    *value == json!("") || *value == json!(0) || *value == json!(false)
}

/// What Kubernetes makes up.
fn assigned(kind: &str, stored: &mut Value) {
    let mut set = |pointer: &str, name: &str, value: Value| {
        if let Some(Value::Object(map)) = stored.pointer_mut(pointer) {
            map.entry(name).or_insert(value);
        }
    };
    match kind {
        "Service" => {
            set("/spec", "clusterIP", json!("10.96.0.10"));
            set("/spec", "ipFamilies", json!(["IPv4"]));
            set("/spec", "ipFamilyPolicy", json!("SingleStack"));
            set("", "status", json!({"loadBalancer": {}}));
        }
        "Job" => {
            let labels = json!({"batch.kubernetes.io/controller-uid": "6d2a"});
            set("/spec", "selector", json!({"matchLabels": labels}));
            for (label, value) in [
                ("batch.kubernetes.io/controller-uid", "6d2a"),
                ("batch.kubernetes.io/job-name", "job"),
                ("controller-uid", "6d2a"),
                ("job-name", "job"),
            ] {
                set("/spec/template/metadata/labels", label, json!(value));
            }
            set("", "status", json!({}));
        }
        "StatefulSet" => {
            set("/spec/volumeClaimTemplates/0", "status", json!({"phase": "Pending"}));
            set("", "status", json!({"replicas": 0, "availableReplicas": 0}));
        }
        "PersistentVolumeClaim" => {
            set("/spec", "volumeName", json!("pvc-0b3a"));
            set("/metadata", "finalizers", json!(["kubernetes.io/pvc-protection"]));
            set("", "status", json!({"phase": "Bound"}));
        }
        _ => {}
    }
    if kind == "Service" {
        let address = stored.pointer("/spec/clusterIP").cloned().unwrap_or_default();
        if let Some(Value::Object(spec)) = stored.get_mut("spec") {
            spec.entry("clusterIPs").or_insert_with(|| json!([address]));
        }
    }
}
