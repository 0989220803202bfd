//! The chart with the real Helm, on a real API server.
//!
//! `DBRENDER_HELM` names the program (`testbed/build helm` makes one) and `DBRENDER_KUBECONFIG_1_34` the server.
//! `DBRENDER_BLESS=1` writes the expected files of `fixtures/chart`.

#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::panic,
    clippy::print_stderr,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a test may use files and programs, and ends where it fails"
)]

#[path = "../servers/mod.rs"]
mod servers;

mod release;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use dbrender::yaml::{Limits, read_stream};
use serde_json::{Value, json};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap()
}

/// Helm with a home of its own, which only this run has.
fn helm(arguments: &[&str], kubeconfig: Option<&Path>) -> Output {
    let program = std::env::var_os("DBRENDER_HELM").expect("DBRENDER_HELM names the helm to run");
    let home = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("helm");
    Command::new(program)
        .args(arguments)
        .current_dir(root().join("charts"))
        .env("HELM_CACHE_HOME", home.join("cache"))
        .env("HELM_CONFIG_HOME", home.join("config"))
        .env("HELM_DATA_HOME", home.join("data"))
        .env("KUBECONFIG", kubeconfig.unwrap_or(Path::new("/dev/null")))
        .output()
        .unwrap()
}

/// What it prints, when it ends well.
fn helm_ok(arguments: &[&str], kubeconfig: Option<&Path>) -> String {
    let output = helm(arguments, kubeconfig);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "helm {}: {said}", arguments.join(" "));
    String::from_utf8(output.stdout).unwrap()
}

fn blessing() -> bool {
    std::env::var_os("DBRENDER_BLESS").is_some_and(|value| value == "1")
}

fn cases() -> Vec<PathBuf> {
    let folder = root().join("fixtures/chart");
    let mut cases: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    cases.sort();
    cases
}

/// Compares with a file, or writes it. An empty text has no file.
fn compare(file: &Path, found: &str) {
    if blessing() {
        if found.is_empty() { fs::remove_file(file).unwrap_or_default() } else { fs::write(file, found).unwrap() }
    }
    let expected = fs::read_to_string(file).unwrap_or_default();
    let diff = similar::TextDiff::from_lines(&expected, found);
    let diff = diff.unified_diff().header("expected", "found").to_string();
    assert!(diff.is_empty(), "{}\n{diff}", file.display());
}

fn objects(text: &str) -> Vec<Value> {
    let (documents, errors) = read_stream(text, &Limits::default());
    assert!(errors.is_empty(), "{errors:?}");
    documents.into_iter().map(|document| document.root.to_json()).filter(|object| !object.is_null()).collect()
}

#[test]
fn the_chart_has_no_fault_that_helm_knows() {
    let said = helm_ok(&["lint", "--strict", "--kube-version", "1.34.0", "dbrender"], None);
    assert!(said.contains("1 chart(s) linted, 0 chart(s) failed"), "{said}");
}

/// What each set of values becomes, and what is said to values that cannot be.
#[test]
fn values_become_what_is_expected_or_are_refused_with_a_sentence() {
    for case in cases() {
        let values = case.join("values.yaml");
        assert!(case.join("why.md").is_file(), "{} has no why.md", case.display());
        let arguments = ["template", "databases", "dbrender", "--namespace", "operators", "--kube-version", "1.34.0"];
        let output = helm(&[&arguments[..], &["--values", values.to_str().unwrap()]].concat(), None);
        let printed = String::from_utf8(output.stdout).unwrap();
        assert_eq!(output.status.success(), !printed.is_empty(), "{}", case.display());
        compare(&case.join("expected.yaml"), &printed);
        compare(&case.join("expected.stderr"), &sentences(&String::from_utf8(output.stderr).unwrap()));
    }
}

/// What Helm says, without its advice. It lists what the schema refuses in another order each time.
fn sentences(said: &str) -> String {
    let lines = said.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("Use --debug"));
    let (mut refused, mut others): (Vec<&str>, Vec<&str>) = lines.partition(|line| line.starts_with("- at"));
    refused.sort_unstable();
    others.extend(refused);
    others.iter().map(|line| format!("{line}\n")).collect()
}

