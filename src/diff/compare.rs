//! Puts desired and live side by side, one Database at a time.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::plan::Credentials;
use crate::problem::Code;
use crate::render::Object;

use super::around::{Around, Index, Opened};
use super::attribution::{Managers, is_autoscaler};
use super::cause::CauseMaps;
use super::defaults::fields_of;
use super::impact::{self, Judged};
use super::live::Raw;
use super::mask::{DatabaseMask, Mask};
use super::metadata::structured;
use super::path::{Step, pointer};
use super::rule::Rule;
use super::secret::{self, Filled};
use super::walk::{Found, Walk};
use super::{
    Bucket, Change, ChangedBy, DatabaseReport, Desired, Gap, GapReason, Impact, LiveError, LiveObject, LiveSet, Notice,
    ObjectReport, Op, Policy, Report, Status, Summary, leftover, profile,
};

/// A comparison under way. Databases are added one by one, so that their manifests need not all be kept.
pub struct Comparison<'a> {
    pub(super) live: &'a LiveSet,
    pub(super) policy: &'a Policy,
    pub(super) index: Index<'a>,
    mask: Mask<'a>,
    causes: CauseMaps,
    gaps: Gaps<'a>,
    /// Objects that are there and could not be read.
    broken: Broken,
    /// Which live objects have been spoken about.
    pub(super) seen: Vec<bool>,
    kinds: BTreeSet<String>,
    pub(super) databases: BTreeMap<(String, String), DatabaseReport>,
}

/// What every object of one Database is compared with.
struct Subject<'s> {
    desired: &'s Desired<'s>,
    around: &'s Around<'s>,
    mask: DatabaseMask<'s>,
    /// Whether the other side is no cluster but another rendering.
    is_rendered: bool,
}

