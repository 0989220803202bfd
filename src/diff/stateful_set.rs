//! What putting a StatefulSet right does to its members.

use std::borrow::Cow;

use serde_json::Value;

use crate::api::Quantity;
use crate::engine::VersionMove;
use crate::plan::Plan;

use super::Impact;
use super::around::Around;
use super::impact::{APPLY_AGAIN, Judged, grow_command};
use super::path::Step;
use super::walk::{Found, amount};

/// Members that a Database may have at most, so that a number from a file cannot make the procedure endless.
const MOST_MEMBERS: i64 = 7;

/// Class of a difference below `/spec`.
///
/// From 1.34 to 1.37 a server lets `minReadySeconds`, `ordinals`, `persistentVolumeClaimRetentionPolicy`, `replicas`,
/// `revisionHistoryLimit`, `template` and `updateStrategy` change, and nothing else.
pub(super) fn of_change(pattern: &str, found: &Found<'_>, around: &Around<'_>) -> Judged {
    match pattern {
        "/spec/replicas" => replicas(found, around),
        "/spec/volumeClaimTemplates/*/spec/resources/requests/storage" => storage(found, around),
        "/spec/volumeClaimTemplates/*/spec/storageClassName" => Judged::new(
            Impact::Migration,
            "volumes that exist stay in their class: the data has to move to new volumes, for example through a backup",
        ),
        "/spec/podManagementPolicy" | "/spec/serviceName" => {
            made_again(around, "a server does not let this field change")
        }
        _ if pattern.starts_with("/spec/selector") => made_again(around, "a selector cannot change"),
        _ if pattern.starts_with("/spec/volumeClaimTemplates") => made_again(around, "a claim template cannot change"),
        _ if pattern.starts_with("/spec/template") => template(pattern, found, around),
        _ if pattern.starts_with("/spec/updateStrategy") => {
            Judged::new(Impact::InPlace, "decides how the next update of the members goes")
        }
        _ if pattern.starts_with("/spec/persistentVolumeClaimRetentionPolicy") => {
            Judged::new(Impact::InPlace, "decides whether claims go with their members; rendered is that they stay")
        }
        _ => Judged::new(Impact::InPlace, "no member restarts for it"),
    }
}

/// The procedure that keeps pods and claims: what it deletes is the StatefulSet alone.
fn made_again(around: &Around<'_>, why: &str) -> Judged {
    let reason = format!("{why}: the StatefulSet is deleted and made again, while its pods and volumes stay");
    Judged::new(Impact::RecreateOrphan, reason).by([orphan_command(around), APPLY_AGAIN.to_owned()])
}

fn orphan_command(around: &Around<'_>) -> String {
    let name = around.live_set.map_or(around.name, |set| set.name.as_str());
    format!("kubectl delete statefulset {name} --namespace {} --cascade=orphan", around.namespace)
}

fn replicas(found: &Found<'_>, around: &Around<'_>) -> Judged {
    // What live lacks is the server's default.
    let (wanted, have) = (found.desired.as_i64().unwrap_or(1), found.live.as_i64().unwrap_or(1));
    let members = |first: i64, end: i64| match end - first {
        1 => format!("member {first}"),
        2 => format!("members {first} and {}", end - 1),
        _ => format!("members {first} to {}", end - 1),
    };
    if wanted == 0 {
        return Judged::new(Impact::RollingRestart, "stops every member; nothing is deleted");
    }
    if wanted > have {
        let kept = around.claims.iter().filter(|claim| (have..wanted).contains(&claim.ordinal)).count();
        let volumes = match (kept, wanted - have) {
            (0, _) if !around.index.knows_claims => "on volumes that were left, if there are any: no claims were seen",
            (0, 1) => "on a new volume",
            (0, _) => "on new volumes",
            (_, 1) => "on the volume that was left for it",
            _ => "on the volumes that were left for them",
        };
        return Judged::new(Impact::InPlace, format!("starts {} {volumes}", members(have, wanted)));
    }
    let mut reason =
        format!("{} leave, and there are fewer copies of the data; their claims stay", members(wanted, have));
    if wanted == 1 {
        reason.push_str("; a single member is left, so that a failure of its node stops the database");
    }
    Judged::new(Impact::DataRisk, reason)
}

