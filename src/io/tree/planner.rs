//! Decides what to write and to remove: a function of what is there and what is wanted.
//!
//! Only files that a lock lists and nobody has changed since are replaced or removed. Anything else in the way is a
//! problem, and then nothing at all is written.

use std::collections::{BTreeMap, BTreeSet};

use super::contents::{File, TakeFile, Texts, Wanted, each_file};
use super::kustomization;
use super::layout::{KUSTOMIZATION, LOCK};
use super::lock::{Broken, Lock};
use super::survey::{Existing, Folder, Found, Listing};
use crate::problem::{Code, FieldPath, Problem, Problems};

/// How far a run may go.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Remove files of Databases that the input does not have.
    pub prune: bool,
    /// Remove the last of them, too.
    pub allow_empty: bool,
    /// Keep a `kustomization.yaml` in each namespace. One that is there already is kept up in any case.
    pub kustomization: bool,
    /// Paths below the root that are overwritten or removed whatever is in them.
    pub force: BTreeSet<String>,
}

/// What a file shall hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Content {
    /// What the Database's object gives.
    Rendered,
    /// This text.
    Text(String),
}

/// What shall be done to one folder.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Change {
    /// Path below the root.
    pub(super) folder: String,
    /// Whether the folder does not exist, so that it can appear as a whole.
    pub(super) fresh: bool,
    /// Contents by file name.
    pub(super) write: BTreeMap<String, Content>,
    pub(super) remove: BTreeSet<String>,
    /// Lock while the files are being replaced: it knows what they held and what they will hold.
    pub(super) interim: Option<String>,
    /// Lock afterwards. `None`: no file of ours is left, and the lock goes.
    pub(super) lock: Option<String>,
}

impl Change {
    /// Gives each file that shall be written to `take`: its name and the parts of its text.
    ///
    /// # Errors
    ///
    /// The first error of `take`; a file that `texts` does not give although it was planned.
    pub(super) fn each_text(&self, texts: &mut dyn Texts, take: &mut TakeFile<'_>) -> Result<(), Problem> {
        let mut rendered = 0;
        for (name, content) in &self.write {
            match content {
                Content::Text(text) => take(name, &[text])?,
                Content::Rendered => rendered += 1,
            }
        }
        if rendered == 0 {
            return Ok(());
        }
        each_file(texts, &self.folder, &mut |name, parts| {
            if self.write.get(name) != Some(&Content::Rendered) {
                return Ok(());
            }
            rendered -= 1;
            take(name, parts)
        })?;
        if rendered == 0 {
            return Ok(());
        }
        // The lock that has been planned would name files that are not there.
        let message = format!("{}: {rendered} files were planned and are not rendered", self.folder);
        Err(Problem::new(Code::Unwritable, FieldPath::root(), message))
    }
}

/// What shall be done to the tree.
#[derive(Clone, Debug, Default)]
pub struct Actions {
    pub(super) databases: Vec<Change>,
    pub(super) namespaces: Vec<Change>,
    pub(super) leftovers: BTreeSet<String>,
    /// Files that are right as they are.
    pub unchanged: usize,
}

impl Actions {
    pub(super) fn changes(&self) -> impl Iterator<Item = &Change> {
        self.databases.iter().chain(&self.namespaces)
    }

    /// Whether every file is right as it is.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.databases.is_empty() && self.namespaces.is_empty()
    }
}

/// What the planner found.
#[derive(Debug)]
pub struct Planned {
    /// What would be done if there were no errors among the problems.
    pub actions: Actions,
    /// Why nothing may be done, and warnings.
    pub problems: Problems,
    /// Forced paths that this run neither writes nor removes.
    pub unused_force: BTreeSet<String>,
}

