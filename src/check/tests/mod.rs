//! Tables of Databases and the problems that they get, with the Plan of those that get none.

use std::collections::BTreeMap;

use serde_json::{Value, json};

mod platform;

use super::{Checked, Ground, Written, check, ground, together, update};
use crate::api::{Database, PlatformSettings};
use crate::plan::{Credentials, Destination, ForcePrimary, Profile};
use crate::problem::{Problem, Problems};
use crate::render;

/// A small Database with `changes` laid over it.
fn database(changes: &Value) -> Database {
    let mut value = json!({
        "apiVersion": "app.example.com/v1alpha1",
        "kind": "Database",
        "metadata": {"name": "shop", "namespace": "demo"},
        "spec": {"engine": "postgresql", "version": "16", "storage": {"size": "10Gi"}},
    });
    lay_over(&mut value, changes);
    serde_json::from_value(value).expect("the Database has the types of the schema")
}

fn lay_over(base: &mut Value, changes: &Value) {
    match (base, changes) {
        (Value::Object(base), Value::Object(changes)) => {
            for (key, change) in changes {
                lay_over(base.entry(key.clone()).or_insert(Value::Null), change);
            }
        }
        (base, change) => *base = change.clone(),
    }
}

fn platform(settings: &Value) -> (Option<Ground>, Vec<String>) {
    let settings: PlatformSettings =
        serde_json::from_value(settings.clone()).expect("the settings have the types of the schema");
    let mut out = Problems::new();
    let found = ground(&settings, &mut out);
    (found, lines(&out))
}

fn ground_of(settings: &Value) -> Ground {
    let (ground, problems) = platform(settings);
    ground.unwrap_or_else(|| panic!("{problems:?}"))
}

/// `CODE path message`.
fn lines(problems: &Problems) -> Vec<String> {
    problems.iter().map(|p: &Problem| format!("{} {} {}", p.code.id(), p.path, p.message)).collect()
}

fn run(changes: &Value) -> Checked {
    check(&database(changes), &Ground::default(), None)
}

#[track_caller]
fn expect(found: &[String], expected: &[&str], input: &Value) {
    let good = found.len() == expected.len()
        && found.iter().zip(expected).all(|(found, expected)| found.starts_with(expected));
    assert!(good, "{input}\nfound    {found:#?}\nexpected {expected:#?}");
}

#[test]
fn the_smallest_database_becomes_a_plan() {
    let checked = run(&json!({}));
    assert_eq!(lines(&checked.problems), Vec::<String>::new());
    let plan = checked.plan.expect("a plan");
    assert_eq!((plan.name.as_str(), plan.namespace.as_str(), plan.replicas), ("shop", "demo", 1));
    assert_eq!((plan.version.series.as_str(), plan.profile), ("16", Profile::Automatic));
    assert!(plan.images.server.starts_with("ghcr.io/dbrender/postgresql:16."), "{}", plan.images.server);
    assert_eq!(plan.storage.size.canonical(), "10Gi");
    assert_eq!(plan.storage.class, "standard");
    assert_eq!(plan.credentials, Credentials::Generated { job: true });
    assert!(matches!(&plan.backup.destination, Destination::Volume(volume) if volume.size.canonical() == "100Gi"));
    assert_eq!(plan.scheduling.topology_keys, ["kubernetes.io/hostname", "topology.kubernetes.io/zone"]);
    assert!(plan.access.is_some() && plan.monitoring.is_none() && plan.restore.is_none());
}