/// A real server stores every object of every case as it is printed, and refuses fields that it does not know.
#[test]
fn a_server_takes_every_object() {
    runtime().block_on(async {
        for server in servers::all().await {
            release::other_kinds(&server).await;
            server.namespace("operators").await;
            let mut seen = BTreeSet::new();
            for case in cases() {
                let text = fs::read_to_string(case.join("expected.yaml")).unwrap_or_default();
                for object in objects(&text) {
                    let path = format!(
                        "{}?dryRun=All&force=true&fieldManager=helm&fieldValidation=Strict",
                        servers::path_of(&object)
                    );
                    let answer = server.send("PATCH", &path, "application/apply-patch+yaml", &object).await;
                    let name = format!(
                        "{} on {}: {} {}",
                        case.display(),
                        server.minor,
                        object["kind"],
                        object["metadata"]["name"]
                    );
                    let stored = answer.ok().unwrap_or_else(|error| panic!("{name}: {error}"));
                    let mut lost = Vec::new();
                    servers::lost("", &object, &stored, &mut lost);
                    // The server fills in what became of a definition; ours is compared in api_servers.
                    assert!(lost.is_empty() || object["kind"] == "CustomResourceDefinition", "{name}: {lost:?}");
                    seen.insert(object["kind"].as_str().unwrap().to_owned());
                }
            }
            let all =
                ["Deployment", "ClusterRole", "PodMonitor", "PrometheusRule", "PodDisruptionBudget", "NetworkPolicy"];
            assert!(all.iter().all(|kind| seen.contains(*kind)), "{seen:?}");
        }
    });
}

/// From nothing to an installed release and back: no Database, and nothing of one, is ever touched by the chart.
#[test]
fn a_release_comes_changes_goes_back_and_goes_and_every_database_stays() {
    runtime().block_on(async {
        let server = servers::all().await.into_iter().find(|server| server.minor == "1.34").unwrap();
        release::other_kinds(&server).await;
        let bed = release::Bed::new(server).await;

        // What came before: another version, which brings the definition.
        let earlier = bed.package("0.0.9");
        bed.helm(&["install", "{}", &earlier, "--set", "crds.install=true", "--take-ownership"]);
        assert_eq!(bed.deployment().await["status"]["readyReplicas"], 2, "the namespace enforces the restricted standard");

        bed.create_databases().await;
        let metrics = bed.run_what_the_deployment_runs().await;
        release::alerts_and_panels_know(&metrics);
        let before = bed.everything().await;
        assert!(before.len() > 2 * 15, "{before:?}");

        bed.helm(&["upgrade", "{}", "dbrender", "--set", "crds.install=true,mode=observe,replicas=3,podMonitor.enabled=true,prometheusRule.enabled=true,dashboard.enabled=true"]);
        let deployment = bed.deployment().await;
        assert_eq!(deployment["status"]["readyReplicas"], 3);
        let arguments = deployment["spec"]["template"]["spec"]["containers"][0]["args"].to_string();
        assert!(arguments.contains("--mode=observe"), "{arguments}");
        assert_eq!(bed.everything().await, before, "after the upgrade");
        bed.run_what_the_deployment_runs().await;
        assert_eq!(bed.everything().await, before, "observe writes nothing but the status");

        let webhook = ["upgrade", "{}", "dbrender", "--set", "crds.install=true,rollouts.max=2,webhook.enabled=true,webhook.certificate.mode=helm"];
        bed.helm(&webhook);
        let certificate = bed.certificate().await;
        assert_eq!(bed.webhook().await["clientConfig"]["caBundle"], certificate["ca.crt"]);
        bed.helm(&webhook);
        assert_eq!(bed.certificate().await, certificate, "an upgrade makes no other, which old pods would not have");
        bed.run_what_the_deployment_runs().await;
        assert_eq!(bed.everything().await, before, "after the upgrade that asks before a Database is stored");

        bed.helm(&["rollback", "{}", "1"]);
        assert!(bed.webhook().await.is_null(), "nobody is asked any more");
        assert_eq!(bed.deployment().await["status"]["readyReplicas"], 2);
        assert_eq!(bed.everything().await, before, "after the rollback");

        // Helm forgets the definition, and it stays.
        bed.helm(&["upgrade", "{}", "dbrender"]);
        assert_eq!(bed.everything().await, before, "after the upgrade that brings no definition any more");
        assert_eq!(bed.definition().await["metadata"]["name"], "databases.app.example.com");

        bed.helm(&["uninstall", "{}"]);
        assert_eq!(bed.everything().await, before, "after the end of the release");
        assert!(bed.deployment().await["metadata"].get("uid").is_none(), "nothing of the release is left");
        assert_eq!(bed.definition().await["metadata"]["name"], "databases.app.example.com");
        bed.end().await;
    });
}

/// What the server says of values that it is never asked about.
#[test]
fn an_installation_with_unknown_values_changes_nothing() {
    runtime().block_on(async {
        let server = servers::all().await.remove(0);
        let output = helm(
            &[
                "install",
                "wrong",
                "dbrender",
                "--namespace",
                "nowhere",
                "--set",
                "replica=3",
                "--set",
                "platform.catalog=one",
            ],
            Some(&server.kubeconfig),
        );
        assert!(!output.status.success());
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(said.contains("additional properties 'replica' not allowed"), "{said}");
        assert!(said.contains("'/platform/catalog': got string, want null or integer"), "{said}");
        let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "nowhere"}});
        assert_eq!(server.get(&namespace).await.code, 404);
    });
}
