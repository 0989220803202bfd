//! The backups of one Database that Kubernetes knows of, and one more on request.
//!
//! What a run has to say stands in the termination message of its containers, as one line of JSON; nothing else of a
//! backup is visible without its volume or its bucket.

use std::time::Duration;

use kube::api::{GetParams, ListParams, PostParams};
use kube::core::Request;
use kube::{Client, Error};
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use crate::render::{COMPONENT_LABEL, DATABASE_LABEL, backup_job};

/// Field manager of the Jobs that are made.
const FIELD_MANAGER: &str = "dbrender";
/// Between two looks at a Job that runs.
const PAUSE: Duration = Duration::from_secs(1);
/// The annotation with which Kubernetes' own tools mark a Job that no schedule has started.
const MANUAL: (&str, &str) = ("cronjob.kubernetes.io/instantiate", "manual");

/// How a run stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It has not ended.
    Running,
    /// The backup is whole and verified.
    Complete,
    /// It will not be tried again.
    Failed,
}

impl Outcome {
    /// `Running`, `Complete` or `Failed`: the words of a Job's conditions.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Outcome::Running => "Running",
            Outcome::Complete => "Complete",
            Outcome::Failed => "Failed",
        }
    }
}

/// One run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// Name of its Job.
    pub job: String,
    /// When the Job was made, as RFC 3339 in UTC.
    pub created: String,
    /// How it stands.
    pub outcome: Outcome,
    /// Id of the backup, for `bootstrap.fromBackup.backup`. Empty: the run has said nothing, or its pod is gone.
    pub id: String,
    /// Version of the server.
    pub version: String,
    /// Size of the backup in bytes.
    pub bytes: Option<u64>,
    /// What went wrong, in the script's own sentence, or in Kubernetes'.
    pub message: String,
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum BackupError {
    /// There is nothing from which a backup could be started.
    #[error(
        "CronJob {namespace}/{name}-backup does not exist: the manifests are not applied, or spec.backup.enabled is false"
    )]
    NoCronJob {
        /// Namespace.
        namespace: String,
        /// Name of the Database.
        name: String,
    },
    /// Two at once would only stand in each other's way.
    #[error("Job {0} still runs: two backups at once read everything twice")]
    Runs(String),
    /// The server refused or could not be asked.
    #[error("cannot {what}: {words}")]
    Server {
        /// What was asked.
        what: &'static str,
        /// Its words.
        words: String,
    },
}

/// Which Database.
#[derive(Clone, Debug)]
pub struct Subject {
    /// Namespace.
    pub namespace: String,
    /// Name.
    pub name: String,
}

/// The runs that Kubernetes still knows, the oldest first.
///
/// # Errors
/// When Jobs or pods cannot be listed.
pub async fn backups(client: &Client, subject: &Subject) -> Result<Vec<Run>, BackupError> {
    let params = ListParams::default().labels(&format!("{DATABASE_LABEL}={},{COMPONENT_LABEL}=backup", subject.name));
    let list = async |what: &'static str, path: &str| {
        let request = Request::new(format!("{path}/namespaces/{}/{what}", subject.namespace)).list(&params);
        let request = request.map_err(|error| refused("list", error.to_string()))?;
        let list = client.request::<Value>(request).await.map_err(|error| server("list", error))?;
        Ok::<Vec<Value>, BackupError>(list["items"].as_array().cloned().unwrap_or_default())
    };
    let (jobs, pods) = (list("jobs", "/apis/batch/v1").await?, list("pods", "/api/v1").await?);
    let mut runs: Vec<Run> = jobs.iter().map(|job| run(job, &pods)).collect();
    runs.sort_by(|a, b| (&a.created, &a.job).cmp(&(&b.created, &b.job)));
    Ok(runs)
}

