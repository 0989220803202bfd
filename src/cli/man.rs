//! `dbrender man`: manual pages.

use clap::{Args, CommandFactory as _};
use clap_mangen::Man;

use super::args::{Cli, HELP};
use super::exit::Exit;
use super::output::{finish, print};
use super::tell::Tell;

const EXAMPLES: &str = "\
Examples:
  dbrender man | man -l -
  dbrender man render >dbrender-render.1
";

/// Prints the manual page of dbrender or of one of its commands.
#[derive(Debug, Args)]
#[command(before_help = EXAMPLES, help_template = HELP)]
pub(super) struct ManArgs {
    /// Which command; the whole program without one.
    #[arg(value_name = "COMMAND")]
    command: Option<String>,
}

pub(super) fn run(args: &ManArgs, tell: &Tell) -> Exit {
    let mut all = Cli::command();
    all.build();
    let command = match &args.command {
        None => all,
        Some(name) => match all.find_subcommand(name) {
            Some(command) => command.clone(),
            None => {
                let names: Vec<&str> = all.get_subcommands().map(clap::Command::get_name).collect();
                return tell.usage(&format!("there is no command {name:?}; there are {}", names.join(", ")));
            }
        },
    };
    let mut page = Vec::new();
    // Writing to memory does not fail; whatever it wrote is printed.
    let rendered = Man::new(command).render(&mut page);
    finish(rendered.map_err(Into::into).and_then(|()| print(|out| out.write_all(&page))), tell)
}