impl<'a> Comparison<'a> {
    /// Begins.
    #[must_use]
    pub fn new(live: &'a LiveSet, policy: &'a Policy) -> Comparison<'a> {
        let mask = Mask::new(&live.objects);
        // The server's own words may quote what it holds.
        let told = |gap: &Gap| (gap.reason, mask.sentence(&gap.message));
        let gaps = live.gaps.iter().map(|gap| ((gap.kind.as_str(), gap.namespace.as_deref()), told(gap))).collect();
        Comparison {
            live,
            policy,
            index: Index::new(live),
            mask,
            causes: CauseMaps::default(),
            gaps,
            broken: live.broken.iter().map(told_broken).collect(),
            seen: vec![false; live.objects.len()],
            kinds: BTreeSet::new(),
            databases: BTreeMap::new(),
        }
    }

    /// Compares one Database.
    pub fn add(&mut self, desired: &Desired<'_>) {
        let opened = Opened::new(desired, &self.index);
        for (place, error) in &opened.broken {
            self.seen[*place] = true;
            self.broken.extend([told_broken(error)]);
        }
        let around = Around::new(desired, &self.index, &opened);
        let secrets = [around.app_secret(), around.admin_secret()];
        let secrets: Vec<&LiveObject> = secrets
            .iter()
            .filter_map(|name| opened.find("Secret", desired.namespace, name).map(|(_, secret)| secret))
            .collect();
        let subject = Subject {
            desired,
            around: &around,
            mask: self.mask.of_database(&secrets, known_facts(desired)),
            is_rendered: self.live.is_rendered,
        };
        let mut objects = Vec::with_capacity(desired.objects.len() + around.claims.len());
        for object in desired.objects {
            if !self.kinds.contains(&object.kind) {
                self.kinds.insert(object.kind.clone());
            }
            let found = opened.find(&object.kind, &object.namespace, &object.name);
            objects.push(match found {
                Some((place, live)) => {
                    self.seen[place] = true;
                    compared(self.policy, object, live, &subject, &mut self.causes)
                }
                None => unseen(self.policy, &self.gaps, &self.broken, object, &subject),
            });
        }
        for (place, report) in existing_secrets(self.policy, &self.gaps, &self.broken, &opened, &subject) {
            if let Some(place) = place {
                self.seen[place] = true;
            }
            objects.push(report);
        }
        for claim in &around.claims {
            self.seen[claim.place] = true;
            objects.push(leftover::member_claim(claim, &around));
        }
        for (place, live) in opened.labelled() {
            if !self.seen[place]
                && let Some(report) = leftover::of_living(live, &around)
            {
                self.seen[place] = true;
                objects.push(report);
            }
        }
        self.causes.name(desired, &mut objects);
        let report = DatabaseReport {
            namespace: desired.namespace.to_owned(),
            name: desired.name.to_owned(),
            engine: around.engine_word.to_owned(),
            impact: worst(&objects),
            origin: desired.origin.cloned(),
            objects,
        };
        self.databases.insert((report.namespace.clone(), report.name.clone()), report);
    }

    pub(super) fn add_broken(&mut self, broken: &[LiveError]) {
        self.broken.extend(broken.iter().map(told_broken));
    }

    /// The report, with notices of the caller's: what was wrong with the input, and what there is to say about the source.
    #[must_use]
    pub fn finish(mut self, mut notices: Vec<Notice>) -> Report {
        leftover::of_gone(&mut self);
        self.tell_gaps(&mut notices);
        let databases: Vec<DatabaseReport> = self.databases.into_values().collect();
        let mut summary = Summary::default();
        databases.iter().flat_map(|database| &database.objects).for_each(|object| summary.count(object.status));
        Report {
            schema_version: super::SCHEMA_VERSION,
            complete: summary.unknown == 0 && !notices.iter().any(Notice::is_error),
            impact: databases.iter().map(|database| database.impact).max().unwrap_or_default(),
            summary,
            problems: notices,
            databases,
        }
    }

    /// One notice for what could not be read. A gap makes the answer incomplete even where nothing rendered falls into
    /// it, because an orphan may.
    fn tell_gaps(&self, notices: &mut Vec<Notice>) {
        for gap in &self.live.gaps {
            let code = match gap.reason {
                // Whether volumes can grow is worth a word in a reason, and no more.
                _ if gap.kind == "StorageClass" => continue,
                GapReason::Skipped => continue,
                GapReason::NotFound if gap.namespace.is_none() && !self.kinds.contains(&gap.kind) => continue,
                GapReason::NotFound => Code::NoSuchKind,
                GapReason::Forbidden => Code::NotAllowedToRead,
                GapReason::Error => Code::CannotRead,
            };
            let subject = match &gap.namespace {
                Some(namespace) => format!("{} in namespace {namespace}", gap.kind),
                None => format!("{} in every namespace", gap.kind),
            };
            let mut told = notice(code, subject, self.mask.sentence(&gap.message));
            if self.live.is_dump {
                // The hints of these codes speak of a server.
                told.hint = Code::KindNotInDump.hint().trim_start_matches("if kinds were left out, ").to_owned();
            }
            notices.push(told);
        }
        for ((kind, namespace, name), message) in &self.broken {
            notices.push(notice(Code::UnreadableObject, format!("{kind} {namespace}/{name}"), message.clone()));
        }
    }
}

fn notice(code: Code, subject: String, message: String) -> Notice {
    Notice {
        code: code.id().into(),
        severity: code.severity().as_str().into(),
        subject: Some(subject),
        path: None,
        message,
        hint: code.hint().to_owned(),
        origin: None,
    }
}

/// The worst class of what differs.
pub(super) fn worst(objects: &[ObjectReport]) -> Impact {
    objects.iter().filter(|object| object.status.differs()).map(|object| object.impact).max().unwrap_or_default()
}