/// Starts a backup from the CronJob that stands in the cluster, whether that is suspended or not, and returns the name of
/// the Job.
///
/// # Errors
/// When there is no CronJob, or another backup of this Database runs.
pub async fn start_backup(client: &Client, subject: &Subject) -> Result<String, BackupError> {
    let Subject { namespace, name } = subject;
    let request = Request::new(format!("/apis/batch/v1/namespaces/{namespace}/cronjobs"))
        .get(&format!("{name}-backup"), &GetParams::default())
        .map_err(|error| refused("get the CronJob", error.to_string()))?;
    let cron_job = client.request::<Value>(request).await.map_err(|error| match error {
        Error::Api(status) if status.code == 404 => {
            BackupError::NoCronJob { namespace: namespace.clone(), name: name.clone() }
        }
        error => server("get the CronJob", error),
    })?;
    if let Some(run) = backups(client, subject).await?.into_iter().find(|run| run.outcome == Outcome::Running) {
        return Err(BackupError::Runs(run.job));
    }
    let body = job_of(&cron_job, subject).to_string().into_bytes();
    let params = PostParams { field_manager: Some(FIELD_MANAGER.to_owned()), ..PostParams::default() };
    let request = Request::new(format!("/apis/batch/v1/namespaces/{namespace}/jobs"))
        .create(&params, body)
        .map_err(|error| refused("create the Job", error.to_string()))?;
    let job = client.request::<Value>(request).await.map_err(|error| server("create the Job", error))?;
    Ok(text(&job, "/metadata/name"))
}

/// Waits until a run has ended, and returns it; as it stands then, when that takes longer than `wait`.
///
/// # Errors
/// When Jobs or pods cannot be listed, or somebody has deleted the Job.
pub async fn await_backup(client: &Client, subject: &Subject, job: &str, wait: Duration) -> Result<Run, BackupError> {
    let deadline = Instant::now() + wait;
    loop {
        let run = backups(client, subject).await?.into_iter().find(|run| run.job == job);
        let run = run.ok_or_else(|| refused("wait", format!("somebody deleted Job {job}")))?;
        if run.outcome != Outcome::Running || Instant::now() >= deadline {
            return Ok(run);
        }
        sleep(PAUSE).await;
    }
}

/// The Job that the CronJob would make, owned by it, so that it goes when that goes and is nobody's orphan.
fn job_of(cron_job: &Value, subject: &Subject) -> Value {
    let mut job = backup_job(cron_job, &subject.namespace, &subject.name);
    job["metadata"]["generateName"] = json!(format!("{}-backup-", subject.name));
    job["metadata"]["annotations"] = json!({MANUAL.0: MANUAL.1});
    job["metadata"]["ownerReferences"] = json!([{
        "apiVersion": "batch/v1",
        "kind": "CronJob",
        "name": cron_job["metadata"]["name"],
        "uid": cron_job["metadata"]["uid"],
        "controller": true,
    }]);
    job
}

/// What a Job and its pods say.
fn run(job: &Value, pods: &[Value]) -> Run {
    let name = text(job, "/metadata/name");
    let condition = |kind: &str| {
        let conditions = job.pointer("/status/conditions").and_then(Value::as_array).into_iter().flatten();
        conditions.into_iter().find(|condition| condition["type"] == kind && condition["status"] == "True")
    };
    let (outcome, message) = match (condition("Complete"), condition("Failed")) {
        (Some(_), _) => (Outcome::Complete, String::new()),
        (None, Some(failed)) => (Outcome::Failed, text(failed, "/message")),
        (None, None) => (Outcome::Running, String::new()),
    };
    let mut run = Run {
        job: name.clone(),
        created: text(job, "/metadata/creationTimestamp"),
        outcome,
        id: String::new(),
        version: String::new(),
        bytes: None,
        message,
    };
    let mut own: Vec<&Value> =
        pods.iter().filter(|pod| text(pod, "/metadata/labels/batch.kubernetes.io~1job-name") == name).collect();
    own.sort_by_key(|pod| text(pod, "/metadata/creationTimestamp"));
    // The last attempt is the one that counts, and in it the last container that said something.
    for said in own.iter().flat_map(|pod| last_words(pod)) {
        match said.get("error").and_then(Value::as_str) {
            Some(error) if outcome != Outcome::Complete => error.clone_into(&mut run.message),
            Some(_) => {}
            None => {
                run.id = text(&said, "/id");
                run.version = text(&said, "/version");
                run.bytes = said["bytes"].as_u64();
            }
        }
    }
    if outcome == Outcome::Failed {
        (run.id, run.bytes) = (String::new(), None);
    }
    run
}

