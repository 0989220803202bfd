//! Members whose StatefulSet is gone. One of the same name is made only when they are gone too.
//!
//! The garbage collector of Kubernetes removes what a deleted object owned once it has seen it gone. When one of the same
//! name is there before it looks, as after a restart of the API server, it takes the two for one: the old pods stay, their
//! names stay taken, and the new StatefulSet never has a member. Orphans (`--cascade=orphan`) have no owner any more, and
//! are adopted.

use std::time::Duration;

use kube::api::ListParams;
use kube::core::Request;
use serde_json::Value;

use super::Inner;
use super::intent::Intent;
use super::status::Standing;
use crate::render::{COMPONENT_LABEL, DATABASE_LABEL};

/// Between two looks: nothing that is watched tells that a pod has gone.
const PAUSE: Duration = Duration::from_secs(2);

/// What is waited for before the StatefulSet is made. `None`: nothing.
pub(super) async fn waits(shared: &Inner, intent: &Intent) -> Result<Option<Standing>, kube::Error> {
    let members = ListParams::default().labels(&format!("{DATABASE_LABEL}={},{COMPONENT_LABEL}=database", intent.name));
    let path = format!("/api/v1/namespaces/{}/pods", intent.namespace);
    let request = Request::new(path).list(&members).map_err(kube::Error::BuildRequest)?;
    let left = owned(&shared.client.request::<Value>(request).await?);
    Ok((!left.is_empty()).then(|| {
        let message = format!(
            "the StatefulSet was deleted; it is made anew when Kubernetes has removed its pods {}",
            left.join(", ")
        );
        Standing::Waiting("MembersGoing", message, PAUSE)
    }))
}

/// Names of the pods of a list that have a controller.
fn owned(list: &Value) -> Vec<String> {
    let has_controller = |pod: &&Value| {
        let owners = pod.pointer("/metadata/ownerReferences").and_then(Value::as_array);
        owners.is_some_and(|owners| owners.iter().any(|owner| owner["controller"] == true))
    };
    let pods = list["items"].as_array().into_iter().flatten();
    pods.filter(has_controller).filter_map(|pod| Some(pod["metadata"]["name"].as_str()?.to_owned())).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::owned;

    #[test]
    fn orphans_are_not_waited_for() {
        let list = json!({"items": [
            {"metadata": {"name": "a-0", "ownerReferences": [{"controller": true, "kind": "StatefulSet"}]}},
            {"metadata": {"name": "a-1", "ownerReferences": [{"kind": "ConfigMap"}]}},
            {"metadata": {"name": "a-2"}},
        ]});
        assert_eq!(owned(&list), ["a-0"]);
        assert!(owned(&json!({})).is_empty());
    }
}
