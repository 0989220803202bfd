//! Keeps the objects of every Database as they are rendered, and says in its status how it stands.
//!
//! Thin on purpose: what is applied comes from `render`, what differs is said by `diff`, what is wrong by `check`. It is
//! level-based: an event only says "look", and each look begins with what is there.
#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "below the I/O line: connections, time and tasks live here"
)]

mod additions;
mod applying;
mod cache;
mod deletion;
mod events;
mod finalizer;
mod growth;
mod intent;
mod lease;
mod leaving;
mod leftovers;
mod neighbours;
mod passwords;
mod progress;
mod reconcile;
mod rollouts;
mod serving;
mod status;
mod watching;
mod webhook;

use std::fmt;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures::{StreamExt as _, future, stream};
use kube::Client;
use kube::api::DynamicObject;
use kube::runtime::controller::{Config, applier};
use kube::runtime::reflector::{self, ObjectRef};
use kube::runtime::{WatchStreamExt as _, watcher};
use tokio::sync::watch;

use crate::check::Ground;
use crate::diff::Minor;
use crate::input::Schemas;

use cache::Cache;
use lease::{Term, Waiting};
use progress::Progress;
use rollouts::Rollouts;
use serving::Site;

pub use rollouts::RolloutLimit;

/// Databases at a time, unless the caller says otherwise.
pub const WORKERS: u16 = 16;
/// How often the platform file is looked at.
const PLATFORM_PAUSE: Duration = Duration::from_secs(10);
/// The longest that events of one Database are gathered before it is looked at.
const DEBOUNCE: Duration = Duration::from_millis(200);

/// Whether the controller writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// It applies what is rendered.
    Apply,
    /// It writes the status and nothing else, for clusters where something else applies.
    Observe,
}

/// A part of a large fleet: Databases whose hash falls on `index` of `count`. Written as `1/3`, the first of three.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    /// From 0.
    pub index: u32,
    /// How many there are.
    pub count: u32,
}

impl Shard {
    /// From `1/3`: the first of three.
    ///
    /// # Errors
    /// A sentence, when it is not of this form.
    pub fn parse(text: &str) -> Result<Shard, String> {
        let form = || "write it as 1/3: the first of three".to_owned();
        let (index, count) = text.split_once('/').ok_or_else(form)?;
        let (index, count): (u32, u32) = (index.parse().map_err(|_| form())?, count.parse().map_err(|_| form())?);
        if index == 0 || index > count {
            return Err(form());
        }
        Ok(Shard { index: index - 1, count })
    }

    /// Whether a Database belongs to it. The same on every machine and in every version.
    #[must_use]
    pub fn holds(self, namespace: &str, name: &str) -> bool {
        use sha2::{Digest as _, Sha256};
        let sum = Sha256::digest(format!("{namespace}/{name}"));
        let number = sum.iter().take(4).fold(0u32, |number, byte| (number << 8) | u32::from(*byte));
        number % self.count == self.index
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.index + 1, self.count)
    }
}

/// Reads the platform file: the ground when it is right, else what is wrong with it.
pub type ReadGround = Box<dyn Fn() -> Result<Ground, String> + Send + Sync>;

/// Two connections to one cluster.
#[derive(Clone)]
pub struct Clients {
    /// For requests that are answered at once, so that a server which does not answer is noticed.
    pub requests: Client,
    /// For watches, which may be silent for [`WATCH_SILENCE`].
    pub watches: Client,
}

/// The longest that a watch may be silent: a little more than a server lets one live that brings nothing.
pub const WATCH_SILENCE: Duration = Duration::from_secs(330);

/// Where the validating webhook is served.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Webhook {
    /// Its address.
    pub address: SocketAddr,
    /// The folder with `tls.crt` and `tls.key`, as a Secret of type kubernetes.io/tls is mounted.
    pub certificates: PathBuf,
}

/// How the controller runs.
pub struct Options {
    /// Whether it writes.
    pub mode: Mode,
    /// `None`: every namespace.
    pub namespace: Option<String>,
    /// Which part of the fleet.
    pub shard: Shard,
    /// Databases at a time.
    pub workers: u16,
    /// How many Databases may restart at a time. `None`: all of them.
    pub rollouts: Option<RolloutLimit>,
    /// Namespace of the Lease. `None`: no election, for whoever knows that there is just one.
    pub lease_namespace: Option<String>,
    /// Differs between any two processes.
    pub identity: String,
    /// Address of `/healthz` and `/readyz`.
    pub health: Option<SocketAddr>,
    /// Address of `/metrics`.
    pub metrics: Option<SocketAddr>,
    /// The validating webhook. `None`: it is not served.
    pub webhook: Option<Webhook>,
    /// Reads the platform file; asked again every few seconds.
    pub ground: ReadGround,
    /// A line of the log.
    pub log: Box<dyn Fn(&str) + Send + Sync>,
}

/// Why the controller ended.
#[derive(Debug, thiserror::Error)]
pub enum Ended {
    /// The platform file is wrong at the start.
    #[error("{0}")]
    Ground(String),
    /// An address cannot be had.
    #[error("cannot listen on {0}: {1}")]
    Address(SocketAddr, std::io::Error),
}

