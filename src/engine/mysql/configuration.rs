//! Files of ConfigMap `<name>-config`.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use minijinja::{Environment, Value, context};

use crate::api::Replication;
use crate::engine::files;
use crate::plan::{Plan, Profile};

use super::{GROUP_PORT, MEMBERS_MAX, PORT, settings};

static ENVIRONMENT: LazyLock<Environment<'static>> =
    LazyLock::new(|| files::templates(&[("my.cnf", include_str!("my.cnf.j2"))]));

fn render(template: &str, values: &Value) -> String {
    #[expect(clippy::expect_used, reason = "the template is part of the program, and a test renders it")]
    ENVIRONMENT.get_template(template).and_then(|t| t.render(values)).expect("an embedded template renders")
}

/// File name to content.
pub(super) fn all(plan: &Plan) -> BTreeMap<&'static str, String> {
    let values = context! { settings => settings::all(plan) };
    let mut all = BTreeMap::from([
        ("backup", files::backup(plan)),
        ("dynamic.sql", settings::dynamic(plan)),
        ("facts", facts(plan)),
        ("my.cnf", render("my.cnf", &values)),
        ("replicas", format!("{}\n", plan.replicas)),
        ("restore", files::restore(plan)),
    ]);
    if plan.profile == Profile::Manual {
        all.insert("primary", format!("{}\n", plan.primary));
        if let Some(force) = plan.force_primary {
            all.insert("force-primary", format!("{}/{}\n", force.ordinal, force.timeline));
        }
    }
    all
}

/// What the scripts have to know, one assignment a line.
fn facts(plan: &Plan) -> String {
    let profile = match plan.profile {
        Profile::Automatic => "automatic",
        Profile::Manual => "manual",
    };
    let replication = match plan.replication {
        Replication::Synchronous => "synchronous",
        Replication::Asynchronous => "asynchronous",
    };
    files::assignments(&[
        ("APP_DATABASE", plan.database.clone()),
        ("APP_USERNAME", plan.username.clone()),
        ("DB_NAME", plan.name.clone()),
        ("GROUP_PORT", GROUP_PORT.to_string()),
        ("HEADLESS", plan.members_domain()),
        ("MEMBERS_MAX", MEMBERS_MAX.to_string()),
        ("NAMESPACE", plan.namespace.clone()),
        ("PORT", PORT.to_string()),
        ("PROFILE", profile.to_owned()),
        ("REPLICATION", replication.to_owned()),
        ("RESTORE_ID", files::restore_id(plan)),
        ("SERIES", plan.version.series.clone()),
        ("SERVICE", plan.service_host()),
        ("TLS", if plan.tls_secret.is_some() { "on" } else { "off" }.to_owned()),
        ("VERSION", plan.version.exact.clone()),
    ])
}
