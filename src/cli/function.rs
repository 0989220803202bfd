//! `dbrender function`: rendering as a KRM function, for Kustomize and kpt.
//!
//! In: a ResourceList with the Platform object as its functionConfig. Out: the same list, with what the Databases among
//! its items become. Items of others are passed on as they are.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read as _;

use clap::Args;
use serde_json::{Map, Value, json};

use super::args::{HELP, InputFlags};
use super::exit::Exit;
use super::load::{Loaded, load_texts};
use super::output::print_text;
use super::tell::Tell;
use crate::api::{GROUP, PLATFORM_KIND};
use crate::input::Source;
use crate::problem::Problem;
use crate::render::{DATABASE_LABEL, MANAGED_BY_LABEL, render};
use crate::yaml::{self, Limits};

const EXAMPLES: &str = "\
Examples:
  kustomize build --enable-alpha-plugins --enable-exec .
  kpt fn eval --exec 'dbrender function' --fn-config dbrender.yaml
";

const AFTER: &str = "\
For Kustomize, platform.yaml under `transformers:` is the platform file with
  metadata:
    name: dbrender
    annotations:
      config.kubernetes.io/function: |
        exec:
          path: dbrender
          args: [function]";

/// The apiVersions of a ResourceList that are read. What is printed has that of what was read.
const LIST_VERSIONS: [&str; 2] = ["config.kubernetes.io/v1", "config.kubernetes.io/v1beta1"];
/// Where an item is kept, by today's and by the former name.
const PATHS: [&str; 2] = ["internal.config.kubernetes.io/path", "config.kubernetes.io/path"];
const INDEXES: [&str; 2] = ["internal.config.kubernetes.io/index", "config.kubernetes.io/index"];

/// Renders as a KRM function.
///
/// On stdin is a ResourceList, whose functionConfig is the platform file as an object. Databases stay in the list. What
/// they become is added, or takes the place of what it was before, at the same path; what a Database no longer becomes is
/// taken away.
#[derive(Debug, Args)]
#[command(before_help = EXAMPLES, after_help = AFTER, help_template = HELP)]
pub(super) struct FunctionArgs {
    /// Namespace of Databases that name none.
    #[arg(short, long, value_name = "NAME")]
    namespace: Option<String>,
    /// Environment of the platform file.
    #[arg(long, value_name = "NAME")]
    env: Option<String>,
}

pub(super) fn run(args: &FunctionArgs, tell: &Tell) -> Exit {
    let list = match read_list() {
        Ok(list) => list,
        Err(message) => return tell.usage(&message),
    };
    let platform = match platform_of(&list["functionConfig"]) {
        Ok(platform) => platform,
        Err(message) => return tell.usage(&message),
    };
    let items: Vec<Value> = list["items"].as_array().cloned().unwrap_or_default();
    let databases: Vec<&Value> = items.iter().filter(|item| is_database(item)).collect();
    let sources = databases.iter().map(|item| Source { name: name_of(item), text: text_of(item) }).collect();
    let flags = InputFlags {
        paths: Vec::new(),
        namespace: args.namespace.clone(),
        all_namespaces: false,
        selector: None,
        platform: None,
        env: args.env.clone(),
        kubernetes_version: None,
    };
    let loaded = load_texts(&flags, platform, sources);
    let exit = tell.problems(&loaded.problems, &loaded.sources);
    let items = if loaded.problems.has_errors() { items } else { with_rendered(items, &loaded) };
    let mut out = Map::new();
    for key in ["apiVersion", "kind", "functionConfig"] {
        out.insert(key.to_owned(), list[key].clone());
    }
    out.retain(|_, value| !value.is_null());
    out.insert("items".to_owned(), Value::Array(items));
    let results: Vec<Value> = loaded.problems.iter().map(|problem| result(problem, &loaded)).collect();
    if !results.is_empty() {
        out.insert("results".to_owned(), Value::Array(results));
    }
    let mut text = String::new();
    yaml::write_document(&mut text, &Value::Object(out));
    print_text(&text, tell).or_worse(exit)
}

