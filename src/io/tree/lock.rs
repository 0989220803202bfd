//! `dbrender.lock`: which files of a folder are ours, and what was in them when we wrote them.
//!
//! One line per file, as `sha256sum` writes it. While a run replaces files, a name has two lines, the old digest and
//! the new one, so that whatever a kill leaves is known to be ours. `kustomization.yaml` has the word `lines` instead
//! of a digest: it is ours as long as each line is one that we write, because two branches that add a Database each
//! are merged line by line.

use std::collections::{BTreeMap, BTreeSet};

use super::contents::Digest;
use super::layout::is_segment;

const HEAD: &str = "# Files that dbrender owns in this folder, with their SHA-256. Do not edit.\n";
const LINES: &str = "lines";

/// What a lock says about one file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Entry {
    /// Contents that we have written or were about to write.
    pub(super) digests: BTreeSet<Digest>,
    /// Whether the file is recognised by its lines.
    pub(super) by_lines: bool,
}

/// The files that a folder's lock lists.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Lock(pub(super) BTreeMap<String, Entry>);

/// Why a lock cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Broken {
    /// Git left its conflict markers in it.
    Conflict,
    /// A line, counted from 1, is no line of a lock.
    Line(usize),
}

impl Lock {
    pub(super) fn parse(text: &str) -> Result<Lock, Broken> {
        let mut lock = Lock::default();
        for (number, line) in text.lines().enumerate() {
            // A checkout may have turned LF into CRLF.
            let line = line.trim_end_matches('\r');
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let broken = || if has_conflict(text.as_bytes()) { Broken::Conflict } else { Broken::Line(number + 1) };
            let (seal, name) = line.split_once("  ").ok_or_else(broken)?;
            if !is_segment(name) {
                return Err(broken());
            }
            let entry = lock.0.entry(name.to_owned()).or_default();
            match Digest::parse(seal) {
                Some(digest) => {
                    entry.digests.insert(digest);
                }
                None if seal == LINES => entry.by_lines = true,
                None => return Err(broken()),
            }
        }
        Ok(lock)
    }

    pub(super) fn list(&mut self, name: &str, digest: Digest) {
        self.0.entry(name.to_owned()).or_default().digests.insert(digest);
    }

    pub(super) fn list_by_lines(&mut self, name: &str) {
        self.0.entry(name.to_owned()).or_default().by_lines = true;
    }

    pub(super) fn text(&self) -> String {
        let mut text = HEAD.to_owned();
        for (name, entry) in &self.0 {
            let digests = entry.digests.iter().map(Digest::to_string);
            for seal in digests.chain(entry.by_lines.then(|| LINES.to_owned())) {
                text.push_str(&seal);
                text.push_str("  ");
                text.push_str(name);
                text.push('\n');
            }
        }
        text
    }
}

/// Names that a lock's text lists; none of a lock that cannot be read. For a walk that must not take our own output
/// for input.
#[must_use]
pub fn listed_files(text: &str) -> BTreeSet<String> {
    Lock::parse(text).map(|lock| lock.0.into_keys().collect()).unwrap_or_default()
}

/// Whether Git left its conflict markers in a text: a line of each of the three kinds that every conflict has.
pub(super) fn has_conflict(bytes: &[u8]) -> bool {
    let mut open = false;
    let mut middle = false;
    for line in bytes.split(|b| *b == b'\n') {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if line.starts_with(b"<<<<<<< ") {
            open = true;
        } else if open && line == b"=======" {
            middle = true;
        } else if middle && line.starts_with(b">>>>>>> ") {
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::{Broken, Digest, Lock, has_conflict, listed_files};

    #[test]
    fn is_read_back_as_it_was_written() {
        let mut lock = Lock::default();
        lock.list("service-shop.yaml", Digest::of(b"a"));
        lock.list("service-shop.yaml", Digest::of(b"b"));
        lock.list("role-shop.yaml", Digest::of(b"c"));
        lock.list_by_lines("kustomization.yaml");
        let text = lock.text();
        assert_eq!(Lock::parse(&text), Ok(lock.clone()));
        assert_eq!(Lock::parse(&text.replace('\n', "\r\n")), Ok(lock));
        assert_eq!(listed_files(&text).len(), 3);
    }

    #[test]
    fn a_line_that_is_none_is_found() {
        let good = format!("{}  a.yaml\n", Digest::of(b""));
        assert!(Lock::parse(&good).is_ok());
        for bad in
            ["abc  a.yaml", "../x", &format!("{}  ../x", Digest::of(b"")), &format!("{} a.yaml", Digest::of(b""))]
        {
            assert_eq!(Lock::parse(&format!("{good}{bad}\n")), Err(Broken::Line(2)), "{bad}");
        }
        let conflict = format!("<<<<<<< ours\n{good}=======\n>>>>>>> theirs\n");
        assert_eq!(Lock::parse(&conflict), Err(Broken::Conflict));
    }

    #[test]
    fn a_heading_underlined_with_equals_is_no_conflict() {
        assert!(!has_conflict(b"Title\n=======\n"));
        assert!(!has_conflict(b"<<<<<<< here\n"));
        assert!(has_conflict(b"x\n<<<<<<< HEAD\na\n=======\nb\n>>>>>>> other\n"));
        assert!(has_conflict(b"<<<<<<< HEAD\r\na\r\n=======\r\nb\r\n>>>>>>> other\r\n"));
    }
}
