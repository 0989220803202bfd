//! Files of the chart that are generated are what the program prints now.
//!
//! `DBRENDER_BLESS=1` writes them.

#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test may use files and programs, and ends where it fails"
)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use dbrender::engine::{ALL, NEWEST_EDITION};
use serde_json::Value;

fn chart() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("charts/dbrender")
}

fn printed(arguments: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_dbrender")).args(arguments).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn is_now(file: &Path, wanted: &str) {
    if std::env::var_os("DBRENDER_BLESS").is_some_and(|value| value == "1") {
        fs::write(file, wanted).unwrap();
    }
    let found = fs::read_to_string(file).unwrap_or_default();
    assert!(found == wanted, "{} is stale: make bless", file.display());
}

#[test]
fn the_definition_of_the_chart_is_the_one_that_is_printed() {
    is_now(&chart().join("files/crd.yaml"), &printed(&["crd"]));
}

/// Those of a platform without limits: the chart's platform is a value, which nothing here can turn into rules.
#[test]
fn the_policies_of_the_chart_are_those_that_are_printed() {
    is_now(&chart().join("files/policies.yaml"), &printed(&["crd", "--policies"]));
}

#[test]
fn the_rights_of_the_chart_are_those_that_are_printed() {
    is_now(&chart().join("files/controller-role.yaml"), &printed(&["rbac", "controller"]));
}

/// So that a misspelt key of the platform file is refused before anything is installed.
#[test]
fn the_schema_of_the_values_knows_the_platform_file() {
    let mut platform: Value = serde_json::from_str(&printed(&["schema", "platform"])).unwrap();
    let keys = platform.as_object_mut().unwrap();
    keys.shift_remove("$schema");
    keys.shift_remove("required");
    keys.insert("description".to_owned(), "The platform file, without apiVersion and kind.".into());
    for key in ["apiVersion", "kind", "metadata"] {
        platform["properties"].as_object_mut().unwrap().shift_remove(key).unwrap();
    }
    let file = chart().join("values.schema.json");
    let mut schema: Value = serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
    schema["definitions"]["platform"] = platform;
    is_now(&file, &format!("{schema:#}\n"));
}

/// A value without a rule could be anything, and a rule without a value would be known to nobody.
#[test]
fn every_value_has_its_rule_and_every_rule_its_value() {
    let schema: Value = serde_json::from_str(&fs::read_to_string(chart().join("values.schema.json")).unwrap()).unwrap();
    let text = fs::read_to_string(chart().join("values.yaml")).unwrap();
    let (documents, problems) = dbrender::yaml::read_stream(&text, &dbrender::yaml::Limits::default());
    assert!(problems.is_empty(), "{problems:?}");
    let mut faults = Vec::new();
    agree("", &documents[0].root.to_json(), &schema, &mut faults);
    assert!(faults.is_empty(), "{faults:?}");
}

fn agree(path: &str, values: &Value, schema: &Value, faults: &mut Vec<String>) {
    let Some(rules) = schema["properties"].as_object() else { return };
    if schema["additionalProperties"] != false {
        faults.push(format!("{path}: lets in what it does not know"));
    }
    for (name, value) in values.as_object().into_iter().flatten() {
        match rules.get(name) {
            Some(rule) => agree(&format!("{path}/{name}"), value, rule, faults),
            None => faults.push(format!("{path}/{name} has no rule")),
        }
    }
    // What a chart with this one as a part sets for all of its parts.
    let known = |name: &&String| *name != "global" && values.get(name.as_str()).is_none();
    faults.extend(rules.keys().filter(known).map(|name| format!("{path}/{name} has no value")));
}

fn file(name: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(name)).unwrap()
}

/// A release has one number.
#[test]
fn the_version_is_the_same_everywhere() {
    let version = env!("CARGO_PKG_VERSION");
    let chart = file("charts/dbrender/Chart.yaml");
    assert!(
        chart.contains(&format!("\nversion: {version}\n")) && chart.contains(&format!("\nappVersion: {version}\n"))
    );
    assert!(file("action.yml").contains(&format!("default: \"{version}\"")));
    assert!(
        file("gitops/argo-cd-plugin/sidecar.yaml").contains(&format!("image: ghcr.io/dbrender/dbrender:{version}\n"))
    );
    assert!(file("gitops/argo-cd-plugin/kustomization.yaml").contains(&format!("?ref=v{version}\n")));
}

/// Every image that manifests name and nobody else publishes is one that the release publishes.
#[test]
fn the_release_publishes_our_images_of_the_catalog() {
    let mut ours: Vec<String> = Vec::new();
    for edition in 1..=NEWEST_EDITION {
        for engine in ALL {
            for release in engine.releases(edition) {
                ours.extend([release.automatic, release.manual].map(|image| image.reference.to_owned()));
            }
        }
    }
    let tags: Vec<&str> = ours
        .iter()
        .filter_map(|reference| reference.strip_prefix("ghcr.io/dbrender/")?.split_once(':'))
        .map(|(_, tag)| tag)
        .collect();
    let tags: std::collections::BTreeSet<&str> = tags.into_iter().collect();
    assert!(!tags.is_empty());
    let list = tags.iter().copied().collect::<Vec<_>>().join(", ");
    let workflow = file(".github/workflows/release.yml");
    assert!(workflow.contains(&format!("tag: [{list}]\n")), "release.yml publishes other images than {list}");
}
