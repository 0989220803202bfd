//! For GitHub Actions: workflow commands, which become notes at the lines of a pull request.

use std::fmt::Write as _;

use super::position::Positions;
use crate::input::Source;
use crate::problem::{Problem, Problems, Severity};
use crate::report::escape::{terminal, workflow_message, workflow_property};

/// Every problem as one workflow command, errors first: GitHub shows the first ten of a step.
#[must_use]
pub fn github(problems: &Problems, sources: &[Source]) -> String {
    let mut positions = Positions::new(sources);
    let mut out = String::new();
    for severity in [Severity::Error, Severity::Warning] {
        for problem in problems.iter().filter(|problem| problem.severity == severity) {
            command(problem, &mut positions, &mut out);
        }
    }
    out
}

fn command(problem: &Problem, positions: &mut Positions<'_>, out: &mut String) {
    let title = format!("{} {}", problem.code.id(), problem.code.explanation().title);
    let mut properties = String::new();
    if let Some((source, start, end)) = problem.place.as_ref().and_then(|place| positions.of(place)) {
        let _ = write!(properties, "file={},line={},", workflow_property(&terminal(&source.name)), start.line);
        // A column counts on one line only.
        if start.line == end.line {
            let _ = write!(properties, "endLine={},col={},endColumn={},", end.line, start.column, end.column);
        } else {
            let _ = write!(properties, "endLine={},", end.line);
        }
    }
    let subject = problem.subject.as_deref().map(|subject| format!("{subject}: ")).unwrap_or_default();
    let hint = if problem.hint.is_empty() { String::new() } else { format!("\nhint: {}", terminal(&problem.hint)) };
    let message = format!("{}{}{hint}", terminal(&subject), terminal(&problem.message));
    let level = problem.severity.as_str();
    let _ = writeln!(out, "::{level} {properties}title={}::{}", workflow_property(&title), workflow_message(&message));
}
