//! Containers and volumes of a database pod.

use crate::engine::{
    AccessRule, Container, EnvVar, Image, Mount, Port, Probe, ProbeAction, Size, Volume, VolumeSource,
};
use crate::plan::{Plan, Profile};

use super::{MEMBERS_MAX, METRICS_PORT, PATRONI_PORT, PORT, wal_archive};

const MIB: u64 = 1 << 20;

/// What the agent, and the init containers that only copy and look, may use.
const SMALL: Size = Size::Fixed { cpu: 100, memory: 128 * MIB };
/// What the exporter may use.
const EXPORTER: Size = Size::Fixed { cpu: 50, memory: 64 * MIB };

pub(super) const DATA: Mount = Mount { volume: "data", path: "/var/lib/postgresql", writable: true };
pub(super) const CONFIG: Mount = Mount { volume: "config", path: "/etc/dbrender/config", writable: false };
const SCRIPTS: Mount = Mount { volume: "scripts", path: "/etc/dbrender/scripts", writable: false };
pub(super) const BIN: Mount = Mount { volume: "bin", path: "/opt/dbrender", writable: false };
const CREDENTIALS: Mount = Mount { volume: "credentials", path: "/etc/dbrender/credentials", writable: false };
const PATRONI: Mount = Mount { volume: "patroni", path: "/etc/patroni", writable: true };
const RUN: Mount = Mount { volume: "run", path: "/var/run/postgresql", writable: true };
const SHM: Mount = Mount { volume: "shm", path: "/dev/shm", writable: true };
const TLS: Mount = Mount { volume: "tls", path: "/etc/dbrender/tls", writable: false };
pub(super) const TMP: Mount = Mount { volume: "tmp", path: "/tmp", writable: true };

/// `setup` copies the scripts and looks at the volume; in `Manual`, `bootstrap` makes or copies the data directory.
pub(super) fn init_containers(plan: &Plan) -> Vec<Container> {
    let mut setup = container("setup", vec!["/bin/bash", "/etc/dbrender/scripts/setup.sh"], SMALL);
    setup.env = environment(plan);
    setup.mounts = mounts(plan, &[SCRIPTS]);
    setup.mounts.iter_mut().filter(|m| m.volume == BIN.volume).for_each(|m| m.writable = true);
    let mut containers = vec![setup];
    containers.extend(wal_archive::fetch(plan));
    if plan.profile == Profile::Manual {
        let mut bootstrap = container("bootstrap", vec!["/opt/dbrender/bootstrap.sh"], Size::Database);
        bootstrap.env = environment(plan);
        bootstrap.mounts = mounts(plan, &[SHM]);
        containers.push(bootstrap);
    }
    containers
}

/// The server, the agent, and the exporter where it is asked for.
pub(super) fn containers(plan: &Plan) -> Vec<Container> {
    let mut server = container("postgresql", vec!["/opt/dbrender/start.sh"], Size::Database);
    server.env = environment(plan);
    server.mounts = mounts(plan, &[SHM]);
    server.ports = member_ports(plan);
    server.pre_stop = Some(vec!["/opt/dbrender/leave.sh"]);
    let (startup, liveness, readiness) = probes(plan.profile);
    server.startup = Some(startup);
    server.liveness = Some(liveness);
    server.readiness = Some(readiness);

    let mut agent = container("agent", vec!["/opt/dbrender/agent.sh"], SMALL);
    agent.env = environment(plan);
    agent.mounts = mounts(plan, &[]);

    let mut containers = vec![server, agent];
    containers.extend(wal_archive::archiver(plan));
    if plan.monitoring.is_some() {
        containers.push(exporter());
    }
    containers
}

fn container(name: &'static str, command: Vec<&'static str>, size: Size) -> Container {
    Container::new(name, Image::Server, command, size)
}

fn exporter() -> Container {
    let mut exporter = container("exporter", Vec::new(), EXPORTER);
    exporter.image = Image::Exporter;
    // The image's user is a name, which `runAsNonRoot` cannot judge; this is its number.
    exporter.uid = Some(65534);
    exporter.env = vec![
        EnvVar::Value("DATA_SOURCE_URI", format!("127.0.0.1:{PORT}/postgres?sslmode=disable")),
        EnvVar::Value("DATA_SOURCE_USER", "monitor".to_owned()),
        EnvVar::Value("DATA_SOURCE_PASS_FILE", format!("{}/monitor-password", CREDENTIALS.path)),
    ];
    exporter.ports = vec![Port { name: "metrics", number: METRICS_PORT }];
    exporter.mounts = vec![CREDENTIALS];
    exporter
}

