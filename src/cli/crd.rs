//! `dbrender crd`: the CustomResourceDefinition, and the admission policies beside it.

use std::path::PathBuf;

use clap::Args;
use serde_json::{Value, json};

use super::args::{HELP, ObjectFormat};
use super::exit::Exit;
use super::load;
use super::output::print_text;
use super::tell::Tell;
use crate::check::Ground;
use crate::{api, check, yaml};

const EXAMPLES: &str = "\
Examples:
  dbrender crd | kubectl apply --server-side -f -
  dbrender crd --policies | kubectl apply --server-side -f -
";

/// Prints the CustomResourceDefinition of Database.
#[derive(Debug, Args)]
#[command(before_help = EXAMPLES, help_template = HELP)]
pub(super) struct CrdArgs {
    /// Print the ValidatingAdmissionPolicies that belong to it instead: deletionPolicy Refuse, and the limits of the
    /// platform file.
    #[arg(long)]
    policies: bool,
    /// Platform file of the policies. Without it: the nearest dbrender.yaml at or above the current folder, up to the root
    /// of the Git repository.
    #[arg(long, value_name = "FILE", requires = "policies")]
    platform: Option<PathBuf>,
    /// Environment of the platform file.
    #[arg(long, value_name = "NAME", requires = "policies")]
    env: Option<String>,
    /// Form of the object; of several, json is one v1 List.
    #[arg(short, long, value_enum, value_name = "FORMAT", default_value_t = ObjectFormat::Yaml)]
    output: ObjectFormat,
}

pub(super) fn run(args: &CrdArgs, tell: &Tell) -> Exit {
    if !args.policies {
        return print_text(&object(api::crd(), args.output), tell);
    }
    match load::ground(args.platform.as_deref(), args.env.as_deref(), tell) {
        Ok(ground) => print_text(&policies(&ground, args.output), tell),
        Err(exit) => exit,
    }
}

/// The admission policies as text.
pub(super) fn policies(ground: &Ground, format: ObjectFormat) -> String {
    let values = check::admission_policies(ground);
    match format {
        ObjectFormat::Yaml => values.into_iter().map(|value| object(value, format)).collect::<Vec<_>>().join("---\n"),
        ObjectFormat::Json => object(json!({"apiVersion": "v1", "kind": "List", "items": values}), format),
    }
}

/// An object as text. Its keys come in the same order in both forms.
pub(super) fn object(mut value: Value, format: ObjectFormat) -> String {
    match format {
        ObjectFormat::Yaml => {
            let mut text = String::new();
            yaml::write_document(&mut text, &value);
            text
        }
        ObjectFormat::Json => {
            yaml::sort_keys(&mut value);
            pretty(&value)
        }
    }
}

/// JSON for people, with a line feed at its end.
pub(super) fn pretty(value: &Value) -> String {
    format!("{value:#}\n")
}
