//! One test per folder of `fixtures/drift`: what the real binary says of a Database and a dump of the cluster that holds
//! it, as text and as JSON, byte for byte.
//!
//! `DBRENDER_BLESS=1` writes the expected files instead of comparing them.

#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::panic,
    clippy::print_stderr,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a test may use files and programs, and ends where it fails"
)]
#![allow(unreachable_pub, reason = "files that several tests share")]

#[path = "happened/mod.rs"]
mod happened;
#[path = "plans/mod.rs"]
mod plans;
#[path = "spellings/mod.rs"]
mod spellings;

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use dbrender::diff::{Minor, as_stored};
use dbrender::input::Schemas;
use libtest_mimic::{Arguments, Failed, Trial};
use serde_json::{Value, json};

fn main() {
    let mut arguments = Arguments::from_args();
    // Each case is a process; more at once than cores only makes them slower.
    arguments.test_threads.get_or_insert(2);
    let mut trials: Vec<Trial> = cases()
        .into_iter()
        .map(|case| Trial::test(format!("drift/{}", name_of(&case)), move || run_case(&case)))
        .collect();
    trials.push(Trial::test("every public case has its fixture or its test", every_public_case_is_covered));
    trials.push(Trial::test(
        "nothing of the metadata of a Database reaches its objects",
        nothing_of_the_metadata_of_a_database_reaches_its_objects,
    ));
    trials.push(Trial::test(
        "the definition is small enough for a client-side apply",
        the_definition_is_small_enough_for_a_client_side_apply,
    ));
    libtest_mimic::run(&arguments, trials).exit();
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/drift")
}

