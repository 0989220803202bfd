//! The role label of a member that elects its primary: set by a sidecar on its own pod, as the agent beside it says.
//!
//! A primary that was frozen or cut off calls itself primary for some seconds after it is back, and cannot take its own
//! label away meanwhile. So the one that begins to lead takes the label from the others first, and who comes out of
//! nowhere waits until it has said the same for a while.

use std::future::poll_fn;
use std::path::Path;
use std::pin::pin;
use std::task::Poll;
use std::time::{Duration, SystemTime};

use kube::api::{GetParams, Patch, PatchParams};
use kube::core::{ObjectMeta, Request};
use kube::{Client, Error};
use serde::Deserialize;
use serde_json::json;
use tokio::time::{Instant, sleep};

use crate::engine::Role;
use crate::render::ROLE_LABEL;

/// Between two looks at the file.
const PAUSE: Duration = Duration::from_millis(300);
/// A file that is older says nothing: its writer, who writes it about twice a second, hangs or is gone.
const STALE: Duration = Duration::from_secs(20);
/// A gap in what is known, shorter than `STALE` and longer than a busy node makes.
const GAP: Duration = Duration::from_secs(3);
/// How long a member that was in no group, or that nothing was known of, has to say that it is primary. Longer than the
/// 3.8 s for which a primary that was cut off was seen to say so after it was back.
const SETTLE: Duration = Duration::from_secs(6);
/// Between two looks at the labels when nothing changes.
const LOOK: Duration = Duration::from_secs(2);
const FIELD_MANAGER: &str = "dbrender-role-label";

/// Whose label it is.
#[derive(Clone, Debug)]
pub struct Member {
    /// Namespace of the pods.
    pub namespace: String,
    /// Name of the Database; its pods are `<name>-<ordinal>`.
    pub database: String,
    /// Name of this pod.
    pub pod: String,
    /// Most members that there can be.
    pub members: u8,
}

/// What the agent says, as far as it can be believed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Said {
    Role(Role),
    /// In no group, or nothing that is fresh.
    Nothing,
}

/// Decides on the label, from what is said at which time. A function of its calls, so that it can be tested.
#[derive(Debug)]
struct Judge {
    /// Since when primary has been said without a break, and whether that began as a replica.
    primary_since: Option<(Instant, bool)>,
    was_replica: bool,
    last_look: Option<Instant>,
}

impl Judge {
    const fn new() -> Self {
        Judge { primary_since: None, was_replica: false, last_look: None }
    }

    /// The role that the label is to have. `age`: of what was said.
    fn judge(&mut self, now: Instant, said: Said, age: Duration) -> Option<Role> {
        let late = self.last_look.is_some_and(|last| now.duration_since(last) > GAP);
        self.last_look = Some(now);
        if late || age > GAP {
            // Nothing is known of the time in between.
            self.primary_since = None;
            self.was_replica = false;
        }
        match said {
            _ if age > STALE => None,
            Said::Nothing => {
                self.primary_since = None;
                self.was_replica = false;
                None
            }
            Said::Role(Role::Replica) => {
                self.primary_since = None;
                self.was_replica = age <= GAP;
                Some(Role::Replica)
            }
            Said::Role(Role::Primary) => {
                let (since, promoted) = *self.primary_since.get_or_insert((now, self.was_replica));
                (promoted || now.duration_since(since) >= SETTLE).then_some(Role::Primary)
            }
        }
    }
}

/// Keeps the label of a pod until the process is told to stop. `tell` gets a sentence for each change and each kind of
/// failure; what a server refuses is told once and tried again.
///
/// # Errors
/// When the signal to stop cannot be listened to. As the first process of a container it would be ignored.
pub async fn keep_role_label(
    client: &Client,
    member: &Member,
    file: &Path,
    tell: impl FnMut(&str),
) -> std::io::Result<()> {
    first(stop(), keep(client, member, file, tell)).await
}

