//! The report as workflow commands of GitHub: an annotation at the Database for every object that is not in sync.

use crate::diff::{Bucket, Impact, ObjectReport, Report, Status};
use crate::report::escape::{terminal, workflow_message, workflow_property};

use super::shown::{Shown, shown};
use super::{Totals, View, notable, worst_first};

/// Most changes that the text of one annotation lists.
const CHANGES: usize = 10;

/// The report as workflow commands, the worst first, because GitHub shows only the first ten of a step. The last line is
/// a notice with the numbers.
#[must_use]
pub fn github(report: &Report, view: &View<'_>) -> String {
    let totals = Totals::of(report);
    let mut out = String::new();
    if let Some(banner) = totals.banner(report) {
        command(&mut out, "error", None, "dbrender diff", &banner);
    }
    for notice in &report.problems {
        let level = if notice.is_error() { "error" } else { "warning" };
        let hint = if notice.hint.is_empty() { String::new() } else { format!(" ({})", notice.hint) };
        let subject = notice.subject.as_deref().map(|subject| format!("{subject}: ")).unwrap_or_default();
        let place = notice.origin.as_ref().map(|o| (o.file.as_str(), o.line));
        command(&mut out, level, place, &notice.code, &format!("{subject}{}{hint}", notice.message));
    }
    for database in worst_first(report) {
        for object in notable(database).into_iter().filter(|object| object.status != Status::InSync) {
            let field =
                object.changes.iter().find(|change| change.bucket == Bucket::Drift).and_then(|change| change.field);
            let origin = view.origin(database, field);
            let place = origin.as_ref().map(|o| (o.file.as_str(), o.line));
            let title = format!("{}/{}: {} {}", database.namespace, database.name, object.impact, object.status);
            command(&mut out, level(object), place, &title, &message(object));
        }
    }
    command(&mut out, "notice", None, "dbrender diff", &format!("{}; {}", totals.sentence(), totals.changes()));
    out
}

fn level(object: &ObjectReport) -> &'static str {
    match object.status {
        Status::Forbidden | Status::Error => "error",
        Status::Retained | Status::Skipped | Status::InSync => "notice",
        Status::Drifted | Status::Missing | Status::Orphaned => match object.impact {
            Impact::None | Impact::Metadata => "notice",
            Impact::InPlace | Impact::RollingRestart => "warning",
            Impact::RecreateOrphan | Impact::Migration | Impact::DataRisk | Impact::DataLoss => "error",
        },
    }
}

fn message(object: &ObjectReport) -> String {
    let mut lines = vec![format!("{} {} is {}", object.kind, object.name, object.status)];
    if !object.reason.is_empty() {
        lines.push(object.reason.to_string());
    }
    let drift: Vec<_> = object.changes.iter().filter(|change| change.bucket == Bucket::Drift).collect();
    for change in drift.iter().take(CHANGES) {
        let values = match shown(change, 0) {
            Shown::Short { live: Some(live), desired: Some(desired) } => format!(": {live} → {desired}"),
            Shown::Short { live: Some(value), desired: None } | Shown::Short { live: None, desired: Some(value) } => {
                format!(": {value}")
            }
            Shown::Short { live: None, desired: None } | Shown::Block(_) => String::new(),
        };
        lines.push(format!("{} {}{values}", change.op.as_str(), change.path));
    }
    if drift.len() > CHANGES {
        lines.push(format!("… and {} more", drift.len() - CHANGES));
    }
    lines.extend(object.procedure.iter().cloned());
    lines.join("\n")
}

fn command(out: &mut String, level: &str, place: Option<(&str, u64)>, title: &str, message: &str) {
    let place = place.map(|(file, line)| format!("file={},line={line},", workflow_property(file))).unwrap_or_default();
    let message: Vec<String> = message.lines().map(|line| terminal(line).into_owned()).collect();
    let title = workflow_property(&terminal(title));
    out.push_str(&format!("::{level} {place}title={title}::{}\n", workflow_message(&message.join("\n"))));
}
