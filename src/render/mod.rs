//! `Plan` to manifests: the pure renderer, and the only place that makes Kubernetes objects.
//!
//! `render` is total: a Plan has been checked, so there is nothing left that could fail. One `build_*` function per kind.
//! Values that the API server would fill in are written out, so that what is compared later is what was meant.

mod access;
mod claim;
mod config_map;
#[expect(clippy::disallowed_types, reason = "a rendered Secret holds facts for clients and no password")]
mod credentials;
mod cron_job;
mod job;
#[expect(clippy::disallowed_types, reason = "a rendered Secret holds facts for clients and no password")]
mod manifest_set;
mod metadata;
mod monitoring;
mod network;
mod pod;
mod printer;
mod service;
mod stateful_set;

pub use cron_job::backup_job;
pub use manifest_set::{ExternalSecret, Files, ManifestSet, Object, PodMonitor, Scripts};
pub use metadata::{
    COMPONENT_LABEL, DATABASE_LABEL, MANAGED_BY_LABEL, NAME_LABEL, RESTART_HASH_ANNOTATION, ROLE_LABEL, VERSION_LABEL,
    names_of,
};
pub use printer::{Printed, Printer};

use crate::engine::{self, Engine, Facts};
use crate::plan::Plan;

/// The manifests of one Database. The same Plan gives the same manifests, to the byte.
///
/// An engine that this build does not render gives an empty set; `check` refuses it before.
#[must_use]
pub fn render(plan: &Plan) -> ManifestSet {
    match engine::by_name(plan.engine) {
        Some(engine) => build(&Input { plan, engine, facts: &engine.facts(plan) }),
        None => ManifestSet::default(),
    }
}

/// What every builder reads.
struct Input<'a> {
    plan: &'a Plan,
    facts: &'a Facts,
    engine: &'a dyn Engine,
}

fn build(input: &Input<'_>) -> ManifestSet {
    ManifestSet {
        service_accounts: access::build_service_accounts(input),
        roles: access::build_roles(input),
        role_bindings: access::build_role_bindings(input),
        secrets: credentials::build_secrets(input),
        external_secrets: credentials::build_external_secrets(input),
        config_maps: config_map::build_config_maps(input),
        scripts: config_map::build_scripts(input),
        persistent_volume_claims: claim::build_persistent_volume_claims(input),
        services: service::build_services(input),
        network_policies: network::build_network_policies(input),
        pod_disruption_budgets: network::build_pod_disruption_budgets(input),
        stateful_sets: vec![stateful_set::build_stateful_set(input)],
        jobs: job::build_jobs(input),
        cron_jobs: cron_job::build_cron_jobs(input),
        pod_monitors: monitoring::build_pod_monitors(input),
    }
}
