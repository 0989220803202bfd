//! One look at one Database: what is wanted, what is there, what has to be done, and the status.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use kube::api::{DynamicObject, GetParams, Patch, PatchParams};
use kube::core::Request;
use kube::runtime::controller::Action;
use serde_json::{Value, json};

use super::additions;
use super::applying::{self, Applied, FIELD_MANAGER, NotApplied};
use super::cache::{self, DatabaseKey, Known, ObjectKey, kind_of};
use super::finalizer;
use super::growth::{self, growth};
use super::intent::{FINALIZER, Intent, sentence};
use super::leaving;
use super::leftovers;
use super::neighbours;
use super::passwords;
use super::progress::count;
use super::rollouts;
use super::status::{Facts, Standing, status};
use super::watching::database;
use super::{Inner, Mode, Shared};
use crate::api::{API_VERSION, DatabaseStatus, Generator, KIND, Phase};
use crate::diff::{
    Bucket, Desired, Impact, Listed, LiveObject, LiveSet, Minor, ObjectReport, Op, Orphans, Policy, Status, compare,
};
use crate::engine::{self, StoredKey};
use crate::plan::{Credentials, Plan};
use crate::render::{self, Object};

/// A Database is looked at again after this long, even when nothing is heard of it.
const AGAIN: Duration = Duration::from_secs(600);
/// The first pause after a failure; each further one is twice as long.
const PAUSE: Duration = Duration::from_millis(500);
/// The longest.
const LONGEST_PAUSE: Duration = Duration::from_secs(300);

/// How often each Database has failed in a row.
pub(super) type Failures = Mutex<BTreeMap<DatabaseKey, u32>>;

