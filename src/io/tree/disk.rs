//! The few operations that change a tree. A trait, so that a test can stop after each of them.

use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::path::Path;

/// What changes a disk.
pub(super) trait Disk {
    fn create_dir(&mut self, path: &Path) -> io::Result<()>;
    /// Makes a file that was not there, of these parts.
    fn create(&mut self, path: &Path, parts: &[&str]) -> io::Result<()>;
    /// Replaces `to` in one step. A link at `to` is replaced, not followed.
    fn rename(&mut self, from: &Path, to: &Path) -> io::Result<()>;
    fn remove_file(&mut self, path: &Path) -> io::Result<()>;
    /// Removes an empty folder.
    fn remove_dir(&mut self, path: &Path) -> io::Result<()>;
    /// Removes a folder that a run has not finished, with all that is in it. Links in it are not followed.
    fn remove_all(&mut self, path: &Path) -> io::Result<()>;
    /// Returns when everything written before would survive a loss of power.
    fn sync(&mut self, root: &Path) -> io::Result<()>;
}

/// The machine's own.
#[derive(Debug)]
pub(super) struct Machine;

impl Disk for Machine {
    fn create_dir(&mut self, path: &Path) -> io::Result<()> {
        fs::create_dir(path)
    }

    fn create(&mut self, path: &Path, parts: &[&str]) -> io::Result<()> {
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        {
            // Less what the umask takes away: manifests hold no secret, and a colleague has to read them.
            use std::os::unix::fs::OpenOptionsExt as _;
            options.mode(0o644);
        }
        let mut file = options.open(path)?;
        parts.iter().filter(|part| !part.is_empty()).try_for_each(|part| file.write_all(part.as_bytes()))
    }

    fn rename(&mut self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }

    fn remove_file(&mut self, path: &Path) -> io::Result<()> {
        fs::remove_file(path)
    }

    fn remove_dir(&mut self, path: &Path) -> io::Result<()> {
        fs::remove_dir(path)
    }

    fn remove_all(&mut self, path: &Path) -> io::Result<()> {
        fs::remove_dir_all(path)
    }

    // One for the whole tree. An fsync per file takes 14 s for 7,000 files.
    #[cfg(target_os = "linux")]
    fn sync(&mut self, root: &Path) -> io::Result<()> {
        Ok(rustix::fs::syncfs(fs::File::open(root)?)?)
    }

    #[cfg(not(target_os = "linux"))]
    fn sync(&mut self, root: &Path) -> io::Result<()> {
        fs::File::open(root)?.sync_all()
    }
}
