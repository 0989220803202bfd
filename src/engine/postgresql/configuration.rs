//! Files of ConfigMap `<name>-config`.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use minijinja::{Environment, Value, context};

use crate::api::Replication;
use crate::engine::files;
use crate::plan::{Plan, Profile};

use super::{MEMBERS_MAX, PORT, scope, settings};

const TEMPLATES: [(&str, &str); 3] = [
    ("patroni.yml", include_str!("patroni.yml.j2")),
    ("pg_hba.conf", include_str!("pg_hba.conf.j2")),
    ("postgresql.conf", include_str!("postgresql.conf.j2")),
];

static ENVIRONMENT: LazyLock<Environment<'static>> = LazyLock::new(|| files::templates(&TEMPLATES));

fn render(template: &str, values: &Value) -> String {
    #[expect(clippy::expect_used, reason = "the templates are part of the program, and a test renders each")]
    ENVIRONMENT.get_template(template).and_then(|t| t.render(values)).expect("an embedded template renders")
}

/// File name to content.
pub(super) fn all(plan: &Plan) -> BTreeMap<&'static str, String> {
    let mut all = BTreeMap::from([
        ("backup", files::backup(plan)),
        ("facts", facts(plan)),
        ("replicas", format!("{}\n", plan.replicas)),
        ("restore", files::restore(plan)),
    ]);
    match plan.profile {
        Profile::Automatic => {
            let values = context! {
                database => plan.name.as_str(),
                major => plan.version.series.as_str(),
                namespace => plan.namespace.as_str(),
                scope => scope(plan),
            };
            all.insert("patroni.yml", render("patroni.yml", &values));
        }
        Profile::Manual => {
            let values = context! { settings => settings::all(plan), hba => settings::host_based_access(plan) };
            all.insert("pg_hba.conf", render("pg_hba.conf", &values));
            all.insert("postgresql.conf", render("postgresql.conf", &values));
            all.insert("primary", format!("{}\n", plan.primary));
            if let Some(force) = plan.force_primary {
                all.insert("force-primary", format!("{}/{}\n", force.ordinal, force.timeline));
            }
        }
    }
    all
}

/// What the scripts have to know, one assignment a line.
fn facts(plan: &Plan) -> String {
    let on_off = |on| if on { "on" } else { "off" };
    files::assignments(&[
        ("APP_DATABASE", plan.database.clone()),
        ("APP_USERNAME", plan.username.clone()),
        ("DB_NAME", plan.name.clone()),
        ("HEADLESS", plan.members_domain()),
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
        ("RESTORE_ID", files::restore_id(plan)),
        ("SERVICE", plan.service_host()),
        ("TLS", on_off(plan.tls_secret.is_some()).to_owned()),
        ("VERSION", plan.version.exact.clone()),
    ])
}
