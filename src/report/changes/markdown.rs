//! The report for a comment on a pull request. Never longer than it may be: the worst comes first, and what had to go is
//! counted.

use std::fmt::Write as _;

use crate::diff::{Bucket, Change, DatabaseReport, Impact, Notice, ObjectReport, Op, Report};
use crate::report::escape::{markdown_cell, markdown_code, markdown_fence, markdown_text, markup, terminal};

use super::shown::{Mark, Shown, shown};
use super::{Totals, View, changed_by, count, notable, subjects_of, thousands, together, worst_first};

/// First line of the text. Whoever posts it finds the older comment by it and edits that.
pub const MARKER: &str = "<!-- dbrender diff -->";

/// Most names that a problem lists.
const NAMES: usize = 6;
/// Room for the sentence that says what is left out, in UTF-16 units.
const TAIL: usize = 400;

/// The report as Markdown of at most `max_length` characters, counted as UTF-16 units: no platform counts more.
#[must_use]
pub fn markdown(report: &Report, view: &View<'_>, max_length: usize, context: usize) -> String {
    let totals = Totals::of(report);
    let mut page = Page::new(max_length);
    if !page.push(&head(report, view, &totals)) {
        return shortest(report, &totals, max_length);
    }
    let databases: Vec<&DatabaseReport> =
        worst_first(report).into_iter().filter(|database| !notable(database).is_empty()).collect();
    let mut cut = Cut::default();

    let floor = page.left() / 4 * 3;
    let notices = together(&report.problems);
    for (index, (notice, subjects)) in notices.iter().enumerate() {
        if !page.push_above(&notice_line(notice, subjects), floor) {
            cut.notices = notices.len() - index;
            break;
        }
    }
    table(&databases, &mut page);
    for (index, database) in databases.iter().enumerate() {
        let left_out = section(database, view, context, &mut page);
        cut.objects += left_out.unwrap_or(0);
        if left_out.is_none() {
            cut.databases = databases.len() - index;
            cut.objects += databases[index..].iter().map(|database| notable(database).len()).sum::<usize>();
            break;
        }
    }
    page.finish(&cut.sentence(max_length))
}

/// What was left out.
#[derive(Default)]
struct Cut {
    notices: usize,
    databases: usize,
    objects: usize,
}

impl Cut {
    fn sentence(&self, max_length: usize) -> String {
        let parts: Vec<String> = [(self.databases, "Database"), (self.objects, "object"), (self.notices, "problem")]
            .into_iter()
            .filter(|(number, _)| *number > 0)
            .map(|(number, noun)| count(number as u64, noun))
            .collect();
        if parts.is_empty() {
            return String::new();
        }
        format!(
            "\n**Not shown in full here:** {}. This text may have {} characters; `-o json` has everything.\n",
            parts.join(", "),
            thousands(max_length as u64)
        )
    }
}

/// The text so far, and how much more it may hold.
struct Page {
    out: String,
    used: usize,
    max: usize,
}

impl Page {
    fn new(max: usize) -> Page {
        Page { out: String::new(), used: 0, max: max.saturating_sub(TAIL) }
    }

    fn left(&self) -> usize {
        self.max.saturating_sub(self.used)
    }

    /// Adds the text if it fits as a whole.
    fn push(&mut self, text: &str) -> bool {
        let length = length(text);
        let fits = length <= self.left();
        if fits {
            self.out.push_str(text);
            self.used += length;
        }
        fits
    }

    /// The same, as long as this much room is left behind it.
    fn push_above(&mut self, text: &str, floor: usize) -> bool {
        length(text).saturating_add(floor) <= self.left() && self.push(text)
    }

    fn finish(mut self, tail: &str) -> String {
        self.out.push_str(tail);
        self.out
    }
}

fn length(text: &str) -> usize {
    text.encode_utf16().count()
}

fn head(report: &Report, view: &View<'_>, totals: &Totals) -> String {
    let mut out = format!("{MARKER}\n### dbrender diff: {}\n\n", totals.title(report));
    if let Some(banner) = totals.banner(report) {
        let _ = write!(out, "> [!CAUTION]\n> **{banner}.**\n\n");
    }
    let _ = writeln!(
        out,
        "{} of {}: {}. {}.\n",
        count(totals.objects(), "object"),
        count(totals.databases, "Database"),
        totals.sentence(),
        totals.changes()
    );
    if report.summary.differences() > 0 {
        let _ = writeln!(out, "By class: {}.\n", totals.classes_sentence());
    }
    let _ = writeln!(out, "`-` {}, `+` {}.\n", markdown_text(view.live), markdown_text(view.desired));
    out
}

/// For a limit that not even the head fits into.
fn shortest(report: &Report, totals: &Totals, max_length: usize) -> String {
    let incomplete = if report.complete { "" } else { "INCOMPLETE. " };
    let text = format!("{MARKER}\n{incomplete}{}\n", totals.sentence());
    let mut used = 0;
    text.chars()
        .take_while(|c| {
            used += c.len_utf16();
            used <= max_length
        })
        .collect()
}