/// Texts that stand in the Secrets and are no secrets.
fn known_facts(desired: &Desired<'_>) -> BTreeSet<Vec<u8>> {
    let mut known: BTreeSet<Vec<u8>> = desired
        .plan
        .map(|plan| {
            [&plan.database, &plan.username, &plan.name, &plan.namespace]
                .into_iter()
                .map(|text| text.clone().into_bytes())
                .collect()
        })
        .unwrap_or_default();
    if desired.plan.is_some() {
        for object in desired.objects.iter().filter(|object| object.kind == "Secret") {
            known.extend(secret::rendered_data(&object.value).into_values());
        }
    }
    known
}

pub(super) fn empty_report(object: (&str, &str, &str, &str), status: Status) -> ObjectReport {
    let (api_version, kind, namespace, name) = object;
    ObjectReport {
        api_version: api_version.to_owned(),
        kind: kind.to_owned(),
        namespace: namespace.to_owned(),
        name: name.to_owned(),
        status,
        reason: Cow::Borrowed(""),
        impact: Impact::None,
        procedure: Vec::new(),
        changes: Vec::new(),
    }
}

/// Reason and sentence of each gap, by kind and namespace.
type Gaps<'a> = BTreeMap<(&'a str, Option<&'a str>), (GapReason, String)>;
/// What is wrong with an object, by kind, namespace and name.
type Broken = BTreeMap<(String, String, String), String>;

fn told_broken(error: &LiveError) -> ((String, String, String), String) {
    let LiveError { kind, namespace, name, message } = error;
    ((kind.clone(), namespace.clone(), name.clone()), message.clone())
}

/// An object that was not found: missing only if it was looked for.
fn unseen(policy: &Policy, gaps: &Gaps<'_>, broken: &Broken, object: &Object, subject: &Subject<'_>) -> ObjectReport {
    let Object { api_version, kind, namespace, name, .. } = object;
    let mut report = empty_report((api_version, kind, namespace, name), Status::Missing);
    match why_unseen(policy, gaps, broken, kind, namespace, name) {
        Some((status, reason)) if status != Status::Missing => {
            report.status = status;
            report.reason = reason;
        }
        why => {
            let Judged { impact, reason, commands } = impact::of_missing(object, subject.around);
            report.impact = impact;
            report.reason = why.map_or(reason, |(_, why)| why);
            report.procedure = commands;
        }
    }
    report
}

fn why_unseen(
    policy: &Policy,
    gaps: &Gaps<'_>,
    broken: &Broken,
    kind: &str,
    namespace: &str,
    name: &str,
) -> Option<(Status, Cow<'static, str>)> {
    if let Some(message) = broken.get(&(kind.to_owned(), namespace.to_owned(), name.to_owned())) {
        return Some((Status::Error, Cow::Owned(message.clone())));
    }
    if kind == "Secret" && !policy.secrets_read {
        return Some((Status::Skipped, Cow::Borrowed("Secrets were not asked for")));
    }
    let (reason, message) = gaps.get(&(kind, Some(namespace))).or_else(|| gaps.get(&(kind, None)))?;
    let status = match reason {
        GapReason::Forbidden => Status::Forbidden,
        GapReason::Error => Status::Error,
        GapReason::NotFound => Status::Missing,
        GapReason::Skipped => Status::Skipped,
    };
    Some((status, Cow::Owned(message.clone())))
}

