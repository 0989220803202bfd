//! Backups on a schedule.

use k8s_openapi::api::batch::v1::{CronJob, CronJobSpec, JobTemplateSpec};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;

use serde_json::{Map, Value, json};

use super::Input;
use super::job::build_task;
use super::metadata::{COMPONENT_LABEL, Component, DATABASE_LABEL, MANAGED_BY_LABEL, metadata, named, pod_labels};

/// Seconds that a start may be late. Without it a CronJob that misses a hundred starts stops for good.
const STARTING_DEADLINE: i64 = 3600;
/// Seconds that a finished Job is kept: nobody reads the log of a failure in its first minute.
const KEPT: i32 = 7 * 24 * 3600;

/// `<name>-backup`, where backups are on. A hibernating database has no server to dump.
pub(super) fn build_cron_jobs(input: &Input<'_>) -> Vec<CronJob> {
    let backup = &input.plan.backup;
    if !backup.enabled {
        return Vec::new();
    }
    let mut job = build_task(input, Component::Backup, input.plan.name.clone(), false, &input.facts.backup, 2);
    job.ttl_seconds_after_finished = Some(KEPT);
    vec![CronJob {
        metadata: metadata(input, named(input.plan, "backup"), Component::Backup),
        spec: Some(CronJobSpec {
            // Two dumps at once double the load and race in pruning.
            concurrency_policy: Some("Forbid".to_owned()),
            failed_jobs_history_limit: Some(3),
            job_template: JobTemplateSpec {
                metadata: Some(ObjectMeta {
                    labels: Some(pod_labels(input, Component::Backup)),
                    ..ObjectMeta::default()
                }),
                spec: Some(job),
            },
            schedule: backup.schedule.clone(),
            starting_deadline_seconds: Some(STARTING_DEADLINE),
            successful_jobs_history_limit: Some(3),
            suspend: Some(backup.suspend || input.plan.hibernate),
            time_zone: Some(backup.time_zone.clone()),
        }),
        status: None,
    }]
}

/// The Job that the CronJob of backups would make, from its template as it stands in a cluster. It has no name yet.
///
/// The labels by which it is found again are there, also where somebody has taken them from the template.
#[must_use]
pub fn backup_job(cron_job: &Value, namespace: &str, database: &str) -> Value {
    let template = &cron_job["spec"]["jobTemplate"];
    let mut labels: Map<String, Value> = template["metadata"]["labels"].as_object().cloned().unwrap_or_default();
    for (label, value) in
        [(DATABASE_LABEL, database), (COMPONENT_LABEL, Component::Backup.as_str()), (MANAGED_BY_LABEL, "dbrender")]
    {
        labels.insert(label.to_owned(), value.into());
    }
    json!({"apiVersion": "batch/v1", "kind": "Job", "metadata": {"namespace": namespace, "labels": labels},
        "spec": template["spec"]})
}
