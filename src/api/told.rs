//! The words in which the controller speaks: conditions, their reasons, events and metrics. They are a contract, because
//! alerts and scripts wait for them, so they stand in one list: the controller writes no other, `dbrender explain` and
//! the documentation say these texts.

/// A word, and what it means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Told {
    /// The word.
    pub name: &'static str,
    /// One or two sentences.
    pub text: &'static str,
}

/// A metric of the controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Metric {
    /// Its name, with the prefix.
    pub name: &'static str,
    /// `counter` or `gauge`.
    pub kind: &'static str,
    /// Its labels; all have closed sets of values.
    pub labels: &'static [&'static str],
    /// A sentence: the `# HELP` of the metric.
    pub text: &'static str,
}

const fn told(name: &'static str, text: &'static str) -> Told {
    Told { name, text }
}

const fn metric(name: &'static str, kind: &'static str, labels: &'static [&'static str], text: &'static str) -> Metric {
    Metric { name, kind, labels, text }
}

/// Types of conditions in the status of a Database.
pub const CONDITIONS: &[Told] = &[
    told("Ready", "Whether every member is ready and runs what is declared."),
    told("Reconciling", "Whether the controller is on the way to what is declared, or tries again."),
    told("Stalled", "Whether a person has to act: it does not get better by waiting. The message says what to do."),
    told("BackupReady", "Whether the newest backup that ended has succeeded. Unknown before the first one."),
    told("CredentialsReady", "Whether every password has a value. Pods are held back without one."),
    told("Drifted", "Whether an object is not as it is rendered. The message names them, with the class of each."),
];

/// Reasons of conditions, and of the events that tell of their change.
pub const REASONS: &[Told] = &[
    told("MembersReady", "Every member is ready."),
    told("MembersNotReady", "Some members are not ready, or do not run what is declared yet."),
    told("NoMembers", "The StatefulSet is not there yet."),
    told("Hibernating", "spec.hibernate is true: there are no members, and everything else is kept."),
    told("Applied", "Every object is as it is rendered."),
    told("Applying", "Objects were written; what comes of it is seen at the next look."),
    told(
        "Retrying",
        "Something stood in the way. It is tried again by itself, with growing pauses of at most five minutes.",
    ),
    told("Paused", "spec.paused is true: nothing is written but the status."),
    told("Observing", "The controller runs with --mode observe: nothing is written but the status."),
    told("Proceeding", "Nothing waits for a person."),
    told("Invalid", "The Database or the platform file is wrong. It waits for its next change."),
    told(
        "NeedsProcedure",
        "A difference cannot be put right by an apply. The message has the commands; `dbrender diff` has them too.",
    ),
    told(
        "Contested",
        "Another tool applies the same field and one of the two has to stop, or an object of that name was there before; nothing is overwritten.",
    ),
    told("Refused", "The API server refuses an object: a right, a quota, an admission policy, or the object itself."),
    told("VolumeCannotGrow", "The server refuses a larger claim: the storage class may not allow it, or a quota."),
    told(
        "RolloutQueued",
        "A change restarts the members. It waits for its turn: --max-rollouts Databases restart now.",
    ),
    told(
        "MembersGoing",
        "The StatefulSet was deleted. It is made anew when Kubernetes has removed the pods that it owned, which the message names.",
    ),
    told("OutsideWindow", "A change restarts the members. It waits for app.example.com/maintenance-window."),
    told(
        "RolloutFailed",
        "The members did not become ready in time after a change, so no other Database restarts. Mend it, then set its annotation app.example.com/resume-rollouts.",
    ),
    told("RolloutsStopped", "A change restarts the members. It waits because another Database has RolloutFailed."),
    told("DeletionRefused", "spec.deletionPolicy is Refuse: everything goes on as it was."),
    told("FinalBackup", "The last backup before the deletion is made."),
    told("FinalBackupFailed", "The last backup before the deletion failed, and everything is still there."),
    told("FinalBackupImpossible", "The database hibernates, so that no last backup can be made."),
    told("Releasing", "What is not kept gets an owner and goes with the Database."),
    told("Disabled", "spec.backup.enabled is false."),
    told("NoBackupYet", "No backup has ended yet."),
    told("Succeeded", "The newest backup that ended has succeeded."),
    told("Failed", "The newest backup that ended has failed. The message names its Job and the last good one."),
    told("NoSecret", "A Secret of the Database is not there."),
    told("NotFilled", "Keys of the Secrets have no value yet. The message names them."),
    told("Filled", "Every key of the Secrets has a value."),
    told("InSync", "Every object is as it is rendered."),
    told("Differences", "Some objects differ. The message names them."),
];

/// Reasons of events beside those of conditions.
pub const EVENTS: &[Told] = &[
    told(
        "ChangeUndone",
        "Somebody had changed a field by hand, and it is as declared again. The note names who and what.",
    ),
    told(
        "VolumesGrow",
        "The claims of the members were enlarged, and the StatefulSet is made again around running pods.",
    ),
    told("CredentialsFilled", "Passwords were made in the Secrets that the note names."),
    told("CredentialsRotated", "Passwords were made anew, because app.example.com/rotate-credentials asked for it."),
    told("RolloutsResumed", "A person has said that other Databases may restart again."),
];

/// Metrics at `/metrics`.
pub const METRICS: &[Metric] = &[
    metric("dbrender_reconciles_total", "counter", &["result"], "Looks at a Database, by what came of them."),
    metric("dbrender_applies_total", "counter", &[], "Objects that were applied."),
    metric("dbrender_deletes_total", "counter", &[], "Objects that were deleted."),
    metric("dbrender_forced_total", "counter", &[], "Applies that took fields from another writer."),
    metric("dbrender_status_writes_total", "counter", &[], "Writes of a Database's status."),
    metric("dbrender_admission_reviews_total", "counter", &["result"], "Databases that the webhook was asked about."),
    metric(
        "dbrender_webhook_certificate_end_seconds",
        "gauge",
        &[],
        "When the webhook's certificate ends; 0: there is none.",
    ),
    metric("dbrender_leader", "gauge", &["shard"], "Whether this process writes for its part of the fleet."),
    metric("dbrender_databases", "gauge", &["phase"], "Databases by phase."),
    metric("dbrender_databases_stalled", "gauge", &[], "Databases that wait for a person."),
];

/// Whether the list has this type of condition with this reason.
#[must_use]
pub fn is_condition(of: &str, reason: &str) -> bool {
    CONDITIONS.iter().any(|condition| condition.name == of) && REASONS.iter().any(|known| known.name == reason)
}

/// Whether the list has this reason of an event.
#[must_use]
pub fn is_event(reason: &str) -> bool {
    REASONS.iter().chain(EVENTS).any(|known| known.name == reason)
}

/// The metric of a name.
#[must_use]
pub fn metric_of(name: &str) -> Option<&'static Metric> {
    METRICS.iter().find(|metric| metric.name == name)
}
