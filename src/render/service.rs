//! How clients and members find each other.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::{Service, ServicePort, ServiceSpec};
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;

use crate::api::ServiceType;
use crate::engine::{Port, RoleSelector};

use super::Input;
use super::metadata::{Component, ROLE_LABEL, annotate, metadata, named, selector_labels};

/// Label that the StatefulSet controller sets on each pod.
const POD_NAME_LABEL: &str = "statefulset.kubernetes.io/pod-name";

/// `<name>` for writes, `<name>-headless` for members, `<name>-ro` for reads where standbys exist.
pub(super) fn build_services(input: &Input<'_>) -> Vec<Service> {
    let mut services = vec![build_primary(input), build_headless(input)];
    if input.facts.has_read_service && input.plan.replicas > 1 {
        services.push(build_read(input));
    }
    services
}

fn build_primary(input: &Input<'_>) -> Service {
    let plan = input.plan;
    let mut selector = selector_labels(input, Component::Database);
    match input.facts.primary {
        RoleSelector::Label => {
            selector.insert(ROLE_LABEL.to_owned(), "primary".to_owned());
        }
        RoleSelector::Ordinal => {
            selector.insert(POD_NAME_LABEL.to_owned(), format!("{}-{}", plan.name, plan.primary));
        }
        RoleSelector::AllMembers => {}
    }
    let (type_, policy) = match plan.service.service_type {
        ServiceType::ClusterIp => ("ClusterIP", None),
        ServiceType::NodePort => ("NodePort", Some("Cluster".to_owned())),
        ServiceType::LoadBalancer => ("LoadBalancer", Some("Cluster".to_owned())),
    };
    let mut metadata = metadata(input, plan.name.clone(), Component::Database);
    annotate(&mut metadata, plan.service.annotations.iter().map(|(key, value)| (key.as_str(), value.as_str())));
    metadata.annotations = metadata.annotations.filter(|annotations| !annotations.is_empty());
    Service {
        metadata,
        spec: Some(ServiceSpec {
            external_traffic_policy: policy,
            ports: Some(vec![port(client_port(input))]),
            selector: Some(selector),
            session_affinity: Some("None".to_owned()),
            type_: Some(type_.to_owned()),
            ..ServiceSpec::default()
        }),
        status: None,
    }
}

/// Names for the members. Not ready ones too: they have to find each other before they are ready.
fn build_headless(input: &Input<'_>) -> Service {
    Service {
        metadata: metadata(input, named(input.plan, "headless"), Component::Database),
        spec: Some(ServiceSpec {
            cluster_ip: Some("None".to_owned()),
            ports: Some(input.facts.member_ports.iter().copied().map(port).collect()),
            publish_not_ready_addresses: Some(true),
            selector: Some(selector_labels(input, Component::Database)),
            session_affinity: Some("None".to_owned()),
            type_: Some("ClusterIP".to_owned()),
            ..ServiceSpec::default()
        }),
        status: None,
    }
}

fn build_read(input: &Input<'_>) -> Service {
    let mut selector: BTreeMap<String, String> = selector_labels(input, Component::Database);
    selector.insert(ROLE_LABEL.to_owned(), "replica".to_owned());
    Service {
        metadata: metadata(input, named(input.plan, "ro"), Component::Database),
        spec: Some(ServiceSpec {
            ports: Some(vec![port(client_port(input))]),
            selector: Some(selector),
            session_affinity: Some("None".to_owned()),
            type_: Some("ClusterIP".to_owned()),
            ..ServiceSpec::default()
        }),
        status: None,
    }
}

/// The client port under the name that the server's container gives it.
fn client_port(input: &Input<'_>) -> Port {
    Port { name: input.plan.engine.as_str(), number: input.engine.client_port() }
}

fn port(port: Port) -> ServicePort {
    ServicePort {
        name: Some(port.name.to_owned()),
        port: i32::from(port.number),
        protocol: Some("TCP".to_owned()),
        target_port: Some(IntOrString::String(port.name.to_owned())),
        ..ServicePort::default()
    }
}