/// An object that is there.
fn compared(
    policy: &Policy,
    object: &Object,
    live: &LiveObject,
    subject: &Subject<'_>,
    causes: &mut CauseMaps,
) -> ObjectReport {
    let Object { api_version, kind, namespace, name, value } = object;
    let around = subject.around;
    let suffixes = around.engine.map(|engine| engine.run_config_map_suffixes()).unwrap_or_default();
    let is_store = kind == "ConfigMap"
        && name
            .strip_prefix(around.name)
            .and_then(|rest| rest.strip_prefix('-'))
            .is_some_and(|rest| suffixes.contains(&rest));
    let parsed = if is_store { structured(value, &live.value) } else { Vec::new() };

    let mut walk = Walk::new(kind, policy.kubernetes);
    let nothing = Value::Null;
    let part = |object: &'_ Value, name: &str| object.get(name).is_some();
    walk.metadata(value.get("metadata").unwrap_or(&nothing), live.value.get("metadata").unwrap_or(&nothing));
    if part(&live.value, "status") {
        walk.at(Step::Field("status"), |walk| walk.ignore(Rule::Status));
    }
    if live.managed_fields.is_some() {
        walk.at(Step::Field("metadata"), |walk| {
            walk.at(Step::Field("managedFields"), |walk| walk.ignore(Rule::ServerMetadata))
        });
    }
    let mut filled = Filled::Whole;
    match kind.as_str() {
        "Secret" => {
            filled = secret::compare(&mut walk, value, live, around);
            if subject.is_rendered {
                filled = Filled::Whole;
            }
        }
        "ConfigMap" if is_store => {
            let members = around.engine.map(|engine| engine.run_config_map_annotations()).unwrap_or_default();
            walk.store(members, &parsed);
        }
        _ => {}
    }
    if let (Some(wanted), Some(have)) = (value.as_object(), live.value.as_object()) {
        let apart: &[&str] = match kind.as_str() {
            "Secret" => &["apiVersion", "data", "kind", "metadata", "status", "stringData"],
            _ => &["apiVersion", "kind", "metadata", "status"],
        };
        walk.fields_but(apart, fields_of(kind), wanted, have);
    }

    let mut report = empty_report((api_version, kind, namespace, name), Status::InSync);
    report.reason = secret::reason(&filled);
    let Walk { found, ignored, .. } = walk;
    if !found.is_empty() {
        judge(found, live, subject, causes, &mut report);
    }
    report.changes.extend(ignored.into_changes());
    report
}

/// Says of each difference what it means, who made it, and what decides it.
fn judge(
    found: Vec<Found<'_>>,
    live: &LiveObject,
    subject: &Subject<'_>,
    causes: &mut CauseMaps,
    report: &mut ObjectReport,
) {
    let managers = Managers::read(live.managed_fields.as_ref().map(Raw::bytes));
    let moved = (report.kind == "StatefulSet").then(|| profile::moved(subject.desired, live)).flatten();
    for mut found in found {
        if found.bucket == Bucket::Foreign && is_leftover(&found, &managers, subject, causes, report) {
            found.bucket = Bucket::Drift;
            found.note = "rendered before, and no longer";
        }
        let Judged { mut impact, mut reason, commands } = impact::of_change(&report.kind, &found, live, subject.around);
        let mut field = None;
        if let (Some(moved), Impact::RollingRestart, Some(Step::Field("template"))) =
            (moved, impact, found.steps.get(1))
        {
            (impact, reason, field) = (Impact::Migration, Cow::Borrowed(moved), Some("spec.failover"));
        }
        let changed_by = if found.op == Op::Add { None } else { managers.of(&found.steps) };
        let mut bucket = found.bucket;
        if is_tracking_label(&found.steps) {
            match &changed_by {
                Some(by) if by.manager.starts_with("argocd") => {
                    (bucket, impact, reason) = (Bucket::Ignored, Impact::None, Rule::TrackingLabel.reason().into());
                }
                None if managers.is_empty() => {
                    (bucket, impact, reason) = (Bucket::Foreign, Impact::None, Rule::TrackingLabel.reason().into());
                }
                _ => {}
            }
        }
        let path = pointer(&found.steps);
        if path == "/spec/replicas" && report.kind == "StatefulSet" {
            let by = match &changed_by {
                Some(by) => Some(scaled_by(by)),
                // Seen on 1.34 and 1.37: the Scale of nothing holds no number that somebody could own.
                None if found.live == 0 && !managers.is_empty() => {
                    Some("scaled to nothing, which leaves no name behind")
                }
                None => None,
            };
            reason = by.map_or(reason.clone(), |by| Cow::Owned(format!("{by}; {reason}")));
        }
        if bucket == Bucket::Drift {
            report.status = Status::Drifted;
            report.impact = report.impact.max(impact);
            for command in commands {
                report.procedure.retain(|other| *other != command);
                report.procedure.push(command);
            }
        }
        let (desired, live) = subject.mask.pair(&report.kind, &found.steps, found.desired, found.live);
        report.changes.push(Change {
            path: subject.mask.place(path),
            bucket,
            op: found.op,
            desired,
            live,
            impact,
            reason,
            field,
            changed_by,
            count: 1,
        });
    }
    // Drift first, and of that the worst first; otherwise in the order of the object.
    report.changes.sort_by(|a, b| (a.bucket as u8).cmp(&(b.bucket as u8)).then(b.impact.cmp(&a.impact)));
}

