//! The folder that a tree is written to, held against a second run.

use std::fs::{self, File, TryLockError};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use crate::problem::{Code, FieldPath, Problem, Severity};

/// The root of a tree. As long as it lives, no other run writes to the tree: the lock is on the folder itself, leaves
/// no file behind, and goes with the process that holds it.
#[derive(Debug)]
pub struct Root {
    path: PathBuf,
    shown: String,
    exists: bool,
    created: bool,
    _lock: Option<File>,
}

impl Root {
    /// Opens the root to write to it; makes the folder when it is absent. The second value is a warning for the user.
    ///
    /// # Errors
    ///
    /// The folder cannot be made or read, is no folder, or another run is at work in it.
    pub fn to_write(dir: &Path) -> Result<(Root, Option<Problem>), Problem> {
        let created = !dir.exists();
        fs::create_dir_all(dir).map_err(|e| cannot("make the folder", dir, &e))?;
        let mut root = Root::open(dir)?;
        root.created = created;
        let handle = File::open(&root.path).map_err(|e| cannot("open", dir, &e))?;
        match handle.try_lock() {
            Ok(()) => root._lock = Some(handle),
            Err(TryLockError::WouldBlock) => return Err(busy(dir)),
            // Some network file systems lock nothing that is open for reading only. They are used, and the user told.
            Err(TryLockError::Error(error)) => return Ok((root, Some(unlocked(dir, &error)))),
        }
        Ok((root, None))
    }

    /// Opens the root to compare with it. An absent folder is an empty tree.
    ///
    /// # Errors
    ///
    /// The folder cannot be read, is no folder, or another run is writing to it.
    pub fn to_read(dir: &Path) -> Result<Root, Problem> {
        if let Err(error) = fs::symlink_metadata(dir)
            && error.kind() == ErrorKind::NotFound
        {
            return Ok(Root { path: dir.to_owned(), shown: shown(dir), exists: false, created: false, _lock: None });
        }
        let mut root = Root::open(dir)?;
        let handle = File::open(&root.path).map_err(|e| cannot("open", dir, &e))?;
        match handle.try_lock_shared() {
            Ok(()) => root._lock = Some(handle),
            Err(TryLockError::WouldBlock) => return Err(busy(dir)),
            Err(TryLockError::Error(_)) => {}
        }
        Ok(root)
    }

    fn open(dir: &Path) -> Result<Root, Problem> {
        let path = fs::canonicalize(dir).map_err(|e| cannot("open", dir, &e))?;
        if !path.is_dir() {
            let message = format!("{} is no folder", shown(dir));
            return Err(
                Problem::new(Code::Unwritable, FieldPath::root(), message).with_hint("name a folder with --output-dir")
            );
        }
        Ok(Root { path, shown: shown(dir), exists: true, created: false, _lock: None })
    }

    /// The folder, without links in its path.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// A path below the root as the user would type it, with `/` on every system.
    #[must_use]
    pub fn shown(&self, relative: &str) -> String {
        match self.shown.as_str() {
            "." => relative.to_owned(),
            root => format!("{}/{relative}", root.trim_end_matches('/')),
        }
    }

    /// Whether the folder is there.
    #[must_use]
    pub fn exists(&self) -> bool {
        self.exists
    }

    /// The path below the root that a user's path means: from the current directory, or else from the root. `None`
    /// when it lies outside.
    #[must_use]
    pub fn relative(&self, path: &Path) -> Option<String> {
        let from_here = path.parent().zip(path.file_name()).and_then(|(parent, file)| {
            let parent = if parent.as_os_str().is_empty() { Path::new(".") } else { parent };
            Some(fs::canonicalize(parent).ok()?.join(file))
        });
        let below = from_here.as_deref().and_then(|p| p.strip_prefix(&self.path).ok()).or_else(|| {
            let plain = path.components().all(|c| matches!(c, std::path::Component::Normal(_)));
            plain.then_some(path)
        })?;
        let steps: Option<Vec<&str>> = below.components().map(|c| c.as_os_str().to_str()).collect();
        steps.filter(|s| !s.is_empty()).map(|s| s.join("/"))
    }

    /// Takes an empty folder away again that this run made and has no use for.
    pub fn abandon(self) {
        if self.created {
            // It stays when it is not empty, which is what we want then.
            let _ = fs::remove_dir(&self.path);
        }
    }
}

fn shown(dir: &Path) -> String {
    let text = dir.to_string_lossy().replace('\\', "/");
    match text.strip_prefix("./") {
        Some(rest) if !rest.is_empty() => rest.to_owned(),
        _ => text,
    }
}

/// The problem of a failed operation on the tree.
pub(super) fn cannot(what: &str, path: &Path, error: &std::io::Error) -> Problem {
    let message = format!("cannot {what} {}: {}", shown(path), crate::io::reason(error));
    Problem::new(Code::Unwritable, FieldPath::root(), message)
}

fn busy(dir: &Path) -> Problem {
    let message = format!("another run of dbrender is at work in {}", shown(dir));
    Problem::new(Code::Unwritable, FieldPath::root(), message).with_hint("wait until it has ended, then render again")
}

fn unlocked(dir: &Path, error: &std::io::Error) -> Problem {
    let message = format!("{} cannot be locked against a second run: {}", shown(dir), crate::io::reason(error));
    let mut problem = Problem::new(Code::Unwritable, FieldPath::root(), message);
    problem.severity = Severity::Warning;
    problem.with_hint("make sure that no other run writes there at the same time")
}
