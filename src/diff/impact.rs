//! What putting a difference right does to the running database, and the commands where an apply is not enough.
//!
//! The classes are those of the design; each rule gives one line of reason. What a server lets change is the same in all
//! minors from 1.34 to 1.37; `tests/drift_on_servers.rs` asks servers.

use std::borrow::Cow;

use serde_json::Value;

use crate::render::{NAME_LABEL, Object};

use super::around::Around;
use super::path::{Step, pattern};
use super::secret::VANISHED;
use super::walk::Found;
use super::{Bucket, Impact, LiveObject, stateful_set};

/// A class, why, and what to type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Judged {
    pub(super) impact: Impact,
    pub(super) reason: Cow<'static, str>,
    pub(super) commands: Vec<String>,
}

impl Judged {
    pub(super) fn new(impact: Impact, reason: impl Into<Cow<'static, str>>) -> Judged {
        Judged { impact, reason: reason.into(), commands: Vec::new() }
    }

    pub(super) fn by(mut self, commands: impl IntoIterator<Item = String>) -> Judged {
        self.commands.extend(commands);
        self
    }
}

/// The comment in which each procedure ends.
pub(super) const APPLY_AGAIN: &str = "# then apply the manifests again";

/// Class of a difference inside an object.
pub(super) fn of_change(kind: &str, found: &Found<'_>, live: &LiveObject, around: &Around<'_>) -> Judged {
    if found.bucket == Bucket::Foreign {
        return Judged::new(Impact::None, "added by somebody else; an apply leaves it alone");
    }
    let pattern = pattern(&found.steps);
    let judged = match found.steps.as_slice() {
        [Step::Field("metadata"), Step::Field("deletionTimestamp")] => {
            Judged::new(of_deletion(kind).impact, "the object is being deleted; nothing stops that any more")
        }
        [Step::Field("metadata"), Step::Field("labels"), Step::Field(label)]
            if kind == "StatefulSet" && *label == NAME_LABEL =>
        {
            Judged::new(
                Impact::DataLoss,
                "another engine cannot read the data of this one: make a new Database instead",
            )
        }
        [Step::Field("metadata"), Step::Field("annotations"), Step::Field(_), _, ..] => {
            Judged::new(Impact::InPlace, "the members take it over within seconds")
        }
        [Step::Field("metadata"), Step::Field("annotations"), Step::Field(_)]
            if kind == "Service" && is_load_balancer(live) =>
        {
            Judged::new(Impact::InPlace, "the cloud's load balancer may act on it")
        }
        [Step::Field("metadata"), ..] => Judged::new(Impact::Metadata, "no pod restarts for it"),
        _ => match kind {
            "StatefulSet" => stateful_set::of_change(&pattern, found, around),
            _ => of_field(kind, &pattern, found, live, around),
        },
    };
    with_note(judged, found.note)
}

fn with_note(mut judged: Judged, note: &'static str) -> Judged {
    if !note.is_empty() && note != VANISHED {
        judged.reason = Cow::Owned(format!("{note}; {}", judged.reason));
    }
    judged
}

fn is_load_balancer(live: &LiveObject) -> bool {
    live.value.pointer("/spec/type").and_then(Value::as_str) == Some("LoadBalancer")
}

fn of_field(kind: &str, pattern: &str, found: &Found<'_>, live: &LiveObject, around: &Around<'_>) -> Judged {
    let in_place = |reason: &'static str| Judged::new(Impact::InPlace, reason);
    let name = live.name.as_str();
    match (kind, pattern) {
        ("ConfigMap" | "Secret", _) if live.value.get("immutable") == Some(&Value::Bool(true)) && kind == "ConfigMap" => {
            recreate(around, kind, name, "it is marked immutable in the cluster, so it has to be deleted and made again")
        }
        ("ConfigMap", _) => in_place("the running database follows what is mounted; scripts take effect with the next start of a pod"),
        ("CronJob", "/spec/suspend") if found.desired == Value::Bool(true) => {
            Judged::new(Impact::DataRisk, "no backups are made while it is suspended")
        }
        ("CronJob", "/spec/suspend") => in_place("backups are made again"),
        ("CronJob", _) => in_place("from the next backup on"),
        ("ExternalSecret", _) => in_place("the operator of the store reads it again"),
        ("Job", "/spec/completions" | "/spec/completionMode") => job_again(around, name),
        ("Job", pattern) if pattern.starts_with("/spec/template") || pattern.starts_with("/spec/selector") => {
            job_again(around, name)
        }
        ("Job", _) => in_place("a Job that has ended does not start again for it"),
        ("NetworkPolicy", _) => in_place("it decides about new connections at once"),
        ("PersistentVolumeClaim", "/spec/resources/requests/storage") => claim_size(around, live, found),
        ("PersistentVolumeClaim", _) => Judged::new(
            Impact::Migration,
            "a claim cannot change: the backups have to move to another volume",
        ),
        ("PodDisruptionBudget", _) => in_place("it decides about the next drain of a node"),
        ("Role", _) => in_place("the rights change at once"),
        ("RoleBinding", pattern) if pattern.starts_with("/roleRef") => {
            recreate(around, kind, name, "the role of a binding cannot change: the binding has to be deleted and made again")
        }
        ("RoleBinding", _) => in_place("the rights change at once"),
        ("Secret", "/type") => Judged::new(
            Impact::DataRisk,
            "the type of a Secret cannot change, and deleting the Secret loses the passwords in it: copy them first",
        ),
        ("Secret", _) if live.value.get("immutable") == Some(&Value::Bool(true)) => Judged::new(
            Impact::DataRisk,
            "it is marked immutable in the cluster, and deleting it loses the passwords in it: copy them first",
        ),
        ("Secret", _) if found.note == VANISHED => Judged::new(
            Impact::DataRisk,
            "a password that was filled inside the cluster is gone: pods do not start without it, and nobody else has it",
        )
        .by([super::secret::fill_command(around)]),
        ("Secret", _) => in_place("applications see it when they look again"),
        ("Service", "/spec/clusterIP") => recreate(
            around,
            kind,
            name,
            "the address of a Service cannot change: the Service has to be deleted and made again, and clients reconnect",
        ),
        ("Service", "/spec/type") => in_place("the way in from outside appears or goes"),
        ("Service", _) => in_place("clients are sent elsewhere at once"),
        ("ServiceAccount", _) => in_place("for pods that start from now on"),
        _ => in_place("the object is changed where it is"),
    }
}

