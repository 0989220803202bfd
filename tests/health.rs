//! The health checks of `dbrender init`, in the interpreter of Argo CD (`testbed/argo-lua`) and in the language of Flux
//! (`testbed/flux-cel`), both built on first use, on statuses that the controller wrote on a real server.
//!
//! `DBRENDER_BLESS=1` writes the expected answers.

#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test may use files and programs, and ends where it fails"
)]

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use dbrender::yaml::{Limits, read_stream};
use serde_json::Value;

const SCRIPT: &str = "src/cli/init/files/health.lua";

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// A program of the test bed. Tests that ask for the same one at once build it twice, which the Go cache makes cheap.
fn program(name: &str, test: &str) -> PathBuf {
    let program = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{test}"));
    let source = root().join("testbed").join(name);
    let status = Command::new("go").args(["build", "-o"]).arg(&program).arg(".").current_dir(source).status();
    assert!(status.as_ref().is_ok_and(std::process::ExitStatus::success), "go build in testbed/{name}: {status:?}");
    program
}

/// The answers to some objects, one line each, in their order.
fn ask(program: &Path, argument: &Path, objects: &[Value]) -> Vec<String> {
    let mut child = Command::new(program).arg(argument).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let text: String = objects.iter().map(|object| format!("{object}\n")).collect();
    child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    let answers = String::from_utf8(output.stdout).unwrap();
    answers.lines().map(str::to_owned).collect()
}

/// Cases by path.
fn cases() -> Vec<PathBuf> {
    let mut cases: Vec<PathBuf> =
        fs::read_dir(root().join("fixtures/health")).unwrap().map(|entry| entry.unwrap().path()).collect();
    cases.sort();
    cases
}

/// Compares the answers with a file of each case, or writes it.
fn compare(file: &str, answers: &[String]) {
    let cases = cases();
    assert_eq!(answers.len(), cases.len());
    let mut faults = Vec::new();
    for (case, found) in cases.iter().zip(answers) {
        assert!(case.join("why.md").is_file(), "{} has no why.md", case.display());
        let file = case.join(file);
        if std::env::var_os("DBRENDER_BLESS").is_some_and(|value| value == "1") {
            fs::write(&file, format!("{found}\n")).unwrap();
        }
        let expected = fs::read_to_string(&file).unwrap_or_default();
        if expected != format!("{found}\n") {
            faults.push(format!("{}\n  expected {expected}  found    {found}\n", file.display()));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

fn object(case: &Path) -> Value {
    let text = fs::read_to_string(case.join("database.yaml")).unwrap();
    let (documents, problems) = read_stream(&text, &Limits::default());
    assert!(problems.is_empty(), "{}: {problems:?}", case.display());
    documents[0].root.to_json()
}

#[test]
fn argo_cd_says_of_each_status_what_is_expected() {
    let objects: Vec<Value> = cases().iter().map(|case| object(case)).collect();
    let answers = ask(&program("argo-lua", "statuses"), &root().join(SCRIPT), &objects);
    let answers: Vec<String> = answers
        .iter()
        .map(|line| {
            let answer: Value = serde_json::from_str(line).unwrap();
            let part = |name: &str| answer[name].as_str().unwrap_or_default().to_owned();
            format!("{}: {}{}", part("status"), part("message"), part("error"))
        })
        .collect();
    compare("expected.txt", &answers);
    for status in ["Healthy", "Progressing", "Degraded", "Suspended"] {
        assert!(answers.iter().any(|answer| answer.starts_with(status)), "no case is {status}");
    }
}

#[test]
fn flux_says_of_each_status_what_is_expected() {
    let scratch = tempfile::tempdir().unwrap();
    let status = Command::new(env!("CARGO_BIN_EXE_dbrender"))
        .args(["init", "--quiet", "--with", "flux"])
        .current_dir(scratch.path())
        .stdout(Stdio::null())
        .status()
        .unwrap();
    assert!(status.success());
    let text = fs::read_to_string(scratch.path().join("flux/databases.yaml")).unwrap();
    let (documents, _) = read_stream(&text, &Limits::default());
    let expressions = &documents[0].root.to_json()["spec"]["healthCheckExprs"][0];
    let file = scratch.path().join("expressions.json");
    fs::write(&file, expressions.to_string()).unwrap();
    let objects: Vec<Value> = cases().iter().map(|case| object(case)).collect();
    let answers = ask(&program("flux-cel", "statuses"), &file, &objects);
    compare("expected-flux.txt", &answers);
    for status in ["InProgress", "Failed", "Current"] {
        assert!(answers.iter().any(|answer| answer == status), "no case is {status}");
    }
}

/// Argo CD has no more than the plain language for scripts of argocd-cm, and stops them after a second.
#[test]
fn the_interpreter_refuses_what_argo_cd_refuses() {
    let scratch = tempfile::tempdir().unwrap();
    let script = scratch.path().join("health.lua");
    let program = program("argo-lua", "refused");
    for (text, sentence) in [
        ("return { status = string.lower(\"Healthy\") }", "attempt to index a non-table object"),
        ("while true do end", "context deadline exceeded"),
        ("return { status = \"Fine\" }", "knows no status"),
    ] {
        fs::write(&script, text).unwrap();
        let answer: Value = serde_json::from_str(&ask(&program, &script, &[serde_json::json!({})])[0]).unwrap();
        assert!(answer["error"].as_str().unwrap_or_default().contains(sentence), "{text}: {answer}");
    }
}

/// What `argocd-cm` gets is the script that is tested here.
#[test]
fn the_customization_holds_the_script() {
    let scratch = tempfile::tempdir().unwrap();
    let status = Command::new(env!("CARGO_BIN_EXE_dbrender"))
        .args(["init", "--quiet", "--controller", "apply"])
        .current_dir(scratch.path())
        .stdout(Stdio::null())
        .status()
        .unwrap();
    assert!(status.success());
    let text = fs::read_to_string(scratch.path().join("argo-cd/argocd-cm.yaml")).unwrap();
    let (documents, _) = read_stream(&text, &Limits::default());
    let map = documents[0].root.to_json();
    let script = map["data"]["resource.customizations.health.app.example.com_Database"].as_str().unwrap();
    assert_eq!(script.trim_end(), fs::read_to_string(root().join(SCRIPT)).unwrap().trim_end());
}
