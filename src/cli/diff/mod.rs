//! `dbrender diff`: what drifted, who did it, and what putting it right would do.

#[cfg(feature = "cluster")]
mod cluster;
mod commit;
mod desired;
mod live;
mod rendered;
mod show;

use std::path::PathBuf;

use clap::{ArgAction, Args};

use super::args::{HELP, InputFlags};
#[cfg(feature = "cluster")]
use super::connection::ClusterFlags;
use super::exit::Exit;
use super::tell::Tell;
use crate::diff::{Comparison, Desired, FailOn, LiveSet, Minor, Notice, Orphans, Policy, Verdict};
use crate::problem::Problem;
#[cfg(feature = "cluster")]
use crate::{diff::Report, problem::Problems};

use desired::Wanted;
use show::{Output, Titles};

const EXAMPLES: &str = "\
Examples:
  dbrender diff databases/                      against the current context
  dbrender diff --live live.json                against what kubectl printed
  dbrender diff --base origin/main -o markdown  what a pull request would do
  dbrender diff -o text -o html=report.html --fail-on rolling-restart
";

const AFTER: &str = "\
It reads with get and list alone; `dbrender rbac viewer` prints the role.

Exit codes:
  0  in sync
  1  differences
  2  bad usage or invalid input; valid Databases are compared all the same
  3  something could not be read: the answer is incomplete
  4  refused: the context is not the expected one";

/// Compares what is rendered with what is in the cluster.
///
/// Each difference has a class, which says what putting it right does to the running database: none, metadata, in-place,
/// rolling-restart, recreate-orphan, migration, data-risk or data-loss.
#[derive(Debug, Args)]
#[command(before_help = EXAMPLES, after_help = AFTER, help_template = HELP)]
pub(super) struct DiffArgs {
    #[command(flatten)]
    input: InputFlags,
    /// Compare with what `kubectl get -o json` or `-o yaml` printed to FILE, `-` for stdin.
    #[arg(long, value_name = "FILE", conflicts_with = "base")]
    live: Option<PathBuf>,
    /// Compare the manifests in DIR, and render nothing.
    #[arg(long, value_name = "DIR", conflicts_with_all = ["base", "paths"])]
    rendered: Option<PathBuf>,
    /// Compare with what the Databases and the platform file of a commit render: what a change intends.
    #[arg(long, value_name = "GITREF")]
    base: Option<String>,
    /// Form of the report: text, json, markdown, html, sarif, junit or github; with `=FILE` into a file. Can be given
    /// more than once.
    #[arg(short, long, value_name = "FORMAT[=FILE]", default_value = "text", value_parser = Output::parse)]
    output: Vec<Output>,
    /// Exit with 1 only for differences of CLASS or worse, or for additions of others too with `foreign`.
    #[arg(long, value_name = "CLASS", value_parser = fail_on)]
    fail_on: Option<FailOn>,
    /// With `--exit-code=false`, differences exit with 0 too.
    #[arg(long, value_name = "BOOL", default_value_t = true, action = ArgAction::Set)]
    exit_code: bool,
    /// Equal lines around each difference of a long text.
    #[arg(short = 'U', long, value_name = "N", default_value_t = 3)]
    unified: usize,
    /// Most characters of the markdown form.
    #[arg(long, value_name = "N", default_value_t = 65_536)]
    max_length: usize,
    /// Ask for no Secrets, and compare none.
    #[arg(long)]
    no_secret_read: bool,
    /// Ask the server what applying would change, as a second opinion. It writes nothing, and needs the right to patch.
    #[cfg(feature = "cluster")]
    #[arg(long, conflicts_with_all = ["live", "base"])]
    server_dry_run: bool,
    /// Refuse a context whose name REGEX does not match.
    #[cfg(feature = "cluster")]
    #[arg(long, value_name = "REGEX", value_parser = regex::Regex::new, conflicts_with_all = ["live", "base"])]
    expect_context: Option<regex::Regex>,
    #[cfg(feature = "cluster")]
    #[command(flatten)]
    cluster: ClusterFlags,
}

fn fail_on(word: &str) -> Result<FailOn, String> {
    FailOn::parse(word).ok_or_else(|| {
        let classes: Vec<&str> = crate::diff::Impact::ALL.iter().map(|class| class.as_str()).collect();
        format!("it is one of {} and foreign", classes.join(", "))
    })
}