/// The list on stdin, or what is wrong with it.
fn read_list() -> Result<Value, String> {
    let mut bytes = Vec::new();
    let limits = Limits::default();
    let read = std::io::stdin().lock().take(limits.bytes as u64 + 1).read_to_end(&mut bytes);
    read.map_err(|error| format!("cannot read stdin: {}", crate::io::reason(&error)))?;
    let text = yaml::decode(&bytes).map_err(|error| format!("stdin is no text: {}", error.message))?;
    let (mut documents, errors) = yaml::read_stream(text, &limits);
    if let Some(error) = errors.first() {
        return Err(format!("stdin is no ResourceList: {}", error.message));
    }
    if documents.len() != 1 {
        return Err(format!("stdin has {} documents, and a ResourceList is one", documents.len()));
    }
    let list = documents.remove(0).root.to_json();
    let (version, kind) = (list["apiVersion"].as_str().unwrap_or_default(), list["kind"].as_str().unwrap_or_default());
    if kind != "ResourceList" || !LIST_VERSIONS.contains(&version) {
        let wanted = LIST_VERSIONS[0];
        return Err(format!("stdin is no ResourceList of {wanted}, but a {kind:?} of {version:?}"));
    }
    if !(list["items"].is_array() || list["items"].is_null()) {
        return Err("items of the ResourceList is no list".to_owned());
    }
    Ok(list)
}

/// The platform file that a functionConfig is. Its metadata belong to whoever calls.
fn platform_of(config: &Value) -> Result<Option<Source>, String> {
    if config.is_null() {
        return Ok(None);
    }
    if config["kind"] != PLATFORM_KIND {
        let found = config["kind"].as_str().unwrap_or_default();
        return Err(format!("the functionConfig is a {found:?}, and has to be a {PLATFORM_KIND}: the platform file"));
    }
    let mut platform = config.clone();
    if let Some(keys) = platform.as_object_mut() {
        keys.shift_remove("metadata");
    }
    Ok(Some(Source { name: name_of(config), text: text_of(&platform) }))
}

fn is_database(item: &Value) -> bool {
    let version = item["apiVersion"].as_str().unwrap_or_default();
    version.split_once('/').is_some_and(|(group, _)| group == GROUP) && item["kind"] == "Database"
}

fn annotation<'v>(item: &'v Value, names: &[&str]) -> Option<&'v str> {
    let annotations = &item["metadata"]["annotations"];
    names.iter().find_map(|name| annotations[*name].as_str())
}

/// How an item is named where its text is shown. The text is not the file's: comments and lines are gone.
fn name_of(item: &Value) -> String {
    let path = annotation(item, &PATHS).map(str::to_owned);
    let name = path.unwrap_or_else(|| {
        let part = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        format!("{} {}", part(&item["kind"]), part(&item["metadata"]["name"]))
    });
    format!("{name} (as handed over)")
}

fn text_of(item: &Value) -> String {
    let mut text = String::new();
    yaml::write_document(&mut text, item);
    text
}

/// Kind, namespace and name.
type Key = (String, String, String);

fn key_of(item: &Value) -> Key {
    let part = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    (part(&item["kind"]), part(&item["metadata"]["namespace"]), part(&item["metadata"]["name"]))
}

fn label<'v>(item: &'v Value, name: &str) -> &'v str {
    item["metadata"]["labels"][name].as_str().unwrap_or_default()
}

