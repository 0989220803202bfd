//! Services, policies and custom resources.

use serde_json::Value;

use super::{CLOSED, Extra, Field, Fill, Key, Kind, OPEN, SCALAR, SELECTOR, SET, anything, d, f, key, ours};

const PROTOCOL: Key = Key { name: "protocol", absent: "TCP" };

/// An address, and not a Service without one: that is made so by a person.
fn is_address(value: &Value) -> bool {
    value.as_str().is_some_and(|text| text != "None")
}

pub(super) const SERVICE: &[Field] = &[f(
    "spec",
    &Kind::Fields(&[
        d("allocateLoadBalancerNodePorts", SCALAR, Fill::Bool(true)),
        Field { name: "clusterIP", kind: SCALAR, fill: Fill::Assigned(is_address), alone: Extra::Drift },
        d("clusterIPs", SET, Fill::Assigned(anything)),
        f("externalIPs", SET),
        d("externalTrafficPolicy", SCALAR, Fill::Text("Cluster")),
        d("healthCheckNodePort", SCALAR, Fill::Assigned(anything)),
        d("internalTrafficPolicy", SCALAR, Fill::Text("Cluster")),
        d("ipFamilies", SET, Fill::Assigned(anything)),
        d("ipFamilyPolicy", SCALAR, Fill::Assigned(anything)),
        f("loadBalancerClass", SCALAR),
        ours(
            "ports",
            &Kind::Keyed(
                &[key("port"), PROTOCOL],
                &Kind::Fields(&[
                    f("appProtocol", SCALAR),
                    f("name", SCALAR),
                    d("nodePort", SCALAR, Fill::Assigned(anything)),
                    f("port", SCALAR),
                    d("protocol", SCALAR, Fill::Text("TCP")),
                    d("targetPort", SCALAR, Fill::Same("port")),
                ]),
                Extra::Drift,
            ),
        ),
        d("publishNotReadyAddresses", SCALAR, Fill::Zero),
        ours("selector", CLOSED),
        d("sessionAffinity", SCALAR, Fill::Text("None")),
        d("type", SCALAR, Fill::Text("ClusterIP")),
    ]),
)];

const PORTS: Field = ours(
    "ports",
    &Kind::Items(
        &Kind::Fields(&[f("endPort", SCALAR), f("port", SCALAR), d("protocol", SCALAR, Fill::Text("TCP"))]),
        Extra::Drift,
    ),
);

const PEERS: &Kind = &Kind::Items(
    &Kind::Fields(&[
        ours("ipBlock", &Kind::Fields(&[f("cidr", SCALAR), ours("except", SET)])),
        ours("namespaceSelector", SELECTOR),
        ours("podSelector", SELECTOR),
    ]),
    Extra::Drift,
);

pub(super) const NETWORK_POLICY: &[Field] = &[f(
    "spec",
    &Kind::Fields(&[
        ours("egress", &Kind::Items(&Kind::Presence(&[PORTS, ours("to", PEERS)]), Extra::Drift)),
        ours("ingress", &Kind::Items(&Kind::Presence(&[ours("from", PEERS), PORTS]), Extra::Drift)),
        ours("podSelector", SELECTOR),
        // With a rule for the way out it would be both; none is rendered, and one in the cluster is drift.
        Field { name: "policyTypes", kind: SET, fill: Fill::List(&["Ingress"]), alone: Extra::Drift },
    ]),
)];

pub(super) const POD_DISRUPTION_BUDGET: &[Field] = &[f(
    "spec",
    &Kind::Fields(&[
        ours("maxUnavailable", SCALAR),
        ours("minAvailable", SCALAR),
        ours("selector", SELECTOR),
        f("unhealthyPodEvictionPolicy", SCALAR),
    ]),
)];

pub(super) const POD_MONITOR: &[Field] = &[f(
    "spec",
    &Kind::Fields(&[
        f("namespaceSelector", OPEN),
        f(
            "podMetricsEndpoints",
            &Kind::Items(&Kind::Fields(&[f("interval", SCALAR), f("port", SCALAR)]), Extra::Drift),
        ),
        ours("selector", SELECTOR),
    ]),
)];

const REMOTE: &Kind = &Kind::Fields(&[
    d("conversionStrategy", SCALAR, Fill::Text("Default")),
    d("decodingStrategy", SCALAR, Fill::Text("None")),
    f("key", SCALAR),
    d("metadataPolicy", SCALAR, Fill::Text("None")),
    d("nullBytePolicy", SCALAR, Fill::Text("Ignore")),
    f("property", SCALAR),
    f("version", SCALAR),
]);

/// The definition of external-secrets.io fills in what says so here.
pub(super) const EXTERNAL_SECRET: &[Field] = &[f(
    "spec",
    &Kind::Fields(&[
        ours(
            "data",
            &Kind::Keyed(
                &[key("secretKey")],
                &Kind::Fields(&[f("remoteRef", REMOTE), f("secretKey", SCALAR)]),
                Extra::Drift,
            ),
        ),
        d("refreshInterval", SCALAR, Fill::Text("1h0m0s")),
        f("refreshPolicy", SCALAR),
        f("secretStoreRef", &Kind::Fields(&[d("kind", SCALAR, Fill::Text("SecretStore")), f("name", SCALAR)])),
        f(
            "target",
            &Kind::Fields(&[
                d("creationPolicy", SCALAR, Fill::Text("Owner")),
                d("deletionPolicy", SCALAR, Fill::Text("Retain")),
                f("immutable", SCALAR),
                f("name", SCALAR),
                f(
                    "template",
                    &Kind::Fields(&[
                        ours("data", CLOSED),
                        d("engineVersion", SCALAR, Fill::Text("v2")),
                        d("mergePolicy", SCALAR, Fill::Text("Replace")),
                        f("type", SCALAR),
                    ]),
                ),
            ]),
        ),
    ]),
)];
