//! `dbrender rbac`: the rights that dbrender needs, as objects to apply.

use clap::{Args, ValueEnum};
use serde_json::{Value, json};

use super::args::{HELP, ObjectFormat};
use super::crd::object;
use super::exit::Exit;
use super::output::print_text;
use super::tell::Tell;
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
}

pub(super) fn run(args: &RbacArgs, tell: &Tell) -> Exit {
    let Whose::Viewer = args.whose;
    print_text(&object(viewer(!args.no_secret_read), args.output), tell)
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
