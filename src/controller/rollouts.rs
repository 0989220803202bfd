//! At most so many Databases restart at a time, and none begins after one did not become ready.
//!
//! What restarts now is read from the StatefulSets, so that a new leader knows it too. That the rollouts are stopped stands
//! in the status of the Database that did not become ready, until a person takes it away.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use jiff::tz::TimeZone;
use serde_json::{Value, json};
use tokio::time::Instant;

use super::cache::DatabaseKey;
use super::intent::Intent;
use super::reconcile::{Failure, path_of_databases};
use super::status::{Facts, Standing};
use super::{Inner, Mode, applying};
use crate::api::{DatabaseStatus, MAINTENANCE_WINDOW, RESUME_ROLLOUTS, Window};
use crate::plan::Plan;

/// The reason of the condition `Stalled` that stops all others.
const FAILED: &str = "RolloutFailed";
/// How soon one that waits for its turn asks again.
const TURN: Duration = Duration::from_secs(10);

/// How many Databases may restart at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RolloutLimit {
    /// So many.
    pub most: u16,
    /// One that has not come further for so long has failed.
    pub patience: Duration,
}

/// How far a rollout has come: the revision that is wanted, and members that have it.
type Step = (String, i64);

#[derive(Debug, Default)]
struct State {
    /// Allowed to begin, and not seen to have begun and ended since.
    begun: BTreeSet<DatabaseKey>,
    /// How far each is, and since when it is there.
    since: BTreeMap<DatabaseKey, (Step, Instant)>,
    /// Those that failed, as long as the watch of Databases may not have shown it.
    failed: BTreeSet<DatabaseKey>,
}

/// What is known of them.
#[derive(Debug, Default)]
pub(super) struct Rollouts {
    limit: Option<RolloutLimit>,
    state: Mutex<State>,
}

