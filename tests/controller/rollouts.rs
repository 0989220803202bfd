//! How many Databases restart at a time, and when none does.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::bed::{Bed, condition, database};
use crate::runtime;
use crate::servers::path_of;

const NAMES: [&str; 3] = ["one", "two", "three"];

async fn set(bed: &Bed, name: &str) -> Value {
    bed.server.get(&bed.of("apps/v1", "StatefulSet", name)).await.body
}

fn image(set: &Value) -> String {
    set["spec"]["template"]["spec"]["containers"][0]["image"].as_str().unwrap_or_default().to_owned()
}

fn is_rolling(set: &Value) -> bool {
    set["status"]["currentRevision"] != set["status"]["updateRevision"]
        || set["status"]["observedGeneration"] != set["metadata"]["generation"]
}

async fn ready(bed: &Bed, name: &str) {
    bed.until(&format!("{name} is ready"), async |bed| condition(&bed.database(name).await, "Ready") == "True").await;
}

async fn reason(bed: &Bed, name: &str, of: &str) -> String {
    bed.condition(name, of).await["reason"].as_str().unwrap_or_default().to_owned()
}

fn platform(mirror: &str) -> String {
    format!(
        "apiVersion: dbrender.app.example.com/v1alpha1\nkind: Platform\nregistryMirror: {{docker.io: {mirror}, ghcr.io: {mirror}}}\n"
    )
}

#[test]
fn a_change_of_all_restarts_one_after_the_other() {
    runtime().block_on(async {
        for mut bed in Bed::newest("turns").await {
            for name in NAMES {
                bed.apply(&database(name, &json!({"replicas": 2}))).await;
            }
            let file = bed.file("platform.yaml", &platform("one.example.com"));
            bed.start(&["--platform", &file, "--max-rollouts", "1"]).await;
            for name in NAMES {
                ready(&bed, name).await;
            }
            bed.file("platform.yaml", &platform("two.example.com"));
            let mut seen = BTreeSet::new();
            let mut waited = false;
            let done = std::time::Instant::now() + std::time::Duration::from_secs(180);
            loop {
                let mut rolling = Vec::new();
                let mut changed = 0;
                for name in NAMES {
                    let set = set(&bed, name).await;
                    if is_rolling(&set) {
                        rolling.push(name);
                    } else if image(&set).starts_with("two.") {
                        changed += 1;
                    }
                    waited |= reason(&bed, name, "Reconciling").await == "RolloutQueued";
                }
                assert!(rolling.len() < 2, "{}: {rolling:?} at once", bed.server.minor);
                seen.extend(rolling);
                if changed == NAMES.len() {
                    break;
                }
                assert!(std::time::Instant::now() < done, "{}", bed.told().await);
                tokio::time::sleep(std::time::Duration::from_millis(100)).await;
            }
            assert!(waited, "nobody was told to wait");
            assert!(!seen.is_empty(), "no restart was seen");
            for name in NAMES {
                ready(&bed, name).await;
            }
            bed.end().await;
        }
    });
}

