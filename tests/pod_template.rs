//! What may restart the members, and what may not: every field of a Database, one by one.
//!
//! If an assertion here fails, changing that field in production restarts every member of every database that uses it,
//! or the API server refuses the change because a claim template is immutable.

#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::panic,
    clippy::print_stderr,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a test may use files and programs, and ends where it fails"
)]

use dbrender::api::{Database, PlatformSettings};
use dbrender::check::{check, ground};
use dbrender::problem::Problems;
use dbrender::render::render;
use serde_json::{Value, json};

/// Whether a change of the field may reach the pod template.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Template {
    /// It must: the pods have to run something else.
    Changes,
    /// It must not.
    Stays,
    /// It may not be changed at all (`check::update` refuses it), or has no other value.
    Fixed,
}
use Template::{Changes, Fixed, Stays};

/// Field, another value, and what that may do in each profile.
fn table() -> Vec<(&'static str, Value, Template, Template)> {
    vec![
        ("engine", Value::Null, Fixed, Fixed),
        ("version", json!("17"), Changes, Changes),
        ("replicas", json!(7), Stays, Stays),
        ("storage.size", json!("200Gi"), Stays, Stays),
        ("storage.storageClass", Value::Null, Fixed, Fixed),
        ("backup.enabled", json!(false), Stays, Stays),
        ("backup.schedule", json!("5 5 * * *"), Stays, Stays),
        ("backup.retention", json!(99), Stays, Stays),
        ("backup.destination", json!("bucket"), Stays, Stays),
        ("backup.timeZone", json!("Europe/Berlin"), Stays, Stays),
        ("backup.suspend", json!(true), Stays, Stays),
        // Only with a bucket and in `Manual`: `fixtures/drift` has it turned on.
        ("backup.walArchive", Value::Null, Fixed, Fixed),
        ("resources.cpu", json!("3"), Changes, Changes),
        ("resources.memory", json!("5Gi"), Changes, Changes),
        ("failover", Value::Null, Fixed, Fixed),
        ("replication", json!("Asynchronous"), Stays, Stays),
        ("primary", json!(1), Fixed, Stays),
        ("database", json!("other"), Stays, Stays),
        ("username", json!("other"), Stays, Stays),
        // Read at a reload.
        ("parameters", json!({"work_mem": "16MB"}), Stays, Stays),
        // Other Secrets are other volumes; there is no other way to name them to the kubelet.
        ("credentials.appSecretName", Value::Null, Fixed, Fixed),
        ("credentials.adminSecretName", Value::Null, Fixed, Fixed),
        ("bootstrap.fromBackup.name", Value::Null, Fixed, Fixed),
        ("bootstrap.fromBackup.namespace", Value::Null, Fixed, Fixed),
        ("bootstrap.fromBackup.backup", Value::Null, Fixed, Fixed),
        ("bootstrap.fromBackup.pointInTime", Value::Null, Fixed, Fixed),
        ("deletionPolicy", json!("Delete"), Stays, Stays),
        ("access.namespaces.names", json!(["shop"]), Stays, Stays),
        ("access.namespaces.selector.matchLabels", json!({"team": "shop"}), Stays, Stays),
        ("service.type", json!("LoadBalancer"), Stays, Stays),
        ("service.annotations", json!({"example.com/lb": "internal"}), Stays, Stays),
        ("tls.secretName", json!("order-db-tls"), Changes, Changes),
        ("monitoring.enabled", json!(true), Changes, Changes),
        ("scheduling.nodeSelector", json!({"disk": "ssd"}), Changes, Changes),
        ("scheduling.tolerations", json!([{"key": "db", "operator": "Exists"}]), Changes, Changes),
        ("scheduling.priorityClassName", json!("important"), Changes, Changes),
        ("scheduling.topologyKeys", json!(["topology.kubernetes.io/zone"]), Changes, Changes),
        ("hibernate", json!(true), Stays, Stays),
        ("paused", json!(true), Stays, Stays),
    ]
}

fn base(failover: &str) -> Value {
    json!({
        "apiVersion": "app.example.com/v1alpha1",
        "kind": "Database",
        "metadata": {"name": "order-db", "namespace": "production"},
        "spec": {
            "engine": "postgresql",
            "version": "16",
            "replicas": 3,
            "failover": failover,
            "storage": {"size": "100Gi"},
            "resources": {"cpu": "2", "memory": "4Gi"},
        },
    })
}