/// What ends first.
async fn first<T>(one: impl Future<Output = T>, other: impl Future<Output = T>) -> T {
    let (mut one, mut other) = (pin!(one), pin!(other));
    poll_fn(|context| match one.as_mut().poll(context) {
        Poll::Pending => other.as_mut().poll(context),
        done => done,
    })
    .await
}

/// Ends when the process is told to stop.
#[cfg(unix)]
async fn stop() -> std::io::Result<()> {
    use tokio::signal::unix::{SignalKind, signal};
    let (mut terminate, mut interrupt) = (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
    first(terminate.recv(), interrupt.recv()).await;
    Ok(())
}

/// Ends when the process is told to stop.
#[cfg(not(unix))]
async fn stop() -> std::io::Result<()> {
    tokio::signal::ctrl_c().await
}

/// Never ends.
async fn keep(client: &Client, member: &Member, file: &Path, mut tell: impl FnMut(&str)) -> std::io::Result<()> {
    let mut judge = Judge::new();
    let mut shown = None;
    let mut looked: Option<Instant> = None;
    let mut complaint = String::new();
    loop {
        let (said, age) = read(file);
        let wanted = judge.judge(Instant::now(), said, age);
        let due = looked.is_none_or(|last| last.elapsed() >= LOOK);
        if due || shown != Some(wanted) {
            match apply(client, member, wanted).await {
                Ok(()) => {
                    if shown != Some(wanted) {
                        tell(&format!("{}: {}", member.pod, word(wanted).unwrap_or("no role")));
                    }
                    (shown, looked) = (Some(wanted), Some(Instant::now()));
                    complaint.clear();
                }
                Err(reason) => {
                    // Once, and not three times a second.
                    if reason != complaint {
                        tell(&reason);
                        complaint = reason;
                    }
                    looked = Some(Instant::now());
                    sleep(PAUSE * 2).await;
                }
            }
        }
        sleep(PAUSE).await;
    }
}

/// What the file says, and how old that is.
fn read(file: &Path) -> (Said, Duration) {
    let said = match std::fs::read_to_string(file).as_deref().map(str::trim) {
        Ok("primary") => Said::Role(Role::Primary),
        Ok("replica") => Said::Role(Role::Replica),
        _ => Said::Nothing,
    };
    let written = std::fs::metadata(file).and_then(|metadata| metadata.modified()).ok();
    let age = written.and_then(|at| SystemTime::now().duration_since(at).ok()).unwrap_or_default();
    (said, age)
}

const fn word(role: Option<Role>) -> Option<&'static str> {
    match role {
        Some(Role::Primary) => Some("primary"),
        Some(Role::Replica) => Some("replica"),
        None => None,
    }
}

/// A pod as far as it concerns us.
#[derive(Debug, Deserialize)]
struct Labelled {
    metadata: ObjectMeta,
}

/// Gives this pod its label. A primary takes it from the others before that, so that never two have it.
async fn apply(client: &Client, member: &Member, wanted: Option<Role>) -> Result<(), String> {
    if wanted == Some(Role::Primary) {
        for ordinal in 0..member.members {
            let other = format!("{}-{ordinal}", member.database);
            if other != member.pod && label_of(client, member, &other).await? == Some("primary".to_owned()) {
                set(client, member, &other, None).await?;
            }
        }
    }
    if label_of(client, member, &member.pod).await?.as_deref() != word(wanted) {
        set(client, member, &member.pod, word(wanted)).await?;
    }
    Ok(())
}

/// The role label of a pod; none when there is no such pod.
async fn label_of(client: &Client, member: &Member, pod: &str) -> Result<Option<String>, String> {
    let request = Request::new(path(member)).get(pod, &GetParams::default()).map_err(|error| error.to_string())?;
    match client.request::<Labelled>(request).await {
        Ok(found) => Ok(found.metadata.labels.and_then(|mut labels| labels.remove(ROLE_LABEL))),
        Err(Error::Api(status)) if status.code == 404 => Ok(None),
        Err(error) => Err(refused(&error, "get", member, pod)),
    }
}

