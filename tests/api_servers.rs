//! Every rendered object of every fixture on real API servers: accepted strictly, stored as rendered, and still the same
//! when it is applied again. Refusals are recognised by field and reason, never by their text, which differs between minors.

#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::panic,
    clippy::print_stderr,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a test may use files and programs, and ends where it fails"
)]

mod servers;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use dbrender::api;
use dbrender::problem::Code;
use serde_json::Value;
use servers::{Answer, Server, lost};

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap()
}

fn folders(family: &str) -> Vec<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures").join(family);
    let mut folders: Vec<PathBuf> =
        fs::read_dir(path).unwrap().map(|e| e.unwrap().path()).filter(|p| p.is_dir()).collect();
    folders.sort();
    folders
}

fn name_of(path: &Path) -> String {
    path.file_name().unwrap().to_string_lossy().into_owned()
}

/// Runs the binary on the case, moved into a namespace of its own.
fn run(case: &Path, namespace: &str, command: &[&str]) -> std::process::Output {
    let scratch = tempfile::tempdir().unwrap();
    let text = fs::read_to_string(case.join("database.yaml")).unwrap();
    let text = text.replace("namespace: production", &format!("namespace: {namespace}"));
    fs::write(scratch.path().join("database.yaml"), text).unwrap();
    let mut process = Command::new(env!("CARGO_BIN_EXE_dbrender"));
    process.args(command).arg("database.yaml").current_dir(scratch.path());
    if case.join("dbrender.yaml").exists() {
        process.arg("--platform").arg(case.join("dbrender.yaml"));
    }
    let more = fs::read_to_string(case.join("args")).unwrap_or_default();
    process.args(more.split_whitespace()).output().unwrap()
}

