//! The controller on real API servers, with their StatefulSet, Job and garbage collection controllers and fake nodes.
//!
//! Each test runs the binary in a namespace of its own, as a user who has just the rights that `dbrender rbac controller`
//! prints, and asserts what is in the cluster afterwards.

#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::panic,
    clippy::print_stderr,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a test may use files and programs, and ends where it fails"
)]

#[path = "../servers/mod.rs"]
mod servers;

mod authority;
mod bed;
mod faults;
mod policies;
mod proxy;
mod rights;
mod rollouts;
mod shards;
mod webhook;

use bed::{Bed, condition, database};
use serde_json::{Value, json};

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap()
}

#[test]
fn a_database_becomes_what_is_rendered_and_a_steady_state_costs_no_writes() {
    runtime().block_on(async {
        for mut bed in Bed::all("steady").await {
            let spec = json!({"replicas": 3});
            bed.apply(&database("order-db", &spec)).await;
            bed.start(&[]).await;
            bed.until("it is ready", async |bed| condition(&bed.database("order-db").await, "Ready") == "True").await;
            let rendered = bed.rendered("order-db").await;
            assert!(rendered.len() > 15, "{}", rendered.len());
            for object in &rendered {
                let live = bed.server.get(object).await.ok().unwrap();
                let mut lost = Vec::new();
                servers::lost("", object, &live, &mut lost);
                assert!(lost.is_empty(), "{} {}: {lost:?}", object["kind"], object["metadata"]["name"]);
                assert!(live["metadata"]["ownerReferences"].is_null(), "an owner would be the end of a final backup");
            }
            let status = bed.database("order-db").await["status"].clone();
            assert_eq!(status["phase"], "Running");
            assert_eq!(status["readyReplicas"], 3);
            let endpoint = format!("order-db.{}.svc.cluster.local:5432", bed.namespace);
            assert_eq!(status["endpoint"], endpoint.as_str());
            // The kubelet that would run the Job which fills the passwords is a fake one.
            assert_eq!(condition(&json!({"status": status}), "CredentialsReady"), "False");

            let before = bed.metrics().await;
            let versions = bed.versions(&rendered).await;
            // A look at everything: the first thing that a new leader does.
            bed.stop().await;
            bed.start(&[]).await;
            bed.until("it has looked", async |bed| bed.metric("dbrender_reconciles_total{result=\"done\"}").await > 0)
                .await;
            assert_eq!(bed.metric("dbrender_applies_total").await, 0, "before: {before}\n{}", bed.told().await);
            assert_eq!(bed.metric("dbrender_status_writes_total").await, 0);
            assert_eq!(bed.versions(&rendered).await, versions);
            bed.end().await;
        }
    });
}

#[test]
fn what_a_person_changes_is_put_right_and_told() {
    runtime().block_on(async {
        for mut bed in Bed::all("undone").await {
            bed.apply(&database("order-db", &json!({"replicas": 2}))).await;
            bed.start(&[]).await;
            bed.until("it is ready", async |bed| condition(&bed.database("order-db").await, "Ready") == "True").await;
            let set = bed.of("apps/v1", "StatefulSet", "order-db");
            bed.patch(&set, "kubectl", json!({"spec": {"replicas": 5}})).await;
            bed.until("it has two members again", async |bed| bed.server.get(&set).await.body["spec"]["replicas"] == 2)
                .await;
            bed.until("an event says so", async |bed| {
                bed.events("order-db")
                    .await
                    .iter()
                    .any(|e| e["reason"] == "ChangeUndone" && e["note"].to_string().contains("kubectl"))
            })
            .await;

            let service = bed.of("v1", "Service", "order-db");
            bed.delete(&service).await;
            bed.until("the Service is there again", async |bed| bed.server.get(&service).await.code == 200).await;

            let policy = bed.of("networking.k8s.io/v1", "NetworkPolicy", "order-db");
            bed.patch(
                &policy,
                "kubectl",
                json!({"metadata": {"labels": {"app.example.com/database": null, "team": "x"}}}),
            )
            .await;
            bed.until("the label is back, and the other's stays", async |bed| {
                let labels = bed.server.get(&policy).await.body["metadata"]["labels"].clone();
                labels["app.example.com/database"] == "order-db" && labels["team"] == "x"
            })
            .await;

            // What an apply leaves alone: a port and a key of a selector that another writer owns.
            let declared = bed.server.get(&service).await.body["spec"].clone();
            let mut more = declared["ports"].as_array().unwrap().clone();
            more.push(json!({"name": "more", "port": 1}));
            bed.patch(&service, "kubectl", json!({"spec": {"ports": more, "selector": {"more": "x"}}})).await;
            bed.until("the Service is as it was", async |bed| {
                let now = bed.server.get(&service).await.body["spec"].clone();
                now["ports"] == declared["ports"] && now["selector"] == declared["selector"]
            })
            .await;
            bed.until("it is said to be so", async |bed| {
                !bed.condition("order-db", "Drifted").await["message"].to_string().contains("Service")
            })
            .await;

            // From two to one, and no backups: what is no longer rendered goes.
            let budget = bed.of("policy/v1", "PodDisruptionBudget", "order-db");
            let backups = bed.of("batch/v1", "CronJob", "order-db-backup");
            assert_eq!((bed.server.get(&budget).await.code, bed.server.get(&backups).await.code), (200, 200));
            bed.apply(&database("order-db", &json!({"replicas": 1, "backup": {"enabled": false}}))).await;
            bed.until("the budget is gone", async |bed| bed.server.get(&budget).await.code == 404).await;
            bed.until("the backups are gone", async |bed| bed.server.get(&backups).await.code == 404).await;
            bed.until("there is one member", async |bed| bed.server.get(&set).await.body["spec"]["replicas"] == 1)
                .await;
            bed.end().await;
        }
    });
}