#[test]
fn each_rule_has_its_code_and_says_what_is_wrong() {
    let long = "a".repeat(46);
    for (changes, expected) in [
        // RD-31..RD-34, RD-92, OP-47, OP-48.
        (
            json!({"metadata": {"name": long}}),
            &[
                "DBR301 metadata.name the name \"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\" must have at most 45 characters, it has 46",
            ][..],
        ),
        (json!({"metadata": {"name": "a".repeat(45)}}), &[]),
        (
            json!({"metadata": {"name": "2024-sales"}}),
            &["DBR301 metadata.name the name \"2024-sales\" must start with a lower-case letter"],
        ),
        (json!({"metadata": {"name": "shop.v2"}}), &["DBR301 "]),
        (json!({"metadata": {"name": "Shop"}}), &["DBR301 "]),
        (json!({"metadata": {"name": "shop-"}}), &["DBR301 "]),
        (
            json!({"metadata": {"name": "../../etc/x", "namespace": "a/b"}}),
            &["DBR301 ", "DBR303 metadata.namespace the namespace \"a/b\" must have lower-case"],
        ),
        // RD-91.
        (json!({"metadata": {"namespace": null}}), &["DBR302 metadata.namespace the Database has no namespace"]),
        (
            json!({"metadata": {"labels": {"a b": "c", "x": "-"}}}),
            &[
                "DBR374 metadata.labels.a b the label key \"a b\" must have letters",
                "DBR374 metadata.labels.x the value of label x must",
            ],
        ),
        (
            json!({"metadata": {"labels": {"app.example.com/database": "x"}}}),
            &["DBR305 metadata.labels[app.example.com/database]"],
        ),
        (
            json!({"metadata": {"annotations": {"app.example.com/force-primry": "1/1"}}}),
            &["DBR376 metadata.annotations[app.example.com/force-primry] dbrender knows no annotation"],
        ),
        (
            json!({"metadata": {"annotations": {"x": "a\u{7}b"}}}),
            &["DBR378 metadata.annotations.x the value holds the character U+0007"],
        ),
        (
            json!({"spec": {"engine": "mongodb", "version": "8.0"}}),
            &["DBR314 spec.engine what runs in the pods of MongoDB has not run on its server"],
        ),
        (
            json!({"spec": {"engine": "mysql", "version": "8.4"}}),
            &[
                "DBR312 spec.engine this dbrender cannot render MySQL 8.4 with failover: Automatic yet; it renders postgresql",
            ],
        ),
        (
            json!({"spec": {"engine": "mysql", "version": "8.0"}}),
            &["DBR311 spec.version edition 1 of the catalog has no MySQL \"8.0\"; it has 8.4 (8.4.11), 9.7 ("],
        ),
        (
            json!({"spec": {"version": "9"}}),
            &["DBR311 spec.version edition 1 of the catalog has no PostgreSQL \"9\"; it has 15 ("],
        ),
        (json!({"spec": {"version": "16.3"}}), &["DBR311 "]),
        (json!({"spec": {"version": "15"}}), &["DBR313 spec.version PostgreSQL 15 gets no more fixes after 2027-11"]),
        // OP-62.
        (
            json!({"spec": {"storage": {"size": "100GB"}}}),
            &["DBR321 spec.storage.size storage.size must be a whole number of Gi or Ti, found \"100GB\""],
        ),
        (json!({"spec": {"storage": {"size": "0Gi"}}}), &["DBR321 spec.storage.size storage.size must be above zero"]),
        (
            json!({"spec": {"storage": {"size": "99999999999Ti"}}}),
            &["DBR321 spec.storage.size storage.size 99999999999Ti is too large"],
        ),
        (json!({"spec": {"storage": {"size": "007Gi"}}}), &[]),
        (json!({"spec": {"storage": {"storageClass": "Fast SSD"}}}), &["DBR371 spec.storage.storageClass"]),
        (json!({"spec": {"storage": {"storageClass": ""}}}), &[]),
        // RD-20, RD-22.
        (
            json!({"spec": {"resources": {"memory": "1gb"}}}),
            &["DBR331 spec.resources.memory resources.memory \"1gb\" is not a number"],
        ),
        (
            json!({"spec": {"resources": {"memory": "512m"}}}),
            &["DBR332 spec.resources.memory resources.memory 512m is no number of bytes"],
        ),
        (
            json!({"spec": {"resources": {"cpu": "1Gi"}}}),
            &["DBR332 spec.resources.cpu resources.cpu 1Gi is no number of cores"],
        ),
        (json!({"spec": {"resources": {"cpu": "0"}}}), &["DBR332 "]),
        (json!({"spec": {"resources": {"cpu": "-1"}}}), &["DBR332 "]),
        (json!({"spec": {"resources": {"cpu": "0.1m"}}}), &["DBR332 "]),
        (json!({"spec": {"resources": {"memory": "1E"}}}), &["DBR332 "]),
        (json!({"spec": {"resources": {"cpu": "0.5", "memory": "1e9"}}}), &[]),
        // RD-25.
        (json!({"spec": {"backup": {"schedule": "CRON_TZ=Asia/Seoul 0 2 * * *"}}}), &["DBR342 spec.backup.schedule"]),
        (
            json!({"spec": {"backup": {"timeZone": "europe/berlin"}}}),
            &["DBR344 spec.backup.timeZone \"europe/berlin\" is no time zone"],
        ),
        (
            json!({"spec": {"backup": {"retention": 0}}}),
            &["DBR345 spec.backup.retention backup.retention must be 1 or more, found 0"],
        ),
        (
            json!({"spec": {"backup": {"destination": "volumes"}}}),
            &[
                "DBR346 spec.backup.destination backup.destination \"volumes\" is none of the platform's destinations: volume",
            ],
        ),
        (
            json!({"spec": {"backup": {"enabled": false}}}),
            &["DBR347 spec.backup.enabled backup.enabled: false: no backups are made"],
        ),
        (json!({"spec": {"backup": {"suspend": true}}}), &["DBR347 spec.backup.suspend"]),
        (json!({"spec": {"hibernate": true}}), &["DBR347 spec.hibernate"]),
        (json!({"spec": {"primary": 0}}), &["DBR352 spec.primary primary: 0 is set and the members elect"]),
        (
            json!({"spec": {"failover": "Manual", "replicas": 3, "primary": 3}}),
            &[
                "DBR355 spec.failover",
                "DBR353 spec.primary primary: 3 is none of the 3 members; their ordinals are 0 to 2",
            ],
        ),
        (json!({"spec": {"failover": "Manual"}}), &[]),
        (
            json!({"spec": {"engine": "mongodb", "failover": "Manual"}}),
            &["DBR311 spec.version", "DBR351 spec.failover mongodb always elects its primary"],
        ),
        (
            json!({"spec": {"database": "postgres", "version": "x", "resources": {"memory": "1Mi"}}}),
            &["DBR311 ", "DBR361 spec.database", "DBR333 spec.resources.memory"],
        ),
        (json!({"spec": {"replicas": 2}}), &["DBR354 spec.replicas with 2 members"]),
        (json!({"spec": {"replicas": 9}}), &["DBR206 spec.replicas"]),
        (
            json!({"spec": {"credentials": {"appSecretName": "A", "adminSecretName": "b"}}}),
            &["DBR371 spec.credentials.appSecretName the name of the Secret \"A\" must"],
        ),
        (
            json!({"spec": {"credentials": {"appSecretName": "a", "adminSecretName": "a"}}}),
            &["DBR371 spec.credentials.adminSecretName"],
        ),
        (json!({"spec": {"tls": {"secretName": "a_b"}}}), &["DBR371 spec.tls.secretName"]),
        (
            json!({"spec": {"bootstrap": {"fromBackup": {"name": "shop"}}}}),
            &["DBR373 spec.bootstrap.fromBackup.name a Database cannot be restored from itself"],
        ),
        (
            json!({"spec": {"bootstrap": {"fromBackup": {"name": "shop", "namespace": "other"}}}}),
            &["DBR373 spec.bootstrap.fromBackup.namespace the backups of namespace other are on a volume there"],
        ),
        (
            json!({"spec": {"bootstrap": {"fromBackup": {"name": "old", "backup": "yesterday"}}}}),
            &["DBR373 spec.bootstrap.fromBackup.backup \"yesterday\" is no id"],
        ),
        (json!({"spec": {"bootstrap": {"fromBackup": {"name": "old", "backup": "20261130T020000Z"}}}}), &[]),
        (
            json!({"spec": {"bootstrap": {"fromBackup": {"name": "old", "pointInTime": "2026-11-30T02:00:00Z"}}}}),
            &[
                "DBR373 spec.bootstrap.fromBackup.pointInTime with failover: Automatic",
                "DBR373 spec.bootstrap.fromBackup.pointInTime backup.destination is a volume",
            ],
        ),
        (
            json!({"spec": {"backup": {"walArchive": true, "enabled": false}}}),
            &[
                "DBR347 ",
                "DBR349 spec.backup.walArchive with failover: Automatic the log is not archived",
                "DBR349 spec.backup.walArchive backup.enabled is false",
                "DBR349 spec.backup.walArchive destination volume is a volume",
            ],
        ),
        (
            json!({"spec": {"access": {"namespaces": {"names": ["ok", "Not"]}}}}),
            &["DBR303 spec.access.namespaces.names[1]"],
        ),
        (
            json!({"spec": {"access": {"namespaces": {"selector": {"matchLabels": {"a": "b c"}}}}}}),
            &["DBR374 spec.access.namespaces.selector.matchLabels.a"],
        ),
        (
            json!({"spec": {"service": {"annotations": {"app.example.com/x": "1"}}}}),
            &["DBR305 spec.service.annotations[app.example.com/x]"],
        ),
        (
            json!({"spec": {"scheduling": {"nodeSelector": {"a/b/c": "x"}, "topologyKeys": ["a", "a"], "priorityClassName": "x y"}}}),
            &[
                "DBR374 spec.scheduling.nodeSelector[a/b/c]",
                "DBR371 spec.scheduling.priorityClassName",
                "DBR374 spec.scheduling.topologyKeys[1]",
            ],
        ),
        (
            json!({"spec": {"scheduling": {"tolerations": [{"operator": "Exists"}, {"key": "a", "value": "b", "effect": "NoExecute", "tolerationSeconds": 3}]}}}),
            &[],
        ),
        (
            json!({"spec": {"scheduling": {"tolerations": [{"operator": "Equal"}, {"key": "a", "operator": "Exists", "value": "b"}, {"key": "a", "operator": "In"}, {"key": "a", "effect": "NoRun"}, {"key": "a", "tolerationSeconds": 3}]}}}),
            &[
                "DBR375 spec.scheduling.tolerations[0].operator",
                "DBR375 spec.scheduling.tolerations[1].value",
                "DBR375 spec.scheduling.tolerations[2].operator",
                "DBR375 spec.scheduling.tolerations[3].effect",
                "DBR375 spec.scheduling.tolerations[4].tolerationSeconds",
            ],
        ),
    ] {
        let checked = run(&changes);
        expect(&lines(&checked.problems), expected, &changes);
        assert_eq!(checked.plan.is_none(), checked.problems.has_errors(), "{changes}");
    }
}

