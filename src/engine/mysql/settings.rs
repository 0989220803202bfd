//! The server's settings: ours, those that follow from size and memory, and the user's on top.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::parameters::{self, Change, Kind};
use super::{PORT, reserved};
use crate::api::Replication;
use crate::plan::{Plan, Profile};

const MIB: u64 = 1 << 20;
/// The buffer pool grows by pieces of this size.
const CHUNK: u64 = 128 * MIB;
/// What the server takes beside its buffer pool and the group's cache of messages, measured: 410 MiB with 100 connections.
const SERVER: u64 = 512 * MIB;

/// Settings that follow from nothing, in both profiles.
const FIXED: [(&str, &str); 23] = [
    ("binlog_expire_logs_seconds", "259200"),
    ("bind_address", "*"),
    ("character_set_server", "utf8mb4"),
    ("enforce_gtid_consistency", "ON"),
    ("gtid_mode", "ON"),
    ("innodb_flush_log_at_trx_commit", "1"),
    ("log_error_verbosity", "2"),
    ("log_timestamps", "UTC"),
    ("max_connections", "100"),
    ("mysqlx", "OFF"),
    ("offline_mode", "OFF"),
    // Not the host's name, which a file in the volume would not follow.
    ("relay_log", "relay"),
    ("relay_log_recovery", "ON"),
    ("replica_preserve_commit_order", "ON"),
    ("secure_file_priv", "NULL"),
    ("skip_name_resolve", "ON"),
    ("skip_replica_start", "ON"),
    // Nobody writes to a member before its agent has looked at it.
    ("super_read_only", "ON"),
    ("sync_binlog", "1"),
    ("sync_relay_log", "1"),
    ("table_open_cache", "1000"),
    ("thread_stack", "1048576"),
    ("tls_version", "TLSv1.2,TLSv1.3"),
];

/// Group Replication. `loose_`, because `mysqld --initialize` knows none of them. A member that is cut off or fails waits
/// for its agent: it neither comes back nor goes on by itself.
const GROUP: [(&str, &str); 13] = [
    ("loose_group_replication_autorejoin_tries", "0"),
    ("loose_group_replication_clone_threshold", "20000"),
    ("loose_group_replication_exit_state_action", "OFFLINE_MODE"),
    ("loose_group_replication_ip_allowlist", "0.0.0.0/0,::/0"),
    ("loose_group_replication_member_expel_timeout", "0"),
    ("loose_group_replication_recovery_reconnect_interval", "5"),
    ("loose_group_replication_recovery_use_ssl", "ON"),
    ("loose_group_replication_single_primary_mode", "ON"),
    ("loose_group_replication_ssl_mode", "REQUIRED"),
    ("loose_group_replication_start_on_boot", "OFF"),
    ("loose_group_replication_unreachable_majority_timeout", "0"),
    ("plugin_load_add", "group_replication.so;mysql_clone.so"),
    // Tables without a primary key cannot be in a group.
    ("sql_generate_invisible_primary_key", "ON"),
];

/// Every setting that is rendered, by name; the user's value wins.
pub(super) fn all(plan: &Plan) -> BTreeMap<String, String> {
    let memory = plan.memory.bytes().unwrap_or(0);
    let volume = plan.storage.size.bytes().unwrap_or(0);
    let pool = memory.saturating_sub(SERVER) / 2 / CHUNK * CHUNK;
    let mut all: BTreeMap<String, String> =
        FIXED.iter().map(|&(name, value)| (name.to_owned(), value.to_owned())).collect();
    let mut set = |name: &str, value: String| all.insert(name.to_owned(), value);
    set("port", PORT.to_string());
    set("innodb_buffer_pool_size", pool.max(CHUNK).to_string());
    set("innodb_redo_log_capacity", (volume / 20).clamp(64 * MIB, 4096 * MIB).to_string());
    set("temptable_max_ram", (memory / 16).clamp(32 * MIB, 1024 * MIB).to_string());
    match plan.profile {
        Profile::Automatic => {
            GROUP.iter().for_each(|&(name, value)| {
                set(name, value.to_owned());
            });
            let cache = (memory / 8).clamp(128 * MIB, 1024 * MIB);
            set("loose_group_replication_message_cache_size", cache.to_string());
        }
        Profile::Manual => {
            set("plugin_load_add", "mysql_clone.so;semisync_replica.so;semisync_source.so".to_owned());
            let waits = if plan.replication == Replication::Synchronous { "ON" } else { "OFF" };
            set("loose_rpl_semi_sync_source_enabled", waits.to_owned());
            set("loose_rpl_semi_sync_replica_enabled", waits.to_owned());
            // A commit waits while a standby is there. When that does not answer, writes go on after this time.
            set("loose_rpl_semi_sync_source_timeout", "10000".to_owned());
            set("loose_rpl_semi_sync_source_wait_no_replica", "OFF".to_owned());
            // A member whose volume was lost has the ordinal that it had, and what it wrote before that comes back to it from another.
            // A server leaves out what has its own number, without a word (seen); with GTIDs nothing goes round twice.
            set("replicate_same_server_id", "ON".to_owned());
        }
    }
    if plan.tls_secret.is_some() {
        for (name, value) in [
            ("require_secure_transport", "ON"),
            ("ssl_ca", "/etc/dbrender/tls/ca.crt"),
            ("ssl_cert", "/etc/dbrender/tls/tls.crt"),
            ("ssl_key", "/etc/dbrender/tls/tls.key"),
        ] {
            set(name, value.to_owned());
        }
    }
    all.extend(plan.parameters.iter().map(|(name, value)| (name.clone(), value.clone())));
    all
}

/// Settings whose change restarts the pods: those that a running server does not take.
pub(super) fn needing_restart(plan: &Plan) -> BTreeMap<String, String> {
    let plain = |name: &str| name.strip_prefix("loose_").unwrap_or(name).to_owned();
    all(plan).into_iter().filter(|(name, _)| parameters::restart_needed(&plain(name))).collect()
}

/// Statements that give a running server what it takes without a restart, one a line: the user's settings, and ours
/// where the user could have one, so that a setting that is taken back becomes ours again.
pub(super) fn dynamic(plan: &Plan) -> String {
    let mut out = String::new();
    for (name, value) in &all(plan) {
        let open = |parameter: &&parameters::Parameter| {
            parameter.change == Change::Dynamic && reserved::reserved(parameter.name).is_none()
        };
        let Some(parameter) = parameters::find(name).filter(open) else { continue };
        let literal = match parameter.kind {
            Kind::Integer { .. } | Kind::Number { .. } => value.clone(),
            Kind::Boolean | Kind::Words(_) | Kind::Text => {
                format!("'{}'", value.replace('\\', "\\\\").replace('\'', "''"))
            }
        };
        // Writing into a String cannot fail.
        let _ = writeln!(out, "SET GLOBAL {name} = {literal};");
    }
    out
}
