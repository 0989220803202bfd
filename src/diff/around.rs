//! What is known about the rest of a Database while one of its objects is judged.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde_json::Value;

use crate::engine::{self, Engine};
use crate::plan::Plan;
use crate::render::{NAME_LABEL, Object};

use super::{Desired, Listed, LiveError, LiveObject, LiveSet};

/// The live objects by kind, namespace and name, and by the Database whose label they carry.
pub(super) struct Index<'a> {
    by_name: BTreeMap<(&'a str, &'a str, &'a str), usize>,
    by_database: BTreeMap<(&'a str, &'a str), usize>,
    /// Places of the objects of each Database.
    labelled: Vec<Vec<usize>>,
    objects: &'a [Listed],
    /// Whether a claim that is not here is not there: a dump need not hold them, and a commit never does.
    pub(super) knows_claims: bool,
}

impl<'a> Index<'a> {
    pub(super) fn new(live: &'a LiveSet) -> Index<'a> {
        let objects = live.objects.as_slice();
        let is_claim = |object: &Listed| object.kind == "PersistentVolumeClaim";
        let gap = live.gaps.iter().any(|gap| gap.kind == "PersistentVolumeClaim");
        let knows_claims =
            !gap && !live.is_rendered && (!live.is_dump || objects.is_empty() || objects.iter().any(is_claim));
        let mut index = Index {
            by_name: BTreeMap::new(),
            by_database: BTreeMap::new(),
            labelled: Vec::new(),
            objects,
            knows_claims,
        };
        for (place, object) in objects.iter().enumerate() {
            index.by_name.entry((&object.kind, &object.namespace, &object.name)).or_insert(place);
            if let Some(database) = object.database.as_deref() {
                let next = index.labelled.len();
                let group = *index.by_database.entry((&object.namespace, database)).or_insert(next);
                if group == next {
                    index.labelled.push(Vec::new());
                }
                index.labelled[group].push(place);
            }
        }
        index
    }

    fn place(&self, kind: &str, namespace: &str, name: &str) -> Option<usize> {
        self.by_name.get(&(kind, namespace, name)).copied()
    }

    /// Places of the objects with the label of a Database.
    pub(super) fn labelled(&self, namespace: &str, name: &str) -> &[usize] {
        let group = self.by_database.get(&(namespace, name)).and_then(|group| self.labelled.get(*group));
        group.map(Vec::as_slice).unwrap_or_default()
    }

    /// The object at a place.
    pub(super) fn open(&self, place: usize) -> Option<Result<Cow<'a, LiveObject>, LiveError>> {
        self.objects.get(place).map(Listed::open)
    }

    /// Every Database of which anything is there.
    pub(super) fn databases(&self) -> impl Iterator<Item = (&'a str, &'a str)> {
        self.by_database.keys().copied()
    }

    /// Whether volumes of a class can grow. `None`: the class could not be read.
    pub(super) fn can_grow(&self, class: &str) -> Option<bool> {
        let object = self.open(self.place("StorageClass", "", class)?)?.ok()?;
        Some(object.value.get("allowVolumeExpansion").and_then(Value::as_bool).unwrap_or(false))
    }
}

/// The live objects that have to do with one Database, whole.
pub(super) struct Opened<'a> {
    index: &'a Index<'a>,
    objects: BTreeMap<usize, Cow<'a, LiveObject>>,
    /// With its label, in the order in which they were read.
    labelled: &'a [usize],
    /// What could not be read.
    pub(super) broken: Vec<(usize, LiveError)>,
}

impl<'a> Opened<'a> {
    /// With the objects that carry its label, and those that are wanted whether they carry it or not.
    pub(super) fn new(desired: &Desired<'_>, index: &'a Index<'a>) -> Opened<'a> {
        let labelled = index.labelled(desired.namespace, desired.name);
        let mut opened = Opened { index, objects: BTreeMap::new(), labelled, broken: Vec::new() };
        let wanted = desired.objects.iter().filter_map(|o| index.place(&o.kind, &o.namespace, &o.name));
        let secrets = [app_secret(desired.plan, desired.name), admin_secret(desired.plan, desired.name)];
        let secrets = secrets.iter().filter_map(|name| index.place("Secret", desired.namespace, name));
        for place in labelled.iter().copied().chain(wanted).chain(secrets) {
            if opened.objects.contains_key(&place) || opened.broken.iter().any(|(broken, _)| *broken == place) {
                continue;
            }
            match index.open(place) {
                Some(Ok(object)) => {
                    opened.objects.insert(place, object);
                }
                Some(Err(error)) => opened.broken.push((place, error)),
                None => {}
            }
        }
        opened
    }

    pub(super) fn find(&self, kind: &str, namespace: &str, name: &str) -> Option<(usize, &LiveObject)> {
        let place = self.index.place(kind, namespace, name)?;
        self.objects.get(&place).map(|object| (place, &**object))
    }

    /// Objects with the label of the Database.
    pub(super) fn labelled(&self) -> impl Iterator<Item = (usize, &LiveObject)> {
        self.labelled.iter().filter_map(|place| self.objects.get(place).map(|object| (*place, &**object)))
    }
}

fn app_secret(plan: Option<&Plan>, name: &str) -> String {
    plan.map_or_else(|| format!("{name}-app"), Plan::app_secret)
}

fn admin_secret(plan: Option<&Plan>, name: &str) -> String {
    plan.map_or_else(|| format!("{name}-admin"), Plan::admin_secret)
}

/// A label of a live object.
pub(super) fn label<'a>(object: &'a LiveObject, name: &str) -> Option<&'a str> {
    object.value.get("metadata")?.get("labels")?.get(name)?.as_str()
}