/// Decides. `shown` turns a path below the root into the user's.
#[must_use]
pub fn plan(existing: &Existing, mut wanted: Wanted, options: &Options, shown: &dyn Fn(&str) -> String) -> Planned {
    let mut planner = Planner {
        options,
        shown,
        actions: Actions { leftovers: existing.leftovers.clone(), ..Actions::default() },
        problems: Problems::new(),
        used: BTreeSet::new(),
        silent: false,
    };
    let folders = std::mem::take(&mut wanted.folders);
    let mut pruned = BTreeSet::new();
    for (path, folder) in &existing.folders {
        let ours = !folder.files.is_empty() || folder.listing != Listing::Absent;
        if folders.contains_key(path) || wanted.known.contains(path) || !ours {
            continue;
        }
        if options.prune {
            pruned.insert(path.clone());
        } else {
            planner.left_behind(path, folder);
        }
    }
    if folders.is_empty() && wanted.known.is_empty() && !pruned.is_empty() && !options.allow_empty {
        planner.would_be_empty(&pruned);
    }
    planner.kustomizations(existing, &folders, &pruned, wanted.scope.as_deref());
    for (path, files) in folders {
        match blocked(existing, &path) {
            Some((place, found)) => {
                planner.blocked(&path, place, found);
                planner.folder(&path, None, files);
            }
            None => planner.folder(&path, existing.folders.get(&path), files),
        }
    }
    for path in &pruned {
        planner.folder(path, existing.folders.get(path), BTreeMap::new());
    }
    planner.actions.databases.sort_by(|a, b| a.folder.cmp(&b.folder));
    let unused_force = options.force.difference(&planner.used).cloned().collect();
    Planned { actions: planner.actions, problems: planner.problems, unused_force }
}

/// A link or file where a folder would have to be.
fn blocked<'a>(existing: &'a Existing, folder: &'a str) -> Option<(&'a str, &'a Found)> {
    let namespace = namespace_of(folder);
    [namespace, folder].into_iter().find_map(|place| Some((place, existing.blocked.get(place)?)))
}

fn namespace_of(folder: &str) -> &str {
    folder.split_once('/').map_or(folder, |(namespace, _)| namespace)
}

struct Planner<'a> {
    options: &'a Options,
    shown: &'a dyn Fn(&str) -> String,
    actions: Actions,
    problems: Problems,
    used: BTreeSet<String>,
    /// Whether the files at hand have been reported already, all in one.
    silent: bool,
}

