//! New files beside those of somebody else: nothing that is there is ever changed.

use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Write as _};
use std::path::Path;
use std::process::Command;

use super::reason;
use crate::problem::{Code, FieldPath, Problem};

/// What became of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Made {
    /// It was written.
    Written,
    /// There is one of this name, with this text.
    Same,
    /// There is one of this name, and it was left as it is.
    Left,
}

/// Writes a file below `root`, with the folders above it, unless there is something of its name.
///
/// # Errors
///
/// The problem that the file cannot be written.
pub fn write_new(root: &Path, name: &str, text: &str) -> Result<Made, Problem> {
    let path = root.join(name);
    let unwritten = |error: std::io::Error| {
        Problem::new(
            Code::Unwritable,
            FieldPath::root(),
            format!("cannot write {}: {}", path.display(), reason(&error)),
        )
    };
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(unwritten)?;
    }
    // It fails too where the name is a link, whatever that points to.
    match OpenOptions::new().write(true).create_new(true).open(&path) {
        Ok(mut file) => {
            file.write_all(text.as_bytes()).map_err(unwritten)?;
            Ok(Made::Written)
        }
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            let same = fs::read(&path).is_ok_and(|bytes| bytes == text.as_bytes());
            Ok(if same { Made::Same } else { Made::Left })
        }
        Err(error) => Err(unwritten(error)),
    }
}

/// Whether a folder is there and has something in it.
#[must_use]
pub fn has_files(folder: &Path) -> bool {
    fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_some())
}

/// Where the remote `origin` of the Git repository around a folder is. `None`: there is no Git, no repository or no remote.
#[must_use]
pub fn origin(folder: &Path) -> Option<String> {
    let output = Command::new("git").arg("-C").arg(folder).args(["remote", "get-url", "origin"]).output().ok()?;
    let url = String::from_utf8(output.stdout).ok()?.trim().to_owned();
    (output.status.success() && !url.is_empty()).then_some(url)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::{Made, write_new};

    #[test]
    fn what_is_there_stays_whatever_it_is() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(write_new(dir.path(), "a/b.yaml", "x\n"), Ok(Made::Written));
        assert_eq!(write_new(dir.path(), "a/b.yaml", "x\n"), Ok(Made::Same));
        assert_eq!(write_new(dir.path(), "a/b.yaml", "y\n"), Ok(Made::Left));
        assert_eq!(fs::read_to_string(dir.path().join("a/b.yaml")).unwrap(), "x\n");
        let elsewhere = dir.path().join("elsewhere");
        std::os::unix::fs::symlink(&elsewhere, dir.path().join("link")).unwrap();
        assert_eq!(write_new(dir.path(), "link", "x\n"), Ok(Made::Left));
        assert!(!elsewhere.exists());
        fs::write(dir.path().join("file"), "").unwrap();
        assert!(write_new(dir.path(), "file/under", "x\n").unwrap_err().message.contains("cannot write"));
    }
}