#[test]
fn all_rules_run_whatever_the_first_one_says() {
    let checked = run(&json!({"metadata": {"name": "X", "namespace": null}, "spec": {
        "version": "1", "storage": {"size": "1"}, "resources": {"cpu": "x", "memory": "y"}, "backup": {"retention": 0, "destination": "z"}}}));
    let codes: Vec<_> = checked.problems.iter().map(|p| p.code.id()).collect();
    assert_eq!(codes, ["DBR311", "DBR301", "DBR302", "DBR321", "DBR331", "DBR331", "DBR345", "DBR346"]);
}

#[test]
fn a_flood_of_problems_is_cut_and_stays_an_error() {
    let annotations: BTreeMap<String, String> = (0..500).map(|n| (format!("a{n}"), "\u{7}".to_owned())).collect();
    let labels: BTreeMap<String, String> = (0..500).map(|n| (format!("a{n}"), "-".to_owned())).collect();
    for (metadata, errors) in [(json!({"annotations": annotations}), false), (json!({"labels": labels}), true)] {
        let checked = run(&json!({"metadata": metadata}));
        assert_eq!(checked.problems.len(), 201);
        assert_eq!(checked.plan.is_none(), checked.problems.has_errors());
        assert_eq!(checked.problems.has_errors(), errors);
    }
}

