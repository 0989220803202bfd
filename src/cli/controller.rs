//! `dbrender controller`: the same manifests, applied in the cluster.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use clap::{ArgAction, Args, ValueEnum};

use super::args::HELP;
use super::connection::{ClusterFlags, duration};
use super::exit::Exit;
use super::tell::Tell;
use crate::api::PlatformSettings;
use crate::check::{self, Ground};
use crate::cluster::{self, Connect, ConnectError};
use crate::controller::{self, Clients, Ended, Mode, Options, RolloutLimit, Shard, WATCH_SILENCE, WORKERS, Webhook};
use crate::input::{self, Schemas};
use crate::io;
use crate::problem::{Problem, Problems};

const EXAMPLES: &str = "\
Examples:
  dbrender controller                             in a cluster, as its ServiceAccount
  dbrender controller --mode observe -n production
  dbrender rbac controller | kubectl apply --server-side -f -
";

const AFTER: &str = "\
It runs until SIGTERM. Several may run: one leads, by the Lease db-operator-leader; of each --shard one, by a Lease
db-operator-leader-1-of-3.

Exit codes:
  0  asked to end
  2  the platform file is wrong
  3  there is no cluster to connect to, or an address cannot be had";

/// Where a pod finds its own namespace.
const OWN_NAMESPACE: &str = "/var/run/secrets/kubernetes.io/serviceaccount/namespace";

/// Keeps the objects of every Database in the cluster as they are rendered.
#[derive(Debug, Args)]
#[command(before_help = EXAMPLES, after_help = AFTER, help_template = HELP)]
pub(super) struct ControllerArgs {
    /// Apply what is rendered, or only say in each status what differs.
    #[arg(long, value_enum, value_name = "MODE", default_value_t = ModeWord::Apply)]
    mode: ModeWord,
    /// Only Databases of this namespace.
    #[arg(short, long, value_name = "NAME")]
    namespace: Option<String>,
    /// Platform file. It is read again when it changes.
    #[arg(long, value_name = "FILE")]
    platform: Option<PathBuf>,
    /// Environment of the platform file.
    #[arg(long, value_name = "NAME", requires = "platform")]
    env: Option<String>,
    /// A part of a large fleet: 1/3 is the first of three.
    #[arg(long, value_name = "PART", default_value = "1/1", value_parser = Shard::parse)]
    shard: Shard,
    /// Databases at a time.
    #[arg(long, value_name = "N", default_value_t = WORKERS, value_parser = clap::value_parser!(u16).range(1..=512))]
    workers: u16,
    /// Databases that may restart at a time because of a change. When one does not become ready, no other restarts until a
    /// person sets its annotation app.example.com/resume-rollouts. Without it: all, and nothing stops them.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    max_rollouts: Option<u16>,
    /// How long a restart may stand still before it has failed: 30s, 15m.
    #[arg(long, value_name = "TIME", default_value = "15m", value_parser = duration, requires = "max_rollouts")]
    rollout_patience: Duration,
    /// With `--leader-elect=false`, no Lease is used: for whoever knows that there is just one controller.
    #[arg(long, value_name = "BOOL", default_value_t = true, action = ArgAction::Set)]
    leader_elect: bool,
    /// Namespace of the Lease. Without it: the pod's own, else `default`.
    #[arg(long, value_name = "NAME")]
    lease_namespace: Option<String>,
    /// Address of /healthz and /readyz.
    #[arg(long, value_name = "ADDRESS", default_value = "0.0.0.0:8081")]
    health_address: SocketAddr,
    /// Address of /metrics.
    #[arg(long, value_name = "ADDRESS", default_value = "0.0.0.0:8080")]
    metrics_address: SocketAddr,
    /// Serve the validating webhook, at /validate, with tls.crt and tls.key of this folder: a mounted Secret of type
    /// kubernetes.io/tls. They are read again when they change.
    #[arg(long, value_name = "DIR")]
    webhook_certificates: Option<PathBuf>,
    /// Address of the webhook.
    #[arg(long, value_name = "ADDRESS", default_value = "0.0.0.0:9443", requires = "webhook_certificates")]
    webhook_address: SocketAddr,
    #[command(flatten)]
    cluster: ClusterFlags,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ModeWord {
    Apply,
    Observe,
}

pub(super) fn run(args: &ControllerArgs, tell: &Tell) -> Exit {
    let identity = match identity() {
        Ok(identity) => identity,
        Err(reason) => return tell.unreached(&reason),
    };
    let schemas = Arc::new(Schemas::new());
    let (platform, env) = (args.platform.clone(), args.env.clone());
    let log = *tell;
    let options = Options {
        mode: match args.mode {
            ModeWord::Apply => Mode::Apply,
            ModeWord::Observe => Mode::Observe,
        },
        namespace: args.namespace.clone(),
        shard: args.shard,
        workers: args.workers,
        rollouts: args.max_rollouts.map(|most| RolloutLimit { most, patience: args.rollout_patience }),
        lease_namespace: args.leader_elect.then(|| args.lease_namespace.clone().unwrap_or_else(own_namespace)),
        identity,
        health: Some(args.health_address),
        metrics: Some(args.metrics_address),
        webhook: args
            .webhook_certificates
            .clone()
            .map(|certificates| Webhook { address: args.webhook_address, certificates }),
        ground: Box::new(move || ground(platform.as_deref(), env.as_deref(), &schemas)),
        log: Box::new(move |line| log.summary(&format!("{} {line}", now()))),
    };
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return tell.unreached(&error.to_string()),
    };
    let ended = runtime.block_on(async {
        let clients = connect(&args.cluster).await.map_err(|error| (false, error.to_string()))?;
        controller::run(clients, options).await.map_err(|ended| (is_invalid(&ended), ended.to_string()))
    });
    match ended {
        Ok(()) => Exit::Done,
        Err((true, reason)) => {
            tell.problem_line(&reason);
            Exit::Invalid
        }
        Err((false, reason)) => tell.unreached(&reason),
    }
}

