//! Settings that a user cannot have: members, paths, the network, passwords and safety depend on them.

use crate::engine::reserved::{Group, Reserved};

/// Why a setting is not the user's, and what to do instead. `None`: it is the user's.
pub(super) fn reserved(name: &str) -> Option<(&'static str, &'static str)> {
    LIST.find(name)
}

const LIST: Reserved = Reserved { groups: RESERVED, open: &OPEN };

/// Names that begin like reserved ones and are not.
const OPEN: [&str; 1] = ["net.tls.disabledProtocols"];

const RESERVED: &[Group] = &[
    Group {
        names: &["net.bindIp", "net.bindIpAll", "net.ipv6", "net.port", "net.unixDomainSocket.*"],
        why: "clients, probes and the other members find the server there",
        instead: "remove it; spec.service says how clients come in",
    },
    Group {
        names: &[
            "honorSystemUmask",
            "processManagement.*",
            "processUmask",
            "storage.dbPath",
            "storage.directoryPerDB",
            "storage.engine",
            "storage.wiredTiger.engineConfig.directoryForIndexes",
        ],
        why: "the pod's volumes and processes decide on it, and a server does not start on files that are laid out otherwise",
        instead: "remove it",
    },
    Group {
        names: &[
            "allowMultipleArbiters",
            "disableSplitHorizonIPCheck",
            "enableOverrideClusterChainingSetting",
            "localLogicalSessionTimeoutMinutes",
            "maxAcceptableLogicalClockDriftSecs",
            "replicaSetMonitorProtocol",
            "replication.enableMajorityReadConcern",
            "replication.replSetName",
            "sharding.*",
            "skipShardingConfigurationChecks",
        ],
        why: "the members of the replica set know each other by it",
        instead: "remove it; spec.replication says whether a write waits for a majority",
    },
    Group {
        names: &["replication.oplogSizeMB"],
        why: "it counts only when a member's files are made, and members are made at different times",
        instead: "set storage.oplogMinRetentionHours, which counts at every start",
    },
    Group {
        names: &["createRollbackDataFiles", "storage.syncPeriodSecs", "syncdelay"],
        why: "another value loses data, without a word, or fills the volume with the journal",
        instead: "remove it; replication: Asynchronous is the safe way to be faster",
    },
    Group {
        names: &["notablescan"],
        why: "with it the server's own questions, and those of the backup, fail",
        instead: "remove it; operationProfiling.mode: slowOp finds queries without an index",
    },
    Group {
        names: &["shutdownTimeoutMillisForSignaledShutdown", "watchdogPeriodSeconds"],
        why: "how long a pod may take to stop, and what is done about a server that hangs, follow from it",
        instead: "remove it",
    },
    Group {
        names: &["wiredTigerEngineRuntimeConfig"],
        why: "it overrides what is set elsewhere, and no file shows it",
        instead: "set storage.wiredTiger.engineConfig.cacheSizeGB or another option with a name",
    },
    Group {
        names: &[
            "allowRolesFromX509Certificates",
            "authenticationMechanisms",
            "clusterAuthMode",
            "enableLocalhostAuthBypass",
            "enforceUserClusterSeparation",
            "net.tls.*",
            "opensslDiffieHellmanParameters",
            "security.authorization",
            "security.cluster*",
            "security.keyFile",
            "security.transitionToAuth",
            "sslMode",
            "tlsClusterAuthX509Override",
            "tlsMode",
            "tlsUseSystemCA",
            "tlsWithholdClientCertificate",
            "tlsX509ClusterAuthDNOverride",
        ],
        why: "members and the server's own users log in through it, or it follows from the certificate",
        instead: "remove it; spec.tls has the certificate, and net.tls.disabledProtocols may be set",
    },
    Group {
        names: &[
            "audit*",
            "authFailedDelayMs",
            "awsSTSRetryCount",
            "initialSyncMethod",
            "ldap*",
            "oidc*",
            "redactClientLogData",
            "sasl*",
            "security.en*",
            "security.redactClientLogData",
        ],
        why: "the image is the Community Server, which does not have it",
        instead: "remove it",
    },
    Group {
        names: &[
            "systemLog.destination",
            "systemLog.logAppend",
            "systemLog.logRotate",
            "systemLog.path",
            "systemLog.syslogFacility",
        ],
        why: "the server writes to the container's output, where the cluster collects it",
        instead: "remove it; logLevel and systemLog.component.… may be set",
    },
    Group {
        names: &["storage.journal.commitIntervalMs", "systemLog.quiet", "systemLog.verbosity"],
        why: "a parameter says the same and needs no restart",
        instead: "use journalCommitInterval, quiet or logLevel",
    },
];

#[cfg(test)]
mod tests {
    use super::{LIST, reserved};
    use crate::engine::mongodb::parameters::all;

    #[test]
    fn every_pattern_is_about_a_setting_that_exists() {
        let names: Vec<&str> = all("8.0").map(|p| p.name).collect();
        assert_eq!(LIST.about_nothing(&names), Vec::<&str>::new());
    }

    #[test]
    fn tells_ours_from_theirs() {
        for (name, ours) in [
            ("net.port", true),
            ("replication.replSetName", true),
            ("net.tls.mode", true),
            ("net.tls.disabledProtocols", false),
            ("security.javascriptEnabled", false),
            ("security.keyFile", true),
            ("logLevel", false),
            ("storage.wiredTiger.engineConfig.cacheSizeGB", false),
            ("syncdelay", true),
            ("ldapQueryUser", true),
        ] {
            assert_eq!(reserved(name).is_some(), ours, "{name}");
        }
    }
}