/// The other side of the comparison.
#[derive(Default)]
struct Other {
    live: LiveSet,
    /// Its title in the report.
    title: String,
    kubernetes: Option<Minor>,
    /// What there is to say about it.
    notices: Vec<Notice>,
    /// What the server says to each object, when it was asked.
    #[cfg(feature = "cluster")]
    opinions: cluster::Opinions,
}

/// Why there is no comparison at all.
enum Stop {
    Usage(String),
    Refused(String),
    Problem(Box<Problem>),
}

impl From<Problem> for Stop {
    fn from(problem: Problem) -> Stop {
        Stop::Problem(Box::new(problem))
    }
}

pub(super) fn run(args: &DiffArgs, tell: &Tell) -> Exit {
    match compare(args, tell) {
        Ok(exit) => exit,
        Err(Stop::Usage(message)) => tell.usage(&message),
        Err(Stop::Refused(message)) => {
            tell.problem_line(&message);
            Exit::Refused
        }
        Err(Stop::Problem(problem)) => tell.problems(&[*problem].into_iter().collect(), &[]),
    }
}

fn compare(args: &DiffArgs, tell: &Tell) -> Result<Exit, Stop> {
    show::check(&args.output).map_err(Stop::Usage)?;
    let mut wanted = match &args.rendered {
        Some(dir) => rendered::read(dir, &args.input, tell)?,
        None => Wanted::load(&args.input, tell),
    };
    if wanted.is_nothing() && args.base.is_none() {
        return Ok(wanted.refuse(tell));
    }
    let secrets = !args.no_secret_read;
    let base = match &args.base {
        Some(reference) => Some(commit::load(reference, args, tell)?),
        None => None,
    };
    let other = match &base {
        Some(base) => base.other(),
        None => live::read(args, &mut wanted, secrets, tell)?,
    };
    let policy = Policy {
        secrets_read: secrets,
        kubernetes: args
            .input
            .kubernetes_version
            .map(|minor| Minor(u32::from(minor)))
            .or(other.kubernetes)
            .unwrap_or(Minor::NEWEST),
        orphans: if base.is_some() || (args.input.all_namespaces && !wanted.is_part()) {
            Orphans::Everywhere
        } else if wanted.is_part() {
            Orphans::OfTheseDatabases
        } else {
            Orphans::OfTheseNamespaces
        },
    };
    let mut comparison = Comparison::new(&other.live, &policy);
    wanted.each(|subject| {
        comparison.add(&Desired {
            plan: subject.plan,
            base: base.as_ref().and_then(|base| base.plan(subject.namespace, subject.name)),
            namespace: subject.namespace,
            name: subject.name,
            objects: subject.objects,
            origin: subject.origin.as_ref(),
        });
    });
    let mut report = comparison.finish(other.notices);
    #[cfg(feature = "cluster")]
    add_opinions(&cluster::disagreements(&other.opinions, &report), &wanted, &mut report);
    // What the cluster holds decides the exit first: input that is not valid has an exit of its own, and is a gap in the
    // answer all the same.
    let verdict = report.verdict(args.fail_on.unwrap_or_default());
    let mut notices = wanted.notices(wanted.problems());
    report.complete &= !notices.iter().any(Notice::is_error);
    notices.append(&mut report.problems);
    report.problems = notices;
    // A change that is refused is no gap in the answer.
    let refused = base.as_ref().map(|base| base.refused(&wanted)).unwrap_or_default();
    report.problems.extend(wanted.notices(&refused));
    let titles = Titles { live: other.title, desired: wanted.title() };
    let is_told = show::has_text_on_stdout(&args.output);
    let invalid = wanted.exit(wanted.problems(), tell, is_told).or_worse(wanted.exit(&refused, tell, is_told));
    let written = show::write(&report, &titles, &wanted, args, tell);
    let verdict = match verdict {
        Verdict::InSync => Exit::Done,
        Verdict::Differences if args.exit_code => Exit::Differences,
        Verdict::Differences => Exit::Done,
        Verdict::Incomplete => Exit::Incomplete,
    };
    Ok(verdict.or_worse(invalid).or_worse(written))
}

/// Adds what the server says otherwise. Where it could not be asked, the answer is incomplete.
#[cfg(feature = "cluster")]
fn add_opinions(disagreements: &Problems, wanted: &Wanted, report: &mut Report) {
    report.complete &= !disagreements.has_errors();
    report.problems.extend(wanted.notices(disagreements));
}
