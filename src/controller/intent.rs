//! What a stored Database asks for: the same reading, the same check and the same renderer as on the command line.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::api::{Database, DatabaseStatus};
use crate::check::{Ground, check};
use crate::input::{Schemas, Source, parse};
use crate::plan::Plan;
use crate::problem::{Problem, Problems, Severity};
use crate::render::{Object, render};

/// The finalizer that holds a Database until it has been taken down in order.
pub(super) const FINALIZER: &str = "database.app.example.com/cleanup";

/// One Database as the server has it, and what it comes to.
#[derive(Clone, Debug)]
pub(super) struct Intent {
    pub(super) namespace: String,
    pub(super) name: String,
    pub(super) uid: String,
    pub(super) generation: i64,
    /// Whether somebody has deleted it, and it is only held by finalizers.
    pub(super) deleting: bool,
    pub(super) finalizers: Vec<String>,
    pub(super) annotations: BTreeMap<String, String>,
    /// The status that stands there now.
    pub(super) status: DatabaseStatus,
    /// As a type, when it can be read as one.
    pub(super) database: Option<Database>,
    /// `None`: there are errors among the problems.
    pub(super) plan: Option<Plan>,
    /// What is rendered, in the order in which it is applied.
    pub(super) objects: Vec<Object>,
    pub(super) problems: Problems,
}

impl Intent {
    /// From the object that the server sent. Never fails: what cannot be read is a problem of it.
    pub(super) fn of(stored: &Value, ground: &Ground, schemas: &Schemas) -> Intent {
        let metadata = &stored["metadata"];
        let text = |name: &str| metadata[name].as_str().unwrap_or_default().to_owned();
        let mut intent = Intent {
            namespace: text("namespace"),
            name: text("name"),
            uid: text("uid"),
            generation: metadata["generation"].as_i64().unwrap_or_default(),
            deleting: !metadata["deletionTimestamp"].is_null(),
            finalizers: serde_json::from_value(metadata["finalizers"].clone()).unwrap_or_default(),
            annotations: serde_json::from_value(metadata["annotations"].clone()).unwrap_or_default(),
            // A status of another version is no reason to stop; it is written anew.
            status: serde_json::from_value(stored["status"].clone()).unwrap_or_default(),
            database: None,
            plan: None,
            objects: Vec::new(),
            problems: Problems::new(),
        };
        let understood = understand(stored, ground, schemas);
        intent.problems = understood.problems;
        intent.database = understood.database;
        intent.plan = understood.plan;
        intent.objects = intent.plan.as_ref().map(|plan| render(plan).objects()).unwrap_or_default();
        intent
    }

    /// The errors in one text, for a condition: each with its field and its code.
    pub(super) fn errors(&self) -> String {
        let errors = self.problems.iter().filter(|problem| problem.severity == Severity::Error);
        errors.map(sentence).collect::<Vec<_>>().join("; ")
    }

    /// Whether the controller must not touch anything.
    pub(super) fn is_paused(&self) -> bool {
        self.database.as_ref().is_some_and(|database| database.spec.paused)
    }

    /// The key of this Database everywhere in the controller.
    pub(super) fn key(&self) -> (String, String) {
        (self.namespace.clone(), self.name.clone())
    }
}

/// A Database that was read and checked.
#[derive(Clone, Debug, Default)]
pub(super) struct Understood {
    /// As a type, when it can be read as one.
    pub(super) database: Option<Database>,
    /// `None`: there are errors among the problems.
    pub(super) plan: Option<Plan>,
    pub(super) problems: Problems,
}

/// Reads and checks what the server sent, as the command line reads and checks a file.
pub(super) fn understand(stored: &Value, ground: &Ground, schemas: &Schemas) -> Understood {
    let mut understood = Understood::default();
    let source = Source { name: "Database".to_owned(), text: declared(stored) };
    let parsed = parse(0, &source, schemas, &mut understood.problems);
    if let Some(declared) = parsed.databases.into_iter().next() {
        let checked = check(&declared.database, ground, None);
        understood.problems.extend(checked.problems);
        understood.database = Some(declared.database);
        understood.plan = checked.plan.filter(|_| !understood.problems.has_errors());
    }
    understood
}

/// A problem with its field, for whoever sees no file.
pub(super) fn sentence(problem: &Problem) -> String {
    format!("{}: {}", field(problem), words(problem))
}

/// The field that a problem is at.
pub(super) fn field(problem: &Problem) -> String {
    let path = problem.path.to_string();
    if path.is_empty() { "Database".to_owned() } else { path }
}

/// A problem without its field.
pub(super) fn words(problem: &Problem) -> String {
    let hint = if problem.hint.is_empty() { String::new() } else { format!(" ({})", problem.hint) };
    format!("{}{hint} [{}]", problem.message, problem.code.id())
}

