//! What a tree shall hold: the files of each Database with their digests.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use sha2::{Digest as _, Sha256};

use super::layout::{Owner, file_name};
use crate::problem::{Code, FieldPath, Problem};

/// SHA-256 of a file's bytes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Digest([u8; 32]);

impl Digest {
    /// The digest of some bytes.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Digest {
        Digest(Sha256::digest(bytes).into())
    }

    /// From 64 hexadecimal digits in lower case, as `sha256sum` prints them.
    pub(super) fn parse(text: &str) -> Option<Digest> {
        let digit = |byte: u8| match byte {
            b'0'..=b'9' => Some(byte - b'0'),
            b'a'..=b'f' => Some(byte - b'a' + 10),
            _ => None,
        };
        let bytes = text.as_bytes();
        if bytes.len() != 64 {
            return None;
        }
        let mut digest = [0; 32];
        for (out, pair) in digest.iter_mut().zip(bytes.chunks_exact(2)) {
            *out = digit(pair[0])? << 4 | digit(pair[1])?;
        }
        Some(Digest(digest))
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

/// One file that shall be there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct File {
    pub(super) text: String,
    pub(super) digest: Digest,
}

impl File {
    pub(super) fn new(text: String) -> File {
        File { digest: Digest::of(text.as_bytes()), text }
    }
}

/// What the tree shall hold after the run, by folder and file name.
#[derive(Clone, Debug, Default)]
pub struct Wanted {
    pub(super) folders: BTreeMap<String, BTreeMap<String, File>>,
    /// Folders of Databases that the input has and this run does not render; they are neither removed nor reported.
    pub(super) known: BTreeSet<String>,
    /// The only namespace that this run speaks about. `None`: all of them.
    pub(super) scope: Option<String>,
}

impl Wanted {
    /// An empty tree, of one namespace or of all.
    #[must_use]
    pub fn new(scope: Option<&str>) -> Wanted {
        Wanted { scope: scope.map(str::to_owned), ..Wanted::default() }
    }

    /// Adds one object of a Database. `body` is appended to the header line and gives the object's YAML.
    ///
    /// # Errors
    ///
    /// The problem when the object's name cannot be a file's, or the Database has had this object already.
    pub fn add(
        &mut self,
        owner: &Owner,
        kind: &str,
        name: &str,
        body: impl FnOnce(&mut String),
    ) -> Result<(), Problem> {
        let problem = |code, what: &str| {
            let mut problem = Problem::new(code, FieldPath::root(), format!("{kind} {name:?} {what}"));
            problem.subject = Some(owner.folder());
            problem
        };
        let Some(file) = file_name(kind, name) else {
            return Err(problem(Code::InvalidName, "cannot be the name of a file"));
        };
        let mut text = owner.header();
        body(&mut text);
        match self.folders.entry(owner.folder()).or_default().insert(file, File::new(text)) {
            None => Ok(()),
            Some(_) => Err(problem(Code::SameObjectTwice, "would be written twice")),
        }
    }

    /// Names a Database that the input has and this run does not render, because a selector leaves it out.
    pub fn leave(&mut self, owner: &Owner) {
        self.known.insert(owner.folder());
    }

    /// Whether the run has no Database at all.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.folders.is_empty() && self.known.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::{Digest, Owner, Wanted};
    use crate::problem::Code;

    #[test]
    fn a_digest_is_written_as_sha256sum_writes_it() {
        let digest = Digest::of(b"");
        let text = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        assert_eq!(digest.to_string(), text);
        assert_eq!(Digest::parse(text), Some(digest));
        assert_eq!(Digest::parse(&text.to_uppercase()), None);
        assert_eq!(Digest::parse(&text[1..]), None);
        assert_eq!(Digest::parse(&format!("{}é", &text[2..])), None);
    }

    #[test]
    fn an_object_is_refused_the_second_time() {
        let owner = Owner::new("demo", "shop").unwrap();
        let mut wanted = Wanted::new(None);
        assert!(wanted.add(&owner, "Service", "shop", |_| {}).is_ok());
        assert_eq!(wanted.add(&owner, "Service", "shop", |_| {}).unwrap_err().code, Code::SameObjectTwice);
        assert_eq!(wanted.add(&owner, "Role", "a:b", |_| {}).unwrap_err().code, Code::InvalidName);
    }
}
