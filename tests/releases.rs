//! A newer version restarts nothing and replaces no volume by itself: what earlier ones rendered is rendered still.
//!
//! `fixtures/releases/VERSION` holds inputs and what came of them (`.ci/record-release` writes it). A difference in a pod
//! template or in a claim is a failure, unless a BREAKING line of the changelog names it and says what to do.

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

use dbrender::yaml::{Limits, read_stream, write_document};
use serde_json::{Value, json};

/// What of a StatefulSet restarts its pods, or can never be changed.
const HELD: [(&str, &str); 5] = [
    ("pod template", "/spec/template"),
    ("claim template", "/spec/volumeClaimTemplates"),
    ("claim template", "/spec/selector"),
    ("claim template", "/spec/serviceName"),
    ("claim template", "/spec/podManagementPolicy"),
];

fn folders(path: &Path) -> Vec<PathBuf> {
    let mut folders: Vec<PathBuf> =
        fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_dir()).collect();
    folders.sort();
    folders
}

fn name_of(path: &Path) -> String {
    path.file_name().unwrap().to_string_lossy().into_owned()
}

fn read(path: &Path) -> Value {
    let (documents, problems) = read_stream(&fs::read_to_string(path).unwrap(), &Limits::default());
    assert!(problems.is_empty(), "{}: {problems:?}", path.display());
    documents[0].root.to_json()
}

/// Bytes, as they stand in a file.
fn text(value: Option<&Value>) -> String {
    let mut out = String::new();
    write_document(&mut out, &json!({ "value": value }));
    out
}

/// The parts of an object that are held, by what a changelog calls them.
fn held(object: &Value) -> Vec<(&'static str, &'static str, String)> {
    match object["kind"].as_str() {
        Some("StatefulSet") => HELD.iter().map(|(what, path)| (*what, *path, text(object.pointer(path)))).collect(),
        _ => vec![("claim", "/spec", text(object.pointer("/spec")))],
    }
}

/// The lines of a changelog that begin with BREAKING, each with what follows it, above the section of a version.
fn breaking(changelog: &str, version: &str) -> Vec<String> {
    let mut entries: Vec<String> = Vec::new();
    let mut open = false;
    for line in changelog.lines() {
        if line.strip_prefix("## ").is_some_and(|title| title.split(' ').next() == Some(version)) {
            break;
        }
        if line.starts_with("- ") || line.starts_with('#') {
            open = line.starts_with("- BREAKING");
            if open {
                entries.push(String::new());
            }
        }
        if open && let Some(entry) = entries.last_mut() {
            entry.push_str(line.trim());
            entry.push(' ');
        }
    }
    entries
}

/// Whether an entry speaks of this part of this engine's databases, and says what to do in more than a few words.
fn allows(entry: &str, what: &str, engine: &str) -> bool {
    entry.contains(what) && entry.contains(engine) && entry.split_whitespace().count() >= 12
}

/// What a case differs in, one sentence each.
fn differences(case: &Path, version: &str, changelog: &str) -> Vec<String> {
    let scratch = tempfile::tempdir().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_dbrender"));
    command.args(["render", "--quiet", "database.yaml", "--output-dir"]).arg(scratch.path()).current_dir(case);
    command.args(fs::read_to_string(case.join("args")).unwrap_or_default().split_whitespace());
    if case.join("dbrender.yaml").exists() {
        command.args(["--platform", "dbrender.yaml"]);
    }
    let output = command.output().unwrap();
    let name = format!("{version} {}", name_of(case));
    if !output.status.success() {
        return vec![format!("{name} is not rendered any more: {}", String::from_utf8_lossy(&output.stderr))];
    }
    let engine = read(&case.join("database.yaml"))["spec"]["engine"].as_str().unwrap_or_default().to_owned();
    let entries = breaking(changelog, version);
    let written: Vec<PathBuf> = folders(scratch.path()).iter().flat_map(|namespace| folders(namespace)).collect();
    let mut faults = Vec::new();
    let mut compared = 0;
    for file in fs::read_dir(case).unwrap().map(|entry| entry.unwrap().path()) {
        let before = name_of(&file);
        if !(before.starts_with("statefulset-") || before.starts_with("persistentvolumeclaim-")) {
            continue;
        }
        let Some(now) = written.iter().map(|folder| folder.join(&before)).find(|path| path.exists()) else {
            faults.push(format!("{name}: {before} is not written any more, and its volumes would be lost"));
            continue;
        };
        for ((what, path, was), (_, _, is)) in held(&read(&file)).into_iter().zip(held(&read(&now))) {
            compared += 1;
            if was == is || entries.iter().any(|entry| allows(entry, what, &engine)) {
                continue;
            }
            let diff = similar::TextDiff::from_lines(&was, &is);
            let diff = diff.unified_diff().context_radius(2).header(version, "now").to_string();
            faults.push(format!("{name}: {before}: {path} is another\n{diff}"));
        }
    }
    assert!(compared > 0, "{name} holds nothing");
    faults
}

#[test]
fn what_a_released_version_rendered_is_rendered_still() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let changelog = fs::read_to_string(root.join("CHANGELOG.md")).unwrap();
    let versions = folders(&root.join("fixtures/releases"));
    let mut faults = Vec::new();
    let mut cases = 0;
    for folder in &versions {
        for case in folders(folder) {
            cases += 1;
            faults.extend(differences(&case, &name_of(folder), &changelog));
        }
    }
    assert!(cases > 30, "{cases}");
    let advice = "Databases in production would restart, or could not be applied. A line of CHANGELOG.md that begins with \
        \"- BREAKING\" and names the engine and the pod template or claim template has to say what to do. For a version \
        that is not released yet, .ci/record-release records it anew.";
    assert!(faults.is_empty(), "{}\n\n{advice}", faults.join("\n"));
}

#[test]
fn every_version_that_is_released_is_recorded() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let changelog = fs::read_to_string(root.join("CHANGELOG.md")).unwrap();
    let titles = changelog.lines().filter_map(|line| line.strip_prefix("## ")?.split(' ').next());
    let released = titles.filter(|title| title.starts_with(|c: char| c.is_ascii_digit()));
    let recorded: Vec<String> = folders(&root.join("fixtures/releases")).iter().map(|path| name_of(path)).collect();
    let missing: Vec<&str> = released.filter(|version| !recorded.iter().any(|name| name == version)).collect();
    assert!(missing.is_empty(), "run .ci/record-release for {missing:?}");
    assert!(recorded.iter().any(|name| name == env!("CARGO_PKG_VERSION")), "run .ci/record-release for this version");
}

#[test]
fn a_line_of_the_changelog_allows_what_it_names_and_nothing_else() {
    let changelog = "# Changelog\n\n## Unreleased\n\n- BREAKING: the pod template of postgresql has another port. Set\n  \
        `hibernate: true`, apply, and set it back at a quiet hour.\n- other\n- BREAKING: postgresql.\n\n## 0.1.0 - 2027-01-01\n\n\
        - BREAKING: the pod template of mysql changes in a way that needs nothing at all to be done by anybody.\n";
    let entries = breaking(changelog, "0.1.0");
    assert_eq!(entries.len(), 2);
    let allowed = |what: &str, engine: &str| entries.iter().any(|entry| allows(entry, what, engine));
    assert!(allowed("pod template", "postgresql"));
    assert!(!allowed("claim template", "postgresql"));
    assert!(!allowed("pod template", "mysql"), "that was told with 0.1.0");
    assert_eq!(breaking(changelog, "0.0.9").len(), 3);
}
