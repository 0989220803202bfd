//! Server-side apply of one object, and what to do when somebody else owns a field of it.
//!
//! Whoever updates (a person, `kubectl scale`) made one change, and what is declared wins again. Whoever applies declares
//! too, and would write again and again: then a person has to choose. So has one where an object of that name was there
//! before.

use std::collections::BTreeSet;

use kube::Client;
use kube::api::{Patch, PatchParams};
use kube::core::{Request, Status};
use serde_json::{Map, Value, json};

use super::cache::kind_of;
use crate::render::{DATABASE_LABEL, Object};

/// Our name as a writer of fields.
pub(super) const FIELD_MANAGER: &str = "dbrender";

/// What became of one apply.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Applied {
    /// The server has it.
    Done,
    /// The server has it, and these writers have lost their fields.
    Forced { writers: BTreeSet<String>, fields: Vec<String> },
}

/// Why an object was not applied.
#[derive(Debug)]
pub(super) enum NotApplied {
    /// Others declare the same fields.
    Contested { writers: BTreeSet<String>, fields: Vec<String> },
    /// It was there before, and nothing says that it is of this Database.
    OfOthers { writers: BTreeSet<String>, fields: Vec<String> },
    /// The server refuses what we want, and will do so again.
    Refused(String),
    /// Anything that may be otherwise in a moment.
    Failed(kube::Error),
}

/// Applies it, first without force.
pub(super) async fn apply(client: &Client, object: &Object) -> Result<Applied, NotApplied> {
    let conflict = match send(client, object, false).await {
        Ok(()) => return Ok(Applied::Done),
        Err(kube::Error::Api(status)) if status.code == 409 && is_about_fields(&status) => status,
        Err(error) => return Err(refusal(error)),
    };
    let fields = contested(&conflict);
    let live = read(client, object).await.map_err(refusal)?;
    let managed = live.pointer("/metadata/managedFields").cloned().unwrap_or_default();
    let appliers = writers(&managed, &fields, "Apply");
    if !appliers.is_empty() {
        return Err(NotApplied::Contested { writers: appliers, fields });
    }
    let updaters = writers(&managed, &fields, "Update");
    if !is_ours(&live, object) {
        return Err(NotApplied::OfOthers { writers: updaters, fields });
    }
    send(client, object, true).await.map_err(refusal)?;
    Ok(Applied::Forced { writers: updaters, fields })
}

/// Whether it has our label, or was applied by us before somebody took the label away.
fn is_ours(live: &Value, object: &Object) -> bool {
    let label = |value: &Value| value["metadata"]["labels"][DATABASE_LABEL].as_str().map(str::to_owned);
    let entries = live["metadata"]["managedFields"].as_array().map(Vec::as_slice).unwrap_or_default();
    let is_mine = |entry: &Value| entry["manager"] == FIELD_MANAGER && entry["operation"] == "Apply";
    (label(live).is_some() && label(live) == label(&object.value)) || entries.iter().any(is_mine)
}

async fn send(client: &Client, object: &Object, force: bool) -> Result<(), kube::Error> {
    let mut params = PatchParams::apply(FIELD_MANAGER).validation_strict();
    params.force = force;
    let request = Request::new(path(object))
        .patch(&object.name, &params, &Patch::Apply(&object.value))
        .map_err(kube::Error::BuildRequest)?;
    client.request::<Ignored>(request).await.map(drop)
}

/// Merges a change into an object whose path is that of its kind and namespace.
pub(super) async fn merge(client: &Client, path: &str, name: &str, change: &Value) -> Result<(), kube::Error> {
    let params = PatchParams { field_manager: Some(FIELD_MANAGER.to_owned()), ..PatchParams::default() };
    let request = Request::new(path).patch(name, &params, &Patch::Merge(change)).map_err(kube::Error::BuildRequest)?;
    client.request::<Ignored>(request).await.map(drop)
}

