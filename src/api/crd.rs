//! The CustomResourceDefinition and the JSON Schemas for editors, made from the Rust types.

use kube::CustomResourceExt;
use serde_json::{Map, Value, json};

use super::{API_VERSION, Database, KIND, PLATFORM_API_VERSION, PLATFORM_KIND, Platform};

/// Longest name of a Database, in characters. `<name>-backup` is a CronJob name (at most 52) and
/// `<name>-restore-<hash>` a label value (at most 63) of the pods that it makes.
pub const NAME_MAX: usize = 45;

/// Rules that the API server enforces beside the schema: on the whole object, then on the spec.
const OBJECT_RULES: [(&str, &str); 2] = [
    ("size(self.metadata.name) <= 45", "metadata.name may have at most 45 characters"),
    (
        "self.metadata.name.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')",
        "metadata.name must be a DNS label that starts with a letter (Services carry it)",
    ),
];

/// Field below `spec` (empty: the spec itself), rule, message, and the field that the message is about where the rule
/// stands above it. A rule about one field stands at the field: a rule above it would also be asked about the parent's
/// default, in which the field is absent.
const SPEC_RULES: [(&str, &str, &str, Option<&str>); 15] = [
    ("engine", "self == oldSelf", "engine cannot change; make a new Database and restore a backup into it", None),
    ("database", "self == oldSelf", "database cannot change once it exists", None),
    ("username", "self == oldSelf", "username cannot change once it exists", None),
    ("storage.storageClass", "self == oldSelf", "storage.storageClass cannot change", None),
    ("storage.size", "quantity(self).isGreaterThan(quantity('0'))", "storage.size must be above zero", None),
    ("storage.size", "quantity(self).compareTo(quantity(oldSelf)) >= 0", "storage.size cannot shrink", None),
    ("backup.retention", "self >= 1", "backup.retention must keep at least one backup", None),
    ("backup.schedule", "!self.contains('TZ=')", "backup.schedule takes no time zone; use backup.timeZone", None),
    (
        "resources.cpu",
        "isQuantity(self) && quantity(self).isGreaterThan(quantity('0'))",
        "resources.cpu must be a quantity above zero",
        None,
    ),
    (
        "resources.memory",
        "isQuantity(self) && quantity(self).isGreaterThan(quantity('0'))",
        "resources.memory must be a quantity above zero",
        None,
    ),
    ("", "!has(self.primary) || self.failover == 'Manual'", "primary needs failover: Manual", Some(".primary")),
    (
        "",
        "!has(self.primary) || self.primary < self.replicas",
        "primary must be an ordinal below replicas",
        Some(".primary"),
    ),
    (
        "",
        "!(self.engine == 'mongodb' && self.failover == 'Manual')",
        "mongodb always elects its primary; failover: Manual is not possible",
        Some(".failover"),
    ),
    (
        "",
        "has(self.bootstrap) == has(oldSelf.bootstrap) && (!has(self.bootstrap) || self.bootstrap == oldSelf.bootstrap)",
        "bootstrap cannot change once the Database exists",
        None,
    ),
    (
        "parameters",
        "self.all(name, name.matches('^[A-Za-z_][A-Za-z0-9_.-]*$'))",
        "parameter names have letters, digits, dashes, underscores and dots",
        None,
    ),
];

/// The CustomResourceDefinition of Database, complete and structural.
#[must_use]
pub fn crd() -> Value {
    let mut crd = to_value(&Database::crd());
    let name = crd.pointer("/metadata/name").cloned().unwrap_or_default();
    crd["spec"]["names"]["listKind"] = json!("DatabaseList");
    // A CRD that Argo CD deletes takes every Database with it.
    crd["metadata"] = json!({
        "annotations": {
            "argocd.argoproj.io/sync-options": "Prune=false,Delete=false,ServerSideApply=true",
            "helm.sh/resource-policy": "keep",
            "kustomize.toolkit.fluxcd.io/prune": "disabled",
        },
        "name": name,
    });
    if let Some(schema) = crd.pointer_mut("/spec/versions/0/schema/openAPIV3Schema") {
        // The user's contract makes `spec` no required field of the schema; the leaves below it decide.
        tidy(schema, true);
        if let Some(status) = schema.pointer_mut("/properties/status") {
            drop_required(status);
        }
        schema["x-kubernetes-validations"] =
            OBJECT_RULES.iter().map(|(rule, message)| json!({"message": message, "rule": rule})).collect();
        for (field, rule, message, path) in SPEC_RULES {
            let steps = field.split('.').filter(|step| !step.is_empty());
            let target: String = steps.map(|step| format!("/properties/{step}")).collect();
            if let Some(target) = schema.pointer_mut(&format!("/properties/spec{target}")) {
                add_rule(target, rule, message, path);
            }
        }
        bound_additions(schema);
    }
    crd
}

/// JSON Schema of a Database file, for editors.
#[must_use]
pub fn database_schema() -> Value {
    let crd = crd();
    let mut schema = crd.pointer("/spec/versions/0/schema/openAPIV3Schema").cloned().unwrap_or_default();
    strip_kubernetes(&mut schema);
    let properties = &schema["properties"];
    let mut properties = properties.clone();
    properties["apiVersion"] = json!({"const": API_VERSION, "type": "string"});
    properties["kind"] = json!({"const": KIND, "type": "string"});
    properties["metadata"] = json!({
        "properties": {
            "annotations": {"additionalProperties": {"type": "string"}, "type": "object"},
            "labels": {"additionalProperties": {"type": "string"}, "type": "object"},
            "name": {"maxLength": NAME_MAX, "pattern": "^[a-z]([-a-z0-9]*[a-z0-9])?$", "type": "string"},
            "namespace": {"maxLength": 63, "type": "string"},
        },
        "required": ["name"],
        "type": "object",
    });
    json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "Database",
        "type": "object",
        "additionalProperties": false,
        "required": ["apiVersion", "kind", "metadata", "spec"],
        "properties": properties,
    })
}

