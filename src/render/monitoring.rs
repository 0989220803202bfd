//! Where metrics are read.

use serde_json::json;

use super::Input;
use super::manifest_set::PodMonitor;
use super::metadata::{Component, metadata, selector_labels};

/// Name of the exporter's port.
pub(super) const METRICS_PORT: &str = "metrics";

/// `<name>`, where metrics are on.
pub(super) fn build_pod_monitors(input: &Input<'_>) -> Vec<PodMonitor> {
    let Some(monitoring) = &input.plan.monitoring else { return Vec::new() };
    let mut metadata = metadata(input, input.plan.name.clone(), Component::Database);
    metadata.labels.get_or_insert_default().extend(monitoring.labels.clone());
    vec![PodMonitor {
        api_version: "monitoring.coreos.com/v1",
        kind: "PodMonitor",
        metadata,
        spec: json!({
            "podMetricsEndpoints": [{"interval": "30s", "port": METRICS_PORT}],
            "selector": {"matchLabels": selector_labels(input, Component::Database)},
        }),
    }]
}
