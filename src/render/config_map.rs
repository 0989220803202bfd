//! Configuration, scripts, and what members keep at run time.

use k8s_openapi::api::core::v1::ConfigMap;

use super::Input;
use super::manifest_set::Scripts;
use super::metadata::{Component, annotate, keep, labels, metadata, named};

/// `<name>-scripts`.
pub(super) fn build_scripts(input: &Input<'_>) -> Vec<Scripts> {
    let metadata = metadata(input, named(input.plan, "scripts"), Component::Database);
    vec![Scripts { metadata, files: input.facts.scripts }]
}

/// `<name>-config`, and the engine's own.
pub(super) fn build_config_maps(input: &Input<'_>) -> Vec<ConfigMap> {
    let mut maps = vec![ConfigMap {
        metadata: metadata(input, named(input.plan, "config"), Component::Database),
        data: Some(labels(input.facts.config.iter().map(|(&name, text)| (name, text.as_str())))),
        ..ConfigMap::default()
    }];
    maps.extend(input.facts.run_config_maps.iter().map(|store| {
        let mut metadata = metadata(input, named(input.plan, store.suffix), Component::Database);
        metadata.labels.get_or_insert_default().extend(labels(store.labels.iter().map(|(&k, v)| (k, v.as_str()))));
        annotate(&mut metadata, store.annotations.iter().map(|(&key, value)| (key, value.as_str())));
        keep(input, &mut metadata);
        ConfigMap { metadata, ..ConfigMap::default() }
    }));
    maps
}
