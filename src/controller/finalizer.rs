//! The finalizer, by which a Database stays until it has been taken down in order.

use serde_json::{Value, json};

use super::Inner;
use super::intent::{FINALIZER, Intent};
use super::reconcile::{Failure, path_of_databases};

/// Adds the finalizer: from now on, this Database does not go before it has been taken down in order.
pub(super) async fn hold(shared: &Inner, intent: &Intent) -> Result<(), Failure> {
    let mut finalizers = intent.finalizers.clone();
    finalizers.push(FINALIZER.to_owned());
    set(shared, intent, &finalizers).await
}

/// Writes the list of finalizers, if it is still the one that was read.
pub(super) async fn set(shared: &Inner, intent: &Intent, next: &[String]) -> Result<(), Failure> {
    let request = http::Request::patch(format!("{}/{}", path_of_databases(&intent.namespace), intent.name))
        .header(http::header::CONTENT_TYPE, "application/json-patch+json")
        .body(patch(&intent.uid, &intent.finalizers, next).to_string().into_bytes())
        .map_err(kube::Error::HttpError)?;
    shared.client.request::<Value>(request).await?;
    Ok(())
}

/// From one list to the other, and refused when somebody has written another one meanwhile: theirs would be lost.
fn patch(uid: &str, before: &[String], next: &[String]) -> Value {
    // An empty list is not stored.
    let before = if before.is_empty() { Value::Null } else { json!(before) };
    json!([
        {"op": "test", "path": "/metadata/uid", "value": uid},
        {"op": "test", "path": "/metadata/finalizers", "value": before},
        {"op": "add", "path": "/metadata/finalizers", "value": next},
    ])
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::patch;

    #[test]
    fn what_somebody_else_holds_is_never_overwritten() {
        let ours = ["ours".to_owned()];
        let tested = |before: &[String]| patch("u", before, &ours)[1].clone();
        assert_eq!(tested(&[]), json!({"op": "test", "path": "/metadata/finalizers", "value": null}));
        let both = ["theirs".to_owned(), "ours".to_owned()];
        assert_eq!(tested(&both), json!({"op": "test", "path": "/metadata/finalizers", "value": ["theirs", "ours"]}));
    }
}
