//! Reads what a run renders from: files, folders and standard input.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use walkdir::WalkDir;

use super::{reason, tree};
use crate::api::GROUP;
use crate::input::{Source, not_text};
use crate::problem::{Code, FieldPath, Problem, Problems};
use crate::yaml::{self, Limits};

/// Endings of the files that are looked at in a folder, as kubectl has them.
pub(super) const ENDINGS: [&str; 3] = ["json", "yaml", "yml"];
/// The path that stands for standard input.
pub(super) const STANDARD_INPUT: &str = "-";

/// What was read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Inputs {
    /// Files that hold the API group somewhere, in the order of the paths, folders by the bytes of their names. Only
    /// they are worth parsing.
    pub sources: Vec<Source>,
    /// How many files were looked at.
    pub files: usize,
}

/// Reads every path. Folders are walked: hidden entries, links, files of other endings and files that dbrender itself
/// wrote are left out, and so is everything in `leave_out`. A path that is named is read whatever it is called, and
/// once only.
///
/// Sources are numbered from `first` in the places of problems.
pub fn read(paths: &[PathBuf], leave_out: &[&Path], first: usize, out: &mut Problems) -> Inputs {
    let leave_out = leave_out.iter().filter_map(|path| fs::canonicalize(path).ok()).collect();
    let mut reader = Reader { first, seen: leave_out, inputs: Inputs::default(), out };
    for path in paths {
        if path == Path::new(STANDARD_INPUT) {
            reader.standard_input();
        } else if path.is_dir() {
            reader.folder(path);
        } else {
            reader.file(path, true);
        }
    }
    reader.inputs
}

/// Reads one file that has to be there and to be text, such as the platform file.
///
/// # Errors
///
/// The problem with it, placed in source number `index`.
pub fn read_file(path: &Path, index: usize) -> Result<Source, Problem> {
    let name = shown(path);
    let bytes = File::open(path).and_then(bounded).map_err(|error| unreadable(&name, &error))?;
    source(name, bytes, index).map_err(|(_, problem)| problem)
}

/// Reads every file of a folder that could hold manifests, as [`read`] does, whatever is in it; here our own output is
/// what is asked for.
pub fn read_manifests(folder: &Path, out: &mut Problems) -> Vec<Source> {
    let mut sources = Vec::new();
    for entry in WalkDir::new(folder).sort_by_file_name().into_iter().filter_entry(is_shown) {
        let file = match entry {
            Ok(entry) if entry.file_type().is_file() && has_ending(entry.path()) => entry.into_path(),
            Ok(_) => continue,
            Err(error) => {
                let path = shown(error.path().unwrap_or(folder));
                let error = error.into_io_error().unwrap_or_else(|| io::Error::other("the folder cannot be walked"));
                out.push(unreadable(&path, &error));
                continue;
            }
        };
        match read_file(&file, sources.len()) {
            Ok(source) => sources.push(source),
            Err(problem) => out.push(problem),
        }
    }
    sources
}

/// Whether an entry is not hidden. The folder itself was named, so its name does not matter.
fn is_shown(entry: &walkdir::DirEntry) -> bool {
    entry.depth() == 0 || !entry.file_name().as_encoded_bytes().starts_with(b".")
}

struct Reader<'a> {
    first: usize,
    /// Files that were read already, and those that shall not be.
    seen: BTreeSet<PathBuf>,
    inputs: Inputs,
    out: &'a mut Problems,
}

