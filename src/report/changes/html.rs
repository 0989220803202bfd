//! The report as one page that needs nothing else: no script, no font, no image, no network.
//!
//! The filter is check boxes and a style sheet, so that the page works where scripts are not allowed, and by keyboard.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::diff::{Bucket, Change, DatabaseReport, Impact, Notice, ObjectReport, Op, Report, Status};
use crate::report::escape::markup;

use super::shown::{Mark, Shown, shown};
use super::{Totals, View, changed_by, count, is_notable, notable, subjects_of, thousands, together, worst_first};

const STYLE: &str = include_str!("html.css");

/// The report as HTML.
#[must_use]
pub fn html(report: &Report, view: &View<'_>, context: usize) -> String {
    let totals = Totals::of(report);
    let mut page = Page { out: String::with_capacity(64 * 1024), view, context };
    page.head(report, &totals);
    page.summary(report, &totals);
    page.notices(&report.problems);
    page.filter(&totals);
    page.put("<section id=\"databases\" aria-labelledby=\"h-databases\">\n<h2 id=\"h-databases\">Databases</h2>\n");
    let (shown, calm): (Vec<&DatabaseReport>, Vec<&DatabaseReport>) =
        worst_first(report).into_iter().partition(|database| !notable(database).is_empty());
    if shown.is_empty() {
        page.put("<p>Nothing differs.</p>\n");
    }
    for database in shown {
        page.database(database);
    }
    page.calm(&calm);
    page.put("</section>\n</main>\n</body>\n</html>\n");
    page.out
}

struct Page<'a> {
    out: String,
    view: &'a View<'a>,
    context: usize,
}

