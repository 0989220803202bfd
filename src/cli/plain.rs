//! Stands in for the room `report` until that is there.

use crate::input::Source;
use crate::problem::{Problem, Problems};

fn line(problem: &Problem, sources: &[Source]) -> String {
    let place = problem.place.as_ref().and_then(|place| {
        let source = sources.get(place.source)?;
        let before = source.text.get(..place.span.start)?;
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
        Some(format!("{}:{line}:{column}: ", source.name))
    });
    let place = place.unwrap_or_default();
    format!(
        "{place}{}[{}]: {}\n  hint: {}\n",
        problem.severity.as_str(),
        problem.code.id(),
        problem.message,
        problem.hint
    )
}

pub(super) fn text(problems: &Problems, sources: &[Source], _color: bool) -> String {
    problems.iter().map(|problem| line(problem, sources)).collect()
}

pub(super) fn json(problems: &Problems, sources: &[Source]) -> String {
    text(problems, sources, false)
}
pub(super) use {json as github, json as sarif};
