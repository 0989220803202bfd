//! kubectl reads every rendered tree as the objects that `-o json` prints, number for number and text for text.
//!
//! `kubectl annotate --local` decodes files through the same code that `kubectl apply` uses, without a server.
//! `DBRENDER_KUBECTL` names the program; `testbed/build kubectl` makes one.

#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::panic,
    clippy::print_stderr,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a test may use files and programs, and ends where it fails"
)]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

fn kubectl() -> PathBuf {
    let path = std::env::var_os("DBRENDER_KUBECTL").expect("DBRENDER_KUBECTL names the kubectl to ask");
    PathBuf::from(path)
}

fn cases() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/render");
    let mut cases: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    cases.retain(|path| path.is_dir());
    cases.sort();
    cases
}

fn dbrender(case: &Path, arguments: &[&str]) -> Output {
    let more = fs::read_to_string(case.join("args")).unwrap_or_default();
    let mut command = Command::new(env!("CARGO_BIN_EXE_dbrender"));
    command.args(["render", "-q", "database.yaml"]).args(arguments).args(more.split_whitespace()).current_dir(case);
    if case.join("dbrender.yaml").exists() {
        command.args(["--platform", "dbrender.yaml"]);
    }
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}: {}", case.display(), String::from_utf8_lossy(&output.stderr));
    output
}

/// Objects by kind, namespace and name.
fn by_name(objects: impl IntoIterator<Item = Value>) -> BTreeMap<String, Value> {
    let name = |object: &Value| {
        let text = |pointer| object.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
        format!("{} {}/{}", text("/kind"), text("/metadata/namespace"), text("/metadata/name"))
    };
    objects.into_iter().map(|object| (name(&object), object)).collect()
}

/// The object without the annotation that makes kubectl print it, and without what only that made.
fn without_mark(mut object: Value) -> Value {
    let metadata = object["metadata"].as_object_mut().unwrap();
    let annotations = metadata["annotations"].as_object_mut().unwrap();
    assert_eq!(annotations.remove("zz").as_ref().and_then(Value::as_str), Some("1"));
    if annotations.is_empty() {
        metadata.remove("annotations");
    }
    object
}

#[test]
fn every_tree_is_read_as_it_is_printed() {
    let mut count = 0;
    for case in cases() {
        let scratch = tempfile::tempdir().unwrap();
        let tree = scratch.path().join("tree");
        dbrender(&case, &["--kustomization", "--output-dir", tree.to_str().unwrap()]);
        let printed: Value = serde_json::from_slice(&dbrender(&case, &["-o", "json"]).stdout).unwrap();
        let printed = by_name(printed["items"].as_array().unwrap().iter().cloned());
        // It is no object of a cluster, and kustomize reads it below.
        for namespace in fs::read_dir(&tree).unwrap() {
            let folder = namespace.unwrap().path();
            let built = Command::new(kubectl()).arg("kustomize").arg(&folder).output().unwrap();
            assert!(built.status.success(), "{}: {}", case.display(), String::from_utf8_lossy(&built.stderr));
            let objects = String::from_utf8(built.stdout).unwrap().split("\n---\n").count();
            assert_eq!(objects, printed.len(), "{}", case.display());
            fs::remove_file(folder.join("kustomization.yaml")).unwrap();
        }
        let output = Command::new(kubectl())
            .args(["annotate", "--local", "-R", "-o", "json", "zz=1", "-f"])
            .arg(&tree)
            .env("KUBECONFIG", "/dev/null")
            .output()
            .unwrap();
        assert!(output.status.success(), "{}: {}", case.display(), String::from_utf8_lossy(&output.stderr));
        let read = serde_json::Deserializer::from_slice(&output.stdout).into_iter::<Value>().map(Result::unwrap);
        let read = by_name(read.map(without_mark));
        assert_eq!(read.keys().collect::<Vec<_>>(), printed.keys().collect::<Vec<_>>(), "{}", case.display());
        for (name, object) in &printed {
            assert_eq!(read.get(name), Some(object), "{}: {name}", case.display());
        }
        count += printed.len();
    }
    println!("{count} objects");
    assert!(count > 100);
}
