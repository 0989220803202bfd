//! What an engine may say about its pods. Plain values: `render` turns them into Kubernetes objects.

use std::collections::BTreeMap;

use crate::plan::Plan;

/// Everything that one Database of an engine needs.
#[derive(Clone, Debug, PartialEq)]
pub struct Facts {
    /// Containers that run to their end, in this order, before the server starts.
    pub init: Vec<Container>,
    /// The server first, then what runs beside it.
    pub containers: Vec<Container>,
    /// Volumes of the pod, beside the data volume, in the order in which they are listed.
    pub volumes: Vec<Volume>,
    /// Longest time that the server may take to stop, in seconds.
    pub grace_seconds: i64,
    /// ConfigMap `<name>-config`: file name to content.
    pub config: BTreeMap<&'static str, String>,
    /// ConfigMap `<name>-scripts`: file name to content, the same for every Database of the engine.
    pub scripts: &'static [(&'static str, &'static str)],
    /// ConfigMaps that the members use as their store at run time.
    pub run_config_maps: Vec<RunConfigMap>,
    /// Labels of the pods that the engine needs beside ours.
    pub pod_labels: BTreeMap<&'static str, String>,
    /// What the pods may do with the Kubernetes API. Empty: no token is mounted. Else every container has one, or, with a
    /// volume `ApiToken`, just those that mount it.
    pub access: Vec<AccessRule>,
    /// How the primary's Service finds the primary.
    pub primary: RoleSelector,
    /// Whether a Service for standbys is of use with more than one member.
    pub has_read_service: bool,
    /// Ports that members use among themselves, by name. The client port is not in it unless members use it too.
    pub member_ports: Vec<Port>,
    /// Keys of the application's Secret that hold no secret.
    pub app_facts: BTreeMap<&'static str, String>,
    /// Settings that need a restart, by name: what the pod template's one annotation is a hash of.
    pub restart_settings: BTreeMap<String, String>,
    /// The backup.
    pub backup: Task,
    /// The restore.
    pub restore: Task,
    /// Where clients connect, without credentials.
    pub endpoint: String,
}

/// Which image a container runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Image {
    /// The server's.
    Server,
    /// The metrics exporter's.
    Exporter,
    /// rclone's.
    Rclone,
    /// dbrender's own.
    Helper,
}

/// CPU and memory of a container, request and limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    /// What the Database asks for.
    Database,
    /// Millicores and bytes.
    Fixed {
        /// Millicores.
        cpu: u32,
        /// Bytes.
        memory: u64,
    },
}

/// A container.
#[derive(Clone, Debug, PartialEq)]
pub struct Container {
    /// Name.
    pub name: &'static str,
    /// Image.
    pub image: Image,
    /// Command, without a shell.
    pub command: Vec<&'static str>,
    /// Arguments of the command.
    pub args: Vec<String>,
    /// Environment, in order; later ones may use `$(EARLIER)`.
    pub env: Vec<EnvVar>,
    /// Ports that it listens on.
    pub ports: Vec<Port>,
    /// What is mounted where.
    pub mounts: Vec<Mount>,
    /// Whether it has started; holds the other two back.
    pub startup: Option<Probe>,
    /// Whether it has to be restarted.
    pub liveness: Option<Probe>,
    /// Whether clients may be sent to it.
    pub readiness: Option<Probe>,
    /// Run before the container is told to stop.
    pub pre_stop: Option<Vec<&'static str>>,
    /// CPU and memory.
    pub size: Size,
    /// User id where the image needs another than the server's.
    pub uid: Option<i64>,
}

/// What an application has to know, for the Secret that it mounts: servicebinding.io's names, and no password.
pub(super) fn of_application(plan: &Plan, port: u16) -> BTreeMap<&'static str, String> {
    BTreeMap::from([
        ("type", plan.engine.as_str().to_owned()),
        ("provider", "dbrender".to_owned()),
        ("host", plan.service_host()),
        ("port", port.to_string()),
        ("database", plan.database.clone()),
        ("username", plan.username.clone()),
    ])
}

impl Container {
    /// A container that runs a command and has nothing else yet.
    #[must_use]
    pub const fn new(name: &'static str, image: Image, command: Vec<&'static str>, size: Size) -> Container {
        Container {
            name,
            image,
            command,
            args: Vec::new(),
            env: Vec::new(),
            ports: Vec::new(),
            mounts: Vec::new(),
            startup: None,
            liveness: None,
            readiness: None,
            pre_stop: None,
            size,
            uid: None,
        }
    }
}

/// An environment variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EnvVar {
    /// A value of our own. `$(NAME)` is replaced by Kubernetes.
    Value(&'static str, String),
    /// A field of the pod, as in `fieldRef`.
    Field(&'static str, &'static str),
    /// A key of a Secret, where a program offers nothing else.
    SecretKey {
        /// Name of the variable.
        name: &'static str,
        /// Name of the Secret.
        secret: String,
        /// Key in it.
        key: &'static str,
    },
}

/// A port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Port {
    /// Name, at most 15 characters.
    pub name: &'static str,
    /// Number.
    pub number: u16,
}

