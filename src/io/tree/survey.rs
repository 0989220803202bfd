//! What is in the tree now: locks, and digests of the files that matter to this run. Nothing is changed.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{self, ErrorKind};
use std::path::Path;

use super::contents::{Digest, Wanted};
use super::kustomization;
use super::layout::{KUSTOMIZATION, LOCK, TEMPORARY, is_segment};
use super::lock::{Broken, Lock, has_conflict};
use super::root::Root;
use crate::problem::{Code, FieldPath, Problem, Problems};

/// What stands at the place of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// A file.
    File {
        /// Of its bytes, and of its text with LF for CRLF where it has any: Git may have turned one into the other.
        digests: Vec<Digest>,
        /// Whether Git left conflict markers in it.
        conflict: bool,
    },
    /// A symbolic link. It is never followed.
    Link,
    /// A folder, a pipe or the like.
    Other,
}

/// The lock of a folder.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) enum Listing {
    /// There is none.
    #[default]
    Absent,
    /// It lists these.
    Is(Lock),
    /// It cannot be used.
    Broken(Broken),
    /// It is a link, a folder or the like.
    NoFile,
}

impl Listing {
    pub(super) fn names(&self) -> impl Iterator<Item = &String> {
        match self {
            Listing::Is(lock) => Some(lock.0.keys()),
            _ => None,
        }
        .into_iter()
        .flatten()
    }
}

/// A folder of the tree.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Folder {
    pub(super) listing: Listing,
    /// Wanted or listed files that are there.
    pub(super) files: BTreeMap<String, Found>,
}

/// A namespace's folder.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Namespace {
    pub(super) folder: Folder,
    /// Whether `kustomization.yaml` consists of our lines only, and names no file that is there and not ours.
    pub(super) kustomization_is_ours: bool,
}

/// What a run finds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Existing {
    /// By `<namespace>/<database>`.
    pub(super) folders: BTreeMap<String, Folder>,
    pub(super) namespaces: BTreeMap<String, Namespace>,
    /// Links and files where a folder of this run would be.
    pub(super) blocked: BTreeMap<String, Found>,
    /// What earlier runs that were killed have left.
    pub(super) leftovers: BTreeSet<String>,
}

/// Reads what is there. `prune` says whether files of absent Databases matter too.
///
/// # Errors
///
/// Everything that could not be read.
pub fn survey(root: &Root, wanted: &Wanted, prune: bool) -> Result<Existing, Problems> {
    let mut survey = Survey { root, wanted, prune, found: Existing::default(), problems: Problems::new() };
    if root.exists() {
        survey.root();
    }
    if survey.problems.is_empty() { Ok(survey.found) } else { Err(survey.problems) }
}

struct Survey<'a> {
    root: &'a Root,
    wanted: &'a Wanted,
    prune: bool,
    found: Existing,
    problems: Problems,
}

