//! The validating webhook, called by real API servers.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use crate::authority::Authority;
use crate::bed::{Bed, condition, database};
use crate::runtime;
use crate::servers::Answer;

/// Far enough.
const LATER: &str = "20490101000000Z";
const BEFORE: &str = "20250101000000Z";

async fn configure(bed: &Bed, authority: &Authority, address: &str) -> Value {
    let configuration = json!({
        "apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingWebhookConfiguration",
        "metadata": {"name": bed.namespace},
        "webhooks": [{
            "name": "databases.app.example.com", "sideEffects": "None", "admissionReviewVersions": ["v1"],
            "failurePolicy": "Fail", "timeoutSeconds": 5,
            "clientConfig": {"url": format!("https://{address}/validate"),
                "caBundle": STANDARD.encode(std::fs::read(authority.certificate()).unwrap())},
            "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": bed.namespace}},
            "rules": [{"apiGroups": ["app.example.com"], "apiVersions": ["v1alpha1"], "resources": ["databases"],
                "operations": ["CREATE", "UPDATE"], "scope": "Namespaced"}],
        }],
    });
    bed.server.apply(&configuration).await.ok().unwrap();
    configuration
}

/// What the server says to a Database that is tried and not stored.
async fn tried(bed: &Bed, database: &Value) -> Answer {
    let mut database = database.clone();
    database["metadata"]["namespace"] = json!(bed.namespace);
    bed.server.try_create(&database).await
}

async fn started(name: &str) -> Vec<(Bed, Authority, Value)> {
    let mut all = Vec::new();
    for mut bed in Bed::all(name).await {
        let mut authority = Authority::new();
        authority.issue(LATER);
        // Stored while nobody checked it: more members than the platform file allows by now.
        bed.apply(&database("older", &json!({"replicas": 4}))).await;
        let platform = bed.file(
            "platform.yaml",
            "apiVersion: dbrender.app.example.com/v1alpha1\nkind: Platform\nlimits: {maxReplicas: 3}\n",
        );
        let folder = authority.mounted();
        bed.start(&[
            "--platform",
            &platform,
            "--webhook-certificates",
            folder.to_str().unwrap(),
            "--webhook-address",
            "127.0.0.1:0",
        ])
        .await;
        let configuration = configure(&bed, &authority, bed.webhook()).await;
        let wrong = database("wrong", &json!({"version": "9.4"}));
        bed.until("the webhook is asked", async |bed| tried(bed, &wrong).await.code == 422).await;
        all.push((bed, authority, configuration));
    }
    all
}

async fn end(mut bed: Bed, configuration: &Value) {
    // Before its namespace goes: the finalizers of what is in it could not be taken away.
    bed.delete(configuration).await;
    bed.end().await;
}

#[test]
fn a_wrong_database_is_refused_with_all_that_is_wrong_and_a_right_one_is_not() {
    runtime().block_on(async {
        for (bed, _authority, configuration) in started("refused").await {
            let wrong = database(
                "wrong",
                &json!({"version": "9.4", "replicas": 5, "backup": {"schedule": "whenever"}, "parameters": {}}),
            );
            let answer = tried(&bed, &wrong).await;
            assert_eq!(answer.code, 422, "{}", answer.body);
            assert_eq!(answer.body["reason"], "Invalid");
            assert_eq!(answer.fields(), ["spec.version", "spec.replicas", "spec.backup.schedule"]);
            assert!(answer.message().contains("denied the request"), "{}", answer.message());
            assert_eq!(answer.message().matches("[DBR").count(), 3, "{}", answer.message());

            bed.apply(&database("order-db", &json!({}))).await;
            bed.until("it is ready", async |bed| condition(&bed.database("order-db").await, "Ready") == "True").await;
            // No rule of the definition knows this: it needs both states.
            let older = database("order-db", &json!({"version": "16"}));
            assert_eq!(bed.try_apply(&older).await, 422);
            assert_eq!(bed.database("order-db").await["spec"]["version"], "17");
            let warnings = bed.warnings(&database("order-db", &json!({"replicas": 2}))).await;
            assert!(warnings.iter().any(|text| text.contains("spec.replicas")), "{warnings:?}");
            // Until here, nothing was in the way of the controller itself.
            bed.delete(&bed.of("app.example.com/v1alpha1", "Database", "order-db")).await;
            bed.until("it is gone", async |bed| bed.database_code("order-db").await == 404).await;
            end(bed, &configuration).await;
        }
    });
}