#[test]
fn who_declares_the_same_field_is_named_and_nobody_wins_by_force() {
    runtime().block_on(async {
        for mut bed in Bed::all("contested").await {
            bed.apply(&database("order-db", &json!({}))).await;
            bed.start(&[]).await;
            bed.until("it is ready", async |bed| condition(&bed.database("order-db").await, "Ready") == "True").await;
            let mut set = bed.of("apps/v1", "StatefulSet", "order-db");
            set["spec"] = json!({"replicas": 4});
            let path = format!("{}?fieldManager=argocd-controller&force=true", servers::path_of(&set));
            bed.server.send("PATCH", &path, "application/apply-patch+yaml", &set).await.ok().unwrap();
            bed.until("it waits for a person", async |bed| {
                condition(&bed.database("order-db").await, "Stalled") == "True"
            })
            .await;
            let stalled = bed.condition("order-db", "Stalled").await;
            assert_eq!(stalled["reason"], "Contested");
            let message = stalled["message"].as_str().unwrap();
            assert!(message.contains("argocd-controller") && message.contains(".spec.replicas"), "{message}");
            assert_eq!(bed.server.get(&set).await.body["spec"]["replicas"], 4, "nobody is overwritten");
            bed.end().await;
        }
    });
}

/// If this fails, clients of something else are sent to a new database, because it has the same name.
#[test]
fn what_was_there_before_is_named_and_not_taken_over() {
    runtime().block_on(async {
        for mut bed in Bed::all("taken").await {
            let mut service = bed.of("v1", "Service", "order-db");
            // As `kubectl create` does.
            service["spec"] = json!({"selector": {"app": "shop"}, "ports": [{"name": "http", "port": 80}]});
            let path = format!("/api/v1/namespaces/{}/services?fieldManager=kubectl-create", bed.namespace);
            bed.server.send("POST", &path, "application/json", &service).await.ok().unwrap();
            let before = bed.server.get(&service).await.body;
            bed.apply(&database("order-db", &json!({}))).await;
            bed.start(&[]).await;
            bed.until("it waits for a person", async |bed| {
                let stalled = bed.condition("order-db", "Stalled").await;
                let message = stalled["message"].as_str().unwrap_or_default();
                stalled["reason"] == "Contested" && message.starts_with("Service order-db was there before")
            })
            .await;
            // The rest is made.
            bed.until("its members are ready", async |bed| {
                condition(&bed.database("order-db").await, "Ready") == "True"
            })
            .await;
            let after = bed.server.get(&service).await.body;
            assert_eq!(after["metadata"]["resourceVersion"], before["metadata"]["resourceVersion"]);
            bed.delete(&service).await;
            bed.apply(&database("order-db", &json!({"resources": {"cpu": "150m"}}))).await;
            bed.until("it has its own Service", async |bed| {
                bed.server.get(&service).await.body["spec"]["selector"]["app.example.com/database"] == "order-db"
            })
            .await;
            bed.end().await;
        }
    });
}

