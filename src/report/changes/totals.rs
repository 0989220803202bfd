//! The numbers of a report, counted once for every view.

use crate::diff::{Bucket, Impact, Report, Summary};

use super::{count, thousands};

/// Numbers of a report.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Objects by status.
    pub summary: Summary,
    /// Databases.
    pub databases: u64,
    /// Databases of which an object differs.
    pub databases_differing: u64,
    /// Single differences that an apply puts right.
    pub drift: u64,
    /// Additions of others.
    pub foreign: u64,
    /// Differences that a rule ignores.
    pub ignored: u64,
    /// Objects that differ, by class, in the order of [`Impact::ALL`].
    pub by_impact: [u64; Impact::ALL.len()],
}

impl Totals {
    /// The numbers of a report.
    #[must_use]
    pub fn of(report: &Report) -> Totals {
        let mut totals = Totals { summary: report.summary, ..Totals::default() };
        for database in &report.databases {
            totals.databases += 1;
            totals.databases_differing += u64::from(database.objects.iter().any(|object| object.status.differs()));
            for object in &database.objects {
                if object.status.differs() {
                    totals.by_impact[object.impact as usize] += 1;
                }
                for change in &object.changes {
                    *match change.bucket {
                        Bucket::Drift => &mut totals.drift,
                        Bucket::Foreign => &mut totals.foreign,
                        Bucket::Ignored => &mut totals.ignored,
                    } += change.count;
                }
            }
        }
        totals
    }

    /// All objects.
    pub(super) const fn objects(&self) -> u64 {
        let Summary { in_sync, drifted, missing, orphaned, unknown, retained, skipped } = self.summary;
        in_sync + drifted + missing + orphaned + unknown + retained + skipped
    }

    /// `2 drifted, 1 missing, 0 orphaned, 0 unknown, 9 in sync`; rarer ones only when there are some.
    pub(super) fn sentence(&self) -> String {
        let Summary { in_sync, drifted, missing, orphaned, unknown, retained, skipped } = self.summary;
        let mut parts = vec![(drifted, "drifted"), (missing, "missing"), (orphaned, "orphaned"), (unknown, "unknown")];
        parts.extend([(retained, "retained"), (skipped, "skipped")].into_iter().filter(|(number, _)| *number > 0));
        parts.push((in_sync, "in sync"));
        let parts: Vec<String> = parts.iter().map(|(number, word)| format!("{} {word}", thousands(*number))).collect();
        parts.join(", ")
    }

    /// `fields: 3 different, 1 of others, 12 ignored by a rule`.
    pub(super) fn changes(&self) -> String {
        let [drift, foreign, ignored] = [self.drift, self.foreign, self.ignored].map(thousands);
        format!("fields: {drift} different, {foreign} of others, {ignored} ignored by a rule")
    }

    /// Classes that occur among the objects that differ, the worst first, with their numbers.
    pub(super) fn classes(&self) -> Vec<(Impact, u64)> {
        let all = Impact::ALL.into_iter().zip(self.by_impact).rev();
        all.filter(|(_, number)| *number > 0).collect()
    }

    /// `1 rolling-restart, 2 metadata`.
    pub(super) fn classes_sentence(&self) -> String {
        let classes: Vec<String> =
            self.classes().iter().map(|(class, number)| format!("{} {class}", thousands(*number))).collect();
        classes.join(", ")
    }

    /// The whole answer in a few words.
    pub(super) fn title(&self, report: &Report) -> String {
        match (report.summary.differences(), report.complete) {
            (0, true) => "in sync".to_owned(),
            (0, false) => "incomplete".to_owned(),
            _ => format!(
                "{} in {} of {}, the worst is {}",
                count(report.summary.differences(), "different object"),
                thousands(self.databases_differing),
                count(self.databases, "Database"),
                report.impact
            ),
        }
    }

    /// What an incomplete report says in every view.
    pub(super) fn banner(&self, report: &Report) -> Option<String> {
        let words = match self.summary.unknown {
            _ if report.complete => return None,
            0 => "INCOMPLETE: the problems say what could not be done".to_owned(),
            unknown => {
                let them = if unknown == 1 { "it" } else { "them" };
                format!("INCOMPLETE: {} could not be read, and nothing is known about {them}", count(unknown, "object"))
            }
        };
        Some(words)
    }
}
