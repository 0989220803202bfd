//! Files beside the code of an engine, and beside its trials, are those that are rendered.

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

use dbrender::api::{Database, EngineName};
use dbrender::check::{Ground, check};
use dbrender::engine::{self, Engine, EnvVar, Facts, Image};
use dbrender::plan::{Bucket, Destination, Plan, Profile, Restore, Version};
use serde_json::json;

/// A plan of an engine, whether `check` lets its profile through yet or not.
fn plan(engine: &dyn Engine, profile: Profile) -> Plan {
    let database: Database = serde_json::from_value(json!({
        "apiVersion": "app.example.com/v1alpha1",
        "kind": "Database",
        "metadata": {"name": "order-db", "namespace": "production"},
        "spec": {"engine": "postgresql", "version": "18", "replicas": 3, "storage": {"size": "10Gi"}},
    }))
    .unwrap();
    let mut plan = check(&database, &Ground::default(), None).plan.unwrap();
    plan.engine = engine.name();
    plan.profile = profile;
    if engine.name() != EngineName::Postgresql {
        let newest = engine.releases(1).last().unwrap();
        plan.version = Version { series: newest.series.to_owned(), exact: newest.exact.to_owned() };
    }
    plan
}

fn facts(engine: &dyn Engine, profile: Profile) -> Facts {
    engine.facts(&plan(engine, profile))
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// A script that is not in the list would be missing in every pod.
#[test]
fn every_script_of_an_engines_folder_is_rendered() {
    for engine in engine::ALL {
        let folder = root().join("src/engine").join(engine.name().as_str()).join("scripts");
        let files: BTreeMap<String, String> = fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .map(|path| (path.file_name().unwrap().to_string_lossy().into_owned(), fs::read_to_string(&path).unwrap()))
            .collect();
        for profile in [Profile::Automatic, Profile::Manual] {
            let scripts = facts(*engine, profile).scripts;
            let rendered: BTreeMap<String, String> =
                scripts.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect();
            assert_eq!(files, rendered, "{}", engine.title());
        }
    }
}

/// `testbed/unshare/mysql-server` gives real servers the configuration that is rendered, also of what `check` refuses yet.
/// `DBRENDER_BLESS=1` writes its files anew.
#[test]
fn the_trial_on_real_servers_has_what_is_rendered() {
    let engine = engine::by_name(EngineName::Mysql).unwrap();
    for (profile, word) in [(Profile::Automatic, "automatic"), (Profile::Manual, "manual")] {
        let rendered = facts(engine, profile).config;
        let folder: PathBuf = root().join("testbed/unshare/mysql-server.parts").join(word);
        for name in ["dynamic.sql", "facts", "my.cnf"] {
            if std::env::var_os("DBRENDER_BLESS").is_some() {
                fs::create_dir_all(&folder).unwrap();
                fs::write(folder.join(name), &rendered[name]).unwrap();
            }
            assert_eq!(fs::read_to_string(folder.join(name)).unwrap(), rendered[name], "{word}/{name}");
        }
    }
}

/// `testbed/unshare/postgresql-wal` gives real servers the configuration that is rendered, and rclone its variables.
/// `DBRENDER_BLESS=1` writes its files anew.
#[test]
fn the_trial_of_the_log_has_what_is_rendered() {
    let engine = engine::by_name(EngineName::Postgresql).unwrap();
    let bucket = Destination::S3(Bucket {
        bucket: "backups".to_owned(),
        prefix: "db".to_owned(),
        endpoint: Some("http://bucket.example.com:9000".to_owned()),
        region: None,
        provider: "Rclone".to_owned(),
        secret: "backup-bucket".to_owned(),
    });
    let mut source = plan(engine, Profile::Manual);
    source.replicas = 1;
    source.database = "orders".to_owned();
    source.username = "order user".to_owned();
    source.backup.wal_archive = true;
    source.backup.destination = bucket.clone();
    let mut target = source.clone();
    target.name = "order-db-again".to_owned();
    target.restore = Some(Restore {
        namespace: "production".to_owned(),
        name: "order-db".to_owned(),
        backup: "latest".to_owned(),
        point_in_time: Some("2026-11-30T09:41:00.000000Z".to_owned()),
        source: bucket,
    });
    let folder = root().join("testbed/unshare/postgresql-wal.parts/rendered");
    let mut files = BTreeMap::new();
    for (name, plan) in [("source", &source), ("target", &target)] {
        let facts = engine.facts(plan);
        files.extend(facts.config.into_iter().map(|(file, text)| (folder.join(name).join(file), text)));
        for container in facts.init.iter().chain(&facts.containers).filter(|c| c.image == Image::Rclone) {
            let lines = container.env.iter().filter_map(|variable| match variable {
                EnvVar::Value(name, value) => Some(format!("{name}={value}\n")),
                EnvVar::SecretKey { name, secret, key } => Some(format!("{name}={secret}/{key}\n")),
                EnvVar::Field(..) => None,
            });
            files.insert(folder.join("variables"), lines.collect());
        }
    }
    for (path, text) in files {
        if std::env::var_os("DBRENDER_BLESS").is_some() {
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, &text).unwrap();
        }
        assert_eq!(fs::read_to_string(&path).unwrap(), text, "{}", path.display());
    }
}

/// `testbed/mongodb-scripts` gives the scripts the facts that are rendered: what it tries is what a pod would run.
#[test]
fn the_scripts_with_stand_ins_have_the_facts_that_are_rendered() {
    let rendered = facts(engine::by_name(EngineName::Mongodb).unwrap(), Profile::Automatic).config;
    let world = fs::read_to_string(root().join("testbed/mongodb-scripts.parts/world.sh")).unwrap();
    assert!(world.contains(&format!("\n{}END\n", rendered["facts"])), "{}", rendered["facts"]);
}
