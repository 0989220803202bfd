//! The report: one value, from which every view is made. What it holds is published as `dbrender.report/v1`.

use std::borrow::Cow;
use std::fmt;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::problem::{Problem, Severity};

/// Version of the report's form. Fields are added without a new version, never removed or given another meaning.
pub const SCHEMA_VERSION: &str = "dbrender.report/v1";

/// What putting the difference right does to the running database. Each class is worse than the one before it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Impact {
    /// Nothing.
    #[default]
    None,
    /// Labels and annotations that nothing acts on.
    Metadata,
    /// The running database takes the change without a restart.
    InPlace,
    /// Members restart one after the other.
    RollingRestart,
    /// An object has to be deleted and made again, while everything that it made stays.
    RecreateOrphan,
    /// The data has to move: new volumes, another format.
    Migration,
    /// A person may lose data or the way to it.
    DataRisk,
    /// Data is deleted.
    DataLoss,
}

impl Impact {
    /// Every class, harmless first.
    pub const ALL: [Impact; 8] = [
        Impact::None,
        Impact::Metadata,
        Impact::InPlace,
        Impact::RollingRestart,
        Impact::RecreateOrphan,
        Impact::Migration,
        Impact::DataRisk,
        Impact::DataLoss,
    ];

    /// The word in reports and flags.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Impact::None => "none",
            Impact::Metadata => "metadata",
            Impact::InPlace => "in-place",
            Impact::RollingRestart => "rolling-restart",
            Impact::RecreateOrphan => "recreate-orphan",
            Impact::Migration => "migration",
            Impact::DataRisk => "data-risk",
            Impact::DataLoss => "data-loss",
        }
    }

    /// The class of a word.
    #[must_use]
    pub fn parse(word: &str) -> Option<Impact> {
        Impact::ALL.into_iter().find(|class| class.as_str() == word)
    }
}

impl fmt::Display for Impact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // `pad`, so that views can align it.
        f.pad(self.as_str())
    }
}

/// What was found of one object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// As rendered.
    InSync,
    /// A field that we render differs, or something was added where only we may.
    Drifted,
    /// Rendered, and not in the cluster.
    Missing,
    /// In the cluster, ours, and no longer rendered.
    Orphaned,
    /// In the cluster, ours, no longer rendered, and kept on purpose: it holds data or passwords.
    Retained,
    /// The server does not let us read it.
    Forbidden,
    /// It could not be read.
    Error,
    /// Not looked at, because we were told not to.
    Skipped,
}

impl Status {
    /// The word in reports.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Status::InSync => "in-sync",
            Status::Drifted => "drifted",
            Status::Missing => "missing",
            Status::Orphaned => "orphaned",
            Status::Retained => "retained",
            Status::Forbidden => "forbidden",
            Status::Error => "error",
            Status::Skipped => "skipped",
        }
    }

    /// Whether it is a difference.
    #[must_use]
    pub const fn differs(self) -> bool {
        matches!(self, Status::Drifted | Status::Missing | Status::Orphaned)
    }

    /// Whether nothing can be said about the object.
    #[must_use]
    pub const fn is_unknown(self) -> bool {
        matches!(self, Status::Forbidden | Status::Error)
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// Whose difference it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Bucket {
    /// Ours: it is put right by an apply.
    Drift,
    /// Somebody else's addition, which an apply leaves alone.
    Foreign,
    /// By a rule that the reason names.
    Ignored,
}

impl Bucket {
    /// The word in reports.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Bucket::Drift => "drift",
            Bucket::Foreign => "foreign",
            Bucket::Ignored => "ignored",
        }
    }
}

/// What making live equal to desired would do at the path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Op {
    /// Live lacks it.
    Add,
    /// Only live has it.
    Remove,
    /// Both have it, with other values.
    Replace,
}

impl Op {
    /// The word in reports.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Op::Add => "add",
            Op::Remove => "remove",
            Op::Replace => "replace",
        }
    }
}

/// The whole answer.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Report {
    /// `dbrender.report/v1`.
    pub schema_version: &'static str,
    /// Whether everything that was asked about could be read.
    pub complete: bool,
    /// The worst class of all Databases.
    pub impact: Impact,
    /// Objects by status.
    pub summary: Summary,
    /// What stood in the way of a complete answer, and what was wrong with the input.
    pub problems: Vec<Notice>,
    /// By namespace and name.
    pub databases: Vec<DatabaseReport>,
}

/// Numbers of objects.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Summary {
    /// As rendered.
    pub in_sync: u64,
    /// Different.
    pub drifted: u64,
    /// Not there.
    pub missing: u64,
    /// No longer rendered.
    pub orphaned: u64,
    /// Forbidden or not readable.
    pub unknown: u64,
    /// No longer rendered and kept.
    pub retained: u64,
    /// Not looked at, on request.
    pub skipped: u64,
}

impl Summary {
    /// Counts one object.
    pub fn count(&mut self, status: Status) {
        *match status {
            Status::InSync => &mut self.in_sync,
            Status::Drifted => &mut self.drifted,
            Status::Missing => &mut self.missing,
            Status::Orphaned => &mut self.orphaned,
            Status::Forbidden | Status::Error => &mut self.unknown,
            Status::Retained => &mut self.retained,
            Status::Skipped => &mut self.skipped,
        } += 1;
    }

    /// Objects that differ.
    #[must_use]
    pub const fn differences(&self) -> u64 {
        self.drifted + self.missing + self.orphaned
    }
}

