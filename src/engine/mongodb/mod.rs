//! MongoDB: what its pods run. See `README.md` in this folder for the inside of a pod.

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
const PORT: u16 = 27017;
/// Port of a server that no replica set counts yet.
const WAIT_PORT: u16 = 27018;
/// Port of the exporter.
const METRICS_PORT: u16 = 9216;
/// Most members that a Database can have; all of them vote, and the server lets no more than seven.
const MEMBERS_MAX: u8 = 7;
/// Longest time that a server may take to stop: leaving, 15 s of quiet, and a last checkpoint.
const GRACE_SECONDS: i64 = 120;
/// Bytes of the members' shared key. The server takes 1024 characters of base64.
const KEY_FILE_BYTES: usize = 756;

/// The engine.
pub(super) struct MongoDb;

impl Engine for MongoDb {
    fn name(&self) -> EngineName {
        EngineName::Mongodb
    }

    fn title(&self) -> &'static str {
        "MongoDB"
    }

    fn releases(&self, edition: u32) -> &'static [Release] {
        releases::of_edition(edition)
    }

    /// `Manual` is refused by a rule of its own, for every version.
    fn trial(&self, _series: &str, _profile: Profile) -> Trial {
        Trial::Parts("its scripts have run with stand-ins and models alone")
    }

    fn check(&self, spec: &DatabaseSpec, out: &mut Problems) {
        rules::check(spec, out);
    }

    fn update(&self, old: &DatabaseSpec, new: &DatabaseSpec, out: &mut Problems) {
        rules::update(old, new, out);
    }

    fn parameters(&self, spec: &DatabaseSpec, series: &str, out: &mut Problems) -> BTreeMap<String, String> {
        rules::parameters(spec, series, out)
    }

    fn even_members(&self, replicas: u8, _profile: Profile) -> Option<&'static str> {
        match replicas {
            2 => Some("with 2 members, the loss of either stops all writes: one of two is no majority"),
            4 => Some("4 members survive the loss of one, as 3 do: two of four are no majority"),
            6 => Some("6 members survive the loss of two, as 5 do: three of six are no majority"),
            _ => None,
        }
    }

    /// There are none: a secondary applies what a primary of any size has written.
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
        let (hosts, options) = (entry("hosts")?, entry("options")?);
        Some(format!("mongodb://{}:{}@{hosts}/{}?{options}", username?, password?, database?))
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
        let mut app_facts = facts::of_application(plan, PORT);
        app_facts.extend([
            // Users are in this database, whichever they work in.
            ("authentication-database", "admin".to_owned()),
            ("hosts", hosts(plan)),
            ("options", options(plan)),
        ]);
        Facts {
            init: server::init_containers(plan),
            containers: server::containers(plan),
            volumes: server::volumes(plan),
            grace_seconds: GRACE_SECONDS,
            config: configuration::all(plan),
            scripts: SCRIPTS,
            run_config_maps: Vec::new(),
            pod_labels: BTreeMap::new(),
            access: Vec::new(),
            primary: RoleSelector::AllMembers,
            has_read_service: false,
            member_ports: server::member_ports(),
            app_facts,
            restart_settings: settings::needing_restart(plan),
            backup: tasks::backup(plan),
            restore: tasks::restore(plan),
            endpoint: format!("mongodb://{}/{}?{}", hosts(plan), plan.database, options(plan)),
        }
    }
}

/// The members by name. Clients find the primary, and members that come later, from any of them.
fn hosts(plan: &Plan) -> String {
    let host = |ordinal| format!("{}-{ordinal}.{}:{PORT}", plan.name, plan.members_domain());
    (0..plan.replicas).map(host).collect::<Vec<_>>().join(",")
}

/// What stands behind the question mark of a connection URI.
fn options(plan: &Plan) -> String {
    let tls = if plan.tls_secret.is_some() { "&tls=true" } else { "" };
    format!("authSource=admin&replicaSet={}{tls}", plan.name)
}

/// Passwords of the server's own users, and the members' shared key, which is for ever.
const ADMIN_KEYS: [StoredKey; 5] = [
    StoredKey::Password("backup-password"),
    StoredKey::KeyFile("keyfile", KEY_FILE_BYTES),
    StoredKey::Password("monitor-password"),
    StoredKey::Password("restore-password"),
    StoredKey::Password("root-password"),
];

