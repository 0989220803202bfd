//! Containers and volumes of a database pod.

use crate::engine::{
    AccessRule, Container, EnvVar, Image, Mount, Port, Probe, ProbeAction, Size, Volume, VolumeSource,
};
use crate::plan::{Plan, Profile};

use super::{GROUP_PORT, MEMBERS_MAX, METRICS_PORT, PORT};

const MIB: u64 = 1 << 20;

/// What the agent, and the init container that only copies and looks, may use. A client a turn is a tenth of a core.
const SMALL: Size = Size::Fixed { cpu: 200, memory: 128 * MIB };
/// What the sidecar that sets the role label may use.
const ROLE_SIZE: Size = Size::Fixed { cpu: 20, memory: 64 * MIB };
/// What the exporter may use.
const EXPORTER_SIZE: Size = Size::Fixed { cpu: 50, memory: 64 * MIB };

const DATA: Mount = Mount { volume: "data", path: "/var/lib/mysql", writable: true };
const CONFIG: Mount = Mount { volume: "config", path: "/etc/dbrender/config", writable: false };
const SCRIPTS: Mount = Mount { volume: "scripts", path: "/etc/dbrender/scripts", writable: false };
const BIN: Mount = Mount { volume: "bin", path: "/opt/dbrender", writable: false };
const CREDENTIALS: Mount = Mount { volume: "credentials", path: "/etc/dbrender/credentials", writable: false };
const RUN: Mount = Mount { volume: "run", path: "/var/run/mysqld", writable: true };
/// What the agent tells the other containers: the role, and how the exporter logs in.
const TOLD: Mount = Mount { volume: "told", path: "/var/run/dbrender", writable: true };
const TOKEN: Mount = Mount { volume: "token", path: "/var/run/secrets/kubernetes.io/serviceaccount", writable: false };
const TLS: Mount = Mount { volume: "tls", path: "/etc/dbrender/tls", writable: false };
const TMP: Mount = Mount { volume: "tmp", path: "/tmp", writable: true };

/// `setup` copies the scripts and looks at the volume; `bootstrap` makes an empty data directory where there is none.
/// That is no database yet: a group, or a primary, is what makes it one.
pub(super) fn init_containers(plan: &Plan) -> Vec<Container> {
    let mut setup = container("setup", vec!["/bin/bash", "/etc/dbrender/scripts/setup.sh"], SMALL);
    setup.env = environment();
    setup.mounts = mounts(plan, &[SCRIPTS]);
    setup.mounts.iter_mut().filter(|m| m.volume == BIN.volume).for_each(|m| m.writable = true);
    let mut bootstrap = container("bootstrap", vec!["/opt/dbrender/bootstrap.sh"], Size::Database);
    bootstrap.env = environment();
    bootstrap.mounts = mounts(plan, &[]);
    vec![setup, bootstrap]
}

/// The server, the agent, what sets the role label in `Automatic`, and the exporter where it is asked for.
pub(super) fn containers(plan: &Plan) -> Vec<Container> {
    let mut server = container("mysql", vec!["/opt/dbrender/start.sh"], Size::Database);
    server.env = environment();
    server.mounts = mounts(plan, &[]);
    server.ports = member_ports(plan);
    server.pre_stop = Some(vec!["/opt/dbrender/leave.sh"]);
    let probe = |what, period, timeout, failures| {
        let action = ProbeAction::Exec(vec!["/opt/dbrender/probe.sh", what]);
        Some(Probe { action, period, timeout, failures })
    };
    // Startup has an hour for crash recovery. Liveness is lenient: a kill in the middle of recovery or of a clone starts
    // it again from nothing. Readiness is what keeps clients off a member that was cut off.
    server.startup = probe("startup", 5, 5, 720);
    server.liveness = probe("liveness", 10, 10, 30);
    server.readiness = probe("readiness", 5, 5, 2);

    let mut agent = container("agent", vec!["/opt/dbrender/agent.sh"], SMALL);
    agent.env = environment();
    agent.mounts = mounts(plan, &[TOLD]);

    let mut containers = vec![server, agent];
    if plan.profile == Profile::Automatic {
        containers.push(role_label(plan));
    }
    if plan.monitoring.is_some() {
        containers.push(exporter(plan));
    }
    containers
}

fn container(name: &'static str, command: Vec<&'static str>, size: Size) -> Container {
    Container::new(name, Image::Server, command, size)
}

