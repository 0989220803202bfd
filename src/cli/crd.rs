//! `dbrender crd`: the CustomResourceDefinition.

use clap::Args;
use serde_json::Value;

use super::args::{HELP, ObjectFormat};
use super::exit::Exit;
use super::output::print_text;
use super::tell::Tell;
use crate::{api, yaml};

const EXAMPLES: &str = "\
Examples:
  dbrender crd | kubectl apply --server-side -f -
";

/// Prints the CustomResourceDefinition of Database.
#[derive(Debug, Args)]
#[command(before_help = EXAMPLES, help_template = HELP)]
pub(super) struct CrdArgs {
    /// Form of the object.
    #[arg(short, long, value_enum, value_name = "FORMAT", default_value_t = ObjectFormat::Yaml)]
    output: ObjectFormat,
}

pub(super) fn run(args: &CrdArgs, tell: &Tell) -> Exit {
    print_text(&object(api::crd(), args.output), tell)
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
