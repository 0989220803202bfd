//! What is drift, an orphan, kept or nobody's business, whatever its class.

use serde_json::{Value, json};

use super::impact::{change, claim, fill};
use super::{compare_with, drift, live, object, of_kind, plan, policy, report, stored};
use crate::diff::{Impact, LiveSet, Op, Status};

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
