//! Files of a commit, laid out in a temporary folder. Nothing in the repository is changed.

use std::ffi::OsStr;
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::{Component, Path, PathBuf};
use std::process::{Command, Stdio};

use super::inputs::ENDINGS;
use super::{PLATFORM_FILE, tree};
use crate::problem::{Code, FieldPath, Problem};

/// The files of a commit that a run may read.
#[derive(Debug)]
pub struct Commit {
    /// Removed with the value.
    folder: tempfile::TempDir,
    /// The current folder, as a path below the root of the repository.
    here: PathBuf,
    /// The root of the repository.
    root: PathBuf,
    /// The commit, shortened.
    pub id: String,
}

impl Commit {
    /// Lays out the files of `reference` that may be Databases or platform files.
    ///
    /// # Errors
    /// When there is no git, no repository or no such commit here. In a shallow clone the hint is the command that
    /// fetches it.
    pub fn check_out(reference: &str) -> Result<Commit, Problem> {
        let root = PathBuf::from(line(&["rev-parse", "--show-toplevel"])?);
        let here = PathBuf::from(line(&["rev-parse", "--show-prefix"])?);
        let wanted = format!("{reference}^{{commit}}");
        let id = match git(&["rev-parse", "--verify", "--quiet", "--end-of-options", &wanted]) {
            Ok(id) => id.trim_end().to_owned(),
            Err(Failed::Refused(_)) => return Err(no_commit(reference)),
            Err(failed) => return Err(failed.into()),
        };
        let folder =
            tempfile::tempdir().map_err(|error| trouble(&format!("cannot make a temporary folder: {error}")))?;
        // A repository of its own, so that the search for a platform file ends where it does in the real one.
        fs::create_dir(folder.path().join(".git")).map_err(|error| unwritten(&error))?;
        lay_out(&files(&id)?, folder.path())?;
        let id = line(&["rev-parse", "--short", &id]).unwrap_or(id);
        Ok(Commit { folder, here, root, id })
    }

    /// The current folder in the commit.
    #[must_use]
    pub fn here(&self) -> PathBuf {
        self.folder.path().join(&self.here)
    }

    /// Where the commit has a path, whether or not anything is there. `None`: it is outside of the repository.
    #[must_use]
    pub fn path(&self, path: &Path) -> Option<PathBuf> {
        let inside = if path.is_absolute() {
            let whole = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
            whole.strip_prefix(fs::canonicalize(&self.root).ok()?).ok()?.to_owned()
        } else {
            self.here.join(path)
        };
        let mut plain = PathBuf::new();
        for part in inside.components() {
            match part {
                Component::Normal(name) => plain.push(name),
                Component::CurDir => {}
                Component::ParentDir if plain.pop() => {}
                Component::ParentDir | Component::RootDir | Component::Prefix(_) => return None,
            }
        }
        Some(self.folder.path().join(plain))
    }

    /// A text that names files of the folder, as it reads for people: paths below the current folder, after the commit.
    #[must_use]
    pub fn in_words(&self, text: &str, reference: &str) -> String {
        let here = self.here().to_string_lossy().into_owned();
        let root = self.folder.path().to_string_lossy().into_owned();
        let text = text.replace(&format!("{}/", here.trim_end_matches('/')), &format!("{reference}:"));
        text.replace(&format!("{root}/"), &format!("{reference}:/"))
    }
}

struct Blob {
    object: String,
    path: PathBuf,
}

/// Regular files that could matter: links are no inputs, and other endings are not looked at in a folder.
fn files(commit: &str) -> Result<Vec<Blob>, Problem> {
    let listing = git_bytes(&["ls-tree", "-r", "-z", "--full-tree", commit])?;
    let mut blobs = Vec::new();
    for entry in listing.split(|byte| *byte == 0).filter(|entry| !entry.is_empty()) {
        let Some(tab) = entry.iter().position(|byte| *byte == b'\t') else { continue };
        let head = String::from_utf8_lossy(&entry[..tab]).into_owned();
        let fields: Vec<&str> = head.split(' ').collect();
        let [mode, "blob", object] = fields.as_slice() else { continue };
        let path = path_of(&entry[tab + 1..]);
        if mode.starts_with("100") && may_matter(&path) {
            blobs.push(Blob { object: (*object).to_owned(), path });
        }
    }
    Ok(blobs)
}

#[cfg(unix)]
fn path_of(bytes: &[u8]) -> PathBuf {
    use std::os::unix::ffi::OsStrExt as _;
    PathBuf::from(OsStr::from_bytes(bytes))
}

#[cfg(not(unix))]
fn path_of(bytes: &[u8]) -> PathBuf {
    PathBuf::from(String::from_utf8_lossy(bytes).into_owned())
}

fn may_matter(path: &Path) -> bool {
    let name = path.file_name();
    let ending = path.extension().and_then(OsStr::to_str);
    // A hostile tree may hold a path that leads out of it.
    path.components().all(|part| matches!(part, Component::Normal(name) if name != ".git"))
        && (ending.is_some_and(|ending| ENDINGS.iter().any(|known| ending.eq_ignore_ascii_case(known)))
            || name == Some(OsStr::new(PLATFORM_FILE))
            || name == Some(OsStr::new(tree::LOCK)))
}

