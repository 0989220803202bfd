//! The matrix: what is changed in the Database, in which direction, and which class the report gives it.

use serde_json::{Value, json};

use super::{compare_with, drift, live, object, of_kind, plan, policy, report, stored};
use crate::diff::{Impact, LiveSet, Report, Status};
use crate::plan::Plan;

/// The cluster holds what `from` renders, with the members' claims; wanted is `to`.
pub(super) fn change(from: &Value, to: &Value) -> (Report, Plan) {
    let (from, to) = (plan(from), plan(to));
    let mut values = stored(&from);
    fill(&mut values);
    values.extend((0..from.replicas).map(|ordinal| claim(ordinal, "10Gi", "standard")));
    (compare_with(&to, None, &live(values), &policy()), to)
}

pub(super) fn fill(values: &mut [Value]) {
    for (name, keys) in [
        ("shop-app", &["password", "uri"][..]),
        (
            "shop-admin",
            &[
                "backup-password",
                "monitor-password",
                "patroni-password",
                "replication-password",
                "restore-password",
                "rewind-password",
            ],
        ),
    ] {
        let secret = of_kind(values, "Secret", name);
        for key in keys {
            secret["data"][key] = json!("aHVudGVyMg==");
        }
    }
}

pub(super) fn claim(ordinal: u8, size: &str, class: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "PersistentVolumeClaim",
        "metadata": {"name": format!("data-shop-{ordinal}"), "namespace": "demo",
            "labels": {"app.example.com/database": "shop", "app.kubernetes.io/component": "database"}},
        "spec": {"accessModes": ["ReadWriteOnce"], "storageClassName": class, "resources": {"requests": {"storage": size}}},
    })
}

/// What is changed, from what, to what, the class, and the kind, place and field that are named.
type Row = (&'static str, Value, Value, Impact, &'static str, &'static str, Option<&'static str>);

