//! What the watches have seen of the objects that belong to Databases.
//!
//! An object belongs to the Database that its label names. Large objects that nothing but a comparison needs are let go
//! once they were found as rendered; their digest stays, and tells when they change.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::diff::{KINDS, Kind, LiveObject};
use crate::render::DATABASE_LABEL;

/// Namespace and name of a Database.
pub(super) type DatabaseKey = (String, String);
/// Kind and name of one of its objects.
pub(super) type ObjectKey = (&'static str, String);
/// SHA-256 of what counts.
pub(super) type Digest = [u8; 32];

/// Kinds whose objects are large, and have no status.
const LET_GO: [&str; 1] = ["ConfigMap"];

/// One object.
#[derive(Clone, Debug)]
pub(super) struct Known {
    /// Without what changes when nothing that is rendered does: status, resourceVersion, managedFields.
    pub(super) content: Digest,
    /// The object. `None`: it was let go.
    pub(super) object: Option<LiveObject>,
}

#[derive(Default)]
struct Inner {
    databases: BTreeMap<DatabaseKey, BTreeMap<ObjectKey, Known>>,
    /// Which Database an object was seen to belong to.
    owners: BTreeMap<(&'static str, String, String), DatabaseKey>,
    /// What a list that is being read again has shown so far.
    lists: BTreeMap<&'static str, BTreeSet<(String, String)>>,
    /// What was compared with what, and what differs in a way that no apply changes.
    settled: BTreeMap<DatabaseKey, (Digest, Digest, String)>,
}

/// All of them.
#[derive(Default)]
pub(super) struct Cache(Mutex<Inner>);

impl Cache {
    fn inner(&self) -> MutexGuard<'_, Inner> {
        // Nothing is left half-written by a panic: each change is one call.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps what a watch has sent. Returns the Databases that have to be looked at: the one that it belongs to, and the
    /// one that it belonged to.
    pub(super) fn put(&self, kind: &'static Kind, object: Value) -> Vec<DatabaseKey> {
        let mut object = object;
        if let Some(map) = object.as_object_mut() {
            // Items of a list do not say theirs.
            map.insert("apiVersion".to_owned(), Value::from(kind.api_version));
            map.insert("kind".to_owned(), Value::from(kind.kind));
        }
        let text = |pointer: &str| object.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned();
        let (namespace, name) = (text("/metadata/namespace"), text("/metadata/name"));
        let database = object["metadata"]["labels"][DATABASE_LABEL].as_str().unwrap_or_default().to_owned();
        let content = content(&object);
        // What has no usable form is there all the same; a comparison will ask for it by name.
        let live = LiveObject::from_value(object).ok();
        let key = (namespace.clone(), database);
        let mut inner = self.inner();
        if let Some(list) = inner.lists.get_mut(kind.kind) {
            list.insert((namespace.clone(), name.clone()));
        }
        let before = inner.owners.insert((kind.kind, namespace, name.clone()), key.clone());
        let mut touched = vec![key.clone()];
        if let Some(before) = before.filter(|before| *before != key) {
            inner.forget(&before, kind.kind, &name);
            touched.push(before);
        }
        inner.databases.entry(key).or_default().insert((kind.kind, name), Known { content, object: live });
        touched
    }

    /// Forgets what is gone. Returns the Database that has to be looked at.
    pub(super) fn remove(&self, kind: &'static Kind, namespace: &str, name: &str) -> Option<DatabaseKey> {
        let mut inner = self.inner();
        let key = inner.owners.remove(&(kind.kind, namespace.to_owned(), name.to_owned()))?;
        inner.forget(&key, kind.kind, name);
        Some(key)
    }

    /// A list of this kind begins anew.
    pub(super) fn begin(&self, kind: &'static Kind) {
        self.inner().lists.insert(kind.kind, BTreeSet::new());
    }

    /// The list is complete: what it did not show is gone.
    pub(super) fn finish(&self, kind: &'static Kind) -> Vec<DatabaseKey> {
        let mut inner = self.inner();
        let Some(seen) = inner.lists.remove(kind.kind) else { return Vec::new() };
        let gone: Vec<_> = inner
            .owners
            .keys()
            .filter(|(of, namespace, name)| *of == kind.kind && !seen.contains(&(namespace.clone(), name.clone())))
            .cloned()
            .collect();
        let mut touched = Vec::new();
        for place in gone {
            if let Some(key) = inner.owners.remove(&place) {
                inner.forget(&key, place.0, &place.2);
                touched.push(key);
            }
        }
        touched
    }

    /// Everything that belongs to a Database.
    pub(super) fn of(&self, key: &DatabaseKey) -> BTreeMap<ObjectKey, Known> {
        self.inner().databases.get(key).cloned().unwrap_or_default()
    }

    /// Databases whose StatefulSet is so.
    pub(super) fn with_stateful_set(&self, is_so: impl Fn(&Value) -> bool) -> BTreeSet<DatabaseKey> {
        let inner = self.inner();
        let of = |(key, objects): (&DatabaseKey, &BTreeMap<ObjectKey, Known>)| {
            let set = objects.get(&("StatefulSet", key.1.clone()))?.object.as_ref()?;
            is_so(&set.value).then(|| key.clone())
        };
        inner.databases.iter().filter_map(of).collect()
    }

    /// What still differs, when this was compared with that before and nothing was left to do.
    pub(super) fn settled(&self, key: &DatabaseKey, desired: &Digest, live: &Digest) -> Option<String> {
        let inner = self.inner();
        let (of, with, drift) = inner.settled.get(key)?;
        (of == desired && with == live).then(|| drift.clone())
    }

    /// Notes that nothing is left to do, and lets large objects go that have not changed since.
    pub(super) fn settle(&self, key: &DatabaseKey, desired: Digest, live: Digest, drift: &str) {
        let mut inner = self.inner();
        inner.settled.insert(key.clone(), (desired, live, drift.to_owned()));
        if let Some(objects) = inner.databases.get_mut(key).filter(|objects| together(objects) == live) {
            for ((kind, _), known) in objects.iter_mut() {
                if LET_GO.contains(kind) {
                    known.object = None;
                }
            }
        }
    }

    /// Forgets everything.
    pub(super) fn clear(&self) {
        *self.inner() = Inner::default();
    }

    /// Forgets what was compared.
    pub(super) fn unsettle(&self, key: &DatabaseKey) {
        self.inner().settled.remove(key);
    }
}

impl Inner {
    fn forget(&mut self, key: &DatabaseKey, kind: &'static str, name: &str) {
        if let Some(objects) = self.databases.get_mut(key) {
            objects.remove(&(kind, name.to_owned()));
            if objects.is_empty() {
                self.databases.remove(key);
                self.settled.remove(key);
            }
        }
    }
}

/// The kind of a name, among those that are rendered.
pub(super) fn kind_of(name: &str) -> Option<&'static Kind> {
    KINDS.iter().find(|kind| kind.kind == name)
}

/// The digest of everything that belongs to a Database.
pub(super) fn together(objects: &BTreeMap<ObjectKey, Known>) -> Digest {
    let mut sum = Sha256::new();
    for ((kind, name), known) in objects {
        sum.update(kind.as_bytes());
        sum.update([0]);
        sum.update(name.as_bytes());
        sum.update([0]);
        sum.update(known.content);
    }
    sum.finalize().into()
}

/// The digest of what is rendered.
pub(super) fn rendered<'a>(values: impl Iterator<Item = &'a Value>) -> Digest {
    let mut sum = Sha256::new();
    for value in values {
        sum.update(value.to_string());
        sum.update([0]);
    }
    sum.finalize().into()
}

