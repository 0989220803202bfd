//! `dbrender rbac`: the rights that dbrender needs, as objects to apply.

use clap::{Args, ValueEnum};
use serde_json::{Value, json};

use super::args::{HELP, ObjectFormat};
use super::crd::object;
use super::exit::Exit;
use super::output::print_text;
use super::tell::Tell;
use crate::api::GROUP;
use crate::diff::{KINDS, STORAGE_CLASS};

const EXAMPLES: &str = "\
Examples:
  dbrender rbac viewer | kubectl apply --server-side -f -
  kubectl create clusterrolebinding ci-dbrender \\
    --clusterrole dbrender-viewer --serviceaccount ci:default
";

/// Prints the rights that dbrender needs.
#[derive(Debug, Args)]
#[command(before_help = EXAMPLES, help_template = HELP)]
pub(super) struct RbacArgs {
    /// Whose.
    #[arg(value_enum, value_name = "WHOSE")]
    whose: Whose,
    /// Leave Secrets out, for `dbrender diff --no-secret-read`.
    #[arg(long)]
    no_secret_read: bool,
    /// Form of the object.
    #[arg(short, long, value_enum, value_name = "FORMAT", default_value_t = ObjectFormat::Yaml)]
    output: ObjectFormat,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Whose {
    /// Whoever runs `dbrender diff`: get and list, nothing else.
    Viewer,
    /// The ServiceAccount of `dbrender controller`.
    Controller,
}

pub(super) fn run(args: &RbacArgs, tell: &Tell) -> Exit {
    if args.whose == Whose::Controller && args.no_secret_read {
        return tell.usage("--no-secret-read is for the viewer; the controller has to read Secrets");
    }
    let role = match args.whose {
        Whose::Viewer => viewer(!args.no_secret_read),
        Whose::Controller => controller(),
    };
    print_text(&object(role, args.output), tell)
}

/// The role of `dbrender diff`: made of the list of kinds that it reads, so that it can be neither too small nor too
/// large. A RoleBinding of it in one namespace is enough for the Databases of that namespace, but for storage classes,
/// without which only the answer to whether a volume can grow is missing.
fn viewer(secrets: bool) -> Value {
    let mut rules: Vec<(&str, Vec<&str>)> = Vec::new();
    let kinds = KINDS.iter().filter(|kind| secrets || kind.kind != "Secret").chain([&STORAGE_CLASS]);
    for kind in kinds {
        match rules.iter_mut().find(|(group, _)| *group == kind.group()) {
            Some((_, resources)) => resources.push(kind.resource),
            None => rules.push((kind.group(), vec![kind.resource])),
        }
    }
    let rule = |(group, mut resources): (&str, Vec<&str>)| {
        resources.sort_unstable();
        json!({"apiGroups": [group], "resources": resources, "verbs": ["get", "list"]})
    };
    json!({
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRole",
        "metadata": {"name": "dbrender-viewer"},
        "rules": rules.into_iter().map(rule).collect::<Vec<_>>(),
    })
}

/// The role of `dbrender controller`: every rendered kind, the Databases, and what the Roles that it renders hold, because a
/// server lets nobody hand out more rights than their own.
fn controller() -> Value {
    let mut rules: Vec<Value> = Vec::new();
    let mut groups: Vec<(&str, Vec<&str>)> = Vec::new();
    for kind in KINDS {
        match groups.iter_mut().find(|(group, _)| *group == kind.group()) {
            Some((_, resources)) => resources.push(kind.resource),
            None => groups.push((kind.group(), vec![kind.resource])),
        }
    }
    rules.push(json!({"apiGroups": [GROUP], "resources": ["databases"], "verbs": ["list", "watch", "patch"]}));
    rules.push(json!({"apiGroups": [GROUP], "resources": ["databases/status"], "verbs": ["patch"]}));
    // An owner that blocks the deletion of others needs this; ours does not block, and some servers ask all the same.
    rules.push(json!({"apiGroups": [GROUP], "resources": ["databases/finalizers"], "verbs": ["update"]}));
    for (group, mut resources) in groups {
        resources.sort_unstable();
        // Nothing that holds data or passwords is ever deleted: what is to go with its Database gets an owner.
        let (precious, rest): (Vec<&str>, Vec<&str>) =
            resources.into_iter().partition(|resource| ["persistentvolumeclaims", "secrets"].contains(resource));
        for (resources, more) in [(precious, None), (rest, Some("delete"))] {
            if !resources.is_empty() {
                let verbs: Vec<&str> = ["get", "list", "watch", "create", "patch"].into_iter().chain(more).collect();
                rules.push(json!({"apiGroups": [group], "resources": resources, "verbs": verbs}));
            }
        }
    }
    // What the Roles of the databases hold beside the above.
    rules.push(json!({"apiGroups": [""], "resources": ["pods"], "verbs": ["get", "list", "watch", "patch"]}));
    rules.push(json!({"apiGroups": [""], "resources": ["namespaces"], "verbs": ["get"]}));
    rules.push(json!({"apiGroups": ["events.k8s.io"], "resources": ["events"], "verbs": ["create", "patch"]}));
    rules.push(json!({"apiGroups": ["coordination.k8s.io"], "resources": ["leases"],
        "verbs": ["get", "create", "update"]}));
    json!({
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRole",
        "metadata": {"name": "dbrender-controller"},
        "rules": rules,
    })
}

#[cfg(test)]
mod tests {
    use super::viewer;
    use crate::diff::KINDS;

    #[test]
    fn every_kind_may_be_read_and_nothing_written() {
        let role = viewer(true);
        let rules = role["rules"].as_array().unwrap();
        for kind in KINDS {
            let may = |rule: &&serde_json::Value| {
                rule["apiGroups"][0] == kind.group()
                    && rule["resources"].as_array().unwrap().contains(&kind.resource.into())
            };
            assert_eq!(rules.iter().filter(may).count(), 1, "{}", kind.kind);
        }
        assert!(rules.iter().all(|rule| rule["verbs"] == serde_json::json!(["get", "list"])));
        assert!(!viewer(false).to_string().contains("\"secrets\""));
    }
}
