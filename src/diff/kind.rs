//! The kinds that are compared, and where the API server has them. What `diff` may read is made of the same list.

/// A kind of object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kind {
    /// `apps/v1`.
    pub api_version: &'static str,
    /// `StatefulSet`.
    pub kind: &'static str,
    /// `statefulsets`, as in paths and roles.
    pub resource: &'static str,
    /// Whether every API server has it. The others come with a CustomResourceDefinition, and without that their objects
    /// are missing.
    pub built_in: bool,
}

const fn built_in(api_version: &'static str, kind: &'static str, resource: &'static str) -> Kind {
    Kind { api_version, kind, resource, built_in: true }
}

const fn added(api_version: &'static str, kind: &'static str, resource: &'static str) -> Kind {
    Kind { api_version, kind, resource, built_in: false }
}

/// Every kind that is rendered, in the order in which it is applied.
pub const KINDS: &[Kind] = &[
    built_in("v1", "ServiceAccount", "serviceaccounts"),
    built_in("rbac.authorization.k8s.io/v1", "Role", "roles"),
    built_in("rbac.authorization.k8s.io/v1", "RoleBinding", "rolebindings"),
    built_in("v1", "Secret", "secrets"),
    added("external-secrets.io/v1", "ExternalSecret", "externalsecrets"),
    built_in("v1", "ConfigMap", "configmaps"),
    built_in("v1", "PersistentVolumeClaim", "persistentvolumeclaims"),
    built_in("v1", "Service", "services"),
    built_in("networking.k8s.io/v1", "NetworkPolicy", "networkpolicies"),
    built_in("policy/v1", "PodDisruptionBudget", "poddisruptionbudgets"),
    built_in("apps/v1", "StatefulSet", "statefulsets"),
    built_in("batch/v1", "Job", "jobs"),
    built_in("batch/v1", "CronJob", "cronjobs"),
    added("monitoring.coreos.com/v1", "PodMonitor", "podmonitors"),
];

/// Not rendered, and read because it says whether a volume may grow. It has no namespace.
pub const STORAGE_CLASS: Kind = built_in("storage.k8s.io/v1", "StorageClass", "storageclasses");

impl Kind {
    /// The API group; empty for the core group.
    #[must_use]
    pub fn group(&self) -> &'static str {
        self.api_version.rsplit_once('/').map_or("", |(group, _)| group)
    }

    /// The path of its objects: in one namespace, or in all.
    #[must_use]
    pub fn path(&self, namespace: Option<&str>) -> String {
        let root = if self.group().is_empty() { "/api" } else { "/apis" };
        let namespace = namespace.map(|name| format!("namespaces/{name}/")).unwrap_or_default();
        format!("{root}/{}/{namespace}{}", self.api_version, self.resource)
    }
}

#[cfg(test)]
mod tests {
    use super::{KINDS, STORAGE_CLASS};

    #[test]
    fn paths_are_those_of_the_api_server() {
        let of = |kind: &str| KINDS.iter().find(|k| k.kind == kind).unwrap();
        assert_eq!(of("Secret").path(Some("prod")), "/api/v1/namespaces/prod/secrets");
        assert_eq!(of("StatefulSet").path(None), "/apis/apps/v1/statefulsets");
        assert_eq!(STORAGE_CLASS.path(None), "/apis/storage.k8s.io/v1/storageclasses");
        assert_eq!((of("Secret").group(), of("CronJob").group()), ("", "batch"));
    }
}
