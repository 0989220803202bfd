//! The cluster as the live side.

use std::collections::BTreeMap;

use super::super::load::count;
use super::super::tell::Tell;
use super::desired::Wanted;
use super::{DiffArgs, Other, Stop};
use crate::cluster::{self, ConnectError, Opinion, Seen};
use crate::diff::{Gap, GapReason, KINDS, LiveSet, Minor, Notice, Report, Status};
use crate::problem::{Code, FieldPath, Problem, Problems};

/// Reads what is wanted from the cluster that the flags choose.
pub(super) fn read(args: &DiffArgs, wanted: &mut Wanted, secrets: bool, tell: &Tell) -> Result<Other, Stop> {
    let choice = args.cluster.connect(false);
    let context = cluster::context_name(&choice);
    if let Some(expected) = &args.expect_context {
        let name = context.as_ref().ok().and_then(Option::as_deref).unwrap_or_default();
        if !expected.is_match(name) {
            let name =
                if name.is_empty() { "there is no context".to_owned() } else { format!("the context is {name:?}") };
            return Err(Stop::Refused(format!("{name}, and --expect-context asks for {:?}", expected.as_str())));
        }
    }
    let source = match context {
        Ok(Some(name)) => format!("context {name}"),
        Ok(None) => "the cluster of this pod".to_owned(),
        Err(_) => "the cluster".to_owned(),
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(|error| {
        Problem::new(Code::CannotRead, FieldPath::root(), format!("cannot wait for answers: {error}"))
    })?;
    tell.detail(|| format!("reading {source}"));
    let what = cluster::Wanted { objects: wanted.identities(), everywhere: args.input.all_namespaces, secrets };
    let mut objects = Vec::new();
    if args.server_dry_run {
        wanted.each(|subject| objects.extend_from_slice(subject.objects));
        objects.retain(|object| secrets || object.kind != "Secret");
    }
    let (seen, opinions) = runtime.block_on(async {
        match cluster::connect(&choice).await {
            Ok(client) => {
                let mut seen = cluster::read_live(&client, source.clone(), &what).await;
                if let Some(address) = cluster::address(&choice).await {
                    seen.name_server(&address);
                }
                let opinions = cluster::dry_run(&client, objects, &seen.live).await;
                (seen, opinions)
            }
            Err(error) => (nothing(source.clone(), &error), Opinions::new()),
        }
    });
    tell.detail(|| format!("read {}", count(seen.live.objects.len(), "object")));
    Ok(other(seen, opinions))
}

/// What the server says, by kind, namespace and name.
pub(super) type Opinions = BTreeMap<(String, String, String), Opinion>;

/// Where the server's opinion is another than the report's, and where it has none.
pub(super) fn disagreements(opinions: &Opinions, report: &Report) -> Problems {
    let mut problems = Problems::new();
    for object in report.databases.iter().flat_map(|database| &database.objects) {
        let key = (object.kind.clone(), object.namespace.clone(), object.name.clone());
        let Some(opinion) = opinions.get(&key) else { continue };
        let drifted = object.status == Status::Drifted;
        let (code, message) = match opinion {
            Opinion::None(reason) => (Code::CannotRead, format!("the server gives no second opinion: {reason}")),
            // What has to be made anew is refused as it stands; the report says so too.
            Opinion::Refused(words) if object.procedure.is_empty() => (Code::ServerDisagrees, format!("the server would refuse it: {words}")),
            Opinion::Changed(paths) if object.status == Status::InSync => {
                (Code::ServerDisagrees, format!("applying it would change {}, and it is reported in sync", paths.join(", ")))
            }
            Opinion::Unchanged if drifted => (
                Code::ServerDisagrees,
                "applying it would change nothing, and it is reported drifted: what was added stays, because somebody else owns it".to_owned(),
            ),
            Opinion::Created if object.status != Status::Missing && !object.status.is_unknown() => {
                (Code::ServerDisagrees, "applying it would make it, and it was read".to_owned())
            }
            _ => continue,
        };
        let mut problem = Problem::new(code, FieldPath::root(), message);
        problem.subject = Some(format!("{} {}/{}", object.kind, object.namespace, object.name));
        problems.push(problem);
    }
    problems
}

fn other(seen: Seen, opinions: Opinions) -> Other {
    let Seen { live, kubernetes, not_everywhere } = seen;
    let mut notices = Vec::new();
    if !not_everywhere.is_empty() {
        let message = format!(
            "orphans in other namespaces were not looked for: not allowed to list {} in all namespaces",
            not_everywhere.join(", ")
        );
        notices.push(Notice::from(&Problem::new(Code::NotEverywhere, FieldPath::root(), message)));
    }
    if let Some(minor) = kubernetes.filter(|minor| minor.known() != *minor) {
        let message = format!("the server is Kubernetes {minor}; it is compared by the defaults of {}", minor.known());
        notices.push(Notice::from(&Problem::new(Code::UntriedKubernetes, FieldPath::root(), message)));
    }
    Other { title: format!("live: {}", live.source), live, kubernetes: kubernetes.map(Minor::known), notices, opinions }
}

/// Nothing could be read: that is a report too, in which everything is unknown.
fn nothing(source: String, error: &ConnectError) -> Seen {
    let message = error.to_string();
    let gap =
        |kind: &str| Gap { kind: kind.to_owned(), namespace: None, reason: GapReason::Error, message: message.clone() };
    let gaps = KINDS.iter().map(|kind| gap(kind.kind)).collect();
    Seen { live: LiveSet { source, gaps, ..LiveSet::default() }, ..Seen::default() }
}
