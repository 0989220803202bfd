//! `Plan`: the only input of the renderer. Only `check` makes one, so everything in it has been found valid.
//!
//! Nothing is optional by accident: an `Option` here means that the object or line is not rendered.

use std::collections::BTreeMap;

use crate::api::{DeletionPolicy, EngineName, LabelSelector, Quantity, Replication, ServiceType, Toleration, Window};

/// One Database, checked, with everything that the platform file adds.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// Name: a DNS label of at most 45 characters that starts with a letter.
    pub name: String,
    /// Namespace: a DNS label.
    pub namespace: String,
    /// Engine.
    pub engine: EngineName,
    /// How a new primary is chosen.
    pub profile: Profile,
    /// Version, as the catalog has it.
    pub version: Version,
    /// Images of the containers.
    pub images: Images,
    /// Members, 1 to 7. Hibernation does not change it.
    pub replicas: u8,
    /// No pods, no backups; everything else is kept.
    pub hibernate: bool,
    /// Volume of each member.
    pub storage: Volume,
    /// CPU of the database container, request and limit.
    pub cpu: Quantity,
    /// Memory of the database container, request and limit.
    pub memory: Quantity,
    /// Whether a commit waits for a standby.
    pub replication: Replication,
    /// Ordinal of the primary; 0 where the members elect it.
    pub primary: u8,
    /// Promotion at the price of what the new primary does not have.
    pub force_primary: Option<ForcePrimary>,
    /// When the controller may restart members because of a change. `None`: at any time. Nothing is rendered of it.
    pub maintenance: Option<Window>,
    /// Passwords that the controller is asked to make anew, by their keys. Nothing is rendered of it.
    pub rotation: Vec<&'static str>,
    /// First database.
    pub database: String,
    /// Its owner.
    pub username: String,
    /// Server settings that the user has set, valid for this engine and version.
    pub parameters: BTreeMap<String, String>,
    /// Where passwords come from.
    pub credentials: Credentials,
    /// Backups. There is a plan for them even while they are off, because the claim stays.
    pub backup: Backup,
    /// A backup to restore into the empty server.
    pub restore: Option<Restore>,
    /// What stays when the Database goes.
    pub deletion_policy: DeletionPolicy,
    /// Who may connect. `None`: no NetworkPolicy is rendered.
    pub access: Option<Access>,
    /// Service of the primary.
    pub service: Service,
    /// Secret with certificate, key and CA.
    pub tls_secret: Option<String>,
    /// Exporter and PodMonitor.
    pub monitoring: Option<Monitoring>,
    /// On which nodes the pods run.
    pub scheduling: Scheduling,
    /// DNS domain of the cluster, `cluster.local`.
    pub cluster_domain: String,
    /// Labels for every object's metadata.
    pub labels: BTreeMap<String, String>,
    /// Annotations for every object's metadata.
    pub annotations: BTreeMap<String, String>,
    /// Secrets that pull images.
    pub image_pull_secrets: Vec<String>,
}

impl Plan {
    /// Host name of the primary's Service.
    #[must_use]
    pub fn service_host(&self) -> String {
        format!("{}.{}.svc.{}", self.name, self.namespace, self.cluster_domain)
    }

    /// Name of the Secret for applications.
    #[must_use]
    pub fn app_secret(&self) -> String {
        match &self.credentials {
            Credentials::Existing { app, .. } => app.clone(),
            Credentials::Generated { .. } | Credentials::External { .. } => format!("{}-app", self.name),
        }
    }

    /// Name of the Secret for the server's own users.
    #[must_use]
    pub fn admin_secret(&self) -> String {
        match &self.credentials {
            Credentials::Existing { admin, .. } => admin.clone(),
            Credentials::Generated { .. } | Credentials::External { .. } => format!("{}-admin", self.name),
        }
    }

    /// Domain in which each member has a name of its own: that of the headless Service.
    #[must_use]
    pub fn members_domain(&self) -> String {
        format!("{}-headless.{}.svc.{}", self.name, self.namespace, self.cluster_domain)
    }
}

/// Who chooses a new primary. Engine and profile together decide what the pods run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Profile {
    /// The members elect it.
    Automatic,
    /// A person moves `primary`.
    Manual,
}

/// A version of an engine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Version {
    /// What data directories are compatible within: `16`, `8.4`, `8.0`.
    pub series: String,
    /// What the image holds: `16.15`.
    pub exact: String,
}