/// Takes away what others have added, if the object is still the one that was seen.
pub(super) async fn strip(client: &Client, object: &Object, removal: &Value) -> Result<(), kube::Error> {
    let request = http::Request::patch(format!("{}/{}?fieldManager={FIELD_MANAGER}", path(object), object.name))
        .header(http::header::CONTENT_TYPE, "application/json-patch+json")
        .body(removal.to_string().into_bytes())
        .map_err(kube::Error::HttpError)?;
    match client.request::<Ignored>(request).await {
        Ok(_) => Ok(()),
        // It is another one by now, or the server does not want it so: the next look tells.
        Err(kube::Error::Api(status)) if matches!(status.code, 404 | 409 | 422) => Ok(()),
        Err(error) => Err(error),
    }
}

/// The answer is the whole object, a Secret's values included; nothing of it is of use here.
#[derive(serde::Deserialize)]
struct Ignored {}

async fn read(client: &Client, object: &Object) -> Result<Value, kube::Error> {
    let request = Request::new(path(object))
        .get(&object.name, &kube::api::GetParams::default())
        .map_err(kube::Error::BuildRequest)?;
    let mut live = client.request::<Value>(request).await?;
    if let Some(map) = live.as_object_mut() {
        map.retain(|key, _| key == "metadata");
    }
    Ok(live)
}

/// Where the API server has an object of a kind that is rendered.
pub(super) fn path(object: &Object) -> String {
    kind_of(&object.kind).map_or_else(String::new, |kind| kind.path(Some(&object.namespace)))
}

fn refusal(error: kube::Error) -> NotApplied {
    match error {
        // 403: a right, a quota or an admission policy; 422 and 400: the object itself.
        kube::Error::Api(status) if matches!(status.code, 400 | 403 | 422) => NotApplied::Refused(status.message),
        other => NotApplied::Failed(other),
    }
}

fn causes(status: &Status) -> impl Iterator<Item = &kube::core::response::StatusCause> {
    status.details.iter().flat_map(|details| &details.causes)
}

fn is_about_fields(status: &Status) -> bool {
    causes(status).any(|cause| cause.reason == "FieldManagerConflict")
}

/// The fields that the server names.
fn contested(status: &Status) -> Vec<String> {
    let fields: BTreeSet<String> = causes(status)
        .filter(|cause| cause.reason == "FieldManagerConflict")
        .map(|cause| cause.field.clone())
        .collect();
    fields.into_iter().collect()
}

/// Names of the writers of one operation that own one of the fields.
fn writers(managed: &Value, fields: &[String], operation: &str) -> BTreeSet<String> {
    let entries = managed.as_array().map(Vec::as_slice).unwrap_or_default();
    let mut names = BTreeSet::new();
    for entry in entries {
        let name = entry["manager"].as_str().unwrap_or_default();
        if name == FIELD_MANAGER || entry["operation"] != *operation {
            continue;
        }
        let mut owned = Vec::new();
        if let Some(set) = entry["fieldsV1"].as_object() {
            walk(set, "", &mut owned);
        }
        if owned.iter().any(|path| fields.contains(path)) {
            names.insert(name.to_owned());
        }
    }
    names
}

/// The paths of a set of fields, written as the server writes them in a conflict.
fn walk(set: &Map<String, Value>, above: &str, out: &mut Vec<String>) {
    for (key, below) in set {
        let path = match key.split_once(':') {
            Some(("f", name)) => format!("{above}.{name}"),
            Some(("k", keys)) => {
                let keys: Map<String, Value> = serde_json::from_str(keys).unwrap_or_default();
                let keys: Vec<String> = keys.iter().map(|(name, value)| format!("{name}={value}")).collect();
                format!("{above}[{}]", keys.join(","))
            }
            Some(("v", value)) => format!("{above}[={value}]"),
            // `.`: the item itself.
            _ => above.to_owned(),
        };
        if let Some(below) = below.as_object() {
            walk(below, &path, out);
        }
        out.push(path);
    }
}

