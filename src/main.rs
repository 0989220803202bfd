//! The `dbrender` command.

use std::process::ExitCode;

#[expect(clippy::disallowed_methods, reason = "this is where the arguments come from")]
fn main() -> ExitCode {
    dbrender::cli::run(std::env::args_os())
}
