//! The real Kustomize calls `dbrender function`. `DBRENDER_KUSTOMIZE` names the program; `testbed/build kustomize` makes one.

#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test may use files and programs, and ends where it fails"
)]

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Output};

use dbrender::yaml::{Limits, read_stream};
use serde_json::Value;

const PLATFORM: &str = "apiVersion: dbrender.app.example.com/v1alpha1
kind: Platform
metadata:
  name: dbrender
  annotations:
    config.kubernetes.io/function: |
      exec:
        path: ./dbrender
        args: [function]
storageClasses:
  fast-ssd: io2
";

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    symlink(env!("CARGO_BIN_EXE_dbrender"), at("dbrender")).unwrap();
    fs::copy(Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/order-db.yaml"), at("order-db.yaml")).unwrap();
    fs::write(at("platform.yaml"), PLATFORM).unwrap();
    fs::write(at("other.yaml"), "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: other\ndata:\n  on: \"yes\"\n")
        .unwrap();
    let kustomization = "resources: [order-db.yaml, other.yaml]\ntransformers: [platform.yaml]\n";
    fs::write(at("kustomization.yaml"), kustomization).unwrap();
    folder
}

fn build(folder: &Path, flags: &[&str]) -> Output {
    let program = std::env::var_os("DBRENDER_KUSTOMIZE").expect("DBRENDER_KUSTOMIZE names the kustomize to run");
    Command::new(program).arg("build").args(flags).arg(".").current_dir(folder).output().unwrap()
}

fn by_name(text: &str) -> BTreeMap<String, Value> {
    let (documents, problems) = read_stream(text, &Limits::default());
    assert!(problems.is_empty(), "{problems:?}");
    let objects = documents.into_iter().map(|document| document.root.to_json());
    objects.map(|object| (format!("{} {}", object["kind"], object["metadata"]["name"]), object)).collect()
}

#[test]
fn it_builds_what_render_prints_and_leaves_the_rest_alone() {
    let folder = folder();
    let output = build(folder.path(), &["--enable-alpha-plugins", "--enable-exec"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let mut built = by_name(&String::from_utf8(output.stdout).unwrap());
    assert!(built.remove("\"Database\" \"order-db\"").is_some(), "for a controller that observes");
    assert_eq!(built.remove("\"ConfigMap\" \"other\"").unwrap()["data"]["on"], "yes");

    let plain = PLATFORM.lines().filter(|line| !line.starts_with(' ') || line.contains("fast-ssd"));
    let plain: String = plain.filter(|line| *line != "metadata:").map(|line| format!("{line}\n")).collect();
    fs::write(folder.path().join("dbrender.yaml"), plain).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_dbrender"))
        .args(["render", "--quiet", "order-db.yaml"])
        .current_dir(folder.path())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let rendered = by_name(&String::from_utf8(output.stdout).unwrap());
    assert!(rendered.len() > 15 && rendered.values().any(|object| object.to_string().contains("io2")));
    assert_eq!(built, rendered);
}

#[test]
fn it_fails_with_the_problem_and_not_in_silence() {
    let folder = folder();
    let text = fs::read_to_string(folder.path().join("order-db.yaml")).unwrap();
    fs::write(folder.path().join("order-db.yaml"), text.replace("replicas: 3", "replicas: 9")).unwrap();
    let output = build(folder.path(), &["--enable-alpha-plugins", "--enable-exec"]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && output.stdout.is_empty(), "{said}");
    assert!(said.contains("error[DBR206]: spec.replicas must be between 1 and 7, found 9"), "{said}");
}
