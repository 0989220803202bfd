//! The report for a terminal: by Database, worst first.

use std::collections::BTreeMap;

use crate::diff::{Bucket, Change, DatabaseReport, Impact, Notice, ObjectReport, Op, Report, Status};
use crate::report::escape::terminal;

use super::shown::{Mark, Shown, shown};
use super::{
    Totals, View, changed_by, count, first_of, is_notable, notable, subjects_of, thousands, together,
    unknown_by_reason, worst_first,
};

/// Most names that are listed one after the other.
const NAMES: usize = 6;
/// Widest line of names, without its indent.
const WIDTH: usize = 90;

/// How the text is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextOptions {
    /// Whether colours are written.
    pub color: bool,
    /// Equal lines around each different line of a long text.
    pub context: usize,
    /// Whether differences that a rule ignores are listed one by one.
    pub ignored: bool,
}

/// The report as text. What is in sync is counted and not listed.
#[must_use]
pub fn text(report: &Report, view: &View<'_>, options: TextOptions) -> String {
    let mut writer = Writer { out: String::new(), view, options, totals: Totals::of(report) };
    writer.report(report);
    writer.out
}

/// What a part of the text means; only `Writer::paint` knows its colour.
#[derive(Clone, Copy)]
enum Tone {
    Title,
    Live,
    Desired,
    Place,
    Quiet,
    Bad,
    Class(Impact),
    Status(Status),
}

struct Writer<'a> {
    out: String,
    view: &'a View<'a>,
    options: TextOptions,
    totals: Totals,
}