impl Reader<'_> {
    fn standard_input(&mut self) {
        if self.seen.insert(PathBuf::from(STANDARD_INPUT)) {
            self.inputs.files += 1;
            match bounded(io::stdin().lock()) {
                Ok(bytes) => self.take("stdin".to_owned(), bytes),
                Err(error) => self.out.push(unreadable("stdin", &error)),
            }
        }
    }

    fn folder(&mut self, root: &Path) {
        let mut own = OwnFiles::default();
        let mut walk = WalkDir::new(root).sort_by_file_name().into_iter();
        while let Some(entry) = walk.next() {
            let entry = match entry {
                Ok(entry) => entry,
                Err(error) => {
                    let path = error.path().unwrap_or(root).to_owned();
                    let error =
                        error.into_io_error().unwrap_or_else(|| io::Error::other("the folder cannot be walked"));
                    self.out.push(unreadable(&shown(&path), &error));
                    continue;
                }
            };
            if entry.depth() == 0 {
                continue;
            }
            let hidden = entry.file_name().as_encoded_bytes().starts_with(b".");
            let kind = entry.file_type();
            if kind.is_dir() {
                // The output folder, when it lies in a folder of inputs.
                let left_out = fs::canonicalize(entry.path()).is_ok_and(|path| self.seen.contains(&path));
                if hidden || left_out {
                    walk.skip_current_dir();
                }
            } else if kind.is_file() && !hidden && has_ending(entry.path()) && !own.has(entry.path()) {
                self.file(entry.path(), false);
            }
        }
    }

    fn file(&mut self, path: &Path, named: bool) {
        let name = shown(path);
        let identity = match fs::canonicalize(path) {
            Ok(identity) => identity,
            Err(error) => return self.out.push(unreadable(&name, &error)),
        };
        if !self.seen.insert(identity) {
            return;
        }
        self.inputs.files += 1;
        match File::open(path).and_then(|file| if named { bounded(file) } else { bounded_if_ours(file) }) {
            Ok(bytes) => self.take(name, bytes),
            Err(error) => self.out.push(unreadable(&name, &error)),
        }
    }

    fn take(&mut self, name: String, bytes: Option<Vec<u8>>) {
        if bytes.as_ref().is_some_and(|bytes| !is_ours(bytes)) {
            return;
        }
        match source(name, bytes, self.first + self.inputs.sources.len()) {
            Ok(source) => self.inputs.sources.push(source),
            Err((source, problem)) => {
                self.inputs.sources.push(source);
                self.out.push(problem);
            }
        }
    }
}

/// The text of some bytes; beside a problem, as much of it as is text. `None`: there were too many.
fn source(name: String, bytes: Option<Vec<u8>>, index: usize) -> Result<Source, (Source, Problem)> {
    let Some(bytes) = bytes else {
        let problem =
            Problem::new(Code::TooLarge, FieldPath::root(), format!("{name} has more than {} MiB", limit() >> 20));
        return Err((Source { name, text: String::new() }, problem));
    };
    match yaml::decode(&bytes) {
        Ok(_) => Ok(Source { name, text: String::from_utf8(bytes).unwrap_or_default() }),
        Err(error) => {
            let mut problem = not_text(index, &error);
            let readable = bytes.get(..error.span.start).unwrap_or_default();
            let text = String::from_utf8_lossy(readable).into_owned();
            // The bytes themselves cannot be shown; the place where they begin can.
            if let Some(place) = &mut problem.place {
                place.span = text.len()..text.len();
            }
            Err((Source { name, text }, problem))
        }
    }
}

fn limit() -> usize {
    Limits::default().bytes
}

/// All bytes, or `None` when there are more than a text may have. Pipes have no length, so it is found by reading.
fn bounded(file: impl Read) -> io::Result<Option<Vec<u8>>> {
    let mut bytes = Vec::new();
    file.take(limit() as u64 + 1).read_to_end(&mut bytes)?;
    Ok((bytes.len() <= limit()).then_some(bytes))
}

/// The same for a file that was only met on the way: a large one is none of our business unless it holds our group.
fn bounded_if_ours(mut file: File) -> io::Result<Option<Vec<u8>>> {
    let start = match bounded(&mut file)? {
        Some(bytes) => return Ok(Some(bytes)),
        None => file,
    };
    let mut file = start;
    io::Seek::rewind(&mut file)?;
    let mut window = Vec::new();
    loop {
        let kept = window.len().min(GROUP.len() * 2);
        window.drain(..window.len() - kept);
        if file.by_ref().take(1 << 20).read_to_end(&mut window)? == 0 {
            return Ok(Some(Vec::new()));
        }
        if is_ours(&window) {
            return Ok(None);
        }
    }
}

