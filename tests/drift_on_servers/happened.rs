//! What `fixtures/drift` says of a model of an API server, on real ones: the same is applied, the same happens to it, by
//! the same field managers, and the report has to name the same objects and places.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use dbrender::diff::{Bucket, Comparison, Desired, KINDS, LiveSet, Orphans, Policy, Read, Report, Status};
use dbrender::input::Schemas;
use serde_json::{Value, json};

use super::happened::{self, Event, Writer};
use super::plans::{self, Case};
use super::servers::{self, Server};
use super::{Turn, apply, on_each, policy, read};

/// Cases that cannot be brought about here, and why.
const NOT_HERE: &[(&str, &str)] = &[
    ("storage-grows", "without a node no claim is bound, and only a bound claim grows"),
    ("storage-grows-and-claims-are-not-in-the-dump", "Kubernetes makes the claims again at once"),
    ("the-object-is-being-deleted", "a server sets the time of a deletion, and nobody else"),
];

fn cases() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/drift");
    let entries = fs::read_dir(root).unwrap().map(|entry| entry.unwrap().path());
    let mut folders: Vec<PathBuf> = entries.filter(|path| path.join("cluster.yaml").exists()).collect();
    folders.sort();
    folders
}

fn name_of(case: &Path) -> String {
    case.file_name().unwrap().to_string_lossy().into_owned()
}

/// Kind, name, and what is said of it: a status, or a bucket and a place, with the writer where the case names one.
type Said = BTreeSet<(String, String, String)>;

/// The name without the hash of a Job, in which the namespace is.
fn without_hash(kind: &str, name: &str) -> String {
    match name.rsplit_once('-') {
        Some((start, _)) if kind == "Job" => start.to_owned(),
        _ => name.to_owned(),
    }
}

fn expected(case: &Path) -> Said {
    let text = fs::read_to_string(case.join("expected.json")).unwrap();
    let report: Value = serde_json::from_str(&text).unwrap();
    let mut said = Said::new();
    for object in
        report["databases"].as_array().unwrap().iter().flat_map(|database| database["objects"].as_array().unwrap())
    {
        let kind = object["kind"].as_str().unwrap();
        let name = without_hash(kind, object["name"].as_str().unwrap());
        let mut say = |what: String| said.insert((kind.to_owned(), name.clone(), what));
        say(object["status"].as_str().unwrap().to_owned());
        for change in object["changes"].as_array().unwrap() {
            let by = change["changedBy"]["manager"].as_str().map(|by| format!(" by {by}")).unwrap_or_default();
            say(format!("{} {}{by}", change["bucket"].as_str().unwrap(), change["path"].as_str().unwrap()));
        }
    }
    said
}

fn found(report: &Report, names_writers: bool) -> Said {
    let mut said = Said::new();
    for object in report.databases.iter().flat_map(|database| &database.objects) {
        let changes: Vec<_> = object.changes.iter().filter(|change| change.bucket != Bucket::Ignored).collect();
        if object.status == Status::InSync && changes.is_empty() {
            continue;
        }
        let name = without_hash(&object.kind, &object.name);
        let mut say = |what: String| said.insert((object.kind.clone(), name.clone(), what));
        say(object.status.as_str().to_owned());
        for change in changes {
            let by = change.changed_by.as_ref().filter(|_| names_writers);
            let by = by.map(|by| format!(" by {}", by.manager)).unwrap_or_default();
            say(format!("{} {}{by}", change.bucket.as_str(), change.path));
        }
    }
    said
}

/// If this fails, the fixtures show what no server does, or a change by hand, an injection or a deletion on a real server
/// is told in another way than we say. RD-44, RD-51 to RD-56, RD-59 to RD-64, RD-67, RD-73, RD-77, RD-79.
#[test]
fn what_happens_in_the_fixtures_is_told_of_real_servers_alike() {
    let found = on_each(async |Turn { server, .. }| {
        let mut failures = Vec::new();
        let mut count = 0;
        for (number, case) in cases().iter().enumerate() {
            if NOT_HERE.iter().any(|(name, _)| *name == name_of(case)) {
                continue;
            }
            count += 1;
            let (report, names_writers) =
                bring_about(server, case, &format!("happened-{}-{number}", std::process::id())).await;
            let (expected, found) = (expected(case), found(&report, names_writers));
            for (sign, lines) in [("-", expected.difference(&found)), ("+", found.difference(&expected))] {
                failures.extend(lines.map(|line| format!("{} {}: {sign} {line:?}", server.minor, name_of(case))));
            }
        }
        (count, failures)
    });
    let failures: Vec<String> = found.iter().flat_map(|(_, failures)| failures.clone()).collect();
    println!("{} cases", found.iter().map(|(count, _)| count).sum::<usize>());
    assert!(failures.is_empty(), "{} lines:\n{}", failures.len(), failures.join("\n"));
}