impl Writer<'_> {
    fn report(&mut self, report: &Report) {
        let banner = self.totals.banner(report);
        if let Some(banner) = &banner {
            self.line(0, &[(Some(Tone::Bad), banner.as_str())]);
            self.blank();
        }
        let databases: Vec<&DatabaseReport> =
            worst_first(report).into_iter().filter(|database| self.has_text(database)).collect();
        if !databases.is_empty() {
            self.line(0, &[(Some(Tone::Live), &format!("--- {}", self.view.live))]);
            self.line(0, &[(Some(Tone::Desired), &format!("+++ {}", self.view.desired))]);
            self.blank();
        }
        for database in databases {
            self.database(database);
        }
        let notices = together(&report.problems);
        for (index, (notice, subjects)) in notices.iter().enumerate() {
            self.notice(notice, subjects);
            // Several in a row with one hint get it once.
            if notices.get(index + 1).is_none_or(|(next, _)| next.hint != notice.hint) && !notice.hint.is_empty() {
                self.line(1, &[(Some(Tone::Quiet), &format!("hint: {}", notice.hint))]);
            }
        }
        self.summary(report);
    }

    fn has_text(&self, database: &DatabaseReport) -> bool {
        // When nothing at all could be read, the problems say why, and a list of everything says no more.
        let is_blind = self.totals.summary.unknown == self.totals.objects();
        !is_blind && database.objects.iter().any(|object| is_shown(object, self.options))
    }

    fn database(&mut self, database: &DatabaseReport) {
        let name = format!("{}/{}", database.namespace, database.name);
        let mut parts = vec![(Some(Tone::Title), name)];
        if !database.engine.is_empty() {
            parts.push((None, format!("  {}", database.engine)));
        }
        if database.impact > Impact::None {
            parts.push((None, "  ".to_owned()));
            parts.push((Some(Tone::Class(database.impact)), database.impact.to_string()));
        }
        if let Some(origin) = &database.origin {
            parts.push((Some(Tone::Quiet), format!("  {}:{}", origin.file, origin.line)));
        }
        self.owned_line(0, &parts);
        let listed: Vec<&ObjectReport> =
            notable(database).into_iter().filter(|object| !object.status.is_unknown()).collect();
        let mut groups: Vec<Vec<&ObjectReport>> = Vec::new();
        for object in listed {
            match groups.iter_mut().find(|group| group.first().is_some_and(|first| is_alike(first, object))) {
                Some(group) => group.push(object),
                None => groups.push(vec![object]),
            }
        }
        for group in groups {
            match group.as_slice() {
                [object] => self.object(database, object),
                several => self.several(database, several),
            }
        }
        let options = self.options;
        for object in database.objects.iter().filter(|object| !is_notable(object) && is_shown(object, options)) {
            self.object(database, object);
        }
        for (reason, objects) in unknown_by_reason(database) {
            self.unknown(reason, &objects);
        }
        self.blank();
    }

    /// Objects of which nothing is known for one reason.
    fn unknown(&mut self, reason: &str, objects: &[&ObjectReport]) {
        let names: Vec<String> = objects.iter().map(|object| format!("{} {}", object.kind, object.name)).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let status = objects.first().map(|object| object.status).unwrap_or(Status::Error);
        self.owned_line(
            1,
            &[(Some(Tone::Status(status)), "unknown".to_owned()), (None, format!("  {}", first_of(&names, NAMES)))],
        );
        if !reason.is_empty() {
            self.line(2, &[(None, reason)]);
        }
    }

    fn object(&mut self, database: &DatabaseReport, object: &ObjectReport) {
        let mut parts = vec![(None, format!("{} ", object.kind)), (Some(Tone::Title), object.name.clone())];
        if object.namespace != database.namespace {
            parts.push((None, format!(" in {}", object.namespace)));
        }
        parts.push((None, "  ".to_owned()));
        parts.push((Some(Tone::Status(object.status)), object.status.to_string()));
        if object.impact > Impact::None {
            parts.push((None, "  ".to_owned()));
            parts.push((Some(Tone::Class(object.impact)), object.impact.to_string()));
        }
        self.owned_line(1, &parts);
        if !object.reason.is_empty() {
            self.line(2, &[(None, &object.reason)]);
        }
        let listed: Vec<&Change> = object.changes.iter().filter(|c| c.bucket != Bucket::Ignored).collect();
        for (index, change) in listed.iter().enumerate() {
            let next = listed.get(index + 1).copied();
            self.change(change, next.is_some_and(|next| same_words(change, next)));
        }
        self.ignored(object);
        for (number, command) in object.procedure.iter().enumerate() {
            if number == 0 {
                self.line(2, &[(Some(Tone::Title), "the way there, in this order:")]);
            }
            for line in command.lines() {
                self.line(3, &[(None, line)]);
            }
        }
    }

    /// Objects of which the same is to be said, such as all of a Database that is not there yet.
    fn several(&mut self, database: &DatabaseReport, objects: &[&ObjectReport]) {
        let Some(first) = objects.first() else { return };
        let mut parts = vec![(Some(Tone::Status(first.status)), first.status.to_string())];
        if first.impact > Impact::None {
            parts.push((None, "  ".to_owned()));
            parts.push((Some(Tone::Class(first.impact)), first.impact.to_string()));
        }
        parts.push((None, format!("  {}", count(objects.len() as u64, "object"))));
        self.owned_line(1, &parts);
        if !first.reason.is_empty() {
            self.line(2, &[(None, &first.reason)]);
        }
        let name = |object: &ObjectReport| match object.namespace == database.namespace {
            true => format!("{} {}", object.kind, object.name),
            false => format!("{} {} in {}", object.kind, object.name, object.namespace),
        };
        let mut line = String::new();
        for (index, object) in objects.iter().enumerate() {
            let comma = if index + 1 == objects.len() { "" } else { "," };
            let name = format!("{}{comma}", name(object));
            if !line.is_empty() && line.len() + name.len() >= WIDTH {
                self.line(3, &[(None, &line)]);
                line.clear();
            }
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(&name);
        }
        self.line(3, &[(None, &line)]);
    }

    /// One change. Several in a row that have the same explanation are explained once, behind the last.
    fn change(&mut self, change: &Change, explained_later: bool) {
        let (sign, tone) = match change.op {
            Op::Add => ("+", Tone::Desired),
            Op::Remove => ("-", Tone::Live),
            Op::Replace => ("~", Tone::Place),
        };
        // Nothing takes a foreign addition away again, so it has no sign.
        let (head, tone) = match change.bucket {
            Bucket::Foreign if change.op == Op::Replace => (format!("left as it is: {}", change.path), Tone::Quiet),
            Bucket::Foreign => (format!("added by others: {}", change.path), Tone::Quiet),
            Bucket::Drift | Bucket::Ignored => (format!("{sign} {}", change.path), tone),
        };
        match shown(change, self.options.context) {
            Shown::Short { live, desired } => {
                let mut parts = vec![(Some(tone), head)];
                let (live, desired) = (live.map(|v| (Some(Tone::Live), v)), desired.map(|v| (Some(Tone::Desired), v)));
                match (live, desired) {
                    (Some(live), Some(desired)) => {
                        parts.extend([(None, ": ".to_owned()), live, (None, " → ".to_owned()), desired])
                    }
                    (Some(value), None) | (None, Some(value)) => parts.extend([(None, ": ".to_owned()), value]),
                    (None, None) => {}
                }
                self.owned_line(2, &parts);
            }
            Shown::Block(lines) => {
                self.owned_line(2, &[(Some(tone), head)]);
                for (mark, line) in lines {
                    let tone = match mark {
                        Mark::Place => Some(Tone::Place),
                        Mark::Live => Some(Tone::Live),
                        Mark::Desired => Some(Tone::Desired),
                        Mark::Note => Some(Tone::Quiet),
                        Mark::Both => None,
                    };
                    self.line(3, &[(tone, &format!("{}{line}", mark.sign()))]);
                }
            }
        }
        if !explained_later {
            self.explanation(change);
        }
    }

    fn explanation(&mut self, change: &Change) {
        let mut parts: Vec<(Option<Tone>, String)> = Vec::new();
        if change.impact > Impact::None {
            parts.push((Some(Tone::Class(change.impact)), change.impact.to_string()));
        }
        if !change.reason.is_empty() {
            let colon = if parts.is_empty() { "" } else { ": " };
            parts.push((None, format!("{colon}{}", change.reason)));
        }
        if let Some(field) = change.field {
            parts.push((Some(Tone::Quiet), format!(" ({field})")));
        }
        if !parts.is_empty() {
            self.owned_line(3, &parts);
        }
        if let Some(by) = changed_by(change, self.view.now) {
            self.line(3, &[(Some(Tone::Quiet), &by)]);
        }
    }

    /// Counted by rule; one by one on demand.
    fn ignored(&mut self, object: &ObjectReport) {
        let ignored = || object.changes.iter().filter(|change| change.bucket == Bucket::Ignored);
        if self.options.ignored {
            let mut rules: BTreeMap<&str, u64> = BTreeMap::new();
            for change in ignored() {
                *rules.entry(&change.reason).or_default() += change.count;
            }
            for (rule, number) in rules {
                self.line(2, &[(Some(Tone::Quiet), &format!("ignored {}: {rule}", thousands(number)))]);
                for change in ignored().filter(|change| change.reason == rule) {
                    self.line(3, &[(Some(Tone::Quiet), &change.path)]);
                }
            }
        }
    }

    fn notice(&mut self, notice: &Notice, subjects: &[&str]) {
        let tone = if notice.is_error() { Tone::Bad } else { Tone::Class(Impact::RollingRestart) };
        let mut place: Vec<String> =
            notice.origin.iter().map(|o| format!("{}:{}:{}", o.file, o.line, o.column)).collect();
        if !subjects.is_empty() {
            place.push(subjects_of(subjects, NAMES));
        }
        place.extend(notice.path.clone());
        let place = if place.is_empty() { String::new() } else { format!(" ({})", place.join(" ")) };
        let head = format!("{}[{}]", notice.severity, notice.code);
        self.owned_line(0, &[(Some(tone), head), (None, format!(": {}{place}", notice.message))]);
    }

    fn summary(&mut self, report: &Report) {
        if !report.problems.is_empty() {
            self.blank();
        }
        let Totals { databases, databases_differing, .. } = self.totals;
        let objects = format!("{} of {}", count(self.totals.objects(), "object"), count(databases, "Database"));
        let sentence = format!("{objects}: {}", self.totals.sentence());
        self.line(0, &[(None, &sentence)]);
        self.line(0, &[(Some(Tone::Quiet), &self.totals.changes())]);
        if report.summary.differences() > 0 {
            let databases = count(databases, "Database");
            let verb = if databases_differing == 1 { "differs" } else { "differ" };
            let differ = format!("{} of {databases} {verb}; objects by class: ", thousands(databases_differing));
            let parts = vec![(None, differ), (Some(Tone::Class(report.impact)), self.totals.classes_sentence())];
            self.owned_line(0, &parts);
        }
        if let Some(banner) = self.totals.banner(report) {
            self.line(0, &[(Some(Tone::Bad), &banner)]);
        }
    }

    fn blank(&mut self) {
        self.out.push('\n');
    }

    fn owned_line(&mut self, depth: usize, parts: &[(Option<Tone>, String)]) {
        let parts: Vec<(Option<Tone>, &str)> = parts.iter().map(|(tone, text)| (*tone, text.as_str())).collect();
        self.line(depth, &parts);
    }

    /// One line. Whatever stands in it came from somewhere else, so it cannot command the terminal.
    fn line(&mut self, depth: usize, parts: &[(Option<Tone>, &str)]) {
        self.out.push_str(&"  ".repeat(depth));
        for (tone, text) in parts {
            match tone {
                Some(tone) if self.options.color => {
                    self.out.push_str(code(*tone));
                    self.out.push_str(&terminal(text));
                    self.out.push_str("\u{1b}[0m");
                }
                _ => self.out.push_str(&terminal(text)),
            }
        }
        while self.out.ends_with(' ') {
            self.out.pop();
        }
        self.out.push('\n');
    }
}