/// A mounted volume.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mount {
    /// Name of the volume; `data` is the claim's.
    pub volume: &'static str,
    /// Absolute path.
    pub path: &'static str,
    /// Whether it may be written to.
    pub writable: bool,
}

/// A volume of the pod.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Volume {
    /// Name.
    pub name: &'static str,
    /// What is in it.
    pub source: VolumeSource,
}

/// Permission bits of mounted files.
pub type FileMode = i32;

/// What is in a volume.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum VolumeSource {
    /// ConfigMap `<name>-config`.
    Config,
    /// ConfigMap `<name>-scripts`, executable.
    Scripts,
    /// Files of the two Secrets: keys and the paths they get.
    Credentials {
        /// Keys of the application's Secret, with their file names.
        app: Vec<(&'static str, &'static str)>,
        /// Keys of the administration's Secret, with their file names.
        admin: Vec<(&'static str, &'static str)>,
    },
    /// Keys of a Secret of the user's.
    Secret {
        /// Name of the Secret.
        name: String,
        /// Keys, which are also the file names.
        keys: Vec<&'static str>,
    },
    /// What a client of the Kubernetes API looks for in a pod: token, certificate and namespace.
    ApiToken,
    /// Empty at the start of the pod, in memory; counts against the memory limits. Bytes.
    Memory(u64),
    /// Empty at the start of the pod, on the node's disk. Bytes.
    Disk(u64),
    /// The claim of this Database's backups.
    BackupClaim,
    /// The claim of another Database's backups, read only.
    BackupClaimOf(String),
}

/// A probe. Times in seconds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Probe {
    /// What is asked.
    pub action: ProbeAction,
    /// Between two attempts.
    pub period: i32,
    /// For one attempt.
    pub timeout: i32,
    /// Attempts in a row that have to fail.
    pub failures: i32,
}

/// What a probe asks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProbeAction {
    /// A command in the container.
    Exec(Vec<&'static str>),
    /// An HTTP GET on a named port.
    Get {
        /// Path.
        path: &'static str,
        /// Name of the port.
        port: &'static str,
    },
}

/// A ConfigMap that exists before the members start and belongs to them afterwards.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunConfigMap {
    /// Name after `<database>-`.
    pub suffix: &'static str,
    /// Annotations that we render and own.
    pub annotations: BTreeMap<&'static str, String>,
    /// Labels by which the members find it.
    pub labels: BTreeMap<&'static str, String>,
}

/// One rule of the pods' Role.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccessRule {
    /// API group; empty for the core group.
    pub group: &'static str,
    /// Plural of the kind.
    pub resource: &'static str,
    /// Names; empty where the verb cannot be bound to a name.
    pub names: Vec<String>,
    /// Verbs.
    pub verbs: &'static [&'static str],
}

/// What becomes of the data when a server of one version is put in place of another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VersionMove {
    /// The server starts on the files that are there. What there is to say about it, or nothing.
    Restart(&'static str),
    /// The server does not start on them; what has to be done instead.
    Migration(&'static str),
}

/// How far what runs in the pods has been tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trial {
    /// It has lived on real servers, in the test bed.
    Whole,
    /// No real server was to be had. It is rendered, and `check` warns: what was tried instead, as a sentence.
    Parts(&'static str),
    /// Nobody has tried it. `check` refuses it.
    None,
}

/// A value of the role label.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Takes writes.
    Primary,
    /// Follows.
    Replica,
}

/// How the primary's Service finds its pods.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RoleSelector {
    /// By the role label, which is set at run time.
    Label,
    /// By the ordinal in the plan.
    Ordinal,
    /// All members; clients find the primary themselves.
    AllMembers,
}

/// A key of a Secret that is filled in the cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoredKey {
    /// A password of our making.
    Password(&'static str),
    /// A connection URI, made of the facts and the password beside it.
    Uri(&'static str),
    /// Random bytes in base64, for a shared key. Bytes before encoding.
    KeyFile(&'static str, usize),
}

impl StoredKey {
    /// The key.
    #[must_use]
    pub const fn key(self) -> &'static str {
        match self {
            StoredKey::Password(key) | StoredKey::Uri(key) | StoredKey::KeyFile(key, _) => key,
        }
    }
}

/// A pod that runs to its end: backup or restore.
#[derive(Clone, Debug, PartialEq)]
pub struct Task {
    /// Containers that run first, in this order.
    pub init: Vec<Container>,
    /// The container whose end is the end of the task.
    pub container: Container,
    /// Volumes.
    pub volumes: Vec<Volume>,
    /// Longest run, in seconds.
    pub deadline: i64,
}

/// A value as a part of a URI: everything but letters, digits and `-._~` is escaped (RFC 3986, section 2.3).
#[must_use]
pub fn uri_part(text: &str) -> String {
    text.bytes().fold(String::with_capacity(text.len()), |mut out, byte| {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => out.push(char::from(byte)),
            other => {
                use std::fmt::Write as _;
                // Writing into a String cannot fail.
                let _ = write!(out, "%{other:02X}");
            }
        }
        out
    })
}
