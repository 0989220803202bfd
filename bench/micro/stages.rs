//! The stages of one Database, each by itself: reading, checking, rendering, writing, reading what a cluster holds, comparing.
//!
//! `bench/micro/run` runs it. Each figure is of one Database with three members and backups, of one engine.

use std::hint::black_box;
use std::sync::LazyLock;

use criterion::Criterion;
use dbrender::check::{Ground, check};
use dbrender::diff::{Desired, Identities, LiveSet, Minor, Orphans, Policy, Read, Verdict, as_stored, compare};
use dbrender::input::{Declared, Schemas, Source, parse};
use dbrender::plan::Plan;
use dbrender::problem::Problems;
use dbrender::render::{Object, Printer, render};
use serde_json::{Value, json};

const DATABASES: [(&str, &str); 3] = [
    ("postgresql", include_str!("../../fixtures/render/postgresql-automatic-3-backup/database.yaml")),
    ("mysql", include_str!("../../fixtures/render/mysql-automatic-3-backup/database.yaml")),
    ("mongodb", include_str!("../../fixtures/render/mongodb-3-backup/database.yaml")),
];

static SCHEMAS: LazyLock<Schemas> = LazyLock::new(Schemas::new);

fn read(text: &str) -> Declared {
    let source = Source { name: "database.yaml".to_owned(), text: text.to_owned() };
    let mut problems = Problems::new();
    let mut parsed = parse(0, &source, &SCHEMAS, &mut problems);
    assert!(!problems.has_errors(), "{problems:?}");
    parsed.databases.pop().expect("the file holds one Database")
}

fn plan(declared: &Declared) -> Plan {
    check(&declared.database, &Ground::default(), Some("production")).plan.expect("it is valid")
}

fn print(plan: &Plan) -> usize {
    let mut bytes = 0;
    let printed: Result<(), ()> = Printer::default().print(&render(plan), |object| {
        bytes += object.head.len() + object.tail.map_or(0, |tail| tail.len());
        Ok(())
    });
    assert_eq!(printed, Ok(()));
    bytes
}

/// What `kubectl get -o json` prints of what was just applied.
fn dump(objects: &[Object]) -> Vec<u8> {
    let items: Vec<Value> = objects.iter().map(|object| as_stored(&object.value, Minor::NEWEST)).collect();
    serde_json::to_vec_pretty(&json!({"apiVersion": "v1", "kind": "List", "items": items})).expect("values are JSON")
}

fn look(text: &[u8], objects: &[Object]) -> LiveSet {
    let wanted: Identities = objects
        .iter()
        .map(|object| (object.kind.clone(), object.namespace.clone(), object.name.clone()))
        .collect();
    LiveSet::of_dump("file live.json".to_owned(), Read::json(text, None), &wanted, true)
}

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    for (engine, text) in DATABASES {
        let declared = read(text);
        let plan = plan(&declared);
        let objects = render(&plan).objects();
        let text_of_dump = dump(&objects);
        let live = look(&text_of_dump, &objects);
        let desired = Desired {
            plan: Some(&plan),
            base: None,
            namespace: &plan.namespace,
            name: &plan.name,
            objects: &objects,
            origin: None,
        };
        let policy = Policy { secrets_read: true, kubernetes: Minor::NEWEST, orphans: Orphans::Everywhere };
        let report = compare(&[desired], &live, &policy);
        assert_ne!(report.verdict(Default::default()), Verdict::Incomplete, "{:?}", report.problems);

        let mut stage = |name: &str, work: &mut dyn FnMut()| {
            criterion.bench_function(&format!("{name}/{engine}"), |bencher| bencher.iter(&mut *work));
        };
        stage("read", &mut || drop(black_box(read(black_box(text)))));
        stage("check", &mut || drop(black_box(check(&declared.database, &Ground::default(), Some("production")))));
        stage("render", &mut || drop(black_box(render(black_box(&plan)))));
        stage("render and write", &mut || {
            black_box(print(black_box(&plan)));
        });
        stage("read what a cluster holds", &mut || drop(black_box(look(black_box(&text_of_dump), &objects))));
        stage("compare", &mut || drop(black_box(compare(&[desired], black_box(&live), &policy))));
    }
    criterion.final_summary();
}
