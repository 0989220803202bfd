//! Every object of one Database, one field per kind, in the order in which they are applied.

use k8s_openapi::api::apps::v1::StatefulSet;
use k8s_openapi::api::batch::v1::{CronJob, Job};
use k8s_openapi::api::core::v1::{ConfigMap, PersistentVolumeClaim, Secret, Service, ServiceAccount};
use k8s_openapi::api::networking::v1::NetworkPolicy;
use k8s_openapi::api::policy::v1::PodDisruptionBudget;
use k8s_openapi::api::rbac::v1::{Role, RoleBinding};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use serde::Serialize;
use serde_json::Value;

/// The manifests of one Database. Whoever uses them takes it apart without `..`, so that a new kind cannot be forgotten.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ManifestSet {
    /// Identities of the pods.
    pub service_accounts: Vec<ServiceAccount>,
    /// What they may do.
    pub roles: Vec<Role>,
    /// Who may do it.
    pub role_bindings: Vec<RoleBinding>,
    /// Facts for clients; never a password.
    pub secrets: Vec<Secret>,
    /// References to passwords in a store.
    pub external_secrets: Vec<ExternalSecret>,
    /// Configuration, scripts, and what members keep at run time.
    pub config_maps: Vec<ConfigMap>,
    /// Room for backups.
    pub persistent_volume_claims: Vec<PersistentVolumeClaim>,
    /// How clients and members find each other.
    pub services: Vec<Service>,
    /// Who may connect.
    pub network_policies: Vec<NetworkPolicy>,
    /// How many members may be drained at a time.
    pub pod_disruption_budgets: Vec<PodDisruptionBudget>,
    /// The members.
    pub stateful_sets: Vec<StatefulSet>,
    /// What runs once.
    pub jobs: Vec<Job>,
    /// What runs again and again.
    pub cron_jobs: Vec<CronJob>,
    /// Where metrics are read.
    pub pod_monitors: Vec<PodMonitor>,
}

/// One object, ready to be written, compared or applied.
#[derive(Clone, Debug, PartialEq)]
pub struct Object {
    /// `apps/v1`.
    pub api_version: String,
    /// `StatefulSet`.
    pub kind: String,
    /// Namespace.
    pub namespace: String,
    /// Name.
    pub name: String,
    /// The whole object.
    pub value: Value,
}

/// `external-secrets.io/v1`, which has no Rust types of its own.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ExternalSecret {
    /// `external-secrets.io/v1`.
    pub api_version: &'static str,
    /// `ExternalSecret`.
    pub kind: &'static str,
    /// Metadata.
    pub metadata: ObjectMeta,
    /// Store, target and keys.
    pub spec: Value,
}

/// `monitoring.coreos.com/v1`, which has no Rust types of its own.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PodMonitor {
    /// `monitoring.coreos.com/v1`.
    pub api_version: &'static str,
    /// `PodMonitor`.
    pub kind: &'static str,
    /// Metadata.
    pub metadata: ObjectMeta,
    /// Selector and port.
    pub spec: Value,
}

impl ManifestSet {
    /// Every object in the order in which it is applied: what others refer to comes first.
    #[must_use]
    pub fn objects(&self) -> Vec<Object> {
        let ManifestSet {
            service_accounts,
            roles,
            role_bindings,
            secrets,
            external_secrets,
            config_maps,
            persistent_volume_claims,
            services,
            network_policies,
            pod_disruption_budgets,
            stateful_sets,
            jobs,
            cron_jobs,
            pod_monitors,
        } = self;
        let mut objects = Vec::new();
        add(&mut objects, service_accounts);
        add(&mut objects, roles);
        add(&mut objects, role_bindings);
        add(&mut objects, secrets);
        add(&mut objects, external_secrets);
        add(&mut objects, config_maps);
        add(&mut objects, persistent_volume_claims);
        add(&mut objects, services);
        add(&mut objects, network_policies);
        add(&mut objects, pod_disruption_budgets);
        add(&mut objects, stateful_sets);
        add(&mut objects, jobs);
        add(&mut objects, cron_jobs);
        add(&mut objects, pod_monitors);
        objects
    }
}

fn add<T: Serialize>(objects: &mut Vec<Object>, typed: &[T]) {
    objects.extend(typed.iter().map(|object| {
        // Our types hold nothing that JSON cannot: no maps with other keys than text, no NaN.
        let mut value = serde_json::to_value(object).unwrap_or_default();
        drop_empty(&mut value);
        let text = |pointer: &str| value.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned();
        Object {
            api_version: text("/apiVersion"),
            kind: text("/kind"),
            namespace: text("/metadata/namespace"),
            name: text("/metadata/name"),
            value,
        }
    }));
}

/// The types serialise a template's absent metadata as an empty map, which the API server does not keep.
fn drop_empty(value: &mut Value) {
    if let Value::Object(map) = value {
        map.retain(|key, child| !(key == "metadata" && child.as_object().is_some_and(serde_json::Map::is_empty)));
        map.values_mut().for_each(drop_empty);
    }
    if let Value::Array(items) = value {
        items.iter_mut().for_each(drop_empty);
    }
}
