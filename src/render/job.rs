//! What runs once: filling passwords, restoring a backup.

use k8s_openapi::api::batch::v1::{Job, JobSpec};
use k8s_openapi::api::core::v1::PodTemplateSpec;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;

use crate::engine::{Container, Image, Size, Task};

use super::Input;
use super::access::fills_by_job;
use super::metadata::{Component, hash, metadata, named, pod_labels};
use super::pod::build_pod_spec;

/// Longest wait for the Role and the Secrets, in seconds.
const FILL_DEADLINE: i64 = 15 * 60;
/// What the credentials Job may use.
const FILL: Size = Size::Fixed { cpu: 50, memory: 64 << 20 };

/// `<name>-credentials-<hash>` and `<name>-restore-<hash>`.
pub(super) fn build_jobs(input: &Input<'_>) -> Vec<Job> {
    let mut jobs = Vec::new();
    if fills_by_job(input) {
        jobs.push(build_credentials(input));
    }
    // A recovery to a moment is the work of the member itself, before its first start.
    if input.plan.restore.as_ref().is_some_and(|restore| restore.point_in_time.is_none()) {
        let account = input.plan.name.clone();
        let spec = build_task(input, Component::Restore, account, false, &input.facts.restore, 6);
        jobs.push(build_job(input, "restore", Component::Restore, spec, ""));
    }
    jobs
}

/// A Job's template cannot change, so its name holds a hash of its whole spec: another spec is another Job. `also`:
/// what it works on, where another content is other work.
fn build_job(input: &Input<'_>, suffix: &str, component: Component, spec: JobSpec, also: &str) -> Job {
    let text = serde_json::to_string(&spec).unwrap_or_default() + also;
    let name = format!("{}-{}", named(input.plan, suffix), hash(&text, 5));
    Job { metadata: metadata(input, name, component), spec: Some(spec), status: None }
}

fn build_credentials(input: &Input<'_>) -> Job {
    let plan = input.plan;
    let task = Task {
        init: Vec::new(),
        container: Container {
            args: vec![
                "--namespace".to_owned(),
                plan.namespace.clone(),
                "--engine".to_owned(),
                plan.engine.as_str().to_owned(),
                "--app-secret".to_owned(),
                plan.app_secret(),
                "--admin-secret".to_owned(),
                plan.admin_secret(),
                "--wait".to_owned(),
                format!("{FILL_DEADLINE}s"),
            ],
            ..Container::new("fill", Image::Helper, vec!["dbrender", "credentials", "fill"], FILL)
        },
        volumes: Vec::new(),
        // Longer than its own wait, so that its last sentence is what is read.
        deadline: 2 * FILL_DEADLINE,
    };
    let spec = build_task(input, Component::Credentials, named(plan, "credentials"), true, &task, 6);
    // The URI names the members; with others it has to be made anew.
    let members = input.facts.app_facts.get("hosts").map_or("", String::as_str);
    build_job(input, "credentials", Component::Credentials, spec, members)
}

/// The Job of a task. `retries` is how often a failed pod is followed by another.
pub(super) fn build_task(
    input: &Input<'_>,
    component: Component,
    account: String,
    token: bool,
    task: &Task,
    retries: i32,
) -> JobSpec {
    let Task { init, container, volumes, deadline } = task;
    let mut pod = build_pod_spec(input, account, token, init, std::slice::from_ref(container), volumes);
    // Each attempt keeps its own pod and log.
    pod.restart_policy = Some("Never".to_owned());
    JobSpec {
        active_deadline_seconds: Some(*deadline),
        backoff_limit: Some(retries),
        completion_mode: Some("NonIndexed".to_owned()),
        completions: Some(1),
        parallelism: Some(1),
        pod_replacement_policy: Some("TerminatingOrFailed".to_owned()),
        suspend: Some(false),
        template: PodTemplateSpec {
            metadata: Some(ObjectMeta { labels: Some(pod_labels(input, component)), ..ObjectMeta::default() }),
            spec: Some(pod),
        },
        ..JobSpec::default()
    }
}
