//! Carries out what was planned, so that a kill at any moment leaves whole files and a tree that a next run repairs.
//!
//! First everything new is written under temporary names: a full disk shows here, and the tree is as it was. Then come
//! renames and removals only, in this order: locks that know old and new contents, the files, new folders as wholes,
//! the lists of files, removals, and at last the locks of the new state.

use std::collections::BTreeSet;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use super::contents::Texts;
use super::disk::{Disk, Machine};
use super::layout::{LOCK, TEMPORARY};
use super::planner::{Actions, Change};
use super::root::{Root, cannot};
use crate::problem::Problem;

/// What was done.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Done {
    /// Files written, below the root.
    pub written: Vec<String>,
    /// Files removed, below the root.
    pub removed: Vec<String>,
}

/// Changes the tree. `texts` gives what was planned.
///
/// # Errors
///
/// The first operation that failed. Every file is whole then, old or new, and the next run goes on from there.
pub fn write(root: &Root, actions: &Actions, texts: &mut dyn Texts) -> Result<Done, Problem> {
    write_with(&mut Machine, root.path(), actions, texts)
}

/// The same on any disk.
pub(super) fn write_with(
    disk: &mut dyn Disk,
    root: &Path,
    actions: &Actions,
    texts: &mut dyn Texts,
) -> Result<Done, Problem> {
    Writer { root, disk, count: 0, waste: Vec::new() }.run(actions, texts)
}

/// What stands ready under a temporary name.
struct Staged {
    temporary: PathBuf,
    target: PathBuf,
}

/// Everything of one change that stands ready.
#[derive(Default)]
struct Stage {
    folder: Option<Staged>,
    interim: Option<Staged>,
    files: Vec<Staged>,
    lock: Option<Staged>,
}

struct Writer<'a> {
    root: &'a Path,
    disk: &'a mut dyn Disk,
    count: usize,
    /// Temporary names and new folders, to be taken away when a later step fails.
    waste: Vec<PathBuf>,
}

