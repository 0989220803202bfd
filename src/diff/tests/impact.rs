//! The matrix: what is changed in the Database, in which direction, and which class the report gives it.

use serde_json::{Value, json};

use super::{compare_with, drift, live, object, of_kind, plan, policy, report, stored};
use crate::diff::{Impact, LiveSet, Op, Report, Status};
use crate::plan::Plan;

/// The cluster holds what `from` renders, with the members' claims; wanted is `to`.
fn change(from: &Value, to: &Value) -> (Report, Plan) {
    let (from, to) = (plan(from), plan(to));
    let mut values = stored(&from);
    fill(&mut values);
    values.extend((0..from.replicas).map(|ordinal| claim(ordinal, "10Gi", "standard")));
    (compare_with(&to, None, &live(values), &policy()), to)
}

fn fill(values: &mut [Value]) {
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

fn claim(ordinal: u8, size: &str, class: &str) -> Value {
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

/// RD-73, RD-67: what is no longer rendered is listed with what deleting it loses, and data is never an orphan of a
/// Database that lives.
#[test]
fn what_is_no_longer_rendered_is_listed() {
    let (report, _) =
        change(&json!({"spec": {"backup": {"enabled": true}}}), &json!({"spec": {"backup": {"enabled": false}}}));
    let job = object(&report, "CronJob", "shop-backup");
    assert_eq!((job.status, job.impact), (Status::Orphaned, Impact::DataRisk));
    assert!(job.reason.contains("ends the backups"));

    let (report, _) = change(&json!({"spec": {"replicas": 3}}), &json!({"spec": {"replicas": 1}}));
    assert_eq!(object(&report, "PersistentVolumeClaim", "data-shop-0").status, Status::InSync);
    assert_eq!(object(&report, "PersistentVolumeClaim", "data-shop-2").status, Status::Retained);
    assert_eq!(object(&report, "PodDisruptionBudget", "shop").status, Status::Orphaned);
    assert_eq!(object(&report, "Service", "shop-ro").status, Status::Orphaned);

    let (report, _) = change(&json!({}), &json!({"spec": {"failover": "Manual"}}));
    assert_eq!(object(&report, "ConfigMap", "shop-patroni-leader").status, Status::Retained);

    let (report, _) =
        change(&json!({}), &json!({"spec": {"credentials": {"appSecretName": "a", "adminSecretName": "b"}}}));
    assert_eq!(object(&report, "Secret", "shop-app").status, Status::Retained);
    assert_eq!(object(&report, "Secret", "a").status, Status::Missing);
}

/// RD-67: a renamed Database starts empty, and the old one is an orphan whose volumes hold the data.
#[test]
fn a_database_that_only_the_cluster_knows_is_an_orphan() {
    let old = plan(&json!({}));
    let new = plan(&json!({"metadata": {"name": "store"}}));
    let mut values = stored(&old);
    values.push(claim(0, "10Gi", "standard"));
    let report = report(&new, &live(values));
    assert_eq!(report.databases.len(), 2);
    assert!(report.databases.iter().any(|database| database.name == "shop" && database.engine == "postgresql"));
    assert_eq!(object(&report, "PersistentVolumeClaim", "data-shop-0").status, Status::Orphaned);
    assert_eq!(object(&report, "PersistentVolumeClaim", "data-shop-0").impact, Impact::DataLoss);
    assert_eq!(object(&report, "StatefulSet", "store").reason, "the members start with empty volumes");
    assert_eq!(report.impact, Impact::DataLoss);
}

/// What a controller made, and what only looks like ours, is not ours to delete.
#[test]
fn what_is_not_ours_is_no_orphan() {
    let plan = plan(&json!({}));
    let mut values = stored(&plan);
    let labels = json!({"app.example.com/database": "shop", "app.kubernetes.io/managed-by": "dbrender"});
    let owner = json!([{"kind": "CronJob", "name": "shop-backup", "controller": true}]);
    values.push(json!({"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "shop-backup-1", "namespace": "demo", "labels": labels, "ownerReferences": owner}}));
    values.push(json!({"apiVersion": "batch/v1", "kind": "CronJob", "metadata": {"name": "shop-backup2", "namespace": "demo", "labels": {"app.example.com/database": "shop"}}}));
    values.push(json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "shop-0", "namespace": "demo", "labels": labels}}));
    let report = report(&plan, &live(values));
    assert_eq!(report.summary.differences(), 0, "{:?}", report.summary);
}

/// Design, section 6: vanished passwords are a risk, and passwords that were never there are not.
#[test]
fn keys_that_are_filled_in_the_cluster() {
    let plan = plan(&json!({}));
    let fresh = report(&plan, &live(stored(&plan)));
    let secret = object(&fresh, "Secret", "shop-app");
    assert_eq!((secret.status, secret.reason.as_ref()), (Status::InSync, "not filled yet"));

    // Any one of these shows that there have been passwords.
    let evidence: [fn(&mut [Value]); 3] = [
        |values| of_kind(values, "StatefulSet", "shop")["status"]["readyReplicas"] = json!(1),
        |values| {
            let job = values.iter_mut().find(|value| value["kind"] == "Job").unwrap();
            job["status"]["conditions"] = json!([{"type": "Complete", "status": "True"}]);
        },
        |values| {
            let fields = json!([{"manager": "dbrender-credentials", "operation": "Update", "fieldsV1": {"f:data": {"f:uri": {}}}}]);
            of_kind(values, "Secret", "shop-app")["metadata"]["managedFields"] = fields;
        },
    ];
    for show in evidence {
        let mut values = stored(&plan);
        show(&mut values);
        let report = report(&plan, &live(values));
        let secret = object(&report, "Secret", "shop-app");
        assert_eq!((secret.status, secret.impact), (Status::Drifted, Impact::DataRisk));
        let paths: Vec<&str> = drift(secret).iter().map(|change| change.path.as_str()).collect();
        assert_eq!(paths, ["/data/password", "/data/uri"]);
        assert_eq!(
            secret.procedure,
            [
                "dbrender credentials fill --namespace demo --engine postgresql --app-secret shop-app --admin-secret shop-admin"
            ]
        );
    }

    let mut values = stored(&plan);
    fill(&mut values);
    of_kind(&mut values, "StatefulSet", "shop")["status"]["readyReplicas"] = json!(3);
    assert_eq!(report(&plan, &live(values.clone())).summary.differences(), 0);
    values.retain(|value| value["kind"] != "Secret");
    let gone = report(&plan, &live(values));
    let secret = object(&gone, "Secret", "shop-admin");
    assert_eq!((secret.status, secret.impact), (Status::Missing, Impact::DataRisk));
}

#[test]
fn facts_in_a_secret_are_compared_and_never_shown() {
    let plan = plan(&json!({}));
    let mut values = stored(&plan);
    fill(&mut values);
    // "elsewhere"
    of_kind(&mut values, "Secret", "shop-app")["data"]["host"] = json!("ZWxzZXdoZXJl");
    let report = report(&plan, &live(values));
    let change = drift(object(&report, "Secret", "shop-app"))[0].clone();
    assert_eq!((change.path.as_str(), change.impact), ("/data/host", Impact::InPlace));
    assert_eq!((change.desired, change.live), (json!("(hidden)"), json!("(hidden, another value)")));
}

/// Patroni writes its configuration in its own way, and its state beside it.
#[test]
fn what_members_keep_is_compared_as_what_it_means() {
    let plan = plan(&json!({}));
    let mut values = stored(&plan);
    let store = of_kind(&mut values, "ConfigMap", "shop-patroni-config");
    let text = store["metadata"]["annotations"]["config"].as_str().unwrap();
    let mut config: Value = serde_json::from_str(text).unwrap();
    config["ttl"] = config["ttl"].take();
    store["metadata"]["annotations"]["config"] = json!(serde_json::to_string_pretty(&config).unwrap());
    store["metadata"]["annotations"]["history"] = json!("[]");
    store["metadata"]["annotations"]["initialize"] = json!("7400000000000000000");
    of_kind(&mut values, "ConfigMap", "shop-patroni-leader")["metadata"]["annotations"]["leader"] = json!("shop-0");
    let clean = report(&plan, &live(values.clone()));
    assert_eq!(object(&clean, "ConfigMap", "shop-patroni-config").status, Status::InSync);
    assert_eq!(clean.verdict(crate::diff::FailOn::Foreign), crate::diff::Verdict::InSync);

    config["postgresql"]["parameters"]["max_connections"] = json!("9999");
    of_kind(&mut values, "ConfigMap", "shop-patroni-config")["metadata"]["annotations"]["config"] =
        json!(config.to_string());
    let edited = report(&plan, &live(values));
    let change = drift(object(&edited, "ConfigMap", "shop-patroni-config"));
    assert_eq!(change.len(), 1);
    assert_eq!(change[0].path, "/metadata/annotations/config/postgresql/parameters/max_connections");
    assert_eq!(change[0].impact, Impact::InPlace);
}

/// RD-51: with label tracking Argo CD overwrites a label that no selector uses.
#[test]
fn a_label_that_argo_cd_overwrites_is_no_drift() {
    let plan = plan(&json!({}));
    let fields = |manager: &str| {
        json!([{"manager": manager, "operation": "Apply", "time": "2026-11-30T11:00:00Z",
            "fieldsV1": {"f:metadata": {"f:labels": {"f:app.kubernetes.io/instance": {}}}}}])
    };
    for (managed, status) in [
        (Some(fields("argocd-controller")), Status::InSync),
        (Some(fields("kubectl-edit")), Status::Drifted),
        (None, Status::InSync),
    ] {
        let mut values = stored(&plan);
        let service = of_kind(&mut values, "Service", "shop");
        service["metadata"]["labels"]["app.kubernetes.io/instance"] = json!("databases-prod");
        if let Some(managed) = &managed {
            service["metadata"]["managedFields"] = managed.clone();
        }
        let report = report(&plan, &live(values));
        assert_eq!(object(&report, "Service", "shop").status, status, "{managed:?}");
    }
}

/// RD-54: a field that is no longer rendered is no addition of somebody else's. Who wrote it says so; where nothing says who
/// did, what could have been rendered counts as rendered.
#[test]
fn what_was_rendered_before_and_is_not_now_is_drift() {
    let plan = plan(&json!({}));
    let fields = |manager: &str, marked: bool| {
        let labels = if marked { json!({"f:app.kubernetes.io/managed-by": {}}) } else { json!({"f:other": {}}) };
        json!([{"manager": manager, "operation": "Apply", "time": "2026-11-30T11:00:00Z",
            "fieldsV1": {"f:metadata": {"f:labels": labels}, "f:spec": {"f:template": {"f:spec": {"f:tolerations": {}}}}}}])
    };
    for (managed, status, impact) in [
        (Some(fields("argocd-controller", true)), Status::Drifted, Impact::RollingRestart),
        (Some(fields("webhook", false)), Status::InSync, Impact::None),
        (None, Status::Drifted, Impact::RollingRestart),
    ] {
        let mut values = stored(&plan);
        let set = of_kind(&mut values, "StatefulSet", "shop");
        set["spec"]["template"]["spec"]["tolerations"] = json!([{"key": "a", "operator": "Exists"}]);
        if let Some(managed) = &managed {
            set["metadata"]["managedFields"] = managed.clone();
        }
        let report = report(&plan, &live(values));
        let set = object(&report, "StatefulSet", "shop");
        assert_eq!((set.status, set.impact), (status, impact), "{managed:?} {:#?}", set.changes);
    }
    // A sidecar that no Database of ours has stays foreign, the exporter that one could have does not.
    for (name, status) in [("istio-proxy", Status::InSync), ("exporter", Status::Drifted)] {
        let mut values = stored(&plan);
        let containers = &mut of_kind(&mut values, "StatefulSet", "shop")["spec"]["template"]["spec"]["containers"];
        containers.as_array_mut().unwrap().push(json!({"name": name, "image": "x"}));
        assert_eq!(object(&report(&plan, &live(values)), "StatefulSet", "shop").status, status, "{name}");
    }
}

/// Between two commits everything on the other side is ours.
#[test]
fn what_the_other_commit_renders_beyond_this_one_is_an_intended_removal() {
    let from =
        plan(&json!({"spec": {"scheduling": {"nodeSelector": {"a": "b"}}, "service": {"annotations": {"c": "d"}}}}));
    let to = plan(&json!({}));
    let values = crate::render::render(&from).objects().into_iter().map(|object| object.value).collect();
    let set = LiveSet { is_rendered: true, ..live(values) };
    let report = compare_with(&to, Some(&from), &set, &policy());
    let all: Vec<_> = report.databases[0].objects.iter().flat_map(|object| drift(object)).collect();
    let fields: Vec<_> = all.iter().map(|change| (change.path.as_str(), change.op, change.field)).collect();
    assert_eq!(
        fields,
        [
            ("/metadata/annotations/c", Op::Remove, Some("spec.service.annotations")),
            ("/spec/template/spec/nodeSelector", Op::Remove, Some("spec.scheduling.nodeSelector")),
            ("/spec/jobTemplate/spec/template/spec/nodeSelector", Op::Remove, Some("spec.scheduling.nodeSelector")),
        ]
    );
}

#[test]
fn another_engine_under_the_same_name_is_a_loss() {
    let plan = plan(&json!({}));
    let mut values = stored(&plan);
    of_kind(&mut values, "StatefulSet", "shop")["metadata"]["labels"]["app.kubernetes.io/name"] = json!("mysql");
    let report = report(&plan, &live(values));
    assert_eq!(object(&report, "StatefulSet", "shop").impact, Impact::DataLoss);
}

#[test]
fn an_object_that_is_being_deleted_is_not_in_sync() {
    let plan = plan(&json!({}));
    let mut values = stored(&plan);
    of_kind(&mut values, "StatefulSet", "shop")["metadata"]["deletionTimestamp"] = json!("2026-11-30T11:00:00Z");
    let report = report(&plan, &live(values));
    let set = object(&report, "StatefulSet", "shop");
    assert_eq!((set.status, set.impact), (Status::Drifted, Impact::DataRisk));
}

#[test]
fn nothing_read_of_nothing_wanted_is_in_sync() {
    let report = crate::diff::compare(&[], &LiveSet::default(), &policy());
    assert!(report.complete && report.databases.is_empty());
}
