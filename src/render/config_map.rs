//! Configuration, scripts, and what members keep at run time.

use k8s_openapi::api::core::v1::ConfigMap;

use super::Input;
use super::metadata::{Component, annotate, keep, labels, metadata, named};

/// `<name>-config`, `<name>-scripts`, and the engine's own.
pub(super) fn build_config_maps(input: &Input<'_>) -> Vec<ConfigMap> {
    let files = |suffix, data| ConfigMap {
        metadata: metadata(input, named(input.plan, suffix), Component::Database),
        data: Some(data),
        ..ConfigMap::default()
    };
    let config = input.facts.config.iter().map(|(&name, text)| (name.to_owned(), text.clone())).collect();
    let scripts = labels(input.facts.scripts.iter().copied());
    let mut maps = vec![files("config", config), files("scripts", scripts)];
    maps.extend(input.facts.run_config_maps.iter().map(|store| {
        let mut metadata = metadata(input, named(input.plan, store.suffix), Component::Database);
        metadata.labels.get_or_insert_default().extend(labels(store.labels.iter().map(|(&k, v)| (k, v.as_str()))));
        annotate(&mut metadata, store.annotations.iter().map(|(&key, value)| (key, value.as_str())));
        keep(input, &mut metadata);
        ConfigMap { metadata, ..ConfigMap::default() }
    }));
    maps
}
