//! Secrets without secrets: facts for clients, and references to a store.

use k8s_openapi::ByteString;
use k8s_openapi::api::core::v1::Secret;
use serde_json::{Value, json};

use crate::engine::StoredKey;
use crate::plan::Credentials;

use super::Input;
use super::manifest_set::ExternalSecret;
use super::metadata::{Component, keep, metadata, named};

/// `<name>-app` and `<name>-admin`, without any password: those are filled in the cluster by another field manager.
///
/// Facts stand in `data`: a key that is dropped from `stringData` stays in the live Secret under server-side apply.
pub(super) fn build_secrets(input: &Input<'_>) -> Vec<Secret> {
    if !matches!(input.plan.credentials, Credentials::Generated { .. }) {
        return Vec::new();
    }
    let secret = |name, type_: String, data: Option<_>| {
        let mut metadata = metadata(input, name, Component::Database);
        keep(input, &mut metadata);
        Secret { metadata, type_: Some(type_), data, ..Secret::default() }
    };
    let facts = input
        .facts
        .app_facts
        .iter()
        .map(|(&key, value)| (key.to_owned(), ByteString(value.clone().into_bytes())))
        .collect();
    vec![
        secret(input.plan.app_secret(), binding_type(input), Some(facts)),
        secret(input.plan.admin_secret(), "Opaque".to_owned(), None),
    ]
}

/// ExternalSecrets of the same names. Keys in the store are `<prefix><namespace>/<name>/<secret>`.
pub(super) fn build_external_secrets(input: &Input<'_>) -> Vec<ExternalSecret> {
    let Credentials::External { store, kind, prefix, refresh_interval } = &input.plan.credentials else {
        return Vec::new();
    };
    let plan = input.plan;
    let build = |name: String, type_: String, part: &str, keys: &[StoredKey], facts: Value| {
        let mut metadata = metadata(input, name.clone(), Component::Database);
        keep(input, &mut metadata);
        let path = format!("{prefix}{}/{}/{part}", plan.namespace, plan.name);
        let data: Vec<Value> = keys
            .iter()
            .filter(|key| !matches!(key, StoredKey::Uri(_)))
            .map(|key| json!({"remoteRef": {"key": path, "property": key.key()}, "secretKey": key.key()}))
            .collect();
        ExternalSecret {
            api_version: "external-secrets.io/v1",
            kind: "ExternalSecret",
            metadata,
            spec: json!({
                "data": data,
                "refreshInterval": refresh_interval,
                "secretStoreRef": {"kind": kind, "name": store},
                "target": {
                    "creationPolicy": "Orphan",
                    "deletionPolicy": "Retain",
                    "name": name,
                    "template": {"data": facts, "engineVersion": "v2", "mergePolicy": "Merge", "type": type_},
                },
            }),
        }
    };
    let facts: Value = input.facts.app_facts.iter().map(|(&key, value)| (key.to_owned(), json!(value))).collect();
    vec![
        build(named(plan, "app"), binding_type(input), "app", input.engine.app_keys(), facts),
        build(named(plan, "admin"), "Opaque".to_owned(), "admin", input.engine.admin_keys(), json!({})),
    ]
}

/// Type of the Service Binding specification.
fn binding_type(input: &Input<'_>) -> String {
    format!("servicebinding.io/{}", input.plan.engine.as_str())
}
