//! Two controllers beside each other, each with its part of the fleet.

use std::collections::BTreeSet;

use dbrender::controller::Shard;
use serde_json::{Value, json};

use crate::bed::{Bed, condition, database};
use crate::runtime;

/// The Databases of which a user has written something.
fn served(bed: &Bed, user: &str, since: &str) -> BTreeSet<String> {
    let is_write = |entry: &&Value| !["get", "list", "watch"].contains(&entry["verb"].as_str().unwrap());
    let name = |entry: &Value| {
        let object = &entry["objectRef"];
        let counts = ["databases", "statefulsets"].contains(&object["resource"].as_str().unwrap_or_default());
        counts.then(|| object["name"].as_str().unwrap_or_default().to_owned())
    };
    bed.audit(user, since).iter().filter(is_write).filter_map(name).collect()
}

#[test]
fn each_database_is_served_by_just_one_of_two_that_share_the_fleet() {
    runtime().block_on(async {
        for mut bed in Bed::newest("shards").await {
            let since = jiff::Timestamp::now().to_string();
            let parts = ["1/2", "2/2"].map(|part| Shard::parse(part).unwrap());
            // Two of each: there are four volumes.
            let of = |part: Shard| {
                let names = (0..).map(|number| format!("shop-{number}x"));
                names.filter(|name| part.holds(&bed.namespace, name)).take(2).collect::<BTreeSet<String>>()
            };
            let names = parts.map(of);
            for name in names.iter().flatten() {
                bed.apply(&database(name, &json!({}))).await;
            }
            bed.start(&["--shard", "1/2"]).await;
            let mut other = bed.beside(&["--shard", "2/2"]).await;
            for name in names.iter().flatten() {
                bed.until("it is ready", async |bed| condition(&bed.database(name).await, "Ready") == "True").await;
            }
            // Each has its own Lease, and the one of a fleet that is not split is nobody's.
            let mut holders = BTreeSet::new();
            for part in ["1-of-2", "2-of-2"] {
                let lease = bed.of("coordination.k8s.io/v1", "Lease", &format!("db-operator-leader-{part}"));
                let lease = bed.server.get(&lease).await.body;
                holders.insert(lease["spec"]["holderIdentity"].as_str().unwrap().to_owned());
            }
            assert_eq!((holders.len(), bed.holder().await.as_str()), (2, ""), "{holders:?}");
            // A change is written by whom it belongs to, too.
            for name in names.iter().flatten() {
                bed.apply(&database(name, &json!({"resources": {"cpu": "150m"}}))).await;
                let set = bed.of("apps/v1", "StatefulSet", name);
                bed.until("it is applied", async |bed| {
                    let set = bed.server.get(&set).await.body;
                    set["spec"]["template"]["spec"]["containers"][0]["resources"]["requests"]["cpu"] == "150m"
                })
                .await;
            }
            for (user, names) in bed.users.iter().zip(&names) {
                assert_eq!(served(&bed, user, &since), *names, "{user}");
            }
            other.kill().unwrap();
            other.wait().unwrap();
            bed.end().await;
        }
    });
}
