//! For people: the line of the file, what is marked in it, and what to type.

use annotate_snippets::{AnnotationKind, Group, Level, Origin, Renderer, Snippet};

use super::position::{Positions, clamp};
use crate::input::Source;
use crate::problem::{Place, Problem, Problems, Severity};
use crate::report::escape::terminal;

/// Bytes of a line that are shown before and after what is marked, where the line is long.
const SHOWN: usize = 100;
/// Bytes from which on a line is long.
const LONG: usize = 400;

/// Every problem with the text around it. Empty where there are none. `color`: with escape sequences of a terminal.
#[must_use]
pub fn text(problems: &Problems, sources: &[Source], color: bool) -> String {
    let renderer = if color { Renderer::styled() } else { Renderer::plain() };
    let mut positions = Positions::new(sources);
    let mut out = String::new();
    for problem in problems {
        out.push_str(&renderer.render(&[group(problem, &mut positions)]));
        out.push_str("\n\n");
    }
    out
}

fn group<'a>(problem: &'a Problem, positions: &mut Positions<'a>) -> Group<'a> {
    let level = match problem.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
    };
    let message = match &problem.subject {
        // A place says which Database it is; without one the name does.
        Some(subject) if problem.place.is_none() => format!("{subject}: {}", problem.message),
        _ => problem.message.clone(),
    };
    let title = level.primary_title(terminal(&message).into_owned()).id(problem.code.id());
    let mut group = Group::with_title(title);
    if let Some(place) = &problem.place {
        let label = if place.absent { Some("missing in here") } else { None };
        group = add(group, place, label, AnnotationKind::Primary, positions);
    }
    for related in &problem.related {
        group = add(group, &related.place, Some(&related.label), AnnotationKind::Context, positions);
    }
    let hint = terminal(&problem.hint).into_owned();
    if hint.is_empty() { group } else { group.element(Level::HELP.with_name("hint").message(hint)) }
}

fn add<'a>(
    group: Group<'a>,
    place: &Place,
    label: Option<&'a str>,
    kind: AnnotationKind,
    positions: &mut Positions<'a>,
) -> Group<'a> {
    let Some((source, start, _)) = positions.of(place) else { return group };
    let name = terminal(&source.name).into_owned();
    let Some(line) = positions.line(place).filter(|line| !line.is_empty()) else {
        return group.element(Origin::path(name).line(start.line).char_column(start.column));
    };
    let span = clamp(&source.text, &place.span);
    let mark = span.start.min(line.end)..span.end.clamp(span.start.min(line.end), line.end);
    if line.len() <= LONG {
        let shown = &source.text[line.clone()];
        let mark = kind.span(mark.start - line.start..mark.end - line.start).label(label);
        return group.element(Snippet::source(shown).path(name).line_start(start.line).annotation(mark));
    }
    // Only a part of the line, which may have mebibytes. The snippet cannot know the column then.
    let end = mark.end.min(mark.start + SHOWN);
    let window = clamp(&source.text, &(line.start.max(mark.start.saturating_sub(SHOWN))..line.end.min(end + SHOWN)));
    let (before, after) = (cut(window.start > line.start), cut(window.end < line.end));
    let shown = format!("{before}{}{after}", &source.text[window.clone()]);
    let at = before.len() + mark.start - window.start;
    let mark = kind.span(at..(at + mark.end - mark.start).min(shown.len() - after.len())).label(label);
    group
        .element(Origin::path(name).line(start.line).char_column(start.column))
        .element(Snippet::source(shown).line_start(start.line).annotation(mark))
}

/// What stands where a line is cut.
const fn cut(is_cut: bool) -> &'static str {
    if is_cut { "…" } else { "" }
}
