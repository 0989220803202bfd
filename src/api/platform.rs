//! `Platform`: what the platform team decides once for every Database of a repository (`dbrender.yaml`).

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{EngineName, LabelSelector};

/// `apiVersion` of the platform file.
pub const PLATFORM_API_VERSION: &str = "dbrender.app.example.com/v1alpha1";
/// `kind` of the platform file.
pub const PLATFORM_KIND: &str = "Platform";

/// The platform file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Platform {
    /// `dbrender.app.example.com/v1alpha1`.
    pub api_version: String,
    /// `Platform`.
    pub kind: String,
    /// Ignored; so that tools which expect a name accept the file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<PlatformMetadata>,
    /// The settings of every environment.
    #[serde(flatten)]
    #[schemars(flatten)]
    pub settings: PlatformSettings,
    /// Named overlays, chosen with `--env NAME`: maps are merged, lists and values replace, null takes a value away.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub environments: BTreeMap<String, PlatformSettings>,
}

/// Metadata that is read and not used.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PlatformMetadata {
    /// A name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

/// Settings of one environment. Everything is optional, and an absent key means what its comment says.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PlatformSettings {
    /// Number of the catalog edition that images come from. Absent: 1, for ever.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub catalog: Option<u32>,
    /// Replacement by exact image reference of the catalog.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub images: BTreeMap<String, String>,
    /// What stands in place of a registry: `docker.io: mirror.example.com/docker-hub`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub registry_mirror: BTreeMap<String, String>,
    /// Names of Secrets that pull images.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub image_pull_secrets: Vec<String>,
    /// StorageClass by the logical name that Databases use.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub storage_classes: BTreeMap<String, String>,
    /// Where backups go, by name. `volume` exists without being named here.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub backup_destinations: BTreeMap<String, BackupDestination>,
    /// How passwords come into being.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub credentials: Option<PlatformCredentials>,
    /// Metrics.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub monitoring: Option<PlatformMonitoring>,
    /// NetworkPolicies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub network_policy: Option<NetworkPolicy>,
    /// DNS domain of the cluster. Absent: `cluster.local`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cluster_domain: Option<String>,
    /// Labels on every object, never in a selector, a pod template or a claim template.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, String>,
    /// Annotations on every object, never in a pod template or a claim template.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub annotations: BTreeMap<String, String>,
    /// What a Database may ask for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limits: Option<Limits>,
}

/// Where backups go. Exactly one of `volume` and `s3`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct BackupDestination {
    /// A claim per Database.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub volume: Option<SizedVolume>,
    /// A bucket of an S3-compatible store.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub s3: Option<S3>,
    /// Namespaces that may restore from backups of other namespaces here.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shared_with: Vec<String>,
}

/// Size and class of a backup claim.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SizedVolume {
    /// Kubernetes quantity.
    pub size: String,
    /// Logical name of a storage class.
    #[serde(default = "standard")]
    pub storage_class: String,
}

fn standard() -> String {
    "standard".to_owned()
}

/// A bucket.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct S3 {
    /// Name of the bucket.
    pub bucket: String,
    /// Path inside the bucket, without slashes at its ends.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub prefix: String,
    /// URL of the store. Absent: AWS.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub endpoint: Option<String>,
    /// Region.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub region: Option<String>,
    /// rclone's name of the provider. Absent: `AWS` without an endpoint, `Other` with one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider: Option<String>,
    /// Secret in the Database's namespace with the keys `access-key-id` and `secret-access-key`.
    pub secret_name: String,
}

/// How passwords come into being.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PlatformCredentials {
    /// Who makes the Secrets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<CredentialsMode>,
    /// Who fills generated Secrets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub generator: Option<Generator>,
    /// Store of `mode: external`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub store: Option<ExternalStore>,
}

/// Who makes the Secrets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum CredentialsMode {
    /// We render the Secrets without passwords; the passwords are made inside the cluster.
    #[default]
    Generated,
    /// Somebody else makes them; `spec.credentials` names them.
    Existing,
    /// ExternalSecret objects fetch them from a store.
    External,
}

/// Who fills generated Secrets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Generator {
    /// A rendered Job.
    #[default]
    Job,
    /// The controller.
    Controller,
    /// A person, with `dbrender credentials fill`.
    Manual,
}

/// A SecretStore of External Secrets.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ExternalStore {
    /// Name of the store.
    pub name: String,
    /// Kind of the store.
    #[serde(default)]
    pub kind: StoreKind,
    /// Path of a Database's entries in the store, without the Database's own part.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub prefix: String,
    /// How often the store is asked again, for example `1h0m0s`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refresh_interval: Option<String>,
}

/// Kinds of stores.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum StoreKind {
    /// For the whole cluster.
    #[default]
    ClusterSecretStore,
    /// In the Database's namespace.
    SecretStore,
}

/// Metrics.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PlatformMonitoring {
    /// Exporter and PodMonitor for every Database that does not say otherwise. Absent: false.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub enabled: Option<bool>,
    /// Namespaces of the scrapers, for the NetworkPolicy. Absent: every namespace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace_selector: Option<LabelSelector>,
    /// Labels of the PodMonitor, where a Prometheus selects by label.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, String>,
}

/// NetworkPolicies.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NetworkPolicy {
    /// Whether they are rendered. Absent: true.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub enabled: Option<bool>,
}

/// What a Database may ask for.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Limits {
    /// Largest number of members.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_replicas: Option<i32>,
    /// Largest volume of a member, a Kubernetes quantity.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_storage: Option<String>,
    /// Engines that may be used. Absent: all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub engines: Option<Vec<EngineName>>,
    /// Namespaces in which Databases may be. Absent: all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespaces: Option<Vec<String>>,
}
