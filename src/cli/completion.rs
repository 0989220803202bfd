//! `dbrender completion`: what a shell needs to complete commands and flags.

use clap::{Args, CommandFactory as _};
use clap_complete::Shell;

use super::args::{Cli, HELP};
use super::exit::Exit;
use super::output::{finish, print};
use super::tell::Tell;

const EXAMPLES: &str = "\
Examples:
  source <(dbrender completion bash)
  dbrender completion zsh >\"${fpath[1]}/_dbrender\"
  dbrender completion fish >~/.config/fish/completions/dbrender.fish

As a plugin of kubectl, with completion:
  ln -s dbrender kubectl-dbrender
  ln -s dbrender kubectl_complete-dbrender
";

/// Prints the completion script of a shell.
#[derive(Debug, Args)]
#[command(before_help = EXAMPLES, help_template = HELP)]
pub(super) struct CompletionArgs {
    /// Which shell.
    #[arg(value_enum)]
    shell: Shell,
}

pub(super) fn run(args: &CompletionArgs, tell: &Tell) -> Exit {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "dbrender", &mut script);
    finish(print(|out| out.write_all(&script)), tell)
}
