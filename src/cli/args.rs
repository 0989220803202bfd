//! What can be typed.

use std::path::PathBuf;

use clap::{ArgAction, Args, Parser, Subcommand, ValueEnum};

use super::exit::EXIT_CODES;
#[cfg(feature = "cluster")]
use super::{backups, controller, credentials, role_label};
use super::{check, completion, crd, diff, explain, function, init, man, rbac, render, schema};

/// Order of the parts of a help text: examples come first.
pub(super) const HELP: &str = "{about-with-newline}\n{before-help}{usage-heading} {usage}\n\n{all-args}{after-help}";

const EXAMPLES: &str = "\
Examples:
  dbrender render databases/                      manifests on stdout
  dbrender render databases/ --output-dir tree    manifests as files
  dbrender check databases/                       problems only
  dbrender explain spec.storage.size              what a field means";

/// Renders Database objects into Kubernetes manifests.
#[derive(Debug, Parser)]
#[command(
    name = "dbrender",
    version,
    before_help = EXAMPLES,
    after_help = EXIT_CODES,
    help_template = HELP,
    max_term_width = 80,
    disable_help_subcommand = true,
    infer_subcommands = false
)]
pub(super) struct Cli {
    #[command(subcommand)]
    pub(super) command: Command,
    #[command(flatten)]
    pub(super) output: OutputFlags,
}

/// Flags of every command.
#[derive(Clone, Debug, Args)]
pub(super) struct OutputFlags {
    /// Colours: on a terminal, always or never.
    #[arg(long, global = true, value_enum, value_name = "WHEN", default_value_t = Color::Auto)]
    pub(super) color: Color,
    /// Say nothing on stderr but errors.
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    pub(super) quiet: bool,
    /// Say on stderr what is read and written, and every warning.
    #[arg(short, long, global = true, action = ArgAction::SetTrue)]
    pub(super) verbose: bool,
}

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    Render(render::RenderArgs),
    Check(check::CheckArgs),
    Diff(diff::DiffArgs),
    Init(init::InitArgs),
    Function(function::FunctionArgs),
    Crd(crd::CrdArgs),
    #[cfg(feature = "cluster")]
    Backups(backups::BackupsArgs),
    #[cfg(feature = "cluster")]
    Credentials(credentials::CredentialsArgs),
    #[cfg(feature = "cluster")]
    Controller(controller::ControllerArgs),
    Rbac(rbac::RbacArgs),
    #[cfg(feature = "cluster")]
    RoleLabel(role_label::RoleLabelArgs),
    Schema(schema::SchemaArgs),
    Explain(explain::ExplainArgs),
    Completion(completion::CompletionArgs),
    Man(man::ManArgs),
}

/// What a run is about: flags of every command that reads Databases.
#[derive(Clone, Debug, Args)]
pub(super) struct InputFlags {
    /// Files and folders that hold Databases, `-` for stdin. Folders are walked; hidden files, links and the output
    /// folder are left out.
    #[arg(value_name = "PATH", default_value = ".")]
    pub(super) paths: Vec<PathBuf>,
    /// Namespace of Databases that name none. One that names another is an error.
    #[arg(short, long, value_name = "NAME", conflicts_with = "all_namespaces")]
    pub(super) namespace: Option<String>,
    /// Databases of all namespaces; what is done without -n.
    #[arg(short = 'A', long)]
    pub(super) all_namespaces: bool,
    /// Only Databases with these labels: `team=orders,tier!=test,size in (s,m)`.
    #[arg(short = 'l', long, value_name = "LABELS", value_parser = super::selector::Selector::parse)]
    pub(super) selector: Option<super::selector::Selector>,
    /// Platform file. Without it: the nearest dbrender.yaml at or above the current folder, up to the root of the Git
    /// repository.
    #[arg(long, value_name = "FILE")]
    pub(super) platform: Option<PathBuf>,
    /// Environment of the platform file.
    #[arg(long, value_name = "NAME")]
    pub(super) env: Option<String>,
    /// Kubernetes that the manifests are for, 1.34 or newer. Every one of them gets the same manifests; `diff` compares
    /// with the defaults of this one instead of the server's.
    #[arg(long, value_name = "MINOR", value_parser = kubernetes_version)]
    pub(super) kubernetes_version: Option<u16>,
}

/// When to write colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Color {
    Auto,
    Always,
    Never,
}

/// How an object is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum ObjectFormat {
    Yaml,
    Json,
}

/// Oldest minor of Kubernetes 1 that the manifests are made for.
const OLDEST_MINOR: u16 = 34;

/// The minor of `1.34`, `v1.34` or `1.34.2`.
fn kubernetes_version(text: &str) -> Result<u16, String> {
    let mut parts = text.strip_prefix('v').unwrap_or(text).split('.');
    let numbers: Option<Vec<u16>> = parts.by_ref().map(|part| part.parse().ok()).collect();
    match numbers.as_deref() {
        Some([1, minor] | [1, minor, _]) if *minor >= OLDEST_MINOR => Ok(*minor),
        Some([1, _] | [1, _, _]) => Err(format!("the oldest is 1.{OLDEST_MINOR}")),
        _ => Err(format!("write it as 1.{OLDEST_MINOR}")),
    }
}

#[cfg(test)]
mod tests {
    use super::kubernetes_version;

    #[test]
    fn a_minor_of_kubernetes_is_read() {
        for good in ["1.34", "v1.34", "1.34.2"] {
            assert_eq!(kubernetes_version(good), Ok(34));
        }
        for bad in ["1.33", "34", "2.0", "1.", "1.x", "", "1.34.1.1"] {
            assert!(kubernetes_version(bad).is_err(), "{bad}");
        }
    }
}
