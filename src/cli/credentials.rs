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
use crate::engine::Engine;
use crate::{cluster, engine};

const EXAMPLES: &str = "\
Examples:
  dbrender credentials fill -n production --engine postgresql \\
      --app-secret order-db-app --admin-secret order-db-admin
  dbrender credentials rotate -n production --engine postgresql \\
      --app-secret order-db-app --admin-secret order-db-admin password
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
    Rotate(RotateArgs),
}

/// Makes passwords anew in the two Secrets of a Database. The database follows within a minute; connections that are open
/// stay open.
#[derive(Debug, Args)]
#[command(help_template = HELP)]
struct RotateArgs {
    /// Keys of the passwords, for example password or backup-password.
    #[arg(value_name = "KEY", required = true)]
    keys: Vec<String>,
    #[command(flatten)]
    whose: Whose,
    #[command(flatten)]
    cluster: ClusterFlags,
}

/// Whose passwords.
#[derive(Debug, Args)]
struct Whose {
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
}

impl Whose {
    fn engine(&self) -> Result<&'static dyn Engine, String> {
        engine::by_name(self.engine).ok_or_else(|| "this build does not know the engine".to_owned())
    }

    fn owner(&self) -> cluster::Owner {
        cluster::Owner {
            namespace: self.namespace.clone(),
            app: self.app_secret.clone(),
            admin: self.admin_secret.clone(),
        }
    }
}

/// Adds the passwords that are missing in the two Secrets of a Database. What is there stays.
#[derive(Debug, Args)]
#[command(before_help = EXAMPLES, help_template = HELP)]
struct FillArgs {
    #[command(flatten)]
    whose: Whose,
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
        CredentialsCommand::Rotate(args) => rotate(args, tell),
    }
}

/// What was filled, by the names of the keys; or what stood in the way.
fn fill(args: &FillArgs) -> Result<String, String> {
    let (engine, owner) = (args.whose.engine()?, args.whose.owner());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(|e| e.to_string())?;
    let filled = runtime.block_on(async {
        let client = cluster::connect(&args.cluster.connect(true)).await.map_err(|e| e.to_string())?;
        cluster::fill(&client, engine, &owner, args.wait).await.map_err(|e| e.to_string())
    })?;
    Ok(filled
        .iter()
        .map(|secret| match secret.keys.as_slice() {
            [] => format!("Secret {}/{} is complete\n", owner.namespace, secret.secret),
            keys => format!("Secret {}/{}: filled {}\n", owner.namespace, secret.secret, keys.join(", ")),
        })
        .collect())
}

fn rotate(args: &RotateArgs, tell: &Tell) -> Exit {
    let (engine, owner) = match args.whose.engine() {
        Ok(engine) => (engine, args.whose.owner()),
        Err(reason) => return tell.usage(&reason),
    };
    let passwords = engine::passwords(engine);
    if let Some(unknown) = args.keys.iter().find(|key| !passwords.contains(&key.as_str())) {
        return tell.usage(&format!("{unknown:?} is no password; there are {}", passwords.join(", ")));
    }
    let keys: Vec<&str> = args.keys.iter().map(String::as_str).collect();
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return tell.unreached(&error.to_string()),
    };
    let rotated = runtime.block_on(async {
        let client = cluster::connect(&args.cluster.connect(true)).await.map_err(|e| e.to_string())?;
        cluster::rotate(&client, engine, &owner, &keys).await.map_err(|e| e.to_string())
    });
    match rotated {
        Ok(secrets) => {
            let line = |secret: &cluster::Filled| {
                format!("Secret {}/{}: made anew {}\n", owner.namespace, secret.secret, secret.keys.join(", "))
            };
            print_text(&secrets.iter().map(line).collect::<String>(), tell)
        }
        Err(reason) => tell.unreached(&reason),
    }
}
