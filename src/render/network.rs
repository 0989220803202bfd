//! Who may connect, and how many members may be drained at a time.

use k8s_openapi::api::networking::v1::{
    NetworkPolicy, NetworkPolicyIngressRule, NetworkPolicyPeer, NetworkPolicyPort, NetworkPolicySpec,
};
use k8s_openapi::api::policy::v1::{PodDisruptionBudget, PodDisruptionBudgetSpec};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector;
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;

use super::Input;
use super::metadata::{Component, labels, metadata, selector};

/// Label that every namespace carries by itself.
const NAMESPACE_NAME_LABEL: &str = "kubernetes.io/metadata.name";

/// Ingress only: the client port from where `access` says, the members' ports from the members, the metrics port from the
/// scrapers.
pub(super) fn build_network_policies(input: &Input<'_>) -> Vec<NetworkPolicy> {
    let plan = input.plan;
    let Some(access) = &plan.access else { return Vec::new() };
    let everything = || LabelSelector::default();
    let pods = |selector| NetworkPolicyPeer { pod_selector: Some(selector), ..NetworkPolicyPeer::default() };
    let namespaces =
        |selector| NetworkPolicyPeer { namespace_selector: Some(selector), ..NetworkPolicyPeer::default() };

    let mut clients = vec![pods(everything())];
    clients.extend(access.namespaces.iter().map(|name| {
        namespaces(LabelSelector {
            match_labels: Some(labels([(NAMESPACE_NAME_LABEL, name.as_str())])),
            match_expressions: None,
        })
    }));
    clients.extend(access.selector.iter().map(|selector| {
        namespaces(LabelSelector { match_labels: Some(selector.match_labels.clone()), match_expressions: None })
    }));

    let members = input.facts.member_ports.iter().map(|member| member.number).collect::<Vec<_>>();
    let mut ingress = vec![
        rule(clients, &[input.engine.client_port()]),
        rule(vec![pods(selector(input, Component::Database))], &members),
        rule(
            vec![pods(selector(input, Component::Backup)), pods(selector(input, Component::Restore))],
            &[input.engine.client_port()],
        ),
    ];
    if let Some(monitoring) = &plan.monitoring {
        let scrapers = monitoring.namespace_selector.as_ref().map_or_else(everything, |selector| LabelSelector {
            match_labels: Some(selector.match_labels.clone()),
            match_expressions: None,
        });
        let metrics: Vec<u16> = input
            .facts
            .containers
            .iter()
            .flat_map(|container| &container.ports)
            .filter(|port| port.name == super::monitoring::METRICS_PORT)
            .map(|port| port.number)
            .collect();
        ingress.push(rule(vec![namespaces(scrapers)], &metrics));
    }
    vec![NetworkPolicy {
        metadata: metadata(input, plan.name.clone(), Component::Database),
        spec: Some(NetworkPolicySpec {
            ingress: Some(ingress),
            pod_selector: Some(selector(input, Component::Database)),
            policy_types: Some(vec!["Ingress".to_owned()]),
            ..NetworkPolicySpec::default()
        }),
    }]
}

fn rule(from: Vec<NetworkPolicyPeer>, ports: &[u16]) -> NetworkPolicyIngressRule {
    NetworkPolicyIngressRule {
        from: Some(from),
        ports: Some(
            ports
                .iter()
                .map(|&port| NetworkPolicyPort {
                    port: Some(IntOrString::Int(i32::from(port))),
                    protocol: Some("TCP".to_owned()),
                    end_port: None,
                })
                .collect(),
        ),
    }
}

/// One member at a time; none with a single member, where a budget would block every drain for ever. A member that
/// crashes in a loop does not block a drain.
pub(super) fn build_pod_disruption_budgets(input: &Input<'_>) -> Vec<PodDisruptionBudget> {
    if input.plan.replicas < 2 {
        return Vec::new();
    }
    vec![PodDisruptionBudget {
        metadata: metadata(input, input.plan.name.clone(), Component::Database),
        spec: Some(PodDisruptionBudgetSpec {
            max_unavailable: Some(IntOrString::Int(1)),
            selector: Some(selector(input, Component::Database)),
            unhealthy_pod_eviction_policy: Some("AlwaysAllow".to_owned()),
            ..PodDisruptionBudgetSpec::default()
        }),
        status: None,
    }]
}
