//! Names, labels and annotations, decided in one place.

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{LabelSelector, ObjectMeta};
use sha2::{Digest, Sha256};

use crate::api::{DeletionPolicy, EngineName};
use crate::engine;
use crate::plan::Plan;

use super::Input;

/// The Database that an object belongs to. Selectors use it and not `app.kubernetes.io/instance`: the StatefulSet
/// controller copies the selector onto every claim, and Argo CD's tracking label there would make it prune volumes.
pub const DATABASE_LABEL: &str = "app.example.com/database";
/// `primary` or `replica`, set at run time.
pub const ROLE_LABEL: &str = "app.example.com/role";
/// Whose manifests they are.
pub const MANAGED_BY_LABEL: &str = "app.kubernetes.io/managed-by";
/// Which part of the Database an object belongs to; keeps backup pods out of the server's selectors.
pub const COMPONENT_LABEL: &str = "app.kubernetes.io/component";
/// The engine.
pub const NAME_LABEL: &str = "app.kubernetes.io/name";
/// Exact version of the engine, on the StatefulSet alone.
pub const VERSION_LABEL: &str = "app.kubernetes.io/version";
/// Hash of the settings that need a restart: the pod template's one annotation.
pub const RESTART_HASH_ANNOTATION: &str = "app.example.com/restart-hash";

const ARGO_SYNC: &str = "argocd.argoproj.io/sync-options";
const ARGO_HEALTH: &str = "argocd.argoproj.io/ignore-healthcheck";
const FLUX_PRUNE: &str = "kustomize.toolkit.fluxcd.io/prune";
const HELM_POLICY: &str = "helm.sh/resource-policy";

/// Parts of a Database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Component {
    Database,
    Backup,
    Restore,
    Credentials,
}

impl Component {
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Component::Database => "database",
            Component::Backup => "backup",
            Component::Restore => "restore",
            Component::Credentials => "credentials",
        }
    }
}

/// Names of objects and of what Kubernetes makes from them, so that two Databases of one namespace never meet.
///
/// Jobs are left out: their names end in a hash. `order-db` and `order-db-backup` do meet, in the claim and the CronJob's
/// Jobs; so do all Databases whose names are equal.
#[must_use]
pub fn names_of(name: &str, engine: EngineName) -> Vec<(&'static str, String)> {
    let mut names: Vec<(&'static str, String)> = vec![
        ("ServiceAccount", name.to_owned()),
        ("ServiceAccount", format!("{name}-credentials")),
        ("Secret", format!("{name}-app")),
        ("Secret", format!("{name}-admin")),
        ("ConfigMap", format!("{name}-config")),
        ("ConfigMap", format!("{name}-scripts")),
        ("Service", name.to_owned()),
        ("Service", format!("{name}-headless")),
        ("Service", format!("{name}-ro")),
        ("StatefulSet", name.to_owned()),
        ("PodDisruptionBudget", name.to_owned()),
        ("NetworkPolicy", name.to_owned()),
        ("Role", name.to_owned()),
        ("Role", format!("{name}-credentials")),
        ("RoleBinding", name.to_owned()),
        ("RoleBinding", format!("{name}-credentials")),
        ("CronJob", format!("{name}-backup")),
        ("PersistentVolumeClaim", format!("{name}-backup")),
        ("PodMonitor", name.to_owned()),
    ];
    names.extend((0..7).map(|ordinal| ("PersistentVolumeClaim", format!("data-{name}-{ordinal}"))));
    if let Some(engine) = engine::by_name(engine) {
        names.extend(engine.run_config_map_suffixes().iter().map(|suffix| ("ConfigMap", format!("{name}-{suffix}"))));
    }
    names
}

/// Labels by which the objects of a component find their pods. Never changes for a Database.
pub(super) fn selector_labels(input: &Input<'_>, component: Component) -> BTreeMap<String, String> {
    labels([(DATABASE_LABEL, input.plan.name.as_str()), (COMPONENT_LABEL, component.as_str())])
}

