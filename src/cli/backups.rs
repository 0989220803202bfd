//! `dbrender backups`: the backups of a Database that the cluster knows of, and one more on request.

use std::time::Duration;

use clap::{Args, Subcommand, ValueEnum};
use serde_json::{Value, json};

use super::args::HELP;
use super::connection::{ClusterFlags, duration};
use super::exit::Exit;
use super::output::print_text;
use super::tell::Tell;
use crate::cluster::{self, BackupError, Outcome, Run, Subject};
use crate::report::terminal;

const EXAMPLES: &str = "\
Examples:
  dbrender backups list order-db -n production
  dbrender backups now order-db -n production --wait 30m
";

const AFTER: &str = "\
Needs get on cronjobs, list on jobs and pods, and for `now` create on jobs.

Exit codes:
  0  done
  3  the cluster gave no answer, or the backup failed or takes longer
  4  refused: another backup runs";

/// Backups of a Database: those that the cluster knows of, and one more now.
#[derive(Debug, Args)]
#[command(before_help = EXAMPLES, after_help = AFTER, help_template = HELP)]
pub(super) struct BackupsArgs {
    #[command(subcommand)]
    command: BackupsCommand,
}

#[derive(Debug, Subcommand)]
enum BackupsCommand {
    List(ListArgs),
    Now(NowArgs),
}

/// Lists the runs whose Jobs are still there, the oldest first. The volume or the bucket may hold older backups.
#[derive(Debug, Args)]
#[command(before_help = EXAMPLES, after_help = AFTER, help_template = HELP)]
struct ListArgs {
    #[command(flatten)]
    whose: Whose,
    /// Form of the list.
    #[arg(short, long, value_enum, value_name = "FORMAT", default_value_t = Format::Text)]
    output: Format,
    #[command(flatten)]
    cluster: ClusterFlags,
}

/// Starts a backup now, as the schedule would, suspended or not.
#[derive(Debug, Args)]
#[command(before_help = EXAMPLES, after_help = AFTER, help_template = HELP)]
struct NowArgs {
    #[command(flatten)]
    whose: Whose,
    /// How long to wait for its end: 30m. Without it the name of the Job is printed at once.
    #[arg(long, value_name = "TIME", value_parser = duration)]
    wait: Option<Duration>,
    #[command(flatten)]
    cluster: ClusterFlags,
}

#[derive(Debug, Args)]
struct Whose {
    /// Name of the Database.
    #[arg(value_name = "NAME")]
    name: String,
    /// Its namespace.
    #[arg(short, long, value_name = "NAME")]
    namespace: String,
}

impl Whose {
    fn subject(&self) -> Subject {
        Subject { namespace: self.namespace.clone(), name: self.name.clone() }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// A table.
    Text,
    /// An array of objects.
    Json,
}

pub(super) fn run(args: &BackupsArgs, tell: &Tell) -> Exit {
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return tell.unreached(&error.to_string()),
    };
    match &args.command {
        BackupsCommand::List(args) => runtime.block_on(list(args, tell)),
        BackupsCommand::Now(args) => runtime.block_on(now(args, tell)),
    }
}

async fn list(args: &ListArgs, tell: &Tell) -> Exit {
    let client = match cluster::connect(&args.cluster.connect(false)).await {
        Ok(client) => client,
        Err(error) => return tell.unreached(&error.to_string()),
    };
    match cluster::backups(&client, &args.whose.subject()).await {
        Err(error) => tell.unreached(&error.to_string()),
        Ok(runs) if args.output == Format::Json => {
            let runs: Vec<Value> = runs.iter().map(value).collect();
            print_text(&format!("{:#}\n", Value::Array(runs)), tell)
        }
        Ok(runs) if runs.is_empty() => {
            tell.summary("the cluster knows of no backup; the destination may hold some");
            Exit::Done
        }
        Ok(runs) => print_text(&table(&runs), tell),
    }
}

async fn now(args: &NowArgs, tell: &Tell) -> Exit {
    let client = match cluster::connect(&args.cluster.connect(false)).await {
        Ok(client) => client,
        Err(error) => return tell.unreached(&error.to_string()),
    };
    let subject = args.whose.subject();
    let job = match cluster::start_backup(&client, &subject).await {
        Ok(job) => job,
        Err(error @ BackupError::Runs(_)) => {
            tell.problem_line(&error.to_string());
            return Exit::Refused;
        }
        Err(error) => return tell.unreached(&error.to_string()),
    };
    let Some(wait) = args.wait else { return print_text(&format!("{job}\n"), tell) };
    tell.summary(&format!("Job {job} runs"));
    match cluster::await_backup(&client, &subject, &job, wait).await {
        Err(error) => tell.unreached(&error.to_string()),
        Ok(run) => match run.outcome {
            Outcome::Complete => print_text(&table(&[run]), tell),
            Outcome::Failed => tell.unreached(&format!("the backup failed: {}", terminal(&run.message))),
            Outcome::Running => tell.unreached(&format!("Job {job} still runs after {} s", wait.as_secs())),
        },
    }
}

fn value(run: &Run) -> Value {
    let Run { job, created, outcome, id, version, bytes, message } = run;
    json!({"job": job, "created": created, "outcome": outcome.as_str(), "id": id, "version": version,
        "bytes": bytes, "message": message})
}

/// Columns as wide as what stands in them, and below each line what went wrong.
fn table(runs: &[Run]) -> String {
    let mut rows = vec![["JOB", "CREATED", "OUTCOME", "ID", "VERSION", "BYTES"].map(str::to_owned)];
    rows.extend(runs.iter().map(|run| {
        let bytes = run.bytes.map(|bytes| bytes.to_string()).unwrap_or_default();
        [run.job.as_str(), &run.created, run.outcome.as_str(), &run.id, &run.version, &bytes]
            .map(|cell| if cell.is_empty() { "-".to_owned() } else { terminal(cell).into_owned() })
    }));
    let mut widths = [0; 6];
    for row in &rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.chars().count());
        }
    }
    let mut out = String::new();
    for (number, row) in rows.iter().enumerate() {
        let cells: Vec<String> = row.iter().zip(widths).map(|(cell, width)| format!("{cell:width$}")).collect();
        out.push_str(cells.join("  ").trim_end());
        out.push('\n');
        if let Some(run) = number.checked_sub(1).and_then(|number| runs.get(number))
            && !run.message.is_empty()
        {
            out.push_str(&format!("  {}\n", terminal(&run.message)));
        }
    }
    out
}
