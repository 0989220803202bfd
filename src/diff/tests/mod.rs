//! Tables of changes and what is said about them.

mod fields;
mod found;
mod impact;
mod verdicts;

use serde_json::{Value, json};

use super::{
    Change, Comparison, Desired, LiveObject, LiveSet, Minor, ObjectReport, Orphans, Policy, Report, as_stored,
};
use crate::api::Database;
use crate::check::{Ground, check};
use crate::plan::Plan;
use crate::render::{Object, render};

/// A Database of three members with `changes` laid over it.
pub(super) fn plan(changes: &Value) -> Plan {
    let mut value = json!({
        "apiVersion": "app.example.com/v1alpha1",
        "kind": "Database",
        "metadata": {"name": "shop", "namespace": "demo"},
        "spec": {"engine": "postgresql", "version": "16", "replicas": 3, "storage": {"size": "10Gi"}},
    });
    lay_over(&mut value, changes);
    let database: Database = serde_json::from_value(value).unwrap();
    let checked = check(&database, &Ground::default(), None);
    checked.plan.unwrap_or_else(|| panic!("{:?}", checked.problems))
}

fn lay_over(base: &mut Value, changes: &Value) {
    match (base, changes) {
        (Value::Object(base), Value::Object(changes)) => {
            for (key, change) in changes {
                lay_over(base.entry(key.clone()).or_insert(Value::Null), change);
            }
        }
        (base, change) => *base = change.clone(),
    }
}

/// What a server would keep of it.
pub(super) fn stored(plan: &Plan) -> Vec<Value> {
    render(plan).objects().iter().map(|object| as_stored(&object.value, Minor::OLDEST)).collect()
}

pub(super) fn policy() -> Policy {
    Policy { secrets_read: true, kubernetes: Minor::OLDEST, orphans: Orphans::Everywhere }
}

pub(super) fn live(values: Vec<Value>) -> LiveSet {
    let objects = values.into_iter().map(|value| LiveObject::from_value(value).unwrap().into()).collect();
    LiveSet { source: "test".to_owned(), objects, ..LiveSet::default() }
}

pub(super) fn report(plan: &Plan, live: &LiveSet) -> Report {
    compare_with(plan, None, live, &policy())
}

pub(super) fn compare_with(plan: &Plan, base: Option<&Plan>, live: &LiveSet, policy: &Policy) -> Report {
    let objects: Vec<Object> = render(plan).objects();
    let mut comparison = Comparison::new(live, policy);
    let desired = Desired {
        plan: Some(plan),
        base,
        namespace: &plan.namespace,
        name: &plan.name,
        objects: &objects,
        origin: None,
    };
    comparison.add(&desired);
    comparison.finish(Vec::new())
}

/// The one object of a kind and name.
pub(super) fn object<'r>(report: &'r Report, kind: &str, name: &str) -> &'r ObjectReport {
    let mut all = report.databases.iter().flat_map(|database| &database.objects);
    all.find(|object| object.kind == kind && object.name == name).unwrap_or_else(|| panic!("no {kind} {name}"))
}

pub(super) fn drift(object: &ObjectReport) -> Vec<&Change> {
    object.changes.iter().filter(|change| change.bucket == super::Bucket::Drift).collect()
}

/// A stored object, to be changed by hand.
pub(super) fn of_kind<'v>(values: &'v mut [Value], kind: &str, name: &str) -> &'v mut Value {
    values.iter_mut().find(|value| value["kind"] == kind && value["metadata"]["name"] == name).unwrap()
}