macro_rules! scripts {
    ($($name:literal)*) => { &[ $( ($name, include_str!(concat!("scripts/", $name))), )* ] };
}

/// Every file of the folder `scripts`, by name. `tests/engine_files.rs` fails when one is missing here. Those that speak
/// of no server are links to the same files of another engine.
const SCRIPTS: &[(&str, &str)] = scripts! {
    "accounts.js" "agent.js" "agent.sh" "archive.sh" "backup.sh" "bucket.sh" "connection.sh" "decide.js" "download.sh"
    "guard.sh" "leave.sh" "members.js" "message.sh" "probe.sh" "restore.sh" "server.js" "setup.sh" "start.sh"
    "tasks.js" "upload.sh" "verify.js" "volume.sh"
};

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use crate::api::{Database, Quantity};
    use crate::check::{Ground, check};
    use crate::engine::{Engine, EnvVar, StoredKey};
    use crate::plan::Plan;
    use crate::render::render;
    use serde_json::{Value, json};

    fn plan(changes: &Value) -> Plan {
        let mut spec = json!({"engine": "mongodb", "version": "8.0", "storage": {"size": "10Gi"}});
        if let (Some(spec), Some(changes)) = (spec.as_object_mut(), changes.as_object()) {
            spec.extend(changes.clone());
        }
        let database: Database = serde_json::from_value(json!({
            "apiVersion": "app.example.com/v1alpha1",
            "kind": "Database",
            "metadata": {"name": "order-db", "namespace": "production"},
            "spec": spec,
        }))
        .unwrap();
        let checked = check(&database, &Ground::default(), None);
        checked.plan.unwrap_or_else(|| panic!("{:?}", checked.problems))
    }

    fn configuration(changes: &Value) -> Value {
        let text = super::configuration::all(&plan(changes)).remove("mongod.conf").unwrap();
        yaml_serde::from_str(&text).unwrap_or_else(|error| panic!("{error}\n{text}"))
    }

    #[test]
    fn the_pod_template_is_the_same_for_one_member_and_for_seven() {
        let templates: BTreeSet<String> = (1..=7)
            .map(|replicas| {
                let objects = render(&plan(&json!({"replicas": replicas}))).objects();
                let set = objects.into_iter().find(|object| object.kind == "StatefulSet").unwrap().value;
                assert_eq!(set["spec"]["replicas"], json!(replicas));
                set["spec"]["template"].to_string() + &set["spec"]["volumeClaimTemplates"].to_string()
            })
            .collect();
        assert_eq!(templates.len(), 1);
    }

    /// The URI is made by a Job, and a Job runs once: other members have to be another Job.
    #[test]
    fn other_members_are_another_job_of_the_credentials() {
        let job = |replicas: u8| {
            let objects = render(&plan(&json!({"replicas": replicas}))).objects();
            objects.into_iter().find(|object| object.kind == "Job").unwrap().name
        };
        assert_eq!(job(1), job(1));
        assert_ne!(job(1), job(3));
    }

    #[test]
    fn the_file_is_the_tree_that_the_server_reads() {
        assert_eq!(
            configuration(&json!({"resources": {"memory": "4Gi"}})),
            json!({
                "net": {"bindIpAll": true, "port": 27017, "unixDomainSocket": {"pathPrefix": "/var/run/mongodb"}},
                "replication": {"replSetName": "order-db"},
                "security": {"authorization": "enabled", "keyFile": "/var/run/mongodb/keyfile"},
                "storage": {
                    "dbPath": "/data/db/data",
                    "engine": "wiredTiger",
                    "wiredTiger": {"engineConfig": {"cacheSizeGB": 1.5}},
                },
            })
        );
        let with = configuration(&json!({
            "tls": {"secretName": "order-db-tls"},
            "parameters": {
                "logLevel": "1",
                "planCacheSize": "8.5%",
                "storage.wiredTiger.engineConfig.cacheSizeGB": "0.3",
                "systemLog.component.replication.election.verbosity": "2",
                "systemLog.component.replication.verbosity": "1",
            },
        }));
        assert_eq!(with["net"]["tls"]["mode"], json!("allowTLS"));
        assert_eq!(with["setParameter"], json!({"logLevel": 1, "planCacheSize": "8.5%"}));
        assert_eq!(with["storage"]["wiredTiger"]["engineConfig"]["cacheSizeGB"], json!(0.3));
        assert_eq!(
            with["systemLog"]["component"]["replication"],
            json!({"election": {"verbosity": 2}, "verbosity": 1})
        );
    }

    /// A name such as `on` or `1e3`, and a value with a quote, are text to the server.
    #[test]
    fn text_stays_text() {
        let mut plan = plan(&json!({}));
        for name in ["on", "1e3", "a: b", "a\"b\\c # d"] {
            plan.name = name.to_owned();
            let text = super::configuration::all(&plan).remove("mongod.conf").unwrap();
            let read: Value = yaml_serde::from_str(&text).unwrap();
            assert_eq!(read["replication"]["replSetName"], json!(name));
        }
    }

    #[test]
    fn a_running_server_gets_what_it_takes_and_the_rest_restarts_it() {
        let settings =
            json!({"parameters": {"logLevel": "1", "net.maxIncomingConnections": "500", "planCacheSize": "5%"}});
        let (with, without) = (plan(&settings), plan(&json!({})));
        let dynamic: Value = serde_json::from_str(&super::settings::dynamic(&with)).unwrap();
        assert_eq!(dynamic, json!({"logLevel": 1, "planCacheSize": "5%"}));
        assert_eq!(super::settings::dynamic(&without), "{}\n");
        let (mut with, without) = (super::settings::needing_restart(&with), super::settings::needing_restart(&without));
        assert_eq!(with.remove("net.maxIncomingConnections").as_deref(), Some("500"));
        assert_eq!(with, without);
    }

    /// Half of the memory above 1 GiB, and so little of a small one that the rest fits.
    #[test]
    fn the_cache_leaves_room() {
        for mib in [768u64, 1024, 2048, 4096, 65536] {
            let mut plan = plan(&json!({}));
            plan.memory = Quantity::parse(&format!("{mib}Mi")).unwrap();
            let text = super::configuration::all(&plan).remove("mongod.conf").unwrap();
            let read: Value = yaml_serde::from_str(&text).unwrap();
            let cache = read["storage"]["wiredTiger"]["engineConfig"]["cacheSizeGB"].as_f64().unwrap();
            assert!((0.25..=10000.0).contains(&cache), "the server takes no other");
            let memory = f64::from(u32::try_from(mib).unwrap()) / 1024.0;
            assert!(cache <= memory / 2.0, "{cache} GiB of {memory}");
        }
    }

    #[test]
    fn the_uri_names_every_member_and_escapes_what_a_uri_has_to() {
        let plan = plan(&json!({"replicas": 2, "tls": {"secretName": "t"}}));
        let facts = super::MongoDb.facts(&plan);
        let hosts = "order-db-0.order-db-headless.production.svc.cluster.local:27017,\
                     order-db-1.order-db-headless.production.svc.cluster.local:27017";
        assert_eq!(facts.endpoint, format!("mongodb://{hosts}/app?authSource=admin&replicaSet=order-db&tls=true"));
        let entry = |key: &str| match key {
            "password" => Some("p@s:/".to_owned()),
            key => facts.app_facts.get(key).cloned(),
        };
        let uri = super::MongoDb.uri(&entry).unwrap();
        assert_eq!(uri, format!("mongodb://app:p%40s%3A%2F@{hosts}/app?authSource=admin&replicaSet=order-db&tls=true"));
        assert_eq!(super::MongoDb.uri(&|key| entry(key).filter(|_| key != "password")), None);
    }

    /// The manual: 6 to 1024 characters of base64.
    #[test]
    fn the_key_file_is_one_that_the_server_takes() {
        let bytes = super::ADMIN_KEYS.iter().find_map(|key| match key {
            StoredKey::KeyFile("keyfile", bytes) => Some(*bytes),
            _ => None,
        });
        let characters = bytes.unwrap().div_ceil(3) * 4;
        assert!((6..=1024).contains(&characters), "{characters}");
    }

    #[test]
    fn only_the_exporter_has_a_password_in_its_environment() {
        let plan = plan(&json!({"monitoring": {"enabled": true}}));
        let facts = super::MongoDb.facts(&plan);
        for container in facts.init.iter().chain(&facts.containers).chain(&facts.backup.init) {
            let secrets = container.env.iter().filter(|variable| matches!(variable, EnvVar::SecretKey { .. })).count();
            assert_eq!(secrets, usize::from(container.name == "exporter"), "{}", container.name);
        }
    }
}
