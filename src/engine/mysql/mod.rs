//! MySQL: what its pods run, in both profiles. See `README.md` in this folder for the inside of a pod.

mod configuration;
mod parameters;
mod releases;
mod reserved;
mod rules;
mod server;
mod settings;
mod value;

use std::collections::BTreeMap;

use crate::api::{DatabaseSpec, EngineName};
use crate::engine::{Engine, Facts, Release, RoleSelector, StoredKey, Trial, VersionMove, facts, tasks, uri_part};
use crate::plan::{Plan, Profile};
use crate::problem::Problems;

/// Port of the server.
const PORT: u16 = 3306;
/// Port on which the members of a group speak with each other.
const GROUP_PORT: u16 = 33061;
/// Port of the exporter.
const METRICS_PORT: u16 = 9104;
/// Most members that a Database can have: the Role may not change with `replicas`.
const MEMBERS_MAX: u8 = 7;
/// Longest time that a server may take to stop.
const GRACE_SECONDS: i64 = 600;

/// The engine.
pub(super) struct MySql;

impl Engine for MySql {
    fn name(&self) -> EngineName {
        EngineName::Mysql
    }

    fn title(&self) -> &'static str {
        "MySQL"
    }

    fn releases(&self, edition: u32) -> &'static [Release] {
        releases::of_edition(edition)
    }

    fn trial(&self, series: &str, profile: Profile) -> Trial {
        releases::trial(series, profile)
    }

    fn check(&self, spec: &DatabaseSpec, out: &mut Problems) {
        rules::check(spec, out);
    }

    fn parameters(&self, spec: &DatabaseSpec, series: &str, out: &mut Problems) -> BTreeMap<String, String> {
        rules::parameters(spec, series, out)
    }

    fn even_members(&self, replicas: u8, profile: Profile) -> Option<&'static str> {
        match (profile, replicas) {
            (Profile::Automatic, 2) => {
                Some("with 2 members, the loss of either stops all writes: one of two is no majority")
            }
            (Profile::Automatic, 4) => Some("4 members survive the loss of one, as 3 do: two of four are no majority"),
            (Profile::Automatic, 6) => Some("6 members survive the loss of two, as 5 do: three of six are no majority"),
            // A standby more or less: members do not vote.
            _ => None,
        }
    }

    /// Standbys take any size of these: nothing of a primary's size is in its log.
    fn standby_settings(&self, _spec: &DatabaseSpec) -> Vec<(&'static str, i64)> {
        Vec::new()
    }

    fn exporter_image(&self, edition: u32) -> &'static str {
        releases::exporter_of_edition(edition)
    }

    fn client_port(&self) -> u16 {
        PORT
    }

    fn app_keys(&self) -> &'static [StoredKey] {
        &[StoredKey::Password("password"), StoredKey::Uri("uri")]
    }

    fn admin_keys(&self) -> &'static [StoredKey] {
        &ADMIN_KEYS
    }

    fn uri(&self, entry: &dyn Fn(&str) -> Option<String>) -> Option<String> {
        let [username, password, database] =
            ["username", "password", "database"].map(|key| entry(key).map(|v| uri_part(&v)));
        let (host, port) = (entry("host")?, entry("port")?);
        Some(format!("mysql://{}:{}@{host}:{port}/{}", username?, password?, database?))
    }

    fn run_config_map_suffixes(&self) -> &'static [&'static str] {
        &[]
    }

    fn run_config_map_annotations(&self) -> &'static [&'static str] {
        &[]
    }

    fn version_move(&self, from: &str, to: &str) -> VersionMove {
        releases::version_move(from, to)
    }

    fn facts(&self, plan: &Plan) -> Facts {
        let automatic = plan.profile == Profile::Automatic;
        Facts {
            init: server::init_containers(plan),
            containers: server::containers(plan),
            volumes: server::volumes(plan),
            grace_seconds: GRACE_SECONDS,
            config: configuration::all(plan),
            scripts: SCRIPTS,
            run_config_maps: Vec::new(),
            pod_labels: BTreeMap::new(),
            access: if automatic { server::access(plan) } else { Vec::new() },
            primary: if automatic { RoleSelector::Label } else { RoleSelector::Ordinal },
            has_read_service: automatic,
            member_ports: server::member_ports(plan),
            app_facts: facts::of_application(plan, PORT),
            restart_settings: settings::needing_restart(plan),
            backup: tasks::backup(plan),
            restore: tasks::restore(plan),
            endpoint: format!("{}:{PORT}", plan.service_host()),
        }
    }
}

/// Passwords of the server's own users. `root` exists on the socket only, for people.
const ADMIN_KEYS: [StoredKey; 5] = [
    StoredKey::Password("backup-password"),
    StoredKey::Password("monitor-password"),
    StoredKey::Password("replication-password"),
    StoredKey::Password("restore-password"),
    StoredKey::Password("root-password"),
];