/// Labels its own pod with the role that the agent writes down, and takes the label of the primary from the others. It
/// alone speaks with the Kubernetes API.
fn role_label(plan: &Plan) -> Container {
    let mut role = container("role", vec!["dbrender", "role-label"], ROLE_SIZE);
    role.image = Image::Helper;
    role.args = vec![
        "--namespace".to_owned(),
        "$(POD_NAMESPACE)".to_owned(),
        "--pod".to_owned(),
        "$(POD_NAME)".to_owned(),
        "--database".to_owned(),
        plan.name.clone(),
        "--members".to_owned(),
        MEMBERS_MAX.to_string(),
        "--role-file".to_owned(),
        format!("{}/role", TOLD.path),
    ];
    role.env = vec![EnvVar::Field("POD_NAME", "metadata.name"), EnvVar::Field("POD_NAMESPACE", "metadata.namespace")];
    role.mounts = vec![TOKEN, Mount { writable: false, ..TOLD }];
    role
}

fn exporter(plan: &Plan) -> Container {
    let mut exporter = container("exporter", Vec::new(), EXPORTER_SIZE);
    exporter.image = Image::Exporter;
    // The image's user is a name, which `runAsNonRoot` cannot judge; this is its number.
    exporter.uid = Some(65534);
    exporter.args = vec![format!("--config.my-cnf={}/exporter.cnf", TOLD.path)];
    if plan.profile == Profile::Automatic {
        exporter.args.push("--collect.perf_schema.replication_group_members".to_owned());
    }
    exporter.ports = vec![Port { name: "metrics", number: METRICS_PORT }];
    exporter.mounts = vec![RUN, Mount { writable: false, ..TOLD }]
        .into_iter()
        .map(|mount| Mount { writable: false, ..mount })
        .collect();
    exporter
}

/// What every container of the server's image mounts, and more.
fn mounts(plan: &Plan, more: &[Mount]) -> Vec<Mount> {
    let mut mounts = vec![BIN, CONFIG, CREDENTIALS, DATA, RUN];
    mounts.extend_from_slice(more);
    if plan.tls_secret.is_some() {
        mounts.push(TLS);
    }
    mounts.push(TMP);
    mounts
}

fn environment() -> Vec<EnvVar> {
    vec![
        EnvVar::Field("POD_NAME", "metadata.name"),
        EnvVar::Field("POD_NAMESPACE", "metadata.namespace"),
        EnvVar::Field("POD_IP", "status.podIP"),
        EnvVar::Field("REVISION", "metadata.labels['controller-revision-hash']"),
        EnvVar::Value("HOME", TMP.path.to_owned()),
    ]
}

/// Volumes beside the data volume.
pub(super) fn volumes(plan: &Plan) -> Vec<Volume> {
    let volume = |name, source| Volume { name, source };
    let mut volumes = vec![
        volume("bin", VolumeSource::Disk(16 * MIB)),
        volume("config", VolumeSource::Config),
        volume(
            "credentials",
            VolumeSource::Credentials {
                app: vec![("password", "app-password")],
                admin: super::ADMIN_KEYS.iter().map(|key| (key.key(), key.key())).collect(),
            },
        ),
        volume("run", VolumeSource::Memory(16 * MIB)),
        volume("scripts", VolumeSource::Scripts),
    ];
    if let Some(secret) = &plan.tls_secret {
        let keys = vec!["ca.crt", "tls.crt", "tls.key"];
        volumes.push(volume("tls", VolumeSource::Secret { name: secret.clone(), keys }));
    }
    volumes.push(volume("tmp", VolumeSource::Disk(1024 * MIB)));
    if plan.profile == Profile::Automatic {
        volumes.push(volume("token", VolumeSource::ApiToken));
    }
    volumes.push(volume("told", VolumeSource::Memory(MIB)));
    volumes
}

/// Ports that members use among themselves.
pub(super) fn member_ports(plan: &Plan) -> Vec<Port> {
    let mut ports = vec![Port { name: "mysql", number: PORT }];
    if plan.profile == Profile::Automatic {
        ports.push(Port { name: "group", number: GROUP_PORT });
    }
    ports
}

/// What the sidecar needs to label its own pod and to take the label from a primary that cannot do it itself. The names
/// do not follow from `replicas`.
pub(super) fn access(plan: &Plan) -> Vec<AccessRule> {
    let names = (0..MEMBERS_MAX).map(|ordinal| format!("{}-{ordinal}", plan.name)).collect();
    vec![AccessRule { group: "", resource: "pods", names, verbs: &["get", "patch"] }]
}