/// Section 7 of the study of tools: class of the whole report, the object that has it, and the field that is named.
#[test]
fn each_change_of_a_field_has_its_class() {
    let spec = |spec: Value| json!({"spec": spec});
    let cases: Vec<Row> = vec![
        (
            "schedule",
            spec(json!({})),
            spec(json!({"backup": {"schedule": "5 5 * * *"}})),
            Impact::InPlace,
            "CronJob",
            "/spec/schedule",
            Some("spec.backup.schedule"),
        ),
        (
            "time zone",
            spec(json!({})),
            spec(json!({"backup": {"timeZone": "Asia/Seoul"}})),
            Impact::InPlace,
            "CronJob",
            "/spec/timeZone",
            Some("spec.backup.timeZone"),
        ),
        (
            "retention",
            spec(json!({})),
            spec(json!({"backup": {"retention": 3}})),
            Impact::InPlace,
            "ConfigMap",
            "/data/backup",
            Some("spec.backup.retention"),
        ),
        (
            "suspended",
            spec(json!({})),
            spec(json!({"backup": {"suspend": true}})),
            Impact::DataRisk,
            "CronJob",
            "/spec/suspend",
            Some("spec.backup.suspend"),
        ),
        (
            "resumed",
            spec(json!({"backup": {"suspend": true}})),
            spec(json!({})),
            Impact::InPlace,
            "CronJob",
            "/spec/suspend",
            Some("spec.backup.suspend"),
        ),
        (
            "cpu",
            spec(json!({})),
            spec(json!({"resources": {"cpu": "2"}})),
            Impact::RollingRestart,
            "StatefulSet",
            "/spec/template/spec/containers/[name=postgresql]/resources/limits/cpu",
            Some("spec.resources.cpu"),
        ),
        (
            "cpu in another spelling",
            spec(json!({"resources": {"cpu": "1000m"}})),
            spec(json!({"resources": {"cpu": "1"}})),
            Impact::None,
            "",
            "",
            None,
        ),
        (
            "memory",
            spec(json!({})),
            spec(json!({"resources": {"memory": "2Gi"}})),
            Impact::RollingRestart,
            "StatefulSet",
            "/spec/template/spec/containers/[name=postgresql]/resources/limits/memory",
            Some("spec.resources.memory"),
        ),
        (
            "replicas up",
            spec(json!({})),
            spec(json!({"replicas": 5})),
            Impact::InPlace,
            "StatefulSet",
            "/spec/replicas",
            Some("spec.replicas"),
        ),
        (
            "replicas down",
            spec(json!({})),
            spec(json!({"replicas": 2})),
            Impact::DataRisk,
            "StatefulSet",
            "/spec/replicas",
            Some("spec.replicas"),
        ),
        (
            "hibernate",
            spec(json!({})),
            spec(json!({"hibernate": true})),
            Impact::DataRisk,
            "CronJob",
            "/spec/suspend",
            Some("spec.hibernate"),
        ),
        (
            "wake",
            spec(json!({"hibernate": true})),
            spec(json!({})),
            Impact::InPlace,
            "StatefulSet",
            "/spec/replicas",
            Some("spec.replicas"),
        ),
        (
            "major version up",
            spec(json!({})),
            spec(json!({"version": "17"})),
            Impact::Migration,
            "StatefulSet",
            "/spec/template/spec/containers/[name=postgresql]/image",
            Some("spec.version"),
        ),
        (
            "major version down",
            spec(json!({"version": "17"})),
            spec(json!({})),
            Impact::Migration,
            "StatefulSet",
            "/spec/template/spec/containers/[name=postgresql]/image",
            Some("spec.version"),
        ),
        (
            "size up",
            spec(json!({})),
            spec(json!({"storage": {"size": "20Gi"}})),
            Impact::RecreateOrphan,
            "StatefulSet",
            "/spec/volumeClaimTemplates/[name=data]/spec/resources/requests/storage",
            Some("spec.storage.size"),
        ),
        (
            "size down",
            spec(json!({})),
            spec(json!({"storage": {"size": "5Gi"}})),
            Impact::Migration,
            "StatefulSet",
            "/spec/volumeClaimTemplates/[name=data]/spec/resources/requests/storage",
            Some("spec.storage.size"),
        ),
        (
            "size in another spelling",
            spec(json!({"storage": {"size": "1024Gi"}})),
            spec(json!({"storage": {"size": "1Ti"}})),
            Impact::InPlace,
            "",
            "",
            None,
        ),
        (
            "class",
            spec(json!({})),
            spec(json!({"storage": {"storageClass": "other"}})),
            Impact::Migration,
            "StatefulSet",
            "/spec/volumeClaimTemplates/[name=data]/spec/storageClassName",
            Some("spec.storage.storageClass"),
        ),
        (
            "to manual",
            spec(json!({})),
            spec(json!({"failover": "Manual"})),
            Impact::Migration,
            "StatefulSet",
            "/spec/template/spec/containers/[name=postgresql]/ports/[containerPort=8008,protocol=TCP]",
            Some("spec.failover"),
        ),
        (
            "to automatic",
            spec(json!({"failover": "Manual"})),
            spec(json!({})),
            Impact::Migration,
            "StatefulSet",
            "/spec/template/spec/containers/[name=postgresql]/image",
            Some("spec.failover"),
        ),
        (
            "parameters, automatic",
            spec(json!({})),
            spec(json!({"parameters": {"work_mem": "8MB"}})),
            Impact::InPlace,
            "ConfigMap",
            "/metadata/annotations/config/postgresql/parameters/work_mem",
            Some("spec.parameters"),
        ),
        (
            "replication",
            spec(json!({})),
            spec(json!({"replication": "Asynchronous"})),
            Impact::InPlace,
            "ConfigMap",
            "/metadata/annotations/config/synchronous_mode",
            Some("spec.replication"),
        ),
        (
            "primary",
            spec(json!({"failover": "Manual"})),
            spec(json!({"failover": "Manual", "primary": 1})),
            Impact::InPlace,
            "ConfigMap",
            "/data/primary",
            Some("spec.primary"),
        ),
        (
            "service type",
            spec(json!({})),
            spec(json!({"service": {"type": "NodePort"}})),
            Impact::InPlace,
            "Service",
            "/spec/type",
            Some("spec.service.type"),
        ),
        (
            "access",
            spec(json!({})),
            spec(json!({"access": {"namespaces": {"names": ["a"]}}})),
            Impact::InPlace,
            "NetworkPolicy",
            "/spec/ingress/0/from/1",
            Some("spec.access.namespaces"),
        ),
        (
            "tolerations",
            spec(json!({})),
            spec(json!({"scheduling": {"tolerations": [{"key": "a", "operator": "Exists"}]}})),
            Impact::RollingRestart,
            "StatefulSet",
            "/spec/template/spec/tolerations",
            Some("spec.scheduling.tolerations"),
        ),
        (
            "priority class",
            spec(json!({})),
            spec(json!({"scheduling": {"priorityClassName": "a"}})),
            Impact::RollingRestart,
            "StatefulSet",
            "/spec/template/spec/priorityClassName",
            Some("spec.scheduling.priorityClassName"),
        ),
        (
            "deletion policy",
            spec(json!({})),
            spec(json!({"deletionPolicy": "Refuse"})),
            Impact::Metadata,
            "StatefulSet",
            "/metadata/annotations/argocd.argoproj.io~1sync-options",
            Some("spec.deletionPolicy"),
        ),
        (
            "monitoring",
            spec(json!({})),
            spec(json!({"monitoring": {"enabled": true}})),
            Impact::RollingRestart,
            "StatefulSet",
            "/spec/template/spec/containers/[name=exporter]",
            Some("spec.monitoring.enabled"),
        ),
    ];
    let mut wrong = Vec::new();
    for (what, from, to, class, kind, path, field) in cases {
        let (report, _) = change(&from, &to);
        if report.impact != class {
            let worst = report.databases[0].objects.iter().filter(|o| o.status.differs() && o.impact == report.impact);
            wrong.push(format!(
                "{what}: {} {:#?}",
                report.impact,
                worst.map(|o| (&o.kind, &o.name, o.status, drift(o))).collect::<Vec<_>>()
            ));
        }
        if kind.is_empty() {
            continue;
        }
        let all: Vec<_> =
            report.databases[0].objects.iter().filter(|o| o.kind == kind).flat_map(|o| drift(o)).collect();
        match all.iter().find(|change| change.path == path) {
            None => wrong.push(format!("{what}: no {path} in {:#?}", all.iter().map(|c| &c.path).collect::<Vec<_>>())),
            Some(change) if change.reason.is_empty() || change.field != field => {
                wrong.push(format!("{what}: {change:#?}"))
            }
            Some(_) => {}
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The same for the way from one commit to another, where both Plans are known and the field that differs is named.
#[test]
fn an_intended_change_names_the_field_that_was_edited() {
    let (from, to) =
        (plan(&json!({})), plan(&json!({"spec": {"backup": {"retention": 3}, "resources": {"memory": "2Gi"}}})));
    let values = crate::render::render(&from).objects().into_iter().map(|object| object.value).collect();
    let set = LiveSet { is_rendered: true, ..live(values) };
    let report = compare_with(&to, Some(&from), &set, &policy());
    let config = drift(object(&report, "ConfigMap", "shop-config"));
    assert_eq!(config.iter().find(|c| c.path == "/data/backup").unwrap().field, Some("spec.backup.retention"));
    let set = drift(object(&report, "StatefulSet", "shop"));
    assert!(set.iter().all(|change| change.field == Some("spec.resources.memory")), "{set:#?}");
    assert!(report.databases[0].objects.iter().all(|o| o.status != Status::Missing && o.status != Status::Orphaned));
}

fn grown(classes: &[Value]) -> Report {
    let (from, to) = (plan(&json!({})), plan(&json!({"spec": {"storage": {"size": "20Gi"}}})));
    let mut values = stored(&from);
    values.extend([claim(0, "20Gi", "standard"), claim(1, "10Gi", "standard"), claim(2, "10Gi", "standard")]);
    values.extend(classes.iter().cloned());
    compare_with(&to, None, &live(values), &policy())
}

fn class(grows: bool) -> Value {
    json!({"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": "standard"}, "allowVolumeExpansion": grows})
}

/// RD-59, RD-69: the way is printed, and it deletes no pod and no claim.
#[test]
fn growing_prints_the_procedure_that_keeps_the_pods() {
    let report = grown(&[class(true)]);
    let set = object(&report, "StatefulSet", "shop");
    assert_eq!(set.impact, Impact::RecreateOrphan);
    let patch = r#"kubectl patch persistentvolumeclaim data-shop-1 --namespace demo --type merge --patch '{"spec":{"resources":{"requests":{"storage":"20Gi"}}}}'"#;
    assert_eq!(
        set.procedure,
        [
            patch,
            &patch.replace("shop-1", "shop-2"),
            "kubectl delete statefulset shop --namespace demo --cascade=orphan",
            "# then apply the manifests again",
        ]
    );
    let claims = ["data-shop-0", "data-shop-1"].map(|name| object(&report, "PersistentVolumeClaim", name).status);
    assert_eq!(claims, [Status::InSync, Status::Drifted]);
    assert!(!format!("{report:?}").contains("--force"));
}

#[test]
fn a_class_that_does_not_grow_makes_it_a_migration_and_an_unread_one_is_said() {
    let report = grown(&[class(false)]);
    assert_eq!(object(&report, "StatefulSet", "shop").impact, Impact::Migration);
    let report = grown(&[]);
    let set = object(&report, "StatefulSet", "shop");
    assert_eq!(set.impact, Impact::RecreateOrphan);
    assert!(drift(set)[0].reason.contains("could not be read"), "{}", drift(set)[0].reason);
}

/// What a dump does not hold is unknown and not large enough. RD-59.
#[test]
fn claims_that_were_not_seen_are_not_said_to_be_large_enough() {
    let (from, to) = (plan(&json!({})), plan(&json!({"spec": {"storage": {"size": "20Gi"}}})));
    let of = |claims: Vec<Value>| {
        let mut values = stored(&from);
        values.push(class(true));
        values.extend(claims);
        let report = compare_with(&to, None, &live(values), &policy());
        let set = object(&report, "StatefulSet", "shop");
        (drift(set)[0].reason.clone().into_owned(), set.procedure.len())
    };
    let (reason, commands) = of(Vec::new());
    assert!(reason.contains("the claims, which were not seen, are patched first"), "{reason}");
    assert_eq!(commands, 3 + 2);
    let (reason, commands) = of(vec![claim(0, "20Gi", "standard"), claim(1, "10Gi", "standard")]);
    assert!(reason.contains("of which not all were seen"), "{reason}");
    assert_eq!(commands, 2 + 2);
    let (reason, commands) = of((0..3).map(|ordinal| claim(ordinal, "20Gi", "standard")).collect());
    assert!(reason.contains("that large already"), "{reason}");
    assert_eq!(commands, 2);
}

/// RD-62: `1Ti` to `1000Gi` is a shrink that looks like a rewrite.
#[test]
fn sizes_are_compared_as_amounts() {
    for (from, to, class) in [
        ("1Ti", "1000Gi", Impact::Migration),
        ("1Ti", "1024Gi", Impact::None),
        ("1000Gi", "1Ti", Impact::RecreateOrphan),
    ] {
        let (from, to) =
            (plan(&json!({"spec": {"storage": {"size": from}}})), plan(&json!({"spec": {"storage": {"size": to}}})));
        let report = report(&to, &live(stored(&from)));
        assert_eq!(object(&report, "StatefulSet", "shop").impact, class);
    }
}