fn recreate(around: &Around<'_>, kind: &str, name: &str, reason: &'static str) -> Judged {
    Judged::new(Impact::RecreateOrphan, reason).by([
        format!("kubectl delete {} {name} --namespace {}", kind.to_lowercase(), around.namespace),
        APPLY_AGAIN.to_owned(),
    ])
}

fn job_again(around: &Around<'_>, name: &str) -> Judged {
    recreate(
        around,
        "Job",
        name,
        "the template of a Job cannot change: it has to be deleted and made again, and runs again",
    )
}

/// A claim of backups, or of one member.
pub(super) fn claim_size(around: &Around<'_>, live: &LiveObject, found: &Found<'_>) -> Judged {
    let (Some(wanted), Some(have)) = (super::walk::amount(&found.desired), super::walk::amount(&found.live)) else {
        return Judged::new(Impact::Migration, "a claim without a size cannot be compared");
    };
    if wanted < have {
        return Judged::new(Impact::Migration, "a volume cannot shrink; the server refuses it");
    }
    let class = live.value.pointer("/spec/storageClassName").and_then(Value::as_str).unwrap_or_default();
    let grow = || [grow_command(around, &live.name, &wanted.canonical())];
    match around.index.can_grow(class) {
        Some(true) => Judged::new(Impact::InPlace, "the volume grows while it is in use").by(grow()),
        Some(false) => Judged::new(
            Impact::Migration,
            format!("StorageClass {class:?} does not let volumes grow: the data has to move to another volume"),
        ),
        None => Judged::new(
            Impact::InPlace,
            format!("the volume grows while it is in use, if StorageClass {class:?} allows it; that could not be read"),
        )
        .by(grow()),
    }
}

pub(super) fn grow_command(around: &Around<'_>, claim: &str, size: &str) -> String {
    let patch = format!("{{\"spec\":{{\"resources\":{{\"requests\":{{\"storage\":\"{size}\"}}}}}}}}");
    format!(
        "kubectl patch persistentvolumeclaim {claim} --namespace {} --type merge --patch '{patch}'",
        around.namespace
    )
}

/// What making a missing object does.
pub(super) fn of_missing(object: &Object, around: &Around<'_>) -> Judged {
    let in_place = |reason: &'static str| Judged::new(Impact::InPlace, reason);
    match object.kind.as_str() {
        "StatefulSet" if !around.claims.is_empty() => in_place("the members start on the volumes that are there"),
        "StatefulSet" if !around.index.knows_claims => {
            in_place("the members start on the volumes that were left for them, if there are any: no claims were seen")
        }
        "StatefulSet" => in_place("the members start with empty volumes"),
        "Secret" if around.was_filled() => Judged::new(
            Impact::DataRisk,
            "the passwords of a running database are gone: pods do not start without them, and nobody else has them",
        )
        .by([APPLY_AGAIN.to_owned(), super::secret::fill_command(around)]),
        "CronJob" => in_place("backups begin"),
        "Job" => in_place("it runs"),
        "PersistentVolumeClaim" => in_place("an empty volume for backups is made"),
        _ => in_place("it is made"),
    }
}

/// What deleting an object loses.
pub(super) fn of_deletion(kind: &str) -> Judged {
    match kind {
        "StatefulSet" => Judged::new(Impact::DataRisk, "deleting it stops the database; the volumes stay"),
        "PersistentVolumeClaim" => Judged::new(Impact::DataLoss, "deleting it deletes the data on its volume"),
        "Secret" => Judged::new(Impact::DataRisk, "deleting it loses the passwords of what is kept"),
        "CronJob" => Judged::new(Impact::DataRisk, "deleting it ends the backups"),
        "ExternalSecret" => Judged::new(Impact::InPlace, "deleting it leaves the Secret that it filled"),
        "Job" => Judged::new(Impact::Metadata, "deleting it loses its log"),
        "Service" => Judged::new(Impact::InPlace, "deleting it takes the name away from clients that still use it"),
        "NetworkPolicy" => Judged::new(Impact::InPlace, "deleting it lets everybody connect who could not"),
        _ => Judged::new(Impact::InPlace, "deleting it loses nothing that could not be rendered again"),
    }
}