/// Deletes an object, if it is still the one that was seen. `orphan`: what it made stays.
pub(super) async fn delete(
    client: &Client,
    path: &str,
    name: &str,
    uid: &str,
    orphan: bool,
) -> Result<(), kube::Error> {
    let policy = if orphan { "Orphan" } else { "Background" };
    let body = json!({"apiVersion": "v1", "kind": "DeleteOptions", "propagationPolicy": policy,
        "preconditions": {"uid": uid}});
    let request = http::Request::delete(format!("{path}/{name}"))
        .header(http::header::CONTENT_TYPE, "application/json")
        .body(body.to_string().into_bytes())
        .map_err(kube::Error::HttpError)?;
    match client.request::<Ignored>(request).await {
        Ok(_) => Ok(()),
        // Gone, or gone and made anew by somebody: the next look tells.
        Err(kube::Error::Api(status)) if matches!(status.code, 404 | 409) => Ok(()),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{contested, is_about_fields, is_ours, writers};
    use crate::render::Object;

    fn managed() -> serde_json::Value {
        json!([
            {"manager": "dbrender", "operation": "Apply", "fieldsV1": {"f:spec": {"f:replicas": {}}}},
            {"manager": "argocd-controller", "operation": "Apply", "fieldsV1": {"f:spec": {"f:template": {"f:spec": {
                "f:containers": {"k:{\"name\":\"postgresql\"}": {".": {}, "f:image": {},
                    "f:ports": {"k:{\"containerPort\":5432,\"protocol\":\"TCP\"}": {".": {}, "f:name": {}}}}}}}}}},
            {"manager": "kubectl", "operation": "Update", "subresource": "scale",
                "fieldsV1": {"f:spec": {"f:replicas": {}}}},
        ])
    }

    #[test]
    fn whoever_applies_is_told_from_whoever_updates() {
        let names = |field: &str, operation: &str| {
            writers(&managed(), &[field.to_owned()], operation).into_iter().collect::<Vec<_>>()
        };
        assert_eq!(names(".spec.replicas", "Update"), ["kubectl"]);
        assert!(names(".spec.replicas", "Apply").is_empty(), "that is ourselves");
        let image = ".spec.template.spec.containers[name=\"postgresql\"].image";
        assert_eq!(names(image, "Apply"), ["argocd-controller"]);
        let port =
            ".spec.template.spec.containers[name=\"postgresql\"].ports[containerPort=5432,protocol=\"TCP\"].name";
        assert_eq!(names(port, "Apply"), ["argocd-controller"]);
        assert!(names(".spec.serviceName", "Apply").is_empty());
    }

    /// If this fails, a Service that somebody had before leads to our members.
    #[test]
    fn what_was_there_before_is_not_ours() {
        let labelled = |database: &str| json!({"metadata": {"labels": {"app.example.com/database": database}}});
        let object = Object {
            api_version: "v1".to_owned(),
            kind: "Service".to_owned(),
            namespace: "n".to_owned(),
            name: "order-db".to_owned(),
            value: labelled("order-db"),
        };
        assert!(is_ours(&labelled("order-db"), &object));
        assert!(!is_ours(&labelled("other"), &object));
        assert!(!is_ours(&json!({}), &object));
        let by = |operation: &str| {
            json!({"metadata": {"managedFields": [
                {"manager": "kubectl", "operation": "Update"}, {"manager": "dbrender", "operation": operation}]}})
        };
        assert!(is_ours(&by("Apply"), &object), "somebody took the label away");
        assert!(!is_ours(&by("Update"), &object));
    }

    #[test]
    fn a_conflict_is_recognised_by_its_causes_and_not_by_its_text() {
        let status = |causes: serde_json::Value| {
            serde_json::from_value(json!({"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": 409,
                "reason": "Conflict", "message": "whatever", "details": {"causes": causes}}))
            .unwrap()
        };
        let of_fields = status(json!([
            {"reason": "FieldManagerConflict", "message": "conflict with \"kubectl\"", "field": ".spec.replicas"},
            {"reason": "FieldManagerConflict", "message": "conflict with \"x\"", "field": ".spec.replicas"},
        ]));
        assert!(is_about_fields(&of_fields));
        assert_eq!(contested(&of_fields), [".spec.replicas"]);
        assert!(!is_about_fields(&status(json!([]))));
    }
}