#[test]
fn the_flag_stands_in_for_a_namespace_and_never_against_one() {
    let without = database(&json!({"metadata": {"namespace": null}}));
    let plan = check(&without, &Ground::default(), Some("prod")).plan.expect("a plan");
    assert_eq!(plan.namespace, "prod");
    assert!(check(&database(&json!({})), &Ground::default(), Some("demo")).plan.is_some());
    expect(
        &lines(&check(&database(&json!({})), &Ground::default(), Some("prod")).problems),
        &["DBR306 metadata.namespace"],
        &json!({}),
    );
}

#[test]
fn a_forced_promotion_is_an_ordinal_and_a_timeline() {
    for (value, spec, forced, expected) in [
        ("1/3", json!({"failover": "Manual", "replicas": 3, "primary": 1}), Some((1, 3)), "DBR377"),
        ("2/3", json!({"failover": "Manual", "replicas": 3, "primary": 1}), None, "DBR377"),
        ("1/3", json!({"replicas": 3}), None, "DBR376"),
        ("1", json!({"failover": "Manual", "replicas": 3, "primary": 1}), None, "DBR376"),
        ("1/0", json!({"failover": "Manual", "replicas": 3, "primary": 1}), None, "DBR376"),
        ("+1/1", json!({"failover": "Manual", "replicas": 3, "primary": 1}), None, "DBR376"),
        ("1/99999999999", json!({"failover": "Manual", "replicas": 3, "primary": 1}), None, "DBR376"),
        ("7/1", json!({"failover": "Manual", "replicas": 3, "primary": 1}), None, "DBR376"),
    ] {
        let changes = json!({"metadata": {"annotations": {"app.example.com/force-primary": value}}, "spec": spec});
        let checked = run(&changes);
        let codes: Vec<_> =
            checked.problems.iter().map(|p| p.code.id()).filter(|code| code.starts_with("DBR37")).collect();
        assert_eq!(codes, [expected], "{changes}");
        let found = checked.plan.and_then(|plan| plan.force_primary);
        assert_eq!(found, forced.map(|(ordinal, timeline)| ForcePrimary { ordinal, timeline }), "{changes}");
    }
}

