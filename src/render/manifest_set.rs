//! Every object of one Database, one field per kind, in the order in which they are applied.

use k8s_openapi::Metadata;
use k8s_openapi::api::apps::v1::StatefulSet;
use k8s_openapi::api::batch::v1::{CronJob, Job};
use k8s_openapi::api::core::v1::{ConfigMap, PersistentVolumeClaim, Secret, Service, ServiceAccount};
use k8s_openapi::api::networking::v1::NetworkPolicy;
use k8s_openapi::api::policy::v1::PodDisruptionBudget;
use k8s_openapi::api::rbac::v1::{Role, RoleBinding};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use serde::ser::{Serialize, SerializeStruct as _, Serializer};
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
    /// Configuration, and what members keep at run time.
    pub config_maps: Vec<ConfigMap>,
    /// What the pods run.
    pub scripts: Vec<Scripts>,
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
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
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
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
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

/// Files of an engine: name and content, as they are in the program.
pub type Files = &'static [(&'static str, &'static str)];

/// A `v1` ConfigMap whose data is the same for every Database of an engine, and larger than all else together. It stays
/// where it is in the program, so that a thousand Databases do not copy it a thousand times.
#[derive(Clone, Debug, PartialEq)]
pub struct Scripts {
    /// Metadata.
    pub metadata: ObjectMeta,
    /// Data.
    pub files: Files,
}

impl Serialize for Scripts {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_struct("ConfigMap", 4)?;
        map.serialize_field("apiVersion", "v1")?;
        map.serialize_field("kind", "ConfigMap")?;
        map.serialize_field("metadata", &self.metadata)?;
        map.serialize_field("data", &Data(self.files))?;
        map.end()
    }
}

/// Files as a map.
pub(super) struct Data(pub(super) Files);

impl Serialize for Data {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().copied())
    }
}

/// What is done with each object of a set.
pub(super) trait Visitor {
    /// An object of the kind, which serialises with `apiVersion` and `kind`.
    fn object<T: Serialize>(&mut self, kind: &'static str, metadata: &ObjectMeta, object: &T);

    /// The same of a ConfigMap whose data is the same for many.
    fn scripts(&mut self, scripts: &Scripts) {
        self.object("ConfigMap", &scripts.metadata, scripts);
    }
}

impl ManifestSet {
    /// Shows every object in the order in which it is applied: what others refer to comes first.
    pub(super) fn visit(&self, visitor: &mut impl Visitor) {
        let ManifestSet {
            service_accounts,
            roles,
            role_bindings,
            secrets,
            external_secrets,
            config_maps,
            scripts,
            persistent_volume_claims,
            services,
            network_policies,
            pod_disruption_budgets,
            stateful_sets,
            jobs,
            cron_jobs,
            pod_monitors,
        } = self;
        typed(visitor, service_accounts);
        typed(visitor, roles);
        typed(visitor, role_bindings);
        typed(visitor, secrets);
        for object in external_secrets {
            visitor.object(object.kind, &object.metadata, object);
        }
        typed(visitor, config_maps);
        for object in scripts {
            visitor.scripts(object);
        }
        typed(visitor, persistent_volume_claims);
        typed(visitor, services);
        typed(visitor, network_policies);
        typed(visitor, pod_disruption_budgets);
        typed(visitor, stateful_sets);
        typed(visitor, jobs);
        typed(visitor, cron_jobs);
        for object in pod_monitors {
            visitor.object(object.kind, &object.metadata, object);
        }
    }

    /// Kind, namespace and name of every object, in the order in which it is applied.
    #[must_use]
    pub fn identities(&self) -> Vec<(String, String, String)> {
        let mut names = Vec::new();
        self.visit(&mut Names(&mut names));
        names
    }

    /// Every object as a value, in the order in which it is applied.
    #[must_use]
    pub fn objects(&self) -> Vec<Object> {
        let mut objects = Vec::new();
        self.visit(&mut Values(&mut objects));
        objects
    }
}

fn typed<T: Serialize + Metadata<Ty = ObjectMeta>>(visitor: &mut impl Visitor, objects: &[T]) {
    for object in objects {
        visitor.object(T::KIND, object.metadata(), object);
    }
}

struct Names<'a>(&'a mut Vec<(String, String, String)>);

impl Visitor for Names<'_> {
    fn object<T: Serialize>(&mut self, kind: &'static str, metadata: &ObjectMeta, _: &T) {
        let text = |field: &Option<String>| field.clone().unwrap_or_default();
        self.0.push((kind.to_owned(), text(&metadata.namespace), text(&metadata.name)));
    }
}

struct Values<'a>(&'a mut Vec<Object>);

impl Visitor for Values<'_> {
    fn object<T: Serialize>(&mut self, kind: &'static str, metadata: &ObjectMeta, object: &T) {
        // Our types hold nothing that JSON cannot: no maps with other keys than text, no NaN.
        let value = serde_json::to_value(object).unwrap_or_default();
        self.0.push(Object {
            api_version: value["apiVersion"].as_str().unwrap_or_default().to_owned(),
            kind: kind.to_owned(),
            namespace: metadata.namespace.clone().unwrap_or_default(),
            name: metadata.name.clone().unwrap_or_default(),
            value,
        });
    }
}
