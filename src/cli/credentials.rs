//! `dbrender credentials`: passwords, made and kept inside the cluster.

use std::time::Duration;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Subcommand};

use super::args::HELP;
use super::connection::{ClusterFlags, duration};
use super::exit::Exit;
use super::output::print_text;
use super::tell::Tell;
use crate::api::EngineName;
use crate::{cluster, engine};

const EXAMPLES: &str = "\
Examples:
  dbrender credentials fill -n production --engine postgresql \\
      --app-secret order-db-app --admin-secret order-db-admin
";

/// Passwords, made and kept inside the cluster.
#[derive(Debug, Args)]
#[command(before_help = EXAMPLES, help_template = HELP)]
pub(super) struct CredentialsArgs {
    #[command(subcommand)]
    command: CredentialsCommand,
}

#[derive(Debug, Subcommand)]
enum CredentialsCommand {
    Fill(FillArgs),
}

/// Adds the passwords that are missing in the two Secrets of a Database. What is there stays.
#[derive(Debug, Args)]
#[command(before_help = EXAMPLES, help_template = HELP)]
struct FillArgs {
    /// Namespace of the Secrets.
    #[arg(short, long, value_name = "NAME")]
    namespace: String,
    /// Engine of the Database.
    #[arg(long, value_parser = engines(), value_name = "ENGINE")]
    engine: EngineName,
    /// Secret for applications.
    #[arg(long, value_name = "NAME")]
    app_secret: String,
    /// Secret for the server's own users.
    #[arg(long, value_name = "NAME")]
    admin_secret: String,
    /// How long to wait for the Secrets and for the right to write them.
    #[arg(long, value_name = "TIME", default_value = "0s", value_parser = duration)]
    wait: Duration,
    #[command(flatten)]
    cluster: ClusterFlags,
}

/// Reads the name of an engine that this build knows.
fn engines() -> impl TypedValueParser<Value = EngineName> {
    let names = || engine::ALL.iter().map(|engine| engine.name());
    let words = PossibleValuesParser::new(names().map(EngineName::as_str));
    words.try_map(move |word| names().find(|name| name.as_str() == word).ok_or("this build does not know the engine"))
}

pub(super) fn run(args: &CredentialsArgs, tell: &Tell) -> Exit {
    match &args.command {
        CredentialsCommand::Fill(args) => match fill(args) {
            Ok(said) => print_text(&said, tell),
            Err(reason) => tell.unreached(&reason),
        },
    }
}

/// What was filled, by the names of the keys; or what stood in the way.
fn fill(args: &FillArgs) -> Result<String, String> {
    let engine = engine::by_name(args.engine).ok_or("this build does not know the engine")?;
    let owner = cluster::Owner {
        namespace: args.namespace.clone(),
        app: args.app_secret.clone(),
        admin: args.admin_secret.clone(),
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(|e| e.to_string())?;
    let filled = runtime.block_on(async {
        let client = cluster::connect(&args.cluster.connect(true)).await.map_err(|e| e.to_string())?;
        cluster::fill(&client, engine, &owner, args.wait).await.map_err(|e| e.to_string())
    })?;
    Ok(filled
        .iter()
        .map(|secret| match secret.keys.as_slice() {
            [] => format!("Secret {}/{} is complete\n", args.namespace, secret.secret),
            keys => format!("Secret {}/{}: filled {}\n", args.namespace, secret.secret, keys.join(", ")),
        })
        .collect())
}