/// RD-36, OP-48.
#[test]
fn databases_that_would_write_the_same_object_are_refused_together() {
    let plan = |name: &str, namespace: &str| {
        run(&json!({"metadata": {"name": name, "namespace": namespace}})).plan.expect("a plan")
    };
    for (one, other, message) in [
        (("shop", "demo"), ("shop", "demo"), Some("Database shop of namespace demo stands twice")),
        (
            ("shop", "demo"),
            ("shop-headless", "demo"),
            Some("Databases shop and shop-headless of namespace demo would both write Service shop-headless"),
        ),
        (
            ("shop-ro", "demo"),
            ("shop", "demo"),
            Some("Databases shop-ro and shop of namespace demo would both write Service shop-ro"),
        ),
        (
            ("shop", "demo"),
            ("shop-credentials", "demo"),
            Some(
                "Databases shop and shop-credentials of namespace demo would both write ServiceAccount shop-credentials",
            ),
        ),
        (("shop", "demo"), ("shop-headless", "other"), None),
        (("shop", "demo"), ("shop-backup", "demo"), None),
        (("shop", "demo"), ("shop2", "demo"), None),
    ] {
        let plans = [plan(one.0, one.1), plan(other.0, other.1)];
        let written: Vec<_> = plans
            .iter()
            .map(|plan| Written { plan, objects: render::names_of(&plan.name, plan.engine), place: None })
            .collect();
        let found: Vec<_> = together(&written).into_iter().map(|p| p.message).collect();
        assert_eq!(found, message.into_iter().collect::<Vec<_>>());
    }
}

