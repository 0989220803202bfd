//! What is in the cluster and carries our labels, but is not rendered.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::render::MANAGED_BY_LABEL;

use super::around::{Around, Claim, engine_label, label};
use super::compare::{Comparison, empty_report, worst};
use super::impact::{self, Judged};
use super::path::Step;
use super::stateful_set::size_of;
use super::walk::Found;
use super::{Bucket, Change, DatabaseReport, Impact, KINDS, LiveObject, ObjectReport, Op, Orphans, Status};

/// Value of the managed-by label on everything that we render.
const OURS: &str = "dbrender";

/// The claim of a member, which Kubernetes made from the template and nobody renders.
pub(super) fn member_claim(claim: &Claim<'_>, around: &Around<'_>) -> ObjectReport {
    let live = claim.live;
    let mut report = empty_report(identity(live), Status::InSync);
    report.reason = Cow::Borrowed("the volume of a member");
    if claim.ordinal >= around.members() {
        report.status = Status::Retained;
        report.reason = Cow::Borrowed(
            "the volume of a member that is not wanted now: its data is used again when that member comes back",
        );
        return report;
    }
    let pointer = "/spec/resources/requests/storage";
    let wanted = around
        .wanted_set
        .and_then(|set| set.pointer("/spec/volumeClaimTemplates"))
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .find(|template| template.pointer("/metadata/name").and_then(Value::as_str) == Some(claim.template));
    let (Some(wanted), Some(have)) = (wanted.and_then(|w| w.pointer(pointer)), live.value.pointer(pointer)) else {
        return report;
    };
    let (Some(size), Some(has)) = (super::walk::amount(wanted), size_of(&live.value)) else { return report };
    if size == has {
        return report;
    }
    let found = Found {
        steps: ["spec", "resources", "requests", "storage"].map(Step::Field).to_vec(),
        bucket: if size > has { Bucket::Drift } else { Bucket::Foreign },
        op: Op::Replace,
        desired: wanted.clone(),
        live: have.clone(),
        note: "",
    };
    let (impact, reason, commands) = if size > has {
        let Judged { impact, reason, commands } = impact::claim_size(around, live, &found);
        (impact, reason, commands)
    } else {
        (Impact::None, Cow::Borrowed("larger than rendered; a volume cannot shrink"), Vec::new())
    };
    if size > has {
        report.status = Status::Drifted;
        report.impact = impact;
        report.procedure = commands;
    }
    report.changes.push(Change {
        path: pointer.to_owned(),
        bucket: found.bucket,
        op: found.op,
        desired: found.desired,
        live: found.live,
        impact,
        reason,
        field: around.plan.map(|_| "spec.storage.size"),
        changed_by: None,
        count: 1,
    });
    report
}

/// Something of a Database that goes on living. What holds data or passwords is kept on purpose.
pub(super) fn of_living(live: &LiveObject, around: &Around<'_>) -> Option<ObjectReport> {
    if !is_candidate(live) {
        return None;
    }
    let is_store = around.engine.is_some_and(|engine| {
        live.kind == "ConfigMap"
            && live
                .name
                .strip_prefix(around.name)
                .and_then(|rest| rest.strip_prefix('-'))
                .is_some_and(|rest| engine.run_config_map_suffixes().contains(&rest))
    });
    let kept = match live.kind.as_str() {
        "PersistentVolumeClaim" => Some("no longer rendered, and kept: it may hold data or backups"),
        "Secret" => Some("no longer rendered, and kept: it may hold passwords"),
        _ if is_store => Some("what members keep at run time in another profile"),
        _ => None,
    };
    Some(match kept {
        Some(reason) => {
            let mut report = empty_report(identity(live), Status::Retained);
            report.reason = Cow::Borrowed(reason);
            report
        }
        None => orphan(live),
    })
}

/// Databases of which only the cluster knows.
pub(super) fn of_gone(comparison: &mut Comparison<'_>) {
    let wanted: BTreeSet<String> = comparison.databases.keys().map(|(namespace, _)| namespace.clone()).collect();
    let mut broken = Vec::new();
    let mut gone: BTreeMap<(String, String), DatabaseReport> = BTreeMap::new();
    for (namespace, name) in comparison.index.databases() {
        let in_scope = match comparison.policy.orphans {
            Orphans::OfTheseDatabases => false,
            Orphans::OfTheseNamespaces => wanted.contains(namespace),
            Orphans::Everywhere => true,
        };
        if !in_scope || comparison.databases.contains_key(&(namespace.to_owned(), name.to_owned())) {
            continue;
        }
        let mut engine = String::new();
        let mut objects = Vec::new();
        for &place in comparison.index.labelled(namespace, name) {
            match comparison.index.open(place) {
                Some(Ok(live)) if is_candidate(&live) && !comparison.seen[place] => {
                    if let Some(word) = engine_label(&live) {
                        word.clone_into(&mut engine);
                    }
                    objects.push(orphan(&live));
                }
                Some(Err(error)) => broken.push(error),
                _ => {}
            }
        }
        if !objects.is_empty() {
            let report = DatabaseReport {
                namespace: namespace.to_owned(),
                name: name.to_owned(),
                engine,
                impact: worst(&objects),
                origin: None,
                objects,
            };
            gone.insert((report.namespace.clone(), report.name.clone()), report);
        }
    }
    comparison.databases.extend(gone);
    comparison.add_broken(&broken);
}

fn orphan(live: &LiveObject) -> ObjectReport {
    let mut report = empty_report(identity(live), Status::Orphaned);
    let Judged { impact, reason, .. } = impact::of_deletion(&live.kind);
    report.impact = impact;
    report.reason = reason;
    report
}

/// A rendered kind with our label and no controller that owns it. Claims of members are made by Kubernetes and carry only
/// the labels of the selector.
fn is_candidate(live: &LiveObject) -> bool {
    let ours = label(live, MANAGED_BY_LABEL) == Some(OURS) || live.kind == "PersistentVolumeClaim";
    ours && KINDS.iter().any(|kind| kind.kind == live.kind) && !has_controller(live)
}

fn has_controller(live: &LiveObject) -> bool {
    let owners = live.value.pointer("/metadata/ownerReferences").and_then(Value::as_array);
    owners.into_iter().flatten().any(|owner| {
        // Our own controller owns what it applies; that does not make it a controller's product.
        owner.get("controller") == Some(&Value::Bool(true))
            && owner.get("kind").and_then(Value::as_str) != Some("Database")
    })
}

fn identity(live: &LiveObject) -> (&str, &str, &str, &str) {
    (&live.api_version, &live.kind, &live.namespace, &live.name)
}