/// Whether an addition was rendered once: by who wrote it, and where nothing says so, by whether it could be.
fn is_leftover(
    found: &Found<'_>,
    managers: &Managers,
    subject: &Subject<'_>,
    causes: &mut CauseMaps,
    report: &ObjectReport,
) -> bool {
    if subject.is_rendered {
        return true;
    }
    if !managers.is_empty() {
        return managers.delivered(&found.steps);
    }
    let Some(plan) = subject.desired.plan else { return false };
    causes.could_render(plan, &report.kind, &report.name, &pointer(&found.steps))
}

/// The label that Argo CD may overwrite to track its objects.
fn is_tracking_label(steps: &[Step<'_>]) -> bool {
    matches!(steps, [Step::Field("metadata"), Step::Field("labels"), Step::Field("app.kubernetes.io/instance")])
}

fn scaled_by(by: &ChangedBy) -> &'static str {
    if is_autoscaler(by) {
        "scaled by an autoscaler, which would scale it again: Databases are not scaled by load"
    } else if by.subresource.as_deref() == Some("scale") {
        "scaled by hand"
    } else {
        "written by hand or by another tool"
    }
}

/// Secrets of `spec.credentials`, which somebody else makes: only their keys are looked at.
fn existing_secrets(
    policy: &Policy,
    gaps: &Gaps<'_>,
    broken: &Broken,
    opened: &Opened<'_>,
    subject: &Subject<'_>,
) -> Vec<(Option<usize>, ObjectReport)> {
    let around = subject.around;
    let Some(Credentials::Existing { app, admin }) = subject.desired.plan.map(|plan| &plan.credentials) else {
        return Vec::new();
    };
    let names: BTreeSet<&String> = BTreeSet::from([app, admin]);
    names
        .into_iter()
        .map(|name| {
            let mut report = empty_report(("v1", "Secret", around.namespace, name), Status::InSync);
            report.reason = Cow::Borrowed("made by somebody else; only its keys are looked at");
            let Some((place, live)) = opened.find("Secret", around.namespace, name) else {
                let (status, reason) = why_unseen(policy, gaps, broken, "Secret", around.namespace, name).unwrap_or((
                    Status::Missing,
                    Cow::Borrowed("somebody else has to make it: pods do not start without it"),
                ));
                report.impact = if status == Status::Missing { Impact::DataRisk } else { Impact::None };
                report.status = status;
                report.reason = reason;
                return (None, report);
            };
            for key in secret::required_keys(around, name) {
                if live.secret.get(key).is_some_and(|value| !value.reveal().is_empty()) {
                    continue;
                }
                report.status = Status::Drifted;
                report.impact = Impact::DataRisk;
                report.changes.push(Change {
                    path: pointer(&[Step::Field("data"), Step::Field(key)]),
                    bucket: Bucket::Drift,
                    op: Op::Add,
                    desired: super::HIDDEN.into(),
                    live: Value::Null,
                    impact: Impact::DataRisk,
                    reason: "whoever makes this Secret has to add the key: pods do not start without it".into(),
                    field: Some("spec.credentials"),
                    changed_by: None,
                    count: 1,
                });
            }
            (Some(place), report)
        })
        .collect()
}