#[test]
fn what_may_change() {
    let manual = json!({"spec": {"failover": "Manual", "replicas": 3}});
    let with = |base: &Value, change: Value| {
        let mut value = base.clone();
        lay_over(&mut value, &change);
        value
    };
    let none = json!({});
    for (old, new, expected) in [
        (none.clone(), none.clone(), &[][..]),
        (
            none.clone(),
            json!({"spec": {"engine": "mysql"}}),
            &["DBR401 spec.engine the engine cannot change from postgresql to mysql"],
        ),
        // OP-62.
        (
            none.clone(),
            json!({"spec": {"storage": {"size": "9Gi"}}}),
            &["DBR402 spec.storage.size storage.size cannot shrink from 10Gi to 9Gi"],
        ),
        (json!({"spec": {"storage": {"size": "1024Gi"}}}), json!({"spec": {"storage": {"size": "1Ti"}}}), &[]),
        (json!({"spec": {"storage": {"size": "1Ti"}}}), json!({"spec": {"storage": {"size": "1023Gi"}}}), &["DBR402 "]),
        (none.clone(), json!({"spec": {"storage": {"storageClass": "fast"}}}), &["DBR403 spec.storage.storageClass"]),
        (
            none.clone(),
            json!({"spec": {"version": "15"}}),
            &["DBR404 spec.version PostgreSQL cannot go back from 16 to 15"],
        ),
        (
            none.clone(),
            json!({"spec": {"version": "17"}}),
            &["DBR405 spec.version PostgreSQL 16 does not become 17 in place"],
        ),
        (
            none.clone(),
            json!({"spec": {"database": "x", "username": "y"}}),
            &["DBR406 spec.database", "DBR406 spec.username"],
        ),
        (
            none.clone(),
            json!({"spec": {"bootstrap": {"fromBackup": {"name": "x"}}}}),
            &["DBR406 spec.bootstrap spec.bootstrap cannot be added"],
        ),
        (none.clone(), json!({"spec": {"failover": "Manual"}}), &["DBR408 spec.failover"]),
        (
            json!({"spec": {"failover": "Manual", "replicas": 3}}),
            json!({"spec": {"replicas": 3}}),
            &["DBR412 spec.failover failover changes from Manual to Automatic, with 3 members"],
        ),
        (json!({"spec": {"replicas": 3}}), json!({"spec": {"failover": "Manual"}}), &["DBR412 "]),
        (
            manual.clone(),
            with(&manual, json!({"spec": {"parameters": {"max_connections": "50"}}})),
            &[
                "DBR407 spec.parameters.max_connections max_connections cannot be lowered with failover: Manual (from 100 to 50)",
            ],
        ),
        (manual.clone(), with(&manual, json!({"spec": {"parameters": {"max_connections": "200"}}})), &[]),
        (
            with(&manual, json!({"spec": {"primary": 1}})),
            with(&manual, json!({"spec": {"primary": 1, "parameters": {"max_connections": "200"}}})),
            &[
                "DBR407 spec.parameters.max_connections max_connections cannot be raised while the primary is not member 0",
            ],
        ),
        (with(&manual, json!({"spec": {"parameters": {"max_connections": "200"}}})), manual.clone(), &["DBR407 "]),
        (
            json!({"spec": {"failover": "Manual"}}),
            json!({"spec": {"failover": "Manual", "parameters": {"max_connections": "50"}}}),
            &[],
        ),
        (none.clone(), json!({"spec": {"parameters": {"max_connections": "50"}}}), &[]),
        (none.clone(), json!({"spec": {"version": "16.15"}}), &[]),
        (json!({"spec": {"version": "16.15"}}), none.clone(), &[]),
        (
            json!({"spec": {"version": "16.15"}}),
            json!({"spec": {"version": "16.14"}}),
            &["DBR404 spec.version PostgreSQL cannot go back from 16.15 to 16.14"],
        ),
        (json!({"spec": {"version": "16.15"}}), json!({"spec": {"version": "17"}}), &["DBR405 "]),
        (none.clone(), json!({"spec": {"replicas": 3, "resources": {"cpu": "2"}, "backup": {"retention": 9}}}), &[]),
        (
            with(&manual, json!({"spec": {"primary": 2}})),
            with(&manual, json!({"spec": {"primary": 0, "replicas": 1}})),
            &["DBR409 spec.replicas member 2 is the primary"],
        ),
        (with(&manual, json!({"spec": {"primary": 2}})), with(&manual, json!({"spec": {"primary": 0}})), &[]),
    ] {
        let found = lines(&update(&database(&old), &database(&new)));
        expect(&found, expected, &json!([old, new]));
    }
}

/// RD-25 to RD-27: the verdicts of Kubernetes' own parser, and what it accepts and never runs.
#[test]
fn schedules() {
    for (schedule, code) in [
        ("0 2 * * *", None),
        ("@daily", None),
        ("@every 6h", None),
        ("0 2 * * MON", None),
        ("0 2 ? * *", None),
        ("0 0 2 * * *", Some("DBR341")),
        ("0 2 * * 7", Some("DBR341")),
        ("@Daily", Some("DBR341")),
        ("@reboot", Some("DBR341")),
        ("0 2 L * *", Some("DBR341")),
        ("0 2 * January *", Some("DBR341")),
        ("", Some("DBR341")),
        ("CRON_TZ=Asia/Seoul 0 2 * * *", Some("DBR342")),
        ("TZ=UTC 0 2 * * *", Some("DBR342")),
        ("0 0 31 2 *", Some("DBR343")),
        (", 2 * * *", Some("DBR343")),
        ("0 0 29 2 *", None),
        ("@every 1s", Some("DBR348")),
        ("*/1 * * * *", Some("DBR348")),
        ("*/5 * * * *", None),
    ] {
        let checked = run(&json!({"spec": {"backup": {"schedule": schedule}}}));
        let codes: Vec<_> = checked.problems.iter().map(|p| p.code.id()).collect();
        assert_eq!(codes, code.into_iter().collect::<Vec<_>>(), "{schedule:?}");
    }
}
