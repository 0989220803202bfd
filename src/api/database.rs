//! `Database`: what a team writes down about one database.
//!
//! Field names, defaults and limits of the first block (engine to resources) are the users' own contract and never
//! narrow. What follows are optional additions. No default depends on a field that may change later.

use std::collections::BTreeMap;

use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::DatabaseStatus;

/// API group of every object and label key that is ours.
pub const GROUP: &str = "app.example.com";
/// `apiVersion` of a Database.
pub const API_VERSION: &str = "app.example.com/v1alpha1";
/// `kind` of a Database.
pub const KIND: &str = "Database";

/// The database that a team wants: engine, version, size, backup.
#[derive(CustomResource, Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[kube(
    group = "app.example.com",
    version = "v1alpha1",
    kind = "Database",
    plural = "databases",
    singular = "database",
    shortname = "db",
    namespaced,
    status = "DatabaseStatus",
    derive = "PartialEq",
    printcolumn = r#"{"name":"Engine","type":"string","jsonPath":".spec.engine"}"#,
    printcolumn = r#"{"name":"Version","type":"string","jsonPath":".spec.version"}"#,
    printcolumn = r#"{"name":"Replicas","type":"integer","jsonPath":".spec.replicas"}"#,
    printcolumn = r#"{"name":"Status","type":"string","jsonPath":".status.phase"}"#,
    printcolumn = r#"{"name":"Endpoint","type":"string","jsonPath":".status.endpoint"}"#,
    printcolumn = r#"{"name":"Age","type":"date","jsonPath":".metadata.creationTimestamp"}"#
)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct DatabaseSpec {
    /// Database engine. It cannot change once the Database exists.
    pub engine: EngineName,
    /// Version of the engine: a major (`"16"`) or an exact version of the catalog (`"16.15"`). Always quoted.
    pub version: String,
    /// Number of members. More than one always means real replication.
    #[serde(default = "default_replicas")]
    #[schemars(range(min = 1, max = 7))]
    pub replicas: i32,
    /// Size and class of each member's volume.
    pub storage: Storage,
    /// When backups are made, where they go and how many are kept.
    #[serde(default)]
    pub backup: Backup,
    /// CPU and memory of the database container, as request and as limit.
    #[serde(default)]
    pub resources: Resources,

    /// How a new primary is chosen when the old one fails.
    #[serde(default)]
    pub failover: Failover,
    /// Whether a commit waits for a standby.
    #[serde(default)]
    pub replication: Replication,
    /// Ordinal of the primary. Only with `failover: Manual`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 6))]
    pub primary: Option<i32>,
    /// Name of the first database. Immutable.
    #[serde(default = "default_app")]
    pub database: String,
    /// User that owns the first database. Immutable.
    #[serde(default = "default_app")]
    pub username: String,
    /// Server settings by name, each as text.
    #[serde(default)]
    pub parameters: BTreeMap<String, String>,
    /// Secrets that somebody else makes and fills.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub credentials: Option<Credentials>,
    /// Where the first data comes from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bootstrap: Option<Bootstrap>,
    /// What happens to volumes, backups and Secrets when the Database is deleted.
    #[serde(default)]
    pub deletion_policy: DeletionPolicy,
    /// Who may connect from other namespaces.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub access: Option<Access>,
    /// The Service of the primary.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service: Option<Service>,
    /// Server certificate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tls: Option<Tls>,
    /// Metrics exporter. Absent: as the platform file says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub monitoring: Option<Monitoring>,
    /// On which nodes the pods may run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scheduling: Option<Scheduling>,
    /// No pods; volumes, Secrets and backups are kept.
    #[serde(default)]
    pub hibernate: bool,
    /// The controller changes nothing while this is true.
    #[serde(default)]
    pub paused: bool,
}

fn default_replicas() -> i32 {
    1
}

fn default_app() -> String {
    "app".to_owned()
}

/// The engines that the API knows. Which of them this build can render is `engine::ALL`'s answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum EngineName {
    /// PostgreSQL.
    Postgresql,
    /// MySQL.
    Mysql,
    /// MongoDB.
    Mongodb,
}

impl EngineName {
    /// The word that users write, labels carry and Secret types end in.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            EngineName::Postgresql => "postgresql",
            EngineName::Mysql => "mysql",
            EngineName::Mongodb => "mongodb",
        }
    }
}

impl EngineName {
    /// Whether a person may choose the primary. Members of a replica set always elect it themselves.
    #[must_use]
    pub const fn has_manual_failover(self) -> bool {
        match self {
            EngineName::Postgresql | EngineName::Mysql => true,
            EngineName::Mongodb => false,
        }
    }
}

/// One volume per member.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Storage {
    /// Size of the volume: a whole number of `Gi` or `Ti`. It can grow, never shrink.
    #[schemars(regex(pattern = r"^[0-9]+(Gi|Ti)$"))]
    pub size: String,
    /// Logical name of a storage class. The platform file maps it; a name that it does not map is used as it is.
    #[serde(default = "default_storage_class")]
    pub storage_class: String,
}

fn default_storage_class() -> String {
    "standard".to_owned()
}

