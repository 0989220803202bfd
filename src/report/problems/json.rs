//! For programs: one object, `dbrender.problems/v1`.

use serde_json::{Value, json};

use super::position::Positions;
use crate::input::Source;
use crate::problem::{Place, Problem, Problems};

/// Every problem as one JSON object. Lines and columns count from 1, columns in characters; `endColumn` is the column
/// behind the last character. A problem without a place has `place: null`.
#[must_use]
pub fn json(problems: &Problems, sources: &[Source]) -> String {
    let mut positions = Positions::new(sources);
    let all: Vec<Value> = problems.iter().map(|one| problem(one, &mut positions)).collect();
    let whole = json!({"schemaVersion": "dbrender.problems/v1", "problems": all});
    // The value holds nothing that JSON cannot.
    let mut out = serde_json::to_string_pretty(&whole).unwrap_or_default();
    out.push('\n');
    out
}

fn problem(problem: &Problem, positions: &mut Positions<'_>) -> Value {
    let related: Vec<Value> = problem
        .related
        .iter()
        .map(|related| json!({"label": related.label, "place": place(&related.place, positions)}))
        .collect();
    json!({
        "code": problem.code.id(),
        "name": problem.code.name(),
        "severity": problem.severity.as_str(),
        "subject": problem.subject,
        "field": problem.path.to_string(),
        "message": problem.message,
        "hint": problem.hint,
        "place": problem.place.as_ref().map(|one| place(one, positions)),
        "related": related,
    })
}

fn place(place: &Place, positions: &mut Positions<'_>) -> Value {
    match positions.of(place) {
        Some((source, start, end)) => json!({
            "file": source.name,
            "line": start.line,
            "column": start.column,
            "endLine": end.line,
            "endColumn": end.column,
            "absent": place.absent,
        }),
        None => Value::Null,
    }
}