fn storage(found: &Found<'_>, around: &Around<'_>) -> Judged {
    let (Some(wanted), Some(have)) = (amount(&found.desired), amount(&found.live)) else {
        return made_again(around, "a claim template cannot change");
    };
    if wanted < have {
        return Judged::new(
            Impact::Migration,
            "a volume cannot shrink; the server refuses it: make a new Database and restore a backup into it",
        );
    }
    let template = found.steps.iter().find_map(|step| match step {
        Step::Item(keys) => keys.first().map(|(_, name)| name.as_ref()),
        _ => None,
    });
    let class = around
        .wanted_set
        .and_then(|set| set.pointer("/spec/volumeClaimTemplates"))
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .find(|claim| claim.pointer("/metadata/name").and_then(Value::as_str) == template)
        .and_then(|claim| claim.pointer("/spec/storageClassName"))
        .and_then(Value::as_str)
        .unwrap_or_default();
    // Claims that nobody has seen may be there all the same: a dump need not hold them, and a commit never does.
    let set = around.live_set.map_or(around.name, |set| set.name.as_str());
    let of_template =
        |ordinal: i64| around.claims.iter().find(|claim| claim.ordinal == ordinal && Some(claim.template) == template);
    let (mut smaller, mut unseen) = (Vec::new(), Vec::new());
    for ordinal in 0..around.members().min(MOST_MEMBERS) {
        match of_template(ordinal).and_then(|claim| Some((claim.live.name.as_str(), size_of(&claim.live.value)?))) {
            Some((name, size)) if size < wanted => smaller.push(name.to_owned()),
            Some(_) => {}
            None => unseen.push(format!("{}-{set}-{ordinal}", template.unwrap_or_default())),
        }
    }
    let left =
        around.claims.iter().filter(|claim| claim.ordinal >= around.members() && Some(claim.template) == template);
    smaller.extend(
        left.filter(|claim| size_of(&claim.live.value).is_some_and(|size| size < wanted))
            .map(|claim| claim.live.name.clone()),
    );
    let which = match (smaller.is_empty(), unseen.is_empty()) {
        (true, true) => "",
        (false, true) => "the claims",
        (true, false) => "the claims, which were not seen,",
        (false, false) => "the claims, of which not all were seen,",
    };
    let growth = match (around.index.can_grow(class), which) {
        (_, "") => "the claims are that large already".to_owned(),
        (Some(true), which) => format!("{which} are patched first and grow while they are in use"),
        (None, which) => {
            format!(
                "{which} are patched first (whether StorageClass {class:?} lets them grow could not be read) and grow \
                 while they are in use"
            )
        }
        (Some(false), _) => {
            let reason =
                format!("StorageClass {class:?} does not let volumes grow: the data has to move to new volumes");
            return Judged::new(Impact::Migration, reason);
        }
    };
    let reason =
        format!("a claim template cannot change: {growth}, then the StatefulSet is made again while its pods stay");
    smaller.extend(unseen);
    let patches = smaller.iter().map(|claim| grow_command(around, claim, &wanted.canonical()));
    Judged::new(Impact::RecreateOrphan, reason).by(patches).by([orphan_command(around), APPLY_AGAIN.to_owned()])
}

/// Size that a claim asks for.
pub(super) fn size_of(claim: &Value) -> Option<Quantity> {
    amount(claim.pointer("/spec/resources/requests/storage")?)
}

fn template(pattern: &str, found: &Found<'_>, around: &Around<'_>) -> Judged {
    if around.replicas() == 0 {
        return Judged::new(Impact::InPlace, "takes effect when the members start again; none runs now");
    }
    let restart = restart(around.replicas());
    if pattern == "/spec/template/spec/containers/*/image"
        && let Some(judged) = version(found, around, &restart)
    {
        return judged;
    }
    Judged::new(Impact::RollingRestart, restart)
}

fn restart(replicas: i64) -> Cow<'static, str> {
    match replicas {
        1 => Cow::Borrowed("restarts the only member; nobody is connected while it starts"),
        count => Cow::Owned(format!(
            "restarts {count} members one after the other, the highest ordinal first; the primary hands over before it stops"
        )),
    }
}

/// Another image of the server: what that means for its files is for the engine to say.
fn version(found: &Found<'_>, around: &Around<'_>, restart: &str) -> Option<Judged> {
    let (engine, wanted) = (around.engine?, found.desired.as_str()?);
    if around.plan.is_some_and(|plan: &Plan| plan.images.server != wanted) {
        return None;
    }
    let from = version_in(found.live.as_str()?)?;
    let to = around.plan.map_or_else(|| version_in(wanted), |plan| Some(plan.version.exact.as_str()))?;
    if from == to {
        return None;
    }
    Some(match engine.version_move(from, to) {
        VersionMove::Migration(why) => Judged::new(Impact::Migration, format!("{from} to {to}: {why}")),
        VersionMove::Restart("") => Judged::new(Impact::RollingRestart, format!("{from} to {to}: {restart}")),
        VersionMove::Restart(note) => Judged::new(Impact::RollingRestart, format!("{from} to {to}: {note}; {restart}")),
    })
}

/// The version at the start of a tag: `16.15` of `docker.io/library/postgres:16.15-bookworm`.
fn version_in(image: &str) -> Option<&str> {
    let name = image.split_once('@').map_or(image, |(name, _)| name);
    let (_, tag) = name.rsplit_once('/').map_or(name, |(_, last)| last).split_once(':')?;
    let end = tag.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(tag.len());
    let version = tag.get(..end)?.trim_end_matches('.');
    version.starts_with(|c: char| c.is_ascii_digit()).then_some(version)
}

#[cfg(test)]
mod tests {
    use super::version_in;

    #[test]
    fn versions_are_read_off_tags() {
        for (image, version) in [
            ("docker.io/library/postgres:16.15-bookworm", Some("16.15")),
            ("mirror:5000/x/postgres:17.1@sha256:abc", Some("17.1")),
            ("mirror:5000/x/postgres", None),
            ("postgres:latest", None),
            ("mysql:8.4.10", Some("8.4.10")),
        ] {
            assert_eq!(version_in(image), version, "{image}");
        }
    }
}