#[test]
fn one_that_does_not_become_ready_stops_the_others_until_a_person_says_so() {
    runtime().block_on(async {
        for mut bed in Bed::newest("stopped").await {
            let arguments = ["--max-rollouts", "2", "--rollout-patience", "5s"];
            for name in ["one", "two"] {
                bed.apply(&database(name, &json!({}))).await;
            }
            bed.start(&arguments).await;
            ready(&bed, "one").await;
            ready(&bed, "two").await;
            // There is no such node.
            let nowhere = json!({"scheduling": {"nodeSelector": {"type": "none"}}});
            bed.apply(&database("one", &nowhere)).await;
            bed.until("it has failed", async |bed| reason(bed, "one", "Stalled").await == "RolloutFailed").await;
            let cpu = json!({"resources": {"cpu": "600m", "memory": "1Gi"}});
            let before = set(&bed, "two").await["metadata"]["generation"].clone();
            bed.apply(&database("two", &cpu)).await;
            bed.until("it waits", async |bed| reason(bed, "two", "Reconciling").await == "RolloutsStopped").await;
            assert!(bed.condition("two", "Reconciling").await["message"].to_string().contains("/one did not"));
            // Whoever leads next knows it too.
            bed.stop().await;
            bed.start(&arguments).await;
            bed.until("it has looked", async |bed| bed.metric("dbrender_reconciles_total{result=\"done\"}").await >= 2)
                .await;
            // What needs no restart goes on.
            let service = bed.of("v1", "Service", "two");
            bed.delete(&service).await;
            bed.until("the Service is there again", async |bed| bed.server.get(&service).await.code == 200).await;

            // Mended, it is ready, and it still stops the others. A StatefulSet does not replace a pod that never was
            // ready: that is for a person.
            bed.apply(&database("one", &json!({}))).await;
            bed.until("it is mended", async |bed| {
                set(bed, "one").await["spec"]["template"]["spec"]["nodeSelector"]["type"] == "fake"
            })
            .await;
            let pod = bed.of("v1", "Pod", "one-0");
            bed.until("one is ready", async |bed| {
                // It is gone in between, and may come back as it was.
                if bed.server.get(&pod).await.body["spec"]["nodeSelector"]["type"] == "none" {
                    bed.server.send("DELETE", &path_of(&pod), "application/json", &Value::Null).await;
                }
                condition(&bed.database("one").await, "Ready") == "True"
            })
            .await;
            assert_eq!(reason(&bed, "one", "Stalled").await, "RolloutFailed");
            assert_eq!(set(&bed, "two").await["metadata"]["generation"], before);

            let one = bed.of("app.example.com/v1alpha1", "Database", "one");
            bed.patch(
                &one,
                "kubectl",
                json!({"metadata": {"annotations": {"app.example.com/resume-rollouts": "yes"}}}),
            )
            .await;
            bed.until("the other restarts", async |bed| set(bed, "two").await["metadata"]["generation"] != before)
                .await;
            ready(&bed, "two").await;
            assert_eq!(condition(&bed.database("one").await, "Stalled"), "False");
            let annotations = bed.database("one").await["metadata"]["annotations"].clone();
            assert!(annotations["app.example.com/resume-rollouts"].is_null(), "it counts once");
            bed.end().await;
        }
    });
}

#[test]
fn a_restart_waits_for_the_window_and_the_rest_does_not() {
    runtime().block_on(async {
        for mut bed in Bed::newest("window").await {
            bed.apply(&database("one", &json!({}))).await;
            bed.start(&[]).await;
            ready(&bed, "one").await;
            let days = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];
            let today = jiff::Timestamp::now().to_zoned(jiff::tz::TimeZone::UTC).weekday().to_monday_zero_offset();
            let window = format!("{} 02:00-03:00", days[(usize::try_from(today).unwrap() + 3) % 7]);
            let before = set(&bed, "one").await["metadata"]["generation"].clone();
            let mut changed = database("one", &json!({"resources": {"cpu": "600m", "memory": "1Gi"}}));
            changed["metadata"]["annotations"] = json!({"app.example.com/maintenance-window": window});
            bed.apply(&changed).await;
            bed.until("it waits", async |bed| reason(bed, "one", "Reconciling").await == "OutsideWindow").await;
            assert_eq!(condition(&bed.database("one").await, "Ready"), "True");
            let service = bed.of("v1", "Service", "one");
            bed.delete(&service).await;
            bed.until("the Service is there again", async |bed| bed.server.get(&service).await.code == 200).await;
            assert_eq!(set(&bed, "one").await["metadata"]["generation"], before);

            changed["metadata"]["annotations"] = json!({"app.example.com/maintenance-window": "00:00-24:00"});
            bed.apply(&changed).await;
            bed.until("it restarts", async |bed| set(bed, "one").await["metadata"]["generation"] != before).await;
            ready(&bed, "one").await;
            bed.end().await;
        }
    });
}
