//! Settings that a user cannot have: replication, paths, the network, passwords and safety depend on them.

use crate::engine::reserved::{Group, Reserved};

/// Why a setting is not the user's, and what to do instead. `None`: it is the user's.
pub(super) fn reserved(name: &str) -> Option<(&'static str, &'static str)> {
    LIST.find(name)
}

const LIST: Reserved = Reserved { groups: RESERVED, open: &OPEN };

/// Names that begin like reserved ones and are not.
const OPEN: [&str; 4] =
    ["recovery_init_sync_method", "recovery_prefetch", "ssl_max_protocol_version", "ssl_min_protocol_version"];

const RESERVED: &[Group] = &[
    Group {
        names: &[
            "listen_addresses",
            "port",
            "bonjour",
            "bonjour_name",
            "unix_socket_directories",
            "unix_socket_group",
            "unix_socket_permissions",
        ],
        why: "clients, probes and the other members find the server there",
        instead: "remove it; spec.service says how clients come in",
    },
    Group {
        names: &["config_file", "data_directory", "external_pid_file", "hba_file", "ident_file"],
        why: "the pods' volumes decide on paths",
        instead: "remove it",
    },
    Group {
        names: &["synchronous_standby_names"],
        why: "it names members that are there at the moment",
        instead: "set spec.replication",
    },
    Group {
        names: &[
            "hot_standby",
            "primary_conninfo",
            "primary_slot_name",
            "promote_trigger_file",
            "recovery_*",
            "restore_command",
            "sync_replication_slots",
            "synchronized_standby_slots",
            "wal_log_hints",
        ],
        why: "members follow their primary through it",
        instead: "remove it",
    },
    Group {
        names: &["archive_*"],
        why: "backups are dbrender's",
        instead: "remove it; spec.backup says when backups are made",
    },
    Group {
        names: &["ssl", "ssl_*"],
        why: "it follows from the certificate",
        instead: "set spec.tls; ssl_min_protocol_version may be set here",
    },
    Group {
        names: &["allow_alter_system", "db_user_namespace", "oauth_validator_libraries", "password_encryption"],
        why: "the server's own users log in through it",
        instead: "remove it",
    },
    Group {
        names: &[
            "event_source",
            "log_destination",
            "log_directory",
            "log_file_mode",
            "log_filename",
            "log_rotation_*",
            "log_truncate_on_rotation",
            "logging_collector",
            "syslog_*",
        ],
        why: "the server writes to the container's output, where the cluster collects it",
        instead: "remove it; the other log settings may be set",
    },
    Group { names: &["cluster_name"], why: "members are told apart by it", instead: "remove it" },
    Group {
        names: &["fsync", "full_page_writes", "ignore_checksum_failure", "ignore_invalid_pages", "zero_damaged_pages"],
        why: "another value loses data, without a word",
        instead: "remove it; replication: Asynchronous and synchronous_commit are the safe ways to be faster",
    },
    Group {
        names: &["default_transaction_read_only"],
        why: "the server's own users have to write",
        instead: "set it for a role or a database: ALTER ROLE … SET default_transaction_read_only",
    },
    Group {
        names: &["client_encoding"],
        why: "each client says its own",
        instead: "set it in the client, or for a role",
    },
    Group {
        names: &["local_preload_libraries", "wal_consistency_checking"],
        why: "a wrong word in it keeps everybody out",
        instead: "remove it; session_preload_libraries may be set",
    },
];

#[cfg(test)]
mod tests {
    use super::{LIST, reserved};
    use crate::engine::postgresql::parameters::of_series;

    #[test]
    fn every_pattern_is_about_a_setting_that_exists() {
        let names: Vec<&str> = ["15", "16", "17", "18"].iter().flat_map(|s| of_series(s)).map(|p| p.name).collect();
        assert_eq!(LIST.about_nothing(&names), Vec::<&str>::new());
    }

    #[test]
    fn tells_ours_from_theirs() {
        for (name, ours) in [
            ("port", true),
            ("recovery_target_time", true),
            ("recovery_prefetch", false),
            ("ssl_ca_file", true),
            ("ssl_min_protocol_version", false),
            ("work_mem", false),
            ("log_line_prefix", false),
            ("archive_command", true),
        ] {
            assert_eq!(reserved(name).is_some(), ours, "{name}");
        }
    }
}