async fn connect(flags: &ClusterFlags) -> Result<Clients, ConnectError> {
    let choice = flags.connect(true);
    let watches = cluster::connect(&Connect { request_timeout: Some(WATCH_SILENCE), ..choice.clone() }).await?;
    // A request that fails is repeated by the next look, which asks first whether it still leads.
    let requests = cluster::connect(&Connect { patient: false, ..choice }).await?;
    Ok(Clients { requests, watches })
}

const fn is_invalid(ended: &Ended) -> bool {
    matches!(ended, Ended::Ground(_))
}

fn now() -> String {
    jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// The pod's name and a number that no other process has: a pod that starts again is another candidate.
fn identity() -> Result<String, String> {
    let mut bytes = [0u8; 6];
    getrandom::fill(&mut bytes).map_err(|error| format!("no random bytes: {error}"))?;
    let number = bytes.iter().fold(String::new(), |text, byte| format!("{text}{byte:02x}"));
    let pod =
        std::env::var("POD_NAME").or_else(|_| std::env::var("HOSTNAME")).unwrap_or_else(|_| "dbrender".to_owned());
    Ok(format!("{pod}_{number}"))
}

fn own_namespace() -> String {
    let text = std::env::var("POD_NAMESPACE").or_else(|_| std::fs::read_to_string(OWN_NAMESPACE));
    text.map_or_else(|_| "default".to_owned(), |text| text.trim().to_owned())
}

/// The checked platform file, or all that is wrong with it in one text.
fn ground(file: Option<&Path>, env: Option<&str>, schemas: &Schemas) -> Result<Ground, String> {
    let mut problems = Problems::new();
    let settings = match file {
        None => Some(PlatformSettings::default()),
        Some(file) => {
            let source = io::read_file(file, 0).map_err(|problem| sentence(&problem))?;
            input::parse_platform(0, &source, env, schemas, &mut problems).map(|declared| declared.settings)
        }
    };
    let ground = settings.and_then(|settings| check::ground(&settings, &mut problems));
    ground.filter(|_| !problems.has_errors()).ok_or_else(|| {
        let sentences: Vec<String> = problems.iter().map(sentence).collect();
        sentences.join("; ")
    })
}

fn sentence(problem: &Problem) -> String {
    let path = problem.path.to_string();
    let place = if path.is_empty() { String::new() } else { format!("{path}: ") };
    format!("{place}{} [{}]", problem.message, problem.code.id())
}
