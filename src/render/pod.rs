//! Pods: what an engine states about containers and volumes, as Kubernetes writes it.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::{
    Capabilities, ConfigMapProjection, ConfigMapVolumeSource, Container, ContainerPort, DownwardAPIProjection,
    DownwardAPIVolumeFile, EmptyDirVolumeSource, EnvVar, EnvVarSource, ExecAction, HTTPGetAction, KeyToPath, Lifecycle,
    LifecycleHandler, LocalObjectReference, ObjectFieldSelector, PersistentVolumeClaimVolumeSource, PodSecurityContext,
    PodSpec, Probe, ProjectedVolumeSource, ResourceRequirements, SeccompProfile, SecretKeySelector, SecretProjection,
    SecretVolumeSource, SecurityContext, ServiceAccountTokenProjection, Toleration, Volume, VolumeMount,
    VolumeProjection,
};
use k8s_openapi::apimachinery::pkg::api::resource::Quantity;
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;

use crate::api;
use crate::engine::{self, Image, ProbeAction, Size, VolumeSource};
use crate::plan::Plan;

use super::Input;
use super::metadata::named;

/// Configuration is no secret.
const CONFIG_MODE: i32 = 0o444;
/// Scripts are run.
const SCRIPT_MODE: i32 = 0o555;
/// Owner and group; the group is the server's.
const SECRET_MODE: i32 = 0o440;

/// What the pods of every part have in common: who they are, what they may not, and where they run.
pub(super) fn build_pod_spec(
    input: &Input<'_>,
    account: String,
    token: bool,
    init: &[engine::Container],
    containers: &[engine::Container],
    volumes: &[engine::Volume],
) -> PodSpec {
    let plan = input.plan;
    let build =
        |containers: &[engine::Container]| containers.iter().map(|c| build_container(plan, c)).collect::<Vec<_>>();
    PodSpec {
        automount_service_account_token: Some(token),
        containers: build(containers),
        dns_policy: Some("ClusterFirst".to_owned()),
        // A Service called `mysql` would otherwise put MYSQL_PORT into the environment.
        enable_service_links: Some(false),
        image_pull_secrets: (!plan.image_pull_secrets.is_empty())
            .then(|| plan.image_pull_secrets.iter().map(|name| LocalObjectReference { name: name.clone() }).collect()),
        init_containers: (!init.is_empty()).then(|| build(init)),
        node_selector: (!plan.scheduling.node_selector.is_empty()).then(|| plan.scheduling.node_selector.clone()),
        priority_class_name: plan.scheduling.priority_class_name.clone(),
        restart_policy: Some("Always".to_owned()),
        scheduler_name: Some("default-scheduler".to_owned()),
        security_context: Some(PodSecurityContext {
            fs_group: Some(plan.images.gid),
            // A recursive change of a large volume would take minutes at every start.
            fs_group_change_policy: Some("OnRootMismatch".to_owned()),
            run_as_group: Some(plan.images.gid),
            run_as_non_root: Some(true),
            run_as_user: Some(plan.images.uid),
            seccomp_profile: Some(SeccompProfile { type_: "RuntimeDefault".to_owned(), localhost_profile: None }),
            ..PodSecurityContext::default()
        }),
        service_account: Some(account.clone()),
        service_account_name: Some(account),
        termination_grace_period_seconds: Some(30),
        tolerations: (!plan.scheduling.tolerations.is_empty())
            .then(|| plan.scheduling.tolerations.iter().map(build_toleration).collect()),
        volumes: (!volumes.is_empty()).then(|| volumes.iter().map(|v| build_volume(plan, v)).collect()),
        ..PodSpec::default()
    }
}

fn build_toleration(toleration: &api::Toleration) -> Toleration {
    let api::Toleration { key, operator, value, effect, toleration_seconds } = toleration.clone();
    // The API server fills in `Equal` for an absent operator.
    Toleration { key, operator: operator.or_else(|| Some("Equal".to_owned())), value, effect, toleration_seconds }
}

