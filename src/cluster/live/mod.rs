//! What is in the cluster, by `get` and `list` alone: a list per kind, paged, a few at a time. What is not allowed or
//! does not answer becomes a gap, and the rest is still read.

pub(super) mod request;
pub(super) mod run;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use kube::Client;
use kube::api::{GetParams, ListParams};
use kube::core::Request;
use serde_json::Value;

use crate::diff::{Gap, GapReason, KINDS, Kind, Listed, LiveSet, Minor, Read, STORAGE_CLASS};
use crate::render::DATABASE_LABEL;

use request::{Trouble, ask};
use run::all;

/// Objects of one page. The API server's own tools use the same number.
const PAGE: u32 = 500;
/// Requests at a time.
pub(super) const AT_ONCE: usize = 8;
/// Up to this many namespaces are read one by one: that needs no rights in others. Beyond, one list for all is tried.
const FEW_NAMESPACES: usize = 3;
/// Up to this many objects are asked for by name; beyond, the names of all are listed first.
const FEW_OBJECTS: usize = 5;

/// What to read.
#[derive(Clone, Debug, Default)]
pub struct Wanted {
    /// Kind, namespace and name of everything that is rendered, and of Secrets that Databases name: what has lost its
    /// label is looked for by name.
    pub objects: BTreeSet<(String, String, String)>,
    /// Whether objects of all namespaces are of interest, and not only those of the namespaces above.
    pub everywhere: bool,
    /// Without it no request for Secrets is made.
    pub secrets: bool,
}

/// What was read.
#[derive(Clone, Debug, Default)]
pub struct Seen {
    /// Objects and gaps.
    pub live: LiveSet,
    /// Version of the server, where it says so.
    pub kubernetes: Option<Minor>,
    /// Kinds of which only the wanted namespaces could be read although all were of interest.
    pub not_everywhere: Vec<&'static str>,
}

impl Seen {
    /// Says the address of a server that could not be reached: a name of a context is not enough to look for it.
    pub fn name_server(&mut self, address: &str) {
        for gap in &mut self.live.gaps {
            if let Some(why) = gap.message.strip_prefix(request::UNREACHED) {
                gap.message = format!("the server {address} cannot be reached{why}");
            }
        }
    }
}

/// Reads what is wanted. Never fails: an unreachable server is a gap of every kind.
///
/// Makes one list per kind and page, and further requests only for what is wanted and was not found in it.
pub async fn read_live(client: &Client, source: String, wanted: &Wanted) -> Seen {
    let mut seen = Seen { live: LiveSet { source, ..LiveSet::default() }, ..Seen::default() };
    let kinds = || KINDS.iter().filter(|kind| wanted.secrets || kind.kind != "Secret");
    if !wanted.secrets {
        let message = "not asked for (--no-secret-read)".to_owned();
        seen.live.gaps.push(Gap { kind: "Secret".to_owned(), namespace: None, reason: GapReason::Skipped, message });
    }
    match version(client).await {
        Ok(minor) => seen.kubernetes = minor,
        Err(trouble) if trouble.is_unreachable() => {
            seen.live.gaps.extend(kinds().map(|kind| gap(kind, None, &trouble)));
            return seen;
        }
        // Whoever may not ask for the version may still list.
        Err(_) => {}
    }

    let namespaces: BTreeSet<&str> = wanted.objects.iter().map(|(_, namespace, _)| namespace.as_str()).collect();
    let all_at_once = wanted.everywhere || namespaces.len() > FEW_NAMESPACES;
    let one_by_one =
        |kind: &'static Kind| namespaces.iter().map(move |namespace| (kind, Some((*namespace).to_owned())));
    let mut scopes: Vec<(&Kind, Option<String>)> = Vec::new();
    for kind in kinds() {
        if all_at_once {
            scopes.push((kind, None));
        } else {
            scopes.extend(one_by_one(kind));
        }
    }
    let mut found = lists(client, scopes).await;
    let refused: Vec<&Kind> = found.iter().filter(|list| list.is_refused_everywhere()).map(|list| list.kind).collect();
    if !refused.is_empty() {
        found.retain(|list| !list.is_refused_everywhere());
        found.extend(lists(client, refused.iter().flat_map(|kind| one_by_one(kind)).collect()).await);
        if wanted.everywhere {
            seen.not_everywhere = refused.iter().map(|kind| kind.kind).collect();
        }
    }

    let mut blind: BTreeSet<(&str, Option<String>)> = BTreeSet::new();
    for list in found {
        if let Some(trouble) = &list.trouble {
            // A kind that the server does not have and nobody wants is not worth a word.
            let is_wanted = wanted.objects.iter().any(|(kind, _, _)| kind == list.kind.kind);
            if trouble.reason == GapReason::NotFound && !is_wanted {
                continue;
            }
            seen.live.gaps.push(gap(list.kind, list.namespace.clone(), trouble));
            blind.insert((list.kind.kind, list.namespace.clone()));
        }
        seen.live.add(list.read);
    }
    if !wanted.everywhere {
        seen.live.objects.retain(|object| namespaces.contains(object.namespace.as_str()));
    }
    let can_see = |kind: &str, namespace: &str| {
        !blind.contains(&(kind, None)) && !blind.contains(&(kind, Some(namespace.to_owned())))
    };
    look_by_name(client, wanted, &can_see, &mut seen.live).await;

    // Whether a volume may grow is worth knowing and no condition for anything else.
    let classes = list(client.clone(), &STORAGE_CLASS, None, None).await;
    seen.live.objects.extend(classes.read.objects);
    seen
}

