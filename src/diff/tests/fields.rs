//! The tables know every field that is rendered.

use serde_json::{Value, json};

use super::{plan, stored};
use crate::diff::defaults::{Field, Kind, fields_of};
use crate::render::render;

fn unknown(table: &[Field], value: &Value, path: &str, out: &mut Vec<String>) {
    for (name, value) in value.as_object().into_iter().flatten() {
        let path = format!("{path}/{name}");
        match table.iter().find(|field| field.name == name) {
            Some(field) => inside(field.kind, value, &path, out),
            None => out.push(path),
        }
    }
}

fn inside(kind: &Kind, value: &Value, path: &str, out: &mut Vec<String>) {
    match kind {
        Kind::Fields(table) | Kind::Presence(table) => unknown(table, value, path, out),
        Kind::Keyed(_, item, _) | Kind::Items(item, _) => {
            for value in value.as_array().into_iter().flatten() {
                inside(item, value, path, out);
            }
        }
        _ => {}
    }
}

#[test]
fn every_rendered_field_is_in_the_tables() {
    let all = [
        json!({}),
        json!({"spec": {"failover": "Manual", "primary": 1, "tls": {"secretName": "t"}}}),
        json!({"spec": {"monitoring": {"enabled": true}, "service": {"type": "LoadBalancer", "annotations": {"a": "b"}},
            "scheduling": {"nodeSelector": {"a": "b"}, "tolerations": [{"key": "a", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 5}],
                "priorityClassName": "x", "topologyKeys": ["k"]},
            "access": {"namespaces": {"names": ["a"], "selector": {"matchLabels": {"x": "y"}}}},
            "bootstrap": {"fromBackup": {"name": "other"}}}}),
    ];
    for changes in all {
        let plan = plan(&changes);
        for object in render(&plan).objects() {
            let mut value = object.value.clone();
            for apart in ["apiVersion", "kind", "metadata"] {
                value.as_object_mut().unwrap().shift_remove(apart);
            }
            let mut out = Vec::new();
            unknown(fields_of(&object.kind), &value, "", &mut out);
            assert!(out.is_empty(), "{} {}: {out:?}", object.kind, object.name);
        }
        assert!(!stored(&plan).is_empty());
    }
}