#[test]
fn what_was_stored_before_can_be_labelled_mended_and_deleted() {
    runtime().block_on(async {
        for (bed, _authority, configuration) in started("before").await {
            let older = bed.of("app.example.com/v1alpha1", "Database", "older");
            bed.until("it is said", async |bed| condition(&bed.database("older").await, "Stalled") == "True").await;
            bed.patch(&older, "kubectl", json!({"metadata": {"labels": {"team": "x"}, "finalizers": ["a.b/c"]}})).await;
            assert_eq!(bed.try_apply(&database("older", &json!({"replicas": 5}))).await, 422, "worse");
            bed.delete(&older).await;
            bed.until("it is held", async |bed| {
                !bed.database("older").await["metadata"]["deletionTimestamp"].is_null()
            })
            .await;
            bed.patch(&older, "kubectl", json!({"metadata": {"finalizers": null}})).await;
            bed.until("it is gone", async |bed| bed.database_code("older").await == 404).await;
            end(bed, &configuration).await;
        }
    });
}

#[test]
fn an_expired_certificate_is_told_and_a_renewed_one_is_used_without_a_restart() {
    runtime().block_on(async {
        for (bed, mut authority, configuration) in started("expired").await {
            let right = database("order-db", &json!({}));
            bed.apply(&right).await;
            bed.until("it is ready", async |bed| condition(&bed.database("order-db").await, "Ready") == "True").await;

            authority.issue(BEFORE);
            bed.until("nothing is stored any more", async |bed| {
                tried(bed, &database("x", &json!({}))).await.code == 500
            })
            .await;
            let said = tried(&bed, &database("x", &json!({}))).await.message();
            assert!(said.contains("certificate has expired"), "{said}");
            assert!(bed.told().await.contains("certificate has ended at 2025-01-01T00:00:00Z"));
            assert_eq!(bed.metric("dbrender_webhook_certificate_end_seconds").await, 1_735_689_600);
            // What runs is kept as it is rendered.
            let service = bed.of("v1", "Service", "order-db");
            bed.delete(&service).await;
            bed.until("the Service is there again", async |bed| bed.server.get(&service).await.code == 200).await;

            // A key that does not belong to it is not taken.
            std::fs::copy(authority.certificate(), authority.mounted().join("tls.crt")).unwrap();
            bed.until("that is told", async |bed| bed.told().await.contains("do not go together")).await;

            authority.issue(LATER);
            bed.until("it is asked again", async |bed| tried(bed, &database("x", &json!({}))).await.code < 300).await;
            assert_eq!(tried(&bed, &database("x", &json!({"replicas": 5}))).await.code, 422);
            end(bed, &configuration).await;
        }
    });
}

/// The younger of two would wait for a person. Whoever answers, the leader or one that waits, knows what is stored.
#[test]
fn one_that_would_write_an_object_of_another_one_is_not_stored() {
    runtime().block_on(async {
        for (mut bed, authority, configuration) in started("meeting").await {
            bed.apply(&database("shop", &json!({"replicas": 2}))).await;
            let meets = database("shop-ro", &json!({}));
            let is_refused = async |bed: &Bed| {
                let answer = tried(bed, &meets).await;
                answer.code == 422
                    && answer.fields() == ["metadata.name"]
                    && answer.message().contains("would both write Service shop-ro")
            };
            bed.until("the leader refuses it", is_refused).await;
            assert!(tried(&bed, &database("shop-rox", &json!({}))).await.code < 300);
            // What is stored is no younger one of itself.
            bed.apply(&database("shop", &json!({"replicas": 3}))).await;

            let (mut waits, address) = bed.another_with_webhook().await;
            configure(&bed, &authority, &address).await;
            bed.until("one that waits refuses it", is_refused).await;
            assert!(tried(&bed, &database("shop-rox", &json!({}))).await.code < 300);
            waits.kill().unwrap();
            waits.wait().unwrap();
            end(bed, &configuration).await;
        }
    });
}
