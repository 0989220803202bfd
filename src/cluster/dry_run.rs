//! A second opinion: what the API server says that applying an object would change. Nothing is written.

use std::borrow::Cow;
use std::collections::BTreeMap;

use kube::Client;
use kube::api::{Patch, PatchParams};
use kube::core::Request;
use serde_json::Value;

use crate::diff::{GapReason, KINDS, Listed, LiveObject, LiveSet, Mask, Read};
use crate::render::Object;

use super::live::AT_ONCE;
use super::live::request::ask;
use super::live::run::all;

/// Field manager of everything that dbrender applies.
const FIELD_MANAGER: &str = "dbrender";
/// Most paths that are named of one object.
const PATHS: usize = 5;

/// What the server says about one object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Opinion {
    /// Applying it changes nothing.
    Unchanged,
    /// Applying it makes it.
    Created,
    /// Applying it changes these, as JSON pointers; the first of them.
    Changed(Vec<String>),
    /// It would not take it, in its own words.
    Refused(String),
    /// It gave no opinion, for this reason: no right to patch, a webhook that knows no dry run, an error.
    None(String),
}

/// Asks about every object, a few at a time. Needs the right to patch. By kind, namespace and name.
pub async fn dry_run(
    client: &Client,
    objects: Vec<Object>,
    live: &LiveSet,
) -> BTreeMap<(String, String, String), Opinion> {
    let key = |kind: &str, namespace: &str, name: &str| (kind.to_owned(), namespace.to_owned(), name.to_owned());
    let before: BTreeMap<_, &Listed> =
        live.objects.iter().map(|object| (key(&object.kind, &object.namespace, &object.name), object)).collect();
    let answers = all(
        AT_ONCE,
        objects.into_iter().map(|object| {
            let client = client.clone();
            async move {
                let answer = would_be(&client, &object).await;
                (key(&object.kind, &object.namespace, &object.name), answer)
            }
        }),
    )
    .await;
    let mask = Mask::new(&live.objects);
    answers
        .into_iter()
        .map(|(key, answer)| {
            let opinion = match answer {
                // Whatever refuses may quote what it was sent, or what it holds.
                Err(Opinion::Refused(words)) => Opinion::Refused(mask.sentence(&words)),
                Err(Opinion::None(words)) => Opinion::None(mask.sentence(&words)),
                Ok(after) => match before.get(&key).map(|before| before.open()) {
                    Some(Ok(before)) => compare(&before, &after),
                    Some(Err(error)) => Opinion::None(error.message),
                    None => Opinion::Created,
                },
                Err(opinion) => opinion,
            };
            (key, opinion)
        })
        .collect()
}

/// The object as it would be.
async fn would_be(client: &Client, object: &Object) -> Result<LiveObject, Opinion> {
    let Some(kind) = KINDS.iter().find(|kind| kind.kind == object.kind) else {
        return Err(Opinion::None(format!("{} is not compared", object.kind)));
    };
    // By force, as the rendered manifests are applied: a conflict is put right, not refused.
    let params = PatchParams::apply(FIELD_MANAGER).force().dry_run();
    let request =
        Request::new(kind.path(Some(&object.namespace))).patch(&object.name, &params, &Patch::Apply(&object.value));
    let body = ask(client, request, kind).await.map_err(|trouble| match trouble.status {
        // The words about a Secret could quote it.
        Some(422) if object.kind == "Secret" => Opinion::Refused("the server refuses the Secret (422)".to_owned()),
        Some(422) => Opinion::Refused(trouble.message),
        _ if trouble.reason == GapReason::Forbidden => {
            Opinion::None(format!("not allowed to patch {}: {}", kind.resource, trouble.message))
        }
        _ if object.kind == "Secret" => Opinion::None("the server gives no answer about the Secret".to_owned()),
        _ => Opinion::None(trouble.message),
    })?;
    let read = Read::json(&body, Some((kind.api_version, kind.kind)));
    let after = read.objects.first().and_then(|object| object.open().ok()).map(Cow::into_owned);
    after.ok_or_else(|| Opinion::None("the server's answer is not understood".to_owned()))
}

fn compare(before: &LiveObject, after: &LiveObject) -> Opinion {
    let mut paths = Vec::new();
    if before.secret != after.secret {
        paths.push("/data".to_owned());
    }
    differences(&before.value, &after.value, &mut String::new(), &mut paths);
    if paths.is_empty() { Opinion::Unchanged } else { Opinion::Changed(paths) }
}

/// Pointers to what differs, the first of them. Bookkeeping of the server is left out.
fn differences(before: &Value, after: &Value, path: &mut String, paths: &mut Vec<String>) {
    // Items of a list do not say their kind again.
    const BOOKKEEPING: [&str; 7] = [
        "/apiVersion",
        "/kind",
        "/metadata/creationTimestamp",
        "/metadata/generation",
        "/metadata/resourceVersion",
        "/metadata/uid",
        "/status",
    ];
    if paths.len() >= PATHS || BOOKKEEPING.contains(&path.as_str()) {
        return;
    }
    match (before, after) {
        (Value::Object(before), Value::Object(after)) => {
            let keys = before.keys().chain(after.keys().filter(|key| !before.contains_key(*key)));
            for key in keys {
                let length = path.len();
                path.push('/');
                path.push_str(&key.replace('~', "~0").replace('/', "~1"));
                let absent = Value::Null;
                differences(before.get(key).unwrap_or(&absent), after.get(key).unwrap_or(&absent), path, paths);
                path.truncate(length);
            }
        }
        (Value::Array(before), Value::Array(after)) if before.len() == after.len() => {
            for (index, (before, after)) in before.iter().zip(after).enumerate() {
                let length = path.len();
                path.push_str(&format!("/{index}"));
                differences(before, after, path, paths);
                path.truncate(length);
            }
        }
        (before, after) if before == after => {}
        _ => paths.push(path.clone()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Opinion, compare};
    use crate::diff::LiveObject;

    fn object(spec: serde_json::Value, version: &str) -> LiveObject {
        LiveObject::from_value(json!({
            "kind": "Service", "metadata": {"name": "a", "namespace": "b", "resourceVersion": version}, "spec": spec,
        }))
        .unwrap()
    }

    #[test]
    fn what_an_apply_would_change_is_named() {
        let before = object(json!({"a": 1, "list": [{"x/y": 1}], "gone": true}), "1");
        assert_eq!(
            compare(&before, &object(json!({"a": 1, "list": [{"x/y": 1}], "gone": true}), "2")),
            Opinion::Unchanged
        );
        let after = object(json!({"a": 2, "list": [{"x/y": 2}], "new": 1}), "1");
        let paths = ["/spec/a", "/spec/list/0/x~1y", "/spec/gone", "/spec/new"].map(str::to_owned).to_vec();
        assert_eq!(compare(&before, &after), Opinion::Changed(paths));
    }

    #[test]
    fn a_secret_is_compared_and_not_shown() {
        let secret = |value: &str| {
            LiveObject::from_value(json!({"kind": "Secret", "metadata": {"name": "a"}, "data": {"k": value}})).unwrap()
        };
        assert_eq!(compare(&secret("aGk="), &secret("aGk=")), Opinion::Unchanged);
        assert_eq!(compare(&secret("aGk="), &secret("aG8=")), Opinion::Changed(vec!["/data".to_owned()]));
    }
}
