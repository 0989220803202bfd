//! What is rendered, compared with what is in the cluster: what drifted, who did it, and what putting it right would do.
//!
//! A function of values. It knows the closed set of fields that we render, how the API server fills in the rest, and
//! nothing of any engine.

mod around;
mod attribution;
mod cause;
mod compare;
mod defaults;
mod dump;
mod hidden;
mod impact;
mod kind;
mod leftover;
mod listed;
mod live;
mod live_json;
mod live_parts;
mod mask;
mod metadata;
mod path;
mod profile;
mod report;
mod rule;
mod secret;
mod stateful_set;
#[cfg(test)]
mod tests;
mod walk;

pub use compare::Comparison;
pub use defaults::{Default, as_stored, defaults};
pub use dump::Identities;
pub use hidden::Hidden;
pub use kind::{KINDS, Kind, STORAGE_CLASS};
pub use listed::Listed;
pub use live::{Gap, GapReason, HIDDEN, HIDDEN_OTHER, LiveError, LiveObject, LiveSet, Read, Stopped};
pub use live_json::JsonReader;
pub use mask::Mask;
pub use report::{
    Bucket, Change, ChangedBy, DatabaseReport, FailOn, Impact, Notice, ObjectReport, Op, Origin, Report,
    SCHEMA_VERSION, Status, Summary, Verdict,
};

use crate::plan::Plan;
use crate::render::Object;

/// Compares everything at once. See [`Comparison`] for one Database at a time.
#[must_use]
pub fn compare(desired: &[Desired<'_>], live: &LiveSet, policy: &Policy) -> Report {
    let mut comparison = Comparison::new(live, policy);
    desired.iter().for_each(|desired| comparison.add(desired));
    comparison.finish(Vec::new())
}

/// What is wanted of one Database.
#[derive(Clone, Copy, Debug)]
pub struct Desired<'a> {
    /// What it was rendered from. `None` when only the manifests are known, as with `--rendered`: then nothing can be said
    /// about fields of the Database.
    pub plan: Option<&'a Plan>,
    /// What the other side was rendered from, when that is known too, as with `--base`.
    pub base: Option<&'a Plan>,
    /// Namespace of the Database.
    pub namespace: &'a str,
    /// Its name.
    pub name: &'a str,
    /// The manifests.
    pub objects: &'a [Object],
    /// Where the Database is declared.
    pub origin: Option<&'a Origin>,
}

/// How to compare.
#[derive(Clone, Debug)]
pub struct Policy {
    /// Whether Secrets were asked for. If not, they are `skipped` and the answer stays complete.
    pub secrets_read: bool,
    /// Version of the API server, for its defaults and for what it lets change.
    pub kubernetes: Minor,
    /// Which objects in the cluster are called orphans.
    pub orphans: Orphans,
}

/// Which objects in the cluster are called orphans when they are ours and no longer rendered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Orphans {
    /// Those of the Databases that are compared: when the input is a choice out of more.
    OfTheseDatabases,
    /// All in the namespaces of the Databases that are compared: when the input is all there is for them.
    OfTheseNamespaces,
    /// All that were read.
    Everywhere,
}

/// A minor version of Kubernetes 1: 34 for 1.34.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Minor(pub u32);

impl Minor {
    /// The oldest whose defaults are known and tested.
    pub const OLDEST: Minor = Minor(34);
    /// The newest whose defaults are known and tested.
    pub const NEWEST: Minor = Minor(37);

    /// From `1.34`, `v1.34.4` or `1.34+`.
    #[must_use]
    pub fn parse(text: &str) -> Option<Minor> {
        let (major, rest) = text.strip_prefix('v').unwrap_or(text).split_once('.')?;
        let minor = rest.split(|c: char| !c.is_ascii_digit()).next()?;
        (major == "1").then(|| minor.parse().ok().map(Minor)).flatten()
    }

    /// The nearest of the known versions.
    #[must_use]
    pub fn known(self) -> Minor {
        self.clamp(Minor::OLDEST, Minor::NEWEST)
    }
}

impl std::fmt::Display for Minor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "1.{}", self.0)
    }
}