/// The claim of one member.
#[derive(Clone, Copy)]
pub(super) struct Claim<'a> {
    /// Name of the claim template.
    pub(super) template: &'a str,
    pub(super) ordinal: i64,
    pub(super) live: &'a LiveObject,
    pub(super) place: usize,
}

/// One Database.
pub(super) struct Around<'a> {
    pub(super) namespace: &'a str,
    pub(super) name: &'a str,
    pub(super) plan: Option<&'a Plan>,
    pub(super) engine: Option<&'static dyn Engine>,
    /// Engine as users write it; empty when nothing says which.
    pub(super) engine_word: &'a str,
    pub(super) index: &'a Index<'a>,
    /// The members, as rendered and as they are.
    pub(super) wanted_set: Option<&'a Value>,
    pub(super) live_set: Option<&'a LiveObject>,
    /// By ordinal.
    pub(super) claims: Vec<Claim<'a>>,
    /// Whether a Job that fills passwords has come to its end.
    filled_by_job: bool,
}

impl<'a> Around<'a> {
    pub(super) fn new(desired: &Desired<'a>, index: &'a Index<'a>, opened: &'a Opened<'a>) -> Around<'a> {
        let wanted = desired.objects.iter().find(|object| object.kind == "StatefulSet");
        let engine_word = match desired.plan {
            Some(plan) => plan.engine.as_str(),
            None => {
                let mut words = desired
                    .objects
                    .iter()
                    .filter_map(|object| object.value.get("metadata")?.get("labels")?.get(NAME_LABEL)?.as_str());
                words.next().unwrap_or_default()
            }
        };
        let engine = engine::ALL.iter().copied().find(|engine| engine.name().as_str() == engine_word);
        let live_set =
            wanted.and_then(|object| opened.find("StatefulSet", &object.namespace, &object.name)).map(|(_, live)| live);
        let (namespace, name) = (desired.namespace, desired.name);
        let job = format!("{name}-credentials-");
        let filled_by_job = opened
            .labelled()
            .any(|(_, object)| object.kind == "Job" && object.name.starts_with(&job) && is_complete(&object.value));
        let mut claims = wanted.map(|set| claims_of(set, opened)).unwrap_or_default();
        claims.sort_by_key(|claim| (claim.ordinal, claim.place));
        Around {
            namespace,
            name,
            plan: desired.plan,
            engine,
            engine_word,
            index,
            wanted_set: wanted.map(|object| &object.value),
            live_set,
            claims,
            filled_by_job,
        }
    }

    /// Replicas that are wanted.
    pub(super) fn replicas(&self) -> i64 {
        self.wanted_set.and_then(|set| set.pointer("/spec/replicas")).and_then(Value::as_i64).unwrap_or(1)
    }

    /// Members that the Database has, hibernating or not: their claims are in use.
    pub(super) fn members(&self) -> i64 {
        self.plan.map_or_else(|| self.replicas(), |plan| i64::from(plan.replicas))
    }

    /// Whether members are ready: they have had their passwords then.
    pub(super) fn is_running(&self) -> bool {
        let ready = self.live_set.and_then(|set| set.value.pointer("/status/readyReplicas")).and_then(Value::as_i64);
        ready.is_some_and(|ready| ready > 0)
    }

    /// Whether the passwords have been filled at some time.
    pub(super) fn was_filled(&self) -> bool {
        self.filled_by_job || self.is_running()
    }

    /// Secret for applications.
    pub(super) fn app_secret(&self) -> String {
        app_secret(self.plan, self.name)
    }

    /// Secret for the server's own users.
    pub(super) fn admin_secret(&self) -> String {
        admin_secret(self.plan, self.name)
    }
}

/// Claims that Kubernetes has made from the templates of a StatefulSet: `<template>-<set>-<ordinal>`.
fn claims_of<'a>(set: &'a Object, opened: &'a Opened<'a>) -> Vec<Claim<'a>> {
    let templates = set.value.pointer("/spec/volumeClaimTemplates").and_then(Value::as_array);
    let names: Vec<&'a str> =
        templates.into_iter().flatten().filter_map(|template| text(template, "/metadata/name")).collect();
    let claim = |(place, live): (usize, &'a LiveObject)| {
        let (head, ordinal) = live.name.rsplit_once('-')?;
        let ordinal = ordinal.parse().ok()?;
        let template = head.strip_suffix(set.name.as_str())?.strip_suffix('-')?;
        let template = names.iter().find(|name| **name == template)?;
        Some(Claim { template, ordinal, live, place })
    };
    opened.labelled().filter(|(_, live)| live.kind == "PersistentVolumeClaim").filter_map(claim).collect()
}

fn text<'v>(value: &'v Value, pointer: &str) -> Option<&'v str> {
    value.pointer(pointer).and_then(Value::as_str)
}

fn is_complete(job: &Value) -> bool {
    let conditions = job.pointer("/status/conditions").and_then(Value::as_array);
    conditions.into_iter().flatten().any(|condition| {
        condition.get("type").and_then(Value::as_str) == Some("Complete")
            && condition.get("status").and_then(Value::as_str) == Some("True")
    })
}

/// Engine word that a live object carries.
pub(super) fn engine_label(object: &LiveObject) -> Option<&str> {
    label(object, NAME_LABEL)
}