impl Planner<'_> {
    /// Plans one Database's folder. No files: it is removed. What must not be touched is planned all the same, beside
    /// the problem that keeps the plan from being carried out: so a comparison shows the whole difference.
    fn folder(&mut self, path: &str, existing: Option<&Folder>, files: BTreeMap<String, File>) {
        let fresh = existing.is_none();
        let empty = Folder::default();
        let existing = existing.unwrap_or(&empty);
        let lock = self.lock(path, &existing.listing);
        // Without it every file looks foreign. That has been said in one sentence.
        self.silent = lock.is_none();
        self.change(path, fresh, existing, files, &lock.unwrap_or_default());
        self.silent = false;
    }

    fn change(&mut self, path: &str, fresh: bool, existing: &Folder, files: BTreeMap<String, File>, lock: &Lock) {
        let mut change = Change { folder: path.to_owned(), fresh, ..Change::default() };
        let mut interim = Lock::default();
        let mut last = Lock::default();
        for name in lock.0.keys().filter(|name| !files.contains_key(*name)) {
            let found = existing.files.get(name);
            if let Some(found) = found {
                self.judge_listed(path, name, found, lock);
                change.remove.insert(name.clone());
                interim.0.insert(name.clone(), lock.0[name].clone());
            }
        }
        for (name, file) in files {
            last.list(&name, file.digest);
            interim.list(&name, file.digest);
            let found = existing.files.get(&name);
            // Named, but there may be nothing left to force.
            self.is_forced(path, &name);
            if matches!(found, Some(Found::File { digests, .. }) if digests.first() == Some(&file.digest)) {
                self.actions.unchanged += 1;
                continue;
            }
            if let Some(found) = found {
                self.judge_listed(path, &name, found, lock);
            }
            // What is there now stays known as ours until it has been replaced. What is forced never was.
            if let Some(entry) = lock.0.get(&name) {
                entry.digests.iter().for_each(|digest| interim.list(&name, *digest));
            }
            change.write.insert(name, Content::Rendered);
        }
        let lock_is_right = matches!(&existing.listing, Listing::Is(lock) if *lock == last);
        if lock_is_right && change.write.is_empty() && change.remove.is_empty() {
            return;
        }
        // Removing needs none: what is gone may be listed.
        change.interim = (!fresh && !change.write.is_empty() && *lock != interim).then(|| interim.text());
        change.lock = (!last.0.is_empty()).then(|| last.text());
        self.actions.databases.push(change);
    }

    /// The lock as it can be relied on, or the problem with it.
    fn lock(&mut self, folder: &str, listing: &Listing) -> Option<Lock> {
        let path = format!("{folder}/{LOCK}");
        let (code, what) = match listing {
            Listing::Is(lock) => {
                self.is_forced(folder, LOCK);
                return Some(lock.clone());
            }
            Listing::Absent => return Some(Lock::default()),
            _ if self.is_forced(folder, LOCK) => return Some(Lock::default()),
            Listing::Broken(Broken::Conflict) => (Code::ConflictMarker, "holds a merge conflict".to_owned()),
            Listing::Broken(Broken::Line(line)) => {
                (Code::BrokenLock, format!("cannot be read: line {line} is no line of a lock"))
            }
            Listing::NoFile => (Code::ForeignFile, "is a link or a folder, not our file".to_owned()),
        };
        self.report(code, folder, &path, &what);
        None
    }

    /// Notes the problem when a file that is there and not as wanted may not be replaced or removed.
    fn judge_listed(&mut self, folder: &str, name: &str, found: &Found, lock: &Lock) {
        let listed = lock.0.get(name);
        let ours = |digests: &[super::Digest]| {
            listed.is_some_and(|entry| digests.iter().any(|digest| entry.digests.contains(digest)))
        };
        let unmodified = matches!(found, Found::File { digests, .. } if ours(digests));
        self.judge(folder, name, found, listed.is_some(), unmodified);
    }

    fn judge(&mut self, folder: &str, name: &str, found: &Found, listed: bool, unmodified: bool) {
        let forced = self.is_forced(folder, name);
        let (code, what) = match found {
            Found::Other => (Code::ForeignFile, "is a folder or the like, where a file would be written"),
            _ if forced => return,
            Found::Link => (Code::ForeignFile, "is a link, and links are not followed"),
            Found::File { .. } if unmodified => return,
            Found::File { conflict: true, .. } => (Code::ConflictMarker, "holds a merge conflict"),
            Found::File { .. } if listed => (Code::EditedFile, "was edited by hand"),
            Found::File { .. } => (Code::ForeignFile, "stands in the way and is not listed in dbrender.lock"),
        };
        let path = format!("{folder}/{name}");
        self.report(code, folder, &path, what);
    }

    /// Plans `kustomization.yaml` of each namespace, from what its folders will hold.
    fn kustomizations(
        &mut self,
        existing: &Existing,
        folders: &BTreeMap<String, BTreeMap<String, File>>,
        pruned: &BTreeSet<String>,
        scope: Option<&str>,
    ) {
        // Manifests by namespace: those of this run, and of the Databases that stay in the tree beside them. Those
        // have to be listed too, or the next sync would delete them from the cluster.
        let mut manifests: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
        let path = |folder: &str, name: &str| {
            let database = folder.split_once('/').map_or("", |(_, database)| database);
            format!("{database}/{name}")
        };
        for (folder, files) in folders {
            let of_namespace = manifests.entry(namespace_of(folder)).or_default();
            of_namespace.extend(files.keys().map(|name| path(folder, name)));
        }
        for (folder, kept) in &existing.folders {
            if !folders.contains_key(folder) && !pruned.contains(folder) {
                let of_namespace = manifests.entry(namespace_of(folder)).or_default();
                of_namespace.extend(kept.listing.names().map(|name| path(folder, name)));
                // Without its lock nobody knows what to list, and what is not listed is deleted by the next sync.
                let namespace = existing.namespaces.get(namespace_of(folder));
                if self.options.kustomization || namespace.is_some_and(|n| n.folder.listing != Listing::Absent) {
                    self.lock(folder, &kept.listing);
                }
            }
        }
        let names: BTreeSet<&str> =
            manifests.keys().copied().chain(existing.namespaces.keys().map(String::as_str)).collect();
        for name in names.into_iter().filter(|name| scope.is_none_or(|scope| scope == *name)) {
            if !existing.blocked.contains_key(name) {
                let files = manifests.get(name).filter(|files| !files.is_empty());
                self.kustomization(name, existing, files);
            }
        }
    }

    fn kustomization(&mut self, name: &str, existing: &Existing, files: Option<&BTreeSet<String>>) {
        let absent = super::survey::Namespace::default();
        let namespace = existing.namespaces.get(name).unwrap_or(&absent);
        let found = namespace.folder.files.get(KUSTOMIZATION);
        let has_lock = namespace.folder.listing != Listing::Absent;
        if !self.options.kustomization && !has_lock {
            // None is wanted, and what may be there is not ours.
            return;
        }
        let lock = self.lock(name, &namespace.folder.listing);
        self.silent = lock.is_none();
        let lock = lock.unwrap_or_default();
        let listed = lock.0.get(KUSTOMIZATION).is_some_and(|entry| entry.by_lines);
        let mut change = Change { folder: name.to_owned(), ..Change::default() };
        // Without the flag, one that somebody took away stays away.
        let files = files.filter(|_| self.options.kustomization || found.is_some());
        let text = files.map(|files| kustomization::text(name, files));
        let same = match (&text, found) {
            (Some(text), Some(Found::File { digests, .. })) => {
                digests.first() == Some(&super::Digest::of(text.as_bytes()))
            }
            (None, None) => true,
            _ => false,
        };
        let unmodified = listed && namespace.kustomization_is_ours;
        if let Some(found) = found.filter(|_| !same) {
            self.judge(name, KUSTOMIZATION, found, listed, unmodified);
        }
        self.silent = false;
        // Named, but there may have been nothing left to force.
        self.is_forced(name, KUSTOMIZATION);
        let mut last = Lock::default();
        last.list_by_lines(KUSTOMIZATION);
        match text {
            Some(text) => {
                let lock_is_right = lock == last;
                if same && lock_is_right {
                    self.actions.unchanged += 1;
                    return;
                }
                if !same {
                    change.write.insert(KUSTOMIZATION.to_owned(), Content::Text(text));
                }
                change.interim = (!lock_is_right).then(|| last.text());
                change.lock = Some(last.text());
            }
            None => {
                if !same {
                    change.remove.insert(KUSTOMIZATION.to_owned());
                }
            }
        }
        self.actions.namespaces.push(change);
    }

    fn is_forced(&mut self, folder: &str, name: &str) -> bool {
        let path = format!("{folder}/{name}");
        let forced = self.options.force.contains(&path);
        if forced {
            self.used.insert(path);
        }
        forced
    }

    fn left_behind(&mut self, path: &str, folder: &Folder) {
        let count = folder.listing.names().count();
        let message = format!("{} ({count} files) belongs to no Database of the input", (self.shown)(path));
        let mut problem = Problem::new(Code::LeftBehind, FieldPath::root(), message);
        problem.subject = Some(path.to_owned());
        self.problems.push(problem);
    }

    fn would_be_empty(&mut self, pruned: &BTreeSet<String>) {
        let names: Vec<&str> = pruned.iter().map(String::as_str).collect();
        let message = format!("the input has no Database, and {} would be removed", names.join(", "));
        self.problems.push(Problem::new(Code::WouldBeEmpty, FieldPath::root(), message));
    }

    fn blocked(&mut self, folder: &str, place: &str, found: &Found) {
        let what = match found {
            Found::Link => "is a link, and links are not followed",
            _ => "is no folder",
        };
        self.report(Code::ForeignFile, folder, place, what);
    }

    fn report(&mut self, code: Code, folder: &str, path: &str, what: &str) {
        if self.silent {
            return;
        }
        let mut problem = Problem::new(code, FieldPath::root(), format!("{} {what}", (self.shown)(path)));
        problem.subject = folder.contains('/').then(|| folder.to_owned());
        self.problems.push(problem);
    }
}
