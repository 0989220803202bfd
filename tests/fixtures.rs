//! One test per folder of `fixtures/`: what the real binary writes and says, byte for byte.
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

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use libtest_mimic::{Arguments, Failed, Trial};

/// Runs the case of a folder.
type Run = fn(&Path) -> Result<(), Failed>;

fn main() {
    let mut arguments = Arguments::from_args();
    // Each case is a process; more at once than cores only makes them slower.
    arguments.test_threads.get_or_insert(2);
    let families: [(&str, Run); 3] = [("render", render_case), ("problems", problem_case), ("updates", update_case)];
    let mut trials: Vec<Trial> = families
        .iter()
        .flat_map(|&(family, run)| {
            cases(family).into_iter().map(move |case| {
                let name = format!("{family}/{}", name_of(&case));
                Trial::test(name, move || run(&case))
            })
        })
        .collect();
    trials.push(Trial::test("every problem code has a case", every_code_has_a_case));
    trials.push(Trial::test("every folder belongs to a family", every_folder_is_a_family));
    libtest_mimic::run(&arguments, trials).exit();
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures")
}

fn name_of(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

fn folders(path: &Path) -> Vec<PathBuf> {
    let mut folders: Vec<PathBuf> = fs::read_dir(path)
        .into_iter()
        .flatten()
        .filter_map(Result::ok)
        .map(|entry| entry.path())
        .filter(|path| path.is_dir())
        .collect();
    folders.sort();
    folders
}

fn cases(family: &str) -> Vec<PathBuf> {
    folders(&root().join(family))
}

fn blessing() -> bool {
    std::env::var_os("DBRENDER_BLESS").is_some_and(|value| value == "1")
}

/// Runs the binary in the case's folder, with nothing of the caller's environment.
fn dbrender(case: &Path, arguments: &[&str]) -> Result<Output, Failed> {
    let more = fs::read_to_string(case.join("args")).unwrap_or_default();
    let output = Command::new(env!("CARGO_BIN_EXE_dbrender"))
        .args(arguments)
        .args(more.split_whitespace())
        .current_dir(case)
        .env_clear()
        .env("LANG", "C.UTF-8")
        .env("TZ", "UTC")
        .output()?;
    Ok(output)
}

fn platform(case: &Path) -> &'static [&'static str] {
    // Without the flag the search would find no file here, but could find one above in somebody's checkout.
    if case.join("dbrender.yaml").exists() { &["--platform", "dbrender.yaml"] } else { &[] }
}

fn render_case(case: &Path) -> Result<(), Failed> {
    has_reason(case)?;
    let scratch = tempfile::tempdir()?;
    let tree = scratch.path().join("tree");
    let tree_text = tree.to_string_lossy();
    let mut arguments = vec!["render", "database.yaml", "--output-dir", tree_text.as_ref()];
    arguments.extend(platform(case));
    let output = dbrender(case, &arguments)?;
    if !output.status.success() {
        return Err(format!("exit {:?}\n{}", output.status.code(), String::from_utf8_lossy(&output.stderr)).into());
    }
    let found = read_tree(&tree, &tree)?;
    let expected_folder = case.join("expected");
    if blessing() {
        if expected_folder.exists() {
            fs::remove_dir_all(&expected_folder)?;
        }
        for (name, text) in &found {
            let path = expected_folder.join(name);
            fs::create_dir_all(path.parent().unwrap_or(&expected_folder))?;
            fs::write(path, text)?;
        }
    } else {
        let expected = read_tree(&expected_folder, &expected_folder)?;
        same_files(&expected, &found)?;
    }
    compare(&case.join("expected.stderr"), &says(&output.stderr, &tree_text))
}

/// Warnings as they are printed; the place of the scratch tree and the counts of what was written do not matter here.
fn says(stderr: &[u8], tree: &str) -> String {
    String::from_utf8_lossy(stderr).replace(tree, "TREE")
}

fn problem_case(case: &Path) -> Result<(), Failed> {
    has_reason(case)?;
    let code = name_of(case).split('-').next().unwrap_or_default().to_owned();
    let scratch = tempfile::tempdir()?;
    let tree = scratch.path().join("tree");
    let tree_text = tree.to_string_lossy();
    let mut arguments = vec!["render", "database.yaml", "--output-dir", tree_text.as_ref()];
    arguments.extend(platform(case));
    let output = dbrender(case, &arguments)?;
    let stderr = says(&output.stderr, &tree_text);
    if !stderr.contains(&format!("[{code}]")) {
        return Err(format!("{code} is not among what was said:\n{stderr}").into());
    }
    let is_error = stderr.contains("error[");
    // What could not be read at all makes the answer incomplete, which is 3.
    let exit = if code == "DBR101" { 3 } else { 2 };
    if is_error && (output.status.code() != Some(exit) || tree.exists()) {
        return Err(format!("an error must end with {exit} and write nothing; exit {:?}", output.status.code()).into());
    }
    if !is_error && !output.status.success() {
        return Err(format!("warnings alone must not fail; exit {:?}", output.status.code()).into());
    }
    compare(&case.join("expected.stderr"), &stderr)
}

