//! `dbrender rbac controller`: nothing that is done is refused, and nothing is allowed that is never done.

use std::collections::BTreeSet;

use dbrender::diff::KINDS;
use serde_json::{Value, json};

use crate::bed::{Bed, condition, database};
use crate::runtime;

/// What nobody sees here, and why it is asked for: group, resource, verb.
const UNSEEN: [(&str, &str, &str); 2] = [
    // A server with the admission plugin OwnerReferencesPermissionEnforcement asks for it; the test bed has none.
    ("app.example.com", "databases/finalizers", "update"),
    // The Role of MySQL holds it, and the Databases here are of PostgreSQL.
    ("", "pods", "get"),
];

type Right = (String, String, String);

fn right(group: &str, resource: &str, verb: &str) -> Right {
    (group.to_owned(), resource.to_owned(), verb.to_owned())
}

fn words(list: &Value) -> Vec<&str> {
    list.as_array().into_iter().flatten().filter_map(Value::as_str).collect()
}

/// Every right that a list of rules holds, names of objects aside.
fn rights(rules: &Value) -> BTreeSet<Right> {
    let mut rights = BTreeSet::new();
    for rule in rules.as_array().into_iter().flatten() {
        for group in words(&rule["apiGroups"]) {
            for resource in words(&rule["resources"]) {
                rights.extend(words(&rule["verbs"]).into_iter().map(|verb| right(group, resource, verb)));
            }
        }
    }
    rights
}

/// What a request needed: an apply of something new needs two rights.
fn needed(entry: &Value) -> Vec<Right> {
    let object = &entry["objectRef"];
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let resource = match text(&object["subresource"]) {
        sub if sub.is_empty() => text(&object["resource"]),
        sub => format!("{}/{sub}", text(&object["resource"])),
    };
    let group = text(&object["apiGroup"]);
    let mut all = vec![right(&group, &resource, &text(&entry["verb"]))];
    if entry["verb"] == "patch" && entry["responseStatus"]["code"] == 201 {
        all.push(right(&group, &resource, "create"));
    }
    all
}

/// A kind that the server does not have: any object is one of it.
fn definition(group: &str, kind: &str, plural: &str) -> Value {
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("{plural}.{group}")},
        "spec": {"group": group, "scope": "Namespaced",
            "names": {"kind": kind, "plural": plural, "singular": kind.to_lowercase(), "listKind": format!("{kind}List")},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {
                "type": "object", "x-kubernetes-preserve-unknown-fields": true}}}]},
    })
}