/// What every container of the server's image mounts, and more.
fn mounts(plan: &Plan, more: &[Mount]) -> Vec<Mount> {
    let mut mounts = vec![BIN, CONFIG, CREDENTIALS, DATA];
    if plan.profile == Profile::Automatic {
        mounts.push(PATRONI);
    }
    mounts.push(RUN);
    mounts.extend_from_slice(more);
    if plan.tls_secret.is_some() {
        mounts.push(TLS);
    }
    mounts.push(TMP);
    mounts
}

fn environment(plan: &Plan) -> Vec<EnvVar> {
    let mut environment = vec![
        EnvVar::Field("POD_NAME", "metadata.name"),
        EnvVar::Field("POD_NAMESPACE", "metadata.namespace"),
        EnvVar::Field("POD_IP", "status.podIP"),
        EnvVar::Field("REVISION", "metadata.labels['controller-revision-hash']"),
        EnvVar::Value("HOME", TMP.path.to_owned()),
    ];
    if plan.profile == Profile::Automatic {
        environment.extend([
            EnvVar::Field("PATRONI_NAME", "metadata.name"),
            EnvVar::Value("PATRONI_POSTGRESQL_CONNECT_ADDRESS", format!("$(POD_IP):{PORT}")),
            EnvVar::Value("PATRONI_RESTAPI_CONNECT_ADDRESS", format!("$(POD_IP):{PATRONI_PORT}")),
            EnvVar::Value("PYTHONDONTWRITEBYTECODE", "1".to_owned()),
        ]);
    }
    environment
}

/// Startup, liveness, readiness.
///
/// Startup has an hour for crash recovery. Liveness is lenient: a kill in the middle of recovery starts it again from
/// nothing. Readiness is quick, because it is what keeps clients off a frozen primary.
fn probes(profile: Profile) -> (Probe, Probe, Probe) {
    let action = |automatic: &'static str, manual: &'static str| match profile {
        Profile::Automatic => ProbeAction::Get { path: automatic, port: "patroni" },
        Profile::Manual => ProbeAction::Exec(vec!["/opt/dbrender/probe.sh", manual]),
    };
    (
        Probe { action: action("/liveness", "startup"), period: 5, timeout: 5, failures: 720 },
        Probe { action: action("/liveness", "liveness"), period: 10, timeout: 5, failures: 30 },
        Probe { action: action("/readiness", "readiness"), period: 3, timeout: 2, failures: 2 },
    )
}

/// Volumes beside the data volume.
pub(super) fn volumes(plan: &Plan) -> Vec<Volume> {
    let memory = plan.memory.bytes().unwrap_or(0);
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
    ];
    if plan.profile == Profile::Automatic {
        volumes.push(volume("patroni", VolumeSource::Memory(MIB)));
    }
    volumes.push(volume("run", VolumeSource::Memory(16 * MIB)));
    volumes.push(volume("scripts", VolumeSource::Scripts));
    // The runtime's 64 MiB break parallel queries. It counts against the memory limit, so not more than a quarter of it.
    volumes.push(volume("shm", VolumeSource::Memory((memory / 4).min(1024 * MIB))));
    if let Some(secret) = &plan.tls_secret {
        let keys = vec!["ca.crt", "tls.crt", "tls.key"];
        volumes.push(volume("tls", VolumeSource::Secret { name: secret.clone(), keys }));
    }
    volumes.push(volume("tmp", VolumeSource::Disk(1024 * MIB)));
    volumes
}

/// Ports that members use among themselves.
pub(super) fn member_ports(plan: &Plan) -> Vec<Port> {
    let mut ports = vec![Port { name: "postgresql", number: PORT }];
    if plan.profile == Profile::Automatic {
        ports.push(Port { name: "patroni", number: PATRONI_PORT });
    }
    ports
}

/// What Patroni needs of the Kubernetes API and nothing more; seen in the audit log of a cluster of three through
/// every failure. `list` and `watch` cannot be bound to a name. `get` on the leader is asked only after a conflict;
/// without it a healthy leader can be demoted.
pub(super) fn access(plan: &Plan) -> Vec<AccessRule> {
    let scope = super::scope(plan);
    let named = |suffixes: &[&str]| suffixes.iter().map(|s| format!("{scope}-{s}")).collect();
    let rule = |resource, names, verbs| AccessRule { group: "", resource, names, verbs };
    vec![
        rule("configmaps", Vec::new(), &["list", "watch"]),
        rule("configmaps", named(&["config", "failover", "leader", "sync"]), &["patch"]),
        rule("configmaps", named(&["leader"]), &["get"]),
        rule("pods", Vec::new(), &["list", "watch"]),
        rule("pods", (0..MEMBERS_MAX).map(|ordinal| format!("{}-{ordinal}", plan.name)).collect(), &["patch"]),
    ]
}