macro_rules! scripts {
    ($($name:literal)*) => { &[ $( ($name, include_str!(concat!("scripts/", $name))), )* ] };
}

/// Every file of the folder `scripts`, by name. `tests/engine_files.rs` fails when one is missing here. Those that speak of no server are
/// links to the same files of the other engine.
const SCRIPTS: &[(&str, &str)] = scripts! {
    "accounts.sh" "agent-automatic.sh" "agent-manual.sh" "agent.sh" "archive.sh" "backup.sh" "bootstrap.sh" "bucket.sh"
    "connection.sh" "download.sh" "guard.sh" "leave.sh" "members.sh" "message.sh" "passwords.sh" "probe.sh" "restore.sh" "setup.sh"
    "start.sh" "upload.sh" "volume.sh"
};

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use crate::api::{Database, EngineName};
    use crate::check::{Ground, check};
    use crate::plan::{Plan, Profile, Version};
    use crate::render::render;
    use serde_json::{Value, json};

    /// A plan, whether `check` lets its profile through yet or not.
    fn plan(profile: Profile, replicas: u8) -> Plan {
        let database: Database = serde_json::from_value(json!({
            "apiVersion": "app.example.com/v1alpha1",
            "kind": "Database",
            "metadata": {"name": "order-db", "namespace": "production"},
            "spec": {"engine": "postgresql", "version": "18", "replicas": replicas, "storage": {"size": "10Gi"}},
        }))
        .unwrap();
        let mut plan = check(&database, &Ground::default(), None).plan.unwrap();
        plan.engine = EngineName::Mysql;
        plan.profile = profile;
        plan.version = Version { series: "9.7".to_owned(), exact: "9.7.2".to_owned() };
        plan
    }

    fn objects(plan: &Plan) -> Vec<(String, Value)> {
        render(plan)
            .objects()
            .into_iter()
            .map(|object| (format!("{}/{}", object.kind, object.name), object.value))
            .collect()
    }

    #[test]
    fn the_pod_template_is_the_same_for_one_member_and_for_seven() {
        for profile in [Profile::Automatic, Profile::Manual] {
            let templates: BTreeSet<String> = (1..=7)
                .map(|replicas| {
                    let objects = objects(&plan(profile, replicas));
                    let (_, set) = objects.into_iter().find(|(name, _)| name == "StatefulSet/order-db").unwrap();
                    assert_eq!(set["spec"]["replicas"], json!(replicas));
                    set["spec"]["template"].to_string() + &set["spec"]["volumeClaimTemplates"].to_string()
                })
                .collect();
            assert_eq!(templates.len(), 1, "{profile:?}");
        }
    }

    #[test]
    fn only_the_sidecar_of_automatic_has_a_token() {
        for (profile, automatic) in [(Profile::Automatic, true), (Profile::Manual, false)] {
            let objects: BTreeMap<String, Value> = objects(&plan(profile, 3)).into_iter().collect();
            let pod = &objects["StatefulSet/order-db"]["spec"]["template"]["spec"];
            let names: Vec<&str> =
                pod["containers"].as_array().unwrap().iter().map(|c| c["name"].as_str().unwrap()).collect();
            assert_eq!(names.contains(&"role"), automatic, "{names:?}");
            assert_eq!(pod["automountServiceAccountToken"], json!(false));
            let with_a_token = |c: &&Value| c["volumeMounts"].as_array().unwrap().iter().any(|m| m["name"] == "token");
            let with: Vec<&str> = pod["containers"]
                .as_array()
                .unwrap()
                .iter()
                .filter(with_a_token)
                .map(|c| c["name"].as_str().unwrap())
                .collect();
            assert_eq!(with, if automatic { vec!["role"] } else { Vec::new() });
            assert_eq!(objects.contains_key("Role/order-db"), automatic);
            assert_eq!(objects.contains_key("Service/order-db-ro"), automatic);
        }
    }

    /// Half of what is left above the server's own need, in pieces of the size by which it grows; and not so much that the
    /// rest does not fit.
    #[test]
    fn the_buffer_pool_leaves_room() {
        for (memory, pool) in [(768u64, 128u64), (1024, 256), (2048, 768), (4096, 1792), (65536, 32512)] {
            let mut plan = plan(Profile::Automatic, 1);
            plan.memory = crate::api::Quantity::parse(&format!("{memory}Mi")).unwrap();
            let settings = super::settings::all(&plan);
            assert_eq!(settings["innodb_buffer_pool_size"], (pool << 20).to_string(), "{memory}Mi");
            let number = |name: &str| settings[name].parse::<u64>().unwrap() >> 20;
            let known = number("innodb_buffer_pool_size") + number("loose_group_replication_message_cache_size") / 2;
            // 665 MiB were measured with 128 MiB of each: the cache of messages is empty while the group is well.
            assert!(known + 473 <= memory, "{known} MiB and the server's own in {memory}Mi");
        }
    }
}
