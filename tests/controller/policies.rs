//! What `dbrender crd --policies` prints, held by real API servers without webhook and controller.

use std::process::Command;

use serde_json::{Value, json};

use crate::bed::{Bed, database};
use crate::runtime;
use crate::servers;

/// Applies the policies of a platform file, for this namespace alone: other tests run beside this one.
async fn apply_policies(bed: &Bed, limits: &str) -> Vec<Value> {
    let platform = bed.file(
        "platform.yaml",
        &format!("apiVersion: dbrender.app.example.com/v1alpha1\nkind: Platform\nlimits: {limits}\n"),
    );
    let output = Command::new(env!("CARGO_BIN_EXE_dbrender"))
        .args(["crd", "--policies", "-o", "json", "--platform", &platform])
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let list: Value = serde_json::from_slice(&output.stdout).unwrap();
    let mut objects = list["items"].as_array().unwrap().clone();
    for object in &mut objects {
        let name = format!("{}-{}", object["metadata"]["name"].as_str().unwrap(), bed.namespace);
        object["metadata"]["name"] = json!(name);
        if object["kind"] == "ValidatingAdmissionPolicyBinding" {
            object["spec"]["policyName"] = json!(name);
            object["spec"]["matchResources"] =
                json!({"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": bed.namespace}}});
        }
        bed.server.apply(object).await.ok().unwrap();
    }
    objects
}

/// The server's own opinion of the expressions, once it has one.
async fn has_no_warnings(bed: &Bed, objects: &[Value]) {
    for policy in objects.iter().filter(|object| object["kind"] == "ValidatingAdmissionPolicy") {
        bed.until("the expressions were looked at", async |bed| {
            bed.server.get(policy).await.body["status"]["typeChecking"].is_object()
        })
        .await;
        let status = bed.server.get(policy).await.body["status"].clone();
        assert!(status["typeChecking"]["expressionWarnings"].is_null(), "{status}");
    }
}

fn named(name: &str, namespace: &str, differs: &Value) -> Value {
    let mut database = database(name, differs);
    database["metadata"]["namespace"] = json!(namespace);
    database
}

#[test]
fn the_platforms_limits_hold_for_what_is_new_and_for_what_changes() {
    runtime().block_on(async {
        for bed in Bed::all("limits").await {
            let one = |differs: Value| named("order-db", &bed.namespace, &differs);
            // From before the limits.
            bed.apply(&database("older", &json!({"replicas": 5}))).await;
            let objects =
                apply_policies(&bed, "{maxReplicas: 3, maxStorage: 2Gi, engines: [postgresql, mongodb]}").await;
            let many = one(json!({"replicas": 4}));
            bed.until("they are in force", async |bed| bed.server.try_create(&many).await.code == 403).await;
            let said = bed.server.try_create(&many).await.message();
            assert!(said.contains("spec.replicas is above the platform's limit of 3 [DBR"), "{said}");
            for (differs, code) in [
                (json!({}), 200),
                (json!({"replicas": 3, "storage": {"size": "2Gi"}}), 200),
                (json!({"storage": {"size": "3Gi"}}), 403),
                (json!({"storage": {"size": "1Ti"}}), 403),
                (json!({"engine": "mysql", "version": "8.4"}), 403),
                (json!({"engine": "mongodb", "version": "8.0"}), 200),
            ] {
                assert_eq!(bed.server.try_create(&one(differs.clone())).await.code, code, "{differs}");
            }
            let older = bed.of("app.example.com/v1alpha1", "Database", "older");
            bed.patch(&older, "kubectl", json!({"metadata": {"labels": {"team": "x"}, "finalizers": ["a.b/c"]}})).await;
            assert_eq!(bed.try_apply(&database("older", &json!({"replicas": 4}))).await, 403);
            bed.delete(&older).await;
            bed.patch(&older, "kubectl", json!({"metadata": {"finalizers": null}})).await;
            bed.until("it is gone", async |bed| bed.database_code("older").await == 404).await;
            has_no_warnings(&bed, &objects).await;
            finish(bed, &objects).await;
        }
    });
}

#[test]
fn no_database_is_where_the_platform_allows_none() {
    runtime().block_on(async {
        for bed in Bed::all("namespaces").await {
            for (namespaces, code) in [("[elsewhere]", 403), ("[]", 403), (bed.namespace.as_str(), 200)] {
                let namespaces = namespaces.to_owned();
                let list = if namespaces.starts_with('[') { namespaces } else { format!("[{namespaces}]") };
                let objects = apply_policies(&bed, &format!("{{namespaces: {list}}}")).await;
                let one = named("order-db", &bed.namespace, &json!({}));
                bed.until("it is so", async |bed| bed.server.try_create(&one).await.code == code).await;
                has_no_warnings(&bed, &objects).await;
                for object in &objects {
                    bed.delete(object).await;
                }
                bed.until("nothing is in the way", async |bed| bed.server.try_create(&one).await.code == 200).await;
            }
            finish(bed, &[]).await;
        }
    });
}

#[test]
fn a_database_that_refuses_it_is_not_deleted_by_any_way_but_with_its_namespace() {
    runtime().block_on(async {
        for mut bed in Bed::all("refuse").await {
            bed.apply(&database("precious", &json!({"deletionPolicy": "Refuse"}))).await;
            bed.apply(&database("other", &json!({}))).await;
            let objects = apply_policies(&bed, "{}").await;
            let precious = bed.of("app.example.com/v1alpha1", "Database", "precious");
            let path = servers::path_of(&precious);
            let delete = async |bed: &Bed, path: &str| {
                let dry = json!({"apiVersion": "v1", "kind": "DeleteOptions", "dryRun": ["All"]});
                bed.server.send("DELETE", path, "application/json", &dry).await
            };
            bed.until("it is in force", async |bed| delete(bed, &path).await.code == 403).await;
            let said = delete(&bed, &path).await.message();
            assert!(said.contains("deletionPolicy is Refuse"), "{said}");
            // All of them at once, as `kubectl delete --all` does on old servers.
            let all = path.rsplit_once('/').unwrap().0;
            assert_eq!(bed.server.send("DELETE", all, "application/json", &Value::Null).await.code, 403);
            assert_eq!(bed.database_code("precious").await, 200);
            bed.start(&[]).await;
            bed.until("it is held", async |bed| bed.database("precious").await["metadata"]["finalizers"].is_array())
                .await;
            assert!(bed.database("precious").await["metadata"]["deletionTimestamp"].is_null());
            has_no_warnings(&bed, &objects).await;
            // What holds its data would go all the same: then it goes too.
            let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": bed.namespace}});
            bed.delete(&namespace).await;
            bed.until("the namespace is gone", async |bed| bed.server.get(&namespace).await.code == 404).await;
            bed.stop().await;
            for object in &objects {
                bed.delete(object).await;
            }
        }
    });
}

async fn finish(mut bed: Bed, objects: &[Value]) {
    for object in objects {
        bed.delete(object).await;
    }
    bed.end().await;
}
