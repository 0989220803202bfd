//! Containers and volumes of a database pod.

use crate::engine::{Container, EnvVar, Image, Mount, Port, Probe, ProbeAction, Size, Volume, VolumeSource};
use crate::plan::Plan;

use super::{METRICS_PORT, PORT, WAIT_PORT};

const MIB: u64 = 1 << 20;

/// What the init container, which only copies and looks, may use.
const SETUP_SIZE: Size = Size::Fixed { cpu: 200, memory: 128 * MIB };
/// What the agent may use: a shell, and one script that is a process of Node.
const AGENT_SIZE: Size = Size::Fixed { cpu: 200, memory: 256 * MIB };
/// What the exporter may use.
const EXPORTER_SIZE: Size = Size::Fixed { cpu: 50, memory: 64 * MIB };

const DATA: Mount = Mount { volume: "data", path: "/data/db", writable: true };
const CONFIGDB: Mount = Mount { volume: "configdb", path: "/data/configdb", writable: true };
const CONFIG: Mount = Mount { volume: "config", path: "/etc/dbrender/config", writable: false };
const SCRIPTS: Mount = Mount { volume: "scripts", path: "/etc/dbrender/scripts", writable: false };
const BIN: Mount = Mount { volume: "bin", path: "/opt/dbrender", writable: false };
const CREDENTIALS: Mount = Mount { volume: "credentials", path: "/etc/dbrender/credentials", writable: false };
const RUN: Mount = Mount { volume: "run", path: "/var/run/mongodb", writable: true };
const TLS: Mount = Mount { volume: "tls", path: "/etc/dbrender/tls", writable: false };
const TMP: Mount = Mount { volume: "tmp", path: "/tmp", writable: true };

/// Asks to leave and waits for it, in the server and beside it: neither may end before that.
const LEAVE: &str = "/opt/dbrender/leave.sh";

/// `setup` copies the scripts, looks at the volume, and makes the files that the server wants for itself alone.
pub(super) fn init_containers(plan: &Plan) -> Vec<Container> {
    let mut setup = container("setup", vec!["/bin/bash", "/etc/dbrender/scripts/setup.sh"], SETUP_SIZE);
    setup.env = environment();
    setup.mounts = mounts(plan, &[SCRIPTS]);
    setup.mounts.iter_mut().filter(|m| m.volume == BIN.volume).for_each(|m| m.writable = true);
    vec![setup]
}

/// The server, the agent, and the exporter where it is asked for.
pub(super) fn containers(plan: &Plan) -> Vec<Container> {
    let mut server = container("mongodb", vec!["/opt/dbrender/start.sh"], Size::Database);
    server.env = environment();
    // The image's own, which its allocator of 8.0 asks for.
    server.env.push(EnvVar::Value("GLIBC_TUNABLES", "glibc.pthread.rseq=0".to_owned()));
    server.mounts = mounts(plan, &[CONFIGDB]);
    server.ports = member_ports();
    server.pre_stop = Some(vec![LEAVE]);
    let probe = |what, period, timeout, failures| {
        let action = ProbeAction::Exec(vec!["/opt/dbrender/probe.sh", what]);
        Some(Probe { action, period, timeout, failures })
    };
    // Startup has an hour for recovery. Liveness is lenient: a kill in the middle of a first copy starts it again from
    // nothing. Readiness is what the agent last wrote down.
    server.startup = probe("startup", 5, 5, 720);
    server.liveness = probe("liveness", 10, 10, 30);
    server.readiness = probe("readiness", 5, 5, 2);

    let mut agent = container("agent", vec!["/opt/dbrender/agent.sh"], AGENT_SIZE);
    agent.env = environment();
    agent.mounts = mounts(plan, &[]);
    agent.pre_stop = Some(vec![LEAVE]);

    let mut containers = vec![server, agent];
    if plan.monitoring.is_some() {
        containers.push(exporter(plan));
    }
    containers
}

fn container(name: &'static str, command: Vec<&'static str>, size: Size) -> Container {
    Container::new(name, Image::Server, command, size)
}

/// It takes its password from the environment only.
fn exporter(plan: &Plan) -> Container {
    let mut exporter = container("exporter", Vec::new(), EXPORTER_SIZE);
    exporter.image = Image::Exporter;
    exporter.uid = Some(65535);
    exporter.args = [
        "--mongodb.direct-connect=true",
        "--collector.replicasetstatus",
        "--collector.dbstats",
        "--collector.diagnosticdata",
        "--compatible-mode",
    ]
    .map(str::to_owned)
    .to_vec();
    exporter.env = vec![
        EnvVar::Value("MONGODB_URI", format!("mongodb://127.0.0.1:{PORT}/admin?directConnection=true")),
        EnvVar::Value("MONGODB_USER", "monitor".to_owned()),
        EnvVar::SecretKey { name: "MONGODB_PASSWORD", secret: plan.admin_secret(), key: "monitor-password" },
    ];
    exporter.ports = vec![Port { name: "metrics", number: METRICS_PORT }];
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
        // The image declares it as a volume, so that it would be written to where nobody looks.
        volume("configdb", VolumeSource::Disk(16 * MIB)),
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
    volumes
}

/// Ports that members use among themselves: the clients' one, and the one on which a member waits that no set counts yet.
pub(super) fn member_ports() -> Vec<Port> {
    vec![Port { name: "mongodb", number: PORT }, Port { name: "waiting", number: WAIT_PORT }]
}
