//! What happened to a Database in a cluster: the `cluster.yaml` of `fixtures/drift`, carried out on a model of an API
//! server. `drift_on_servers` carries out the same files on real ones.

#![allow(dead_code, reason = "each test binary uses its part of this module")]

use std::fs;
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use dbrender::engine;
use dbrender::plan::Plan;
use serde_json::{Map, Value, json};

/// A password that is in every cluster of these tests. No output may hold it.
pub(crate) const CANARY: &str = "C4nary/pass word+%41";
/// When the manifests were applied, and when something happened to them where the event does not say.
pub(crate) const APPLIED: &str = "2026-01-05T08:00:00Z";
pub(crate) const HAPPENED: &str = "2026-02-03T04:05:06Z";

/// What happened, in order.
#[derive(Debug)]
pub(crate) enum Event {
    /// Somebody wrote fields of an object: operations of RFC 6902.
    Patch { kind: String, name: String, by: Option<Writer>, operations: Vec<Value> },
    /// Somebody deleted an object.
    Delete { kind: String, name: String },
    /// Somebody made an object.
    Create(Value),
}

/// Who wrote.
#[derive(Clone, Debug)]
pub(crate) struct Writer {
    pub(crate) manager: String,
    pub(crate) subresource: Option<String>,
    pub(crate) operation: String,
    pub(crate) time: String,
}

/// The events of a case, or nothing when it has no such file.
pub(crate) fn events(case: &Path) -> Result<Option<Vec<Event>>, String> {
    let Ok(text) = fs::read_to_string(case.join("cluster.yaml")) else { return Ok(None) };
    let (documents, errors) = dbrender::yaml::read_stream(&text, &dbrender::yaml::Limits::default());
    if !errors.is_empty() {
        return Err(format!("cluster.yaml: {errors:?}"));
    }
    let Some(list) = documents.first() else { return Ok(Some(Vec::new())) };
    let list = list.root.to_json();
    let list = list.as_array().cloned().unwrap_or_default();
    list.iter().map(event).collect::<Result<Vec<_>, _>>().map(Some)
}

fn event(value: &Value) -> Result<Event, String> {
    let text = |name: &str| value.get(name).and_then(Value::as_str).map(str::to_owned);
    let subject = |text: String| {
        let (kind, name) = text.split_once('/').ok_or_else(|| format!("{text} is not KIND/NAME"))?;
        Ok::<_, String>((kind.to_owned(), name.to_owned()))
    };
    if let Some(what) = text("patch") {
        let (kind, name) = subject(what)?;
        let by = text("by").map(|manager| Writer {
            manager,
            subresource: text("subresource"),
            operation: text("operation").unwrap_or_else(|| "Update".to_owned()),
            time: text("at").unwrap_or_else(|| HAPPENED.to_owned()),
        });
        let operations = value.get("with").and_then(Value::as_array).cloned().unwrap_or_default();
        return Ok(Event::Patch { kind, name, by, operations });
    }
    if let Some(what) = text("delete") {
        let (kind, name) = subject(what)?;
        return Ok(Event::Delete { kind, name });
    }
    match value.get("create") {
        Some(object) => Ok(Event::Create(object.clone())),
        None => Err(format!("an event is patch, delete or create: {value}")),
    }
}

