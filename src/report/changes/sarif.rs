//! The report as SARIF 2.1.0, for code scanning: every difference at the file and line of the Database.

use serde_json::{Value, json};

use crate::diff::{Bucket, Change, DatabaseReport, Impact, ObjectReport, Origin, Report, Status};
use crate::report::escape::{terminal, uri};

use super::shown::{Shown, shown};
use super::{Totals, View, changed_by, worst_first};

/// The report as SARIF. `results` is always there: readers refuse a log without it. Where a Database is declared in no
/// file, as an orphan, the result names the object alone.
#[must_use]
pub fn sarif(report: &Report, view: &View<'_>) -> String {
    let totals = Totals::of(report);
    let mut results = Vec::new();
    for database in worst_first(report) {
        for object in &database.objects {
            object_results(database, object, view, &mut results);
        }
    }
    let log = json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {
                "name": "dbrender",
                "informationUri": "https://github.com/dbrender/dbrender",
                "semanticVersion": env!("CARGO_PKG_VERSION"),
                "rules": rules(),
            }},
            "columnKind": "unicodeCodePoints",
            "invocations": [{
                "executionSuccessful": report.complete,
                "toolExecutionNotifications": report.problems.iter().map(|notice| json!({
                    "level": if notice.is_error() { "error" } else { "warning" },
                    "descriptor": {"id": notice.code},
                    "message": {"text": format!(
                        "{}{}. {}",
                        notice.subject.as_deref().map(|subject| format!("{subject}: ")).unwrap_or_default(),
                        terminal(&notice.message),
                        terminal(&notice.hint)
                    )},
                })).collect::<Vec<_>>(),
            }],
            "properties": {
                "complete": report.complete,
                "banner": totals.banner(report),
                "summary": report.summary,
            },
            "results": results,
        }],
    });
    // The value holds nothing that JSON cannot.
    let mut out = serde_json::to_string_pretty(&log).unwrap_or_default();
    out.push('\n');
    out
}

fn object_results(database: &DatabaseReport, object: &ObjectReport, view: &View<'_>, results: &mut Vec<Value>) {
    let title = format!("{} {}/{}", object.kind, object.namespace, object.name);
    let because = if object.reason.is_empty() { String::new() } else { format!(": {}", object.reason) };
    match object.status {
        Status::InSync | Status::Retained | Status::Skipped => {}
        Status::Forbidden | Status::Error => {
            let message = format!("{title} could not be read{because}");
            results.push(result("unknown", "error", &message, database.origin.clone(), object, ""));
        }
        Status::Missing | Status::Orphaned => {
            let message = format!("{title} is {}{because}", object.status);
            results.push(result(
                object.status.as_str(),
                level(object.impact),
                &message,
                database.origin.clone(),
                object,
                "",
            ));
        }
        Status::Drifted => {
            for change in object.changes.iter().filter(|change| change.bucket == Bucket::Drift) {
                let origin = view.origin(database, change.field);
                let message = change_message(&title, change, view);
                let rule = change.impact.as_str();
                results.push(result(rule, level(change.impact), &message, origin, object, &change.path));
            }
        }
    }
}

fn change_message(title: &str, change: &Change, view: &View<'_>) -> String {
    let values = match shown(change, 0) {
        Shown::Short { live: Some(live), desired: Some(desired) } => format!(" is {live} and should be {desired}"),
        Shown::Short { live: Some(live), desired: None } => format!(" is {live} and should not be there"),
        Shown::Short { live: None, desired: Some(desired) } => format!(" is absent and should be {desired}"),
        Shown::Short { live: None, desired: None } | Shown::Block(_) => " differs".to_owned(),
    };
    let by = changed_by(change, view.now).map(|by| format!(" ({by})")).unwrap_or_default();
    format!("{title}: {}{values}{by}. {}: {}", change.path, change.impact, change.reason)
}

fn result(rule: &str, level: &str, message: &str, origin: Option<Origin>, object: &ObjectReport, path: &str) -> Value {
    let full_name = format!("{}/{}/{}", object.kind, object.namespace, object.name);
    let mut location = json!({
        "logicalLocations": [{"fullyQualifiedName": full_name, "name": object.name, "kind": "resource"}],
    });
    if let Some(origin) = origin {
        location["physicalLocation"] = json!({
            "artifactLocation": {"uri": uri(&origin.file)},
            "region": {"startLine": origin.line.max(1), "startColumn": origin.column.max(1)},
        });
    }
    json!({
        "ruleId": rule,
        "level": level,
        "message": {"text": terminal(message)},
        "locations": [location],
        // The same difference is the same alert in the next run, wherever the Database stands in its file then.
        "partialFingerprints": {"dbrender/v1": format!("{full_name}{path}")},
    })
}

const fn level(impact: Impact) -> &'static str {
    match impact {
        Impact::None | Impact::Metadata => "note",
        Impact::InPlace | Impact::RollingRestart => "warning",
        Impact::RecreateOrphan | Impact::Migration | Impact::DataRisk | Impact::DataLoss => "error",
    }
}

/// A rule for every class of drift, and for what is not there, not ours any more, or not known.
fn rules() -> Vec<Value> {
    let class = |impact: Impact, text: &str| rule(impact.as_str(), level(impact), text);
    vec![
        class(Impact::None, "A difference whose correction does nothing."),
        class(Impact::Metadata, "A difference in labels or annotations that nothing acts on."),
        class(Impact::InPlace, "A difference that the running database takes without a restart."),
        class(Impact::RollingRestart, "Putting it right restarts the members one after the other."),
        class(
            Impact::RecreateOrphan,
            "The API server refuses the change: the object is deleted and made again, and what it made stays.",
        ),
        class(Impact::Migration, "Putting it right means moving the data."),
        class(Impact::DataRisk, "A person may lose data or the way to it."),
        class(Impact::DataLoss, "Putting it right deletes data."),
        rule("missing", "warning", "The object is rendered and not in the cluster."),
        rule("orphaned", "warning", "The object is in the cluster, is ours, and is no longer rendered."),
        rule("unknown", "error", "The object could not be read, so nothing is known about it."),
    ]
}

fn rule(id: &str, level: &str, text: &str) -> Value {
    json!({
        "id": id,
        "name": format!("{}Difference", id.split('-').map(capitalised).collect::<String>()),
        "shortDescription": {"text": text},
        "fullDescription": {"text": text},
        "help": {"text": format!("{text} `dbrender diff` prints the whole report.")},
        "defaultConfiguration": {"level": level},
    })
}

fn capitalised(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}