impl Rollouts {
    pub(super) fn new(limit: Option<RolloutLimit>) -> Rollouts {
        Rollouts { limit, state: Mutex::default() }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Forgets everything: another one may have led meanwhile.
    pub(super) fn clear(&self) {
        *self.state() = State::default();
    }

    /// A Database is not there any more, or has nothing to restart.
    pub(super) fn forget(&self, key: &DatabaseKey) {
        let mut state = self.state();
        state.begun.remove(key);
        state.since.remove(key);
        state.failed.remove(key);
    }
}

/// Whether the members of a Database may restart now because of a change. `None`: they may, and it counts from now on.
pub(super) fn held(shared: &Inner, intent: &Intent, plan: &Plan) -> Option<Standing> {
    if let Some(wait) = plan.maintenance.as_ref().and_then(|window| closed(window, jiff::Timestamp::now())) {
        let until = jiff::Timestamp::now() + wait;
        let message = format!(
            "a change restarts the members; it waits for {MAINTENANCE_WINDOW}, until {}",
            until.strftime("%Y-%m-%dT%H:%MZ")
        );
        return Some(Standing::Waiting("OutsideWindow", message, wait));
    }
    let limit = shared.rollouts.limit?;
    let key = intent.key();
    let stopped = stopped(shared);
    let mut rolling = shared.cache.with_stateful_set(is_rolling);
    let mut state = shared.rollouts.state();
    rolling.extend(state.begun.iter().cloned());
    let waiting = turn(&key, &rolling, stopped.as_ref(), limit.most);
    if waiting.is_none() {
        state.begun.insert(key);
    }
    waiting.map(|(reason, message)| Standing::Waiting(reason, message, TURN))
}

/// Why a Database has to wait for its turn; `None`: it has it. One that restarts already may change again: that may be
/// what mends it.
fn turn(
    key: &DatabaseKey,
    rolling: &BTreeSet<DatabaseKey>,
    stopped: Option<&DatabaseKey>,
    most: u16,
) -> Option<(&'static str, String)> {
    if rolling.contains(key) || stopped == Some(key) {
        return None;
    }
    if let Some((namespace, name)) = stopped {
        let message = format!(
            "a change restarts the members; it waits because {namespace}/{name} did not become ready after one: mend that, then set its annotation {RESUME_ROLLOUTS}"
        );
        return Some(("RolloutsStopped", message));
    }
    let others = rolling.len();
    (others >= usize::from(most)).then(|| {
        let message = format!("a change restarts the members; it waits for its turn: {others} of {most} restart now");
        ("RolloutQueued", message)
    })
}

/// How long a window stays closed; `None`: it is open.
fn closed(window: &Window, now: jiff::Timestamp) -> Option<Duration> {
    let now = now.to_zoned(TimeZone::UTC);
    let day = u8::try_from(now.weekday().to_monday_zero_offset()).unwrap_or(0);
    let minute = u16::try_from(i32::from(now.hour()) * 60 + i32::from(now.minute())).unwrap_or(0);
    let minutes = window.opens_in(day, minute);
    let seconds = (u64::from(minutes) * 60).saturating_sub(u64::try_from(now.second()).unwrap_or(0));
    (minutes > 0).then(|| Duration::from_secs(seconds.max(1)))
}

/// Whether members are being replaced.
fn is_rolling(set: &Value) -> bool {
    let number = |pointer: &str| set.pointer(pointer).and_then(Value::as_i64).unwrap_or_default();
    set.pointer("/status/currentRevision") != set.pointer("/status/updateRevision")
        || number("/status/observedGeneration") < number("/metadata/generation")
}

fn step(set: &Value) -> Step {
    let revision = set.pointer("/status/updateRevision").and_then(Value::as_str).unwrap_or_default();
    let members = set.pointer("/status/updatedReplicas").and_then(Value::as_i64).unwrap_or_default();
    (revision.to_owned(), members)
}

/// The Database that stopped all others.
fn stopped(shared: &Inner) -> Option<DatabaseKey> {
    if let Some(key) = shared.rollouts.state().failed.first() {
        return Some(key.clone());
    }
    let stored = shared.databases()?.state();
    stored
        .iter()
        .filter(|object| object.metadata.deletion_timestamp.is_none())
        .find(|object| serde_json::from_value(object.data["status"].clone()).is_ok_and(|status| has_failed(&status)))
        .map(|object| super::watching::key_of(object))
}

fn has_failed(status: &DatabaseStatus) -> bool {
    let is_it = |c: &crate::api::Condition| {
        c.condition_type == "Stalled" && c.status == "True" && c.reason.as_deref() == Some(FAILED)
    };
    status.conditions.iter().any(is_it)
}

/// What the restart of a Database adds to where it stands: that it has failed, or when to look at it again.
pub(super) fn judge(
    shared: &Inner,
    intent: &Intent,
    facts: &Facts,
    standing: Standing,
) -> (Standing, Option<Duration>) {
    let Some(limit) = shared.rollouts.limit.filter(|_| shared.mode == Mode::Apply) else { return (standing, None) };
    let key = intent.key();
    if intent.annotations.contains_key(RESUME_ROLLOUTS) {
        return (standing, Some(limit.patience));
    }
    let rolling = facts.stateful_set.as_ref().filter(|set| is_rolling(set)).map(step);
    let mut state = shared.rollouts.state();
    let mut left = None;
    let mut late = false;
    match rolling {
        Some(step) => {
            let (before, since) = state.since.entry(key.clone()).or_insert_with(|| (step.clone(), Instant::now()));
            if *before != step {
                (*before, *since) = (step, Instant::now());
            }
            late = since.elapsed() >= limit.patience;
            left = Some(limit.patience.saturating_sub(since.elapsed()) + Duration::from_millis(100));
        }
        None => {
            state.since.remove(&key);
            // Written just now: the watch has not shown it yet.
            if standing != Standing::Applying {
                state.begun.remove(&key);
            }
        }
    }
    if late {
        state.failed.insert(key);
    } else if !has_failed(&intent.status) && !state.failed.contains(&key) {
        return (standing, left);
    }
    // What else stands in the way of this Database is told by its other conditions.
    let message = format!(
        "its members did not become ready within {} s after a change; no other Database restarts until this one is mended and its annotation {RESUME_ROLLOUTS} is set",
        limit.patience.as_secs()
    );
    (Standing::Stalled(FAILED, message), None)
}

/// A person says that others may restart again. The annotation goes, so that it counts once; after the status was written,
/// so that no look sees the one without the other.
pub(super) async fn resume(shared: &Inner, intent: &Intent) -> Result<(), Failure> {
    if shared.mode != Mode::Apply || !intent.annotations.contains_key(RESUME_ROLLOUTS) {
        return Ok(());
    }
    let change = json!({"metadata": {"annotations": {RESUME_ROLLOUTS: null}, "uid": intent.uid}});
    applying::merge(&shared.client, &path_of_databases(&intent.namespace), &intent.name, &change).await?;
    let failed = shared.rollouts.state().failed.contains(&intent.key()) || has_failed(&intent.status);
    shared.rollouts.forget(&intent.key());
    if failed {
        let note = "other Databases may restart again";
        shared.events.tell(intent, false, "RolloutsResumed", "Resume", note).await;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::{Value, json};

    use super::{closed, is_rolling, turn};
    use crate::api::Window;

    fn key(name: &str) -> (String, String) {
        ("n".to_owned(), name.to_owned())
    }

    #[test]
    fn so_many_restart_at_a_time_and_none_after_one_that_failed() {
        let rolling: BTreeSet<_> = [key("a"), key("b")].into();
        let reason = |of: &str, stopped: Option<&str>, most: u16| {
            turn(&key(of), &rolling, stopped.map(key).as_ref(), most).map(|(reason, _)| reason)
        };
        assert_eq!(reason("c", None, 3), None);
        assert_eq!(reason("c", None, 2), Some("RolloutQueued"));
        assert_eq!(reason("c", Some("a"), 9), Some("RolloutsStopped"));
        // Whoever restarts already, or has failed, may be mended.
        assert_eq!(reason("a", None, 1), None);
        assert_eq!(reason("a", Some("b"), 1), None);
        assert_eq!(reason("d", Some("d"), 1), None);
    }

    #[test]
    fn members_are_being_replaced_until_all_have_the_new_revision_and_are_ready() {
        let set = |current: &str, generation: i64| -> Value {
            json!({"metadata": {"generation": 2}, "status": {"observedGeneration": generation,
                "currentRevision": current, "updateRevision": "b"}})
        };
        assert!(is_rolling(&set("a", 2)) && is_rolling(&set("b", 1)) && !is_rolling(&set("b", 2)));
    }

    #[test]
    fn a_closed_window_says_when_it_opens() {
        let window = Window::parse("Mon 10:00-11:00").unwrap();
        let at = |text: &str| text.parse::<jiff::Timestamp>().unwrap();
        // 2026-03-02 is a Monday.
        assert_eq!(closed(&window, at("2026-03-02T10:30:00Z")), None);
        assert_eq!(closed(&window, at("2026-03-02T09:59:15Z")).map(|left| left.as_secs()), Some(45));
        assert_eq!(closed(&window, at("2026-03-01T10:00:00Z")).map(|left| left.as_secs()), Some(24 * 3600));
    }
}