/// Writes the contents of all files, by one process that is asked for one after the other.
fn lay_out(blobs: &[Blob], folder: &Path) -> Result<(), Problem> {
    let mut child = command(&["cat-file", "--batch"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|error| no_git(&error))?;
    let (Some(mut questions), Some(answers)) = (child.stdin.take(), child.stdout.take()) else {
        return Err(trouble("git cannot be talked to"));
    };
    let mut answers = BufReader::new(answers);
    for blob in blobs {
        // One question at a time: two full pipes would wait for each other.
        writeln!(questions, "{}", blob.object).map_err(|error| broken_off(&error))?;
        let mut head = String::new();
        answers.read_line(&mut head).map_err(|error| broken_off(&error))?;
        let size: u64 = head
            .trim_end()
            .rsplit(' ')
            .next()
            .and_then(|size| size.parse().ok())
            .ok_or_else(|| trouble(&format!("git does not have the content of {}", blob.path.display())))?;
        let mut content = Vec::new();
        (&mut answers).take(size).read_to_end(&mut content).map_err(|error| broken_off(&error))?;
        answers.read_until(b'\n', &mut Vec::new()).map_err(|error| broken_off(&error))?;
        let path = folder.join(&blob.path);
        let parent = path.parent().unwrap_or(folder);
        fs::create_dir_all(parent).and_then(|()| fs::write(&path, content)).map_err(|error| unwritten(&error))?;
    }
    drop(questions);
    child.wait().map_err(|error| broken_off(&error))?;
    Ok(())
}

enum Failed {
    /// There is no git.
    Absent(std::io::Error),
    /// Git said no, in these words.
    Refused(String),
}

impl From<Failed> for Problem {
    fn from(failed: Failed) -> Problem {
        match failed {
            Failed::Absent(error) => no_git(&error),
            Failed::Refused(words) => trouble(&format!("git refuses: {words}")),
        }
    }
}

fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new("git");
    // Its words are read by people in our output; its locks would hinder somebody who works beside us.
    command.args(arguments).env("LC_ALL", "C").env("GIT_OPTIONAL_LOCKS", "0").stdin(Stdio::null());
    command
}

fn git_bytes(arguments: &[&str]) -> Result<Vec<u8>, Failed> {
    let output = command(arguments).output().map_err(Failed::Absent)?;
    if output.status.success() {
        return Ok(output.stdout);
    }
    let words = String::from_utf8_lossy(&output.stderr).into_owned();
    let first = words.lines().find(|line| !line.is_empty()).unwrap_or("it gives no reason");
    Err(Failed::Refused(first.trim_start_matches("fatal: ").to_owned()))
}

fn git(arguments: &[&str]) -> Result<String, Failed> {
    git_bytes(arguments).map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
}

fn line(arguments: &[&str]) -> Result<String, Problem> {
    Ok(git(arguments)?.trim_end_matches(['\n', '\r']).to_owned())
}

/// The commit is not here. What to type depends on whether it can be: a shallow clone lacks most of them.
fn no_commit(reference: &str) -> Problem {
    let shallow = line(&["rev-parse", "--is-shallow-repository"]).is_ok_and(|answer| answer == "true");
    let remote = line(&["remote"]).ok().and_then(|all| all.lines().next().map(str::to_owned));
    let remote = remote.filter(|name| !name.is_empty()).unwrap_or_else(|| "origin".to_owned());
    let name = reference.strip_prefix(&format!("{remote}/")).unwrap_or(reference);
    let (name, history) = match name.split_once(['~', '^']) {
        // A place in the history needs the history.
        Some((branch, _)) => (branch, "--unshallow "),
        None => (name, "--depth=1 "),
    };
    let is_id = name.len() >= 7 && name.chars().all(|c| c.is_ascii_hexdigit());
    let what = if is_id || history == "--unshallow " {
        String::from(name)
    } else {
        format!("{name}:refs/remotes/{remote}/{name}")
    };
    let what = if name == "HEAD" || name.is_empty() { String::new() } else { format!(" {what}") };
    if shallow {
        trouble(&format!("this clone is shallow and does not have {reference}"))
            .with_hint(format!("git fetch {history}{remote}{what}"))
    } else {
        trouble(&format!("there is no commit {reference} in this repository"))
            .with_hint(format!("check the name, or run: git fetch {remote}"))
    }
}

fn trouble(message: &str) -> Problem {
    Problem::new(Code::Unreadable, FieldPath::root(), message)
        .with_hint("check what --base names, and that git works here")
}

fn no_git(error: &std::io::Error) -> Problem {
    trouble(&format!("git cannot be run: {}", super::reason(error)))
        .with_hint("install git; --base reads the other commit with it")
}

fn broken_off(error: &std::io::Error) -> Problem {
    trouble(&format!("git broke off: {}", super::reason(error)))
}

fn unwritten(error: &std::io::Error) -> Problem {
    trouble(&format!("the files of the commit cannot be laid out: {}", super::reason(error)))
        .with_hint("check the space of the folder for temporary files")
}
