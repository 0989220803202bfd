//! Who the pods are and what they may do with the Kubernetes API.

use k8s_openapi::api::core::v1::ServiceAccount;
use k8s_openapi::api::rbac::v1::{PolicyRule, Role, RoleBinding, RoleRef, Subject};

use crate::plan::Credentials;

use super::Input;
use super::metadata::{Component, metadata, named};

/// `<name>` for the members, `<name>-credentials` for the Job that fills passwords. Neither mounts a token unless the
/// pod asks for it.
pub(super) fn build_service_accounts(input: &Input<'_>) -> Vec<ServiceAccount> {
    let account = |name, component| ServiceAccount {
        metadata: metadata(input, name, component),
        automount_service_account_token: Some(false),
        ..ServiceAccount::default()
    };
    let mut accounts = vec![account(input.plan.name.clone(), Component::Database)];
    if fills_by_job(input) {
        accounts.push(account(named(input.plan, "credentials"), Component::Credentials));
    }
    accounts
}

/// Exact names and verbs only.
pub(super) fn build_roles(input: &Input<'_>) -> Vec<Role> {
    let mut roles = Vec::new();
    if !input.facts.access.is_empty() {
        let rules = input.facts.access.iter().map(|rule| PolicyRule {
            api_groups: Some(vec![rule.group.to_owned()]),
            resources: Some(vec![rule.resource.to_owned()]),
            resource_names: (!rule.names.is_empty()).then(|| rule.names.clone()),
            verbs: rule.verbs.iter().map(|&verb| verb.to_owned()).collect(),
            ..PolicyRule::default()
        });
        roles.push(Role {
            metadata: metadata(input, input.plan.name.clone(), Component::Database),
            rules: Some(rules.collect()),
        });
    }
    if fills_by_job(input) {
        roles.push(Role {
            metadata: metadata(input, named(input.plan, "credentials"), Component::Credentials),
            rules: Some(vec![PolicyRule {
                api_groups: Some(vec![String::new()]),
                resources: Some(vec!["secrets".to_owned()]),
                resource_names: Some(vec![input.plan.admin_secret(), input.plan.app_secret()]),
                verbs: vec!["get".to_owned(), "patch".to_owned()],
                ..PolicyRule::default()
            }]),
        });
    }
    roles
}

/// Each Role to the ServiceAccount of its name.
pub(super) fn build_role_bindings(input: &Input<'_>) -> Vec<RoleBinding> {
    let binding = |role: Role| RoleBinding {
        role_ref: RoleRef {
            api_group: "rbac.authorization.k8s.io".to_owned(),
            kind: "Role".to_owned(),
            name: role.metadata.name.clone().unwrap_or_default(),
        },
        subjects: Some(vec![Subject {
            kind: "ServiceAccount".to_owned(),
            name: role.metadata.name.clone().unwrap_or_default(),
            namespace: Some(input.plan.namespace.clone()),
            ..Subject::default()
        }]),
        metadata: role.metadata,
    };
    build_roles(input).into_iter().map(binding).collect()
}

/// Whether a Job fills the passwords.
pub(super) fn fills_by_job(input: &Input<'_>) -> bool {
    matches!(input.plan.credentials, Credentials::Generated { job: true })
}
