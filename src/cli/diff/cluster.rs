//! The cluster as the live side.

use super::super::tell::Tell;
use super::desired::Wanted;
use super::{DiffArgs, Other, Stop};
use crate::cluster::{self, ConnectError, Seen};
use crate::diff::{Gap, GapReason, KINDS, LiveSet, Minor, Notice};
use crate::problem::{Code, FieldPath, Problem};

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
    let seen = runtime.block_on(async {
        match cluster::connect(&choice).await {
            Ok(client) => cluster::read_live(&client, source.clone(), &what).await,
            Err(error) => nothing(source.clone(), &error),
        }
    });
    tell.detail(|| format!("{} objects", seen.live.objects.len()));
    Ok(other(seen))
}

fn other(seen: Seen) -> Other {
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
    Other { title: format!("live: {}", live.source), live, kubernetes: kubernetes.map(Minor::known), notices }
}

/// Nothing could be read: that is a report too, in which everything is unknown.
fn nothing(source: String, error: &ConnectError) -> Seen {
    let message = error.to_string();
    let gap =
        |kind: &str| Gap { kind: kind.to_owned(), namespace: None, reason: GapReason::Error, message: message.clone() };
    let gaps = KINDS.iter().map(|kind| gap(kind.kind)).collect();
    Seen { live: LiveSet { source, gaps, ..LiveSet::default() }, ..Seen::default() }
}