/// The objects of a model cluster: what was rendered as a server would keep it, filled and running, and then the events.
pub(crate) fn carry_out(plan: &Plan, stored: Vec<Value>, events: &[Event]) -> Result<Vec<Value>, String> {
    let shows_managers = events.iter().any(|event| matches!(event, Event::Patch { by: Some(_), .. }));
    let mut cluster = stored;
    for object in &mut cluster {
        if shows_managers {
            let fields = fields_of(object);
            own(object, &Writer::of("dbrender", "Apply", APPLIED), fields);
        }
    }
    fill(plan, &mut cluster, shows_managers);
    run(plan, &mut cluster);
    for event in events {
        match event {
            Event::Patch { kind, name, by, operations } => {
                let found = find(&mut cluster, kind, name).ok_or_else(|| format!("there is no {kind} {name}"))?;
                for operation in operations {
                    let place = apply(found, operation)?;
                    if let (Some(by), Some(place)) = (by, place) {
                        let fields = fields_at(found, &place);
                        disown(found, &fields);
                        // The Scale of nothing holds no number that somebody could own.
                        if !(by.subresource.is_some() && operation["value"] == 0) {
                            own(found, by, fields);
                        }
                    }
                }
            }
            Event::Delete { kind, name } => {
                let before = cluster.len();
                cluster.retain(|object| !is(object, kind, name));
                if cluster.len() == before {
                    return Err(format!("there is no {kind} {name} to delete"));
                }
            }
            Event::Create(object) => cluster.push(object.clone()),
        }
    }
    // Members that somebody has added have claims too.
    if let Some(set) = find(&mut cluster, "StatefulSet", &plan.name) {
        let more = claims(set, u64::from(plan.replicas));
        cluster.extend(more);
    }
    Ok(cluster)
}

impl Writer {
    pub(crate) fn of(manager: &str, operation: &str, time: &str) -> Writer {
        Writer {
            manager: manager.to_owned(),
            subresource: None,
            operation: operation.to_owned(),
            time: time.to_owned(),
        }
    }
}

/// Keys of the Secrets that are filled inside the cluster.
pub(crate) fn filled_keys(plan: &Plan) -> Vec<(String, Vec<&'static str>)> {
    let Some(engine) = engine::by_name(plan.engine) else { return Vec::new() };
    [(plan.app_secret(), engine.app_keys()), (plan.admin_secret(), engine.admin_keys())]
        .into_iter()
        .map(|(name, keys)| (name, keys.iter().map(|key| key.key()).collect()))
        .collect()
}

fn fill(plan: &Plan, cluster: &mut [Value], shows_managers: bool) {
    for (name, keys) in filled_keys(plan) {
        let Some(secret) = find(cluster, "Secret", &name) else { continue };
        let mut fields = json!({});
        for key in keys {
            secret["data"][key] = json!(STANDARD.encode(CANARY));
            fields["f:data"][format!("f:{key}")] = json!({});
        }
        if shows_managers {
            own(secret, &Writer::of("dbrender-credentials", "Update", APPLIED), fields);
        }
    }
}

/// The members run, on claims that Kubernetes has made from the template.
fn run(plan: &Plan, cluster: &mut Vec<Value>) {
    let Some(set) = find(cluster, "StatefulSet", &plan.name) else { return };
    let replicas = set["spec"]["replicas"].as_u64().unwrap_or(1);
    set["status"] = json!({"replicas": replicas, "readyReplicas": replicas});
    let claims = claims(set, 0);
    cluster.extend(claims);
}

/// Claims that Kubernetes makes for the members of a StatefulSet from this ordinal on.
pub(crate) fn claims(set: &Value, first: u64) -> Vec<Value> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let (name, namespace) = (text(&set["metadata"]["name"]), set["metadata"]["namespace"].clone());
    let labels = set["spec"]["selector"]["matchLabels"].clone();
    let ordinals = first..set["spec"]["replicas"].as_u64().unwrap_or(1);
    let claim = |template: &Value, ordinal: u64| {
        json!({
            "apiVersion": "v1", "kind": "PersistentVolumeClaim",
            "metadata": {
                "name": format!("{}-{name}-{ordinal}", text(&template["metadata"]["name"])),
                "namespace": namespace, "labels": labels,
            },
            "spec": template["spec"], "status": {"phase": "Bound"},
        })
    };
    let templates = set["spec"]["volumeClaimTemplates"].as_array().cloned().unwrap_or_default();
    templates.iter().flat_map(|template| ordinals.clone().map(move |ordinal| claim(template, ordinal))).collect()
}