async fn set(client: &Client, member: &Member, pod: &str, role: Option<&str>) -> Result<(), String> {
    let change = json!({"metadata": {"labels": {ROLE_LABEL: role}}});
    let params = PatchParams { field_manager: Some(FIELD_MANAGER.to_owned()), ..PatchParams::default() };
    let request =
        Request::new(path(member)).patch(pod, &params, &Patch::Merge(change)).map_err(|error| error.to_string())?;
    match client.request::<Labelled>(request).await {
        Ok(_) => Ok(()),
        Err(Error::Api(status)) if status.code == 404 => Ok(()),
        Err(error) => Err(refused(&error, "patch", member, pod)),
    }
}

fn path(member: &Member) -> String {
    format!("/api/v1/namespaces/{}/pods", member.namespace)
}

fn refused(error: &Error, verb: &str, member: &Member, pod: &str) -> String {
    let reason = match error {
        Error::Api(status) if status.code == 403 => {
            format!("not allowed; the Role or RoleBinding {} may be missing", member.database)
        }
        Error::Api(status) => status.message.clone(),
        other => other.to_string(),
    };
    format!("cannot {verb} pod {}/{pod}: {reason}", member.namespace)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::time::Instant;

    use super::{Judge, Said};
    use crate::engine::Role::{Primary, Replica};

    /// What is said at which second, how old it is, and the role that follows.
    fn story(steps: &[(f64, Said, f64, Option<crate::engine::Role>)]) {
        let start = Instant::now();
        let mut judge = Judge::new();
        for (at, said, age, expected) in steps {
            let found = judge.judge(start + Duration::from_secs_f64(*at), *said, Duration::from_secs_f64(*age));
            assert_eq!(found, *expected, "at {at} s: {said:?}, {age} s old");
        }
    }

    const PRIMARY: Said = Said::Role(Primary);
    const REPLICA: Said = Said::Role(Replica);

    #[test]
    fn a_replica_that_is_elected_is_primary_at_once() {
        story(&[
            (0.0, REPLICA, 0.1, Some(Replica)),
            (0.5, REPLICA, 0.1, Some(Replica)),
            (1.0, PRIMARY, 0.1, Some(Primary)),
        ]);
    }

    #[test]
    fn who_comes_from_nowhere_has_to_say_it_for_a_while() {
        story(&[
            (0.0, Said::Nothing, 0.1, None),
            (1.0, PRIMARY, 0.1, None),
            (3.0, PRIMARY, 0.1, None),
            (5.0, PRIMARY, 0.1, None),
            (7.1, PRIMARY, 0.1, Some(Primary)),
            // Cut off: the label goes at once, and what it says after that does not count for a while.
            (7.5, Said::Nothing, 0.1, None),
            (8.0, PRIMARY, 0.1, None),
            (11.0, Said::Nothing, 0.1, None),
        ]);
    }

    #[test]
    fn a_frozen_primary_loses_it_and_does_not_have_it_back_when_it_wakes() {
        story(&[
            (0.0, REPLICA, 0.1, Some(Replica)),
            (0.5, PRIMARY, 0.1, Some(Primary)),
            (2.5, PRIMARY, 2.0, Some(Primary)),
            // Server and agent are frozen, this program is not.
            (5.0, PRIMARY, 4.5, None),
            (7.5, PRIMARY, 7.0, None),
            (24.0, PRIMARY, 23.5, None),
            (25.0, PRIMARY, 0.1, None),
            (28.0, PRIMARY, 0.1, None),
            (28.5, Said::Nothing, 0.1, None),
        ]);
        story(&[
            (0.0, REPLICA, 0.1, Some(Replica)),
            (0.5, PRIMARY, 0.1, Some(Primary)),
            // All of the pod was frozen.
            (60.5, PRIMARY, 0.1, None),
            (63.0, PRIMARY, 0.1, None),
            (64.0, REPLICA, 0.1, Some(Replica)),
        ]);
    }
}
