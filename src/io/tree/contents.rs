//! What a tree shall hold: the files of each Database with their digests.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::fs;
use std::io::Read as _;
use std::path::Path;

use sha2::{Digest as _, Sha256};

use super::layout::{Owner, file_name, header};
use super::root::Root;
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

    /// The digest of a text in parts.
    pub(super) fn of_parts(parts: &[&str]) -> Digest {
        let mut digest = Sha256::new();
        parts.iter().for_each(|part| digest.update(part));
        Digest(digest.finalize().into())
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

/// Makes the files of a Database. They are made once to be compared with what is there, and again when they are written:
/// those of ten thousand Databases are more than a machine may have room for.
pub trait Texts {
    /// Gives each object of the Database `<namespace>/<name>` to `take`: kind, name, and the two parts of its text. The
    /// same each time.
    ///
    /// # Errors
    ///
    /// The first error of `take`, which is not called again after it.
    fn each(&mut self, database: &str, take: &mut TakeObject<'_>) -> Result<(), Problem>;
}

/// What is done with an object: kind, name, and the parts of its text.
pub type TakeObject<'a> = dyn FnMut(&str, &str, [&str; 2]) -> Result<(), Problem> + 'a;

/// What is done with a file: its name and the parts of its text.
pub(super) type TakeFile<'a> = dyn FnMut(&str, &[&str]) -> Result<(), Problem> + 'a;

/// Gives each file of a Database to `take`: its name and the parts of its text.
pub(super) fn each_file(texts: &mut dyn Texts, folder: &str, take: &mut TakeFile<'_>) -> Result<(), Problem> {
    let header = header(folder);
    texts.each(folder, &mut |kind, name, [head, tail]| match file_name(kind, name) {
        Some(file) => take(&file, &[&header, head, tail]),
        // It was refused when it was wanted.
        None => Ok(()),
    })
}

/// One file that shall be there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct File {
    pub(super) digest: Digest,
    /// Whether it is there, byte for byte.
    pub(super) stands: bool,
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

    /// Adds a Database.
    pub fn add(&mut self, looked: Looked) {
        self.folders.insert(looked.folder, looked.files);
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

/// The files of a Database: what they shall hold, and which are right as they are.
#[derive(Clone, Debug)]
pub struct Looked {
    folder: String,
    files: BTreeMap<String, File>,
}

/// Looks which files of a Database are right as they are. What they hold is not kept; `buffer` is where files are read.
///
/// # Errors
///
/// The problem when an object's name cannot be a file's, or the Database has the object already.
pub fn look(root: &Root, owner: &Owner, texts: &mut dyn Texts, buffer: &mut Vec<u8>) -> Result<Looked, Problem> {
    let folder = owner.folder();
    let header = header(&folder);
    let place = root.path().join(&folder);
    let mut files = BTreeMap::new();
    let is_there = root.exists() && place.is_dir();
    texts.each(&folder, &mut |kind, name, [head, tail]| {
        let problem = |code, what: &str| {
            let mut problem = Problem::new(code, FieldPath::root(), format!("{kind} {name:?} {what}"));
            problem.subject = Some(folder.clone());
            problem
        };
        let Some(file) = file_name(kind, name) else {
            return Err(problem(Code::InvalidName, "cannot be the name of a file"));
        };
        let parts = [&header, head, tail];
        let stands = is_there && holds(&place.join(&file), &parts, buffer);
        match files.insert(file, File { digest: Digest::of_parts(&parts), stands }) {
            None => Ok(()),
            Some(_) => Err(problem(Code::SameObjectTwice, "would be written twice")),
        }
    })?;
    Ok(Looked { folder, files })
}

/// Whether a file is there that consists of these parts. A link to one is none.
fn holds(path: &Path, parts: &[&str], buffer: &mut Vec<u8>) -> bool {
    let length: usize = parts.iter().map(|part| part.len()).sum();
    let is_file = fs::symlink_metadata(path).is_ok_and(|found| found.is_file() && found.len() == length as u64);
    buffer.clear();
    if !is_file || fs::File::open(path).and_then(|mut file| file.read_to_end(buffer)).is_err() {
        return false;
    }
    let mut rest = buffer.as_slice();
    parts.iter().all(|part| match rest.strip_prefix(part.as_bytes()) {
        Some(behind) => {
            rest = behind;
            true
        }
        None => false,
    }) && rest.is_empty()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::{Digest, Owner, Root, TakeObject, Texts, holds, look};
    use crate::problem::{Code, Problem};

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

    /// Objects of one Database, by kind and name.
    struct Objects<'a>(&'a [(&'a str, &'a str)]);

    impl Texts for Objects<'_> {
        fn each(&mut self, _database: &str, take: &mut TakeObject<'_>) -> Result<(), Problem> {
            self.0.iter().try_for_each(|(kind, name)| take(kind, name, ["a: 1\n", "b: 2\n"]))
        }
    }

    #[test]
    fn an_object_is_refused_the_second_time() {
        let dir = tempfile::tempdir().unwrap();
        let root = Root::to_read(dir.path()).unwrap();
        let owner = Owner::new("demo", "shop").unwrap();
        let look = |objects| {
            let looked = look(&root, &owner, &mut Objects(objects), &mut Vec::new());
            looked.map(|looked| looked.files.len()).map_err(|problem| problem.code)
        };
        assert_eq!(look(&[("Service", "shop"), ("Role", "shop")]), Ok(2));
        assert_eq!(look(&[("Service", "shop"), ("Service", "shop")]), Err(Code::SameObjectTwice));
        assert_eq!(look(&[("Role", "a:b")]), Err(Code::InvalidName));
    }

    #[test]
    fn a_file_stands_when_each_byte_does() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x");
        let holds = |parts: &[&str]| holds(&path, parts, &mut Vec::new());
        assert!(!holds(&[""]));
        fs::write(&path, "abc").unwrap();
        assert!(holds(&["a", "", "bc"]));
        assert!(!holds(&["a", "bd"]) && !holds(&["a", "b"]) && !holds(&["ab", "cd"]));
        assert_eq!(Digest::of_parts(&["a", "", "bc"]), Digest::of(b"abc"));
        let link = dir.path().join("link");
        #[cfg(unix)]
        std::os::unix::fs::symlink(&path, &link).unwrap();
        assert!(!super::holds(&link, &["abc"], &mut Vec::new()));
    }
}