pub(crate) fn is(object: &Value, kind: &str, name: &str) -> bool {
    object["kind"] == kind && object["metadata"]["name"].as_str().is_some_and(|have| matches(have, name))
}

/// `order-db-credentials-*` names an object whose end is a hash.
pub(crate) fn matches(have: &str, name: &str) -> bool {
    name.strip_suffix('*').map_or_else(|| have == name, |start| have.starts_with(start))
}

fn find<'c>(cluster: &'c mut [Value], kind: &str, name: &str) -> Option<&'c mut Value> {
    cluster.iter_mut().find(|object| is(object, kind, name))
}

/// One operation of RFC 6902. Gives back the place that was written, and nothing for a removal.
pub(crate) fn apply(object: &mut Value, operation: &Value) -> Result<Option<String>, String> {
    let text = |name: &str| operation.get(name).and_then(Value::as_str).unwrap_or_default();
    let path = text("path").to_owned();
    let (parent, key) = path.rsplit_once('/').ok_or_else(|| format!("{path:?} is no place"))?;
    let key = key.replace("~1", "/").replace("~0", "~");
    let value = operation.get("value").cloned().unwrap_or_default();
    let holder = object.pointer_mut(parent).ok_or_else(|| format!("there is no {parent}"))?;
    let place = match (holder, text("op")) {
        (Value::Object(map), "add") => {
            map.insert(key, value);
            Some(path)
        }
        (Value::Object(map), "replace") => {
            *map.get_mut(&key).ok_or_else(|| format!("there is no {path}"))? = value;
            Some(path)
        }
        (Value::Object(map), "remove") => {
            map.shift_remove(&key).ok_or_else(|| format!("there is no {path}"))?;
            None
        }
        (Value::Array(items), "add") if key == "-" => {
            items.push(value);
            Some(format!("{parent}/{}", items.len() - 1))
        }
        (Value::Array(items), op) => {
            let index: usize = key.parse().map_err(|_| format!("{path} is no place in a list"))?;
            match op {
                "add" if index <= items.len() => items.insert(index, value),
                "replace" if index < items.len() => items[index] = value,
                "remove" if index < items.len() => {
                    items.remove(index);
                    return Ok(None);
                }
                _ => return Err(format!("{op} {path} cannot be done")),
            }
            Some(path)
        }
        (_, op) => return Err(format!("{op} {path} cannot be done")),
    };
    Ok(place)
}

/// Writes who owns what, as a server does.
pub(crate) fn own(object: &mut Value, by: &Writer, fields: Value) {
    let mut entry = json!({
        "manager": by.manager, "operation": by.operation, "apiVersion": object["apiVersion"], "time": by.time,
        "fieldsType": "FieldsV1", "fieldsV1": fields,
    });
    if let Some(subresource) = &by.subresource {
        entry["subresource"] = json!(subresource);
    }
    let metadata = &mut object["metadata"];
    let Some(entries) = metadata.get_mut("managedFields").and_then(Value::as_array_mut) else {
        metadata["managedFields"] = json!([entry]);
        return;
    };
    // A manager has one entry for each operation and subresource.
    let is_same =
        |other: &Value| ["manager", "operation", "subresource"].iter().all(|key| other.get(key) == entry.get(key));
    match entries.iter_mut().find(|other| is_same(other)) {
        Some(other) => {
            merge(&mut other["fieldsV1"], &entry["fieldsV1"]);
            other["time"] = entry["time"].clone();
        }
        None => entries.push(entry),
    }
}

/// What somebody else writes is no longer theirs who wrote it before.
pub(crate) fn disown(object: &mut Value, fields: &Value) {
    for entry in object["metadata"]["managedFields"].as_array_mut().into_iter().flatten() {
        take(&mut entry["fieldsV1"], fields);
    }
}

