//! Whether a Database goes from one profile to another.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::plan::{Plan, Profile};

use super::cause::has_both_profiles;
use super::{Desired, LiveObject};

/// What a move between profiles is called, when the members in the cluster run the other one.
pub(super) fn moved(desired: &Desired<'_>, live_set: &LiveObject) -> Option<&'static str> {
    let plan = desired.plan?;
    let (from, to) = match desired.base {
        Some(base) => (base.profile, plan.profile),
        None => (profile_of(plan, live_set)?, plan.profile),
    };
    match (from, to) {
        (Profile::Manual, Profile::Automatic) => Some(
            "from manual to automatic failover: every member is taken over by the new way of election; see the recipe in the documentation",
        ),
        (Profile::Automatic, Profile::Manual) => Some(
            "from automatic to manual failover: every member has to learn who the primary is; see the recipe in the documentation",
        ),
        _ => None,
    }
}

/// The profile that the live pod template was rendered for: the one whose peculiarities it shows. The engine says what
/// those are, by rendering both.
fn profile_of(plan: &Plan, live_set: &LiveObject) -> Option<Profile> {
    let mut other = plan.clone();
    other.profile = match plan.profile {
        Profile::Automatic => Profile::Manual,
        Profile::Manual => Profile::Automatic,
    };
    if !has_both_profiles(plan) {
        return None;
    }
    let live = live_marks(live_set.value.pointer("/spec/template/spec")?);
    let (ours, theirs) = (marks(plan), marks(&other));
    let shown =
        |marks: &BTreeSet<String>, but: &BTreeSet<String>| marks.difference(but).any(|mark| live.contains(mark));
    match (shown(&ours, &theirs), shown(&theirs, &ours)) {
        (false, true) => Some(other.profile),
        _ => Some(plan.profile),
    }
}

/// Names of containers, ports, variables and volumes.
fn marks(plan: &Plan) -> BTreeSet<String> {
    let set = crate::render::render(plan);
    let objects = set.objects();
    objects
        .iter()
        .find(|object| object.kind == "StatefulSet")
        .and_then(|object| object.value.pointer("/spec/template/spec"))
        .map(live_marks)
        .unwrap_or_default()
}

fn live_marks(pod: &Value) -> BTreeSet<String> {
    let list = |value: &Value, field: &str| value.get(field).and_then(Value::as_array).cloned().unwrap_or_default();
    let name = |value: &Value| value.get("name").and_then(Value::as_str).unwrap_or_default().to_owned();
    let mut marks = BTreeSet::new();
    for what in ["initContainers", "containers"] {
        for container in list(pod, what) {
            marks.insert(format!("container {}", name(&container)));
            marks.extend(list(&container, "ports").iter().map(|port| format!("port {}", name(port))));
            marks.extend(list(&container, "env").iter().map(|variable| format!("variable {}", name(variable))));
        }
    }
    marks.extend(list(pod, "volumes").iter().map(|volume| format!("volume {}", name(volume))));
    marks
}