impl Survey<'_> {
    fn root(&mut self) {
        for (name, kind) in self.entries("") {
            let in_scope = self.wanted.scope.as_ref().is_none_or(|scope| *scope == name);
            match kind {
                _ if name.starts_with(TEMPORARY) => drop(self.found.leftovers.insert(name)),
                Kind::Folder if in_scope && is_segment(&name) => self.namespace(&name),
                Kind::Folder => {}
                // Somebody else's, as long as we want nothing there.
                Kind::File | Kind::Link | Kind::Other => {
                    let prefix = format!("{name}/");
                    if self.wanted.folders.keys().any(|folder| folder.starts_with(&prefix)) {
                        self.found.blocked.insert(name, kind.found());
                    }
                }
            }
        }
    }

    fn namespace(&mut self, name: &str) {
        let mut namespace = Namespace::default();
        let mut kustomization = None;
        for (entry, kind) in self.entries(name) {
            let path = format!("{name}/{entry}");
            match kind {
                _ if entry.starts_with(TEMPORARY) => drop(self.found.leftovers.insert(path)),
                Kind::Folder if is_segment(&entry) => self.folder(path),
                _ if entry == LOCK => namespace.folder.listing = self.listing(&path, kind),
                _ if entry == KUSTOMIZATION => kustomization = Some((path, kind)),
                Kind::File | Kind::Link | Kind::Other if self.wanted.folders.contains_key(&path) => {
                    self.found.blocked.insert(path, kind.found());
                }
                _ => {}
            }
        }
        if let Some((path, kind)) = kustomization {
            let found = match kind {
                Kind::File => self.read(&path).map(|bytes| {
                    namespace.kustomization_is_ours = self.is_ours(name, &bytes);
                    digests(&bytes)
                }),
                other => Some(other.found()),
            };
            namespace.folder.files.extend(found.map(|found| (KUSTOMIZATION.to_owned(), found)));
        }
        self.found.namespaces.insert(name.to_owned(), namespace);
    }

    /// Whether a `kustomization.yaml` has only our lines. A line may name a file that is gone; one that names a
    /// file of somebody else was put there by hand.
    fn is_ours(&self, namespace: &str, bytes: &[u8]) -> bool {
        let Some(files) = std::str::from_utf8(bytes).ok().and_then(|text| kustomization::resources(namespace, text))
        else {
            return false;
        };
        files.iter().all(|path| {
            let Some((database, file)) = path.split_once('/') else { return false };
            let folder = format!("{namespace}/{database}");
            let wanted = self.wanted.folders.get(&folder).is_some_and(|files| files.contains_key(file));
            let listed = self.found.folders.get(&folder).is_some_and(|f| f.listing.names().any(|name| name == file));
            wanted || listed || fs::symlink_metadata(self.root.path().join(&folder).join(file)).is_err()
        })
    }

    fn folder(&mut self, path: String) {
        let wanted = self.wanted.folders.get(&path);
        let known = self.wanted.known.contains(&path);
        let mut present = BTreeMap::new();
        let mut folder = Folder::default();
        for (name, kind) in self.entries(&path) {
            if name.starts_with(TEMPORARY) {
                self.found.leftovers.insert(format!("{path}/{name}"));
            } else if name == LOCK {
                folder.listing = self.listing(&format!("{path}/{name}"), kind);
            } else {
                present.insert(name, kind);
            }
        }
        if wanted.is_none() && folder.listing == Listing::Absent {
            // A folder of somebody else.
            return;
        }
        if wanted.is_some() || (self.prune && !known) {
            let listed: BTreeSet<String> = folder.listing.names().cloned().collect();
            for (name, kind) in present {
                let file = wanted.and_then(|files| files.get(&name));
                if file.is_none() && !listed.contains(&name) {
                    continue;
                }
                let found = match kind {
                    Kind::File => match file.filter(|file| file.stands) {
                        Some(file) => Some(Found::File { digests: vec![file.digest], conflict: false }),
                        None => self.read(&format!("{path}/{name}")).map(|bytes| digests(&bytes)),
                    },
                    other => Some(other.found()),
                };
                folder.files.extend(found.map(|found| (name, found)));
            }
        }
        self.found.folders.insert(path, folder);
    }

    fn listing(&mut self, path: &str, kind: Kind) -> Listing {
        if kind != Kind::File {
            return Listing::NoFile;
        }
        let Some(bytes) = self.read(path) else { return Listing::Absent };
        match std::str::from_utf8(&bytes).map(Lock::parse) {
            Ok(Ok(lock)) => Listing::Is(lock),
            Ok(Err(broken)) => Listing::Broken(broken),
            Err(_) => Listing::Broken(Broken::Line(1)),
        }
    }

    fn read(&mut self, relative: &str) -> Option<Vec<u8>> {
        fs::read(self.root.path().join(relative)).map_err(|error| self.unreadable(relative, &error)).ok()
    }

    /// Names and kinds in a folder, by name. Names that are no UTF-8 are nobody's that we know.
    fn entries(&mut self, relative: &str) -> Vec<(String, Kind)> {
        match entries(&self.root.path().join(relative)) {
            Ok(entries) => entries,
            Err(error) => {
                self.unreadable(relative, &error);
                Vec::new()
            }
        }
    }

    fn unreadable(&mut self, relative: &str, error: &io::Error) {
        // Gone since its folder was listed: somebody is at work there, and it is absent now.
        if error.kind() != ErrorKind::NotFound {
            let message = format!("cannot read {}: {}", self.root.shown(relative), crate::io::reason(error));
            self.problems.push(Problem::new(Code::Unreadable, FieldPath::root(), message));
        }
    }
}

fn digests(bytes: &[u8]) -> Found {
    let mut digests = vec![Digest::of(bytes)];
    if bytes.contains(&b'\r') {
        let mut text = Vec::with_capacity(bytes.len());
        for (position, byte) in bytes.iter().enumerate() {
            if *byte != b'\r' || bytes.get(position + 1) != Some(&b'\n') {
                text.push(*byte);
            }
        }
        digests.push(Digest::of(&text));
    }
    Found::File { digests, conflict: has_conflict(bytes) }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    File,
    Folder,
    Link,
    Other,
}

impl Kind {
    fn found(self) -> Found {
        match self {
            Kind::File => Found::File { digests: Vec::new(), conflict: false },
            Kind::Link => Found::Link,
            Kind::Folder | Kind::Other => Found::Other,
        }
    }
}

fn entries(path: &Path) -> io::Result<Vec<(String, Kind)>> {
    let mut entries = Vec::new();
    for entry in fs::read_dir(path)? {
        let entry = entry?;
        let Ok(name) = entry.file_name().into_string() else { continue };
        let kind = entry.file_type()?;
        let kind = if kind.is_symlink() {
            Kind::Link
        } else if kind.is_dir() {
            Kind::Folder
        } else if kind.is_file() {
            Kind::File
        } else {
            Kind::Other
        };
        entries.push((name, kind));
    }
    entries.sort_unstable_by(|a, b| a.0.cmp(&b.0));
    Ok(entries)
}
