//! Files of ConfigMap `<name>-config`.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use minijinja::{Environment, Value, context};

use crate::api::Replication;
use crate::engine::files;
use crate::plan::Plan;

use super::settings::{self, Node};
use super::{MEMBERS_MAX, PORT, WAIT_PORT};

static ENVIRONMENT: LazyLock<Environment<'static>> =
    LazyLock::new(|| files::templates(&[("mongod.conf", include_str!("mongod.conf.j2"))]));

fn render(template: &str, values: &Value) -> String {
    #[expect(clippy::expect_used, reason = "the template is part of the program, and a test renders it")]
    ENVIRONMENT.get_template(template).and_then(|t| t.render(values)).expect("an embedded template renders")
}

/// A node as the template sees it.
fn value(node: Node) -> Value {
    match node {
        Node::Leaf(text) => Value::from(text),
        Node::Branch(below) => Value::from_pairs(below.into_iter().map(|(key, node)| (key, value(node)))),
    }
}

/// File name to content.
pub(super) fn all(plan: &Plan) -> BTreeMap<&'static str, String> {
    BTreeMap::from([
        ("backup", files::backup(plan)),
        ("dynamic.json", settings::dynamic(plan)),
        ("facts", facts(plan)),
        ("mongod.conf", render("mongod.conf", &context! { options => value(settings::tree(plan)) })),
        ("replicas", format!("{}\n", plan.replicas)),
        ("restore", files::restore(plan)),
    ])
}

/// What the scripts have to know, one assignment a line.
fn facts(plan: &Plan) -> String {
    let replication = match plan.replication {
        Replication::Synchronous => "synchronous",
        Replication::Asynchronous => "asynchronous",
    };
    files::assignments(&[
        ("APP_DATABASE", plan.database.clone()),
        ("APP_USERNAME", plan.username.clone()),
        ("DB_NAME", plan.name.clone()),
        ("HEADLESS", plan.members_domain()),
        ("MEMBERS_MAX", MEMBERS_MAX.to_string()),
        ("NAMESPACE", plan.namespace.clone()),
        ("PORT", PORT.to_string()),
        ("REPLICATION", replication.to_owned()),
        ("RESTORE_ID", files::restore_id(plan)),
        ("SERIES", plan.version.series.clone()),
        ("SERVICE", plan.service_host()),
        ("TLS", if plan.tls_secret.is_some() { "on" } else { "off" }.to_owned()),
        ("VERSION", plan.version.exact.clone()),
        ("WAIT_PORT", WAIT_PORT.to_string()),
    ])
}
