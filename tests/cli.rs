//! Transcripts: every shell block of README.md, of the book in `docs/` and of `tests/cli/*.md` is run, and says what
//! stands below it.
//!
//! A block ```` ```console ```` holds commands behind `$ ` (continued behind `> `), each followed by all that it prints and by
//! `[exit N]` when it does not end with 0. A block ```` ```sh ```` holds commands that have to end with 0. A block with a
//! name behind its language, such as ```` ```yaml order.yaml ````, is written to that file first. Every other ```` ```yaml ````
//! has to be a Database, a platform file, or a part of a Database that begins with `spec:`, and `dbrender check` accepts it.
//! Ages stand as `some time ago`. What `kubectl` is here, `kubectl/mod.rs` says.
//! `DBRENDER_BLESS=1` writes what was printed into the files.

#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::panic,
    clippy::print_stderr,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a test may use files and programs, and ends where it fails"
)]

#[path = "happened/mod.rs"]
mod happened;
#[path = "kubectl/mod.rs"]
mod kubectl;

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use libtest_mimic::{Arguments, Failed, Trial};

fn main() {
    if let Some(file) = std::env::var_os(kubectl::CLUSTER) {
        std::process::exit(kubectl::run(file.into()));
    }
    let arguments = Arguments::from_args();
    let mut documents: Vec<PathBuf> = ["tests/cli", "docs", "docs/reference"]
        .iter()
        .map(|folder| root().join(folder))
        // A folder with no page yet is not in Git.
        .filter(|folder| folder.is_dir())
        .flat_map(|folder| fs::read_dir(folder).unwrap())
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "md"))
        .collect();
    documents.push(root().join("README.md"));
    documents.push(root().join("CONTRIBUTING.md"));
    documents.sort();
    let trials = documents.into_iter().map(|path| {
        let name = path.strip_prefix(root()).unwrap().to_string_lossy().into_owned();
        Trial::test(name, move || run_document(&path))
    });
    libtest_mimic::run(&arguments, trials.collect()).exit();
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn blessing() -> bool {
    std::env::var_os("DBRENDER_BLESS").is_some_and(|value| value == "1")
}

/// A folder with a copy of the examples, and programs before all others on the path.
struct Scratch {
    folder: tempfile::TempDir,
    programs: tempfile::TempDir,
}

impl Scratch {
    fn new() -> Scratch {
        let scratch = Scratch { folder: tempfile::tempdir().unwrap(), programs: tempfile::tempdir().unwrap() };
        let examples = scratch.folder.path().join("examples");
        fs::create_dir(&examples).unwrap();
        for entry in fs::read_dir(root().join("examples")).unwrap() {
            let path = entry.unwrap().path();
            fs::copy(&path, examples.join(path.file_name().unwrap())).unwrap();
        }
        symlink(env!("CARGO_BIN_EXE_dbrender"), scratch.programs.path().join("dbrender")).unwrap();
        // What Cargo would build has been built: only the program behind it is run.
        let cargo = "[[ $* != 'install --locked --path .' ]] || exit 0\n[[ \"$1 $2 $3\" == 'run --release --' ]] || exit 101\nshift 3\nexec dbrender \"$@\"";
        scratch.program("cargo", cargo);
        // `make test` runs this test; here it is only asked whether it knows the target.
        let make = format!("PATH=${{PATH#*:}} exec make --dry-run --directory {:?} \"$@\" >/dev/null", root());
        scratch.program("make", &make);
        let (cluster, this) = (scratch.programs.path().join("cluster.json"), std::env::current_exe().unwrap());
        scratch.program("kubectl", &format!("{}={cluster:?} exec {this:?} \"$@\"", kubectl::CLUSTER));
        scratch
    }

