//! The status of a Database: a function of what is wanted, what is there and what stands in the way.

use std::cmp::Ordering;
use std::time::Duration;

use serde_json::Value;

use super::intent::Intent;
use crate::api::{self, Condition, DatabaseStatus, Phase};
use crate::engine;
use crate::plan::Plan;

/// Where the controller stands with a Database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Standing {
    /// Everything is as it is rendered.
    Applied,
    /// Something was written just now; what comes of it is seen at the next look.
    Applying,
    /// Somebody has to do something; why, in one word and in a sentence.
    Stalled(&'static str, String),
    /// It is tried again; what stood in the way.
    Retrying(String),
    /// Something is held back until later: why, in one word and in a sentence, and when to look again.
    Waiting(&'static str, String, Duration),
    /// `spec.paused`, or a controller that only watches.
    Watching(&'static str),
    /// It is being taken down: what is waited for, and whether a person has to act.
    Deleting(&'static str, String, bool),
}

/// What is in the cluster.
#[derive(Clone, Debug, Default)]
pub(super) struct Facts {
    /// The StatefulSet.
    pub(super) stateful_set: Option<Value>,
    /// The CronJob of backups.
    pub(super) cron_job: Option<Value>,
    /// Jobs of backups.
    pub(super) backups: Vec<Value>,
    /// Keys of the two Secrets that have no value yet, as `secret/key`. `None`: a Secret is not there.
    pub(super) missing_keys: Option<Vec<String>>,
    /// What differs from what is rendered; empty: nothing.
    pub(super) drift: String,
}

/// The status to write. `now` is used only for conditions that change.
pub(super) fn status(intent: &Intent, facts: &Facts, standing: &Standing, now: &str) -> DatabaseStatus {
    let members = Members::of(facts.stateful_set.as_ref());
    let mut conditions =
        vec![ready(intent, &members, standing), reconciling(intent, &members, standing), stalled(standing)];
    if let Some(plan) = &intent.plan {
        conditions.push(backup(plan, facts));
        conditions.push(credentials(facts));
        conditions.push(drifted(facts));
    }
    for condition in &mut conditions {
        condition.observed_generation = Some(intent.generation);
        let before = intent.status.conditions.iter().find(|c| c.condition_type == condition.condition_type);
        condition.last_transition_time = before
            .filter(|before| before.status == condition.status)
            .and_then(|before| before.last_transition_time.clone())
            .or_else(|| Some(now.to_owned()));
    }
    DatabaseStatus {
        phase: Some(phase(intent, &members, standing)),
        ready_replicas: Some(members.ready),
        endpoint: intent.plan.as_ref().map(endpoint).or_else(|| intent.status.endpoint.clone()),
        observed_generation: Some(intent.generation),
        conditions,
    }
}

/// What the StatefulSet says of its members.
#[derive(Clone, Copy, Debug, Default)]
struct Members {
    exist: bool,
    wanted: i32,
    ready: i32,
    /// Of the last revision that the StatefulSet controller has seen.
    updated: i32,
    /// Whether every member runs what is declared, and the StatefulSet controller has seen it.
    settled: bool,
}

impl Members {
    fn of(stateful_set: Option<&Value>) -> Members {
        let Some(set) = stateful_set else { return Members::default() };
        let number = |pointer: &str| set.pointer(pointer).and_then(Value::as_i64).unwrap_or_default();
        let small = |pointer: &str| i32::try_from(number(pointer)).unwrap_or(i32::MAX);
        let wanted = small("/spec/replicas");
        let updated = small("/status/updatedReplicas");
        Members {
            exist: true,
            wanted,
            ready: small("/status/readyReplicas"),
            updated,
            settled: number("/status/observedGeneration") >= number("/metadata/generation")
                && small("/status/replicas") == wanted
                && updated == wanted
                && set.pointer("/status/currentRevision") == set.pointer("/status/updateRevision"),
        }
    }

    fn all_ready(self) -> bool {
        self.exist && self.settled && self.wanted > 0 && self.ready == self.wanted
    }

    fn counted(self) -> String {
        let ready = format!("{} of {} members are ready", self.ready, self.wanted);
        match (self.settled, self.updated.cmp(&self.wanted)) {
            (true, _) => ready,
            (false, Ordering::Less) => {
                let current = match self.updated {
                    0 => "none of them runs".to_owned(),
                    1 => "1 of them runs".to_owned(),
                    more => format!("{more} of them run"),
                };
                format!("{ready}, {current} what is declared")
            }
            (false, _) => format!("{ready}, and the StatefulSet controller is not done with the last change"),
        }
    }
}

fn condition(of: &str, status: bool, reason: &str, message: impl Into<String>) -> Condition {
    debug_assert!(api::is_condition(of, reason), "{of} {reason} is not in the list of api/told.rs");
    Condition {
        condition_type: of.to_owned(),
        status: if status { "True" } else { "False" }.to_owned(),
        last_transition_time: None,
        reason: Some(reason.to_owned()),
        message: Some(message.into()),
        observed_generation: None,
    }
}

fn ready(intent: &Intent, members: &Members, standing: &Standing) -> Condition {
    let hibernates = intent.plan.as_ref().is_some_and(|plan| plan.hibernate);
    match standing {
        Standing::Deleting(reason, message, _) => condition("Ready", false, reason, message),
        _ if hibernates => condition("Ready", false, "Hibernating", "spec.hibernate is true: there are no members"),
        // What runs goes on to run, whatever stands in the way of a change.
        _ if !members.exist => condition("Ready", false, "NoMembers", "the StatefulSet is not there yet"),
        Standing::Stalled(reason, message) if !members.all_ready() => condition("Ready", false, reason, message),
        _ if members.all_ready() => condition("Ready", true, "MembersReady", members.counted()),
        _ => condition("Ready", false, "MembersNotReady", members.counted()),
    }
}

fn reconciling(intent: &Intent, members: &Members, standing: &Standing) -> Condition {
    let hibernates = intent.plan.as_ref().is_some_and(|plan| plan.hibernate);
    match standing {
        Standing::Deleting(reason, message, false) => condition("Reconciling", true, reason, message),
        Standing::Deleting(reason, _, true) | Standing::Stalled(reason, _) => {
            condition("Reconciling", false, reason, "it waits for a person")
        }
        Standing::Retrying(message) => condition("Reconciling", true, "Retrying", message),
        Standing::Applying => condition("Reconciling", true, "Applying", "objects were written"),
        Standing::Waiting(reason, message, _) => condition("Reconciling", true, reason, message),
        Standing::Watching(reason) => condition("Reconciling", false, reason, "nothing is written"),
        Standing::Applied if members.all_ready() || (hibernates && members.settled) => {
            condition("Reconciling", false, "Applied", "every object is as it is rendered")
        }
        Standing::Applied => condition("Reconciling", true, "MembersNotReady", members.counted()),
    }
}

fn stalled(standing: &Standing) -> Condition {
    match standing {
        Standing::Stalled(reason, message) | Standing::Deleting(reason, message, true) => {
            condition("Stalled", true, reason, message)
        }
        _ => condition("Stalled", false, "Proceeding", "nothing waits for a person"),
    }
}

fn backup(plan: &Plan, facts: &Facts) -> Condition {
    if !plan.backup.enabled {
        return condition("BackupReady", false, "Disabled", "spec.backup.enabled is false");
    }
    let text = |value: &Value, pointer: &str| value.pointer(pointer).and_then(Value::as_str).map(str::to_owned);
    let success = facts.cron_job.as_ref().and_then(|job| text(job, "/status/lastSuccessfulTime"));
    // RFC 3339 in UTC sorts as text.
    let failures = facts.backups.iter().filter_map(|job| Some((failed_at(job)?, text(job, "/metadata/name")?)));
    match (success, failures.max()) {
        (success, Some((at, job))) if success.as_ref().is_none_or(|success| *success < at) => {
            let last =
                success.map_or_else(|| "none has succeeded".to_owned(), |at| format!("the last good one is of {at}"));
            condition("BackupReady", false, "Failed", format!("Job {job} failed at {at}; {last}"))
        }
        (Some(at), _) => condition("BackupReady", true, "Succeeded", format!("the last backup is of {at}")),
        (None, _) => Condition {
            status: "Unknown".to_owned(),
            ..condition("BackupReady", false, "NoBackupYet", "none has been made yet")
        },
    }
}

/// When a Job failed, if it did.
pub(super) fn failed_at(job: &Value) -> Option<String> {
    finished(job, "Failed")
}

/// When a Job was completed, if it was.
pub(super) fn completed_at(job: &Value) -> Option<String> {
    finished(job, "Complete")
}

fn finished(job: &Value, how: &str) -> Option<String> {
    let conditions = job.pointer("/status/conditions")?.as_array()?;
    let condition = conditions.iter().find(|c| c["type"] == *how && c["status"] == "True")?;
    Some(condition["lastTransitionTime"].as_str().unwrap_or_default().to_owned())
}

fn credentials(facts: &Facts) -> Condition {
    match &facts.missing_keys {
        None => condition("CredentialsReady", false, "NoSecret", "a Secret of this Database is not there"),
        Some(missing) if missing.is_empty() => condition("CredentialsReady", true, "Filled", "every key has a value"),
        Some(missing) => {
            condition("CredentialsReady", false, "NotFilled", format!("without a value: {}", missing.join(", ")))
        }
    }
}

fn drifted(facts: &Facts) -> Condition {
    if facts.drift.is_empty() {
        condition("Drifted", false, "InSync", "every object is as it is rendered")
    } else {
        condition("Drifted", true, "Differences", facts.drift.clone())
    }
}

fn phase(intent: &Intent, members: &Members, standing: &Standing) -> Phase {
    match standing {
        _ if intent.deleting => Phase::Deleting,
        Standing::Stalled(..) if !members.all_ready() => Phase::Failed,
        _ if members.all_ready() => Phase::Running,
        // It has served before and somebody still does; the conditions say who does not.
        _ if members.ready > 0 && intent.status.phase == Some(Phase::Running) => Phase::Running,
        _ if members.exist => Phase::Creating,
        _ => Phase::Pending,
    }
}

fn endpoint(plan: &Plan) -> String {
    engine::by_name(plan.engine).map(|engine| engine.facts(plan).endpoint).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{Facts, Standing, status};
    use crate::api::{DatabaseStatus, Phase, PlatformSettings};
    use crate::check::ground;
    use crate::controller::intent::Intent;
    use crate::input::Schemas;
    use crate::problem::Problems;

    const NOW: &str = "2026-03-01T00:00:00Z";

    fn intent(before: Option<&DatabaseStatus>) -> Intent {
        let stored = json!({
            "apiVersion": "app.example.com/v1alpha1", "kind": "Database",
            "metadata": {"name": "order-db", "namespace": "production", "generation": 2},
            "spec": {"engine": "postgresql", "version": "17", "replicas": 3, "storage": {"size": "1Gi"}},
            "status": before.map(|status| serde_json::to_value(status).unwrap()),
        });
        let ground = ground(&PlatformSettings::default(), &mut Problems::new()).unwrap();
        Intent::of(&stored, &ground, &Schemas::new())
    }

    fn set(ready: i64, updated: i64, observed: i64) -> Value {
        json!({"metadata": {"generation": 2}, "spec": {"replicas": 3}, "status": {"observedGeneration": observed,
            "replicas": 3, "readyReplicas": ready, "updatedReplicas": updated,
            "currentRevision": "a", "updateRevision": "a"}})
    }

    fn facts(set: Option<Value>) -> Facts {
        Facts { stateful_set: set, missing_keys: Some(Vec::new()), ..Facts::default() }
    }

    fn of(status: &DatabaseStatus, name: &str) -> (String, String) {
        let found = status.conditions.iter().find(|c| c.condition_type == name).unwrap();
        (found.status.clone(), found.reason.clone().unwrap())
    }

    fn pair(status: &str, reason: &str) -> (String, String) {
        (status.to_owned(), reason.to_owned())
    }

    #[test]
    fn ready_means_every_member_runs_what_is_declared() {
        let rows = [
            (None, "False", "NoMembers", Phase::Pending),
            (Some(set(0, 3, 2)), "False", "MembersNotReady", Phase::Creating),
            (Some(set(2, 3, 2)), "False", "MembersNotReady", Phase::Creating),
            // the old members are ready, and the change was not even seen
            (Some(set(3, 3, 1)), "False", "MembersNotReady", Phase::Creating),
            (Some(set(3, 1, 2)), "False", "MembersNotReady", Phase::Creating),
            (Some(set(3, 3, 2)), "True", "MembersReady", Phase::Running),
        ];
        for (set, ready, reason, phase) in rows {
            let status = status(&intent(None), &facts(set), &Standing::Applied, NOW);
            assert_eq!(of(&status, "Ready"), pair(ready, reason));
            assert_eq!(status.phase, Some(phase));
            assert_eq!(of(&status, "Reconciling").0 == "True", ready == "False", "{reason}");
            assert_eq!(status.endpoint.as_deref(), Some("order-db.production.svc.cluster.local:5432"));
        }
    }

    #[test]
    fn members_that_are_ready_with_what_was_declared_before_are_told_apart() {
        let rows = [
            (set(2, 3, 2), "2 of 3 members are ready"),
            (set(3, 1, 2), "3 of 3 members are ready, 1 of them runs what is declared"),
            (set(2, 0, 2), "2 of 3 members are ready, none of them runs what is declared"),
            (set(3, 3, 1), "3 of 3 members are ready, and the StatefulSet controller is not done with the last change"),
        ];
        for (set, wanted) in rows {
            let status = status(&intent(None), &facts(Some(set)), &Standing::Applied, NOW);
            for name in ["Ready", "Reconciling"] {
                let found = status.conditions.iter().find(|c| c.condition_type == name).unwrap();
                assert_eq!(found.message.as_deref(), Some(wanted));
            }
        }
    }

    #[test]
    fn what_runs_goes_on_to_be_ready_while_a_change_of_it_is_refused() {
        let stalled = Standing::Stalled("Invalid", "spec.version: no".to_owned());
        let running = status(&intent(None), &facts(Some(set(3, 3, 2))), &stalled, NOW);
        assert_eq!((of(&running, "Ready").0, of(&running, "Stalled").0), ("True".to_owned(), "True".to_owned()));
        assert_eq!(running.phase, Some(Phase::Running));
        let never = status(&intent(None), &facts(None), &stalled, NOW);
        assert_eq!((of(&never, "Stalled").0, never.phase), ("True".to_owned(), Some(Phase::Failed)));
    }

    #[test]
    fn a_time_changes_with_the_status_of_a_condition_only() {
        let first = status(&intent(None), &facts(Some(set(0, 3, 2))), &Standing::Applied, NOW);
        let later = "2026-04-01T00:00:00Z";
        let same = status(&intent(Some(&first)), &facts(Some(set(1, 3, 2))), &Standing::Applied, later);
        let time = |status: &DatabaseStatus| status.conditions[0].last_transition_time.clone().unwrap();
        assert_eq!((time(&first), time(&same)), (NOW.to_owned(), NOW.to_owned()));
        let ready = status(&intent(Some(&same)), &facts(Some(set(3, 3, 2))), &Standing::Applied, later);
        assert_eq!(time(&ready), later);
        // nothing to write when nothing is new
        assert_eq!(status(&intent(Some(&ready)), &facts(Some(set(3, 3, 2))), &Standing::Applied, "x"), ready);
    }

    #[test]
    fn a_backup_that_failed_after_the_last_good_one_is_told() {
        let job = |at: &str| {
            json!({"metadata": {"name": "b-1"}, "status": {"conditions": [
                {"type": "Failed", "status": "True", "lastTransitionTime": at}]}})
        };
        let good = json!({"status": {"lastSuccessfulTime": "2026-02-02T00:00:00Z"}});
        let rows = [
            (None, vec![], "Unknown", "NoBackupYet"),
            (None, vec![job("2026-02-01T00:00:00Z")], "False", "Failed"),
            (Some(good.clone()), vec![job("2026-02-01T00:00:00Z")], "True", "Succeeded"),
            (Some(good.clone()), vec![job("2026-02-03T00:00:00Z"), job("2026-02-01T00:00:00Z")], "False", "Failed"),
        ];
        for (cron_job, backups, wanted, reason) in rows {
            let facts = Facts { cron_job, backups, ..facts(Some(set(3, 3, 2))) };
            assert_eq!(
                of(&status(&intent(None), &facts, &Standing::Applied, NOW), "BackupReady"),
                pair(wanted, reason)
            );
        }
    }
}
