//! Settings that a user cannot have: replication, paths, the network, passwords and safety depend on them.

use crate::engine::reserved::{Group, Reserved};

/// Why a setting is not the user's, and what to do instead. `None`: it is the user's.
pub(super) fn reserved(name: &str) -> Option<(&'static str, &'static str)> {
    LIST.find(name)
}

const LIST: Reserved = Reserved { groups: RESERVED, open: &OPEN };

/// Names that begin like reserved ones and are not.
const OPEN: [&str; 14] = [
    "binlog_cache_size",
    "binlog_expire_logs_seconds",
    "binlog_group_commit_sync_delay",
    "binlog_group_commit_sync_no_delay_count",
    "binlog_row_metadata",
    "binlog_rows_query_log_events",
    "binlog_stmt_cache_size",
    "binlog_transaction_compression",
    "binlog_transaction_compression_level_zstd",
    "group_replication_consistency",
    "log_bin_trust_function_creators",
    "log_error_verbosity",
    "replica_parallel_workers",
    "tls_version",
];

const RESERVED: &[Group] = &[
    Group {
        names: &[
            "admin_*",
            "bind_address",
            "create_admin_listener_thread",
            "port",
            "report_*",
            "skip_name_resolve",
            "skip_networking",
            "socket",
        ],
        why: "clients, probes and the other members find the server there",
        instead: "remove it; spec.service says how clients come in",
    },
    Group {
        names: &[
            "basedir",
            "character_sets_dir",
            "datadir",
            "innodb_data_*",
            "innodb_directories",
            "innodb_doublewrite_dir",
            "innodb_log_group_home_dir",
            "innodb_temp_*",
            "innodb_tmpdir",
            "innodb_undo_directory",
            "lc_messages_dir",
            "pid_file",
            "plugin_dir",
            "replica_load_tmpdir",
            "secure_file_priv",
            "tmpdir",
        ],
        why: "the pods' volumes decide on paths",
        instead: "remove it",
    },
    Group {
        names: &[
            "auto_increment_*",
            "binlog_*",
            "clone_*",
            "enforce_gtid_consistency",
            "group_replication_*",
            "gtid_*",
            "init_replica",
            "log_bin*",
            "log_replica_updates",
            "offline_mode",
            "read_only",
            "relay_log*",
            "replica_*",
            "rpl_*",
            "server_id*",
            "skip_replica_start",
            "source_verify_checksum",
            "sql_generate_invisible_primary_key",
            "super_read_only",
            "sync_*",
        ],
        why: "members follow their primary through it",
        instead: "remove it; spec.replication says whether a commit waits for a standby",
    },
    Group {
        names: &["innodb_doublewrite*", "innodb_flush_log_at_trx_commit", "innodb_force_*", "innodb_read_only"],
        why: "another value loses data, without a word, or stops writes",
        instead: "remove it; replication: Asynchronous is the safe way to be faster",
    },
    Group {
        names: &["innodb_page_size", "lower_case_table_names"],
        why: "it is fixed when a data directory is made, and members are made at different times",
        instead: "remove it",
    },
    Group {
        names: &[
            "auto_generate_certs",
            "authentication_policy",
            "caching_sha2_password_*",
            "check_proxy_users",
            "default_password_lifetime",
            "disconnect_on_expired_password",
            "init_connect",
            "init_file",
            "mandatory_roles",
            "partial_revokes",
            "password_*",
            "persist*",
            "require_secure_transport",
            "sha256_password_*",
            "ssl_*",
            "tls_*",
        ],
        why: "the server's own users log in through it, or it follows from the certificate",
        instead: "remove it; spec.tls has the certificate, and tls_version may be set",
    },
    Group {
        names: &["general_log_file", "log_error*", "log_timestamps", "slow_query_log_file"],
        why: "the server writes to the container's output, where the cluster collects it",
        instead: "remove it; long_query_time and log_output: TABLE may be set",
    },
    Group {
        names: &[
            "default_storage_engine",
            "default_tmp_storage_engine",
            "disabled_storage_engines",
            "performance_schema",
        ],
        why: "replication and the agents depend on it",
        instead: "remove it",
    },
];

#[cfg(test)]
mod tests {
    use super::{LIST, reserved};
    use crate::engine::mysql::parameters::all;

    #[test]
    fn every_pattern_is_about_a_setting_that_exists() {
        let names: Vec<&str> = all().map(|p| p.name).collect();
        assert_eq!(LIST.about_nothing(&names), Vec::<&str>::new());
    }

    #[test]
    fn tells_ours_from_theirs() {
        for (name, ours) in [
            ("port", true),
            ("group_replication_group_name", true),
            ("group_replication_consistency", false),
            ("log_bin_trust_function_creators", false),
            ("log_bin_index", true),
            ("binlog_row_metadata", false),
            ("binlog_row_image", true),
            ("ssl_ca", true),
            ("tls_version", false),
            ("max_connections", false),
            ("sql_mode", false),
            ("sync_binlog", true),
            ("innodb_force_recovery", true),
        ] {
            assert_eq!(reserved(name).is_some(), ours, "{name}");
        }
    }
}
