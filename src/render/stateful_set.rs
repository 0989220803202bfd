//! The members.

use k8s_openapi::api::apps::v1::{
    RollingUpdateStatefulSetStrategy, StatefulSet, StatefulSetPersistentVolumeClaimRetentionPolicy, StatefulSetSpec,
    StatefulSetUpdateStrategy,
};
use k8s_openapi::api::core::v1::{
    Affinity, PodAffinityTerm, PodAntiAffinity, PodTemplateSpec, TopologySpreadConstraint, WeightedPodAffinityTerm,
};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;

use crate::engine::VolumeSource;

use super::Input;
use super::claim::build_claim_template;
use super::metadata::{
    Component, RESTART_HASH_ANNOTATION, VERSION_LABEL, annotate, confirm, labels, metadata, named, pod_labels,
    restart_hash, selector,
};
use super::pod::build_pod_spec;

/// `<name>`. What is immutable is the same for 1 and 7 replicas: Parallel from the first day, because members need each
/// other and a wedge of one must not hold the others back.
pub(super) fn build_stateful_set(input: &Input<'_>) -> StatefulSet {
    let plan = input.plan;
    let mut metadata = metadata(input, plan.name.clone(), Component::Database);
    confirm(input, &mut metadata);
    metadata.labels.get_or_insert_default().extend(labels([(VERSION_LABEL, plan.version.exact.as_str())]));
    StatefulSet {
        metadata,
        spec: Some(StatefulSetSpec {
            min_ready_seconds: Some(10),
            persistent_volume_claim_retention_policy: Some(StatefulSetPersistentVolumeClaimRetentionPolicy {
                when_deleted: Some("Retain".to_owned()),
                when_scaled: Some("Retain".to_owned()),
            }),
            pod_management_policy: Some("Parallel".to_owned()),
            replicas: Some(if plan.hibernate { 0 } else { i32::from(plan.replicas) }),
            revision_history_limit: Some(5),
            selector: selector(input, Component::Database),
            service_name: Some(named(plan, "headless")),
            template: build_template(input),
            update_strategy: Some(StatefulSetUpdateStrategy {
                rolling_update: Some(RollingUpdateStatefulSetStrategy { partition: Some(0), max_unavailable: None }),
                type_: Some("RollingUpdate".to_owned()),
            }),
            volume_claim_templates: Some(vec![build_claim_template(input)]),
            ..StatefulSetSpec::default()
        }),
        status: None,
    }
}

/// The pod template. Nothing in it follows from replicas, primary, backups, labels of the platform or our version:
/// every change here restarts every member.
fn build_template(input: &Input<'_>) -> PodTemplateSpec {
    let facts = input.facts;
    let mut metadata = ObjectMeta { labels: Some(pod_labels(input, Component::Database)), ..ObjectMeta::default() };
    metadata
        .labels
        .get_or_insert_default()
        .extend(labels(facts.pod_labels.iter().map(|(&key, value)| (key, value.as_str()))));
    annotate(&mut metadata, [(RESTART_HASH_ANNOTATION, restart_hash(&facts.restart_settings).as_str())]);
    let token = !facts.access.is_empty() && !facts.volumes.iter().any(|v| matches!(v.source, VolumeSource::ApiToken));
    let mut spec =
        build_pod_spec(input, input.plan.name.clone(), token, &facts.init, &facts.containers, &facts.volumes);
    spec.affinity = Some(build_affinity(input));
    spec.topology_spread_constraints = Some(build_spread(input));
    spec.termination_grace_period_seconds = Some(facts.grace_seconds);
    PodTemplateSpec { metadata: Some(metadata), spec: Some(spec) }
}

/// Members prefer different nodes. Required would leave them unscheduled on a small cluster.
fn build_affinity(input: &Input<'_>) -> Affinity {
    Affinity {
        pod_anti_affinity: Some(PodAntiAffinity {
            preferred_during_scheduling_ignored_during_execution: Some(vec![WeightedPodAffinityTerm {
                pod_affinity_term: PodAffinityTerm {
                    label_selector: Some(selector(input, Component::Database)),
                    topology_key: "kubernetes.io/hostname".to_owned(),
                    ..PodAffinityTerm::default()
                },
                weight: 100,
            }]),
            ..PodAntiAffinity::default()
        }),
        ..Affinity::default()
    }
}

fn build_spread(input: &Input<'_>) -> Vec<TopologySpreadConstraint> {
    let spread = |key: &String| TopologySpreadConstraint {
        label_selector: Some(selector(input, Component::Database)),
        max_skew: 1,
        topology_key: key.clone(),
        when_unsatisfiable: "ScheduleAnyway".to_owned(),
        ..TopologySpreadConstraint::default()
    };
    input.plan.scheduling.topology_keys.iter().map(spread).collect()
}