fn build_container(plan: &Plan, container: &engine::Container) -> Container {
    let engine::Container {
        name,
        image,
        command,
        args,
        env,
        ports,
        mounts,
        startup,
        liveness,
        readiness,
        pre_stop,
        size,
        uid,
    } = container;
    let words = |words: &[&'static str]| words.iter().map(|&word| word.to_owned()).collect::<Vec<String>>();
    Container {
        args: (!args.is_empty()).then(|| args.clone()),
        command: (!command.is_empty()).then(|| words(command)),
        env: (!env.is_empty()).then(|| env.iter().map(build_env).collect()),
        image: Some(image_of(plan, *image).to_owned()),
        image_pull_policy: Some("IfNotPresent".to_owned()),
        lifecycle: pre_stop.as_ref().map(|command| Lifecycle {
            pre_stop: Some(LifecycleHandler {
                exec: Some(ExecAction { command: Some(words(command)) }),
                ..LifecycleHandler::default()
            }),
            ..Lifecycle::default()
        }),
        liveness_probe: liveness.as_ref().map(build_probe),
        name: (*name).to_owned(),
        ports: (!ports.is_empty()).then(|| {
            ports
                .iter()
                .map(|port| ContainerPort {
                    container_port: i32::from(port.number),
                    name: Some(port.name.to_owned()),
                    protocol: Some("TCP".to_owned()),
                    ..ContainerPort::default()
                })
                .collect()
        }),
        readiness_probe: readiness.as_ref().map(build_probe),
        resources: Some(build_resources(plan, *size)),
        security_context: Some(SecurityContext {
            allow_privilege_escalation: Some(false),
            capabilities: Some(Capabilities { drop: Some(vec!["ALL".to_owned()]), add: None }),
            privileged: Some(false),
            read_only_root_filesystem: Some(true),
            run_as_user: *uid,
            ..SecurityContext::default()
        }),
        startup_probe: startup.as_ref().map(build_probe),
        termination_message_path: Some("/dev/termination-log".to_owned()),
        // The last lines of the log tell more than nothing.
        termination_message_policy: Some("FallbackToLogsOnError".to_owned()),
        volume_mounts: (!mounts.is_empty()).then(|| {
            mounts
                .iter()
                .map(|mount| VolumeMount {
                    mount_path: mount.path.to_owned(),
                    name: mount.volume.to_owned(),
                    read_only: (!mount.writable).then_some(true),
                    ..VolumeMount::default()
                })
                .collect()
        }),
        ..Container::default()
    }
}

fn image_of(plan: &Plan, image: Image) -> &str {
    match image {
        Image::Server => &plan.images.server,
        Image::Exporter => &plan.images.exporter,
        Image::Rclone => &plan.images.rclone,
        Image::Helper => &plan.images.helper,
    }
}

/// A field of the pod itself.
fn field(path: &str) -> ObjectFieldSelector {
    ObjectFieldSelector { api_version: Some("v1".to_owned()), field_path: path.to_owned() }
}

fn build_env(variable: &engine::EnvVar) -> EnvVar {
    match variable {
        engine::EnvVar::Value(name, value) => {
            EnvVar { name: (*name).to_owned(), value: Some(value.clone()), value_from: None }
        }
        engine::EnvVar::Field(name, path) => EnvVar {
            name: (*name).to_owned(),
            value: None,
            value_from: Some(EnvVarSource { field_ref: Some(field(path)), ..EnvVarSource::default() }),
        },
        engine::EnvVar::SecretKey { name, secret, key } => EnvVar {
            name: (*name).to_owned(),
            value: None,
            value_from: Some(EnvVarSource {
                secret_key_ref: Some(SecretKeySelector {
                    key: (*key).to_owned(),
                    name: secret.clone(),
                    optional: None,
                }),
                ..EnvVarSource::default()
            }),
        },
    }
}

fn build_probe(probe: &engine::Probe) -> Probe {
    let engine::Probe { action, period, timeout, failures } = probe;
    let (exec, http_get) = match action {
        ProbeAction::Exec(command) => {
            (Some(ExecAction { command: Some(command.iter().map(|&word| word.to_owned()).collect()) }), None)
        }
        ProbeAction::Get { path, port } => (
            None,
            Some(HTTPGetAction {
                path: Some((*path).to_owned()),
                port: IntOrString::String((*port).to_owned()),
                scheme: Some("HTTP".to_owned()),
                ..HTTPGetAction::default()
            }),
        ),
    };
    Probe {
        exec,
        failure_threshold: Some(*failures),
        http_get,
        period_seconds: Some(*period),
        success_threshold: Some(1),
        timeout_seconds: Some(*timeout),
        ..Probe::default()
    }
}

/// Requests equal limits on every container, so that the pod is the last that a node evicts.
fn build_resources(plan: &Plan, size: Size) -> ResourceRequirements {
    let (cpu, memory) = match size {
        Size::Database => (plan.cpu.canonical(), plan.memory.canonical()),
        Size::Fixed { cpu, memory } => (format!("{cpu}m"), binary(memory)),
    };
    let amounts = BTreeMap::from([("cpu".to_owned(), Quantity(cpu)), ("memory".to_owned(), Quantity(memory))]);
    ResourceRequirements { claims: None, limits: Some(amounts.clone()), requests: Some(amounts) }
}

/// Bytes as the API server writes them.
fn binary(bytes: u64) -> String {
    const UNITS: [(&str, u32); 4] = [("Ti", 40), ("Gi", 30), ("Mi", 20), ("Ki", 10)];
    UNITS
        .iter()
        .find(|(_, shift)| bytes != 0 && bytes.trailing_zeros() >= *shift)
        .map_or_else(|| bytes.to_string(), |(unit, shift)| format!("{}{unit}", bytes >> shift))
}

fn build_volume(plan: &Plan, volume: &engine::Volume) -> Volume {
    let config_map = |suffix: &str, mode| ConfigMapVolumeSource {
        default_mode: Some(mode),
        name: named(plan, suffix),
        ..ConfigMapVolumeSource::default()
    };
    let empty = |medium: Option<&str>, bytes: u64| EmptyDirVolumeSource {
        medium: medium.map(str::to_owned),
        size_limit: Some(Quantity(binary(bytes))),
    };
    let claim = |claim_name: String, read_only: bool| PersistentVolumeClaimVolumeSource {
        claim_name,
        read_only: read_only.then_some(true),
    };
    let mut built = Volume { name: volume.name.to_owned(), ..Volume::default() };
    match &volume.source {
        VolumeSource::Config => built.config_map = Some(config_map("config", CONFIG_MODE)),
        VolumeSource::Scripts => built.config_map = Some(config_map("scripts", SCRIPT_MODE)),
        VolumeSource::Credentials { app, admin } => {
            let keys = [(plan.app_secret(), app), (plan.admin_secret(), admin)];
            built.projected = Some(ProjectedVolumeSource {
                default_mode: Some(SECRET_MODE),
                sources: Some(
                    keys.into_iter()
                        .filter(|(_, items)| !items.is_empty())
                        .map(|(name, items)| VolumeProjection {
                            secret: Some(SecretProjection { items: Some(paths(items)), name, optional: None }),
                            ..VolumeProjection::default()
                        })
                        .collect(),
                ),
            });
        }
        VolumeSource::Secret { name, keys } => {
            let items: Vec<(&str, &str)> = keys.iter().map(|&key| (key, key)).collect();
            built.secret = Some(SecretVolumeSource {
                default_mode: Some(SECRET_MODE),
                items: Some(paths(&items)),
                secret_name: Some(name.clone()),
                optional: None,
            });
        }
        VolumeSource::ApiToken => built.projected = Some(api_token()),
        VolumeSource::Memory(bytes) => built.empty_dir = Some(empty(Some("Memory"), *bytes)),
        VolumeSource::Disk(bytes) => built.empty_dir = Some(empty(None, *bytes)),
        VolumeSource::BackupClaim => built.persistent_volume_claim = Some(claim(named(plan, "backup"), false)),
        VolumeSource::BackupClaimOf(name) => built.persistent_volume_claim = Some(claim(name.clone(), true)),
    }
    built
}

/// What Kubernetes mounts by itself where a token is mounted everywhere.
fn api_token() -> ProjectedVolumeSource {
    let namespace = DownwardAPIVolumeFile {
        field_ref: Some(field("metadata.namespace")),
        path: "namespace".to_owned(),
        ..DownwardAPIVolumeFile::default()
    };
    ProjectedVolumeSource {
        default_mode: Some(SECRET_MODE),
        sources: Some(vec![
            VolumeProjection {
                service_account_token: Some(ServiceAccountTokenProjection {
                    expiration_seconds: Some(3600),
                    path: "token".to_owned(),
                    audience: None,
                }),
                ..VolumeProjection::default()
            },
            VolumeProjection {
                config_map: Some(ConfigMapProjection {
                    items: Some(paths(&[("ca.crt", "ca.crt")])),
                    name: "kube-root-ca.crt".to_owned(),
                    optional: None,
                }),
                ..VolumeProjection::default()
            },
            VolumeProjection {
                downward_api: Some(DownwardAPIProjection { items: Some(vec![namespace]) }),
                ..VolumeProjection::default()
            },
        ]),
    }
}

/// Keys are named one by one, so that the kubelet holds the pod back until each of them exists.
fn paths(items: &[(&str, &str)]) -> Vec<KeyToPath> {
    items.iter().map(|&(key, path)| KeyToPath { key: key.to_owned(), path: path.to_owned(), mode: None }).collect()
}

#[cfg(test)]
mod tests {
    use super::binary;

    #[test]
    fn bytes_are_written_as_the_server_writes_them() {
        let cases = [
            (0, "0"),
            (1, "1"),
            (1024, "1Ki"),
            (1536, "1536"),
            (128 << 20, "128Mi"),
            (1536 << 20, "1536Mi"),
            (1 << 30, "1Gi"),
            (1 << 40, "1Ti"),
        ];
        for (bytes, text) in cases {
            assert_eq!(binary(bytes), text);
        }
    }
}