fn name_of(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

fn cases() -> Vec<PathBuf> {
    let entries = fs::read_dir(root()).unwrap().map(|entry| entry.unwrap().path());
    let mut folders: Vec<PathBuf> = entries.filter(|path| path.is_dir()).collect();
    folders.sort();
    folders
}

fn run_case(case: &Path) -> Result<(), Failed> {
    let why = fs::read_to_string(case.join("why.md")).unwrap_or_default();
    if why.trim().len() <= 20 {
        return Err("why.md has to say what would go wrong without this case".into());
    }
    let mut arguments = vec!["diff".to_owned()];
    if case.join("rendered").is_dir() {
        arguments.extend(["--rendered", "rendered"].map(str::to_owned));
    } else {
        let databases = if case.join("databases").is_dir() { "databases" } else { "database.yaml" };
        arguments.push(databases.to_owned());
    }
    if case.join("dbrender.yaml").exists() {
        arguments.extend(["--platform", "dbrender.yaml"].map(str::to_owned));
    }
    let scratch = tempfile::tempdir()?;
    let json = scratch.path().join("report.json");
    arguments.extend(["-o".to_owned(), "text".to_owned(), "-o".to_owned(), format!("json={}", json.display())]);
    let (file, dump) = match dump(case)? {
        Some(dump) => ("-".to_owned(), dump),
        None => (live_file(case)?, String::new()),
    };
    arguments.extend(["--live".to_owned(), file]);
    let more = fs::read_to_string(case.join("args")).unwrap_or_default();
    arguments.extend(more.split_whitespace().map(str::to_owned));
    let mut child = Command::new(env!("CARGO_BIN_EXE_dbrender"))
        .args(&arguments)
        .current_dir(case)
        .env_clear()
        .env("LANG", "C.UTF-8")
        .env("TZ", "UTC")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    let mut stdin = child.stdin.take().unwrap();
    let writer = std::thread::spawn(move || {
        // A program that refuses its input closes it early.
        let _ = stdin.write_all(dump.as_bytes());
    });
    let output = child.wait_with_output()?;
    writer.join().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    let report = fs::read_to_string(&json).unwrap_or_default();
    for told in [&*text, &*errors, &*report] {
        if let Some(found) = spellings::found(told, happened::CANARY) {
            return Err(format!("the password is shown {found}").into());
        }
    }
    let code = output.status.code().ok_or("killed by a signal")?;
    let mut told = happened::without_ages(&text);
    if !errors.is_empty() {
        told += &format!("\non standard error:\n{errors}");
    }
    told += &format!("[exit {code}]\n");
    compare(&case.join("expected.txt"), &told)?;
    compare(&case.join("expected.json"), &without_what_is_in_sync(&report)?)
}

/// What `kubectl get -o json` would print of the cluster of `cluster.yaml`. `None`: the case brings its own dump.
fn dump(case: &Path) -> Result<Option<String>, Failed> {
    let Some(events) = happened::events(case)? else { return Ok(None) };
    // What the cluster was applied from, where that is not what is wanted now.
    let applied = if case.join("was.yaml").exists() { "was.yaml" } else { "database.yaml" };
    let schemas = Schemas::new();
    let mut objects = Vec::new();
    let plans = plans::of_file(case, applied, None, &schemas);
    for (index, database) in plans.iter().enumerate() {
        let stored = database.objects.iter().map(|object| as_stored(&object.value, Minor::NEWEST)).collect();
        // Everything happens to the first; the others are there to be left alone.
        let events = if index == 0 { events.as_slice() } else { &[] };
        objects.extend(happened::carry_out(&database.plan, stored, events)?);
        for secret in plans::secrets_of_others(&database.plan) {
            // A case may have made one with less in it.
            if !objects.iter().any(|other| happened::is(other, "Secret", secret["metadata"]["name"].as_str().unwrap()))
            {
                objects.push(secret);
            }
        }
    }
    let list = json!({"apiVersion": "v1", "items": objects, "kind": "List", "metadata": {"resourceVersion": ""}});
    Ok(Some(list.to_string()))
}

fn live_file(case: &Path) -> Result<String, Failed> {
    ["live.json", "live.yaml"]
        .into_iter()
        .find(|file| case.join(file).exists())
        .map(str::to_owned)
        .ok_or_else(|| "the case has neither cluster.yaml nor live.json nor live.yaml".into())
}

/// The report without the objects that are in sync and to which nobody has added anything: each case would list them all.
fn without_what_is_in_sync(report: &str) -> Result<String, Failed> {
    if report.is_empty() {
        return Ok(String::new());
    }
    let mut report: Value = serde_json::from_str(report)?;
    for database in report["databases"].as_array_mut().into_iter().flatten() {
        if let Some(objects) = database["objects"].as_array_mut() {
            objects.retain(|object| {
                object["status"] != "in-sync"
                    || object["changes"].as_array().is_some_and(|all| all.iter().any(|one| one["bucket"] != "ignored"))
            });
            for object in objects {
                if let Some(changes) = object["changes"].as_array_mut() {
                    changes.retain(|change| change["bucket"] != "ignored");
                }
            }
        }
    }
    Ok(serde_json::to_string_pretty(&report)? + "\n")
}

fn compare(path: &Path, found: &str) -> Result<(), Failed> {
    if std::env::var_os("DBRENDER_BLESS").is_some_and(|value| value == "1") {
        if !found.is_empty() {
            fs::write(path, found)?;
        } else if path.exists() {
            fs::remove_file(path)?;
        }
        return Ok(());
    }
    let expected = fs::read_to_string(path).unwrap_or_default();
    if expected == found {
        return Ok(());
    }
    let diff = similar::TextDiff::from_lines(expected.as_str(), found);
    let name = name_of(path);
    let diff =
        diff.unified_diff().context_radius(3).header(&format!("expected {name}"), &format!("found {name}")).to_string();
    Err(format!("{diff}\nIf this is meant: make bless, and read the diff.").into())
}

/// Public cases that a dump cannot show, and where they are tested: `FILE::what stands in it`.
const ELSEWHERE: &[(&str, &str)] = &[
    // Labels of parents are copied to nothing: the names of all metadata that is rendered are known.
    ("RD-50", "tests/drift_cases.rs::nothing_of_the_metadata_of_a_database_reaches_its_objects"),
    ("RD-60", "tests/pod_template.rs::the_platform_file_restarts_nothing_by_its_labels"),
    ("RD-65", "tests/diff_cli/main.rs::a_server_that_refuses_a_dry_run_makes_the_answer_incomplete"),
    ("RD-70", "tests/cli/tree.md::RD-70"),
    ("RD-71", "tests/cli/tree.md::RD-71"),
    ("RD-72", "tests/drift_cases.rs::nothing_of_the_metadata_of_a_database_reaches_its_objects"),
    ("RD-81", "tests/tree.rs::files_are_readable_for_others_as_far_as_the_umask_says"),
    ("RD-84", "src/cluster/live/tests.rs::many_namespaces_are_one_list_unless_that_is_forbidden"),
    ("RD-98", "tests/drift_cases.rs::the_definition_is_small_enough_for_a_client_side_apply"),
    ("RD-99", "tests/drift_cases.rs::nothing_of_the_metadata_of_a_database_reaches_its_objects"),
];

/// RD-50, RD-72, RD-99: what delivery tools write onto a Database stays there. Copied, a label of Argo CD makes the objects
/// prunable, a hook makes a sync delete and make them again, and any of it in a template restarts the database.
fn nothing_of_the_metadata_of_a_database_reaches_its_objects() -> Result<(), Failed> {
    let text = fs::read_to_string(root().join("just-applied/database.yaml"))?;
    let marks = [
        ("annotations", "kubectl.kubernetes.io/last-applied-configuration", "canary-1"),
        ("annotations", "argocd.argoproj.io/tracking-id", "canary-2"),
        ("annotations", "argocd.argoproj.io/hook", "PreSync"),
        ("labels", "argocd.argoproj.io/instance", "canary-4"),
        ("labels", "app.kubernetes.io/instance", "canary-5"),
        ("labels", "kustomize.toolkit.fluxcd.io/name", "canary-6"),
        ("labels", "team", "canary-7"),
    ];
    let mut metadata = String::new();
    for field in ["annotations", "labels"] {
        metadata += &format!("  {field}:\n");
        for (_, name, value) in marks.iter().filter(|(other, ..)| *other == field) {
            metadata += &format!("    {name}: {value}\n");
        }
    }
    let marked = text.replace("metadata:\n", &format!("metadata:\n{metadata}"));
    let render = |text: &str| -> Result<String, Failed> {
        let folder = tempfile::tempdir()?;
        fs::write(folder.path().join("database.yaml"), text)?;
        let output = Command::new(env!("CARGO_BIN_EXE_dbrender"))
            .args(["render", "database.yaml"])
            .current_dir(folder.path())
            .env_clear()
            .output()?;
        match output.status.success() {
            true => Ok(String::from_utf8(output.stdout)?),
            false => Err(String::from_utf8_lossy(&output.stderr).into_owned().into()),
        }
    };
    let (plain, marked) = (render(&text)?, render(&marked)?);
    for (_, name, value) in &marks[..6] {
        if marked.contains(&format!("{name}: {value}")) || marked.contains(&format!("{name}: \"{value}\"")) {
            return Err(format!("{name} was copied").into());
        }
    }
    if plain.contains("argocd.argoproj.io/hook") {
        return Err("an object is marked as a hook".into());
    }
    // A label of the user's own may be on the objects, and in no template.
    let without = |text: &str| text.replace("    team: canary-7\n", "").replace("    team: \"canary-7\"\n", "");
    if without(&plain) != without(&marked) {
        return Err("the metadata of the Database changes more than labels of objects".into());
    }
    Ok(())
}

/// RD-98: `kubectl apply` writes a copy of what it applies into an annotation, and an annotation has at most 256 KiB.
fn the_definition_is_small_enough_for_a_client_side_apply() -> Result<(), Failed> {
    let crd = serde_json::to_string(&dbrender::api::crd())?.len();
    if crd > 100 * 1024 { Err(format!("the definition has {crd} bytes").into()) } else { Ok(()) }
}

/// Families D, G, H, I, K, L, M and P of the public cases: each is in a `why.md`, or in the table above.
fn every_public_case_is_covered() -> Result<(), Failed> {
    let mut told = String::new();
    for case in cases() {
        told += &fs::read_to_string(case.join("why.md")).unwrap_or_default();
    }
    let lacking: Vec<&str> = PUBLIC
        .iter()
        .copied()
        .filter(|id| !told.contains(id) && !ELSEWHERE.iter().any(|(other, _)| other == id))
        .collect();
    if !lacking.is_empty() {
        return Err(format!("no fixture and no test for {}", lacking.join(", ")).into());
    }
    for (id, test) in ELSEWHERE {
        let (file, name) = test.split_once("::").ok_or_else(|| format!("{id}: {test} is not FILE::TEST"))?;
        let source = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(file)).unwrap_or_default();
        if !source.contains(name) {
            return Err(format!("{id}: there is no {name} in {file}").into());
        }
    }
    Ok(())
}

const PUBLIC: &[&str] = &[
    "RD-23", "RD-38", "RD-39", "RD-40", "RD-41", "RD-42", "RD-44", "RD-46", "RD-47", "RD-50", "RD-51", "RD-52",
    "RD-54", "RD-55", "RD-56", "RD-59", "RD-60", "RD-61", "RD-62", "RD-64", "RD-65", "RD-67", "RD-68", "RD-69",
    "RD-70", "RD-71", "RD-72", "RD-73", "RD-77", "RD-78", "RD-79", "RD-81", "RD-82", "RD-84", "RD-85", "RD-86",
    "RD-87", "RD-89", "RD-98", "RD-99",
];
