//! What may change in a Database that exists.
//!
//! Input: the Database before and after. Output: problems at fields of the Database after.

use super::{members, spec, version};
use crate::api::{Database, DatabaseSpec, Quantity};
use crate::engine::{self, Engine, NEWEST_EDITION, VersionMove};
use crate::plan::Profile;
use crate::problem::{Code, Problem, Problems};

/// Compares a Database with what it was. Both are taken to be valid on their own; `check` says so.
#[must_use]
pub fn update(old: &Database, new: &Database) -> Problems {
    let mut out = Problems::new();
    let change = Change { old: &old.spec, new: &new.spec };
    change.engine(&mut out);
    change.storage(&mut out);
    change.fixed(&mut out);
    change.members(&mut out);
    let name = new.metadata.name.as_deref().unwrap_or_default();
    let subject =
        new.metadata.namespace.as_deref().map_or_else(|| name.to_owned(), |namespace| format!("{namespace}/{name}"));
    out.iter_mut().for_each(|problem| problem.subject = Some(subject.clone()));
    out
}

struct Change<'a> {
    old: &'a DatabaseSpec,
    new: &'a DatabaseSpec,
}

impl Change<'_> {
    fn engine(&self, out: &mut Problems) {
        let (old, new) = (self.old.engine, self.new.engine);
        if old != new {
            let message = format!("the engine cannot change from {} to {}", old.as_str(), new.as_str());
            out.report(Code::EngineChanged, spec("engine"), message);
        } else if let Some(engine) = engine::by_name(new) {
            self.version(engine, out);
            self.standby_settings(engine, out);
            engine.update(self.old, self.new, out);
        }
    }

    fn version(&self, engine: &dyn Engine, out: &mut Problems) {
        let (old, new) = (self.old.version.as_str(), self.new.version.as_str());
        let (before, after) = (numbers(old), numbers(new));
        // "16" leaves the minor to the catalog, so it is neither above nor below 16.15.
        let common = before.len().min(after.len());
        let title = engine.title();
        if after[..common] < before[..common] {
            out.report(Code::Downgraded, spec("version"), format!("{title} cannot go back from {old} to {new}"));
        } else if series(engine, old) != series(engine, new) {
            match engine.version_move(old, new) {
                VersionMove::Restart(note) => {
                    let message = format!("{title} {old} becomes {new} in place: {note}");
                    out.report(Code::SeriesRaised, spec("version"), message);
                }
                VersionMove::Migration(_) => {
                    let message = format!("{title} {old} does not become {new} in place");
                    out.report(Code::MajorUpgrade, spec("version"), message);
                }
            }
        }
    }

    fn storage(&self, out: &mut Problems) {
        let (old, new) = (&self.old.storage, &self.new.storage);
        if let (Ok(before), Ok(after)) = (Quantity::parse(&old.size), Quantity::parse(&new.size))
            && after < before
        {
            out.report(
                Code::StorageShrunk,
                spec("storage.size"),
                format!("storage.size cannot shrink from {} to {}", old.size, new.size),
            );
        }
        if old.storage_class != new.storage_class {
            let message =
                format!("the storage class cannot change from {:?} to {:?}", old.storage_class, new.storage_class);
            out.report(Code::StorageClassChanged, spec("storage.storageClass"), message);
        }
    }

    fn fixed(&self, out: &mut Problems) {
        for (field, old, new) in
            [("database", &self.old.database, &self.new.database), ("username", &self.old.username, &self.new.username)]
        {
            if old != new {
                out.report(
                    Code::ImmutableChanged,
                    spec(field),
                    format!("spec.{field} cannot change from {old:?} to {new:?}"),
                );
            }
        }
        if self.old.bootstrap != self.new.bootstrap {
            let message = match (&self.old.bootstrap, &self.new.bootstrap) {
                (None, _) => "spec.bootstrap cannot be added: the server is not empty any more",
                (_, None) => "spec.bootstrap cannot be removed: it says where the first data came from",
                _ => "spec.bootstrap cannot change: the first data are there",
            };
            out.report(Code::ImmutableChanged, spec("bootstrap"), message);
        }
    }

    fn members(&self, out: &mut Problems) {
        let (before, after) = (self.old.failover, self.new.failover);
        if before != after {
            let (code, why) = match self.old.replicas.max(self.new.replicas) {
                0 | 1 => (Code::ProfileChanged, "which is a migration".to_owned()),
                // Seen on real servers: the first that restarted led beside the primary.
                several => (
                    Code::ProfileChangedAtOnce,
                    format!("with {several} members at once: two could come to take writes"),
                ),
            };
            out.report(code, spec("failover"), format!("failover changes from {before:?} to {after:?}, {why}"));
        }
        let (from, to) = (self.old.primary.unwrap_or(0), self.new.primary.unwrap_or(0));
        if members::profile(before) == Profile::Manual
            && members::profile(after) == Profile::Manual
            && from != to
            && from >= self.new.replicas
        {
            let message =
                format!("member {from} is the primary and would be removed before member {to} has taken over from it");
            out.report(Code::PrimaryRemoved, spec("replicas"), message);
        }
    }

    /// Members restart from the highest ordinal to the lowest. A standby must not have less than its primary, so raising
    /// works while the primary is the last one, and lowering never does.
    fn standby_settings(&self, engine: &dyn Engine, out: &mut Problems) {
        let manual = |spec: &DatabaseSpec| members::profile(spec.failover) == Profile::Manual;
        if !manual(self.old) || !manual(self.new) || self.old.replicas.max(self.new.replicas) < 2 {
            return;
        }
        let last = self.old.primary.unwrap_or(0) == 0 && self.new.primary.unwrap_or(0) == 0;
        let before = engine.standby_settings(self.old);
        for ((name, was), (_, is)) in before.into_iter().zip(engine.standby_settings(self.new)) {
            let (verb, hint) = if is < was {
                (
                    "lowered",
                    "put it back; the page of the engine in docs/ has the recipe, which copies the standbys anew",
                )
            } else if is > was && !last {
                ("raised while the primary is not member 0", "set primary: 0 first, then raise it")
            } else {
                continue;
            };
            let path = spec("parameters").key(name);
            let message = format!("{name} cannot be {verb} with failover: Manual (from {was} to {is})");
            out.push(Problem::new(Code::StandbySettingChanged, path, message).with_hint(hint));
        }
    }
}

/// The numbers of a version, for comparison.
fn numbers(version: &str) -> Vec<u64> {
    version.split(['.', '-', '+']).map_while(|part| part.parse().ok()).collect()
}

/// The series that a version belongs to, in whatever edition knows it; otherwise its first number.
fn series(engine: &dyn Engine, version: &str) -> String {
    let known = (1..=NEWEST_EDITION).find_map(|edition| version::find(engine.releases(edition), version));
    known.map_or_else(|| version.split('.').next().unwrap_or_default().to_owned(), |release| release.series.to_owned())
}