async fn bring_about(server: &Server, case: &Path, namespace: &str) -> (Report, bool) {
    let schemas = Schemas::new();
    let of = |file: &str| plans::of_file(case, file, Some(namespace.to_owned()), &schemas);
    let wanted = match fs::read_dir(case.join("databases")) {
        Ok(files) => {
            let files = files.map(|file| format!("databases/{}", file.unwrap().file_name().to_string_lossy()));
            files.flat_map(|file| of(&file)).collect()
        }
        // A case may hold a Database that cannot be rendered.
        Err(_) => plans::valid_of_file(case, "database.yaml", Some(namespace.to_owned()), &schemas).0,
    };
    let applied = if case.join("was.yaml").exists() { of("was.yaml") } else { of("database.yaml") };
    for database in &applied {
        apply(server, database).await;
        // Kubernetes takes its time to make claims; most cases say nothing of them.
        if fs::read_to_string(case.join("expected.json")).unwrap().contains("\"data-") {
            claims_are_there(server, database, database.plan.replicas.into()).await;
        }
    }
    let events = happened::events(case).unwrap().unwrap();
    for event in &events {
        carry_out(server, &applied[0], event).await;
        if let Event::Patch { operations, .. } = event {
            for replicas in operations.iter().filter(|one| one["path"] == "/spec/replicas") {
                claims_are_there(server, &applied[0], replicas["value"].as_u64().unwrap()).await;
            }
        }
    }
    let arguments = fs::read_to_string(case.join("args")).unwrap_or_default();
    let secrets_read = !arguments.contains("--no-secret-read");
    let live = read(server, namespace).await;
    let orphans = if case.join("databases").is_dir() { Orphans::OfTheseNamespaces } else { Orphans::OfTheseDatabases };
    let policy = Policy { secrets_read, orphans, ..policy(server) };
    let dump = Read { objects: live.objects, broken: live.broken, ..Read::default() };
    let identities = wanted
        .iter()
        .flat_map(|database| &database.objects)
        .map(|object| (object.kind.clone(), object.namespace.clone(), object.name.clone()))
        .collect();
    let live = LiveSet::of_dump("the server".to_owned(), dump, &identities, secrets_read);
    let mut comparison = Comparison::new(&live, &policy);
    for database in &wanted {
        comparison.add(&Desired {
            plan: Some(&database.plan),
            base: None,
            namespace,
            name: &database.plan.name,
            objects: &database.objects,
            origin: None,
        });
    }
    let names_writers = events.iter().any(|event| matches!(event, Event::Patch { by: Some(_), .. }));
    (comparison.finish(Vec::new()), names_writers)
}

