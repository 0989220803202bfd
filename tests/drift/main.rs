//! Every leaf of everything that is rendered, changed, removed and doubled in a copy: is it found?
//!
//! The copy is faked: it is what the tables of `diff` say that an API server would keep. What real servers keep and what
//! they accept is tested in `drift_on_servers`.

#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::panic,
    clippy::print_stderr,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a test may use files and programs, and ends where it fails"
)]
#![allow(unreachable_pub, reason = "files that several tests share")]

#[path = "../mutation/mod.rs"]
mod mutation;
#[path = "../plans/mod.rs"]
mod plans;

use std::collections::BTreeSet;

use dbrender::diff::{
    Bucket, Change, Comparison, Desired, FailOn, LiveObject, LiveSet, Minor, Orphans, Policy, Report, Verdict,
    as_stored, defaults,
};
use dbrender::plan::Plan;
use dbrender::render::Object;
use mutation::{Mutation, is_at, mutations};
use plans::Case;
use serde_json::Value;

fn policy(minor: Minor) -> Policy {
    Policy { secrets_read: true, kubernetes: minor, orphans: Orphans::Everywhere }
}

/// Without a Plan the fields of the Database are not named, which costs renderings.
fn compare(case: &Case, plan: Option<&Plan>, objects: &[Object], live: &LiveSet, minor: Minor) -> Report {
    let policy = policy(minor);
    let mut comparison = Comparison::new(live, &policy);
    comparison.add(&Desired {
        plan,
        base: None,
        namespace: &case.plan.namespace,
        name: &case.plan.name,
        objects,
        origin: None,
    });
    comparison.finish(Vec::new())
}

fn live(values: impl IntoIterator<Item = Value>) -> LiveSet {
    let mut set = LiveSet::default();
    for value in values {
        match LiveObject::from_value(value) {
            Ok(object) => set.objects.push(object.into()),
            Err(error) => set.broken.push(error),
        }
    }
    set
}

/// If this fails, somebody is told of a drift on the day of the installation.
#[test]
fn every_fixture_as_it_would_be_stored_is_in_sync() {
    for minor in [Minor::OLDEST, Minor::NEWEST] {
        for case in plans::all(|_| None) {
            let stored = case.objects.iter().map(|object| as_stored(&object.value, minor));
            let set = live(stored.chain(plans::secrets_of_others(&case.plan)));
            let report = compare(&case, Some(&case.plan), &case.objects, &set, minor);
            let changes: Vec<&Change> = changes(&report).collect();
            assert!(changes.is_empty(), "{}: {changes:#?}", case.name);
            assert_eq!(report.verdict(FailOn::Foreign), Verdict::InSync, "{}", case.name);
        }
    }
}

fn changes(report: &Report) -> impl Iterator<Item = &Change> {
    let objects = report.databases.iter().flat_map(|database| &database.objects);
    objects.flat_map(|object| &object.changes).filter(|change| change.bucket != Bucket::Ignored)
}

/// Fields that hold what their tables say and that a server would fill in again; removing them is no difference.
fn default_places() -> BTreeSet<(String, String)> {
    defaults(Minor::OLDEST).into_iter().map(|default| (default.kind.to_owned(), default.path)).collect()
}

/// If this fails, a change that somebody makes by hand is never seen.
#[test]
fn every_leaf_that_is_changed_removed_or_doubled_is_reported_at_its_path() {
    let defaults = default_places();
    let mut seen = BTreeSet::new();
    let mut filled = BTreeSet::new();
    let mut missed = Vec::new();
    let mut count = 0;
    for case in plans::all(|_| None) {
        for object in &case.objects {
            // Most fixtures share most objects.
            if !seen.insert(format!("{} {}", object.kind, object.value)) {
                continue;
            }
            let stored = as_stored(&object.value, Minor::OLDEST);
            for (mutation, changed) in mutations(&object.value, &stored) {
                count += 1;
                let report = compare(&case, None, std::slice::from_ref(object), &live([changed]), Minor::OLDEST);
                let found = changes(&report).any(|change| is_at(&change.path, &mutation));
                if found || report.summary.unknown > 0 {
                    continue;
                }
                // The last entry of a list that a server fills in again counts as the list.
                let pattern = mutation.pattern();
                let places = [pattern.as_str(), pattern.rsplit_once('/').map_or("", |(list, _)| list)];
                let is_filled =
                    places.iter().any(|place| defaults.contains(&(object.kind.clone(), (*place).to_owned())));
                if mutation.what == "removed" && is_filled {
                    filled.insert((object.kind.clone(), mutation.pattern()));
                } else {
                    missed.push(format!("{} {} {}: {}", case.name, object.kind, object.name, mutation));
                }
            }
        }
    }
    println!("{count} mutations of {} objects; removed and filled in again by a server: {filled:#?}", seen.len());
    assert!(missed.is_empty(), "{} of {count} missed:\n{}", missed.len(), missed[..missed.len().min(60)].join("\n"));
    assert!(count > 10_000, "only {count} mutations");
}

/// The mutations themselves: a test of the test.
#[test]
fn mutations_change_every_leaf() {
    let value = serde_json::json!({"kind": "Service", "spec": {"a": "x", "b": [1, {"c": true}], "d": {}}});
    let texts: Vec<String> =
        mutations(&value, &value).iter().map(|(mutation, _): &(Mutation, Value)| mutation.to_string()).collect();
    assert_eq!(
        texts,
        [
            "/spec/a changed",
            "/spec/a removed",
            "/spec/b/0 changed",
            "/spec/b/0 removed",
            "/spec/b/1/c changed",
            "/spec/b/1/c removed",
            "/spec/b/0 doubled",
            "/spec/b/1 doubled"
        ]
    );
}
