//! The report as JUnit XML: a suite for every Database, a case for every object.

use std::fmt::Write as _;

use crate::diff::{Bucket, ObjectReport, Report, Status};
use crate::report::escape::markup;

use super::shown::{Shown, shown};
use super::{Totals, View, changed_by};

/// The report as JUnit XML. Different objects are failures, unknown ones errors, those that nobody asked for skipped.
/// Problems of the run are a suite of their own, so that no reader takes an incomplete answer for a good one.
#[must_use]
pub fn junit(report: &Report, view: &View<'_>) -> String {
    let totals = Totals::of(report);
    let notices = report.problems.iter().filter(|notice| notice.is_error()).count() as u64;
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let _ = writeln!(
        out,
        "<testsuites name=\"dbrender diff\" tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\">",
        totals.objects() + notices,
        report.summary.differences(),
        report.summary.unknown + notices,
        report.summary.skipped
    );
    if notices > 0 {
        let _ = writeln!(
            out,
            "  <testsuite name=\"run\" tests=\"{notices}\" failures=\"0\" errors=\"{notices}\" skipped=\"0\">"
        );
        for notice in report.problems.iter().filter(|notice| notice.is_error()) {
            let name = notice.subject.as_deref().unwrap_or(&notice.code);
            let _ = writeln!(
                out,
                "    <testcase classname=\"run\" name=\"{}\"><error type=\"{}\" message=\"{}\">{}</error></testcase>",
                attribute(name),
                attribute(&notice.code),
                attribute(&notice.message),
                markup(&notice.hint)
            );
        }
        out.push_str("  </testsuite>\n");
    }
    for database in &report.databases {
        let number = |test: fn(Status) -> bool| database.objects.iter().filter(|object| test(object.status)).count();
        let suite = format!("{}/{}", database.namespace, database.name);
        let _ = writeln!(
            out,
            "  <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\">",
            attribute(&suite),
            database.objects.len(),
            number(Status::differs),
            number(Status::is_unknown),
            number(|status| status == Status::Skipped)
        );
        let file = database.origin.as_ref().map(|o| format!(" file=\"{}\"", attribute(&o.file))).unwrap_or_default();
        for object in &database.objects {
            let _ = write!(
                out,
                "    <testcase classname=\"{}\" name=\"{} {}\"{file}",
                attribute(&suite.replace('/', ".")),
                attribute(&object.kind),
                attribute(&object.name)
            );
            case(object, view, &mut out);
        }
        out.push_str("  </testsuite>\n");
    }
    out.push_str("</testsuites>\n");
    out
}

fn case(object: &ObjectReport, view: &View<'_>, out: &mut String) {
    let element = match object.status {
        Status::Drifted | Status::Missing | Status::Orphaned => "failure",
        Status::Forbidden | Status::Error => "error",
        Status::Skipped => {
            let _ = writeln!(out, "><skipped message=\"{}\"/></testcase>", attribute(&object.reason));
            return;
        }
        Status::InSync | Status::Retained => {
            out.push_str("/>\n");
            return;
        }
    };
    let differences = object.changes.iter().filter(|change| change.bucket == Bucket::Drift).count();
    let message = match (object.status, object.reason.is_empty()) {
        (Status::Drifted, true) => format!("drifted: {}", super::count(differences as u64, "difference")),
        (status, true) => status.to_string(),
        (status, false) => format!("{status}: {}", object.reason),
    };
    let _ = write!(out, "><{element} type=\"{}\" message=\"{}\">", object.impact, attribute(&message));
    for change in object.changes.iter().filter(|change| change.bucket == Bucket::Drift) {
        let _ = writeln!(out, "{} {}", change.op.as_str(), markup(&change.path));
        match shown(change, 3) {
            Shown::Short { live, desired } => {
                for (sign, value) in [("-", live), ("+", desired)] {
                    if let Some(value) = value {
                        let _ = writeln!(out, "  {sign} {}", markup(&value));
                    }
                }
            }
            Shown::Block(lines) => {
                for (mark, line) in lines {
                    let _ = writeln!(out, "  {}{}", mark.sign(), markup(&line));
                }
            }
        }
        let _ = writeln!(out, "  {}: {}", change.impact, markup(&change.reason));
        if let Some(by) = changed_by(change, view.now) {
            let _ = writeln!(out, "  {}", markup(&by));
        }
    }
    for command in &object.procedure {
        let _ = writeln!(out, "$ {}", markup(command));
    }
    let _ = writeln!(out, "</{element}></testcase>");
}

/// For an attribute: a line break would become a blank when it is read.
fn attribute(text: &str) -> String {
    markup(text).replace('\n', "&#10;").replace('\r', "&#13;").replace('\t', "&#9;")
}
