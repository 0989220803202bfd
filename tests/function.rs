//! `dbrender function` as kpt calls it: paths are kept, a second run changes nothing, and what a Database no longer
//! becomes is taken away. `tests/kustomize.rs` has the real Kustomize call it.

#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test may use files and programs, and ends where it fails"
)]

use std::io::Write as _;
use std::process::{Command, Stdio};

use dbrender::yaml::{Limits, read_stream};
use serde_json::{Value, json};

/// What it prints, what it says, and how it ends.
fn function(list: &str) -> (Value, String, i32) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_dbrender"))
        .arg("function")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(list.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let (documents, problems) = read_stream(&text, &Limits::default());
    assert!(problems.is_empty(), "{problems:?}\n{text}");
    let list = documents.first().map_or(Value::Null, |document| document.root.to_json());
    (list, String::from_utf8(output.stderr).unwrap(), output.status.code().unwrap())
}

fn database(replicas: u32) -> Value {
    json!({"apiVersion": "app.example.com/v1alpha1", "kind": "Database",
        "metadata": {"name": "order-db", "namespace": "production", "annotations": {
            "config.kubernetes.io/path": "shop/order-db.yaml", "internal.config.kubernetes.io/path": "shop/order-db.yaml",
            "internal.config.kubernetes.io/index": "0"}},
        "spec": {"engine": "postgresql", "version": "17", "replicas": replicas, "storage": {"size": "1Gi", "storageClass": "fast"}}})
}

fn other() -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "other", "namespace": "production",
        "annotations": {"config.kubernetes.io/path": "other.yaml", "internal.config.kubernetes.io/id": "7"}}, "data": {"on": "yes"}})
}

fn list(items: &[Value]) -> String {
    json!({"apiVersion": "config.kubernetes.io/v1", "kind": "ResourceList", "items": items,
        "functionConfig": {"apiVersion": "dbrender.app.example.com/v1alpha1", "kind": "Platform",
            "metadata": {"name": "platform", "annotations": {"config.kubernetes.io/local-config": "true"}},
            "storageClasses": {"fast": "io2"}}})
    .to_string()
}

fn items(list: &Value) -> Vec<Value> {
    list["items"].as_array().unwrap().clone()
}

fn of_kind<'v>(items: &'v [Value], kind: &str) -> Vec<&'v Value> {
    items.iter().filter(|item| item["kind"] == kind).collect()
}

#[test]
fn what_is_rendered_has_a_path_beside_its_database_and_the_rest_is_passed_on() {
    let (out, said, code) = function(&list(&[database(3), other()]));
    assert_eq!((said.as_str(), code), ("", 0));
    let found = items(&out);
    assert_eq!(found[..2], [database(3), other()], "items of others, and the Database, are as they were");
    assert_eq!(out["functionConfig"]["kind"], "Platform");
    let set = of_kind(&found, "StatefulSet")[0];
    assert_eq!(set["spec"]["volumeClaimTemplates"][0]["spec"]["storageClassName"], "io2", "the platform file counts");
    let path = "shop/order-db/statefulset-order-db.yaml";
    assert_eq!(set["metadata"]["annotations"]["internal.config.kubernetes.io/path"], path);
    assert_eq!(set["metadata"]["annotations"]["config.kubernetes.io/path"], path);
    assert!(out.get("results").is_none());
}

#[test]
fn a_second_run_changes_nothing_and_an_object_that_was_moved_stays_where_it_is() {
    let (first, _, _) = function(&list(&[database(3)]));
    let mut moved = items(&first);
    let service = moved.iter_mut().find(|item| item["kind"] == "Service").unwrap();
    service["metadata"]["annotations"]["config.kubernetes.io/path"] = json!("elsewhere.yaml");
    service["metadata"]["annotations"]["internal.config.kubernetes.io/path"] = json!("elsewhere.yaml");
    let (second, _, code) = function(&list(&moved));
    assert_eq!(code, 0);
    assert_eq!(items(&second), moved);
}

#[test]
fn what_a_database_no_longer_becomes_is_taken_away_and_nothing_else_is() {
    let (three, _, _) = function(&list(&[database(3), other()]));
    let mut before = items(&three);
    assert_eq!(of_kind(&before, "PodDisruptionBudget").len(), 1);
    before[0] = database(1);
    // Of a Database that is not here.
    let mut foreign = of_kind(&before, "PodDisruptionBudget")[0].clone();
    foreign["metadata"]["name"] = json!("cart-db");
    foreign["metadata"]["labels"]["app.example.com/database"] = json!("cart-db");
    before.push(foreign.clone());
    let (one, _, code) = function(&list(&before));
    assert_eq!(code, 0);
    assert_eq!(of_kind(&items(&one), "PodDisruptionBudget"), [&foreign]);
    assert!(items(&one).contains(&other()));
    assert_eq!(of_kind(&items(&one), "StatefulSet")[0]["spec"]["replicas"], 1);
}

#[test]
fn a_problem_is_a_result_with_its_file_and_field_and_nothing_is_rendered() {
    let mut faulty = database(9);
    faulty["spec"]["storge"] = json!({});
    let (out, said, code) = function(&list(&[faulty.clone(), other()]));
    assert_eq!(code, 2);
    assert_eq!(items(&out), [faulty, other()]);
    let results = out["results"].as_array().unwrap();
    let found: Vec<&str> = results.iter().map(|result| result["field"]["path"].as_str().unwrap()).collect();
    assert_eq!(found, ["spec.replicas", "spec.storge"]);
    assert_eq!(results[0]["severity"], "error");
    assert_eq!(results[0]["file"]["path"], "shop/order-db.yaml");
    assert_eq!(results[0]["resourceRef"]["name"], "order-db");
    assert_eq!(results[0]["tags"]["code"], "DBR206");
    assert!(said.contains("shop/order-db.yaml (as handed over)"), "{said}");
}

#[test]
fn what_is_no_list_of_resources_is_refused_with_a_sentence() {
    let config = |kind: &str| {
        json!({"apiVersion": "config.kubernetes.io/v1", "kind": "ResourceList", "functionConfig": {"kind": kind}})
            .to_string()
    };
    let misspelt = json!({"apiVersion": "config.kubernetes.io/v1", "kind": "ResourceList", "functionConfig":
        {"apiVersion": "dbrender.app.example.com/v1alpha1", "kind": "Platform", "storageClases": {}}})
    .to_string();
    for (input, sentence) in [
        ("", "stdin has 0 documents"),
        ("a: [", "stdin is no ResourceList"),
        ("kind: List", "stdin is no ResourceList of config.kubernetes.io/v1, but a \"List\""),
        (&config("ConfigMap"), "the functionConfig is a \"ConfigMap\", and has to be a Platform"),
        (&misspelt, "storageClases"),
    ] {
        let (_, said, code) = function(input);
        assert_eq!(code, 2, "{input}: {said}");
        assert!(said.contains(sentence), "{input}: {said}");
    }
}