/// What a person wrote, without what the server adds.
fn declared(stored: &Value) -> String {
    let mut object = stored.clone();
    if let Some(map) = object.as_object_mut() {
        map.shift_remove("status");
    }
    if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.retain(|key, _| matches!(key.as_str(), "name" | "namespace" | "labels" | "annotations"));
    }
    object.to_string()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::Intent;
    use crate::api::PlatformSettings;
    use crate::check::{Ground, ground};
    use crate::input::{Schemas, Source, parse, parse_platform};
    use crate::problem::Problems;
    use crate::yaml;

    fn here() -> Ground {
        ground(&PlatformSettings::default(), &mut Problems::new()).unwrap()
    }

    fn stored(spec: Value) -> Value {
        json!({
            "apiVersion": "app.example.com/v1alpha1", "kind": "Database",
            "metadata": {"name": "order-db", "namespace": "production", "uid": "u1", "generation": 3,
                "creationTimestamp": "2026-01-01T00:00:00Z", "resourceVersion": "7",
                "finalizers": ["database.app.example.com/cleanup"],
                "managedFields": [{"manager": "kubectl", "operation": "Update"}]},
            "spec": spec,
            "status": {"phase": "Running", "observedGeneration": 2},
        })
    }

    #[test]
    fn what_the_server_adds_is_no_problem() {
        let spec = json!({"engine": "postgresql", "version": "17", "storage": {"size": "1Gi"}});
        let intent = Intent::of(&stored(spec), &here(), &Schemas::new());
        assert_eq!(intent.errors(), "");
        assert_eq!((intent.generation, intent.deleting, intent.finalizers.len()), (3, false, 1));
        assert_eq!(intent.status.observed_generation, Some(2));
        assert!(intent.objects.iter().any(|object| object.kind == "StatefulSet"));
    }

    /// A Database as the API server has it: with every default, and with what the server adds.
    fn as_stored(database: &crate::api::Database) -> Value {
        let mut stored = serde_json::to_value(database).unwrap();
        stored["metadata"]["uid"] = json!("u1");
        stored["metadata"]["generation"] = json!(4);
        stored["metadata"]["finalizers"] = json!([super::FINALIZER]);
        stored["status"] = json!({"phase": "Running"});
        stored
    }

    /// If this fails, a cluster with a controller has something else than the repository says.
    #[test]
    fn what_is_applied_is_byte_for_byte_what_stands_in_the_fixtures_trees() {
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/render");
        let schemas = Schemas::new();
        let mut compared = 0;
        for entry in std::fs::read_dir(root).unwrap() {
            let folder = entry.unwrap().path();
            let text = |file: &str| std::fs::read_to_string(folder.join(file)).ok();
            let source = |file: &str| text(file).map(|text| Source { name: file.to_owned(), text });
            let mut problems = Problems::new();
            let arguments = text("args").unwrap_or_default();
            let env = arguments.split_whitespace().skip_while(|word| *word != "--env").nth(1);
            let settings = source("dbrender.yaml").map_or_else(PlatformSettings::default, |source| {
                parse_platform(0, &source, env, &schemas, &mut problems).unwrap().settings
            });
            let ground = ground(&settings, &mut problems).unwrap();
            for declared in parse(0, &source("database.yaml").unwrap(), &schemas, &mut problems).databases {
                let intent = Intent::of(&as_stored(&declared.database), &ground, &schemas);
                let tree = folder.join("expected").join(&intent.namespace).join(&intent.name);
                let mut files = std::fs::read_dir(&tree).unwrap().count() - 1; // without dbrender.lock
                for object in &intent.objects {
                    let name = format!("{}-{}.yaml", object.kind.to_lowercase(), object.name);
                    let expected = std::fs::read_to_string(tree.join(&name)).unwrap();
                    let mut value = object.value.clone();
                    if name.ends_with("-scripts.yaml") {
                        // The fixtures leave the scripts out: a test of their own compares those.
                        value.as_object_mut().unwrap().shift_remove("data");
                    }
                    let mut printed = String::new();
                    yaml::write_document(&mut printed, &value);
                    let (header, expected) = expected.split_once('\n').unwrap();
                    assert!(header.starts_with("# Database "), "{header}");
                    assert_eq!(printed, expected, "{} {name}", tree.display());
                    files -= 1;
                }
                assert_eq!(files, 0, "{} has files that are not applied", tree.display());
                compared += 1;
            }
        }
        assert!(compared > 40, "{compared}");
    }

    /// A field of a newer version would be left out of what is applied. That may be the one that keeps the data.
    #[test]
    fn a_field_of_a_newer_version_is_refused_by_name() {
        let spec = json!({"engine": "postgresql", "version": "17", "storage": {"size": "1Gi"}, "encryption": "on"});
        let intent = Intent::of(&stored(spec), &here(), &Schemas::new());
        assert!(intent.errors().contains("spec.encryption"), "{}", intent.errors());
        assert!(intent.plan.is_none() && intent.objects.is_empty());
    }

    #[test]
    fn nonsense_is_a_problem_and_no_panic() {
        for value in [json!({}), json!([]), json!("x"), json!({"metadata": 3, "spec": []}), Value::Null] {
            let intent = Intent::of(&value, &here(), &Schemas::new());
            assert!(intent.plan.is_none(), "{value}");
        }
        let mut half = stored(json!({"engine": 3}));
        half["metadata"]["finalizers"] = json!("no list");
        let intent = Intent::of(&half, &here(), &Schemas::new());
        assert!(!intent.errors().is_empty());
    }
}