impl Page<'_> {
    fn put(&mut self, markup: &str) {
        self.out.push_str(markup);
    }

    /// Text of others.
    fn text(&mut self, text: &str) {
        self.out.push_str(&markup(text));
    }

    fn head(&mut self, report: &Report, totals: &Totals) {
        self.put("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
        self.put("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n");
        self.put(
            "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n",
        );
        self.put("<meta name=\"color-scheme\" content=\"light dark\">\n<title>dbrender diff: ");
        self.put(&totals.title(report));
        self.put("</title>\n<style>\n");
        self.put(STYLE);
        for class in Impact::ALL {
            let _ = writeln!(self.out, ".c-{class}{{color:var(--{class})}}");
        }
        // An object is there while the box of its class is checked, a Database while one of its objects is. A browser
        // that does not know `:has` shows everything.
        self.put("@supports selector(:has(*)){\n.differs{display:none}\n");
        for class in Impact::ALL {
            let _ =
                writeln!(self.out, "body:has(#f-{class}:not(:checked)) .object[data-class={class}]{{display:none}}");
            let _ =
                writeln!(self.out, "body:has(#f-{class}:checked) .differs:has([data-class={class}]){{display:block}}");
        }
        self.put("}\n");
        self.put("</style>\n</head>\n<body>\n<a class=\"skip\" href=\"#databases\">To the Databases</a>\n<main>\n");
    }

    fn summary(&mut self, report: &Report, totals: &Totals) {
        self.put("<h1>dbrender diff: ");
        self.put(&totals.title(report));
        self.put("</h1>\n<p class=\"soft\"><del>−</del> ");
        self.text(self.view.live);
        self.put(" &nbsp; <ins>+</ins> ");
        self.text(self.view.desired);
        self.put("</p>\n");
        if let Some(banner) = totals.banner(report) {
            let _ = writeln!(self.out, "<p class=\"banner\" role=\"alert\">{}.</p>", markup(&banner));
        }
        let summary = report.summary;
        self.put("<ul class=\"numbers\" aria-label=\"Objects by status\">\n");
        for (number, word) in [
            (summary.drifted, "drifted"),
            (summary.missing, "missing"),
            (summary.orphaned, "orphaned"),
            (summary.unknown, "unknown"),
            (summary.retained, "retained"),
            (summary.skipped, "skipped"),
            (summary.in_sync, "in sync"),
        ] {
            let zero = if number == 0 { " class=\"zero\"" } else { "" };
            let _ = writeln!(self.out, "<li{zero}><b>{}</b>{word}</li>", thousands(number));
        }
        let _ = writeln!(
            self.out,
            "</ul>\n<p class=\"soft\">{} of {}; {}.</p>",
            count(totals.objects(), "object"),
            count(totals.databases, "Database"),
            totals.changes()
        );
    }

    fn notices(&mut self, notices: &[Notice]) {
        if notices.is_empty() {
            return;
        }
        self.put(
            "<section aria-labelledby=\"h-problems\">\n<h2 id=\"h-problems\">Problems</h2>\n<ul class=\"notices\">\n",
        );
        for (notice, subjects) in together(notices) {
            let _ = write!(self.out, "<li><b>{} {}</b> ", markup(&notice.severity), markup(&notice.code));
            if !subjects.is_empty() {
                let _ = write!(self.out, "<code>{}</code>: ", markup(&subjects_of(&subjects, usize::MAX)));
            }
            self.text(&notice.message);
            if !notice.hint.is_empty() {
                let _ = write!(self.out, " <span class=\"soft\">({})</span>", markup(&notice.hint));
            }
            self.put("</li>\n");
        }
        self.put("</ul>\n</section>\n");
    }

    fn filter(&mut self, totals: &Totals) {
        let classes = totals.classes();
        if classes.is_empty() {
            return;
        }
        self.put("<fieldset>\n<legend>Show objects of class</legend>\n");
        for (class, number) in classes {
            let _ = writeln!(
                self.out,
                "<label><input type=\"checkbox\" id=\"f-{class}\" checked><span class=\"class c-{class}\">{class}</span> {}</label>",
                thousands(number)
            );
        }
        self.put("</fieldset>\n");
    }

    fn database(&mut self, database: &DatabaseReport) {
        let open = if database.impact >= Impact::RollingRestart { " open" } else { "" };
        let objects = notable(database);
        // What does not differ, such as an object that could not be read, has no box and is always there.
        let differs = if objects.iter().all(|object| object.status.differs()) { " differs" } else { "" };
        let _ = write!(
            self.out,
            "<details class=\"database{differs}\"{open}>\n<summary class=\"title\"><b>{}/{}</b> <span>{}</span>",
            markup(&database.namespace),
            markup(&database.name),
            markup(&database.engine)
        );
        self.class(database.impact);
        if let Some(origin) = &database.origin {
            let _ = write!(self.out, "<span class=\"place\">{}:{}</span>", markup(&origin.file), origin.line);
        }
        self.put("</summary>\n");
        for object in objects {
            self.object(database, object);
        }
        let in_sync = database.objects.iter().filter(|object| !is_notable(object)).count();
        if in_sync > 0 {
            let _ = writeln!(self.out, "<p class=\"object soft\">{} in sync</p>", count(in_sync as u64, "more object"));
        }
        self.put("</details>\n");
    }

    fn class(&mut self, impact: Impact) {
        if impact > Impact::None {
            let _ = write!(self.out, " <span class=\"class c-{impact}\">{impact}</span>");
        }
    }

    fn object(&mut self, database: &DatabaseReport, object: &ObjectReport) {
        let class = if object.status.differs() { object.impact.as_str() } else { "" };
        // What has nothing inside is no stop on the way of the keyboard.
        let empty = object.reason.is_empty() && object.changes.is_empty() && object.procedure.is_empty();
        let open = if object.status == Status::InSync { "" } else { " open" };
        let (outer, inner) = if empty { ("div", "div") } else { ("details", "summary") };
        let _ = write!(
            self.out,
            "<{outer} class=\"object\" data-class=\"{class}\" data-status=\"{}\"{}>\n<{inner} class=\"title\">{} <b>{}</b> <span class=\"status{}\">{}</span>",
            object.status,
            if empty { "" } else { open },
            markup(&object.kind),
            markup(&object.name),
            if object.status.is_unknown() { " bad" } else { "" },
            object.status
        );
        self.class(object.impact);
        let _ = writeln!(self.out, "</{inner}>");
        if empty {
            self.put("</div>\n");
            return;
        }
        if !object.reason.is_empty() {
            let _ = writeln!(self.out, "<p>{}</p>", markup(&object.reason));
        }
        for (bucket, title) in [(Bucket::Drift, ""), (Bucket::Foreign, "Of others, left alone")] {
            let changes: Vec<&Change> = object.changes.iter().filter(|change| change.bucket == bucket).collect();
            if changes.is_empty() {
                continue;
            }
            if !title.is_empty() {
                let _ = writeln!(self.out, "<p class=\"soft\">{title}:</p>");
            }
            let _ = writeln!(self.out, "<ul class=\"changes\" data-bucket=\"{}\">", bucket.as_str());
            for change in changes {
                self.change(database, change);
            }
            self.put("</ul>\n");
        }
        self.ignored(object);
        if !object.procedure.is_empty() {
            self.put("<p>The way there, in this order:</p>\n<pre>");
            for command in &object.procedure {
                self.text(command);
                self.put("\n");
            }
            self.put("</pre>\n");
        }
        self.put("</details>\n");
    }

    fn change(&mut self, database: &DatabaseReport, change: &Change) {
        let word = match (change.bucket, change.op) {
            // Nothing takes it away, and nothing sets it.
            (Bucket::Foreign, Op::Remove) => "added",
            (Bucket::Foreign, _) => "differs",
            (_, Op::Add) => "add",
            (_, Op::Remove) => "remove",
            (_, Op::Replace) => "replace",
        };
        let _ = write!(
            self.out,
            "<li data-impact=\"{}\"><span class=\"soft\">{word}</span> <code class=\"path\">{}</code> ",
            change.impact,
            markup(&change.path)
        );
        match shown(change, self.context) {
            Shown::Short { live, desired } => {
                let both = live.is_some() && desired.is_some();
                if let Some(live) = live {
                    let _ = write!(self.out, "<code><del>{}</del></code>", markup(&live));
                }
                self.put(if both { " → " } else { "" });
                if let Some(desired) = desired {
                    let _ = write!(self.out, "<code><ins>{}</ins></code>", markup(&desired));
                }
            }
            Shown::Block(lines) => self.block(&lines),
        }
        self.why(database, change);
        self.put("</li>\n");
    }

    fn block(&mut self, lines: &[(Mark, String)]) {
        self.put("<pre tabindex=\"0\">");
        for (mark, line) in lines {
            let (start, end) = match mark {
                Mark::Live => ("<del>", "</del>"),
                Mark::Desired => ("<ins>", "</ins>"),
                Mark::Place | Mark::Note => ("<span class=\"soft\">", "</span>"),
                Mark::Both => ("", ""),
            };
            let _ = writeln!(self.out, "{start}{}{}{end}", mark.sign(), markup(line));
        }
        self.put("</pre>");
    }

    fn why(&mut self, database: &DatabaseReport, change: &Change) {
        let mut parts = Vec::new();
        if change.impact > Impact::None {
            parts.push(format!("<span class=\"c-{0}\">{0}</span>", change.impact));
        }
        if !change.reason.is_empty() {
            parts.push(markup(&change.reason).into_owned());
        }
        if let Some(field) = change.field {
            let place = self.view.origin(database, Some(field));
            let place = place.map(|o| format!(" at {}:{}", markup(&o.file), o.line)).unwrap_or_default();
            parts.push(format!("<code>{}</code>{place}", markup(field)));
        }
        if let Some(by) = changed_by(change, self.view.now) {
            parts.push(markup(&by).into_owned());
        }
        if !parts.is_empty() {
            let _ = write!(self.out, "<p class=\"why soft\">{}</p>", parts.join(" · "));
        }
    }

    fn ignored(&mut self, object: &ObjectReport) {
        let mut rules: BTreeMap<&str, u64> = BTreeMap::new();
        for change in object.changes.iter().filter(|change| change.bucket == Bucket::Ignored) {
            *rules.entry(&change.reason).or_default() += change.count;
        }
        for (rule, number) in rules {
            let _ = writeln!(self.out, "<p class=\"soft\">Ignored {}: {}</p>", thousands(number), markup(rule));
        }
    }

    /// Databases without anything to show, by name only: a thousand of them must not hide the three that matter.
    fn calm(&mut self, databases: &[&DatabaseReport]) {
        if databases.is_empty() {
            return;
        }
        let _ = writeln!(
            self.out,
            "<details class=\"database\">\n<summary class=\"title\">{} in sync</summary>\n<div class=\"object\">",
            count(databases.len() as u64, "Database")
        );
        for database in databases {
            let _ = writeln!(
                self.out,
                "<p>{}/{} <span class=\"soft\">{}, {}</span></p>",
                markup(&database.namespace),
                markup(&database.name),
                markup(&database.engine),
                count(database.objects.len() as u64, "object")
            );
        }
        self.put("</div>\n</details>\n");
    }
}
