//! Which field of the Database decides a rendered value.
//!
//! No table that could grow stale: a field is turned to another value, the Database is rendered again, and what changed is
//! what the field decides. So it holds for engines that come later. One turn of all fields serves all Databases of the
//! same make, because the places do not depend on names and numbers.

use std::collections::BTreeMap;

use crate::api::{DeletionPolicy, EngineName, LabelSelector, Quantity, Replication, ServiceType, Toleration};
use crate::plan::{Access, Credentials, Destination, Monitoring, Plan, Profile, Restore};
use crate::render::{Object, render};

use super::defaults::fields_of;
use super::metadata::{Structured, structured};
use super::path::pointer;
use super::walk::Walk;
use super::{Bucket, Change, Desired, Minor, ObjectReport, Op};

/// A field of the Database, as far as the Plan holds it.
struct Lever {
    field: &'static str,
    /// Takes it over from another Plan.
    copy: fn(&mut Plan, &Plan),
    /// Another value than this one.
    turn: fn(&mut Plan),
    /// It turns whole parts on and off, where others set a value: a value that is there is decided by the others.
    is_switch: bool,
}

macro_rules! lever {
    ($field:literal, $($part:ident).+, $turn:expr) => {
        Lever { field: $field, copy: |to, from| to.$($part).+.clone_from(&from.$($part).+), turn: $turn, is_switch: false }
    };
    (switch $field:literal, $($part:ident).+, $turn:expr) => {
        Lever { is_switch: true, ..lever!($field, $($part).+, $turn) }
    };
}

fn other(quantity: Quantity) -> Quantity {
    // A sum would need an overflow check; two sizes that differ are enough.
    let one = Quantity::of_bytes(3 << 30);
    if quantity == one { Quantity::of_bytes(5 << 30) } else { one }
}

/// In the order in which a reader would look for the cause when several fields decide one place.
const LEVERS: &[Lever] = &[
    Lever {
        field: "spec.failover",
        copy: |to, from| {
            to.profile = from.profile;
            to.images.server.clone_from(&from.images.server);
        },
        turn: |plan| {
            plan.profile = match plan.profile {
                Profile::Automatic => Profile::Manual,
                Profile::Manual => Profile::Automatic,
            };
        },
        is_switch: true,
    },
    Lever {
        field: "spec.version",
        copy: |to, from| {
            to.version.clone_from(&from.version);
            if to.profile == from.profile {
                to.images.server.clone_from(&from.images.server);
            }
        },
        turn: |plan| {
            plan.version.series = "0".to_owned();
            plan.version.exact = "0.0".to_owned();
            plan.images.server.push_str("-other");
        },
        is_switch: false,
    },
    lever!("spec.replicas", replicas, |plan| plan.replicas = if plan.replicas == 2 { 3 } else { 2 }),
    lever!(switch "spec.hibernate", hibernate, |plan| plan.hibernate = !plan.hibernate),
    lever!("spec.storage.size", storage.size, |plan| plan.storage.size = other(plan.storage.size)),
    lever!("spec.storage.storageClass", storage.class, |plan| plan.storage.class.push_str("-other")),
    lever!("spec.resources.cpu", cpu, |plan| plan.cpu = other(plan.cpu)),
    lever!("spec.resources.memory", memory, |plan| plan.memory = other(plan.memory)),
    lever!("spec.parameters", parameters, |plan| {
        plan.parameters.insert("work_mem".to_owned(), "1234kB".to_owned());
        plan.parameters.insert("max_connections".to_owned(), "123".to_owned());
    }),
    lever!("spec.replication", replication, |plan| {
        plan.replication = match plan.replication {
            Replication::Synchronous => Replication::Asynchronous,
            Replication::Asynchronous => Replication::Synchronous,
        };
    }),
    lever!("spec.primary", primary, |plan| plan.primary = u8::from(plan.primary == 0)),
    lever!("spec.database", database, |plan| plan.database.push('x')),
    lever!("spec.username", username, |plan| plan.username.push('x')),
    lever!(switch "spec.backup.enabled", backup.enabled, |plan| plan.backup.enabled = !plan.backup.enabled),
    lever!("spec.backup.schedule", backup.schedule, |plan| plan.backup.schedule.push('0')),
    lever!("spec.backup.timeZone", backup.time_zone, |plan| plan.backup.time_zone.push('x')),
    lever!("spec.backup.suspend", backup.suspend, |plan| plan.backup.suspend = !plan.backup.suspend),
    lever!(switch "spec.backup.walArchive", backup.wal_archive, |plan| {
        plan.backup.wal_archive = !plan.backup.wal_archive;
    }),
    lever!("spec.backup.retention", backup.retention, |plan| {
        plan.backup.retention = if plan.backup.retention == 1 { 2 } else { 1 };
    }),
    lever!("spec.backup.destination", backup.destination, |plan| match &mut plan.backup.destination {
        Destination::Volume(volume) => {
            volume.size = other(volume.size);
            volume.class.push_str("-other");
        }
        Destination::S3(bucket) => bucket.bucket.push('x'),
    }),
    lever!(switch "spec.bootstrap.fromBackup", restore, |plan| match &mut plan.restore {
        Some(restore) => restore.backup.push('x'),
        None => {
            plan.restore = Some(Restore {
                namespace: plan.namespace.clone(),
                name: "other".to_owned(),
                backup: "latest".to_owned(),
                point_in_time: None,
                source: plan.backup.destination.clone(),
            });
        }
    }),
    lever!("spec.deletionPolicy", deletion_policy, |plan| {
        plan.deletion_policy = match plan.deletion_policy {
            DeletionPolicy::Delete => DeletionPolicy::Refuse,
            DeletionPolicy::Retain | DeletionPolicy::Refuse => DeletionPolicy::Delete,
        };
    }),
    lever!("spec.access.namespaces", access, |plan| {
        let access = plan.access.get_or_insert_with(Access::default);
        access.namespaces.iter_mut().for_each(|name| name.push_str("-other"));
        access.namespaces.push("other".to_owned());
        access.selector = match &access.selector {
            Some(_) => None,
            None => Some(LabelSelector { match_labels: BTreeMap::from([("other".to_owned(), "x".to_owned())]) }),
        };
    }),
    lever!("spec.service.type", service.service_type, |plan| {
        plan.service.service_type = match plan.service.service_type {
            ServiceType::LoadBalancer => ServiceType::NodePort,
            ServiceType::ClusterIp | ServiceType::NodePort => ServiceType::LoadBalancer,
        };
    }),
    lever!("spec.service.annotations", service.annotations, |plan| {
        plan.service.annotations.values_mut().for_each(|value| value.push('x'));
    }),
    lever!("spec.credentials", credentials, |plan| {
        if let Credentials::Existing { app, admin } = &mut plan.credentials {
            app.push_str("-other");
            admin.push_str("-other");
        }
    }),
    lever!(switch "spec.tls.secretName", tls_secret, |plan| {
        plan.tls_secret = Some(plan.tls_secret.as_ref().map_or_else(|| "other".to_owned(), |name| format!("{name}-other")));
    }),
    lever!(switch "spec.monitoring.enabled", monitoring, |plan| {
        plan.monitoring = if plan.monitoring.is_some() { None } else { Some(Monitoring::default()) };
    }),
    lever!("spec.scheduling.nodeSelector", scheduling.node_selector, |plan| {
        plan.scheduling.node_selector.values_mut().for_each(|value| value.push('x'));
        plan.scheduling.node_selector.insert("other".to_owned(), "x".to_owned());
    }),
    lever!("spec.scheduling.tolerations", scheduling.tolerations, |plan| {
        plan.scheduling.tolerations.iter_mut().for_each(|toleration| toleration.key = Some("other".to_owned()));
        plan.scheduling.tolerations.push(Toleration { key: Some("one-more".to_owned()), ..Toleration::default() });
    }),
    lever!("spec.scheduling.priorityClassName", scheduling.priority_class_name, |plan| {
        let name = plan.scheduling.priority_class_name.get_or_insert_default();
        name.push_str("-other");
    }),
    lever!("spec.scheduling.topologyKeys", scheduling.topology_keys, |plan| {
        plan.scheduling.topology_keys.push("other".to_owned());
    }),
];