#[test]
fn one_that_is_wrong_waits_for_its_next_change_and_stops_nobody() {
    runtime().block_on(async {
        for mut bed in Bed::all("invalid").await {
            bed.apply(&database("wrong", &json!({"version": "9.4"}))).await;
            bed.apply(&database("right", &json!({}))).await;
            bed.start(&[]).await;
            bed.until("the right one is ready", async |bed| condition(&bed.database("right").await, "Ready") == "True")
                .await;
            bed.until("the wrong one says so", async |bed| {
                condition(&bed.database("wrong").await, "Stalled") == "True"
            })
            .await;
            let wrong = bed.database("wrong").await;
            assert_eq!(wrong["status"]["phase"], "Failed");
            let message = bed.condition("wrong", "Stalled").await["message"].as_str().unwrap().to_owned();
            assert!(message.contains("spec.version") && message.contains("DBR"), "{message}");
            assert_eq!(bed.server.get(&bed.of("apps/v1", "StatefulSet", "wrong")).await.code, 404);
            bed.apply(&database("wrong", &json!({"version": "17"}))).await;
            bed.until("it is mended", async |bed| condition(&bed.database("wrong").await, "Ready") == "True").await;
            assert_eq!(bed.condition("wrong", "Stalled").await["status"], "False");
            bed.end().await;
        }
    });
}

#[test]
fn of_two_that_would_write_the_same_object_the_elder_has_it() {
    runtime().block_on(async {
        for mut bed in Bed::newest("neighbours").await {
            bed.apply(&database("shop", &json!({"replicas": 2}))).await;
            bed.start(&[]).await;
            bed.until("the first is ready", async |bed| condition(&bed.database("shop").await, "Ready") == "True")
                .await;
            let service = bed.of("v1", "Service", "shop-ro");
            let before = bed.server.get(&service).await.body["spec"]["selector"].clone();
            bed.apply(&database("shop-ro", &json!({}))).await;
            bed.until("the second says so", async |bed| {
                bed.condition("shop-ro", "Stalled").await["message"]
                    .to_string()
                    .contains("would both write Service shop-ro")
            })
            .await;
            assert_eq!(bed.server.get(&service).await.body["spec"]["selector"], before);
            assert_eq!(bed.server.get(&bed.of("apps/v1", "StatefulSet", "shop-ro")).await.code, 404);
            bed.end().await;
        }
    });
}

#[test]
fn volumes_grow_around_running_members() {
    runtime().block_on(async {
        for mut bed in Bed::all("growth").await {
            bed.apply(&database("order-db", &json!({"replicas": 2}))).await;
            bed.start(&[]).await;
            bed.until("it is ready", async |bed| condition(&bed.database("order-db").await, "Ready") == "True").await;
            let pods = [bed.of("v1", "Pod", "order-db-0"), bed.of("v1", "Pod", "order-db-1")];
            let uids = [bed.uid(&pods[0]).await, bed.uid(&pods[1]).await];
            bed.apply(&database("order-db", &json!({"replicas": 2, "storage": {"size": "2Gi"}}))).await;
            let set = bed.of("apps/v1", "StatefulSet", "order-db");
            bed.until("the StatefulSet has the new size", async |bed| {
                let set = bed.server.get(&set).await.body;
                set["spec"]["volumeClaimTemplates"][0]["spec"]["resources"]["requests"]["storage"] == "2Gi"
            })
            .await;
            for ordinal in 0..2 {
                let claim = bed.of("v1", "PersistentVolumeClaim", &format!("data-order-db-{ordinal}"));
                let claim = bed.server.get(&claim).await.body;
                assert_eq!(claim["spec"]["resources"]["requests"]["storage"], "2Gi");
            }
            bed.until("it is ready again", async |bed| condition(&bed.database("order-db").await, "Ready") == "True")
                .await;
            assert_eq!([bed.uid(&pods[0]).await, bed.uid(&pods[1]).await], uids, "no pod was touched");

            // Back is refused: by the definition's own rule, before anybody else.
            let smaller = database("order-db", &json!({"replicas": 2, "storage": {"size": "1Gi"}}));
            assert_eq!(bed.try_apply(&smaller).await, 422);
            bed.end().await;
        }
    });
}