/// An object of a kind that belongs to a Database, as one that an older version has rendered.
fn stray(kind: &str, api_version: &str, namespace: &str) -> Value {
    let spec = match kind {
        "Service" => json!({"spec": {"ports": [{"port": 1}]}}),
        "NetworkPolicy" => json!({"spec": {"podSelector": {}}}),
        "PodDisruptionBudget" => json!({"spec": {"maxUnavailable": 1}}),
        "RoleBinding" => json!({"roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "none"}}),
        "Job" => json!({"spec": {"suspend": true, "template": pod()}}),
        "CronJob" => json!({"spec": {"schedule": "0 0 1 1 *", "suspend": true,
            "jobTemplate": {"spec": {"template": pod()}}}}),
        "ExternalSecret" => json!({"spec": {}}),
        "PodMonitor" => json!({"spec": {"selector": {}}}),
        _ => json!({}),
    };
    let mut object = json!({"apiVersion": api_version, "kind": kind, "metadata": {
        "name": "order-db-stray", "namespace": namespace, "labels": {"app.example.com/database": "order-db",
            "app.kubernetes.io/managed-by": "dbrender"}}});
    for (key, value) in spec.as_object().unwrap() {
        object[key] = value.clone();
    }
    object
}

fn pod() -> Value {
    json!({"spec": {"restartPolicy": "Never", "containers": [{"name": "x", "image": "x"}]}})
}

/// Kinds that hold data or passwords are never deleted, and a StatefulSet only around its pods.
const STAYS: [&str; 3] = ["Secret", "PersistentVolumeClaim", "StatefulSet"];

#[test]
fn every_right_is_used_and_none_is_missing() {
    runtime().block_on(async {
        for mut bed in Bed::all("rights").await {
            let added = [
                definition("external-secrets.io", "ExternalSecret", "externalsecrets"),
                definition("monitoring.coreos.com", "PodMonitor", "podmonitors"),
            ];
            for definition in &added {
                bed.server.define(definition).await;
            }
            let began = jiff::Timestamp::now().to_string();
            let text = |mode: &str| {
                format!(
                    "apiVersion: dbrender.app.example.com/v1alpha1\nkind: Platform\nmonitoring: {{enabled: true}}\n{mode}"
                )
            };
            let platform = bed.file("platform.yaml", &text(""));
            let spec = json!({"replicas": 2, "deletionPolicy": "Delete"});
            bed.apply(&database("order-db", &spec)).await;
            bed.start(&["--platform", &platform]).await;
            bed.until("it is ready", async |bed| condition(&bed.database("order-db").await, "Ready") == "True").await;

            // What was added is taken away again.
            let service = bed.of("v1", "Service", "order-db");
            for port in [1, 2] {
                bed.patch(&service, "kubectl", json!({"spec": {"ports": [{"name": "x", "port": port}]}})).await;
                bed.until("it is put right", async |bed| {
                    let ports = bed.server.get(&service).await.body["spec"]["ports"].clone();
                    ports.as_array().map(Vec::len) == Some(1) && ports[0]["port"] == 5432
                })
                .await;
            }
            // What was declared is taken from us twice, and both times by force again.
            for role in ["one", "two"] {
                let selector = json!({"spec": {"selector": {"app.example.com/role": role}}});
                bed.patch(&service, "kubectl", selector).await;
                bed.until("it is selected as declared", async |bed| {
                    bed.server.get(&service).await.body["spec"]["selector"]["app.example.com/role"] == "primary"
                })
                .await;
            }
            for kind in KINDS.iter().filter(|kind| !STAYS.contains(&kind.kind)) {
                let object = stray(kind.kind, kind.api_version, &bed.namespace);
                bed.server.apply(&object).await.ok().unwrap();
                let what = format!("the stray {} is gone", kind.kind);
                bed.until(&what, async |bed| bed.server.get(&object).await.code == 404).await;
            }
            let mut larger = spec.clone();
            larger["storage"] = json!({"size": "2Gi"});
            bed.apply(&database("order-db", &larger)).await;
            let set = bed.of("apps/v1", "StatefulSet", "order-db");
            bed.until("the volumes have grown", async |bed| {
                let set = bed.server.get(&set).await.body;
                set["spec"]["volumeClaimTemplates"][0]["spec"]["resources"]["requests"]["storage"] == "2Gi"
            })
            .await;
            bed.delete(&bed.of("app.example.com/v1alpha1", "Database", "order-db")).await;
            let job = bed.of("batch/v1", "Job", "order-db-final-backup");
            bed.finish(&job, "Complete").await;
            bed.until("it is gone", async |bed| bed.database_code("order-db").await == 404).await;
            bed.stop().await;

            bed.file("platform.yaml", &text("credentials: {mode: external, store: {name: vault}}\n"));
            bed.apply(&database("other", &json!({}))).await;
            bed.start(&["--platform", &platform]).await;
            let external = bed.of("external-secrets.io/v1", "ExternalSecret", "other-app");
            bed.until("it has external Secrets", async |bed| bed.server.get(&external).await.code == 200).await;
            bed.stop().await;

            compare(&bed, &began).await;
            bed.end().await;
            for definition in &added {
                bed.delete(definition).await;
            }
        }
    });
}

async fn compare(bed: &Bed, began: &str) {
    let role = json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole",
        "metadata": {"name": "dbrender-controller"}});
    let allowed = rights(&bed.server.get(&role).await.body["rules"]);
    let mut used: BTreeSet<Right> = BTreeSet::new();
    for entry in bed.audit(&bed.users[0], began) {
        let code = entry["responseStatus"]["code"].as_u64().unwrap_or_default();
        assert_ne!(code, 403, "{}: refused: {} {}", bed.server.minor, entry["verb"], entry["objectRef"]);
        if entry["objectRef"].is_object() {
            used.extend(needed(&entry));
        }
    }
    // A server lets nobody hand out a right that they lack.
    for object in bed.rendered("other").await {
        if object["kind"] == "Role" {
            used.extend(rights(&object["rules"]));
        }
    }
    used.extend(UNSEEN.iter().map(|(group, resource, verb)| right(group, resource, verb)));
    let missing: Vec<_> = used.difference(&allowed).collect();
    assert!(missing.is_empty(), "{}: used and not allowed: {missing:?}", bed.server.minor);
    let idle: Vec<_> = allowed.difference(&used).collect();
    assert!(idle.is_empty(), "{}: allowed and never used: {idle:?}", bed.server.minor);
}