fn take(from: &mut Value, fields: &Value) {
    for (key, value) in fields.as_object().into_iter().flatten() {
        let Some(map) = from.as_object_mut() else { return };
        match map.get_mut(key) {
            Some(below) if value.as_object().is_some_and(|value| !value.is_empty()) => take(below, value),
            Some(_) => {
                map.shift_remove(key);
            }
            None => {}
        }
    }
}

fn merge(into: &mut Value, from: &Value) {
    for (key, value) in from.as_object().into_iter().flatten() {
        merge(&mut into[key], value);
    }
    if into.is_null() {
        *into = from.clone();
    }
}

/// Fields of a whole object, without what nobody owns.
pub(crate) fn fields_of(object: &Value) -> Value {
    let mut fields = Map::new();
    for (key, value) in object.as_object().into_iter().flatten() {
        match key.as_str() {
            "apiVersion" | "kind" | "status" => {}
            "metadata" => {
                let owned = ["annotations", "labels"].into_iter().filter_map(|field| Some((field, value.get(field)?)));
                let owned: Map<String, Value> =
                    owned.map(|(field, value)| (format!("f:{field}"), fields_in(value, field))).collect();
                fields.insert("f:metadata".to_owned(), Value::Object(owned));
            }
            key => {
                fields.insert(format!("f:{key}"), fields_in(value, key));
            }
        }
    }
    Value::Object(fields)
}

fn fields_in(value: &Value, name: &str) -> Value {
    match value {
        Value::Object(map) => {
            Value::Object(map.iter().map(|(key, value)| (format!("f:{key}"), fields_in(value, key))).collect())
        }
        Value::Array(items) if keys_of(name).is_some() => {
            let item = |item: &Value| Some((item_key(name, item)?, fields_in(item, "")));
            Value::Object(items.iter().filter_map(item).collect())
        }
        _ => json!({}),
    }
}

/// Fields by which Kubernetes tells items of a list apart. Other lists are owned as a whole.
fn keys_of(list: &str) -> Option<&'static [&'static str]> {
    Some(match list {
        "containers" | "initContainers" | "volumes" | "env" | "imagePullSecrets" => &["name"],
        "volumeMounts" => &["mountPath"],
        "ports" => &["containerPort", "port", "protocol"],
        _ => return None,
    })
}

fn item_key(list: &str, item: &Value) -> Option<String> {
    let keys = keys_of(list)?.iter().filter_map(|key| Some(((*key).to_owned(), item.get(*key)?.clone())));
    Some(format!("k:{}", Value::Object(keys.collect())))
}

/// Fields of one place alone.
pub(crate) fn fields_at(object: &Value, place: &str) -> Value {
    let steps: Vec<String> = place.split('/').skip(1).map(|step| step.replace("~1", "/").replace("~0", "~")).collect();
    below(object, &steps, "")
}

fn below(value: &Value, steps: &[String], name: &str) -> Value {
    let Some((step, rest)) = steps.split_first() else { return fields_in(value, name) };
    match value {
        Value::Array(items) => {
            let item = step.parse::<usize>().ok().and_then(|index| items.get(index));
            match item.and_then(|item| Some((item_key(name, item)?, item))) {
                Some((key, item)) => json!({ key: below(item, rest, "") }),
                None => json!({}),
            }
        }
        Value::Object(map) => match map.get(step) {
            Some(value) => json!({ format!("f:{step}"): below(value, rest, step) }),
            None => json!({}),
        },
        _ => json!({}),
    }
}

/// `3 hours ago` is another one tomorrow.
pub(crate) fn without_ages(text: &str) -> String {
    let mut out = String::new();
    for line in text.split_inclusive('\n') {
        let mut words: Vec<&str> = line.split(' ').collect();
        while let Some(at) = words.windows(3).position(|three| {
            three[0].parse::<u64>().is_ok()
                && ["second", "minute", "hour", "day"].iter().any(|unit| three[1].trim_end_matches('s') == *unit)
                && three[2].starts_with("ago")
        }) {
            words.splice(at..at + 2, ["some", "time"]);
        }
        out += &words.join(" ");
    }
    out
}