#[test]
fn what_holds_data_and_passwords_outlives_its_database() {
    runtime().block_on(async {
        for mut bed in Bed::all("retain").await {
            bed.apply(&database("order-db", &json!({}))).await;
            bed.start(&[]).await;
            bed.until("it is ready", async |bed| condition(&bed.database("order-db").await, "Ready") == "True").await;
            let rendered = bed.rendered("order-db").await;
            // In the foreground, as Argo CD deletes.
            bed.delete_by(&bed.of("app.example.com/v1alpha1", "Database", "order-db"), "Foreground").await;
            bed.until("it is gone", async |bed| bed.database_code("order-db").await == 404).await;
            for object in &rendered {
                let stays = matches!(object["kind"].as_str(), Some("Secret" | "PersistentVolumeClaim"));
                if stays {
                    assert_eq!(
                        bed.server.get(object).await.code,
                        200,
                        "{} {}",
                        object["kind"],
                        object["metadata"]["name"]
                    );
                } else {
                    let what = format!("{} {} is gone", object["kind"], object["metadata"]["name"]);
                    bed.until(&what, async |bed| bed.server.get(object).await.code == 404).await;
                }
            }
            let claim = bed.of("v1", "PersistentVolumeClaim", "data-order-db-0");
            let before = bed.uid(&claim).await;
            // Declared again, it finds its volumes and its passwords.
            bed.apply(&database("order-db", &json!({}))).await;
            bed.until("it is ready again", async |bed| condition(&bed.database("order-db").await, "Ready") == "True")
                .await;
            assert_eq!(bed.uid(&claim).await, before);
            bed.end().await;
        }
    });
}

#[test]
fn a_database_with_its_data_goes_after_a_last_backup_only() {
    runtime().block_on(async {
        for mut bed in Bed::all("delete").await {
            let spec = json!({"deletionPolicy": "Delete"});
            let refusals = bed.without_pods_of_backups().await;
            bed.apply(&database("order-db", &spec)).await;
            bed.start(&[]).await;
            bed.until("it is ready", async |bed| condition(&bed.database("order-db").await, "Ready") == "True").await;
            let job = bed.of("batch/v1", "Job", "order-db-final-backup");
            let set = bed.of("apps/v1", "StatefulSet", "order-db");
            let claim = bed.of("v1", "PersistentVolumeClaim", "data-order-db-0");
            bed.delete_by(&bed.of("app.example.com/v1alpha1", "Database", "order-db"), "Foreground").await;
            bed.finish(&job, "Failed").await;
            bed.until("it waits for a person", async |bed| {
                condition(&bed.database("order-db").await, "Stalled") == "True"
            })
            .await;
            assert_eq!(bed.condition("order-db", "Stalled").await["reason"], "FinalBackupFailed");
            assert_eq!((bed.server.get(&set).await.code, bed.server.get(&claim).await.code), (200, 200));
            // The way out that the condition names: without the Job, it is tried again.
            let first = bed.uid(&job).await;
            bed.delete(&job).await;
            bed.until("there is another", async |bed| {
                let answer = bed.server.get(&job).await;
                answer.code == 200 && answer.body["metadata"]["uid"] != first.as_str()
            })
            .await;
            bed.finish(&job, "Complete").await;
            bed.until("it is gone", async |bed| bed.database_code("order-db").await == 404).await;
            for object in [&set, &claim, &bed.of("v1", "Secret", "order-db-app"), &job] {
                let what = format!("{} {} is gone", object["kind"], object["metadata"]["name"]);
                bed.until(&what, async |bed| bed.server.get(object).await.code == 404).await;
            }
            let backups = bed.of("v1", "PersistentVolumeClaim", "order-db-backup");
            assert_eq!(bed.server.get(&backups).await.code, 200, "the last backup is on it");
            for object in &refusals {
                bed.delete(object).await;
            }
            bed.end().await;
        }
    });
}

#[test]
fn a_controller_that_only_watches_writes_the_status_and_nothing_else() {
    runtime().block_on(async {
        for mut bed in Bed::all("observe").await {
            bed.apply(&database("order-db", &json!({}))).await;
            bed.start(&["--mode", "observe"]).await;
            bed.until("it says what is missing", async |bed| {
                condition(&bed.database("order-db").await, "Drifted") == "True"
            })
            .await;
            let stored = bed.database("order-db").await;
            assert!(stored["metadata"]["finalizers"].is_null(), "{}", stored["metadata"]);
            assert_eq!(bed.server.get(&bed.of("apps/v1", "StatefulSet", "order-db")).await.code, 404);
            // Somebody else applies.
            for object in bed.rendered("order-db").await {
                bed.server.apply(&object).await.ok().unwrap();
            }
            // There is no kubelet that would run the Job.
            bed.fill("order-db");
            bed.until("it is in sync", async |bed| condition(&bed.database("order-db").await, "Drifted") == "False")
                .await;
            bed.until("it is ready", async |bed| condition(&bed.database("order-db").await, "Ready") == "True").await;
            bed.delete(&bed.of("app.example.com/v1alpha1", "Database", "order-db")).await;
            bed.until("it is gone", async |bed| bed.database_code("order-db").await == 404).await;
            assert_eq!(bed.server.get(&bed.of("apps/v1", "StatefulSet", "order-db")).await.code, 200);
            bed.end().await;
        }
    });
}