/// What makes the places where a field shows: Databases that agree in it share one map.
type Make = (EngineName, (bool, bool, bool, bool), (bool, bool, bool, bool), (u8, u8, u8));

fn make(plan: &Plan) -> Make {
    let credentials = match plan.credentials {
        Credentials::Generated { job: true } => 0,
        Credentials::Generated { job: false } => 1,
        Credentials::Existing { .. } => 2,
        Credentials::External { .. } => 3,
    };
    (
        plan.engine,
        (plan.profile == Profile::Manual, plan.replicas > 1, plan.hibernate, plan.primary > 0),
        (plan.restore.is_some(), plan.tls_secret.is_some(), plan.monitoring.is_some(), plan.access.is_some()),
        (credentials, u8::from(matches!(plan.backup.destination, Destination::S3(_))), u8::from(plan.backup.enabled)),
    )
}

/// Kind, name without the Database's, place.
type Place = (String, String, String);
type Causes = BTreeMap<Place, Vec<&'static str>>;

/// The maps that were made so far.
#[derive(Debug, Default)]
pub(super) struct CauseMaps(BTreeMap<Make, Causes>);

impl CauseMaps {
    /// Whether a Database of this make could have something at this place which this one has not. What the cluster has
    /// there may be left from an earlier rendering.
    pub(super) fn could_render(&mut self, plan: &Plan, kind: &str, name: &str, path: &str) -> bool {
        let causes = self.0.entry(make(plan)).or_insert_with(|| turned(plan));
        causes.contains_key(&(kind.to_owned(), suffix(name, &plan.name), path.to_owned()))
    }