/// Regular backups.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Backup {
    /// Whether backups are made at all.
    #[serde(default = "default_true")]
    pub enabled: bool,
    /// Cron expression of five fields, as Kubernetes' CronJob reads it.
    #[serde(default = "default_schedule")]
    pub schedule: String,
    /// Number of complete backups that are kept.
    #[serde(default = "default_retention")]
    pub retention: i64,
    /// Name of a destination in the platform file; `volume` is always there.
    #[serde(default = "default_destination")]
    pub destination: String,
    /// IANA time zone of the schedule, as in CronJob.
    #[serde(default = "default_time_zone")]
    pub time_zone: String,
    /// Suspends the schedule, as in CronJob.
    #[serde(default)]
    pub suspend: bool,
    /// Archives the write-ahead log too, so that a restore can go to any moment after a backup. PostgreSQL with
    /// `failover: Manual` and an S3 destination. Turning it on or off restarts the members.
    #[serde(default)]
    pub wal_archive: bool,
}

fn default_true() -> bool {
    true
}
fn default_schedule() -> String {
    "0 2 * * *".to_owned()
}
fn default_retention() -> i64 {
    7
}
fn default_destination() -> String {
    "volume".to_owned()
}
fn default_time_zone() -> String {
    "Etc/UTC".to_owned()
}

impl Default for Backup {
    fn default() -> Self {
        Backup {
            enabled: true,
            schedule: default_schedule(),
            retention: default_retention(),
            destination: default_destination(),
            time_zone: default_time_zone(),
            suspend: false,
            wal_archive: false,
        }
    }
}

/// CPU and memory of the database container.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Resources {
    /// Kubernetes quantity, for example `500m` or `2`.
    #[serde(default = "default_cpu")]
    pub cpu: String,
    /// Kubernetes quantity, for example `4Gi`.
    #[serde(default = "default_memory")]
    pub memory: String,
}

fn default_cpu() -> String {
    "500m".to_owned()
}
fn default_memory() -> String {
    "1Gi".to_owned()
}

impl Default for Resources {
    fn default() -> Self {
        Resources { cpu: default_cpu(), memory: default_memory() }
    }
}

/// Who chooses a new primary. With the engine it decides the profile.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub enum Failover {
    /// The members elect a new primary within seconds.
    #[default]
    Automatic,
    /// A person moves `primary`.
    Manual,
}

/// Whether a commit waits for a standby.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Replication {
    /// A commit waits for one standby while one is there.
    #[default]
    Synchronous,
    /// A commit waits for nobody; the last moments can be lost in a failover.
    Asynchronous,
}

/// Names of Secrets in the same namespace that somebody else makes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Credentials {
    /// Secret with the application's password.
    pub app_secret_name: String,
    /// Secret with the passwords of the server's own users.
    pub admin_secret_name: String,
}

/// Where the first data comes from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Bootstrap {
    /// A backup of another Database.
    pub from_backup: BackupSource,
}

/// A backup to restore into the empty server.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct BackupSource {
    /// Name of the Database that the backup was made of.
    pub name: String,
    /// Its namespace. Absent: the same. Another one needs an S3 destination that names this namespace as shared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
    /// `latest` or the id of a backup.
    #[serde(default = "default_latest")]
    pub backup: String,
    /// Moment to go to, in RFC 3339 and UTC, such as `2026-11-30T09:41:00Z`, or `latest` for all that was archived.
    /// Needs `backup.walArchive` at the source and `failover: Manual` here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub point_in_time: Option<String>,
}

fn default_latest() -> String {
    "latest".to_owned()
}

/// What happens to volumes, backups and Secrets when the Database goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum DeletionPolicy {
    /// They stay.
    #[default]
    Retain,
    /// They go, after a last backup.
    Delete,
    /// The deletion itself is refused.
    Refuse,
}

/// Who may connect, besides pods of the same namespace.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Access {
    /// Other namespaces whose pods may connect.
    pub namespaces: AccessNamespaces,
}

/// Namespaces by name or by label. Both may be given; either lets a namespace in.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AccessNamespaces {
    /// Names of namespaces.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub names: Vec<String>,
    /// Labels that a namespace has to carry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub selector: Option<LabelSelector>,
}

/// Labels that must all be there.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct LabelSelector {
    /// Label keys and their values.
    pub match_labels: BTreeMap<String, String>,
}

/// The Service of the primary.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Service {
    /// Type of the Service.
    #[serde(default, rename = "type")]
    pub service_type: ServiceType,
    /// Annotations of the Service, for a cloud's load balancer.
    #[serde(default)]
    pub annotations: BTreeMap<String, String>,
}

/// Kubernetes Service types that a database can have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum ServiceType {
    /// Reachable inside the cluster.
    #[default]
    #[serde(rename = "ClusterIP")]
    ClusterIp,
    /// Reachable on a port of every node.
    NodePort,
    /// Reachable through the cloud's load balancer.
    LoadBalancer,
}

/// Certificate of the server.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Tls {
    /// Secret with `tls.crt`, `tls.key` and `ca.crt`.
    pub secret_name: String,
}

/// Metrics.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Monitoring {
    /// Exporter container and PodMonitor.
    pub enabled: bool,
}

/// On which nodes the pods may run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Scheduling {
    /// Labels that a node must have.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub node_selector: BTreeMap<String, String>,
    /// Taints that the pods tolerate.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tolerations: Vec<Toleration>,
    /// Priority class of the pods.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priority_class_name: Option<String>,
    /// Node labels over which members are spread. Absent: host name and zone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub topology_keys: Vec<String>,
}

/// One toleration, as in a pod.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Toleration {
    /// Taint key; absent with `operator: Exists` means every taint.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// `Equal` or `Exists`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operator: Option<String>,
    /// Value of the taint.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
    /// `NoSchedule`, `PreferNoSchedule` or `NoExecute`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effect: Option<String>,
    /// Seconds that a `NoExecute` taint is tolerated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub toleration_seconds: Option<i64>,
}
