//! `dbrender role-label`: the sidecar that labels its own pod with the role that the agent beside it writes down.

use std::path::PathBuf;

use clap::Args;

use super::args::HELP;
use super::connection::ClusterFlags;
use super::exit::Exit;
use super::tell::Tell;
use crate::cluster;

const EXAMPLES: &str = "\
Examples:
  dbrender role-label --namespace production --pod order-db-0 --database order-db \\
      --members 7 --role-file /var/run/dbrender/role
";

/// Keeps the role label of a pod, for ever: runs beside the members of databases that elect their primary.
#[derive(Debug, Args)]
#[command(before_help = EXAMPLES, help_template = HELP)]
pub(super) struct RoleLabelArgs {
    /// Namespace of the pods.
    #[arg(short, long, value_name = "NAME")]
    namespace: String,
    /// This pod.
    #[arg(long, value_name = "NAME")]
    pod: String,
    /// The Database, whose pods are called after it.
    #[arg(long, value_name = "NAME")]
    database: String,
    /// Most members that there can be.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=99))]
    members: u8,
    /// File in which the agent writes `primary`, `replica` or `none`, again and again.
    #[arg(long, value_name = "FILE")]
    role_file: PathBuf,
    #[command(flatten)]
    cluster: ClusterFlags,
}

pub(super) fn run(args: &RoleLabelArgs, tell: &Tell) -> Exit {
    let member = cluster::Member {
        namespace: args.namespace.clone(),
        database: args.database.clone(),
        pod: args.pod.clone(),
        members: args.members,
    };
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return tell.unreached(&error.to_string()),
    };
    let ended = runtime.block_on(async {
        let client = cluster::connect(&args.cluster.connect(false)).await.map_err(|error| error.to_string())?;
        let said = |sentence: &str| tell.summary(sentence);
        cluster::keep_role_label(&client, &member, &args.role_file, said).await.map_err(|error| error.to_string())
    });
    match ended {
        Ok(()) => Exit::Done,
        Err(reason) => tell.unreached(&reason),
    }
}