/// Image references, with mirrors and replacements already applied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Images {
    /// Server, agent, init containers, backup.
    pub server: String,
    /// User id that the server runs as.
    pub uid: i64,
    /// Group id, also the group of the volumes.
    pub gid: i64,
    /// `dbrender` itself.
    pub helper: String,
    /// Copies backups to and from a bucket.
    pub rclone: String,
    /// Metrics exporter of the engine.
    pub exporter: String,
}

/// Size and class of a claim.
#[derive(Clone, Debug, PartialEq)]
pub struct Volume {
    /// Size.
    pub size: Quantity,
    /// Name of the StorageClass in the cluster.
    pub class: String,
}

/// Promotion of a member that may lack the last writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ForcePrimary {
    /// Ordinal of the member.
    pub ordinal: u8,
    /// Timeline that its volume must be on, so that the annotation works once.
    pub timeline: u32,
}

/// Where passwords come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Credentials {
    /// Rendered Secrets without passwords, filled inside the cluster.
    Generated {
        /// Whether a Job that fills them is rendered.
        job: bool,
    },
    /// Secrets that somebody else makes.
    Existing {
        /// Secret with the application's password.
        app: String,
        /// Secret with the passwords of the server's own users.
        admin: String,
    },
    /// ExternalSecrets.
    External {
        /// Name of the store.
        store: String,
        /// Kind of the store.
        kind: String,
        /// Path before `<namespace>/<name>`; empty or ending in a slash.
        prefix: String,
        /// Go duration.
        refresh_interval: String,
    },
}

/// Backups.
#[derive(Clone, Debug, PartialEq)]
pub struct Backup {
    /// Whether the CronJob is rendered.
    pub enabled: bool,
    /// Whether it is suspended.
    pub suspend: bool,
    /// Cron expression.
    pub schedule: String,
    /// IANA time zone.
    pub time_zone: String,
    /// Complete backups kept, at least 1.
    pub retention: i64,
    /// Where they go.
    pub destination: Destination,
    /// Whether the server's log is archived there too.
    pub wal_archive: bool,
}

/// Where backups go.
#[derive(Clone, Debug, PartialEq)]
pub enum Destination {
    /// A claim of this Database.
    Volume(Volume),
    /// A bucket.
    S3(Bucket),
}

/// A bucket of an S3-compatible store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bucket {
    /// Name.
    pub bucket: String,
    /// Path inside; empty or without slashes at its ends.
    pub prefix: String,
    /// URL; `None` for AWS.
    pub endpoint: Option<String>,
    /// Region.
    pub region: Option<String>,
    /// rclone's name of the provider.
    pub provider: String,
    /// Secret with `access-key-id` and `secret-access-key`.
    pub secret: String,
}

/// A backup to restore.
#[derive(Clone, Debug, PartialEq)]
pub struct Restore {
    /// Namespace of the Database that was backed up.
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// `latest` or an id.
    pub backup: String,
    /// The moment to go to, as `YYYY-MM-DDTHH:MM:SS.ffffffZ`, or `latest`. Then base backup and log are restored, not a dump.
    pub point_in_time: Option<String>,
    /// Where it is. A volume destination means the claim of the source, in the same namespace.
    pub source: Destination,
}

/// Who may connect.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Access {
    /// Names of other namespaces.
    pub namespaces: Vec<String>,
    /// Labels of other namespaces.
    pub selector: Option<LabelSelector>,
}

/// Service of the primary.
#[derive(Clone, Debug, PartialEq)]
pub struct Service {
    /// Type.
    pub service_type: ServiceType,
    /// Annotations.
    pub annotations: BTreeMap<String, String>,
}

/// Exporter and PodMonitor.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Monitoring {
    /// Namespaces of the scrapers; `None`: every namespace.
    pub namespace_selector: Option<LabelSelector>,
    /// Labels of the PodMonitor.
    pub labels: BTreeMap<String, String>,
}

/// On which nodes the pods run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Scheduling {
    /// Labels that a node must have.
    pub node_selector: BTreeMap<String, String>,
    /// Taints that the pods tolerate.
    pub tolerations: Vec<Toleration>,
    /// Priority class.
    pub priority_class_name: Option<String>,
    /// Node labels over which members are spread; never empty.
    pub topology_keys: Vec<String>,
}