#[test]
fn one_leads_and_another_takes_over_when_it_is_killed_or_frozen() {
    runtime().block_on(async {
        for mut bed in Bed::newest("leader").await {
            bed.start(&[]).await;
            let first = bed.holder().await;
            let mut second = bed.another().await;
            bed.freeze();
            bed.until("the other leads", async |bed| !bed.holder().await.is_empty() && bed.holder().await != first)
                .await;
            bed.apply(&database("order-db", &json!({}))).await;
            bed.until("the other works", async |bed| condition(&bed.database("order-db").await, "Ready") == "True")
                .await;
            // The first wakes with a change to write and finds that its term is over.
            let woken = jiff::Timestamp::now().to_string();
            bed.apply(&database("order-db", &json!({"replicas": 2}))).await;
            bed.thaw();
            bed.until("it says so", async |bed| bed.told().await.contains("the Lease is lost")).await;
            bed.until("the other has written the change", async |bed| {
                bed.server.get(&bed.of("apps/v1", "StatefulSet", "order-db")).await.body["spec"]["replicas"] == 2
            })
            .await;
            let reads = ["get", "list", "watch"];
            let written: Vec<Value> = bed
                .audit(&bed.users[0], &woken)
                .into_iter()
                .filter(|entry| !reads.contains(&entry["verb"].as_str().unwrap()))
                .collect();
            assert!(written.is_empty(), "{written:?}");
            // It waits for its turn, and has it when the other is killed.
            second.kill().unwrap();
            second.wait().unwrap();
            bed.until("the first leads again", async |bed| bed.holder().await == first).await;
            bed.apply(&database("order-db", &json!({"replicas": 1}))).await;
            bed.until("the first works again", async |bed| {
                bed.server.get(&bed.of("apps/v1", "StatefulSet", "order-db")).await.body["spec"]["replicas"] == 1
            })
            .await;
            bed.kill();
            bed.start(&[]).await;
            assert_ne!(bed.holder().await, first, "it came after the one that was killed");
            bed.end().await;
        }
    });
}

/// The times in a Lease are those of another machine: one whose clock is wrong keeps what it renews, and no longer.
#[test]
fn a_holder_whose_clock_is_an_hour_off_leads_as_long_as_it_renews() {
    runtime().block_on(async {
        for mut bed in Bed::newest("skew").await {
            let lease = bed.of("coordination.k8s.io/v1", "Lease", "db-operator-leader");
            let held = |off: i64, turn: usize| {
                let mut lease = lease.clone();
                let time = jiff::Timestamp::now() + jiff::SignedDuration::from_secs(off);
                let time = jiff::Timestamp::from_microsecond(time.as_microsecond()).unwrap();
                lease["spec"] = json!({"holderIdentity": "elsewhere", "leaseDurationSeconds": 15,
                    "leaseTransitions": turn, "renewTime": format!("{time:.6}"), "acquireTime": format!("{time:.6}")});
                lease
            };
            bed.server.apply(&held(-3600, 0)).await.ok().unwrap();
            let since = jiff::Timestamp::now().to_string();
            let mut waits = bed.another().await;
            let looks = |bed: &Bed| {
                let of_leases = |entry: &&Value| entry["objectRef"]["resource"] == "leases" && entry["verb"] == "get";
                bed.audit(&bed.users[1], &since).iter().filter(of_leases).count()
            };
            // A look every two seconds: ten are more than a Lease lasts.
            for turn in 1..=10 {
                bed.until("it has looked again", async |bed| looks(bed) >= turn).await;
                let renewed = held(if turn == 10 { 3600 } else { -3600 }, turn);
                bed.server.apply(&renewed).await.ok().unwrap();
                assert_eq!(bed.holder().await, "elsewhere", "{}", bed.told().await);
            }
            // Its last renewal is of the next hour, and there is no other.
            bed.until("it leads now", async |bed| !["", "elsewhere"].contains(&bed.holder().await.as_str())).await;
            waits.kill().unwrap();
            waits.wait().unwrap();
            bed.end().await;
        }
    });
}

