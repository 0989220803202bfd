//! For code scanning: SARIF 2.1.0. Columns count in UTF-16 code units, which is that format's own way.

use serde_json::{Value, json};

use super::position::Positions;
use crate::input::Source;
use crate::problem::{Code, Place, Problem, Problems, Severity};
use crate::report::escape::{terminal, uri};

/// Every problem as one SARIF log with the rules that were broken.
#[must_use]
pub fn sarif(problems: &Problems, sources: &[Source]) -> String {
    let mut positions = Positions::new(sources);
    let broken: Vec<Code> =
        Code::ALL.iter().copied().filter(|code| problems.iter().any(|problem| problem.code == *code)).collect();
    let results: Vec<Value> = problems.iter().map(|problem| result(problem, &broken, &mut positions)).collect();
    let log = json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {
                "name": "dbrender",
                "informationUri": "https://github.com/dbrender/dbrender",
                "semanticVersion": env!("CARGO_PKG_VERSION"),
                "rules": broken.iter().map(|code| rule(*code)).collect::<Vec<_>>(),
            }},
            "columnKind": "utf16CodeUnits",
            "results": results,
        }],
    });
    // The value holds nothing that JSON cannot.
    let mut out = serde_json::to_string_pretty(&log).unwrap_or_default();
    out.push('\n');
    out
}

fn rule(code: Code) -> Value {
    let explanation = code.explanation();
    json!({
        "id": code.id(),
        "name": code.name(),
        "shortDescription": {"text": explanation.title},
        "fullDescription": {"text": explanation.text},
        "help": {"text": format!("{} {}", explanation.text, explanation.hint)},
        "defaultConfiguration": {"level": level(code.severity())},
    })
}

const fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
    }
}

fn result(problem: &Problem, broken: &[Code], positions: &mut Positions<'_>) -> Value {
    let hint = if problem.hint.is_empty() { String::new() } else { format!(" ({})", problem.hint) };
    let mut result = json!({
        "ruleId": problem.code.id(),
        "ruleIndex": broken.iter().position(|code| *code == problem.code),
        "level": level(problem.severity),
        "message": {"text": terminal(&format!("{}{hint}", problem.message))},
    });
    let place = problem.place.as_ref().and_then(|place| physical(place, positions));
    let mut names = Vec::new();
    if let Some(subject) = &problem.subject {
        names.push(json!({"fullyQualifiedName": terminal(subject), "kind": "resource"}));
    }
    if !problem.path.is_root() {
        names.push(json!({"fullyQualifiedName": terminal(&problem.path.to_string()), "kind": "member"}));
    }
    if place.is_some() || !names.is_empty() {
        let mut location = place.unwrap_or_else(|| json!({}));
        if !names.is_empty() {
            location["logicalLocations"] = Value::Array(names);
        }
        result["locations"] = json!([location]);
    }
    let related: Vec<Value> = problem
        .related
        .iter()
        .filter_map(|related| {
            let mut location = physical(&related.place, positions)?;
            location["message"] = json!({"text": related.label});
            Some(location)
        })
        .collect();
    if !related.is_empty() {
        result["relatedLocations"] = Value::Array(related);
    }
    result
}

fn physical(place: &Place, positions: &mut Positions<'_>) -> Option<Value> {
    let (source, start, end) = positions.of(place)?;
    Some(json!({"physicalLocation": {
        "artifactLocation": {"uri": uri(&source.name)},
        "region": {"startLine": start.line, "startColumn": start.column16, "endLine": end.line, "endColumn": end.column16},
    }}))
}