/// The JSON in the termination messages of a pod's containers, in the order in which they ran.
fn last_words(pod: &Value) -> Vec<Value> {
    ["/status/initContainerStatuses", "/status/containerStatuses"]
        .into_iter()
        .filter_map(|list| pod.pointer(list)?.as_array())
        .flatten()
        .flat_map(|status| [status.pointer("/lastState/terminated"), status.pointer("/state/terminated")])
        .flatten()
        .filter_map(|terminated| serde_json::from_str(terminated["message"].as_str()?.trim()).ok())
        .filter(Value::is_object)
        .collect()
}

fn text(value: &Value, pointer: &str) -> String {
    value.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned()
}

fn refused(what: &'static str, words: String) -> BackupError {
    BackupError::Server { what, words }
}

fn server(what: &'static str, error: Error) -> BackupError {
    match error {
        Error::Api(status) => refused(what, status.message),
        other => refused(what, other.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{Outcome, run};

    fn job(conditions: Value) -> Value {
        json!({"metadata": {"name": "order-db-backup-x1", "creationTimestamp": "2026-11-30T20:00:00Z"},
            "status": {"conditions": conditions}})
    }

    fn pod(at: &str, init: &Value, last: &Value) -> Value {
        let ended = |message: &Value| json!({"state": {"terminated": {"message": message.to_string()}}});
        json!({"metadata": {"creationTimestamp": at, "labels": {"batch.kubernetes.io/job-name": "order-db-backup-x1"}},
            "status": {"initContainerStatuses": [ended(init)], "containerStatuses": [ended(last)]}})
    }

    /// If this fails, somebody restores from a backup that is none.
    #[test]
    fn a_run_says_what_its_last_attempt_said() {
        let error = json!({"error": "No space left on the volume."});
        let done = json!({"id": "20261130T200000Z", "version": "16.14", "bytes": 172_327});
        let complete = json!([{"type": "Complete", "status": "True"}]);
        let failed = json!([{"type": "Failed", "status": "True", "message": "Job has reached the backoff limit"}]);
        let attempts = [pod("2", &done, &done), pod("1", &json!({}), &error)];
        let seen = run(&job(complete), &attempts);
        assert_eq!(
            (seen.outcome, seen.id.as_str(), seen.bytes),
            (Outcome::Complete, "20261130T200000Z", Some(172_327))
        );
        assert_eq!(seen.message, "");

        // The dump was good, and its upload failed.
        let seen = run(&job(failed.clone()), &[pod("1", &done, &error)]);
        assert_eq!((seen.outcome, seen.id.as_str(), seen.bytes), (Outcome::Failed, "", None));
        assert_eq!(seen.message, "No space left on the volume.");

        let seen = run(&job(failed), &[]);
        assert_eq!(seen.message, "Job has reached the backoff limit");
        let stranger = json!({"metadata": {"labels": {"batch.kubernetes.io/job-name": "other"}},
            "status": {"containerStatuses": [{"state": {"terminated": {"message": done.to_string()}}}]}});
        let seen = run(&job(json!([])), &[stranger, json!({}), json!({"status": {"containerStatuses": 3}})]);
        assert_eq!((seen.outcome, seen.id.as_str(), seen.message.as_str()), (Outcome::Running, "", ""));
    }
}
