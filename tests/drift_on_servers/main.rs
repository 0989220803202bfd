//! The tables of `diff` against real API servers and their controllers: what they fill in is no drift, what they let
//! somebody change is found, and what they refuse to change was predicted.

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

#[path = "../happened/mod.rs"]
mod happened;
#[path = "happened.rs"]
mod in_fixtures;
#[path = "../mutation/mod.rs"]
mod mutation;
mod only_get;
#[path = "../plans/mod.rs"]
mod plans;
#[path = "../servers/mod.rs"]
mod servers;
mod webhook;

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use dbrender::api;
use dbrender::diff::{
    Bucket, Change, Comparison, Desired, FailOn, Impact, KINDS, LiveSet, Minor, Orphans, Policy, Read, Report, Verdict,
    defaults,
};
use dbrender::engine;
use dbrender::plan::Plan;
use dbrender::render::Object;
use mutation::{is_at, mutations};
use plans::Case;
use serde_json::{Map, Value, json};
use servers::Server;

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap()
}

fn policy(server: &Server) -> Policy {
    let kubernetes = Minor::parse(&server.minor).unwrap();
    Policy { secrets_read: true, kubernetes, orphans: Orphans::Everywhere }
}

fn compare(plan: &Plan, objects: &[Object], live: &LiveSet, server: &Server) -> Report {
    let policy = policy(server);
    let mut comparison = Comparison::new(live, &policy);
    comparison.add(&Desired {
        plan: Some(plan),
        base: None,
        namespace: &plan.namespace,
        name: &plan.name,
        objects,
        origin: None,
    });
    comparison.finish(Vec::new())
}

fn changes(report: &Report) -> Vec<&Change> {
    let objects = report.databases.iter().flat_map(|database| &database.objects);
    objects.flat_map(|object| &object.changes).filter(|change| change.bucket != Bucket::Ignored).collect()
}

async fn prepared() -> Vec<Server> {
    let servers = servers::all().await;
    for server in &servers {
        prepare(server).await;
    }
    servers
}

async fn prepare(server: &Server) {
    let stand_ins = include_str!("../servers/stand-in-crds.yaml");
    let (documents, errors) = dbrender::yaml::read_stream(stand_ins, &dbrender::yaml::Limits::default());
    assert!(errors.is_empty());
    server.define(&api::crd()).await;
    for document in &documents {
        server.define(&document.root.to_json()).await;
    }
}

/// One of several servers.
struct Turn {
    server: Server,
    number: usize,
    of: usize,
}