impl Writer<'_> {
    fn run(mut self, actions: &Actions, texts: &mut dyn Texts) -> Result<Done, Problem> {
        self.clean(&actions.leftovers)?;
        if actions.is_empty() {
            return Ok(Done::default());
        }
        let staged = self.stage_all(actions, texts);
        let result = staged.and_then(|stages| self.put_in_place(actions, stages));
        if result.is_err() {
            // As far as it goes: what cannot be taken away now is taken away by the next run.
            for path in std::mem::take(&mut self.waste).into_iter().rev() {
                let _ = self.disk.remove_file(&path).or_else(|_| self.disk.remove_dir(&path));
            }
        }
        result?;
        self.disk.sync(self.root).map_err(|e| cannot("write to disk what is in", self.root, &e))?;
        let mut done = Done::default();
        for change in actions.changes() {
            let path = |name: &String| format!("{}/{name}", change.folder);
            done.written.extend(change.write.keys().map(path));
            done.removed.extend(change.remove.iter().map(path));
        }
        Ok(done)
    }

    fn clean(&mut self, leftovers: &BTreeSet<String>) -> Result<(), Problem> {
        for leftover in leftovers {
            let path = self.root.join(leftover);
            let file = gone_is_fine(self.disk.remove_file(&path));
            file.or_else(|_| gone_is_fine(self.disk.remove_all(&path))).map_err(|e| cannot("remove", &path, &e))?;
        }
        Ok(())
    }

    fn stage_all(&mut self, actions: &Actions, texts: &mut dyn Texts) -> Result<Vec<Stage>, Problem> {
        actions.changes().map(|change| self.stage(change, texts)).collect()
    }

    fn stage(&mut self, change: &Change, texts: &mut dyn Texts) -> Result<Stage, Problem> {
        let target = self.root.join(&change.folder);
        let mut stage = Stage::default();
        if change.fresh {
            let namespace = target.parent().unwrap_or(self.root).to_owned();
            self.folder_if_absent(&namespace)?;
            let temporary = self.temporary(&namespace);
            self.disk.create_dir(&temporary).map_err(|e| cannot("make the folder", &temporary, &e))?;
            self.waste.push(temporary.clone());
            change.each_text(texts, &mut |name, parts| self.create(&temporary.join(name), parts))?;
            if let Some(lock) = &change.lock {
                self.create(&temporary.join(LOCK), &[lock])?;
            }
            stage.folder = Some(Staged { temporary, target });
            return Ok(stage);
        }
        if !change.write.is_empty() || change.lock.is_some() {
            self.folder_if_absent(&target)?;
        }
        let mut ready = |name: &str, parts: &[&str]| {
            let staged = Staged { temporary: self.temporary(&target), target: target.join(name) };
            self.create(&staged.temporary, parts).map(|()| staged)
        };
        stage.interim = change.interim.as_deref().map(|text| ready(LOCK, &[text])).transpose()?;
        change.each_text(texts, &mut |name, parts| {
            stage.files.push(ready(name, parts)?);
            Ok(())
        })?;
        let last = change.lock.as_deref().filter(|text| change.interim.as_deref() != Some(*text));
        stage.lock = last.map(|text| ready(LOCK, &[text])).transpose()?;
        Ok(stage)
    }

    fn put_in_place(&mut self, actions: &Actions, mut stages: Vec<Stage>) -> Result<(), Problem> {
        // Databases come before namespaces in both, so a list of files names only what is there already.
        for stage in &mut stages {
            let first =
                stage.interim.take().into_iter().chain(std::mem::take(&mut stage.files)).chain(stage.folder.take());
            for staged in first {
                self.rename(&staged)?;
            }
        }
        // Backwards: a list of files goes before the files that it names.
        let mut rest: Vec<_> = actions.changes().zip(&mut stages).collect();
        rest.reverse();
        for (change, stage) in rest {
            let folder = self.root.join(&change.folder);
            for name in &change.remove {
                self.remove(&folder.join(name))?;
            }
            match (&change.lock, stage.lock.take()) {
                (Some(_), Some(staged)) => self.rename(&staged)?,
                (Some(_), None) => {}
                (None, _) => self.remove(&folder.join(LOCK))?,
            }
        }
        // Namespaces last: their folders are empty only when those of their Databases are gone.
        for change in actions.changes().filter(|change| change.lock.is_none()) {
            let folder = self.root.join(&change.folder);
            // A folder that holds somebody else's files stays.
            for empty in
                [Some(folder.as_path()), folder.parent().filter(|parent| *parent != self.root)].into_iter().flatten()
            {
                let _ = self.disk.remove_dir(empty);
            }
        }
        Ok(())
    }

    fn folder_if_absent(&mut self, path: &Path) -> Result<(), Problem> {
        if path.is_dir() {
            return Ok(());
        }
        self.disk.create_dir(path).map_err(|e| cannot("make the folder", path, &e))?;
        self.waste.push(path.to_owned());
        Ok(())
    }

    fn temporary(&mut self, folder: &Path) -> PathBuf {
        self.count += 1;
        folder.join(format!("{TEMPORARY}{}-{}", std::process::id(), self.count))
    }

    fn create(&mut self, path: &Path, parts: &[&str]) -> Result<(), Problem> {
        self.waste.push(path.to_owned());
        self.disk.create(path, parts).map_err(|e| cannot("write", path, &e))
    }

    fn rename(&mut self, staged: &Staged) -> Result<(), Problem> {
        self.disk.rename(&staged.temporary, &staged.target).map_err(|e| cannot("replace", &staged.target, &e))
    }

    fn remove(&mut self, path: &Path) -> Result<(), Problem> {
        gone_is_fine(self.disk.remove_file(path)).map_err(|e| cannot("remove", path, &e))
    }
}

fn gone_is_fine(result: io::Result<()>) -> io::Result<()> {
    match result {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        other => other,
    }
}
