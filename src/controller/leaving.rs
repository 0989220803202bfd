//! A Database that is being deleted, step by step.

use std::collections::BTreeMap;

use kube::api::PostParams;
use kube::core::Request;
use serde_json::{Value, json};

use super::Inner;
use super::applying::{self, FIELD_MANAGER};
use super::cache::{Known, ObjectKey, kind_of};
use super::deletion::{LastBackup, Leaving, Step, goes, step};
use super::finalizer;
use super::intent::{FINALIZER, Intent};
use super::progress::count;
use super::reconcile::{Failure, facts};
use super::status::{Facts, Standing, completed_at, failed_at};
use crate::api::{API_VERSION, DeletionPolicy, KIND, SKIP_FINAL_BACKUP};
use crate::render::backup_job;

/// Takes the next step. `None`: the Database is let go.
pub(super) async fn proceed(
    shared: &Inner,
    intent: &Intent,
    stored: &Value,
) -> Result<Option<(Standing, Facts)>, Failure> {
    if !intent.finalizers.iter().any(|name| name == FINALIZER) {
        return Ok(None);
    }
    let known = shared.cache.of(&intent.key());
    let policy = policy(stored);
    let going = without_owner(intent, policy, &known);
    let leaving = leaving(shared, intent, stored, policy, &known, going.len()).await?;
    let facts = facts(intent, &BTreeMap::new(), &known);
    let standing = match step(&leaving) {
        Step::Hold(reason, message) => Standing::Deleting(reason, message, true),
        Step::StartBackup => {
            start_backup(shared, intent, &known).await?;
            Standing::Deleting("FinalBackup", "the last backup was started".to_owned(), false)
        }
        Step::AwaitBackup => Standing::Deleting("FinalBackup", "the last backup runs".to_owned(), false),
        Step::Disown => {
            for (kind, name) in &going {
                own(shared, intent, kind, name).await?;
            }
            // Each is seen by its watch; the look after the last of them lets the Database go.
            Standing::Deleting("Releasing", "its objects get an owner, and go with it".to_owned(), false)
        }
        Step::Release => {
            let left: Vec<String> = intent.finalizers.iter().filter(|name| *name != FINALIZER).cloned().collect();
            finalizer::set(shared, intent, &left).await?;
            shared.progress.say(&format!("{}/{}: let go", intent.namespace, intent.name));
            return Ok(None);
        }
    };
    Ok(Some((standing, facts)))
}

/// Read from the object itself: a Database with an error somewhere else says as clearly what is to become of its data.
fn policy(stored: &Value) -> Option<DeletionPolicy> {
    match stored.pointer("/spec/deletionPolicy") {
        None | Some(Value::Null) => Some(DeletionPolicy::default()),
        Some(word) => serde_json::from_value(word.clone()).ok(),
    }
}

fn final_backup(intent: &Intent) -> String {
    format!("{}-final-backup", intent.name)
}

async fn leaving(
    shared: &Inner,
    intent: &Intent,
    stored: &Value,
    policy: Option<DeletionPolicy>,
    known: &BTreeMap<ObjectKey, Known>,
    without_owner: usize,
) -> Result<Leaving, Failure> {
    let prefix = format!("data-{}-", intent.name);
    let is_bound = |((kind, name), known): (&ObjectKey, &Known)| {
        *kind == "PersistentVolumeClaim"
            && name.starts_with(&prefix)
            && known.object.as_ref().is_some_and(|claim| claim.value["status"]["phase"] == "Bound")
    };
    let job = known.get(&("Job", final_backup(intent))).and_then(|known| known.object.as_ref());
    Ok(Leaving {
        policy,
        has_backups: known.contains_key(&("CronJob", format!("{}-backup", intent.name))),
        has_data: known.iter().any(is_bound),
        hibernates: stored.pointer("/spec/hibernate") == Some(&Value::Bool(true)),
        skip_backup: intent.annotations.get(SKIP_FINAL_BACKUP).is_some_and(|value| value == "true"),
        namespace_goes: namespace_goes(shared, &intent.namespace).await?,
        last_backup: match job {
            None => LastBackup::None,
            Some(job) if completed_at(&job.value).is_some() => LastBackup::Complete,
            Some(job) if failed_at(&job.value).is_some() => LastBackup::Failed,
            Some(_) => LastBackup::Running,
        },
        orphan: intent.finalizers.iter().any(|name| name == "orphan"),
        without_owner,
    })
}