fn is_shown(object: &ObjectReport, options: TextOptions) -> bool {
    is_notable(object) || (options.ignored && !(object.changes.is_empty() && object.reason.is_empty()))
}

/// Whether nothing but the name tells two objects apart.
fn is_alike(a: &ObjectReport, b: &ObjectReport) -> bool {
    let is_bare = |object: &ObjectReport| object.changes.is_empty() && object.procedure.is_empty();
    a.status == b.status && a.impact == b.impact && a.reason == b.reason && is_bare(a) && is_bare(b)
}

/// Whether two changes would be explained by the same words.
fn same_words(a: &Change, b: &Change) -> bool {
    a.bucket == b.bucket
        && a.impact == b.impact
        && a.reason == b.reason
        && a.field == b.field
        && a.changed_by == b.changed_by
}

/// Select Graphic Rendition of a meaning. Only the sixteen colours that every theme of a terminal makes readable.
const fn code(tone: Tone) -> &'static str {
    match tone {
        Tone::Title => "\u{1b}[1m",
        Tone::Live => "\u{1b}[31m",
        Tone::Desired => "\u{1b}[32m",
        Tone::Place => "\u{1b}[36m",
        Tone::Quiet => "\u{1b}[2m",
        Tone::Bad => "\u{1b}[1;31m",
        Tone::Class(class) => match class {
            Impact::None | Impact::Metadata => "\u{1b}[2m",
            Impact::InPlace => "\u{1b}[36m",
            Impact::RollingRestart => "\u{1b}[33m",
            Impact::RecreateOrphan => "\u{1b}[1;33m",
            Impact::Migration => "\u{1b}[35m",
            Impact::DataRisk => "\u{1b}[31m",
            Impact::DataLoss => "\u{1b}[1;31m",
        },
        Tone::Status(status) => match status {
            Status::InSync => "\u{1b}[32m",
            Status::Drifted | Status::Missing | Status::Orphaned => "\u{1b}[33m",
            Status::Forbidden | Status::Error => "\u{1b}[1;31m",
            Status::Retained | Status::Skipped => "\u{1b}[2m",
        },
    }
}