fn objects(case: &Path, namespace: &str, format: &str) -> Vec<Value> {
    let output = run(case, namespace, &["render", "-o", format]);
    assert!(output.status.success(), "{}: {}", name_of(case), String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    let list: Value = serde_json::from_str(&text).unwrap();
    list["items"].as_array().unwrap().clone()
}

async fn prepared() -> Vec<Server> {
    let servers = servers::all().await;
    let stand_ins = include_str!("servers/stand-in-crds.yaml");
    let (documents, errors) = dbrender::yaml::read_stream(stand_ins, &dbrender::yaml::Limits::default());
    assert!(errors.is_empty());
    for server in &servers {
        server.define(&api::crd()).await;
        for document in &documents {
            server.define(&document.root.to_json()).await;
        }
    }
    servers
}

/// If this fails, somebody's first sync fails, or a field that Git states is not what runs.
#[test]
fn every_object_is_accepted_kept_and_applied_twice_without_a_change() {
    runtime().block_on(async {
        let mut failures = Vec::new();
        let mut applied = 0;
        for server in prepared().await {
            for (number, case) in folders("render").iter().enumerate() {
                let namespace = format!("fixture-{number}");
                server.namespace(&namespace).await;
                for object in objects(case, &namespace, "json") {
                    let mut object = object;
                    if object["metadata"]["namespace"] != namespace.as_str() {
                        object["metadata"]["namespace"] = namespace.clone().into();
                    }
                    let what = format!("{} {} {}", server.minor, name_of(case), object["kind"]);
                    match server.apply(&object).await.ok() {
                        Err(error) => failures.push(format!("{what}: {error}")),
                        Ok(_) => {
                            applied += 1;
                            failures.extend(differs(&server, &object).await.iter().map(|d| format!("{what} {d}")));
                        }
                    }
                }
            }
        }
        println!("{applied} objects applied");
        assert!(failures.is_empty(), "{}", failures.join("\n"));
        assert!(applied > 1000, "only {applied} objects");
    });
}

/// What is not stored as rendered, and what a second apply moves.
async fn differs(server: &Server, object: &Value) -> Vec<String> {
    let mut found = Vec::new();
    let first = server.get(object).await.ok().unwrap();
    lost("", object, &first, &mut found);
    let second = server.apply(object).await.ok().unwrap();
    if first["metadata"]["generation"] != second["metadata"]["generation"] {
        found.push("a second apply moves the generation".to_owned());
    }
    found
}

/// Codes whose rule the CustomResourceDefinition holds too. The others need the whole Database or the platform file.
const SEEN_BY_SERVER: [Code; 10] = [
    Code::UnknownField,
    Code::WrongType,
    Code::MissingField,
    Code::UnknownValue,
    Code::OutOfRange,
    Code::InvalidStorageSize,
    Code::ScheduleWithTimeZone,
    Code::InvalidRetention,
    Code::ManualNotPossible,
    Code::PrimaryWithoutManual,
];

/// Cases where we refuse on purpose what the server takes: it reads the key `on` as the text `true`.
const STRICTER: [&str; 1] = ["DBR203-key-on"];

/// What we refuse for a reason that the definition knows, the server refuses too, at the same field; and it accepts every
/// Database of the other fixtures.
#[test]
fn the_definition_refuses_what_we_refuse_and_accepts_what_we_render() {
    runtime().block_on(async {
        let mut failures = Vec::new();
        let (mut refused, mut accepted) = (0, 0);
        for server in prepared().await {
            for namespace in ["demo", "production"] {
                server.namespace(namespace).await;
            }
            for case in folders("problems") {
                let code = name_of(&case).split('-').next().and_then(Code::find).unwrap();
                // The platform file is never sent to a server.
                if !SEEN_BY_SERVER.contains(&code)
                    || case.join("dbrender.yaml").exists()
                    || STRICTER.contains(&name_of(&case).as_str())
                {
                    continue;
                }
                let ours = problem_fields(&case, code);
                let text = fs::read_to_string(case.join("database.yaml")).unwrap();
                let (documents, _) = dbrender::yaml::read_stream(&text, &dbrender::yaml::Limits::default());
                for document in documents {
                    let object = document.root.to_json();
                    let answer = server.try_create(&object).await;
                    match same_field(&answer, &ours) {
                        Ok(()) => refused += 1,
                        Err(why) => failures.push(format!("{} {}: {why}", server.minor, name_of(&case))),
                    }
                }
            }
            for case in folders("render") {
                let text = fs::read_to_string(case.join("database.yaml")).unwrap();
                let (documents, _) = dbrender::yaml::read_stream(&text, &dbrender::yaml::Limits::default());
                for document in documents {
                    let mut object = document.root.to_json();
                    object["metadata"]["namespace"] = "production".into();
                    match server.try_create(&object).await.ok() {
                        Ok(_) => accepted += 1,
                        Err(error) => failures.push(format!("{} {}: {error}", server.minor, name_of(&case))),
                    }
                }
            }
        }
        println!("{refused} refused, {accepted} accepted");
        assert!(failures.is_empty(), "{}", failures.join("\n"));
        assert!(refused > 10 && accepted > 40, "only {refused} refused and {accepted} accepted");
    });
}

fn problem_fields(case: &Path, code: Code) -> Vec<String> {
    let output = run(case, "production", &["check", "-o", "json"]);
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let problems = report["problems"].as_array().cloned().unwrap_or_default();
    problems
        .iter()
        .filter(|p| p["code"] == code.id())
        .map(|p| p["field"].as_str().unwrap_or_default().to_owned())
        .collect()
}

/// The server names the field in a cause, or for an unknown or mistyped one in its sentence.
fn same_field(answer: &Answer, ours: &[String]) -> Result<(), String> {
    if (200..300).contains(&answer.code) {
        return Err("the server accepts it".to_owned());
    }
    let fields = answer.fields();
    let message = answer.message();
    let named = ours.iter().any(|path| {
        let last = path.rsplit('.').next().unwrap_or(path);
        // Metadata are read into Go's own type, an unknown kind has no address.
        let metadata = path.strip_prefix("metadata.").and_then(|rest| rest.split(['.', '[']).next());
        fields.iter().any(|field| field == path || path.starts_with(&format!("{field}.")))
            || metadata.is_some_and(|field| message.contains(&format!("ObjectMeta.{field} ")))
            || (path == "kind" && answer.code == 404)
            || message.contains(path.as_str())
            || message.contains(&format!("\"{last}\""))
    });
    if named { Ok(()) } else { Err(format!("we say {ours:?}, the server says {fields:?}: {message}")) }
}