async fn namespace_goes(shared: &Inner, name: &str) -> Result<bool, Failure> {
    let request = Request::new("/api/v1/namespaces")
        .get(name, &kube::api::GetParams::default())
        .map_err(kube::Error::BuildRequest)?;
    match shared.client.request::<Value>(request).await {
        Ok(namespace) => Ok(!namespace["metadata"]["deletionTimestamp"].is_null()),
        // Whoever may not read namespaces learns it when the backup is refused.
        Err(kube::Error::Api(status)) if matches!(status.code, 403 | 404) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// Objects that go with the Database and do not say so yet.
fn without_owner(
    intent: &Intent,
    policy: Option<DeletionPolicy>,
    known: &BTreeMap<ObjectKey, Known>,
) -> Vec<(&'static str, String)> {
    let member = format!("data-{}-", intent.name);
    known
        .iter()
        .filter(|((kind, name), _)| goes(policy, kind, name.starts_with(&member)))
        .filter(|(_, known)| {
            // One that another object owns goes with that.
            known.object.as_ref().is_none_or(|object| {
                object.value["metadata"]["ownerReferences"].as_array().is_none_or(Vec::is_empty)
                    && object.value["metadata"]["deletionTimestamp"].is_null()
            })
        })
        .map(|((kind, name), _)| (*kind, name.clone()))
        .collect()
}

/// Makes the Database the owner of an object.
async fn own(shared: &Inner, intent: &Intent, kind: &str, name: &str) -> Result<(), Failure> {
    let Some(kind) = kind_of(kind) else { return Ok(()) };
    let owner = json!([{"apiVersion": API_VERSION, "kind": KIND, "name": intent.name, "uid": intent.uid}]);
    let change = json!({"metadata": {"ownerReferences": owner}});
    match applying::merge(&shared.client, &kind.path(Some(&intent.namespace)), name, &change).await {
        Ok(()) => {
            count(&shared.progress.counted.applied);
            Ok(())
        }
        Err(kube::Error::Api(status)) if status.code == 404 => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Makes a Job from the template of the CronJob that stands in the cluster.
async fn start_backup(shared: &Inner, intent: &Intent, known: &BTreeMap<ObjectKey, Known>) -> Result<(), Failure> {
    let cron_job = known.get(&("CronJob", format!("{}-backup", intent.name))).and_then(|known| known.object.as_ref());
    let mut job = backup_job(cron_job.map_or(&Value::Null, |object| &object.value), &intent.namespace, &intent.name);
    job["metadata"]["name"] = final_backup(intent).into();
    if let Some(spec) = job["spec"].as_object_mut() {
        // It is the proof that the deletion may go on, so it has to stay until then.
        spec.shift_remove("ttlSecondsAfterFinished");
    }
    let Some(kind) = kind_of("Job") else { return Ok(()) };
    let body = serde_json::to_vec(&job).map_err(kube::Error::SerdeError)?;
    let params = PostParams { field_manager: Some(FIELD_MANAGER.to_owned()), ..PostParams::default() };
    let request =
        Request::new(kind.path(Some(&intent.namespace))).create(&params, body).map_err(kube::Error::BuildRequest)?;
    match shared.client.request::<Value>(request).await {
        Ok(_) => {
            shared.events.tell(intent, false, "FinalBackup", "Delete", "the last backup was started").await;
            Ok(())
        }
        Err(kube::Error::Api(status)) if status.code == 409 => Ok(()),
        Err(error) => Err(error.into()),
    }
}
