//! `dbrender check`: problems only.

use clap::{Args, ValueEnum};

use super::args::{HELP, InputFlags};
use super::exit::Exit;
use super::load::{Loaded, count, load};
use super::output::print_text;
use super::tell::Tell;
use crate::problem::Severity;
use crate::report::problems as report;

const EXAMPLES: &str = "\
Examples:
  dbrender check                        every Database below this folder
  dbrender check databases/ -o github   notes at the lines of a pull request
  dbrender check -o sarif >report.sarif
";

/// Finds every problem of every Database, and writes nothing.
#[derive(Debug, Args)]
#[command(before_help = EXAMPLES, help_template = HELP)]
pub(super) struct CheckArgs {
    #[command(flatten)]
    input: InputFlags,
    /// Form of the problems. `text` goes to stderr, the others to stdout.
    #[arg(short, long, value_enum, value_name = "FORMAT", default_value_t = Format::Text)]
    output: Format,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// For people, with the lines of the file.
    Text,
    /// One object, `dbrender.problems/v1`.
    Json,
    /// Workflow commands of GitHub Actions.
    Github,
    /// SARIF 2.1.0.
    Sarif,
}

pub(super) fn run(args: &CheckArgs, tell: &Tell) -> Exit {
    let mut loaded = load(&args.input, None, tell);
    loaded.problems.extend(loaded.nothing.take());
    let Loaded { sources, problems, .. } = &loaded;
    let exit = match args.output {
        Format::Text => tell.every_problem(problems, sources),
        machine => {
            let text = match machine {
                Format::Text | Format::Json => report::json(problems, sources),
                Format::Github => report::github(problems, sources),
                Format::Sarif => report::sarif(problems, sources),
            };
            match print_text(&text, tell) {
                Exit::Done => Exit::of(problems),
                failed => failed,
            }
        }
    };
    tell.summary(&summary(&loaded));
    exit
}

/// What stands under the problems.
pub(super) fn summary(loaded: &Loaded) -> String {
    let errors = loaded.problems.iter().filter(|problem| problem.severity == Severity::Error).count();
    let warnings = loaded.problems.len() - errors;
    let mut parts = Vec::new();
    if errors > 0 {
        parts.push(count(errors, "error"));
    }
    if warnings > 0 {
        parts.push(count(warnings, "warning"));
    }
    match (errors, parts.is_empty()) {
        // How many Databases there are is not known when some could not be read.
        (1.., _) => parts.join(", "),
        (0, true) => format!("{}: no problems", count(loaded.found, "Database")),
        (0, false) => format!("{}: {}", count(loaded.found, "Database"), parts.join(", ")),
    }
}
