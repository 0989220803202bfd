//! Passwords that the controller makes: by the same code as the Job.

use std::time::Duration;

use serde_json::{Value, json};

use super::intent::Intent;
use super::reconcile::{Failure, path_of_databases};
use super::{Inner, applying};
use crate::api::ROTATE_CREDENTIALS;
use crate::cluster::{self, Owner};
use crate::engine::{self, Engine};
use crate::plan::{Credentials, Plan};

fn owner(plan: &Plan) -> Option<(&'static dyn Engine, Owner)> {
    let owner = Owner { namespace: plan.namespace.clone(), app: plan.app_secret(), admin: plan.admin_secret() };
    Some((engine::by_name(plan.engine)?, owner))
}

/// Fills passwords where that is the controller's task.
pub(super) async fn fill(shared: &Inner, intent: &Intent, plan: &Plan) {
    let Credentials::Generated { job: false } = plan.credentials else { return };
    let Some((engine, owner)) = owner(plan) else { return };
    match cluster::fill(&shared.client, engine, &owner, Duration::ZERO).await {
        Ok(filled) => {
            for secret in filled.iter().filter(|secret| !secret.keys.is_empty()) {
                let note = format!("Secret {}: filled {}", secret.secret, secret.keys.join(", "));
                shared.events.tell(intent, false, "CredentialsFilled", "Fill", &note).await;
            }
        }
        // The condition says which keys are missing; the next look tries again.
        Err(error) => shared.progress.say(&format!("{}/{}: {error}", intent.namespace, intent.name)),
    }
}

/// Makes the passwords anew that the annotation names, and takes it away. A controller that dies in between makes them
/// once more: nobody has seen the first ones for long.
pub(super) async fn rotate(shared: &Inner, intent: &Intent, plan: &Plan) -> Result<(), Failure> {
    if plan.rotation.is_empty() {
        return Ok(());
    }
    let Some((engine, owner)) = owner(plan) else { return Ok(()) };
    if !is_still_asked(shared, intent).await? {
        return Ok(());
    }
    let changed = cluster::rotate(&shared.client, engine, &owner, &plan.rotation).await;
    for secret in changed.map_err(|error| Failure::Unread(error.to_string()))? {
        let note = format!("Secret {}: made anew {}", secret.secret, secret.keys.join(", "));
        shared.progress.say(&format!("{}/{}: {note}", intent.namespace, intent.name));
        shared.events.tell(intent, false, "CredentialsRotated", "Rotate", &note).await;
    }
    let change = json!({"metadata": {"annotations": {ROTATE_CREDENTIALS: null}, "uid": intent.uid}});
    applying::merge(&shared.client, &path_of_databases(&intent.namespace), &intent.name, &change).await?;
    Ok(())
}

/// Whether the annotation is there now. What the watch has seen may be older than our own last write, and whoever acted on that
/// would make the passwords anew a second time. A patch that only tests writes nothing, and needs no right to read.
async fn is_still_asked(shared: &Inner, intent: &Intent) -> Result<bool, Failure> {
    let place = format!("/metadata/annotations/{}", ROTATE_CREDENTIALS.replace('/', "~1"));
    let tests = json!([
        {"op": "test", "path": "/metadata/uid", "value": intent.uid},
        {"op": "test", "path": place, "value": intent.annotations.get(ROTATE_CREDENTIALS)},
    ]);
    let request = http::Request::patch(format!("{}/{}", path_of_databases(&intent.namespace), intent.name))
        .header(http::header::CONTENT_TYPE, "application/json-patch+json")
        .body(tests.to_string().into_bytes())
        .map_err(kube::Error::HttpError)?;
    match shared.client.request::<Value>(request).await {
        Ok(_) => Ok(true),
        Err(kube::Error::Api(status)) if matches!(status.code, 404 | 409 | 422) => Ok(false),
        Err(error) => Err(error.into()),
    }
}
