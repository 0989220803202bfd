//! One controller at a time: a Lease that is taken and renewed with its resourceVersion.
//!
//! Whether another holder is gone is measured by our own clock, from the last change that we saw: the times in the Lease
//! are the other's. A leader may write as long as its last renewal is young, by its own clock: one that was frozen finds
//! its term over before it finds anything else.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use http::{Method, Request};
use jiff::Timestamp;
use k8s_openapi::api::coordination::v1::{Lease, LeaseSpec};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::MicroTime;
use kube::api::{ObjectMeta, PostParams};
use kube::client::Body;
use kube::{Api, Client};
use tokio::time::{Instant, sleep, timeout};

use super::Shard;

/// Name of the Lease of a fleet that is not split.
const LEASE: &str = "db-operator-leader";
/// A holder that does not renew for so long is taken for gone.
const DURATION: Duration = Duration::from_secs(15);
/// A holder that cannot renew for so long gives up: before others take over.
const DEADLINE: Duration = Duration::from_secs(10);
/// Between two attempts.
const PAUSE: Duration = Duration::from_secs(2);

/// Name of the Lease. Each part of a fleet has its own: its leader leads beside those of the others.
pub(super) fn name(shard: Shard) -> String {
    match shard.count {
        1 => LEASE.to_owned(),
        count => format!("{LEASE}-{}-of-{count}", shard.index + 1),
    }
}

/// Until when this process may write.
#[derive(Debug, Default)]
pub(super) struct Term(Mutex<Option<Instant>>);

impl Term {
    fn set(&self, end: Option<Instant>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = end;
    }

    /// For whoever knows that there is just one.
    pub(super) fn begin_for_ever(&self) {
        self.set(Some(Instant::now() + Duration::from_secs(u64::from(u32::MAX))));
    }

    fn holds(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).is_some_and(|end| Instant::now() < end)
    }

    /// The same client, but for requests that write: those fail when the term is over.
    pub(super) fn guard(self: &Arc<Self>, client: Client) -> Client {
        let (term, namespace) = (self.clone(), client.default_namespace().to_owned());
        let service = tower::service_fn(move |request: Request<Body>| {
            let (client, term) = (client.clone(), term.clone());
            async move {
                if request.method() != Method::GET && !term.holds() {
                    return Err(kube::Error::Service("this process does not lead any more".into()));
                }
                client.send(request).await
            }
        });
        Client::new(service, namespace)
    }
}

/// The last state of the Lease that was seen, and when it was first seen so.
#[derive(Debug)]
struct Record {
    version: Option<String>,
    since: Instant,
}

/// What a candidate waits for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Waiting {
    /// Somebody else leads.
    Holder(String),
    /// The Lease cannot be read or written.
    Trouble(String),
}

/// What to do next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    /// Write our name.
    Take,
    /// Write our name again.
    Renew,
    /// Look again later.
    Wait,
}

fn step(spec: Option<&LeaseSpec>, me: &str, unchanged_for: Duration) -> Step {
    let holder = spec.and_then(|spec| spec.holder_identity.as_deref()).unwrap_or_default();
    let seconds = spec.and_then(|spec| spec.lease_duration_seconds).and_then(|seconds| u64::try_from(seconds).ok());
    let patience = seconds.map_or(DURATION, Duration::from_secs).max(DURATION);
    match holder {
        "" => Step::Take,
        holder if holder == me => Step::Renew,
        _ if unchanged_for > patience => Step::Take,
        _ => Step::Wait,
    }
}

/// A candidate.
pub(super) struct Election {
    leases: Api<Lease>,
    name: String,
    namespace: String,
    me: String,
    record: Record,
    term: Arc<Term>,
}

impl Election {
    /// `me` has to differ between any two processes that ever live.
    pub(super) fn new(client: Client, namespace: &str, name: String, me: String, term: Arc<Term>) -> Election {
        Election {
            term,
            name,
            leases: Api::namespaced(client, namespace),
            namespace: namespace.to_owned(),
            me,
            record: Record { version: None, since: Instant::now() },
        }
    }

    /// Returns when this process leads. Tells `waiting` what it waits for, whenever that changes: who leads, or why the
    /// Lease cannot be had. A server that starts refuses what it will allow, so no refusal is the last word.
    pub(super) async fn won(&mut self, waiting: impl Fn(&Waiting)) {
        let mut told = None;
        loop {
            let began = Instant::now();
            let waits = match timeout(DEADLINE, self.attempt()).await {
                Ok(Ok(None)) => {
                    self.term.set(Some(began + DEADLINE));
                    return;
                }
                Ok(Ok(Some(holder))) => Waiting::Holder(holder),
                Ok(Err(error)) => Waiting::Trouble(error.to_string()),
                Err(_) => Waiting::Trouble("no answer".to_owned()),
            };
            if told.as_ref() != Some(&waits) {
                waiting(&waits);
                told = Some(waits);
            }
            sleep(PAUSE).await;
        }
    }