/// What all parts share.
struct Inner {
    client: Client,
    watches: Client,
    mode: Mode,
    shard: Shard,
    cache: Cache,
    progress: Progress,
    schemas: Schemas,
    ground: watch::Sender<Arc<Ground>>,
    events: events::Recorder,
    failures: reconcile::Failures,
    rollouts: Rollouts,
    /// Every Database, while this process leads or answers the webhook.
    databases: Mutex<Option<reflector::Store<DynamicObject>>>,
    /// Version of the server, once it was told.
    kubernetes: std::sync::OnceLock<Minor>,
}

type Shared = Arc<Inner>;

impl Inner {
    fn ground(&self) -> Arc<Ground> {
        self.ground.borrow().clone()
    }

    fn databases(&self) -> Option<reflector::Store<DynamicObject>> {
        self.databases.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The Databases that a watch has shown; none before it has begun.
    fn stored(&self) -> Vec<Arc<DynamicObject>> {
        self.databases().map(|store| store.state()).unwrap_or_default()
    }

    /// Where a watch of all Databases writes what it sees.
    fn writer(&self) -> reflector::store::Writer<DynamicObject> {
        let writer = reflector::store::Writer::new(watching::database());
        *self.databases.lock().unwrap_or_else(PoisonError::into_inner) = Some(writer.as_reader());
        writer
    }

    /// Says what is waited for before this process leads.
    fn waits(&self, waits: &Waiting) {
        match waits {
            Waiting::Holder(holder) => {
                self.progress.lease(None);
                self.progress.say(&format!("{holder} leads; waiting"));
            }
            Waiting::Trouble(why) => {
                self.progress.lease(Some(why.clone()));
                self.progress.say(&format!("the Lease {} cannot be had: {why}", lease::name(self.shard)));
            }
        }
    }

    /// Forgets what was seen: this process does not lead any more.
    fn forget(&self) {
        self.progress.follow();
        self.cache.clear();
        self.rollouts.clear();
        self.failures.lock().unwrap_or_else(PoisonError::into_inner).clear();
        *self.databases.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

/// Runs until a signal asks it to end. When it loses the Lease, it stops all work and waits for it again.
///
/// # Errors
/// See [`Ended`]. A server that does not answer is waited for.
pub async fn run(clients: Clients, options: Options) -> Result<(), Ended> {
    let Clients { requests: client, watches } = clients;
    let Options {
        mode,
        namespace,
        shard,
        workers,
        rollouts,
        lease_namespace,
        identity,
        health,
        metrics,
        webhook,
        ground,
        log,
    } = options;
    let first = ground().map_err(Ended::Ground)?;
    let (unguarded, term) = (client.clone(), Arc::new(Term::default()));
    let client = term.guard(client);
    let shared: Shared = Arc::new(Inner {
        events: events::Recorder::new(client.clone(), &identity),
        client: client.clone(),
        watches,
        mode,
        shard,
        cache: Cache::default(),
        progress: Progress::new(log),
        schemas: Schemas::new(),
        ground: watch::Sender::new(Arc::new(first)),
        failures: reconcile::Failures::default(),
        rollouts: Rollouts::new(rollouts),
        databases: Mutex::default(),
        kubernetes: std::sync::OnceLock::new(),
    });
    for (address, site) in [(health, Site::Health), (metrics, Site::Metrics)] {
        if let Some(address) = address {
            let address =
                serving::serve(address, site, shared.clone()).await.map_err(|e| Ended::Address(address, e))?;
            shared.progress.say(&format!("{site:?} is served on {address}"));
        }
    }
    // Who waits for the Lease answers too: the webhook's Service has all replicas behind it.
    let answers = webhook.is_some();
    if let Some(webhook) = webhook {
        let address = webhook.address;
        let address = webhook::serve(webhook, shared.clone()).await.map_err(|e| Ended::Address(address, e))?;
        shared.progress.say(&format!("Webhook is served on {address}"));
    }
    tokio::spawn(follow(shared.clone(), ground));
    let mut election = lease_namespace
        .map(|namespace| lease::Election::new(unguarded, &namespace, lease::name(shard), identity, term.clone()));
    let stop = async {
        asked_to_end().await;
        shared.progress.say("asked to end");
    };
    tokio::pin!(stop);
    loop {
        match &mut election {
            None => term.begin_for_ever(),
            Some(election) => tokio::select! {
                () = election.won(|waits| shared.waits(waits)) => {}
                () = attend(&shared, namespace.as_deref()), if answers => {}
                () = &mut stop => return Ok(()),
            },
        }
        shared.progress.lead();
        shared.progress.say("leading");
        let lost = async {
            match &mut election {
                Some(election) => election.lost().await,
                None => future::pending().await,
            }
        };
        let why = tokio::select! {
            () = work(shared.clone(), namespace.as_deref(), workers) => None,
            why = lost => Some(why),
            () = &mut stop => None,
        };
        // What was under way has been dropped.
        shared.forget();
        let Some(why) = why else { break };
        shared.progress.say(&format!("the Lease is lost, so nothing is written any more: {why}"));
    }
    if let Some(election) = &mut election {
        election.give_up().await;
    }
    Ok(())
}

/// Follows the Databases and looks at none: for the webhook of a process that waits for the Lease. Never ends.
async fn attend(shared: &Shared, namespace: Option<&str>) {
    let databases = watching::objects(&shared.watches, &watching::database(), namespace);
    reflector::reflector(shared.writer(), watcher(databases, watcher::Config::default()))
        .default_backoff()
        // The loop of the leader checks again whatever is not seen here.
        .for_each(|_| future::ready(()))
        .await;
    future::pending().await
}

/// The queue of Databases to look at, and the looks.
async fn work(shared: Shared, namespace: Option<&str>, workers: u16) {
    if let Some(minor) = version(&shared.client).await {
        let _ = shared.kubernetes.set(minor);
    }
    let databases = watching::objects(&shared.watches, &watching::database(), namespace);
    let writer = shared.writer();
    let store = writer.as_reader();
    let progress = shared.clone();
    let of_databases = reflector::reflector(writer, watcher(databases, watcher::Config::default()))
        .default_backoff()
        .touched_objects()
        .filter_map(move |object| {
            future::ready(match object {
                Ok(object) => Some(watching::key_of(&object)),
                Err(error) => {
                    progress.progress.trouble("Database", &error.to_string());
                    None
                }
            })
        });
    let has = store.clone();
    // Objects that carry our label without a Database, from Git for example, are nobody's business here. One that comes
    // before its Database is not missed: that is looked at anyway.
    let of_objects = watching::owned(&shared, namespace)
        .filter(move |key| future::ready(has.get(&watching::reference(key)).is_some()));
    let known = store.clone();
    let of_platform = platform(&shared)
        .map(move |()| stream::iter(known.state().into_iter().map(|object| watching::key_of(&object))))
        .flatten();
    let mine = shared.shard;
    let queue = stream::select(of_databases.boxed(), stream::select(of_objects.boxed(), of_platform.boxed()))
        .filter(move |key| future::ready(mine.holds(&key.0, &key.1)))
        .map(|key| watching::reference(&key))
        .map(Ok::<ObjectRef<DynamicObject>, std::convert::Infallible>);
    let config = Config::default().concurrency(workers).debounce(DEBOUNCE);
    applier(
        |object, shared| Box::pin(reconcile::look(object, shared)),
        reconcile::failed,
        Arc::new(shared),
        store,
        queue,
        config,
    )
    .for_each(|_| future::ready(()))
    .await;
}

/// The server's version, for its defaults. A server that does not answer is asked again until it does.
async fn version(client: &Client) -> Option<Minor> {
    loop {
        match client.apiserver_version().await {
            Ok(info) => return Minor::parse(&format!("{}.{}", info.major, info.minor)),
            Err(kube::Error::Api(_)) => return None,
            Err(_) => tokio::time::sleep(PLATFORM_PAUSE / 10).await,
        }
    }
}

/// An item each time that the platform file says something else.
fn platform(shared: &Shared) -> impl futures::Stream<Item = ()> + use<> {
    stream::unfold(shared.ground.subscribe(), |mut ground| async move {
        ground.changed().await.ok()?;
        Some(((), ground))
    })
}

/// Reads the platform file again and again.
async fn follow(shared: Shared, ground: ReadGround) {
    let mut told = String::new();
    loop {
        tokio::time::sleep(PLATFORM_PAUSE).await;
        match ground() {
            Ok(next) => {
                told.clear();
                if *shared.ground() != next {
                    shared.ground.send_replace(Arc::new(next));
                    shared.progress.say("the platform file has changed");
                }
            }
            // What was read before stays in force.
            Err(why) if why != told => {
                shared.progress.say(&format!("the platform file is not used as it stands now: {why}"));
                told = why;
            }
            Err(_) => {}
        }
    }
}

/// Returns when the process is asked to end.
async fn asked_to_end() {
    use tokio::signal::unix::{SignalKind, signal};
    let Ok(mut terminate) = signal(SignalKind::terminate()) else { return future::pending().await };
    tokio::select! {
        _ = terminate.recv() => {}
        _ = tokio::signal::ctrl_c() => {}
    }
}

#[cfg(test)]
mod tests {
    use super::Shard;

    #[test]
    fn each_database_belongs_to_just_one_shard() {
        for count in 1..5 {
            for name in ["a", "order-db", "x-1"] {
                let holders = (0..count).filter(|index| Shard { index: *index, count }.holds("n", name)).count();
                assert_eq!(holders, 1);
            }
        }
        assert_eq!(Shard::parse("2/3"), Ok(Shard { index: 1, count: 3 }));
        assert_eq!(Shard { index: 1, count: 3 }.to_string(), "2/3");
        for wrong in ["", "1", "0/3", "4/3", "a/b", "1/0", "-1/2"] {
            assert!(Shard::parse(wrong).is_err(), "{wrong}");
        }
    }
}
