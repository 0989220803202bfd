//! Files of ConfigMap `<name>-config`.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use minijinja::syntax::SyntaxConfig;
use minijinja::{Environment, UndefinedBehavior, Value, context};

use crate::api::Replication;
use crate::plan::{Destination, Plan, Profile};

use super::{MEMBERS_MAX, PORT, members_domain, scope, service_host, settings};

const TEMPLATES: [(&str, &str); 3] = [
    ("patroni.yml", include_str!("patroni.yml.j2")),
    ("pg_hba.conf", include_str!("pg_hba.conf.j2")),
    ("postgresql.conf", include_str!("postgresql.conf.j2")),
];

static ENVIRONMENT: LazyLock<Environment<'static>> = LazyLock::new(|| {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    let syntax = SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).keep_trailing_newline(true).build();
    #[expect(clippy::expect_used, reason = "the usual delimiters, which are valid")]
    environment.set_syntax(syntax.expect("the usual delimiters are valid"));
    environment.set_auto_escape_callback(|_| minijinja::AutoEscape::None);
    for (name, text) in TEMPLATES {
        #[expect(clippy::expect_used, reason = "the templates are part of the program, and a test loads each")]
        environment.add_template(name, text).expect("an embedded template is valid");
    }
    environment
});

fn render(template: &str, values: &Value) -> String {
    #[expect(clippy::expect_used, reason = "the templates are part of the program, and a test renders each")]
    ENVIRONMENT.get_template(template).and_then(|t| t.render(values)).expect("an embedded template renders")
}

/// File name to content.
pub(super) fn files(plan: &Plan) -> BTreeMap<&'static str, String> {
    let mut files = BTreeMap::from([
        ("backup", backup(plan)),
        ("facts", facts(plan)),
        ("replicas", format!("{}\n", plan.replicas)),
        ("restore", restore(plan)),
    ]);
    match plan.profile {
        Profile::Automatic => {
            let values = context! {
                database => plan.name.as_str(),
                major => plan.version.series.as_str(),
                namespace => plan.namespace.as_str(),
                scope => scope(plan),
            };
            files.insert("patroni.yml", render("patroni.yml", &values));
        }
        Profile::Manual => {
            let values = context! { settings => settings::all(plan), hba => settings::host_based_access(plan) };
            files.insert("pg_hba.conf", render("pg_hba.conf", &values));
            files.insert("postgresql.conf", render("postgresql.conf", &values));
            files.insert("primary", format!("{}\n", plan.primary));
            if let Some(force) = plan.force_primary {
                files.insert("force-primary", format!("{}/{}\n", force.ordinal, force.timeline));
            }
        }
    }
    files
}

/// What the scripts have to know, one assignment a line.
fn facts(plan: &Plan) -> String {
    let on_off = |on| if on { "on" } else { "off" };
    assignments(&[
        ("APP_DATABASE", plan.database.clone()),
        ("APP_USERNAME", plan.username.clone()),
        ("DB_NAME", plan.name.clone()),
        ("HEADLESS", members_domain(plan)),
        ("MAJOR", plan.version.series.clone()),
        ("MEMBERS_MAX", MEMBERS_MAX.to_string()),
        ("NAMESPACE", plan.namespace.clone()),
        ("PORT", PORT.to_string()),
        (
            "PROFILE",
            match plan.profile {
                Profile::Automatic => "automatic".to_owned(),
                Profile::Manual => "manual".to_owned(),
            },
        ),
        (
            "REPLICATION",
            match plan.replication {
                Replication::Synchronous => "synchronous".to_owned(),
                Replication::Asynchronous => "asynchronous".to_owned(),
            },
        ),
        ("RESTORE_ID", restore_id(plan)),
        ("SERVICE", service_host(plan)),
        ("TLS", on_off(plan.tls_secret.is_some()).to_owned()),
        ("VERSION", plan.version.exact.clone()),
    ])
}

/// What the backup has to know.
fn backup(plan: &Plan) -> String {
    let path = format!("{}/{}", plan.namespace, plan.name);
    let mut lines = vec![("RETENTION", plan.backup.retention.to_string()), ("DESTINATION_PATH", path.clone())];
    lines.extend(destination(&plan.backup.destination, &path));
    assignments(&lines)
}

/// What the restore has to know; all empty when there is none.
fn restore(plan: &Plan) -> String {
    let Some(restore) = &plan.restore else { return assignments(&[("RESTORE_ID", String::new())]) };
    let path = format!("{}/{}", restore.namespace, restore.name);
    let mut lines =
        vec![("RESTORE_ID", restore_id(plan)), ("SOURCE_PATH", path.clone()), ("BACKUP", restore.backup.clone())];
    lines.extend(destination(&restore.source, &path));
    assignments(&lines)
}

/// Names the restore that the marker row in the server belongs to.
fn restore_id(plan: &Plan) -> String {
    plan.restore.as_ref().map(|r| format!("{}/{}/{}", r.namespace, r.name, r.backup)).unwrap_or_default()
}

fn destination(destination: &Destination, path: &str) -> Vec<(&'static str, String)> {
    match destination {
        Destination::Volume(_) => vec![("DESTINATION", "volume".to_owned())],
        Destination::S3(bucket) => {
            let prefix = if bucket.prefix.is_empty() { String::new() } else { format!("{}/", bucket.prefix) };
            vec![("DESTINATION", "s3".to_owned()), ("REMOTE", format!("dest:{}/{prefix}{path}", bucket.bucket))]
        }
    }
}

/// Assignments that a shell can source: every value in single quotes.
fn assignments(values: &[(&str, String)]) -> String {
    values.iter().map(|(name, value)| format!("{name}='{}'\n", value.replace('\'', r"'\''"))).collect()
}
