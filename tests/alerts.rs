//! Alerts and dashboards of the chart are queries that Prometheus reads (`testbed/promql`, built on first use), and those about
//! databases ask for nothing but what a real exporter gave beside a real server (`fixtures/series`); of an engine whose server cannot be
//! had, what was given by whoever stood in for it (`<engine>-of-<whom>.txt`, all of them together). Which alerts fire when is in
//! `fixtures/alerts`.

#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test may use files and programs, and ends where it fails"
)]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::LazyLock;

use dbrender::yaml::{Limits, read_stream};
use serde_json::{Value, json};

/// What Prometheus adds to every series of a `PodMonitor`, as far as alerts and panels use it.
const OF_THE_TARGET: [&str; 3] = ["job", "namespace", "pod"];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Files of a folder whose name ends so, in order.
fn files(folder: &Path, end: &str) -> Vec<PathBuf> {
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> = files.filter(|path| path.to_string_lossy().ends_with(end)).collect();
    files.sort();
    files
}

/// The texts at every key `expr`, and, of a dashboard's variables, what `label_values` looks at.
fn queries(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            for (key, field) in fields {
                let text = field.as_str().unwrap_or_default();
                if key == "expr" {
                    found.push(text.to_owned());
                } else if let Some((query, _)) =
                    text.strip_prefix("label_values(").and_then(|rest| rest.rsplit_once(','))
                {
                    found.push(query.to_owned());
                } else {
                    queries(field, found);
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| queries(item, found)),
        _ => {}
    }
}

/// The file's document.
fn document(file: &Path) -> Value {
    let (documents, problems) = read_stream(&fs::read_to_string(file).unwrap(), &Limits::default());
    assert!(problems.is_empty(), "{}: {problems:?}", file.display());
    documents[0].root.to_json()
}

fn queries_of(file: &Path) -> Vec<String> {
    let mut found = Vec::new();
    queries(&document(file), &mut found);
    assert!(found.len() > 5, "{}: {found:?}", file.display());
    found
}

/// `testbed/promql`, built once.
static PROGRAM: LazyLock<PathBuf> = LazyLock::new(|| {
    let program = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("promql");
    let source = root().join("testbed/promql");
    let status = Command::new("go").args(["build", "-o"]).arg(&program).arg(".").current_dir(source).status();
    assert!(status.as_ref().is_ok_and(std::process::ExitStatus::success), "go build in testbed/promql: {status:?}");
    program
});

/// What Prometheus makes of each query.
fn read(queries: &[String]) -> Vec<Value> {
    ask(&queries.iter().map(|query| Value::from(query.as_str())).collect::<Vec<_>>())
}

/// What `testbed/promql` answers to each line.
fn ask(lines: &[Value]) -> Vec<Value> {
    let mut child = Command::new(&*PROGRAM).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    let answers = String::from_utf8(output.stdout).unwrap();
    let answers: Vec<Value> = answers.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(answers.len(), lines.len());
    answers
}

/// Names and their labels, as a trial recorded them: `RECORD=fixtures/series testbed/unshare/… exporter`.
fn recorded(file: &Path) -> BTreeMap<String, BTreeSet<String>> {
    let mut series: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for line in fs::read_to_string(file).unwrap().lines() {
        let mut words = line.split(' ').map(str::to_owned);
        series.entry(words.next().unwrap()).or_default().extend(words);
    }
    assert!(!series.is_empty(), "{} has no series", file.display());
    series
}

/// What was given, by the name of what gave it: a file, or all files of those that stood in for a server.
fn all_recorded() -> BTreeMap<String, BTreeMap<String, BTreeSet<String>>> {
    let mut all: BTreeMap<String, BTreeMap<String, BTreeSet<String>>> = BTreeMap::new();
    for file in files(&root().join("fixtures/series"), ".txt") {
        let name = file.file_stem().unwrap().to_string_lossy().into_owned();
        let given = all.entry(name.split("-of-").next().unwrap().to_owned()).or_default();
        for (series, labels) in recorded(&file) {
            given.entry(series).or_default().extend(labels);
        }
    }
    for (name, given) in &all {
        assert!(given.len() > 40, "{name}: {} series", given.len());
    }
    all
}

fn words(list: &Value) -> impl Iterator<Item = &str> {
    list.as_array().into_iter().flatten().map(|word| word.as_str().unwrap())
}

/// What a query asks for that was not given.
fn strange(answer: &Value, given: &BTreeMap<String, BTreeSet<String>>) -> Vec<String> {
    let mut faults = Vec::new();
    let mut known: BTreeSet<&str> = OF_THE_TARGET.into();
    for selector in answer["selectors"].as_array().into_iter().flatten() {
        let name = selector["name"].as_str().unwrap();
        let Some(labels) = given.get(name) else {
            faults.push(name.to_owned());
            continue;
        };
        known.extend(labels.iter().map(String::as_str));
        let asked =
            words(&selector["labels"]).filter(|label| !labels.contains(*label) && !OF_THE_TARGET.contains(label));
        faults.extend(asked.map(|label| format!("{name}{{{label}}}")));
    }
    faults.extend(words(&answer["labels"]).filter(|label| !known.contains(label)).map(|label| format!("by {label}")));
    faults
}