/// Why a look has to be repeated.
#[derive(Debug, thiserror::Error)]
pub(super) enum Failure {
    /// The server did not do what was asked.
    #[error("{0}")]
    Server(#[from] kube::Error),
    /// An object could not be read.
    #[error("{0}")]
    Unread(String),
}

/// Looks at a Database.
pub(super) async fn look(object: Arc<DynamicObject>, shared: Arc<Shared>) -> Result<Action, Failure> {
    let shared: &Inner = &shared;
    shared.progress.all_seen().await;
    // Everything in it came as JSON.
    let stored = serde_json::to_value(&*object).unwrap_or_default();
    let ground = shared.ground();
    let intent = Intent::of(&stored, &ground, &shared.schemas);
    let result = if intent.deleting {
        leaving::proceed(shared, &intent, &stored).await
    } else {
        proceed(shared, &intent, ground.generator()).await
    };
    let (standing, facts) = match result {
        Ok(Some(found)) => found,
        // It is gone.
        Ok(None) => {
            shared.progress.note(&intent.key(), None);
            shared.rollouts.forget(&intent.key());
            shared.failures.lock().unwrap_or_else(PoisonError::into_inner).remove(&intent.key());
            return Ok(Action::await_change());
        }
        Err(failure) => {
            let facts = facts(&intent, &BTreeMap::new(), &shared.cache.of(&intent.key()));
            // What stands in the way is told; that it could not be told is told by the failure itself.
            let _ = write_status(shared, &intent, &facts, &Standing::Retrying(failure.to_string())).await;
            return Err(failure);
        }
    };
    let (standing, soon) =
        if intent.deleting { (standing, None) } else { rollouts::judge(shared, &intent, &facts, standing) };
    write_status(shared, &intent, &facts, &standing).await?;
    rollouts::resume(shared, &intent).await?;
    shared.failures.lock().unwrap_or_else(PoisonError::into_inner).remove(&intent.key());
    count(&shared.progress.counted.done);
    let waits = if let Standing::Waiting(_, _, pause) = standing { pause } else { AGAIN };
    Ok(Action::requeue(AGAIN.min(waits).min(soon.unwrap_or(AGAIN))))
}

/// When a look that failed is repeated.
#[expect(clippy::needless_pass_by_value, reason = "the runtime hands it over so")]
pub(super) fn failed(object: Arc<DynamicObject>, failure: &Failure, shared: Arc<Shared>) -> Action {
    let key = super::watching::key_of(&object);
    let times = {
        let mut failures = shared.failures.lock().unwrap_or_else(PoisonError::into_inner);
        let times = failures.entry(key.clone()).or_default();
        *times = times.saturating_add(1);
        *times
    };
    shared.progress.counted.retried.fetch_add(1, Ordering::Relaxed);
    let pause = PAUSE.saturating_mul(1 << times.saturating_sub(1).min(12)).min(LONGEST_PAUSE);
    shared.progress.say(&format!("{}/{}: {failure}; again in {} ms", key.0, key.1, pause.as_millis()));
    Action::requeue(pause)
}

type Found = Result<Option<(Standing, Facts)>, Failure>;

async fn proceed(shared: &Inner, intent: &Intent, generator: Generator) -> Found {
    let key = intent.key();
    let known = shared.cache.of(&key);
    let Some(plan) = &intent.plan else {
        return Ok(Some((Standing::Stalled("Invalid", intent.errors()), facts(intent, &BTreeMap::new(), &known))));
    };
    if let Some(problem) = neighbours::clash(&shared.stored(), intent, plan) {
        let why = sentence(&problem);
        return Ok(Some((Standing::Stalled("Invalid", why), facts(intent, &BTreeMap::new(), &known))));
    }
    let writes = shared.mode == Mode::Apply && !intent.is_paused();
    if writes && !intent.finalizers.iter().any(|name| name == FINALIZER) {
        finalizer::hold(shared, intent).await?;
    }
    let foreign = foreign_secrets(shared, plan).await?;
    let facts = facts(intent, &foreign, &known);
    let desired = cache::rendered(intent.objects.iter().map(|object| &object.value));
    let live = cache::together(&known);
    let filled = |standing| async {
        if writes && generator == Generator::Controller {
            passwords::fill(shared, intent, plan).await;
        }
        standing
    };
    if writes {
        passwords::rotate(shared, intent, plan).await?;
    }
    let watching = if shared.mode == Mode::Observe { "Observing" } else { "Paused" };
    if let Some(drift) = shared.cache.settled(&key, &desired, &live) {
        let facts = Facts { drift, ..facts };
        let standing = if writes { filled(Standing::Applied).await } else { Standing::Watching(watching) };
        return Ok(Some((standing, facts)));
    }
    let seen = whole(shared, intent, &known).await?;
    let objects = compared(shared, intent, plan, &seen, &foreign)?;
    let drift = told(&objects);
    let facts = Facts { drift, ..facts };
    if !writes {
        shared.cache.settle(&key, desired, live, &facts.drift);
        return Ok(Some((Standing::Watching(watching), facts)));
    }
    let standing = put_right(shared, intent, plan, &objects, &seen).await?;
    if standing == Standing::Applied {
        shared.cache.settle(&key, desired, live, &facts.drift);
    } else {
        shared.cache.unsettle(&key);
    }
    Ok(Some((filled(standing).await, facts)))
}

pub(super) fn path_of_databases(namespace: &str) -> String {
    format!("/apis/{}/namespaces/{namespace}/{}", API_VERSION, database().plural)
}

/// Secrets that others make: they do not carry our label, so no watch has seen them. What is absent is left out.
async fn foreign_secrets(shared: &Inner, plan: &Plan) -> Result<BTreeMap<String, LiveObject>, Failure> {
    let names = match &plan.credentials {
        Credentials::Generated { .. } => return Ok(BTreeMap::new()),
        Credentials::Existing { .. } | Credentials::External { .. } => [plan.app_secret(), plan.admin_secret()],
    };
    let mut found = BTreeMap::new();
    for name in names {
        if let Some(secret) = read(shared, "Secret", &plan.namespace, &name).await? {
            found.insert(name, secret);
        }
    }
    Ok(found)
}

async fn read(shared: &Inner, kind: &str, namespace: &str, name: &str) -> Result<Option<LiveObject>, Failure> {
    let Some(of) = kind_of(kind) else { return Ok(None) };
    let request =
        Request::new(of.path(Some(namespace))).get(name, &GetParams::default()).map_err(kube::Error::BuildRequest)?;
    match shared.client.request::<Value>(request).await {
        Ok(value) => {
            let object = LiveObject::from_value(value);
            object.map(Some).map_err(|error| Failure::Unread(format!("{kind} {namespace}/{name}: {}", error.message)))
        }
        Err(kube::Error::Api(status)) if status.code == 404 => Ok(None),
        // The words of a decoder would quote what it read.
        Err(kube::Error::SerdeError(_)) => {
            Err(Failure::Unread(format!("the server's answer for {kind} {namespace}/{name} is not understood")))
        }
        Err(error) => Err(error.into()),
    }
}

/// Everything that is known to be there, with what was let go read again.
async fn whole(
    shared: &Inner,
    intent: &Intent,
    known: &BTreeMap<ObjectKey, Known>,
) -> Result<BTreeMap<ObjectKey, LiveObject>, Failure> {
    let mut seen = BTreeMap::new();
    for ((kind, name), known) in known {
        let object = match &known.object {
            Some(object) => Some(object.clone()),
            None => read(shared, kind, &intent.namespace, name).await?,
        };
        if let Some(object) = object {
            seen.insert((*kind, name.clone()), object);
        }
    }
    // Somebody may have taken our label away: then no watch shows it, and it is there all the same.
    for object in &intent.objects {
        let Some(kind) = kind_of(&object.kind) else { continue };
        let key = (kind.kind, object.name.clone());
        if !seen.contains_key(&key)
            && let Some(live) = read(shared, &object.kind, &object.namespace, &object.name).await?
        {
            seen.insert(key, live);
        }
    }
    Ok(seen)
}

fn compared(
    shared: &Inner,
    intent: &Intent,
    plan: &Plan,
    seen: &BTreeMap<ObjectKey, LiveObject>,
    foreign: &BTreeMap<String, LiveObject>,
) -> Result<Vec<ObjectReport>, Failure> {
    let mut live = LiveSet { source: "the cluster".to_owned(), ..LiveSet::default() };
    live.objects.extend(seen.values().cloned().map(Listed::from));
    live.objects.extend(foreign.values().cloned().map(Listed::from));
    let policy = Policy {
        secrets_read: true,
        kubernetes: shared.kubernetes.get().copied().unwrap_or(Minor::NEWEST),
        orphans: Orphans::OfTheseDatabases,
    };
    let desired = Desired {
        plan: Some(plan),
        base: None,
        namespace: &intent.namespace,
        name: &intent.name,
        objects: &intent.objects,
        origin: None,
    };
    let report = compare(&[desired], &live, &policy);
    let ours = report.databases.into_iter().find(|d| d.namespace == intent.namespace && d.name == intent.name);
    ours.map(|database| database.objects)
        .ok_or_else(|| Failure::Unread("the comparison knows nothing of this Database".to_owned()))
}

/// What differs, for a condition.
fn told(objects: &[ObjectReport]) -> String {
    const MOST: usize = 8;
    let differing: Vec<String> = objects
        .iter()
        .filter(|object| object.status.differs())
        .map(|object| format!("{}/{} is {} ({})", object.kind, object.name, object.status, object.impact))
        .collect();
    let more = differing.len().saturating_sub(MOST);
    let mut text = differing.into_iter().take(MOST).collect::<Vec<_>>().join(", ");
    if more > 0 {
        text += &format!(", and {more} more");
    }
    text
}

/// Applies, grows and deletes what has to be, in the order of the rendered objects.
async fn put_right(
    shared: &Inner,
    intent: &Intent,
    plan: &Plan,
    objects: &[ObjectReport],
    seen: &BTreeMap<ObjectKey, LiveObject>,
) -> Result<Standing, Failure> {
    let desired: BTreeMap<(&str, &str), &Object> =
        intent.objects.iter().map(|object| ((object.kind.as_str(), object.name.as_str()), object)).collect();
    let mut wrote = false;
    let mut stalled: Option<(&'static str, String)> = None;
    let mut waits = None;
    for report in objects {
        if report.status.differs() {
            shared.progress.say(&format!("{}/{}: {}", intent.namespace, intent.name, why(report)));
        }
        let wanted = desired.get(&(report.kind.as_str(), report.name.as_str())).copied();
        let live = kind_of(&report.kind).and_then(|kind| seen.get(&(kind.kind, report.name.clone())));
        match (report.status, wanted) {
            (Status::Missing, Some(object)) => {
                if object.kind == "StatefulSet"
                    && let Some(standing) = leftovers::waits(shared, intent).await?
                {
                    waits.get_or_insert(standing);
                    continue;
                }
                wrote |= write(shared, intent, object, &mut stalled).await?;
            }
            (Status::Drifted, Some(_))
                if restarts(report) && waits.is_none() && {
                    waits = rollouts::held(shared, intent, plan);
                    waits.is_some()
                } => {}
            (Status::Drifted, Some(object)) => match plan_of(report, object, live, seen) {
                Way::Nothing => {}
                Way::Apply => {
                    if let Some(removal) = live.and_then(|live| additions::removal(report, &live.value)) {
                        applying::strip(&shared.client, object, &removal).await?;
                    }
                    wrote |= write(shared, intent, object, &mut stalled).await?;
                }
                Way::Grow(growth) => {
                    if grow(shared, intent, object, live, &growth, &mut stalled).await? {
                        wrote |= write(shared, intent, object, &mut stalled).await?;
                    }
                }
                Way::Refuse(why) => {
                    stalled.get_or_insert(("NeedsProcedure", why));
                }
            },
            // That no backup is made any more is what `backup.enabled: false` says.
            (Status::Orphaned, None) if report.impact < Impact::DataRisk || report.kind == "CronJob" => {
                wrote |= remove(shared, report, live).await?;
            }
            (Status::Forbidden | Status::Error, _) => {
                return Err(Failure::Unread(format!("{} {}: {}", report.kind, report.name, report.reason)));
            }
            _ => {}
        }
    }
    Ok(match stalled {
        Some((reason, message)) => Standing::Stalled(reason, message),
        None if waits.is_some() => waits.unwrap_or(Standing::Applied),
        None if wrote => Standing::Applying,
        None => Standing::Applied,
    })
}

/// One difference of an object in a line of the log. Values are not told.
fn why(report: &ObjectReport) -> String {
    let paths: Vec<&str> =
        report.changes.iter().filter(|c| c.bucket == Bucket::Drift).map(|change| change.path.as_str()).collect();
    let at = if paths.is_empty() { String::new() } else { format!(" at {}", paths.join(", ")) };
    format!("{} {} is {} ({}){at}", report.kind, report.name, report.status, report.impact)
}

/// Whether putting it right replaces members.
fn restarts(report: &ObjectReport) -> bool {
    let mut drift = report.changes.iter().filter(|change| change.bucket == Bucket::Drift);
    report.kind == "StatefulSet" && drift.any(|change| change.impact == Impact::RollingRestart)
}

/// How a drifted object is put right.
enum Way {
    /// No apply would.
    Nothing,
    Apply,
    Grow(growth::Growth),
    Refuse(String),
}

fn plan_of(
    report: &ObjectReport,
    object: &Object,
    live: Option<&LiveObject>,
    seen: &BTreeMap<ObjectKey, LiveObject>,
) -> Way {
    let heavy: Vec<_> = report
        .changes
        .iter()
        .filter(|change| change.bucket == Bucket::Drift && needs_a_person(change.impact))
        .collect();
    if report.kind == "Secret" {
        // Keys that have vanished are not among what is rendered. That they are missing is said by a condition.
        let mut drift = report.changes.iter().filter(|change| change.bucket == Bucket::Drift);
        let is_ours = drift.any(|change| change.op == Op::Remove || object.value.pointer(&change.path).is_some());
        return if is_ours { Way::Apply } else { Way::Nothing };
    }
    if heavy.is_empty() {
        return Way::Apply;
    }
    if report.kind == "StatefulSet" && heavy.iter().all(|change| change.path.starts_with("/spec/volumeClaimTemplates"))
    {
        let prefix = format!("data-{}-", object.name);
        let claims: Vec<(String, Value)> = seen
            .iter()
            .filter(|((kind, name), _)| *kind == "PersistentVolumeClaim" && name.starts_with(&prefix))
            .map(|((_, name), claim)| (name.clone(), claim.value.clone()))
            .collect();
        if let Some(growth) = live.and_then(|live| growth(&object.value, &live.value, &claims)) {
            return Way::Grow(growth);
        }
    }
    let why: Vec<String> =
        heavy.iter().map(|change| format!("{} ({}: {})", change.path, change.impact, change.reason)).collect();
    let steps = if report.procedure.is_empty() {
        String::new()
    } else {
        format!("; what helps: {}", report.procedure.join(" && "))
    };
    Way::Refuse(format!("{} {} is left as it is: {}{steps}", report.kind, report.name, why.join(", ")))
}

/// What an apply cannot do, or must not do by itself. A risk that is taken by saying so, such as fewer members, is not one.
const fn needs_a_person(impact: Impact) -> bool {
    match impact {
        Impact::RecreateOrphan | Impact::Migration | Impact::DataLoss => true,
        Impact::None | Impact::Metadata | Impact::InPlace | Impact::RollingRestart | Impact::DataRisk => false,
    }
}

/// Applies one object. What only a person can solve is noted, and the others go on.
async fn write(
    shared: &Inner,
    intent: &Intent,
    object: &Object,
    stalled: &mut Option<(&'static str, String)>,
) -> Result<bool, Failure> {
    match applying::apply(&shared.client, object).await {
        Ok(applied) => {
            count(&shared.progress.counted.applied);
            if let Applied::Forced { writers, fields } = applied {
                count(&shared.progress.counted.forced);
                let note = format!(
                    "{} {}: {} had changed {}; it is as declared again",
                    object.kind,
                    object.name,
                    names(&writers),
                    fields.join(", ")
                );
                shared.progress.say(&format!("{}/{}: {note}", intent.namespace, intent.name));
                shared.events.tell(intent, true, "ChangeUndone", "Apply", &note).await;
            }
            Ok(true)
        }
        Err(NotApplied::Contested { writers, fields }) => {
            let message = format!(
                "{} {}: {} declares {} too; one of the two has to stop",
                object.kind,
                object.name,
                names(&writers),
                fields.join(", ")
            );
            stalled.get_or_insert(("Contested", message));
            Ok(false)
        }
        Err(NotApplied::OfOthers { writers, fields }) => {
            let message = format!(
                "{} {} was there before and is not of this Database: {} wrote {}; delete it, or give this Database another name",
                object.kind,
                object.name,
                names(&writers),
                fields.join(", ")
            );
            stalled.get_or_insert(("Contested", message));
            Ok(false)
        }
        Err(NotApplied::Refused(why)) => {
            stalled
                .get_or_insert(("Refused", format!("the API server refuses {} {}: {why}", object.kind, object.name)));
            Ok(false)
        }
        Err(NotApplied::Failed(error)) => Err(error.into()),
    }
}

fn names(writers: &BTreeSet<String>) -> String {
    if writers.is_empty() { "somebody".to_owned() } else { writers.iter().cloned().collect::<Vec<_>>().join(", ") }
}

/// Grows the claims, then removes the StatefulSet around its pods. Each step is one that a look after it begins with.
async fn grow(
    shared: &Inner,
    intent: &Intent,
    object: &Object,
    live: Option<&LiveObject>,
    growth: &growth::Growth,
    stalled: &mut Option<(&'static str, String)>,
) -> Result<bool, Failure> {
    let Some(claims) = kind_of("PersistentVolumeClaim") else { return Ok(false) };
    for claim in &growth.claims {
        let path = claims.path(Some(&intent.namespace));
        match applying::merge(&shared.client, &path, claim, &growth::patch(&growth.size)).await {
            Ok(()) => count(&shared.progress.counted.applied),
            Err(kube::Error::Api(status)) if matches!(status.code, 403 | 422) => {
                let message = format!("the claim {claim} cannot grow to {}: {}", growth.size, status.message);
                stalled.get_or_insert(("VolumeCannotGrow", message));
                return Ok(false);
            }
            Err(error) => return Err(error.into()),
        }
    }
    let uid = live.and_then(|live| live.value["metadata"]["uid"].as_str()).unwrap_or_default();
    applying::delete(&shared.client, &applying::path(object), &object.name, uid, true).await?;
    count(&shared.progress.counted.deleted);
    shared.events.tell(intent, false, "VolumesGrow", "Grow", &format!("volumes grow to {}", growth.size)).await;
    Ok(true)
}

/// Deletes what is no longer rendered. Whatever holds data or passwords is `retained` and never comes here.
async fn remove(shared: &Inner, report: &ObjectReport, live: Option<&LiveObject>) -> Result<bool, Failure> {
    let (Some(kind), Some(live)) = (kind_of(&report.kind), live) else { return Ok(false) };
    let uid = live.value["metadata"]["uid"].as_str().unwrap_or_default();
    applying::delete(&shared.client, &kind.path(Some(&report.namespace)), &report.name, uid, false).await?;
    count(&shared.progress.counted.deleted);
    Ok(true)
}

/// What the status speaks of.
pub(super) fn facts(
    intent: &Intent,
    foreign: &BTreeMap<String, LiveObject>,
    known: &BTreeMap<ObjectKey, Known>,
) -> Facts {
    let find = |kind: &'static str, name: String| known.get(&(kind, name)).and_then(|known| known.object.as_ref());
    let value = |object: Option<&LiveObject>| object.map(|object| object.value.clone());
    let backup = format!("{}-backup", intent.name);
    let is_backup =
        |object: &&LiveObject| object.value["metadata"]["labels"][render::COMPONENT_LABEL].as_str() == Some("backup");
    let jobs = known.iter().filter(|((kind, _), _)| *kind == "Job").filter_map(|(_, known)| known.object.as_ref());
    Facts {
        stateful_set: value(find("StatefulSet", intent.name.clone())),
        cron_job: value(find("CronJob", backup)),
        backups: jobs.filter(is_backup).map(|job| job.value.clone()).collect(),
        missing_keys: intent.plan.as_ref().and_then(|plan| {
            let secret = |name: String| foreign.get(&name).or_else(|| find("Secret", name));
            missing_keys(plan, &secret)
        }),
        drift: String::new(),
    }
}

fn missing_keys<'a>(plan: &Plan, secret: &dyn Fn(String) -> Option<&'a LiveObject>) -> Option<Vec<String>> {
    let engine = engine::by_name(plan.engine)?;
    let mut missing = Vec::new();
    for (name, keys) in [(plan.app_secret(), engine.app_keys()), (plan.admin_secret(), engine.admin_keys())] {
        let found = secret(name.clone())?;
        for key in keys {
            let (StoredKey::Password(key) | StoredKey::KeyFile(key, _) | StoredKey::Uri(key)) = key;
            if found.secret.get(*key).is_none_or(|value| value.reveal().is_empty()) {
                missing.push(format!("{name}/{key}"));
            }
        }
    }
    Some(missing)
}

/// Writes the status if it says something new, and tells what has changed.
async fn write_status(shared: &Inner, intent: &Intent, facts: &Facts, standing: &Standing) -> Result<(), Failure> {
    let now = jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
    let next: DatabaseStatus = status(intent, facts, standing, &now);
    let stalled = next.conditions.iter().any(|c| c.condition_type == "Stalled" && c.status == "True");
    shared.progress.note(&intent.key(), Some((next.phase.unwrap_or(Phase::Pending), stalled)));
    if next == intent.status {
        return Ok(());
    }
    let body = json!({"apiVersion": API_VERSION, "kind": KIND,
        "metadata": {"name": intent.name, "namespace": intent.namespace, "uid": intent.uid}, "status": next});
    let request = Request::new(path_of_databases(&intent.namespace))
        .patch_subresource("status", &intent.name, &PatchParams::apply(FIELD_MANAGER).force(), &Patch::Apply(&body))
        .map_err(kube::Error::BuildRequest)?;
    match shared.client.request::<Value>(request).await {
        Ok(_) => {}
        // Gone, or gone and made anew: 409 says that the uid is another one.
        Err(kube::Error::Api(status)) if matches!(status.code, 404 | 409) => return Ok(()),
        Err(error) => return Err(error.into()),
    }
    count(&shared.progress.counted.statuses);
    shared.events.tell_changes(intent, &next).await;
    Ok(())
}