/// What a comparison looks at. A status is another matter, but for what says how far a claim has grown.
fn content(object: &Value) -> Digest {
    let mut object = object.clone();
    if let Some(map) = object.as_object_mut()
        && map.get("kind").and_then(Value::as_str) != Some("PersistentVolumeClaim")
    {
        map.shift_remove("status");
    }
    if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.shift_remove("resourceVersion");
        metadata.shift_remove("managedFields");
    }
    rendered(std::iter::once(&object))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{Cache, kind_of, rendered, together};

    fn map(name: &str, database: &str, text: &str) -> Value {
        json!({"metadata": {"name": name, "namespace": "n", "resourceVersion": text,
            "labels": {"app.example.com/database": database}}, "data": {"a": text}})
    }

    fn key(name: &str) -> (String, String) {
        ("n".to_owned(), name.to_owned())
    }

    #[test]
    fn what_a_new_list_does_not_show_is_gone() {
        let cache = Cache::default();
        let kind = kind_of("ConfigMap").unwrap();
        cache.begin(kind);
        cache.put(kind, map("a", "db", "1"));
        cache.put(kind, map("b", "other", "1"));
        assert_eq!(cache.finish(kind), []);
        cache.begin(kind);
        cache.put(kind, map("a", "db", "1"));
        assert_eq!(cache.finish(kind), [key("other")]);
        assert_eq!((cache.of(&key("db")).len(), cache.of(&key("other")).len()), (1, 0));
    }

    #[test]
    fn an_object_that_changes_hands_is_looked_at_from_both_sides() {
        let cache = Cache::default();
        let kind = kind_of("ConfigMap").unwrap();
        cache.put(kind, map("a", "db", "1"));
        assert_eq!(cache.put(kind, map("a", "other", "1")), [key("other"), key("db")]);
        assert!(cache.of(&key("db")).is_empty());
        assert_eq!(cache.remove(kind, "n", "a"), Some(key("other")));
        assert_eq!(cache.remove(kind, "n", "a"), None);
    }

    #[test]
    fn what_was_settled_is_let_go_and_unsettled_by_any_change() {
        let cache = Cache::default();
        let kind = kind_of("ConfigMap").unwrap();
        cache.put(kind, map("a", "db", "1"));
        let desired = rendered([json!(1)].iter());
        let live = together(&cache.of(&key("db")));
        assert_eq!(cache.settled(&key("db"), &desired, &live), None);
        cache.settle(&key("db"), desired, live, "a Secret");
        assert_eq!(cache.settled(&key("db"), &desired, &live).as_deref(), Some("a Secret"));
        assert!(cache.of(&key("db")).values().all(|known| known.object.is_none()));
        cache.put(kind, map("a", "db", "2"));
        let now = together(&cache.of(&key("db")));
        assert_eq!(cache.settled(&key("db"), &desired, &now), None);
        assert!(cache.of(&key("db")).values().all(|known| known.object.is_some()));
    }

    #[test]
    fn a_status_changes_nothing_but_a_claims() {
        let cache = Cache::default();
        for (name, counts) in [("StatefulSet", false), ("PersistentVolumeClaim", true)] {
            let kind = kind_of(name).unwrap();
            let mut object = map("a", "db", "1");
            cache.put(kind, object.clone());
            let before = together(&cache.of(&key("db")));
            object["status"] = json!({"readyReplicas": 1});
            object["metadata"]["resourceVersion"] = json!("9");
            cache.put(kind, object);
            assert_eq!(together(&cache.of(&key("db"))) != before, counts, "{name}");
        }
    }
}