/// The same as a selector.
pub(super) fn selector(input: &Input<'_>, component: Component) -> LabelSelector {
    LabelSelector { match_labels: Some(selector_labels(input, component)), match_expressions: None }
}

/// Labels of a pod template: nothing that a version of ours or the platform file could change.
pub(super) fn pod_labels(input: &Input<'_>, component: Component) -> BTreeMap<String, String> {
    let mut all = selector_labels(input, component);
    all.extend(labels([
        ("app.kubernetes.io/instance", input.plan.name.as_str()),
        (NAME_LABEL, input.plan.engine.as_str()),
        (MANAGED_BY_LABEL, "dbrender"),
    ]));
    all
}

/// Metadata of an object: its name, our labels and the platform's.
pub(super) fn metadata(input: &Input<'_>, name: String, component: Component) -> ObjectMeta {
    let plan = input.plan;
    let mut labels = plan.labels.clone();
    labels.extend(pod_labels(input, component));
    ObjectMeta {
        name: Some(name),
        namespace: Some(plan.namespace.clone()),
        labels: Some(labels),
        annotations: (!plan.annotations.is_empty()).then(|| plan.annotations.clone()),
        ..ObjectMeta::default()
    }
}

/// What no tool may delete on its own: passwords, backups, and what members keep at run time.
pub(super) fn keep(input: &Input<'_>, metadata: &mut ObjectMeta) {
    let argo = match input.plan.deletion_policy {
        DeletionPolicy::Delete => "Prune=confirm,Delete=confirm",
        DeletionPolicy::Retain | DeletionPolicy::Refuse => "Prune=false,Delete=false",
    };
    annotate(metadata, [(ARGO_SYNC, argo), (FLUX_PRUNE, "disabled"), (HELM_POLICY, "keep")]);
}

/// What is asked about before it is deleted: the members.
pub(super) fn confirm(input: &Input<'_>, metadata: &mut ObjectMeta) {
    let argo = match input.plan.deletion_policy {
        DeletionPolicy::Refuse => "Prune=false,Delete=false",
        DeletionPolicy::Retain | DeletionPolicy::Delete => "Prune=confirm,Delete=confirm",
    };
    annotate(metadata, [(ARGO_SYNC, argo)]);
}

/// A claim that nobody mounts yet is pending, which Argo CD would call progressing for ever.
pub(super) fn may_be_pending(metadata: &mut ObjectMeta) {
    annotate(metadata, [(ARGO_HEALTH, "true")]);
}

/// Adds annotations.
pub(super) fn annotate<'a>(metadata: &mut ObjectMeta, more: impl IntoIterator<Item = (&'a str, &'a str)>) {
    metadata.annotations.get_or_insert_default().extend(labels(more));
}

/// Owned labels or annotations.
pub(super) fn labels<'a>(pairs: impl IntoIterator<Item = (&'a str, &'a str)>) -> BTreeMap<String, String> {
    pairs.into_iter().map(|(key, value)| (key.to_owned(), value.to_owned())).collect()
}

/// The first `length` hexadecimal digits of the SHA-256 of a text.
pub(super) fn hash(text: &str, length: usize) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digits = Sha256::digest(text.as_bytes());
    digits
        .iter()
        .flat_map(|byte| [byte >> 4, byte & 15])
        .take(length)
        .map(|digit| char::from(DIGITS[usize::from(digit)]))
        .collect()
}

/// Hash of the settings that need a restart.
pub(super) fn restart_hash(plan_settings: &BTreeMap<String, String>) -> String {
    // One line each: a name holds no `=` and no line break, so different settings never give the same text.
    let text: String = plan_settings.iter().map(|(name, value)| format!("{name}={value:?}\n")).collect();
    hash(&text, 16)
}

/// Name of an object: the Database's, with a suffix.
pub(super) fn named(plan: &Plan, suffix: &str) -> String {
    format!("{}-{suffix}", plan.name)
}