fn settings(extra: &Value) -> PlatformSettings {
    let mut settings = json!({
        "backupDestinations": {"bucket": {"s3": {"bucket": "backups", "secretName": "s3"}}},
    });
    if let (Some(settings), Some(extra)) = (settings.as_object_mut(), extra.as_object()) {
        settings.extend(extra.clone());
    }
    serde_json::from_value(settings).unwrap()
}

/// Pod template and claim templates of a Database, as text.
fn templates(database: &Value, extra: &Value) -> (String, String) {
    let mut problems = Problems::new();
    let ground = ground(&settings(extra), &mut problems).unwrap();
    let database: Database = serde_json::from_value(database.clone()).unwrap();
    let checked = check(&database, &ground, None);
    let plan = checked.plan.unwrap_or_else(|| panic!("{:?}", checked.problems));
    let object = render(&plan).objects().into_iter().find(|o| o.kind == "StatefulSet").unwrap().value;
    (object["spec"]["template"].to_string(), object["spec"]["volumeClaimTemplates"].to_string())
}

fn set(database: &Value, path: &str, value: &Value) -> Value {
    let mut changed = database.clone();
    let mut at = &mut changed["spec"];
    for key in path.split('.') {
        at = &mut at[key];
    }
    *at = value.clone();
    changed
}

#[test]
fn each_field_restarts_what_it_must_and_nothing_else() {
    for failover in ["Automatic", "Manual"] {
        let base = base(failover);
        let (pods, claims) = templates(&base, &Value::Null);
        for (path, value, automatic, manual) in table() {
            let expected = if failover == "Automatic" { automatic } else { manual };
            if expected == Fixed {
                continue;
            }
            let (changed_pods, changed_claims) = templates(&set(&base, path, &value), &Value::Null);
            // The size is the one field of a claim template that follows the Database; `diff` knows the procedure.
            if path != "storage.size" {
                assert_eq!(claims, changed_claims, "{failover}: {path} changes the claim template");
            }
            let found = if pods == changed_pods { Stays } else { Changes };
            assert_eq!(found, expected, "{failover}: {path} = {value}");
        }
    }
}

/// A field that is added to the API and forgotten here would escape the test above.
#[test]
fn the_table_has_every_field() {
    let crd = dbrender::api::crd();
    let spec = &crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"];
    let mut leaves = Vec::new();
    collect(spec, String::new(), &mut leaves);
    let mut known: Vec<String> = table().into_iter().map(|(path, ..)| path.to_owned()).collect();
    leaves.sort();
    known.sort();
    assert_eq!(leaves, known);
}

fn collect(schema: &Value, path: String, leaves: &mut Vec<String>) {
    match schema["properties"].as_object() {
        Some(properties) => {
            for (name, child) in properties {
                let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
                collect(child, path, leaves);
            }
        }
        None => leaves.push(path),
    }
}

/// Settings that the server reads only at its start do restart the pods in Manual; in Automatic the agent restarts the
/// servers in the right order, so the template stays.
#[test]
fn a_setting_that_needs_a_restart_reaches_the_template_only_in_manual() {
    for (failover, expected) in [("Automatic", Stays), ("Manual", Changes)] {
        let base = base(failover);
        let (pods, _) = templates(&base, &Value::Null);
        let (changed, _) = templates(&set(&base, "parameters", &json!({"max_connections": "200"})), &Value::Null);
        assert_eq!(if pods == changed { Stays } else { Changes }, expected, "{failover}");
    }
}

/// Labels, annotations and limits of the platform file reach every object but no template.
#[test]
fn the_platform_file_restarts_nothing_by_its_labels() {
    for failover in ["Automatic", "Manual"] {
        let base = base(failover);
        let before = templates(&base, &Value::Null);
        for extra in [
            json!({"labels": {"team": "data"}}),
            json!({"annotations": {"example.com/owner": "data"}}),
            json!({"networkPolicy": {"enabled": false}}),
            json!({"limits": {"maxReplicas": 5}}),
            json!({"credentials": {"generator": "controller"}}),
            json!({"credentials": {"mode": "external", "store": {"name": "vault"}}}),
        ] {
            assert_eq!(before, templates(&base, &extra), "{failover}: {extra}");
        }
    }
}

/// A member that is added later starts from the same template as the first, so scaling out never restarts the primary.
#[test]
fn one_and_seven_replicas_have_the_same_template() {
    for failover in ["Automatic", "Manual"] {
        let base = base(failover);
        let one = templates(&set(&base, "replicas", &json!(1)), &Value::Null);
        for replicas in 2..=7 {
            assert_eq!(
                one,
                templates(&set(&base, "replicas", &json!(replicas)), &Value::Null),
                "{failover}, {replicas}"
            );
        }
    }
}
