//! What is found, and what is not.

use serde_json::{Value, json};

use super::{compare_with, drift, live, object, of_kind, plan, policy, report, stored};
use crate::diff::{Bucket, FailOn, Gap, GapReason, Impact, LiveSet, Policy, Status, Verdict};

/// RD-38 to RD-41, RD-46: what a server fills in, assigns and counts is no difference.
#[test]
fn a_database_as_a_server_keeps_it_is_in_sync() {
    for changes in [
        json!({}),
        json!({"spec": {"failover": "Manual"}}),
        json!({"spec": {"replicas": 1, "backup": {"enabled": false}}}),
    ] {
        let plan = plan(&changes);
        let report = report(&plan, &live(stored(&plan)));
        let wrong: Vec<_> = report.databases[0]
            .objects
            .iter()
            .filter(|object| object.changes.iter().any(|change| change.bucket != Bucket::Ignored))
            .collect();
        assert!(wrong.is_empty(), "{wrong:#?}");
        assert_eq!(report.summary.differences(), 0);
        assert!(report.complete);
        assert_eq!(report.verdict(FailOn::Foreign), Verdict::InSync);
    }
}

#[test]
fn an_empty_cluster_lacks_everything() {
    let plan = plan(&json!({}));
    let report = report(&plan, &LiveSet::default());
    assert_eq!(report.summary.missing as usize, report.databases[0].objects.len());
    assert_eq!(report.impact, Impact::InPlace);
    assert_eq!(report.verdict(FailOn::Difference), Verdict::Differences);
}