/// Starts a controller that makes passwords, with a Database that has them. Returns its platform file.
async fn filled(bed: &mut Bed) -> String {
    let platform = bed.file(
        "platform.yaml",
        "apiVersion: dbrender.app.example.com/v1alpha1\nkind: Platform\ncredentials: {generator: controller}\n",
    );
    bed.apply(&database("order-db", &json!({}))).await;
    bed.start(&["--platform", &platform]).await;
    bed.until("they are filled", async |bed| condition(&bed.database("order-db").await, "CredentialsReady") == "True")
        .await;
    platform
}

#[test]
fn passwords_are_filled_by_the_controller_where_that_is_its_task() {
    runtime().block_on(async {
        for mut bed in Bed::newest("fill").await {
            let platform = filled(&mut bed).await;
            let secret = bed.server.get(&bed.of("v1", "Secret", "order-db-app")).await.body;
            assert!(secret["data"]["password"].as_str().is_some_and(|text| !text.is_empty()));
            let filled: Value = secret["data"]["password"].clone();
            // Not again, whatever happens to the rest.
            bed.patch(&bed.of("v1", "Secret", "order-db-app"), "kubectl", json!({"metadata": {"labels": {"a": "b"}}}))
                .await;
            bed.stop().await;
            bed.start(&["--platform", &platform]).await;
            bed.until("it has looked", async |bed| bed.metric("dbrender_reconciles_total{result=\"done\"}").await > 0)
                .await;
            let secret = bed.server.get(&bed.of("v1", "Secret", "order-db-app")).await.body;
            assert_eq!(secret["data"]["password"], filled);
            bed.end().await;
        }
    });
}

#[test]
fn passwords_are_made_anew_when_an_annotation_asks_for_it_and_once() {
    runtime().block_on(async {
        for mut bed in Bed::newest("rotate").await {
            let platform = filled(&mut bed).await;
            let secrets = [bed.of("v1", "Secret", "order-db-app"), bed.of("v1", "Secret", "order-db-admin")];
            let data = async |bed: &Bed| {
                [
                    bed.server.get(&secrets[0]).await.body["data"].clone(),
                    bed.server.get(&secrets[1]).await.body["data"].clone(),
                ]
            };
            let before = data(&bed).await;
            let declared = bed.of("app.example.com/v1alpha1", "Database", "order-db");
            let ask =
                |value: Value| json!({"metadata": {"annotations": {"app.example.com/rotate-credentials": value}}});
            bed.patch(&declared, "kubectl", ask(json!("password, backup-password"))).await;
            bed.until("the annotation is gone", async |bed| {
                bed.database("order-db").await["metadata"]["annotations"]["app.example.com/rotate-credentials"]
                    .is_null()
            })
            .await;
            let after = data(&bed).await;
            assert_ne!(after[0]["password"], before[0]["password"]);
            assert_ne!(after[0]["uri"], before[0]["uri"], "it holds the password");
            assert_ne!(after[1]["backup-password"], before[1]["backup-password"]);
            for (of, keys) in [(0, &["password", "uri"][..]), (1, &["backup-password"])] {
                for (key, value) in before[of].as_object().unwrap() {
                    assert!(keys.contains(&key.as_str()) || after[of][key] == *value, "{key} was not asked for");
                }
            }
            bed.until("it is told", async |bed| {
                bed.events("order-db").await.iter().any(|event| event["reason"] == "CredentialsRotated")
            })
            .await;
            // A look at everything changes nothing more.
            bed.stop().await;
            bed.start(&["--platform", &platform]).await;
            bed.until("it has looked", async |bed| bed.metric("dbrender_reconciles_total{result=\"done\"}").await > 0)
                .await;
            assert_eq!(data(&bed).await, after);

            bed.patch(&declared, "kubectl", ask(json!("passwort"))).await;
            bed.until("it says what is wrong", async |bed| {
                bed.condition("order-db", "Stalled").await["message"].to_string().contains("passwort")
            })
            .await;
            assert_eq!(data(&bed).await, after);
            bed.end().await;
        }
    });
}