/// Whether a text can hold a Database: every one names the API group. UTF-16 is looked through too, so that such a file
/// is refused and not passed over in silence.
fn is_ours(bytes: &[u8]) -> bool {
    let wide = |bytes: &[u8]| bytes.iter().flat_map(|byte| [*byte, 0]).collect::<Vec<u8>>();
    let needle = format!("{GROUP}/");
    match bytes {
        [0xFF, 0xFE, ..] | [0xFE, 0xFF, ..] => contains(bytes, &wide(needle.as_bytes())),
        _ => contains(bytes, needle.as_bytes()),
    }
}

fn contains(bytes: &[u8], needle: &[u8]) -> bool {
    let Some((first, rest)) = needle.split_first() else { return true };
    let mut from = bytes;
    // Jumps from one first byte to the next, which the standard library finds many bytes at a time.
    while let Some(position) = from.iter().position(|byte| byte == first) {
        from = &from[position + 1..];
        if from.starts_with(rest) {
            return true;
        }
    }
    false
}

fn has_ending(path: &Path) -> bool {
    let ending = path.extension().and_then(|ending| ending.to_str());
    ending.is_some_and(|ending| ENDINGS.iter().any(|known| ending.eq_ignore_ascii_case(known)))
}

/// Files that a `dbrender.lock` beside them lists: our own output, never input.
#[derive(Default)]
struct OwnFiles {
    folder: PathBuf,
    names: BTreeSet<String>,
}

impl OwnFiles {
    fn has(&mut self, path: &Path) -> bool {
        let (Some(folder), Some(name)) = (path.parent(), path.file_name().and_then(|name| name.to_str())) else {
            return false;
        };
        if self.folder != folder {
            let lock = fs::read_to_string(folder.join(tree::LOCK)).unwrap_or_default();
            *self = OwnFiles { folder: folder.to_owned(), names: tree::listed_files(&lock) };
        }
        self.names.contains(name)
    }
}

/// A path as the user would write it, with `/` on every system.
pub(super) fn shown(path: &Path) -> String {
    let text = path.to_string_lossy().replace('\\', "/");
    match text.strip_prefix("./") {
        Some(rest) if !rest.is_empty() => rest.to_owned(),
        _ => text,
    }
}