/// JSON Schema of the platform file, for editors.
#[must_use]
pub fn platform_schema() -> Value {
    let settings = schemars::generate::SchemaSettings::draft07().with(|s| s.inline_subschemas = true);
    let mut schema = to_value(&settings.into_generator().into_root_schema_for::<Platform>());
    tidy(&mut schema, false);
    schema["properties"]["apiVersion"] = json!({"const": PLATFORM_API_VERSION, "type": "string"});
    schema["properties"]["kind"] = json!({"const": PLATFORM_KIND, "type": "string"});
    schema["additionalProperties"] = Value::Bool(false);
    schema
}

fn to_value<T: serde::Serialize>(value: &T) -> Value {
    serde_json::to_value(value).unwrap_or_default()
}

/// Takes away what the generator adds and Kubernetes or the user's contract does not have: number formats that would
/// narrow a leaf, titles, nullable; gives parents of defaults `default: {}`, because the API server fills the defaults
/// of a child only when its parent is there.
fn tidy(schema: &mut Value, structural: bool) {
    let Some(map) = schema.as_object_mut() else { return };
    map.remove("title");
    map.remove("nullable");
    if map.get("format").and_then(Value::as_str).is_some_and(|f| f != "date-time") {
        map.remove("format");
    }
    if structural {
        map.remove("additionalProperties").filter(|v| v.is_object()).into_iter().for_each(|v| {
            map.insert("additionalProperties".to_owned(), v);
        });
    }
    for bound in ["minimum", "maximum"] {
        if let Some(whole) = map.get(bound).and_then(Value::as_f64).filter(|n| n.fract() == 0.0) {
            // Whole bounds below 2^53; written as integers, as the API server stores them.
            #[expect(clippy::cast_possible_truncation, reason = "checked to be whole, and bounds of our own types")]
            map.insert(bound.to_owned(), json!(whole as i64));
        }
    }
    // `oneOf` of single constants is how an enum with documented variants arrives.
    collapse_enum(map);
    for key in ["properties", "environments"] {
        if let Some(children) = map.get_mut(key).and_then(Value::as_object_mut) {
            children.values_mut().for_each(|child| tidy(child, structural));
        }
    }
    for key in ["items", "additionalProperties"] {
        if let Some(child) = map.get_mut(key) {
            tidy(child, structural);
        }
    }
    let parent_of_defaults = map.get("properties").and_then(Value::as_object).is_some_and(|properties| {
        !properties.is_empty() && properties.values().all(|child| child.get("default").is_some())
    });
    if let Some(default) = map.get_mut("default").filter(|default| default.is_object() && parent_of_defaults) {
        *default = json!({});
    }
}

fn collapse_enum(map: &mut Map<String, Value>) {
    let Some(variants) = map.get("oneOf").or_else(|| map.get("anyOf")).and_then(Value::as_array) else { return };
    let words: Vec<Value> = variants
        .iter()
        .flat_map(|v| match (v.get("const"), v.get("enum").and_then(Value::as_array)) {
            (Some(word), _) => vec![word.clone()],
            (None, Some(words)) => words.clone(),
            (None, None) => Vec::new(),
        })
        .collect();
    if words.len() >= variants.len() && words.iter().all(Value::is_string) {
        map.remove("oneOf");
        map.remove("anyOf");
        map.insert("enum".to_owned(), Value::Array(words));
        map.insert("type".to_owned(), json!("string"));
    }
}

fn drop_required(schema: &mut Value) {
    match schema {
        Value::Object(map) => {
            map.remove("required");
            map.values_mut().for_each(drop_required);
        }
        Value::Array(items) => items.iter_mut().for_each(drop_required),
        _ => {}
    }
}

fn add_rule(schema: &mut Value, rule: &str, message: &str, path: Option<&str>) {
    let mut entry = json!({"message": message, "rule": rule});
    if let Some(path) = path {
        entry["fieldPath"] = json!(path);
    }
    match schema.get_mut("x-kubernetes-validations").and_then(Value::as_array_mut) {
        Some(rules) => rules.push(entry),
        None => schema["x-kubernetes-validations"] = json!([entry]),
    }
}

/// Bounds of our own additions. The API server estimates the cost of a rule from the largest value that the schema
/// allows, and refuses one over a map without a bound. Leaves of the user's contract get none: they never narrow.
fn bound_additions(schema: &mut Value) {
    for (field, key, bound) in [
        ("parameters", "maxProperties", 512),
        ("database", "minLength", 1),
        ("database", "maxLength", 63),
        ("username", "minLength", 1),
        ("username", "maxLength", 63),
    ] {
        if let Some(target) = schema.pointer_mut(&format!("/properties/spec/properties/{field}")) {
            target[key] = json!(bound);
        }
    }
}

fn strip_kubernetes(schema: &mut Value) {
    match schema {
        Value::Object(map) => {
            map.retain(|key, _| !key.starts_with("x-kubernetes-"));
            if map.contains_key("properties") && !map.contains_key("additionalProperties") {
                map.insert("additionalProperties".to_owned(), Value::Bool(false));
            }
            map.values_mut().for_each(strip_kubernetes);
        }
        Value::Array(items) => items.iter_mut().for_each(strip_kubernetes),
        _ => {}
    }
}