/// RD-52: `POSTGRES_HOST_AUTH_METHOD=trust` was added by hand, and every tool called it synced.
#[test]
fn additions_inside_what_is_ours_are_drift_and_others_are_foreign() {
    let cases: [(&str, &str, &str, Value, Bucket); 18] = [
        (
            "StatefulSet",
            "shop",
            "/spec/template/spec/containers/0/env",
            json!({"name": "POSTGRES_HOST_AUTH_METHOD", "value": "trust"}),
            Bucket::Drift,
        ),
        ("StatefulSet", "shop", "/spec/template/spec/containers/0/args", json!("--unsafe"), Bucket::Drift),
        (
            "StatefulSet",
            "shop",
            "/spec/template/spec/containers/0/ports",
            json!({"containerPort": 1, "protocol": "TCP"}),
            Bucket::Drift,
        ),
        (
            "StatefulSet",
            "shop",
            "/spec/template/spec/containers/0/volumeMounts",
            json!({"name": "x", "mountPath": "/x"}),
            Bucket::Drift,
        ),
        (
            "StatefulSet",
            "shop",
            "/spec/template/spec/containers",
            json!({"name": "istio-proxy", "image": "x"}),
            Bucket::Foreign,
        ),
        (
            "StatefulSet",
            "shop",
            "/spec/template/spec/initContainers",
            json!({"name": "istio-init", "image": "x"}),
            Bucket::Foreign,
        ),
        (
            "StatefulSet",
            "shop",
            "/spec/template/spec/volumes",
            json!({"name": "istio-token", "emptyDir": {}}),
            Bucket::Foreign,
        ),
        (
            "StatefulSet",
            "shop",
            // One of ours could be there, and nothing says who wrote it.
            "/spec/template/spec/tolerations",
            json!({"key": "x", "operator": "Exists"}),
            Bucket::Drift,
        ),
        ("Service", "shop", "/spec/ports", json!({"port": 22, "protocol": "TCP"}), Bucket::Drift),
        ("Service", "shop", "/spec/selector/x", json!("y"), Bucket::Drift),
        ("Service", "shop", "/metadata/labels/x", json!("y"), Bucket::Foreign),
        ("Service", "shop", "/metadata/annotations/x", json!("y"), Bucket::Foreign),
        ("Service", "shop", "/metadata/finalizers", json!("example.com/x"), Bucket::Foreign),
        ("Role", "shop", "/rules", json!({"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}), Bucket::Drift),
        ("Role", "shop", "/rules/0/verbs", json!("delete"), Bucket::Drift),
        (
            "RoleBinding",
            "shop",
            "/subjects",
            json!({"kind": "User", "name": "eve", "apiGroup": "rbac.authorization.k8s.io"}),
            Bucket::Drift,
        ),
        ("NetworkPolicy", "shop", "/spec/ingress", json!({}), Bucket::Drift),
        ("ConfigMap", "shop-config", "/data/x", json!("y"), Bucket::Drift),
    ];
    let plan = plan(&json!({}));
    for (kind, name, pointer, value, bucket) in cases {
        let mut values = stored(&plan);
        add(of_kind(&mut values, kind, name), pointer, value);
        let report = report(&plan, &live(values));
        let object = object(&report, kind, name);
        let changes: Vec<_> = object.changes.iter().filter(|change| change.bucket != Bucket::Ignored).collect();
        assert_eq!(changes.len(), 1, "{kind} {pointer}: {changes:#?}");
        assert_eq!(changes[0].bucket, bucket, "{kind} {pointer}: {changes:#?}");
        let expected = if bucket == Bucket::Drift { Status::Drifted } else { Status::InSync };
        assert_eq!(object.status, expected, "{kind} {pointer}");
        let verdict = if bucket == Bucket::Drift { Verdict::Differences } else { Verdict::InSync };
        assert_eq!(report.verdict(FailOn::Difference), verdict, "{kind} {pointer}");
        assert_eq!(report.verdict(FailOn::Foreign), Verdict::Differences, "{kind} {pointer}");
    }
}

/// Appends to a list, or sets a key.
fn add(object: &mut Value, pointer: &str, value: Value) {
    let mut place = object;
    let steps: Vec<String> = pointer.split('/').skip(1).map(|step| step.replace("~1", "/")).collect();
    for step in &steps {
        place = match step.parse::<usize>() {
            Ok(index) => &mut place[index],
            Err(_) => &mut place[step.as_str()],
        };
    }
    let is_list = matches!(steps.last().unwrap().as_str(), "args" | "finalizers" | "tolerations");
    match place {
        Value::Array(items) => items.push(value),
        place => *place = if is_list { json!([value]) } else { value },
    }
}

/// RD-85, RD-86: what could not be read is never missing, and hides nothing else.
#[test]
fn what_could_not_be_read_is_unknown_and_the_rest_is_compared() {
    let plan = plan(&json!({}));
    let cases = [
        (GapReason::Forbidden, Status::Forbidden, false),
        (GapReason::Error, Status::Error, false),
        (GapReason::NotFound, Status::Missing, true),
        (GapReason::Skipped, Status::Skipped, true),
    ];
    for (reason, status, complete) in cases {
        let mut values = stored(&plan);
        values.retain(|value| value["kind"] != "StatefulSet");
        of_kind(&mut values, "Service", "shop")["spec"]["sessionAffinity"] = json!("ClientIP");
        let mut set = live(values);
        set.gaps.push(Gap {
            kind: "StatefulSet".to_owned(),
            namespace: Some("demo".to_owned()),
            reason,
            message: "the server said so".to_owned(),
        });
        let report = report(&plan, &set);
        let found = object(&report, "StatefulSet", "shop");
        assert_eq!((found.status, found.reason.as_ref()), (status, "the server said so"));
        assert_eq!(object(&report, "Service", "shop").status, Status::Drifted);
        assert_eq!(report.complete, complete, "{reason:?}");
        let verdict = if complete { Verdict::Differences } else { Verdict::Incomplete };
        assert_eq!(report.verdict(FailOn::Class(Impact::DataLoss)), if complete { Verdict::InSync } else { verdict });
        assert_eq!(report.problems.len(), usize::from(reason != GapReason::Skipped));
    }
}

#[test]
fn without_secrets_they_are_skipped_and_the_answer_is_complete() {
    let plan = plan(&json!({}));
    let mut values = stored(&plan);
    values.retain(|value| value["kind"] != "Secret");
    let policy = Policy { secrets_read: false, ..policy() };
    let report = compare_with(&plan, None, &live(values), &policy);
    assert_eq!(object(&report, "Secret", "shop-app").status, Status::Skipped);
    assert_eq!((report.summary.skipped, report.complete), (2, true));
    assert_eq!(report.verdict(FailOn::Difference), Verdict::InSync);
}

/// RD-44, RD-54: who did it.
#[test]
fn the_writer_is_named() {
    let plan = plan(&json!({}));
    for (manager, subresource, words) in [
        ("kube-controller-manager", "scale", "scaled by an autoscaler"),
        ("kubectl", "scale", "scaled by hand"),
        ("kubectl-edit", "", "written by hand"),
    ] {
        let mut values = stored(&plan);
        let set = of_kind(&mut values, "StatefulSet", "shop");
        set["spec"]["replicas"] = json!(0);
        set["metadata"]["managedFields"] = json!([{
            "manager": manager, "operation": "Update", "subresource": subresource, "time": "2026-11-30T11:00:00Z",
            "fieldsType": "FieldsV1", "fieldsV1": {"f:spec": {"f:replicas": {}}},
        }]);
        let report = report(&plan, &live(values));
        let found = drift(object(&report, "StatefulSet", "shop"));
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].changed_by.as_ref().unwrap().manager, manager);
        assert_eq!(found[0].field, Some("spec.replicas"));
        assert!(found[0].reason.starts_with(words), "{}", found[0].reason);
    }
}