/// Does the same on every server at once, each in a thread and a runtime of its own: most of the time is theirs.
fn on_each<T: Send>(work: impl AsyncFn(&Turn) -> T + Sync) -> Vec<T> {
    let of = runtime().block_on(servers::all()).len();
    std::thread::scope(|scope| {
        let one = |number: usize| {
            let work = &work;
            scope.spawn(move || {
                runtime().block_on(async {
                    let server = servers::all().await.remove(number);
                    prepare(&server).await;
                    work(&Turn { server, number, of }).await
                })
            })
        };
        let threads: Vec<_> = (0..of).map(one).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}

/// Applies a Database as `kubectl apply --server-side` would, and fills its Secrets as the credentials Job would.
async fn apply(server: &Server, case: &Case) {
    server.namespace(&case.plan.namespace).await;
    for object in &case.objects {
        server.apply(&object.value).await.ok().unwrap_or_else(|error| panic!("{} {}: {error}", case.name, object.kind));
    }
    for secret in plans::secrets_of_others(&case.plan) {
        server.apply(&secret).await.ok().unwrap();
    }
    let engine = engine::by_name(case.plan.engine).unwrap();
    let secrets = [(case.plan.app_secret(), engine.app_keys()), (case.plan.admin_secret(), engine.admin_keys())];
    for (name, keys) in secrets {
        if !case.objects.iter().any(|object| object.kind == "Secret" && object.name == name) {
            continue;
        }
        let data: Map<String, Value> = keys.iter().map(|key| (key.key().to_owned(), json!("aHVudGVyMg=="))).collect();
        let path =
            format!("/api/v1/namespaces/{}/secrets/{name}?fieldManager=dbrender-credentials", case.plan.namespace);
        let patch = json!({"data": data});
        server.send("PATCH", &path, "application/merge-patch+json", &patch).await.ok().unwrap();
    }
}

/// Everything in a namespace, as `diff` would list it.
async fn read(server: &Server, namespace: &str) -> LiveSet {
    let mut live = LiveSet { source: server.minor.clone(), ..LiveSet::default() };
    for kind in KINDS {
        let mut list =
            server.send("GET", &kind.path(Some(namespace)), "application/json", &Value::Null).await.ok().unwrap();
        list["kind"] = json!(format!("{}List", kind.kind));
        let mut read = Read::default();
        read.push(list);
        live.add(read);
    }
    live
}

/// If this fails, somebody is told of a drift on the day of the installation. RD-38, RD-39, RD-40, RD-41, RD-46.
#[test]
fn what_was_just_applied_is_in_sync() {
    let found = on_each(async |Turn { server, .. }| {
        let mut failures = Vec::new();
        let mut compared = 0;
        let cases = plans::all(|number| Some(format!("drift-{number}")));
        // Just applied, and again when the controllers have had their say on all of them.
        for is_new in [true, false] {
            for case in &cases {
                if is_new {
                    apply(server, case).await;
                }
                let report = compare(&case.plan, &case.objects, &read(server, &case.plan.namespace).await, server);
                compared += report.summary.in_sync;
                for change in changes(&report) {
                    failures.push(format!("{} {}: {change:?}", server.minor, case.name));
                }
                if report.verdict(FailOn::Foreign) != Verdict::InSync {
                    failures.push(format!("{} {}: {:?}", server.minor, case.name, report.summary));
                }
            }
        }
        (compared, failures)
    });
    let failures: Vec<String> = found.iter().flat_map(|(_, failures)| failures.clone()).collect();
    println!("{} objects in sync", found.iter().map(|(compared, _)| compared).sum::<u64>());
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// Cases that between them have every object and field, for the tests that ask a server once for every leaf.
const WIDE: [&str; 4] =
    ["postgresql-automatic-3-backup", "postgresql-manual-tls", "postgresql-scheduling", "postgresql-monitoring"];

fn wide(prefix: &str) -> impl Iterator<Item = Case> {
    plans::all(move |number| Some(format!("{prefix}-{number}")))
        .into_iter()
        .filter(|case| WIDE.contains(&case.name.as_str()))
}

/// What a server keeps although an update leaves it out.
const KEPT: [(&str, &str); 1] = [("Service", "/spec/clusterIP")];

/// If this fails, a change that a server accepts from somebody's hand is never seen. RD-44, RD-52.
///
/// Every second leaf, and the servers share those; with DBRENDER_EVERY_LEAF each server is asked for all, as in
/// `make test-more`: 5,758 changes that were accepted and 3,934 that were refused, on two servers, and none missed.
#[test]
fn every_leaf_that_a_server_lets_somebody_change_is_reported_at_its_path() {
    let shares = std::env::var_os("DBRENDER_EVERY_LEAF").is_none();
    let found = on_each(async |Turn { server, number, of }| {
        let (mut accepted, mut refused) = (0, 0);
        let mut missed = Vec::new();
        let mut filled = BTreeSet::new();
        let known: BTreeSet<(String, String)> = defaults(Minor::parse(&server.minor).unwrap())
            .into_iter()
            .map(|default| (default.kind.to_owned(), default.path))
            .collect();
        let mut seen = BTreeSet::new();
        for case in wide("leaf") {
            apply(server, &case).await;
            for object in &case.objects {
                // Most cases share most objects.
                if !seen.insert(object.value.to_string().replace(&case.plan.namespace, "")) {
                    continue;
                }
                let stored = server.get(&object.value).await.ok().unwrap();
                let mutations = mutations(&object.value, &stored).into_iter().enumerate();
                for (_, (mutation, changed)) in mutations.filter(|(leaf, _)| !shares || leaf / 2 % (2 * of) == *number)
                {
                    let Ok(answer) = server.try_replace(&changed).await.ok() else {
                        refused += 1;
                        continue;
                    };
                    accepted += 1;
                    let mut live = LiveSet::default();
                    let mut read = Read::default();
                    read.push(answer.clone());
                    live.add(read);
                    let policy = policy(server);
                    let mut comparison = Comparison::new(&live, &policy);
                    comparison.add(&Desired {
                        plan: None,
                        base: None,
                        namespace: &case.plan.namespace,
                        name: &case.plan.name,
                        objects: std::slice::from_ref(object),
                        origin: None,
                    });
                    let report = comparison.finish(Vec::new());
                    if changes(&report).iter().any(|change| is_at(&change.path, &mutation)) {
                        continue;
                    }
                    // The server has put it back.
                    let place = (object.kind.clone(), mutation.pattern());
                    let is_back = answer.pointer(&mutation.pointer()) == stored.pointer(&mutation.pointer());
                    let is_known = known.contains(&place)
                        || known.contains(&(place.0.clone(), place.1.trim_end_matches("/*").to_owned()))
                        || KEPT.contains(&(&place.0, &place.1));
                    if is_back && (is_known || mutation.what == "changed") {
                        filled.insert(place);
                    } else {
                        missed.push(format!(
                            "{} {} {} {}: {mutation}",
                            server.minor, case.name, object.kind, object.name
                        ));
                    }
                }
            }
        }
        (accepted, refused, missed, filled)
    });
    let (mut accepted, mut refused, mut missed, mut filled) = (0, 0, Vec::new(), BTreeSet::new());
    for (more_accepted, more_refused, more_missed, more_filled) in found {
        accepted += more_accepted;
        refused += more_refused;
        missed.extend(more_missed);
        filled.extend(more_filled);
    }
    println!("{accepted} accepted, {refused} refused; put back by the server: {filled:?}");
    assert!(missed.is_empty(), "{} missed:\n{}", missed.len(), missed[..missed.len().min(60)].join("\n"));
    assert!(accepted > if shares { 800 } else { 2000 }, "only {accepted} accepted");
}

/// Kind, name, and the values by their places.
type Intent = (&'static str, &'static str, Vec<(&'static str, Value)>);

/// What is changed in what is rendered, with what a server says to it.
fn changes_of_intent() -> Vec<Intent> {
    vec![
        ("StatefulSet", "order-db", vec![("/spec/serviceName", json!("other"))]),
        ("StatefulSet", "order-db", vec![("/spec/podManagementPolicy", json!("OrderedReady"))]),
        (
            "StatefulSet",
            "order-db",
            vec![("/spec/selector/matchLabels/x", json!("y")), ("/spec/template/metadata/labels/x", json!("y"))],
        ),
        (
            "StatefulSet",
            "order-db",
            vec![("/spec/volumeClaimTemplates/0/spec/resources/requests/storage", json!("900Gi"))],
        ),
        (
            "StatefulSet",
            "order-db",
            vec![("/spec/volumeClaimTemplates/0/spec/resources/requests/storage", json!("1Gi"))],
        ),
        ("StatefulSet", "order-db", vec![("/spec/volumeClaimTemplates/0/spec/storageClassName", json!("other"))]),
        (
            "StatefulSet",
            "order-db",
            vec![("/spec/volumeClaimTemplates/0/spec/accessModes/0", json!("ReadWriteOncePod"))],
        ),
        ("StatefulSet", "order-db", vec![("/spec/volumeClaimTemplates/0/metadata/name", json!("other"))]),
        ("StatefulSet", "order-db", vec![("/spec/minReadySeconds", json!(3))]),
        ("StatefulSet", "order-db", vec![("/spec/revisionHistoryLimit", json!(3))]),
        ("StatefulSet", "order-db", vec![("/spec/persistentVolumeClaimRetentionPolicy/whenScaled", json!("Delete"))]),
        ("StatefulSet", "order-db", vec![("/spec/updateStrategy/rollingUpdate/partition", json!(1))]),
        ("StatefulSet", "order-db", vec![("/spec/replicas", json!(5))]),
        ("StatefulSet", "order-db", vec![("/spec/template/spec/terminationGracePeriodSeconds", json!(5))]),
        (
            "StatefulSet",
            "order-db",
            vec![
                ("/spec/template/spec/containers/0/resources/limits/cpu", json!("3")),
                ("/spec/template/spec/containers/0/resources/requests/cpu", json!("3")),
            ],
        ),
        ("StatefulSet", "order-db", vec![("/metadata/labels/app.kubernetes.io~1version", json!("0"))]),
        ("Service", "order-db", vec![("/spec/clusterIP", json!("None"))]),
        ("Service", "order-db", vec![("/spec/type", json!("NodePort"))]),
        ("Service", "order-db", vec![("/spec/selector/x", json!("y"))]),
        ("Service", "order-db", vec![("/spec/ports/0/port", json!(1))]),
        ("RoleBinding", "order-db", vec![("/roleRef/name", json!("other"))]),
        ("RoleBinding", "order-db", vec![("/subjects/0/name", json!("other"))]),
        ("Role", "order-db", vec![("/rules/0/verbs/0", json!("get"))]),
        ("Secret", "order-db-app", vec![("/type", json!("Opaque"))]),
        ("Secret", "order-db-app", vec![("/data/port", json!("MQ=="))]),
        ("ConfigMap", "order-db-config", vec![("/data/replicas", json!("9"))]),
        ("PersistentVolumeClaim", "order-db-backup", vec![("/spec/accessModes/0", json!("ReadWriteOncePod"))]),
        ("PersistentVolumeClaim", "order-db-backup", vec![("/spec/resources/requests/storage", json!("1Mi"))]),
        ("PersistentVolumeClaim", "order-db-backup", vec![("/spec/storageClassName", json!("other"))]),
        ("CronJob", "order-db-backup", vec![("/spec/schedule", json!("1 1 1 1 1"))]),
        (
            "CronJob",
            "order-db-backup",
            vec![("/spec/jobTemplate/spec/template/spec/terminationGracePeriodSeconds", json!(3))],
        ),
        ("CronJob", "order-db-backup", vec![("/spec/jobTemplate/spec/backoffLimit", json!(3))]),
        ("PodDisruptionBudget", "order-db", vec![("/spec/maxUnavailable", json!(2))]),
        ("PodDisruptionBudget", "order-db", vec![("/spec/selector/matchLabels/x", json!("y"))]),
        ("NetworkPolicy", "order-db", vec![("/spec/podSelector/matchLabels/x", json!("y"))]),
        ("ServiceAccount", "order-db", vec![("/automountServiceAccountToken", json!(true))]),
        ("Job", "order-db-credentials-*", vec![("/spec/template/spec/terminationGracePeriodSeconds", json!(3))]),
        ("Job", "order-db-credentials-*", vec![("/spec/completions", json!(3))]),
        ("Job", "order-db-credentials-*", vec![("/spec/backoffLimit", json!(3))]),
    ]
}

fn put(value: &mut Value, pointer: &str, new: &Value) {
    let (parent, key) = pointer.rsplit_once('/').unwrap();
    match value.pointer_mut(parent).unwrap() {
        Value::Array(items) => items[key.parse::<usize>().unwrap()] = new.clone(),
        Value::Object(map) => {
            map.insert(key.replace("~1", "/"), new.clone());
        }
        other => panic!("{other} holds nothing"),
    }
}

/// If this fails, an apply is refused that was called harmless, or a procedure is printed that nobody needs. RD-59 to
/// RD-62, RD-64.
#[test]
fn what_a_server_refuses_to_change_was_predicted() {
    let found = on_each(async |Turn { server, .. }| {
        let mut failures = Vec::new();
        let mut refused = 0;
        let case = plans::all(|number| Some(format!("intent-{number}")))
            .into_iter()
            .find(|case| case.name == "order-db")
            .unwrap();
        apply(server, &case).await;
        let is_bound = async || {
            let claim = case.objects.iter().find(|object| object.kind == "PersistentVolumeClaim").unwrap();
            server.get(&claim.value).await.ok().unwrap()["status"]["phase"] == "Bound"
        };
        // Only a bound claim can grow. Without a storage class none is ever bound.
        let classes = server.send("GET", "/apis/storage.k8s.io/v1/storageclasses", "application/json", &Value::Null);
        let binds = classes.await.ok().unwrap()["items"]
            .as_array()
            .is_some_and(|classes| classes.iter().any(|class| class["metadata"]["name"] == "standard"));
        let end = Instant::now() + Duration::from_secs(if binds { 60 } else { 0 });
        while !is_bound().await && Instant::now() < end {
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        let live = read(server, &case.plan.namespace).await;
        for (kind, name, edits) in changes_of_intent() {
            let what = format!("{} {kind} {edits:?}", server.minor);
            let object = case
                .objects
                .iter()
                .find(|object| object.kind == kind && object.name.starts_with(name.trim_end_matches('*')))
                .unwrap_or_else(|| panic!("no {kind} {name}"));
            let mut intended = object.clone();
            let mut stored = server.get(&object.value).await.ok().unwrap();
            for (pointer, value) in &edits {
                put(&mut intended.value, pointer, value);
                put(&mut stored, pointer, value);
            }
            let answer = server.try_replace(&stored).await;
            let is_refused = answer.ok().is_err();
            refused += usize::from(is_refused);
            let report = compare(&case.plan, std::slice::from_ref(&intended), &live, server);
            let compared = &report.databases[0].objects[0];
            let is_predicted = compared.impact >= Impact::RecreateOrphan;
            if is_refused != is_predicted || changes(&report).is_empty() {
                failures.push(format!("{what}: refused {is_refused}, predicted {compared:#?}"));
            }
        }
        (refused, failures)
    });
    let failures: Vec<String> = found.iter().flat_map(|(_, failures)| failures.clone()).collect();
    println!("{} refused", found.iter().map(|(refused, _)| refused).sum::<usize>());
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