/// The items with what the Databases become.
fn with_rendered(items: Vec<Value>, loaded: &Loaded) -> Vec<Value> {
    let homes: BTreeMap<String, String> = items
        .iter()
        .filter(|item| is_database(item))
        .filter_map(|item| {
            let folder = annotation(item, &PATHS)?.rsplit_once('/').map_or("", |(folder, _)| folder);
            let name = item["metadata"]["name"].as_str()?;
            Some((name.to_owned(), if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") }))
        })
        .collect();
    let mut rendered: BTreeMap<Key, (Value, Option<String>)> = BTreeMap::new();
    let mut order = Vec::new();
    let mut owners = BTreeSet::new();
    for plan in &loaded.plans {
        owners.insert((plan.namespace.clone(), plan.name.clone()));
        for object in render(plan).objects() {
            let home = homes.get(&plan.name);
            let path = home.map(|home| format!("{home}/{}-{}.yaml", object.kind.to_lowercase(), object.name));
            let key = key_of(&object.value);
            order.push(key.clone());
            rendered.insert(key, (object.value, path));
        }
    }
    let mut out = Vec::new();
    for item in items {
        match rendered.remove(&key_of(&item)) {
            Some((object, _)) if !is_database(&item) => out.push(in_place_of(&item, object)),
            // Rendered before, and not any more.
            None if is_left_over(&item, &owners) => {}
            _ => out.push(item),
        }
    }
    for key in order {
        if let Some((object, path)) = rendered.remove(&key) {
            out.push(path.map_or(object.clone(), |path| at(object, &path)));
        }
    }
    out
}

/// Ours, of a Database that is in the list, and not rendered now.
fn is_left_over(item: &Value, owners: &BTreeSet<(String, String)>) -> bool {
    let namespace = item["metadata"]["namespace"].as_str().unwrap_or_default().to_owned();
    label(item, MANAGED_BY_LABEL) == "dbrender"
        && !is_database(item)
        && owners.contains(&(namespace, label(item, DATABASE_LABEL).to_owned()))
}

/// The object, where the item is: the orchestrator's own annotations say where that is.
fn in_place_of(item: &Value, mut object: Value) -> Value {
    let ours = |name: &str| {
        name.starts_with("internal.config.kubernetes.io/")
            || name.starts_with("config.kubernetes.io/")
            || name.starts_with("config.k8s.io/")
    };
    let kept = item["metadata"]["annotations"].as_object().cloned().unwrap_or_default();
    for (name, value) in kept.into_iter().filter(|(name, _)| ours(name)) {
        annotate(&mut object, &name, value);
    }
    object
}

fn at(mut object: Value, path: &str) -> Value {
    for name in PATHS {
        annotate(&mut object, name, json!(path));
    }
    for name in INDEXES {
        annotate(&mut object, name, json!("0"));
    }
    object
}

fn annotate(object: &mut Value, name: &str, value: Value) {
    if let Some(metadata) = object["metadata"].as_object_mut() {
        let annotations = metadata.entry("annotations").or_insert_with(|| json!({}));
        if let Some(annotations) = annotations.as_object_mut() {
            annotations.insert(name.to_owned(), value);
        }
    }
}

/// A problem as a result of the function.
fn result(problem: &Problem, loaded: &Loaded) -> Value {
    let mut result = json!({
        "message": format!("{} ({})", problem.message, problem.hint),
        "severity": problem.severity.as_str(),
        "tags": {"code": problem.code.id()},
    });
    let path = problem.path.to_string();
    if !path.is_empty() {
        result["field"] = json!({"path": path});
    }
    let source = problem.place.as_ref().and_then(|place| loaded.sources.get(place.source));
    if let Some(name) = source.and_then(|source| source.name.strip_suffix(" (as handed over)"))
        && name.contains(['/', '.'])
    {
        result["file"] = json!({"path": name});
    }
    if let Some(subject) = &problem.subject {
        let (namespace, name) = subject.split_once('/').unwrap_or(("", subject));
        result["resourceRef"] = json!({"apiVersion": format!("{GROUP}/v1alpha1"), "kind": "Database", "name": name});
        if !namespace.is_empty() {
            result["resourceRef"]["namespace"] = json!(namespace);
        }
    }
    result
}
