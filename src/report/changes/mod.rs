//! Views of the report of `diff`. One value, many forms; they differ in nothing but form.
//!
//! Whatever counts is counted once, in `Totals`, and every view prints these numbers.

mod age;
mod github;
mod html;
mod json;
mod junit;
mod lines;
mod markdown;
mod sarif;
mod shown;
#[cfg(test)]
mod tests;
mod text;
mod totals;

pub use github::github;
pub use html::html;
pub use json::json;
pub use junit::junit;
pub use markdown::{MARKER, markdown};
pub use sarif::sarif;
pub use text::{TextOptions, text};
pub use totals::Totals;

use std::collections::BTreeMap;

use crate::diff::{Change, DatabaseReport, KINDS, Notice, ObjectReport, Origin, Report, Status};

/// What a view needs to know beside the report.
#[derive(Clone, Copy)]
pub struct View<'a> {
    /// What the live side is, in words: `live: context kind-test`.
    pub live: &'a str,
    /// What the desired side is, in words: `desired: databases`.
    pub desired: &'a str,
    /// Seconds since 1970, for ages. Without it, times are printed as they are.
    pub now: Option<i64>,
    /// Line of a field of a Database: where `spec.replicas` of this one is declared.
    pub place: &'a dyn Fn(&DatabaseReport, &str) -> Option<Origin>,
}

impl View<'_> {
    /// Where a change of a Database is caused: the field if its line is known, else the Database.
    fn origin(&self, database: &DatabaseReport, field: Option<&str>) -> Option<Origin> {
        field.and_then(|field| (self.place)(database, field)).or_else(|| database.origin.clone())
    }
}

/// Databases, the worst first; equal ones by namespace and name.
fn worst_first(report: &Report) -> Vec<&DatabaseReport> {
    let mut databases: Vec<&DatabaseReport> = report.databases.iter().collect();
    databases.sort_by_cached_key(|database| {
        let worst = database.objects.iter().map(rank).min();
        (std::cmp::Reverse(database.impact), worst, database.namespace.clone(), database.name.clone())
    });
    databases
}

/// Objects of a Database that a reader wants to see, the worst first; equal ones in the order of the report.
fn notable(database: &DatabaseReport) -> Vec<&ObjectReport> {
    let mut objects: Vec<&ObjectReport> = database.objects.iter().filter(|object| is_notable(object)).collect();
    objects.sort_by_key(|object| (std::cmp::Reverse(object.impact), rank(object)));
    objects
}

fn is_notable(object: &ObjectReport) -> bool {
    object.status != Status::InSync || has_foreign(object)
}

/// Objects of which nothing is known, by the reason, the first reason first: a server that is away is one reason for all.
fn unknown_by_reason(database: &DatabaseReport) -> Vec<(&str, Vec<&ObjectReport>)> {
    let mut groups: Vec<(&str, Vec<&ObjectReport>)> = Vec::new();
    for object in database.objects.iter().filter(|object| object.status.is_unknown()) {
        match groups.iter_mut().find(|(reason, _)| *reason == object.reason) {
            Some((_, objects)) => objects.push(object),
            None => groups.push((&object.reason, vec![object])),
        }
    }
    groups
}

/// Notices that say the same of several things, as one: with everything that it is said of.
fn together(notices: &[Notice]) -> Vec<(&Notice, Vec<&str>)> {
    let mut groups: Vec<(&Notice, Vec<&str>)> = Vec::new();
    let mut places: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for notice in notices {
        // What stands at a line of a file is one thing, whatever it says.
        let known = notice.origin.is_none().then(|| places.get(&(&*notice.code, notice.message.as_str()))).flatten();
        match known {
            Some(place) => groups[*place].1.extend(notice.subject.as_deref()),
            None => {
                places.insert((&notice.code, &notice.message), groups.len());
                groups.push((notice, notice.subject.as_deref().into_iter().collect()));
            }
        }
    }
    groups
}

/// Of what a notice speaks: everything at once, or the first of it.
fn subjects_of(subjects: &[&str], most: usize) -> String {
    let everywhere = subjects.iter().filter(|subject| subject.ends_with(" in every namespace")).count();
    if everywhere == KINDS.len() && everywhere == subjects.len() {
        return "every kind in every namespace".to_owned();
    }
    first_of(subjects, most)
}

/// The first of some names, and how many more there are.
fn first_of(names: &[&str], most: usize) -> String {
    let more = names.len().saturating_sub(most);
    let mut out = names[..names.len() - more].join(", ");
    if more > 0 {
        out += &format!(" and {} more", thousands(more as u64));
    }
    out
}

fn has_foreign(object: &ObjectReport) -> bool {
    object.changes.iter().any(|change| change.bucket == crate::diff::Bucket::Foreign)
}

/// What is listed first among objects of one class.
fn rank(object: &ObjectReport) -> u8 {
    match object.status {
        Status::Drifted => 0,
        Status::Missing => 1,
        Status::Orphaned => 2,
        Status::Forbidden | Status::Error => 3,
        Status::Retained => 4,
        Status::Skipped => 5,
        Status::InSync => 6,
    }
}

/// `changed by kubectl-edit (Update, scale), 3 hours ago`.
fn changed_by(change: &Change, now: Option<i64>) -> Option<String> {
    let by = change.changed_by.as_ref()?;
    let subresource = by.subresource.as_deref().map(|name| format!(", {name}")).unwrap_or_default();
    let time = by.time.as_deref().map(|time| format!(", {}", age::age(time, now))).unwrap_or_default();
    Some(format!("changed by {} ({}{subresource}){time}", by.manager, by.operation))
}

/// `3 objects`, `1 object`.
fn count(number: u64, noun: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{} {noun}{plural}", thousands(number))
}

/// `12,345`.
fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (position, digit) in digits.chars().enumerate() {
        if position > 0 && (digits.len() - position).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}
