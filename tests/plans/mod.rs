//! The Databases of `fixtures/render` and of other folders as Plans and manifests.
#![allow(dead_code, reason = "each test binary uses its part of this module")]

use std::fs;
use std::path::{Path, PathBuf};

use dbrender::check::{Ground, check, ground};
use dbrender::engine;
use dbrender::input::{Schemas, Source, parse, parse_platform};
use dbrender::plan::{Credentials, Plan};
use dbrender::problem::Problems;
use dbrender::render::{Object, render};
use serde_json::{Value, json};

/// One Database of a fixture.
pub struct Case {
    /// Name of the folder.
    pub name: String,
    /// What is rendered from.
    pub plan: Plan,
    /// What is rendered.
    pub objects: Vec<Object>,
}

/// Every Database of every fixture. `namespace` moves each folder into a namespace of its own.
pub fn all(namespace: impl Fn(usize) -> Option<String>) -> Vec<Case> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/render");
    let mut folders: Vec<PathBuf> =
        fs::read_dir(root).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_dir()).collect();
    folders.sort();
    let schemas = Schemas::new();
    let cases: Vec<Case> =
        folders.iter().enumerate().flat_map(|(number, folder)| cases_of(folder, namespace(number), &schemas)).collect();
    assert!(cases.len() > 40, "only {} Databases in the fixtures", cases.len());
    cases
}

fn cases_of(folder: &Path, namespace: Option<String>, schemas: &Schemas) -> Vec<Case> {
    let cases = of_file(folder, "database.yaml", namespace, schemas);
    assert!(!cases.is_empty(), "{} holds no Database", folder.display());
    cases
}

/// Every Database of a file in a folder, with the platform file beside it. Fails when one cannot be rendered.
pub fn of_file(folder: &Path, file: &str, namespace: Option<String>, schemas: &Schemas) -> Vec<Case> {
    let (cases, refused) = valid_of_file(folder, file, namespace, schemas);
    assert!(refused.is_empty(), "{} {file}: {refused:?}", folder.display());
    cases
}

/// The same with what is wrong with those that cannot be rendered.
pub fn valid_of_file(
    folder: &Path,
    file: &str,
    namespace: Option<String>,
    schemas: &Schemas,
) -> (Vec<Case>, Vec<Problems>) {
    let name = folder.file_name().unwrap().to_string_lossy().into_owned();
    let mut problems = Problems::new();
    let ground = platform(folder, schemas, &mut problems);
    let mut text = fs::read_to_string(folder.join(file)).unwrap();
    if let Some(namespace) = &namespace {
        text = text.replace("namespace: production", &format!("namespace: {namespace}"));
    }
    let parsed = parse(0, &Source { name: name.clone(), text }, schemas, &mut problems);
    let (mut cases, mut refused) = (Vec::new(), Vec::new());
    for declared in &parsed.databases {
        let checked = check(&declared.database, &ground, None);
        match checked.plan {
            Some(plan) => {
                let objects = render(&plan).objects();
                cases.push(Case { name: name.clone(), plan, objects });
            }
            None => refused.push(checked.problems),
        }
    }
    (cases, refused)
}

fn platform(folder: &Path, schemas: &Schemas, problems: &mut Problems) -> Ground {
    let Ok(text) = fs::read_to_string(folder.join("dbrender.yaml")) else { return Ground::default() };
    let arguments = fs::read_to_string(folder.join("args")).unwrap_or_default();
    let environment = arguments.split_once("--env ").and_then(|(_, rest)| rest.split_whitespace().next());
    let source = Source { name: "dbrender.yaml".to_owned(), text };
    let declared = parse_platform(0, &source, environment, schemas, problems).unwrap();
    ground(&declared.settings, problems).unwrap()
}

/// Secrets that somebody else makes, where a Database asks for them.
pub fn secrets_of_others(plan: &Plan) -> Vec<Value> {
    let Credentials::Existing { app, admin } = &plan.credentials else { return Vec::new() };
    let engine = engine::by_name(plan.engine).unwrap();
    [(app, engine.app_keys()), (admin, engine.admin_keys())]
        .into_iter()
        .map(|(name, keys)| {
            let data: serde_json::Map<String, Value> =
                keys.iter().map(|key| (key.key().to_owned(), json!("aHVudGVyMg=="))).collect();
            json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name, "namespace": plan.namespace}, "data": data})
        })
        .collect()
}
