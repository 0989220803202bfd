//! `dbrender schema`: JSON Schemas for editors.

use clap::{Args, ValueEnum};

use super::args::HELP;
use super::crd::pretty;
use super::exit::Exit;
use super::output::print_text;
use super::tell::Tell;
use crate::api;
use crate::diff::Report;

const EXAMPLES: &str = "\
Examples:
  dbrender schema database >database.schema.json
  then, on the first line of a Database file:
  # yaml-language-server: $schema=database.schema.json
";

/// Prints a JSON Schema, for editors that complete and check as you type.
#[derive(Debug, Args)]
#[command(before_help = EXAMPLES, help_template = HELP)]
pub(super) struct SchemaArgs {
    /// Of what.
    #[arg(value_enum, value_name = "WHAT")]
    what: What,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum What {
    /// A file with a Database.
    Database,
    /// The platform file, dbrender.yaml.
    Platform,
    /// What `dbrender diff -o json` prints.
    Report,
}

pub(super) fn run(args: &SchemaArgs, tell: &Tell) -> Exit {
    let schema = match args.what {
        What::Database => api::database_schema(),
        What::Platform => api::platform_schema(),
        What::Report => Report::schema(),
    };
    print_text(&pretty(&schema), tell)
}
