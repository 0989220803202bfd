//! The watches: of every kind that is rendered, by label, into the cache; and of the Databases themselves.

use futures::{Stream, StreamExt as _, stream};
use kube::Client;
use kube::api::{Api, ApiResource, DynamicObject};
use kube::core::GroupVersionKind;
use kube::runtime::watcher::{self, Event, watcher};
use kube::runtime::{WatchStreamExt as _, reflector::ObjectRef};

use super::cache::{Cache, DatabaseKey};
use super::{Shard, Shared};
use crate::api;
use crate::diff::{KINDS, Kind};
use crate::render::DATABASE_LABEL;

/// The kind `Database`, for clients that do not decode it: one that cannot be read must not stop the others.
pub(super) fn database() -> ApiResource {
    let (group, version) = api::API_VERSION.split_once('/').unwrap_or(("", api::API_VERSION));
    ApiResource::from_gvk_with_plural(&GroupVersionKind::gvk(group, version, api::KIND), "databases")
}

/// Objects of one kind, in one namespace or in all.
pub(super) fn objects(client: &Client, resource: &ApiResource, namespace: Option<&str>) -> Api<DynamicObject> {
    match namespace {
        Some(namespace) => Api::namespaced_with(client.clone(), namespace, resource),
        None => Api::all_with(client.clone(), resource),
    }
}

fn resource_of(kind: &Kind) -> ApiResource {
    let version = kind.api_version.rsplit('/').next().unwrap_or_default();
    ApiResource::from_gvk_with_plural(&GroupVersionKind::gvk(kind.group(), version, kind.kind), kind.resource)
}

/// A reference to a Database.
pub(super) fn reference(key: &DatabaseKey) -> ObjectRef<DynamicObject> {
    ObjectRef::new_with(&key.1, database()).within(&key.0)
}

/// Every Database of whose objects something has changed. Before the first list of a kind is complete, nothing of it is
/// sent: then `shared.seen` counts it.
pub(super) fn owned(shared: &Shared, namespace: Option<&str>) -> impl Stream<Item = DatabaseKey> + use<> {
    stream::select_all(KINDS.iter().map(|kind| of_kind(shared.clone(), kind, namespace).boxed()))
}

fn of_kind(shared: Shared, kind: &'static Kind, namespace: Option<&str>) -> impl Stream<Item = DatabaseKey> + use<> {
    let api = objects(&shared.watches, &resource_of(kind), namespace);
    let config = watcher::Config::default().labels(DATABASE_LABEL);
    let mut complete = false;
    watcher(api, config)
        .default_backoff()
        .map(move |event| {
            let touched = match event {
                Ok(event) => {
                    let (touched, done) = take(&shared.cache, shared.shard, kind, event);
                    if done && !complete {
                        complete = true;
                        shared.progress.seen(kind.kind);
                    }
                    touched
                }
                Err(error) => {
                    // A kind that the server does not have is complete: there is none of it.
                    if !kind.built_in && !complete && is_absent(&error) {
                        complete = true;
                        shared.progress.seen(kind.kind);
                    } else if complete || kind.built_in {
                        shared.progress.trouble(kind.kind, &error.to_string());
                    }
                    Vec::new()
                }
            };
            stream::iter(touched)
        })
        .flatten()
}

fn take(cache: &Cache, shard: Shard, kind: &'static Kind, event: Event<DynamicObject>) -> (Vec<DatabaseKey>, bool) {
    let value = |object: &DynamicObject| serde_json::to_value(object).unwrap_or_default();
    let is_of_others = |object: &DynamicObject| {
        let labels = object.metadata.labels.as_ref();
        let database = labels.and_then(|labels| labels.get(DATABASE_LABEL)).map_or("", String::as_str);
        !shard.holds(object.metadata.namespace.as_deref().unwrap_or_default(), database)
    };
    // Of the other parts of the fleet only what restarts is kept in memory.
    let event = match event {
        Event::Apply(object) if kind.kind != "StatefulSet" && is_of_others(&object) => Event::Delete(object),
        Event::InitApply(object) if kind.kind != "StatefulSet" && is_of_others(&object) => return (Vec::new(), false),
        event => event,
    };
    match event {
        Event::Init => {
            cache.begin(kind);
            (Vec::new(), false)
        }
        Event::InitApply(object) | Event::Apply(object) => (cache.put(kind, value(&object)), false),
        Event::Delete(object) => {
            let namespace = object.metadata.namespace.unwrap_or_default();
            let name = object.metadata.name.unwrap_or_default();
            (cache.remove(kind, &namespace, &name).into_iter().collect(), false)
        }
        Event::InitDone => (cache.finish(kind), true),
    }
}

fn is_absent(error: &watcher::Error) -> bool {
    match error {
        watcher::Error::InitialListFailed(kube::Error::Api(status)) => matches!(status.code, 403 | 404),
        watcher::Error::WatchError(status) => status.code == 404,
        _ => false,
    }
}

/// The key of a Database.
pub(super) fn key_of(object: &DynamicObject) -> DatabaseKey {
    (object.metadata.namespace.clone().unwrap_or_default(), object.metadata.name.clone().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use kube::api::DynamicObject;
    use kube::runtime::watcher::Event;
    use serde_json::json;

    use super::super::cache::{Cache, kind_of};
    use super::{Shard, take};

    fn object(kind: &str, database: &str) -> DynamicObject {
        serde_json::from_value(json!({"apiVersion": "v1", "kind": kind, "metadata": {"name": "x", "namespace": "n",
            "labels": {"app.example.com/database": database}}}))
        .unwrap()
    }

    /// If this fails, parts of a fleet need the memory of the whole of it.
    #[test]
    fn of_other_parts_of_the_fleet_only_stateful_sets_are_kept() {
        let (one, other) = (Shard { index: 0, count: 2 }, Shard { index: 1, count: 2 });
        let name = |part: Shard| (0..).map(|n| format!("db-{n}")).find(|name| part.holds("n", name)).unwrap();
        let (mine, theirs) = (name(one), name(other));
        let key = |name: &String| ("n".to_owned(), name.clone());
        for (kind, kept) in [("StatefulSet", 1), ("Secret", 0)] {
            let cache = Cache::default();
            take(&cache, one, kind_of(kind).unwrap(), Event::InitApply(object(kind, &theirs)));
            assert_eq!(cache.of(&key(&theirs)).len(), kept, "{kind}");
        }
        let (cache, secret) = (Cache::default(), kind_of("Secret").unwrap());
        assert_eq!(take(&cache, one, secret, Event::Apply(object("Secret", &mine))).0, [key(&mine)]);
        // It changes hands: whose it was has to look.
        assert_eq!(take(&cache, one, secret, Event::Apply(object("Secret", &theirs))).0, [key(&mine)]);
        assert!(cache.of(&key(&mine)).is_empty());
    }
}