/// One list, with what was read before it broke off.
struct List {
    kind: &'static Kind,
    namespace: Option<String>,
    read: Read,
    trouble: Option<Trouble>,
}

impl List {
    fn is_refused_everywhere(&self) -> bool {
        self.namespace.is_none() && self.trouble.as_ref().is_some_and(|trouble| trouble.reason == GapReason::Forbidden)
    }
}

async fn lists(client: &Client, scopes: Vec<(&'static Kind, Option<String>)>) -> Vec<List> {
    let label = Some(DATABASE_LABEL);
    all(AT_ONCE, scopes.into_iter().map(|(kind, namespace)| list(client.clone(), kind, namespace, label))).await
}

/// Every page of one list.
async fn list(client: Client, kind: &'static Kind, namespace: Option<String>, label: Option<&'static str>) -> List {
    let mut list = List { kind, namespace, read: Read::default(), trouble: None };
    let mut may_begin_again = true;
    let mut next: Option<String> = None;
    loop {
        let mut params = ListParams::default().limit(PAGE);
        if let Some(label) = label {
            params = params.labels(label);
        }
        if let Some(token) = &next {
            params = params.continue_token(token);
        }
        let request = Request::new(kind.path(list.namespace.as_deref())).list(&params);
        let trouble = match ask(&client, request, kind).await {
            Ok(body) => {
                let read = Read::json(&body, Some((kind.api_version, kind.kind)));
                list.read.objects.extend(read.objects);
                list.read.broken.extend(read.broken);
                next = read.next;
                match (read.stopped, &next) {
                    (None, Some(_)) => continue,
                    (None, None) => return list,
                    (Some(_), _) => Trouble::error("the server's answer breaks off or is no JSON".to_owned()),
                }
            }
            // The place to go on from is forgotten by the server after some minutes. Once is enough to say so.
            Err(trouble) if trouble.status == Some(410) && next.is_some() && may_begin_again => {
                (may_begin_again, next, list.read) = (false, None, Read::default());
                continue;
            }
            Err(trouble) => trouble,
        };
        list.trouble = Some(trouble);
        return list;
    }
}

/// What is wanted and has not been found by its label: it may be there without it.
async fn look_by_name(client: &Client, wanted: &Wanted, can_see: &impl Fn(&str, &str) -> bool, live: &mut LiveSet) {
    let have: BTreeSet<(&str, &str, &str)> = live
        .objects
        .iter()
        .map(identity)
        .chain(live.broken.iter().map(|broken| (broken.kind.as_str(), broken.namespace.as_str(), broken.name.as_str())))
        .collect();
    let mut absent: BTreeMap<(&'static str, &str), (&'static Kind, Vec<String>)> = BTreeMap::new();
    for (kind, namespace, name) in &wanted.objects {
        let Some(kind) = KINDS.iter().find(|known| known.kind == kind) else { continue };
        let asked = kind.kind != "Secret" || wanted.secrets;
        if asked && can_see(kind.kind, namespace) && !have.contains(&(kind.kind, namespace.as_str(), name.as_str())) {
            absent.entry((kind.kind, namespace)).or_insert_with(|| (kind, Vec::new())).1.push(name.clone());
        }
    }
    drop(have);
    let (few, many): (Vec<_>, Vec<_>) = absent.into_iter().partition(|(_, (_, names))| names.len() <= FEW_OBJECTS);
    let mut single: Vec<(&'static Kind, String, String)> = Vec::new();
    for ((_, namespace), (kind, names)) in few {
        single.extend(names.into_iter().map(|name| (kind, namespace.to_owned(), name)));
    }
    let listed = all(
        AT_ONCE,
        many.into_iter().map(|((_, namespace), (kind, names))| {
            let (client, namespace) = (client.clone(), namespace.to_owned());
            async move {
                let there = names_of(&client, kind, &namespace).await;
                (kind, namespace, names, there)
            }
        }),
    )
    .await;
    for (kind, namespace, names, there) in listed {
        match there {
            Ok(there) => {
                let there = names.into_iter().filter(|name| there.contains(name));
                single.extend(there.map(|name| (kind, namespace.clone(), name)));
            }
            Err(trouble) => live.gaps.push(gap(kind, Some(namespace), &trouble)),
        }
    }
    let answers = all(
        AT_ONCE,
        single.into_iter().map(|(kind, namespace, name)| {
            let client = client.clone();
            async move {
                let request = Request::new(kind.path(Some(&namespace))).get(&name, &GetParams::default());
                (kind, namespace, ask(&client, request, kind).await)
            }
        }),
    )
    .await;
    for (kind, namespace, answer) in answers {
        match answer {
            Ok(body) => {
                let read = Read::json(&body, Some((kind.api_version, kind.kind)));
                if read.stopped.is_some() {
                    let trouble = Trouble::error("the server's answer breaks off or is no JSON".to_owned());
                    live.gaps.push(gap(kind, Some(namespace), &trouble));
                }
                live.add(read);
            }
            Err(trouble) if trouble.reason == GapReason::NotFound => {}
            Err(trouble) => live.gaps.push(gap(kind, Some(namespace), &trouble)),
        }
    }
    live.gaps.dedup();
}

/// Names of all objects of a kind in a namespace, without the objects.
async fn names_of(client: &Client, kind: &'static Kind, namespace: &str) -> Result<BTreeSet<String>, Trouble> {
    let mut names = BTreeSet::new();
    let mut params = ListParams::default().limit(PAGE);
    loop {
        let request = Request::new(kind.path(Some(namespace))).list_metadata(&params);
        let body = ask(client, request, kind).await?;
        let read = Read::json(&body, Some(("meta.k8s.io/v1", "PartialObjectMetadata")));
        if read.stopped.is_some() {
            return Err(Trouble::error("the server's answer breaks off or is no JSON".to_owned()));
        }
        names.extend(read.objects.into_iter().map(|object| object.name));
        match read.next {
            Some(token) => params = params.continue_token(&token),
            None => return Ok(names),
        }
    }
}

/// Minor version of the server. `None` when it says nothing that can be understood.
async fn version(client: &Client) -> Result<Option<Minor>, Trouble> {
    const VERSION: Kind = Kind { api_version: "v1", kind: "version", resource: "version", built_in: true };
    let request = Request::new("/version").list(&ListParams::default());
    let body = ask(client, request, &VERSION).await?;
    let text: Value = serde_json::from_slice(&body).unwrap_or_default();
    let part = |name: &str| text.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    Ok(Minor::parse(&format!("{}.{}", part("major"), part("minor"))))
}

fn identity(object: &Listed) -> (&str, &str, &str) {
    (&object.kind, &object.namespace, &object.name)
}

fn gap(kind: &Kind, namespace: Option<String>, trouble: &Trouble) -> Gap {
    Gap { kind: kind.kind.to_owned(), namespace, reason: trouble.reason, message: trouble.message.clone() }
}