/// Kubernetes makes the claims of the members a moment later; what the cases say of them needs all of them.
async fn claims_are_there(server: &Server, database: &Case, replicas: u64) {
    let kind = KINDS.iter().find(|kind| kind.kind == "PersistentVolumeClaim").unwrap();
    let end = Instant::now() + Duration::from_secs(60);
    loop {
        let list =
            server.send("GET", &kind.path(Some(&database.plan.namespace)), "application/json", &Value::Null).await;
        let list = list.ok().unwrap();
        let start = format!("data-{}-", database.plan.name);
        let names =
            list["items"].as_array().into_iter().flatten().filter_map(|claim| claim["metadata"]["name"].as_str());
        if names.filter(|name| name.starts_with(&start)).count() as u64 >= replicas {
            return;
        }
        assert!(Instant::now() < end, "{}: no claims of {}", server.minor, database.plan.name);
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

async fn carry_out(server: &Server, database: &Case, event: &Event) {
    let namespace = &database.plan.namespace;
    match event {
        Event::Create(object) => {
            let mut object = object.clone();
            if object["metadata"].get("namespace").is_some() {
                object["metadata"]["namespace"] = json!(namespace);
            }
            server.apply(&object).await.ok().unwrap_or_else(|error| panic!("{object}: {error}"));
        }
        Event::Delete { kind, name } => {
            let path = servers::path_of(&identity(database, kind, name));
            let body = json!({"propagationPolicy": "Background"});
            server.send("DELETE", &path, "application/json", &body).await.ok().unwrap();
            gone(server, &identity(database, kind, name)).await;
        }
        Event::Patch { kind, name, by: Some(by), operations } if by.operation == "Apply" => {
            apply_as(server, database, &identity(database, kind, name), by, operations).await;
        }
        Event::Patch { kind, name, by, operations } => {
            let manager = by.as_ref().map_or("somebody", |by| &by.manager);
            let subresource =
                by.as_ref().and_then(|by| by.subresource.as_deref()).map(|name| format!("/{name}")).unwrap_or_default();
            let object = identity(database, kind, name);
            let path = format!("{}{subresource}?fieldManager={manager}", servers::path_of(&object));
            let answer =
                server.send("PATCH", &path, "application/json-patch+json", &Value::from(operations.clone())).await;
            if answer.code == 422 {
                made_again(server, &object, operations).await;
            } else {
                answer.ok().unwrap_or_else(|error| panic!("{kind} {name} {operations:?}: {error}"));
            }
        }
    }
}

fn identity(database: &Case, kind: &str, name: &str) -> Value {
    let rendered = database.objects.iter().find(|object| object.kind == kind && happened::matches(&object.name, name));
    let (api_version, name) = match rendered {
        Some(object) => (object.api_version.clone(), object.name.clone()),
        None => (KINDS.iter().find(|known| known.kind == kind).unwrap().api_version.to_owned(), name.to_owned()),
    };
    json!({"apiVersion": api_version, "kind": kind, "metadata": {"name": name, "namespace": database.plan.namespace}})
}

/// What a server does not let change can differ all the same: somebody has deleted the object and made it again.
async fn made_again(server: &Server, object: &Value, operations: &[Value]) {
    let mut stored = server.get(object).await.ok().unwrap();
    for operation in operations {
        happened::apply(&mut stored, operation).unwrap();
    }
    for field in ["uid", "resourceVersion", "managedFields", "creationTimestamp", "generation"] {
        stored["metadata"].as_object_mut().unwrap().shift_remove(field);
    }
    stored.as_object_mut().unwrap().shift_remove("status");
    if object["kind"] == "Job" {
        // A server makes these up for each Job.
        stored["spec"].as_object_mut().unwrap().shift_remove("selector");
        if let Some(labels) = stored.pointer_mut("/spec/template/metadata/labels").and_then(Value::as_object_mut) {
            labels.retain(|label, _| !label.contains("controller-uid") && !label.contains("job-name"));
        }
    }
    let path = servers::path_of(object);
    server.send("DELETE", &path, "application/json", &json!({"propagationPolicy": "Orphan"})).await.ok().unwrap();
    gone(server, object).await;
    let collection = path.rsplit_once('/').unwrap().0;
    let answer = server.send("POST", collection, "application/json", &stored).await;
    answer.ok().unwrap_or_else(|error| panic!("{object}: {error}"));
}

async fn gone(server: &Server, object: &Value) {
    let end = Instant::now() + Duration::from_secs(60);
    while server.get(object).await.code != 404 {
        assert!(Instant::now() < end, "{}: {object} does not go", server.minor);
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// Server-side apply of these fields: over everything that was rendered when it is our own manager, else of them alone.
async fn apply_as(server: &Server, database: &Case, object: &Value, by: &Writer, operations: &[Value]) {
    let rendered = database
        .objects
        .iter()
        .find(|other| object["kind"] == other.kind.as_str() && object["metadata"]["name"] == other.name.as_str());
    let mut body = match rendered {
        Some(rendered) if by.manager == "dbrender" => rendered.value.clone(),
        _ => object.clone(),
    };
    for operation in operations {
        let path = operation["path"].as_str().unwrap();
        let mut at = &mut body;
        for step in path.split('/').skip(1) {
            at = &mut at[step.replace("~1", "/")];
        }
        *at = operation["value"].clone();
    }
    let path = format!("{}?fieldManager={}&force=true", servers::path_of(object), by.manager);
    server.send("PATCH", &path, "application/apply-patch+yaml", &body).await.ok().unwrap();
}
