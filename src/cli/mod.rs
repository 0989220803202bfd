//! The command line: one file per command. Arguments come in, an exit code goes out.
#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "below the line: the terminal, the clock and the current folder are known here"
)]

mod args;
#[cfg(feature = "cluster")]
mod backups;
mod check;
mod completion;
#[cfg(feature = "cluster")]
mod connection;
#[cfg(feature = "cluster")]
mod controller;
mod crd;
#[cfg(feature = "cluster")]
mod credentials;
mod diff;
mod exit;
mod explain;
mod function;
mod in_order;
mod init;
mod load;
mod man;
mod output;
mod plugin;
mod rbac;
mod render;
#[cfg(feature = "cluster")]
mod role_label;
mod schema;
mod selector;
mod tell;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::{CommandFactory as _, FromArgMatches as _};

use args::{Cli, Command};
use exit::Exit;
use plugin::Called;
use tell::Tell;

/// Runs `dbrender` with its arguments, the program's name first.
#[must_use]
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    let mut command = Cli::command();
    match Called::by(arguments.first()) {
        Called::Itself => {}
        // Help shows what is typed.
        Called::Plugin => command = command.bin_name("kubectl dbrender"),
        Called::Completer => {
            let words = arguments.get(1..).unwrap_or_default();
            let tell = Tell::new(&args::OutputFlags { color: args::Color::Never, quiet: true, verbose: false });
            return output::print_text(&plugin::complete(command, words), &tell).into();
        }
    }
    let cli = match command.try_get_matches_from(arguments).and_then(|matches| Cli::from_arg_matches(&matches)) {
        Ok(cli) => cli,
        Err(error) => {
            // Help and version are results and go to stdout; a closed pipe is none of our business.
            let _ = error.print();
            return if error.use_stderr() { Exit::Invalid } else { Exit::Done }.into();
        }
    };
    let tell = Tell::new(&cli.output);
    match &cli.command {
        Command::Render(args) => render::run(args, &tell),
        Command::Check(args) => check::run(args, &tell),
        #[cfg(feature = "cluster")]
        Command::Backups(args) => backups::run(args, &tell),
        #[cfg(feature = "cluster")]
        Command::Credentials(args) => credentials::run(args, &tell),
        #[cfg(feature = "cluster")]
        Command::Controller(args) => controller::run(args, &tell),
        Command::Diff(args) => diff::run(args, &tell),
        Command::Crd(args) => crd::run(args, &tell),
        #[cfg(feature = "cluster")]
        Command::RoleLabel(args) => role_label::run(args, &tell),
        Command::Rbac(args) => rbac::run(args, &tell),
        Command::Schema(args) => schema::run(args, &tell),
        Command::Function(args) => function::run(args, &tell),
        Command::Init(args) => init::run(args, &tell),
        Command::Explain(args) => explain::run(args, &tell),
        Command::Completion(args) => completion::run(args, &tell),
        Command::Man(args) => man::run(args, &tell),
    }
    .into()
}