#[test]
fn prometheus_reads_every_alert_and_every_panel() {
    let chart = root().join("charts/dbrender/files");
    let all = [files(&chart, "rules.yaml"), files(&chart, "dashboard.json")].concat();
    assert!(all.len() >= 4, "{all:?}");
    let queries: Vec<String> = all.iter().flat_map(|file| queries_of(file)).collect();
    let answers = read(&queries);
    let faults: Vec<_> = queries.iter().zip(&answers).filter(|(_, answer)| !answer["error"].is_null()).collect();
    assert!(faults.is_empty(), "{faults:#?}");
}

#[test]
fn alerts_and_panels_ask_for_what_real_exporters_gave() {
    let mut faults = Vec::new();
    let all = all_recorded();
    // An engine's alerts that are held to nothing would pass.
    let engines: BTreeSet<&str> = all.keys().map(|name| name.split('-').next().unwrap()).collect();
    for file in files(&root().join("charts/dbrender/files"), "-rules.yaml") {
        let name = file.file_name().unwrap().to_string_lossy().into_owned();
        assert!(engines.contains(name.strip_suffix("-rules.yaml").unwrap()), "{name}: no recorded series");
    }
    for (name, given) in &all {
        let engine = name.split('-').next().unwrap();
        for end in ["rules.yaml", "dashboard.json"] {
            let file = root().join(format!("charts/dbrender/files/{engine}-{end}"));
            let queries = queries_of(&file);
            for (query, answer) in queries.iter().zip(read(&queries)) {
                faults.extend(strange(&answer, given).iter().map(|what| format!("{name}: {what} in {query}")));
            }
        }
    }
    assert!(faults.is_empty(), "{faults:#?}");
}

/// The rules of a file, and their names.
fn rules(file: &Path) -> (Value, BTreeSet<String>) {
    let rules: Vec<Value> = document(file)["groups"][0]["rules"].as_array().unwrap().clone();
    let names = rules.iter().map(|rule| rule["alert"].as_str().unwrap().to_owned()).collect();
    (Value::from(rules), names)
}

/// Series of a situation with what Prometheus adds to them.
fn series(situation: &Value) -> Vec<String> {
    let mut all = Vec::new();
    for (pod, lines) in situation["pods"].as_object().unwrap() {
        for line in words(lines) {
            let (name, rest) = line.split_once(['{', ' ']).unwrap();
            let rest = if line.contains('{') { format!(", {rest}") } else { format!("}} {rest}") };
            all.push(format!("{name}{{namespace=\"production\", job=\"production/order-db\", pod=\"{pod}\"{rest}"));
        }
    }
    all
}

#[test]
fn alerts_fire_in_their_situations_and_in_no_other() {
    let mut faults = Vec::new();
    for file in files(&root().join("fixtures/alerts"), ".yaml") {
        let engine = file.file_stem().unwrap().to_string_lossy().into_owned();
        let (rules, mut never) = rules(&root().join(format!("charts/dbrender/files/{engine}-rules.yaml")));
        let situations = document(&file);
        let lines: Vec<Value> = situations
            .as_array()
            .unwrap()
            .iter()
            .map(|situation| json!({"rules": rules, "series": series(situation)}))
            .collect();
        for (situation, answer) in situations.as_array().unwrap().iter().zip(ask(&lines)) {
            assert!(answer["error"].is_null(), "{situation}: {answer}");
            let (expected, found): (Vec<_>, Vec<_>) =
                (words(&situation["fires"]).collect(), words(&answer["fires"]).collect());
            found.iter().for_each(|alert| {
                never.remove(*alert);
            });
            if expected != found {
                faults.push(format!("{engine}: {}: expected {expected:?}, fires {found:?}", situation["what"]));
            }
        }
        faults.extend(never.iter().map(|alert| format!("{engine}: no situation in which {alert} fires")));
    }
    assert!(faults.is_empty(), "{faults:#?}");
}

#[test]
fn situations_have_series_that_real_exporters_gave() {
    let mut faults = Vec::new();
    for file in files(&root().join("fixtures/alerts"), ".yaml") {
        let engine = file.file_stem().unwrap().to_string_lossy().into_owned();
        let mut given: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for (_, series) in all_recorded().into_iter().filter(|(name, _)| name.split('-').next() == Some(&*engine)) {
            given.extend(series);
        }
        for situation in document(&file).as_array().unwrap() {
            let queries: Vec<String> =
                series(situation).iter().map(|line| line[..=line.rfind('}').unwrap()].to_owned()).collect();
            for (query, answer) in queries.iter().zip(read(&queries)) {
                faults.extend(strange(&answer, &given).iter().map(|what| format!("{engine}: {what} in {query}")));
            }
        }
    }
    assert!(faults.is_empty(), "{faults:#?}");
}