    fn program(&self, name: &str, body: &str) {
        let path = self.programs.path().join(name);
        fs::write(&path, format!("#!/usr/bin/env bash\n{body}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }

    /// What a command prints on both of its outputs, and how it ends, with nothing of the caller's environment.
    fn run(&self, command: &str) -> (String, i32) {
        let path = format!("{}:{}", self.programs.path().display(), std::env::var("PATH").unwrap());
        let output = Command::new("bash")
            .args(["-c", &format!("exec 2>&1\n{command}")])
            .current_dir(self.folder.path())
            .env_clear()
            .env("PATH", path)
            .env("HOME", self.folder.path())
            .env("LANG", "C.UTF-8")
            .env("TZ", "UTC")
            .output()
            .unwrap();
        let text = happened::without_ages(&String::from_utf8_lossy(&output.stdout));
        (text, output.status.code().unwrap_or(-1))
    }
}

fn run_document(path: &Path) -> Result<(), Failed> {
    let text = fs::read_to_string(path)?;
    let scratch = Scratch::new();
    let found = replay(&text, &scratch)?;
    if found == text {
        return Ok(());
    }
    if blessing() {
        return Ok(fs::write(path, found)?);
    }
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let diff = similar::TextDiff::from_lines(&text, &found);
    let diff = diff.unified_diff().context_radius(3).header(&format!("{name} says"), "it prints").to_string();
    Err(format!("{diff}\nIf this is meant: make bless, and read the diff.").into())
}

/// The document with what its commands print now.
fn replay(text: &str, scratch: &Scratch) -> Result<String, Failed> {
    let mut out = String::new();
    let mut lines = text.split_inclusive('\n').enumerate();
    while let Some((number, line)) = lines.next() {
        out.push_str(line);
        let Some(fence) = line.trim_end().strip_prefix("```") else { continue };
        let mut body: Vec<&str> = Vec::new();
        let end = loop {
            let Some((_, line)) = lines.next() else {
                return Err(format!("line {}: the block has no end", number + 1).into());
            };
            if line.trim_end() == "```" {
                break line;
            }
            body.push(line);
        };
        match fence.split_once(' ').map_or((fence, ""), |(language, file)| (language, file.trim())) {
            ("console", _) => out += &console(&body, scratch),
            ("sh", _) => {
                shell(&body, scratch).map_err(|problem| format!("line {}: {problem}", number + 1))?;
                out.extend(body);
            }
            ("bash" | "shell" | "shell-session" | "zsh", _) => {
                return Err(format!("line {}: write ```console or ```sh, or nobody runs the block", number + 1).into());
            }
            ("yaml", "") => {
                example(&body.concat(), scratch).map_err(|problem| format!("line {}: {problem}", number + 1))?;
                out.extend(body);
            }
            (_, file) => {
                if !file.is_empty() {
                    let path = scratch.folder.path().join(file);
                    fs::create_dir_all(path.parent().unwrap_or(scratch.folder.path()))?;
                    fs::write(path, body.concat())?;
                }
                out.extend(body);
            }
        }
        out.push_str(end);
    }
    Ok(out)
}

/// The block with the present output behind each of its commands.
fn console(body: &[&str], scratch: &Scratch) -> String {
    let mut out = String::new();
    let mut lines = body.iter().copied().peekable();
    while let Some(line) = lines.next() {
        let Some(first) = line.strip_prefix("$ ") else { continue };
        let mut command = first.to_owned();
        out.push_str(line);
        while let Some(more) =
            lines.peek().and_then(|line| line.strip_prefix("> ").or_else(|| (*line == ">\n").then_some("\n")))
        {
            command.push_str(more);
            out.push_str(lines.next().unwrap_or_default());
        }
        let (text, code) = scratch.run(&command);
        out.push_str(&text);
        if !text.is_empty() && !text.ends_with('\n') {
            out.push_str("(no line feed)\n");
        }
        if code != 0 {
            out += &format!("[exit {code}]\n");
        }
    }
    out
}

fn shell(body: &[&str], scratch: &Scratch) -> Result<(), String> {
    let commands = body.concat();
    let (text, code) = scratch.run(&format!("set -euo pipefail\n{commands}"));
    if code == 0 { Ok(()) } else { Err(format!("ended with {code}:\n{commands}{text}")) }
}

/// What a part of a Database lacks to be one.
const REST: [(&str, &str); 3] = [
    ("engine", "  engine: postgresql\n"),
    ("version", "  version: \"16\"\n"),
    ("storage", "  storage: {size: 10Gi}\n"),
];

/// An example that nobody uses is accepted by `dbrender check`.
fn example(text: &str, scratch: &Scratch) -> Result<(), String> {
    let file = scratch.folder.path().join(".example.yaml");
    let (text, command) = if let Some(part) = text.strip_prefix("spec:\n") {
        let head =
            "apiVersion: app.example.com/v1alpha1\nkind: Database\nmetadata: {name: example, namespace: production}\n";
        let has = |field: &str| part.lines().any(|line| line.starts_with(&format!("  {field}:")));
        let rest: String = REST.iter().filter(|(field, _)| !has(field)).map(|(_, line)| *line).collect();
        (format!("{head}spec:\n{rest}{part}"), "dbrender check .example.yaml")
    } else if text.starts_with("apiVersion: app.example.com/") {
        (text.to_owned(), "dbrender check .example.yaml")
    } else if text.starts_with("apiVersion: dbrender.app.example.com/") {
        (text.to_owned(), "dbrender check --platform .example.yaml examples")
    } else {
        return Err(
            "name a file that a command uses, or begin with `spec:` or with the apiVersion of dbrender".to_owned()
        );
    };
    fs::write(&file, &text).map_err(|error| error.to_string())?;
    let (said, code) = scratch.run(command);
    if code == 0 { Ok(()) } else { Err(format!("ended with {code}:\n{text}{said}")) }
}