/// A sentence to the reader that belongs to no single change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Notice {
    /// Stable code, `DBR701`.
    pub code: Cow<'static, str>,
    /// `error` or `warning`.
    pub severity: Cow<'static, str>,
    /// `namespace/name` of the Database, or the kind and namespace that could not be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    /// Field of the Database.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// What happened. Never a secret.
    pub message: String,
    /// What to type next.
    pub hint: String,
    /// File of the Database, where that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub origin: Option<Origin>,
}

impl From<&Problem> for Notice {
    /// Without a place: whoever knows the text adds the origin.
    fn from(problem: &Problem) -> Notice {
        Notice {
            code: Cow::Borrowed(problem.code.id()),
            severity: Cow::Borrowed(problem.severity.as_str()),
            subject: problem.subject.clone(),
            path: (!problem.path.is_root()).then(|| problem.path.to_string()),
            message: problem.message.clone(),
            hint: problem.hint.clone(),
            origin: None,
        }
    }
}

impl Notice {
    /// Whether it makes the answer incomplete.
    #[must_use]
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error.as_str()
    }
}

/// Where a Database is declared.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Origin {
    /// File as it was given.
    pub file: String,
    /// Line, from 1.
    pub line: u64,
    /// Column in characters, from 1.
    pub column: u64,
}

/// Everything about one Database.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DatabaseReport {
    /// Namespace.
    pub namespace: String,
    /// Name.
    pub name: String,
    /// Engine, as users write it; empty when nothing says which.
    pub engine: String,
    /// The worst class of its objects.
    pub impact: Impact,
    /// Where it is declared. Absent for a Database that only the cluster knows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub origin: Option<Origin>,
    /// In the order in which they are applied; what is no longer rendered comes last.
    pub objects: Vec<ObjectReport>,
}

/// Everything about one object.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ObjectReport {
    /// `apps/v1`.
    pub api_version: String,
    /// `StatefulSet`.
    pub kind: String,
    /// Namespace.
    pub namespace: String,
    /// Name.
    pub name: String,
    /// What was found.
    pub status: Status,
    /// Why, where the status alone does not say it.
    pub reason: Cow<'static, str>,
    /// The worst class of its drift; of a missing object, what making it does; of an orphan, what deleting it does.
    pub impact: Impact,
    /// Commands that put it right where an apply cannot, or must not be the first step. In order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub procedure: Vec<String>,
    /// Differences, drift first.
    pub changes: Vec<Change>,
}

/// One difference.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Change {
    /// JSON pointer; an item of a list with a key stands as `[name=agent]`, one without as its number.
    pub path: String,
    /// Whose difference it is.
    pub bucket: Bucket,
    /// What making live equal to desired would do.
    pub op: Op,
    /// Rendered value; null where there is none. Secrets are hidden.
    pub desired: Value,
    /// Value in the cluster; null where there is none. Secrets are hidden.
    pub live: Value,
    /// What making live equal to desired would do to the running database.
    pub impact: Impact,
    /// Why it has this class, or by which rule it is ignored.
    pub reason: Cow<'static, str>,
    /// Field of the Database that decides the rendered value.
    pub field: Option<&'static str>,
    /// Who wrote the live value.
    pub changed_by: Option<ChangedBy>,
    /// How many differences this stands for: more than one only for ignored ones.
    #[serde(skip_serializing_if = "is_one")]
    pub count: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
fn is_one(count: &u64) -> bool {
    *count == 1
}

/// Who wrote a live value, from the object's managedFields.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ChangedBy {
    /// Field manager.
    pub manager: String,
    /// `Apply` or `Update`.
    pub operation: String,
    /// `scale` or `status`; null for the object itself.
    pub subresource: Option<String>,
    /// When it was last written, in RFC 3339; null when the server did not say.
    pub time: Option<String>,
}

/// From which difference on a run fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum FailOn {
    /// Any drift, missing object or orphan.
    #[default]
    Difference,
    /// A difference of this class or a worse one.
    Class(Impact),
    /// Any difference, and foreign additions too.
    Foreign,
}

impl FailOn {
    /// From the word of `--fail-on`.
    #[must_use]
    pub fn parse(word: &str) -> Option<FailOn> {
        if word == "foreign" { Some(FailOn::Foreign) } else { Impact::parse(word).map(FailOn::Class) }
    }
}

/// What a report comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Nothing that counts differs.
    InSync,
    /// Something differs.
    Differences,
    /// Not everything could be read; whatever else was found.
    Incomplete,
}

impl Report {
    /// What it comes to. An incomplete answer is never in sync.
    #[must_use]
    pub fn verdict(&self, fail_on: FailOn) -> Verdict {
        let objects = || self.databases.iter().flat_map(|database| &database.objects);
        let fails = match fail_on {
            FailOn::Difference => self.summary.differences() > 0,
            FailOn::Class(class) => objects().any(|object| object.status.differs() && object.impact >= class),
            FailOn::Foreign => {
                self.summary.differences() > 0
                    || objects().any(|object| object.changes.iter().any(|change| change.bucket == Bucket::Foreign))
            }
        };
        match (self.complete, fails) {
            (false, _) => Verdict::Incomplete,
            (true, true) => Verdict::Differences,
            (true, false) => Verdict::InSync,
        }
    }

    /// The JSON Schema of the report.
    #[must_use]
    pub fn schema() -> Value {
        // What is printed, and not what could be read: fields that are left out when empty are not required.
        let settings = schemars::generate::SchemaSettings::draft2020_12().for_serialize();
        settings.into_generator().into_root_schema_for::<Report>().to_value()
    }
}