fn notice_line(notice: &Notice, subjects: &[&str]) -> String {
    let subject = match subjects {
        [] => String::new(),
        some => format!("{}: ", markdown_code(&subjects_of(some, NAMES))),
    };
    let hint = if notice.hint.is_empty() { String::new() } else { format!(" ({})", markdown_text(&notice.hint)) };
    format!("- **{} {}** {subject}{}{hint}\n", notice.severity, notice.code, markdown_text(&notice.message))
}

fn table(databases: &[&DatabaseReport], page: &mut Page) {
    if databases.len() < 2 || !page.push("\n| Database | engine | class | objects |\n|---|---|---|---|\n") {
        return;
    }
    let floor = page.left() / 3 * 2;
    for (index, database) in databases.iter().enumerate() {
        let row = format!(
            "| {} | {} | {} | {} |\n",
            markdown_cell(&format!("{}/{}", database.namespace, database.name)),
            markdown_text(&database.engine),
            class(database.impact),
            statuses(database)
        );
        if !page.push_above(&row, floor) {
            page.push(&format!("| … and {} more | | | |\n", thousands((databases.len() - index) as u64)));
            break;
        }
    }
}

fn class(impact: Impact) -> String {
    if impact >= Impact::RollingRestart { format!("**{impact}**") } else { impact.to_string() }
}

/// `2 drifted, 1 missing`.
fn statuses(database: &DatabaseReport) -> String {
    let mut numbers = std::collections::BTreeMap::new();
    for object in notable(database) {
        *numbers.entry(object.status).or_insert(0u64) += 1;
    }
    let parts: Vec<String> = numbers.iter().map(|(status, number)| format!("{number} {status}")).collect();
    parts.join(", ")
}

/// One Database. `None`: nothing of it fits. Otherwise how many of its objects are shown in short or not at all.
fn section(database: &DatabaseReport, view: &View<'_>, context: usize, page: &mut Page) -> Option<usize> {
    const END: &str = "\n</details>\n";
    let place = database.origin.as_ref().map(|o| format!(" {}:{}", markup(&o.file), o.line)).unwrap_or_default();
    let start = format!(
        "\n<details{}><summary><code>{}/{}</code> <b>{}</b>{place}</summary>\n\n",
        if database.impact >= Impact::RollingRestart { " open" } else { "" },
        markup(&database.namespace),
        markup(&database.name),
        database.impact
    );
    let objects = notable(database);
    let first = objects.first().map(|object| one_line(object)).unwrap_or_default();
    if length(&start) + length(&first) + length(END) > page.left() {
        return None;
    }
    page.push(&start);
    page.max -= length(END);
    let mut short = 0;
    for object in objects {
        if !page.push(&full(object, view, context)) {
            short += 1;
            page.push(&one_line(object));
        }
    }
    page.max += length(END);
    page.push(END);
    Some(short)
}

fn one_line(object: &ObjectReport) -> String {
    let class = if object.impact > Impact::None { format!(", {}", class(object.impact)) } else { String::new() };
    let reason = if object.reason.is_empty() { String::new() } else { format!(": {}", markdown_text(&object.reason)) };
    format!("**{}** {} {}{class}{reason}\n\n", markdown_text(&object.kind), markdown_code(&object.name), object.status)
}

fn full(object: &ObjectReport, view: &View<'_>, context: usize) -> String {
    let mut out = one_line(object);
    for (bucket, word) in [(Bucket::Drift, ""), (Bucket::Foreign, "Of others, left alone:\n\n")] {
        let changes: Vec<&Change> = object.changes.iter().filter(|change| change.bucket == bucket).collect();
        if changes.is_empty() {
            continue;
        }
        out.push_str(word);
        let mut body = String::new();
        for change in changes {
            change_lines(change, view, context, &mut body);
        }
        let fence = markdown_fence(&body);
        let _ = write!(out, "{fence}diff\n{body}{fence}\n\n");
    }
    if !object.procedure.is_empty() {
        let body: String = object.procedure.iter().map(|command| format!("{command}\n")).collect();
        let fence = markdown_fence(&body);
        let _ = write!(out, "The way there, in this order:\n\n{fence}sh\n{body}{fence}\n\n");
    }
    out
}

fn change_lines(change: &Change, view: &View<'_>, context: usize, out: &mut String) {
    let mut line = |text: &str| {
        out.push_str(&terminal(text));
        out.push('\n');
    };
    let word = match change.op {
        Op::Add => "add ",
        Op::Remove => "remove ",
        Op::Replace => "",
    };
    line(&format!("@@ {word}{} @@", change.path));
    match shown(change, context) {
        Shown::Short { live, desired } => {
            for (sign, value) in [("-", live), ("+", desired)] {
                if let Some(value) = value {
                    line(&format!("{sign}{value}"));
                }
            }
        }
        Shown::Block(lines) => {
            for (mark, text) in lines {
                let sign = if mark == Mark::Place { " " } else { mark.sign() };
                line(&format!("{sign}{text}"));
            }
        }
    }
    let mut why = Vec::new();
    if change.impact > Impact::None {
        why.push(change.impact.to_string());
    }
    if !change.reason.is_empty() {
        why.push(change.reason.to_string());
    }
    let field = change.field.map(|field| format!(" ({field})")).unwrap_or_default();
    if !why.is_empty() {
        line(&format!("# {}{field}", why.join(": ")));
    }
    if let Some(by) = changed_by(change, view.now) {
        line(&format!("# {by}"));
    }
}
