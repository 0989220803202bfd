//! How far the controller is, for its health, its metrics and its log.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

use super::cache::DatabaseKey;
use crate::api::Phase;
use crate::diff::KINDS;

/// Numbers since the start.
#[derive(Debug, Default)]
pub(super) struct Counted {
    pub(super) done: AtomicU64,
    pub(super) retried: AtomicU64,
    pub(super) applied: AtomicU64,
    pub(super) deleted: AtomicU64,
    pub(super) forced: AtomicU64,
    pub(super) statuses: AtomicU64,
    pub(super) allowed: AtomicU64,
    pub(super) denied: AtomicU64,
    /// When the webhook's certificate ends, in seconds since 1970. 0: there is none.
    pub(super) certificate_end: AtomicU64,
}

/// Adds one.
pub(super) fn count(number: &AtomicU64) {
    number.fetch_add(1, Ordering::Relaxed);
}

#[derive(Debug, Default)]
struct Inner {
    /// Kinds of which a whole list was seen.
    seen: BTreeSet<&'static str>,
    databases: BTreeMap<DatabaseKey, (Phase, bool)>,
    troubles: BTreeMap<&'static str, String>,
    /// Why this process can neither lead nor wait for its turn.
    lease: Option<String>,
}

/// Shared by all parts.
pub(super) struct Progress {
    pub(super) counted: Counted,
    leads: AtomicBool,
    inner: Mutex<Inner>,
    news: Notify,
    log: Box<dyn Fn(&str) + Send + Sync>,
}

impl Progress {
    pub(super) fn new(log: Box<dyn Fn(&str) + Send + Sync>) -> Progress {
        Progress {
            counted: Counted::default(),
            leads: AtomicBool::new(false),
            inner: Mutex::default(),
            news: Notify::new(),
            log,
        }
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A line of the log.
    pub(super) fn say(&self, line: &str) {
        (self.log)(line);
    }

    /// A whole list of a kind was seen.
    pub(super) fn seen(&self, kind: &'static str) {
        let mut inner = self.inner();
        inner.seen.insert(kind);
        inner.troubles.remove(kind);
        drop(inner);
        self.news.notify_waiters();
    }

    /// A watch does not work; it is begun anew by itself. Told once, until it changes.
    pub(super) fn trouble(&self, kind: &'static str, why: &str) {
        let before = self.inner().troubles.insert(kind, why.to_owned());
        if before.as_deref() != Some(why) {
            self.say(&format!("{kind}: {why}"));
        }
    }

    /// Returns when every kind was seen: before that, something that is there might be called missing.
    pub(super) async fn all_seen(&self) {
        loop {
            let news = self.news.notified();
            if self.inner().seen.len() == KINDS.len() {
                return;
            }
            news.await;
        }
    }

    /// Why this process is not ready; `None` when it is. One that waits for its turn to lead is ready.
    pub(super) fn not_ready(&self) -> Option<String> {
        let inner = self.inner();
        if !self.leads() {
            return inner.lease.as_ref().map(|why| format!("the Lease cannot be had: {why}"));
        }
        let missing: Vec<&str> = KINDS.iter().map(|kind| kind.kind).filter(|kind| !inner.seen.contains(kind)).collect();
        (!missing.is_empty()).then(|| format!("not read yet: {}", missing.join(", ")))
    }

    pub(super) fn lead(&self) {
        self.lease(None);
        self.leads.store(true, Ordering::Relaxed);
    }

    /// It does not lead any more: whatever was seen may be otherwise when it does again.
    pub(super) fn follow(&self) {
        self.leads.store(false, Ordering::Relaxed);
        let mut inner = self.inner();
        inner.seen.clear();
        inner.databases.clear();
    }

    /// Why the Lease cannot be had; `None`: it can.
    pub(super) fn lease(&self, why: Option<String>) {
        self.inner().lease = why;
    }

    pub(super) fn leads(&self) -> bool {
        self.leads.load(Ordering::Relaxed)
    }

    /// Notes where a Database stands; `None`: it is gone.
    pub(super) fn note(&self, key: &DatabaseKey, state: Option<(Phase, bool)>) {
        let mut inner = self.inner();
        match state {
            Some(state) => {
                inner.databases.insert(key.clone(), state);
            }
            None => {
                inner.databases.remove(key);
            }
        }
    }

    /// Databases by phase, every phase named.
    pub(super) fn phases(&self) -> BTreeMap<&'static str, usize> {
        let mut phases: BTreeMap<&'static str, usize> =
            ["Pending", "Creating", "Running", "Failed", "Deleting"].into_iter().map(|phase| (phase, 0)).collect();
        for (phase, _) in self.inner().databases.values() {
            let name = match phase {
                Phase::Pending => "Pending",
                Phase::Creating => "Creating",
                Phase::Running => "Running",
                Phase::Failed => "Failed",
                Phase::Deleting => "Deleting",
            };
            *phases.entry(name).or_default() += 1;
        }
        phases
    }

    pub(super) fn stalled(&self) -> usize {
        self.inner().databases.values().filter(|(_, stalled)| *stalled).count()
    }
}
