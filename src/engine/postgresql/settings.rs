//! The server's settings: ours, those that follow from size and memory, and the user's on top.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::parameters::restart_needed;
use crate::api::Replication;
use crate::plan::{Plan, Profile};

const MIB: u64 = 1 << 20;

/// Seconds after which a leader that does not renew its lock loses it. At least `LOOP_WAIT + 2 * RETRY_TIMEOUT`.
const TTL: u32 = 30;
const LOOP_WAIT: u32 = 10;
const RETRY_TIMEOUT: u32 = 10;
/// Bytes of log that a standby may lack and still be elected in asynchronous mode.
const MAXIMUM_LAG_ON_FAILOVER: u64 = MIB;

/// Settings that follow from nothing. The rules for changes count with them where the user says nothing.
pub(super) const FIXED: [(&str, &str); 11] = [
    ("archive_mode", "off"),
    ("dynamic_shared_memory_type", "posix"),
    ("hot_standby", "on"),
    ("log_checkpoints", "on"),
    ("logging_collector", "off"),
    ("max_connections", "100"),
    ("max_replication_slots", "16"),
    ("max_wal_senders", "16"),
    ("password_encryption", "scram-sha-256"),
    ("wal_level", "replica"),
    ("wal_log_hints", "on"),
];

/// Every setting that is rendered, by name; the user's value wins.
///
/// `shared_buffers` is a quarter of the memory and `effective_cache_size` three quarters, as the manual advises. What is
/// kept of the log is bounded by the volume, because a standby that stays away must not fill the primary's disk.
pub(super) fn all(plan: &Plan) -> BTreeMap<String, String> {
    let memory = plan.memory.bytes().unwrap_or(0);
    let volume = plan.storage.size.bytes().unwrap_or(0);
    let follow: [(&str, String); 6] = [
        ("effective_cache_size", mebibytes(memory / 4 * 3)),
        ("maintenance_work_mem", mebibytes((memory / 16).clamp(16 * MIB, 1024 * MIB))),
        ("max_slot_wal_keep_size", mebibytes((volume / 10).max(128 * MIB))),
        ("max_wal_size", mebibytes((volume / 10).clamp(128 * MIB, 4096 * MIB))),
        ("shared_buffers", mebibytes(memory / 4)),
        ("wal_keep_size", mebibytes((volume / 20).clamp(64 * MIB, 512 * MIB))),
    ];
    let fixed = FIXED.iter().map(|(name, value)| (*name, (*value).to_owned()));
    let mut settings: BTreeMap<String, String> =
        fixed.chain(follow).map(|(name, value)| (name.to_owned(), value)).collect();
    if plan.tls_secret.is_some() {
        for (name, value) in [
            ("ssl", "on"),
            ("ssl_ca_file", "/etc/dbrender/tls/ca.crt"),
            ("ssl_cert_file", "/etc/dbrender/tls/tls.crt"),
            ("ssl_key_file", "/etc/dbrender/tls/tls.key"),
        ] {
            settings.insert(name.to_owned(), value.to_owned());
        }
    }
    settings.extend(super::wal_archive::settings(plan).map(|(name, value)| (name.to_owned(), value.to_owned())));
    settings.extend(plan.parameters.iter().map(|(name, value)| (name.clone(), value.clone())));
    settings
}

/// Settings whose change restarts the pods.
///
/// In `Automatic` the dynamic configuration reaches the running server and the agent restarts it where it has to, so
/// nothing is left for the template.
pub(super) fn needing_restart(plan: &Plan) -> BTreeMap<String, String> {
    match plan.profile {
        Profile::Automatic => BTreeMap::new(),
        Profile::Manual => all(plan).into_iter().filter(|(name, _)| restart_needed(name)).collect(),
    }
}

/// Patroni's dynamic configuration as one line of JSON.
pub(super) fn dynamic(plan: &Plan) -> String {
    let parameters: Map<String, Value> = all(plan)
        .into_iter()
        // Patroni sets these itself and drops ours with a warning at every reload.
        .filter(|(name, _)| !matches!(name.as_str(), "hot_standby" | "wal_log_hints"))
        .map(|(name, value)| (name, Value::String(value)))
        .collect();
    json!({
        "failsafe_mode": true,
        "loop_wait": LOOP_WAIT,
        "maximum_lag_on_failover": MAXIMUM_LAG_ON_FAILOVER,
        "postgresql": {
            "parameters": parameters,
            "pg_hba": host_based_access(plan),
            "use_pg_rewind": true,
            "use_slots": true,
        },
        "retry_timeout": RETRY_TIMEOUT,
        "synchronous_mode": plan.replication == Replication::Synchronous,
        "ttl": TTL,
    })
    .to_string()
}

/// Lines of `pg_hba.conf`, the same in both profiles. Nothing is trusted from the network, and the superuser has no way
/// in but the socket.
pub(super) fn host_based_access(plan: &Plan) -> Vec<String> {
    // With a certificate nobody sends a password in the clear.
    let host = if plan.tls_secret.is_some() { "hostssl" } else { "host" };
    vec![
        "local all postgres peer".to_owned(),
        "local all all scram-sha-256".to_owned(),
        // The exporter, in the same pod.
        "host all monitor 127.0.0.1/32 scram-sha-256".to_owned(),
        "host all monitor ::1/128 scram-sha-256".to_owned(),
        format!("{host} replication replication all scram-sha-256"),
        format!("{host} postgres rewind all scram-sha-256"),
        "host all postgres,replication,rewind,monitor all reject".to_owned(),
        format!("{host} all all all scram-sha-256"),
    ]
}

/// Whole mebibytes, as the server reads them.
fn mebibytes(bytes: u64) -> String {
    format!("{}MB", bytes / MIB)
}