    /// Names the field of every drifted and foreign place. Costs nothing where there is none.
    pub(super) fn name(&mut self, desired: &Desired<'_>, objects: &mut [ObjectReport]) {
        let Some(plan) = desired.plan else { return };
        let is_asked = |change: &Change| change.bucket != Bucket::Ignored && change.field.is_none();
        if !objects.iter().any(|object| object.changes.iter().any(is_asked)) {
            return;
        }
        let between = desired.base.map(|base| between(plan, base));
        let causes = match &between {
            Some(between) => between,
            None => self.0.entry(make(plan)).or_insert_with(|| turned(plan)),
        };
        for object in objects {
            for change in object.changes.iter_mut().filter(|change| is_asked(change)) {
                // An item without a key is at a place by chance, and so is whatever could be rendered there.
                if between.is_none() && change.op == Op::Remove && ends_in_index(&change.path) {
                    continue;
                }
                let fields = fields_at(causes, &object.kind, &suffix(&object.name, &plan.name), &change.path);
                change.field = if between.is_some() { fields.first().copied() } else { only(&fields) };
            }
        }
    }
}

/// The fields that decide a place: those of the place itself, else of everything below it, else of what holds it.
fn fields_at(causes: &Causes, kind: &str, name: &str, path: &str) -> Vec<&'static str> {
    let at = |path: &str| (kind.to_owned(), name.to_owned(), path.to_owned());
    if let Some(fields) = causes.get(&at(path)) {
        return fields.clone();
    }
    let below = format!("{path}/");
    let mut fields: Vec<&'static str> = Vec::new();
    for ((_, _, place), more) in causes.range(at(&below)..) {
        if !place.starts_with(&below) {
            break;
        }
        fields.extend(more);
    }
    if fields.is_empty() {
        let mut above = path;
        while let Some((parent, _)) = above.rsplit_once('/') {
            if let Some(more) = causes.get(&at(parent)) {
                return more.clone();
            }
            above = parent;
        }
    }
    // In the order of the levers, each once.
    LEVERS.iter().map(|lever| lever.field).filter(|field| fields.contains(field)).collect()
}

/// The field that decides a place, when it is one. Between two Plans it is the first of those that differ.
fn only(fields: &[&'static str]) -> Option<&'static str> {
    let is_switch = |field: &&str| LEVERS.iter().any(|lever| lever.is_switch && lever.field == *field);
    let mut values = fields.iter().copied().filter(|field| !is_switch(field));
    match (values.next(), values.next(), fields) {
        (Some(field), None, _) | (None, _, &[field]) => Some(field),
        _ => None,
    }
}

fn ends_in_index(path: &str) -> bool {
    path.rsplit_once('/').is_some_and(|(_, last)| !last.is_empty() && last.bytes().all(|byte| byte.is_ascii_digit()))
}

fn suffix(name: &str, database: &str) -> String {
    name.strip_prefix(database).map_or_else(|| name.to_owned(), |rest| format!("*{rest}"))
}

fn turned(plan: &Plan) -> Causes {
    let rendered = render(plan).objects();
    let mut causes = Causes::new();
    for lever in LEVERS {
        let mut other = plan.clone();
        (lever.turn)(&mut other);
        if lever.field == "spec.failover" && !has_both_profiles(plan) {
            continue;
        }
        collect(&rendered, &render(&other).objects(), plan, lever.field, &mut causes);
    }
    causes
}

/// An engine that always elects has one profile alone.
pub(super) fn has_both_profiles(plan: &Plan) -> bool {
    plan.engine.has_manual_failover()
}

fn between(plan: &Plan, base: &Plan) -> Causes {
    let rendered = render(plan).objects();
    let mut causes = Causes::new();
    for lever in LEVERS {
        let mut other = plan.clone();
        (lever.copy)(&mut other, base);
        if other != *plan {
            collect(&rendered, &render(&other).objects(), plan, lever.field, &mut causes);
        }
    }
    causes
}

/// Adds the field to every place where the two differ.
fn collect(rendered: &[Object], other: &[Object], plan: &Plan, field: &'static str, causes: &mut Causes) {
    let names: BTreeMap<(&str, &str), &Object> =
        other.iter().map(|object| ((object.kind.as_str(), object.name.as_str()), object)).collect();
    for object in rendered {
        let Some(other) = names.get(&(object.kind.as_str(), object.name.as_str())) else { continue };
        let (Some(wanted), Some(have)) = (object.value.as_object(), other.value.as_object()) else { continue };
        let parsed =
            if object.kind == "ConfigMap" { structured(&object.value, &other.value) } else { Structured::new() };
        let mut walk = Walk::new(&object.kind, Minor::OLDEST);
        walk.fields_but(&["apiVersion", "kind", "metadata"], fields_of(&object.kind), wanted, have);
        if let (Some(wanted), Some(have)) = (object.value.get("metadata"), other.value.get("metadata")) {
            walk.metadata(wanted, have);
        }
        walk.store(&[], &parsed);
        for found in walk.found {
            let place = (object.kind.clone(), suffix(&object.name, &plan.name), pointer(&found.steps));
            let fields = causes.entry(place).or_default();
            if !fields.contains(&field) {
                fields.push(field);
            }
        }
    }
}