    /// Renews, and returns when the Lease is lost or could not be renewed in time. Why.
    pub(super) async fn lost(&mut self) -> String {
        let mut renewed = Instant::now();
        let mut why = String::new();
        loop {
            sleep(PAUSE).await;
            // The request may have been answered long before we see it: what counts is when it was made.
            let began = Instant::now();
            match timeout(DEADLINE.saturating_sub(renewed.elapsed()), self.attempt()).await {
                Ok(Ok(None)) => {
                    renewed = began;
                    self.term.set(Some(began + DEADLINE));
                }
                Ok(Ok(Some(holder))) => {
                    self.term.set(None);
                    return format!("{holder} leads");
                }
                Ok(Err(error)) => why = error.to_string(),
                Err(_) => "no answer".clone_into(&mut why),
            }
            if renewed.elapsed() >= DEADLINE {
                self.term.set(None);
                return format!("it could not be renewed: {why}");
            }
        }
    }

    /// Gives the Lease back, so that the next one need not wait.
    pub(super) async fn give_up(&mut self) {
        self.term.set(None);
        let Ok(Ok(Some(lease))) = timeout(PAUSE, self.leases.get_opt(&self.name)).await else { return };
        if step(lease.spec.as_ref(), &self.me, Duration::ZERO) == Step::Renew {
            // Whoever has written in between has it already.
            let _ = timeout(PAUSE, self.write(lease, "")).await;
        }
    }

    /// One look and at most one write. `None`: it is ours; otherwise who has it.
    async fn attempt(&mut self) -> Result<Option<String>, kube::Error> {
        let Some(lease) = self.leases.get_opt(&self.name).await? else {
            let metadata = ObjectMeta {
                name: Some(self.name.clone()),
                namespace: Some(self.namespace.clone()),
                ..ObjectMeta::default()
            };
            let lease = Lease { metadata, spec: Some(self.spec(None, &self.me)) };
            return conflict_is_no_error(self.leases.create(&PostParams::default(), &lease).await);
        };
        if lease.metadata.resource_version != self.record.version {
            self.record = Record { version: lease.metadata.resource_version.clone(), since: Instant::now() };
        }
        match step(lease.spec.as_ref(), &self.me, self.record.since.elapsed()) {
            Step::Wait => Ok(Some(lease.spec.and_then(|spec| spec.holder_identity).unwrap_or_default())),
            Step::Take | Step::Renew => {
                let me = self.me.clone();
                conflict_is_no_error(self.write(lease, &me).await)
            }
        }
    }

    /// The resourceVersion that was read goes with it: the server refuses when somebody else was faster.
    async fn write(&self, lease: Lease, holder: &str) -> Result<Lease, kube::Error> {
        let spec = self.spec(lease.spec.as_ref(), holder);
        let next = Lease { metadata: lease.metadata, spec: Some(spec) };
        self.leases.replace(&self.name, &PostParams::default(), &next).await
    }

    fn spec(&self, before: Option<&LeaseSpec>, holder: &str) -> LeaseSpec {
        let now = Some(MicroTime(Timestamp::now()));
        let same = before.and_then(|spec| spec.holder_identity.as_deref()) == Some(holder);
        let transitions = before.and_then(|spec| spec.lease_transitions).unwrap_or(0);
        LeaseSpec {
            holder_identity: Some(holder.to_owned()),
            lease_duration_seconds: i32::try_from(DURATION.as_secs()).ok(),
            acquire_time: if same { before.and_then(|spec| spec.acquire_time.clone()) } else { now.clone() },
            renew_time: now,
            lease_transitions: Some(if same { transitions } else { transitions.saturating_add(1) }),
            ..LeaseSpec::default()
        }
    }
}

/// A write that somebody else was faster with is no error: the next look says who has it.
fn conflict_is_no_error(result: Result<Lease, kube::Error>) -> Result<Option<String>, kube::Error> {
    match result {
        Ok(_) => Ok(None),
        Err(kube::Error::Api(status)) if status.code == 409 => Ok(Some("somebody who was faster".to_owned())),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use k8s_openapi::api::coordination::v1::LeaseSpec;

    use super::{DURATION, Step, step};

    fn held(by: &str, seconds: Option<i32>) -> LeaseSpec {
        LeaseSpec { holder_identity: Some(by.to_owned()), lease_duration_seconds: seconds, ..LeaseSpec::default() }
    }

    #[test]
    fn a_lease_is_taken_when_nobody_has_it_or_its_holder_is_silent() {
        let late = DURATION + Duration::from_secs(1);
        let rows: &[(Option<LeaseSpec>, Duration, Step)] = &[
            (None, Duration::ZERO, Step::Take),
            (Some(held("", Some(15))), Duration::ZERO, Step::Take),
            (Some(held("me", Some(15))), Duration::ZERO, Step::Renew),
            // Nobody has taken it: it is still ours, however late we are.
            (Some(held("me", Some(15))), late, Step::Renew),
            (Some(held("other", Some(15))), Duration::ZERO, Step::Wait),
            (Some(held("other", Some(15))), DURATION, Step::Wait),
            (Some(held("other", Some(15))), late, Step::Take),
            // A holder that says longer is given longer; nonsense counts as nothing said.
            (Some(held("other", Some(60))), late, Step::Wait),
            (Some(held("other", Some(61))), Duration::from_secs(62), Step::Take),
            (Some(held("other", Some(-1))), late, Step::Take),
            (Some(held("other", None)), Duration::ZERO, Step::Wait),
        ];
        for (spec, unchanged_for, wanted) in rows {
            assert_eq!(step(spec.as_ref(), "me", *unchanged_for), *wanted, "{spec:?} {unchanged_for:?}");
        }
    }
}
