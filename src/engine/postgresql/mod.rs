//! PostgreSQL: what its pods run, in both profiles. See `README.md` in this folder for the inside of a pod.

mod configuration;
mod limits;
mod parameters;
mod releases;
mod reserved;
mod rules;
mod server;
mod settings;
mod value;
mod wal_archive;

use std::collections::BTreeMap;

use crate::api::{DatabaseSpec, EngineName};
use crate::engine::{
    Engine, Facts, Release, RoleSelector, RunConfigMap, StoredKey, Trial, VersionMove, facts, tasks, uri_part,
};
use crate::plan::{Plan, Profile};
use crate::problem::Problems;

/// Port of the server, and of its replication.
const PORT: u16 = 5432;
/// Port of Patroni's REST API.
const PATRONI_PORT: u16 = 8008;
/// Port of the exporter.
const METRICS_PORT: u16 = 9187;
/// Most members that a Database can have: the Role may not change with `replicas`.
const MEMBERS_MAX: u8 = 7;
/// Longest time that a server may take for its last checkpoint.
const GRACE_SECONDS: i64 = 600;

/// The engine.
pub(super) struct PostgreSql;

impl Engine for PostgreSql {
    fn name(&self) -> EngineName {
        EngineName::Postgresql
    }

    fn title(&self) -> &'static str {
        "PostgreSQL"
    }

    fn releases(&self, edition: u32) -> &'static [Release] {
        releases::of_edition(edition)
    }

    fn trial(&self, _series: &str, _profile: Profile) -> Trial {
        Trial::Whole
    }

    fn check(&self, spec: &DatabaseSpec, out: &mut Problems) {
        rules::check(spec, out);
    }

    fn parameters(&self, spec: &DatabaseSpec, series: &str, out: &mut Problems) -> BTreeMap<String, String> {
        rules::parameters(spec, series, out)
    }

    fn even_members(&self, replicas: u8, _profile: Profile) -> Option<&'static str> {
        // Members do not vote: with four or six of them nothing fails that does not with three or five.
        (replicas == 2).then_some(
            "with 2 members, the loss of one leaves no standby: no commit waits for one, and nobody can take over",
        )
    }

    fn standby_settings(&self, spec: &DatabaseSpec) -> Vec<(&'static str, i64)> {
        rules::standby_settings(spec)
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
        Some(format!("postgresql://{}:{}@{host}:{port}/{}", username?, password?, database?))
    }

    fn run_config_map_suffixes(&self) -> &'static [&'static str] {
        &["patroni-config", "patroni-failover", "patroni-leader", "patroni-sync"]
    }

    /// Patroni 4.1, `dcs/kubernetes.py`: its lock, its history, a failover that was asked for, and who is synchronous.
    fn run_config_map_annotations(&self) -> &'static [&'static str] {
        &[
            "acquireTime",
            "failsafe",
            "history",
            "initialize",
            "leader",
            "member",
            "optime",
            "quorum",
            "renewTime",
            "retain_slots",
            "scheduled_at",
            "slots",
            "sync_standby",
            "transitions",
            "ttl",
        ]
    }

    fn version_move(&self, from: &str, to: &str) -> VersionMove {
        let numbers = |version: &str| version.split('.').map(|part| part.parse().unwrap_or(0)).collect::<Vec<u32>>();
        let (old, new) = (numbers(from), numbers(to));
        match (old.first() == new.first(), new < old) {
            (false, false) => VersionMove::Migration(
                "another major version cannot read these files: make a new Database of that version and restore a backup into it",
            ),
            (false, true) => {
                VersionMove::Migration("an older major version cannot read these files: only a dump can be taken back")
            }
            (true, true) => {
                VersionMove::Restart("an older minor of the same major version; what it mended is broken again")
            }
            (true, false) => VersionMove::Restart(""),
        }
    }

    fn archives_log(&self, profile: Profile) -> bool {
        profile == Profile::Manual
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
            run_config_maps: if automatic { run_config_maps(plan) } else { Vec::new() },
            pod_labels: if automatic { patroni_labels(plan) } else { BTreeMap::new() },
            access: if automatic { server::access(plan) } else { Vec::new() },
            primary: if automatic { RoleSelector::Label } else { RoleSelector::Ordinal },
            has_read_service: automatic,
            member_ports: server::member_ports(plan),
            app_facts: facts::of_application(plan, PORT),
            restart_settings: settings::needing_restart(plan),
            backup: wal_archive::backup(plan),
            restore: tasks::restore(plan),
            endpoint: format!("{}:{PORT}", plan.service_host()),
        }
    }
}

/// Passwords of the server's own users. `rewind` and `replication` are apart, because a standby needs both and neither
/// may read what the other reads.
const ADMIN_KEYS: [StoredKey; 6] = [
    StoredKey::Password("backup-password"),
    StoredKey::Password("monitor-password"),
    StoredKey::Password("patroni-password"),
    StoredKey::Password("replication-password"),
    StoredKey::Password("restore-password"),
    StoredKey::Password("rewind-password"),
];

macro_rules! scripts {
    ($($name:literal)*) => { &[ $( ($name, include_str!(concat!("scripts/", $name))), )* ] };
}

/// Every file of the folder `scripts`, by name. `tests/engine_files.rs` fails when one is missing here.
const SCRIPTS: &[(&str, &str)] = scripts! {
    "agent-automatic.sh" "agent-manual.sh" "agent.sh" "archive-wal.sh" "archive.sh" "archiver.sh" "backup.sh"
    "base-backup.sh" "bootstrap.sh" "bucket.sh" "clone.sh" "connection.sh" "download.sh" "fetch.sh" "guard.sh"
    "initdb.sh" "leave.sh" "members.sh" "message.sh" "passwords.sh" "patroni.sh" "probe.sh" "recover.sh"
    "restore-wal.sh" "restore.sh" "roles.sh" "setup.sh" "standby.sh" "start.sh" "upload.sh" "volume.sh"
};

/// Patroni's name for the cluster, and the start of its ConfigMaps' names.
fn scope(plan: &Plan) -> String {
    format!("{}-patroni", plan.name)
}

/// Label by which Patroni tells its objects from others'. Its value has to be the scope.
const SCOPE_LABEL: &str = "app.example.com/patroni-scope";

fn patroni_labels(plan: &Plan) -> BTreeMap<&'static str, String> {
    BTreeMap::from([(SCOPE_LABEL, scope(plan))])
}

/// Patroni's store. The dynamic configuration is rendered, so Git stays the truth for it; the others are rendered empty,
/// so that the Role needs no `create`.
fn run_config_maps(plan: &Plan) -> Vec<RunConfigMap> {
    let store = |suffix, annotations| RunConfigMap { suffix, annotations, labels: patroni_labels(plan) };
    vec![
        store("patroni-config", BTreeMap::from([("config", settings::dynamic(plan))])),
        store("patroni-failover", BTreeMap::new()),
        store("patroni-leader", BTreeMap::new()),
        store("patroni-sync", BTreeMap::new()),
    ]
}