fn update_case(case: &Path) -> Result<(), Failed> {
    has_reason(case)?;
    let read = |file: &str| -> Result<dbrender::api::Database, Failed> {
        let text = fs::read_to_string(case.join(file))?;
        let (documents, errors) = dbrender::yaml::read_stream(&text, &dbrender::yaml::Limits::default());
        if !errors.is_empty() {
            return Err(format!("{file} is not YAML: {errors:?}").into());
        }
        let document = documents.first().ok_or_else(|| format!("{file} is empty"))?;
        Ok(serde_json::from_value(document.root.to_json())?)
    };
    let problems = dbrender::check::update(&read("old.yaml")?, &read("new.yaml")?);
    let text: String = problems
        .iter()
        .map(|p| format!("{}[{}] {}: {}\n  hint: {}\n", p.severity.as_str(), p.code.id(), p.path, p.message, p.hint))
        .collect();
    compare(&case.join("expected.txt"), &text)
}

fn has_reason(case: &Path) -> Result<(), Failed> {
    match fs::read_to_string(case.join("why.md")) {
        Ok(text) if text.trim().len() > 20 => Ok(()),
        _ => Err("why.md has to say what would go wrong without this case".into()),
    }
}

fn read_tree(base: &Path, folder: &Path) -> Result<BTreeMap<String, String>, Failed> {
    let mut files = BTreeMap::new();
    if !folder.exists() {
        return Ok(files);
    }
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            files.extend(read_tree(base, &path)?);
            continue;
        }
        let name = path.strip_prefix(base)?.to_string_lossy().into_owned();
        let text = fs::read_to_string(&path)?;
        let text = match path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default() {
            file if file.starts_with("configmap-") && file.ends_with("-scripts.yaml") => without_data(&text),
            file if file == "dbrender.lock" => without_scripts_hash(&text),
            _ => text,
        };
        files.insert(name, text);
    }
    Ok(files)
}

/// The scripts are compared with their folder by a test of their own; here they would make every fixture change with
/// every line of a script.
fn without_data(text: &str) -> String {
    let mut inside = false;
    text.split_inclusive('\n')
        .filter(|line| {
            if line.starts_with("data:") {
                inside = true;
                return false;
            }
            if inside && !line.starts_with([' ', '\n']) {
                inside = false;
            }
            !inside
        })
        .collect()
}

fn without_scripts_hash(text: &str) -> String {
    text.split_inclusive('\n')
        .map(|line| match line.split_once("  ") {
            Some((_, file)) if file.starts_with("configmap-") && file.trim_end().ends_with("-scripts.yaml") => {
                format!("(left out)  {file}")
            }
            _ => line.to_owned(),
        })
        .collect()
}

fn same_files(expected: &BTreeMap<String, String>, found: &BTreeMap<String, String>) -> Result<(), Failed> {
    let mut differences = String::new();
    for name in expected.keys().filter(|name| !found.contains_key(*name)) {
        differences += &format!("missing: {name}\n");
    }
    for (name, text) in found {
        match expected.get(name) {
            None => differences += &format!("not expected: {name}\n"),
            Some(want) if want != text => differences += &diff(name, want, text),
            Some(_) => {}
        }
    }
    if differences.is_empty() { Ok(()) } else { Err(format!("{differences}\n{BLESS}").into()) }
}

fn compare(path: &Path, found: &str) -> Result<(), Failed> {
    if blessing() {
        if found.is_empty() {
            if path.exists() {
                fs::remove_file(path)?;
            }
        } else {
            fs::write(path, found)?;
        }
        return Ok(());
    }
    let expected = fs::read_to_string(path).unwrap_or_default();
    if expected == found {
        return Ok(());
    }
    Err(format!("{}\n{BLESS}", diff(&name_of(path), &expected, found)).into())
}

const BLESS: &str = "If this is meant: make bless, and read the diff.";

fn diff(name: &str, expected: &str, found: &str) -> String {
    let diff = similar::TextDiff::from_lines(expected, found);
    diff.unified_diff().context_radius(3).header(&format!("expected {name}"), &format!("found {name}")).to_string()
}

/// A code that nobody has ever seen printed may be printed wrongly. Codes about the output tree and about a cluster are
/// shown by tests of their own, and there is no newer edition of the catalog yet to warn of.
fn every_code_has_a_case() -> Result<(), Failed> {
    let have: Vec<String> = cases("problems").iter().map(|case| name_of(case)).collect();
    let updates: String =
        cases("updates").iter().filter_map(|case| fs::read_to_string(case.join("expected.txt")).ok()).collect();
    let lacking: Vec<&str> = dbrender::problem::Code::ALL
        .iter()
        .map(|code| code.id())
        .filter(|id| !id.starts_with("DBR6") && !id.starts_with("DBR7"))
        .filter(|id| *id != "DBR504" || dbrender::engine::NEWEST_EDITION > 1)
        .filter(|id| !have.iter().any(|case| case.starts_with(&format!("{id}-"))))
        .filter(|id| !updates.contains(&format!("[{id}]")))
        .collect();
    if lacking.is_empty() { Ok(()) } else { Err(format!("no case for {}", lacking.join(", ")).into()) }
}

fn every_folder_is_a_family() -> Result<(), Failed> {
    // Those of `drift` are run by `tests/drift_cases.rs`, those of `chart` by `tests/chart`, of `health` and
    // `releases` by tests of their names; `schemas` has no cases.
    let known =
        ["alerts", "chart", "drift", "health", "problems", "releases", "render", "schemas", "series", "updates"];
    let strange: Vec<String> =
        folders(&root()).iter().map(|path| name_of(path)).filter(|name| !known.contains(&name.as_str())).collect();
    if strange.is_empty() {
        Ok(())
    } else {
        Err(format!("no harness reads fixtures/{}", strange.join(", fixtures/")).into())
    }
}
