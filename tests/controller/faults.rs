//! A server that is busy, broken, gone or no longer takes the token: the controller goes on by itself afterwards.

use serde_json::json;

use crate::bed::{Bed, condition, database};
use crate::proxy::{Mood, Proxy};
use crate::runtime;

async fn through_a_proxy(name: &str) -> Vec<(Bed, Proxy)> {
    let mut all = Vec::new();
    for mut bed in Bed::newest(name).await {
        let proxy = Proxy::new(&bed.server.client).await;
        bed.connect_by(proxy.kubeconfig());
        bed.apply(&database("order-db", &json!({}))).await;
        bed.start(&[]).await;
        bed.until("it is ready", async |bed| condition(&bed.database("order-db").await, "Ready") == "True").await;
        all.push((bed, proxy));
    }
    all
}

/// Something that has to be put right, while the server is as it is.
async fn disturb(bed: &Bed) {
    bed.delete(&bed.of("v1", "Service", "order-db")).await;
}

async fn is_put_right(bed: &Bed) {
    let service = bed.of("v1", "Service", "order-db");
    bed.until("the Service is there again", async |bed| bed.server.get(&service).await.code == 200).await;
}

#[test]
fn a_server_that_is_busy_broken_or_forgetful_is_asked_again() {
    runtime().block_on(async {
        for (mut bed, proxy) in through_a_proxy("faults").await {
            for mood in [Mood::Code(429), Mood::Code(500), Mood::Code(409), Mood::Cut, Mood::Gone] {
                proxy.is(mood.clone());
                disturb(&bed).await;
                let wanted = if mood == Mood::Gone { 1 } else { 5 };
                bed.until(&format!("{mood:?} was seen"), async |_| proxy.refused() >= wanted).await;
                proxy.is(Mood::Good);
                is_put_right(&bed).await;
            }
            bed.until("it is said to be well", async |bed| {
                let stored = bed.database("order-db").await;
                condition(&stored, "Ready") == "True" && condition(&stored, "Reconciling") == "False"
            })
            .await;
            bed.end().await;
        }
    });
}

#[test]
fn a_server_that_is_gone_for_long_is_waited_for_without_a_restart() {
    runtime().block_on(async {
        for (mut bed, proxy) in through_a_proxy("gone").await {
            proxy.is(Mood::Cut);
            disturb(&bed).await;
            bed.until("it says what it waits for", async |bed| {
                let told = bed.told().await;
                told.contains("the Lease is lost") && told.contains("cannot be had")
            })
            .await;
            assert_eq!(bed.metric("dbrender_leader{shard=\"1/1\"}").await, 0);
            proxy.is(Mood::Good);
            is_put_right(&bed).await;
            assert_eq!(bed.metric("dbrender_leader{shard=\"1/1\"}").await, 1);
            bed.end().await;
        }
    });
}

#[test]
fn a_token_that_expires_is_read_again() {
    runtime().block_on(async {
        for (mut bed, proxy) in through_a_proxy("token").await {
            // A kubelet writes the next one before the last one ends.
            proxy.write_token("second");
            proxy.take_only("second");
            disturb(&bed).await;
            is_put_right(&bed).await;
            assert!(proxy.refused() > 0, "the first one was refused");
            bed.end().await;
        }
    });
}

/// Otherwise the garbage collector may take the new one for the old one, and the old pods would keep their names for ever.
#[test]
fn a_stateful_set_is_made_again_when_the_pods_of_the_deleted_one_are_gone() {
    runtime().block_on(async {
        for mut bed in Bed::all("leftovers").await {
            bed.apply(&database("order-db", &json!({}))).await;
            bed.start(&[]).await;
            bed.until("it is ready", async |bed| condition(&bed.database("order-db").await, "Ready") == "True").await;
            let (set, pod) = (bed.of("apps/v1", "StatefulSet", "order-db"), bed.of("v1", "Pod", "order-db-0"));
            let former = bed.uid(&pod).await;
            // One that no node runs, fake or not: those let go of what is held.
            let mut held = bed.of("v1", "Pod", "order-db-7");
            held["metadata"]["labels"] = bed.server.get(&pod).await.body["metadata"]["labels"].clone();
            held["metadata"]["finalizers"] = json!(["example.com/held"]);
            held["metadata"]["ownerReferences"] = json!([{"apiVersion": "apps/v1", "kind": "StatefulSet",
                "name": "order-db", "uid": bed.uid(&set).await, "controller": true}]);
            held["spec"] = json!({"nodeSelector": {"type": "none"}, "containers": [{"name": "x", "image": "x"}]});
            bed.server.apply(&held).await.ok().unwrap();
            bed.delete(&set).await;
            bed.until("it says what it waits for", async |bed| {
                let reconciling = bed.condition("order-db", "Reconciling").await;
                reconciling["reason"] == "MembersGoing"
                    && reconciling["message"].as_str().is_some_and(|message| message.ends_with(" order-db-7"))
            })
            .await;
            assert_eq!(bed.server.get(&set).await.code, 404);
            bed.patch(&held, "test", json!({"metadata": {"finalizers": null}})).await;
            bed.until("another one is ready", async |bed| {
                condition(&bed.database("order-db").await, "Ready") == "True" && bed.uid(&pod).await != former
            })
            .await;
            // Orphans are adopted, not waited for.
            let (orphan, before) = (bed.uid(&pod).await, bed.uid(&set).await);
            bed.delete_by(&set, "Orphan").await;
            bed.until("it is adopted", async |bed| {
                let owner = bed.server.get(&pod).await.body["metadata"]["ownerReferences"][0]["uid"].clone();
                owner.as_str().is_some_and(|owner| owner != before)
                    && condition(&bed.database("order-db").await, "Ready") == "True"
            })
            .await;
            assert_eq!(bed.uid(&pod).await, orphan);
            bed.end().await;
        }
    });
}