pub(super) fn unreadable(name: &str, error: &io::Error) -> Problem {
    Problem::new(Code::Unreadable, FieldPath::root(), format!("cannot read {name}: {}", reason(error)))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::{Path, PathBuf};

    use super::{Inputs, read};
    use crate::problem::{Code, Problems};

    const TEXT: &str = "apiVersion: app.example.com/v1alpha1\n";

    fn folder(files: &[(&str, &[u8])]) -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        for (name, bytes) in files {
            let path = dir.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, bytes).unwrap();
        }
        dir
    }

    fn names(dir: &Path, inputs: &Inputs) -> Vec<String> {
        let prefix = format!("{}/", dir.to_str().unwrap());
        inputs.sources.iter().map(|source| source.name.replace(&prefix, "")).collect()
    }

    fn read_in(dir: &Path, paths: &[&str], leave_out: &[&str]) -> (Vec<String>, usize, Vec<(Code, String)>) {
        let paths: Vec<PathBuf> = paths.iter().map(|path| dir.join(path)).collect();
        let leave_out: Vec<PathBuf> = leave_out.iter().map(|path| dir.join(path)).collect();
        let leave_out: Vec<&Path> = leave_out.iter().map(PathBuf::as_path).collect();
        let mut problems = Problems::new();
        let inputs = read(&paths, &leave_out, 0, &mut problems);
        let problems = problems.into_iter().map(|problem| (problem.code, problem.message)).collect();
        (names(dir, &inputs), inputs.files, problems)
    }

    #[test]
    fn a_folder_is_walked_by_the_bytes_of_its_names() {
        let ours = TEXT.as_bytes();
        let dir = folder(&[
            ("b.yaml", ours),
            ("B.yml", ours),
            ("a/z.json", ours),
            ("ä.yaml", ours),
            ("a.yaml", ours),
            (".hidden.yaml", ours),
            (".git/x.yaml", ours),
            ("notes.md", ours),
            ("other.yaml", b"kind: ConfigMap\n"),
            ("out/demo/shop/service-shop.yaml", ours),
        ]);
        let (found, files, problems) = read_in(dir.path(), &["."], &["out"]);
        assert_eq!(found, ["./B.yml", "./a/z.json", "./a.yaml", "./b.yaml", "./ä.yaml"].map(|name| name));
        assert_eq!((files, problems), (6, vec![]));
    }

    #[test]
    fn our_own_output_is_no_input_and_files_beside_it_are() {
        let lock = format!("{}  service-shop.yaml\n", crate::io::tree::Digest::of(b"x"));
        let ours = TEXT.as_bytes();
        let files: [(&str, &[u8]); 3] =
            [("d/dbrender.lock", lock.as_bytes()), ("d/service-shop.yaml", ours), ("d/shop.yaml", ours)];
        let dir = folder(&files);
        assert_eq!(read_in(dir.path(), &["d"], &[]).0, ["d/shop.yaml"]);
        assert_eq!(read_in(dir.path(), &["d/service-shop.yaml"], &[]).0.len(), 1);
    }

    #[test]
    fn a_file_is_read_once_and_whatever_its_name_when_it_is_named() {
        let dir = folder(&[("a.txt", TEXT.as_bytes())]);
        assert_eq!(read_in(dir.path(), &["a.txt", "./a.txt", "."], &[]).0, ["a.txt"]);
    }

    #[test]
    fn what_cannot_be_read_is_a_problem_and_never_nothing() {
        let wide: Vec<u8> = [0xFF, 0xFE].into_iter().chain(TEXT.bytes().flat_map(|byte| [byte, 0])).collect();
        let mut torn = TEXT.as_bytes().to_vec();
        torn.extend(b"x: \xC3(\n");
        let mut large = vec![b' '; 17 << 20];
        let dir = folder(&[("wide.yaml", &wide), ("torn.yaml", &torn), ("large/other.yaml", &large)]);
        let (_, _, problems) = read_in(dir.path(), &["gone.yaml", "wide.yaml", "torn.yaml"], &[]);
        assert_eq!(
            problems.iter().map(|(code, _)| *code).collect::<Vec<_>>(),
            [Code::Unreadable, Code::NotText, Code::NotText]
        );
        assert!(problems[0].1.contains("gone.yaml: No such file or directory"), "{problems:?}");

        assert_eq!(read_in(dir.path(), &["large"], &[]), (vec![], 1, vec![]));
        large.extend(TEXT.bytes());
        fs::write(dir.path().join("large/other.yaml"), &large).unwrap();
        assert_eq!(read_in(dir.path(), &["large"], &[]).2[0].0, Code::TooLarge);
        assert_eq!(read_in(dir.path(), &["large/other.yaml"], &[]).2[0].0, Code::TooLarge);
    }

    #[cfg(unix)]
    #[test]
    fn links_are_followed_only_when_they_are_named() {
        let dir = folder(&[("real/a.yaml", TEXT.as_bytes()), ("in/.keep", b"")]);
        std::os::unix::fs::symlink(dir.path().join("real/a.yaml"), dir.path().join("in/link.yaml")).unwrap();
        std::os::unix::fs::symlink(dir.path().join("real"), dir.path().join("in/folder")).unwrap();
        assert_eq!(read_in(dir.path(), &["in"], &[]).0, [] as [&str; 0]);
        assert_eq!(read_in(dir.path(), &["in/link.yaml"], &[]).0, ["in/link.yaml"]);
        assert_eq!(read_in(dir.path(), &["in/folder"], &[]).0, ["in/folder/a.yaml"]);
    }
}
