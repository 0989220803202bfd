//! Runs a job of a workflow as GitHub does, as far as our workflow and our action need it: steps in order, inputs and
//! their defaults, outputs, and the expressions that stand in them. What it does not know is a failure.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use dbrender::yaml::{Limits, read_stream};
use serde_json::Value;

/// What a run is about.
pub(crate) struct Event {
    /// Values of expressions, such as `github.event.pull_request.base.sha`.
    pub(crate) values: BTreeMap<String, String>,
    /// Address of what stands in for GitHub.
    pub(crate) api: String,
}

impl Event {
    pub(crate) fn new(api: &str) -> Event {
        let values = [("github.token", "token-of-the-run")].map(|(key, value)| (key.to_owned(), value.to_owned()));
        Event { values: values.into_iter().collect(), api: api.to_owned() }
    }

    pub(crate) fn with(mut self, key: &str, value: &str) -> Event {
        self.values.insert(key.to_owned(), value.to_owned());
        self
    }

    pub(crate) fn pull_request(self, number: u32, base: &str) -> Event {
        self.with("github.event.pull_request.number", &number.to_string())
            .with("github.event.pull_request.base.sha", base)
    }
}

/// How a job ended.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) succeeded: bool,
    /// Both outputs of all steps.
    pub(crate) log: String,
    /// Text of the summary.
    pub(crate) summary: String,
    /// Actions of others that would have run, with what they would have been given.
    pub(crate) others: Vec<(String, Value)>,
}

pub(crate) fn read_yaml(path: &Path) -> Value {
    let text = fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let (documents, problems) = read_stream(&text, &Limits::default());
    assert!(problems.is_empty(), "{}: {problems:?}", path.display());
    documents[0].root.to_json()
}

struct Job<'a> {
    repository: &'a Path,
    scratch: tempfile::TempDir,
    event: &'a Event,
    ran: Ran,
}

/// Runs a job of a workflow in a checkout.
pub(crate) fn run(repository: &Path, workflow: &str, name: &str, event: &Event) -> Ran {
    let text = read_yaml(&repository.join(workflow));
    let steps = text["jobs"][name]["steps"].as_array().unwrap_or_else(|| panic!("no job {name}")).clone();
    let ran = Ran { succeeded: true, log: String::new(), summary: String::new(), others: Vec::new() };
    let mut job = Job { repository, scratch: tempfile::tempdir().unwrap(), event, ran };
    for step in &steps {
        match step["uses"].as_str() {
            Some(uses) if uses.starts_with("dbrender/dbrender@") => job.action(&step["with"]),
            Some(uses) => job.ran.others.push((uses.to_owned(), step["with"].clone())),
            None => job.run(step, &event.values.clone()).iter().for_each(drop),
        }
    }
    job.ran.summary = fs::read_to_string(job.scratch.path().join("summary")).unwrap_or_default();
    job.ran
}

impl Job<'_> {
    /// Our own action, with its inputs.
    fn action(&mut self, with: &Value) {
        let action = read_yaml(&Path::new(env!("CARGO_MANIFEST_DIR")).join("action.yml"));
        let mut values = self.event.values.clone();
        let known = action["inputs"].as_object().unwrap();
        let given = with.as_object().cloned().unwrap_or_default();
        let strange: Vec<&String> = given.keys().filter(|key| !known.contains_key(*key)).collect();
        assert!(strange.is_empty(), "the action has no input {strange:?}");
        for (name, input) in known {
            let text = given.get(name).or(input.get("default")).map_or_else(String::new, text_of);
            values.insert(format!("inputs.{name}"), fill(&text, &self.event.values));
        }
        // What is released is not here: the program of this build is.
        values.insert("inputs.program".to_owned(), env!("CARGO_BIN_EXE_dbrender").to_owned());
        for step in action["runs"]["steps"].as_array().unwrap() {
            if let Some(uses) = step["uses"].as_str() {
                let with = step["with"].to_string();
                self.ran.others.push((uses.to_owned(), serde_json::from_str(&fill(&with, &values)).unwrap()));
                continue;
            }
            if !self.ran.succeeded {
                continue;
            }
            let outputs = self.run(step, &values);
            let id = step["id"].as_str().unwrap_or_default();
            values.extend(outputs.into_iter().map(|(name, value)| (format!("steps.{id}.outputs.{name}"), value)));
            // An output that was not set is empty.
            for name in ["sarif", "report"] {
                values.entry(format!("steps.{id}.outputs.{name}")).or_default();
            }
        }
    }

    /// Runs a script and returns its outputs.
    fn run(&mut self, step: &Value, values: &BTreeMap<String, String>) -> Vec<(String, String)> {
        assert_eq!(step["shell"].as_str().unwrap_or("bash"), "bash");
        let output = self.scratch.path().join("output");
        fs::write(&output, "").unwrap();
        let environment = step["env"].as_object().cloned().unwrap_or_default();
        let environment = environment.iter().map(|(name, value)| (name.clone(), fill(&text_of(value), values)));
        let script = fill(step["run"].as_str().unwrap(), values);
        let ran = Command::new("bash")
            .args(["--noprofile", "--norc", "-eo", "pipefail", "-c", &format!("exec 2>&1\n{script}")])
            .current_dir(self.repository)
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.scratch.path())
            .env("LANG", "C.UTF-8")
            .env("GITHUB_ACTION_PATH", env!("CARGO_MANIFEST_DIR"))
            .env("GITHUB_OUTPUT", &output)
            .env("GITHUB_STEP_SUMMARY", self.scratch.path().join("summary"))
            .env("GITHUB_REPOSITORY", "team/databases")
            .env("GITHUB_API_URL", &self.event.api)
            .env("RUNNER_TEMP", self.scratch.path())
            .envs(environment)
            .output()
            .unwrap();
        self.ran.log += &String::from_utf8_lossy(&ran.stdout);
        self.ran.succeeded &= ran.status.success();
        let text = fs::read_to_string(&output).unwrap();
        text.lines().filter_map(|line| line.split_once('=')).map(|(k, v)| (k.to_owned(), v.to_owned())).collect()
    }
}

fn text_of(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// The text with the values of its expressions. GitHub takes what an event does not have for nothing.
fn fill(text: &str, values: &BTreeMap<String, String>) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("${{") {
        let (expression, after) = after.split_once("}}").expect("an expression that ends");
        let name = expression.trim();
        let value = match values.get(name) {
            Some(value) => value.as_str(),
            None if name.starts_with("github.event.") || name.starts_with("secrets.") => "",
            None => panic!("{name} is known to no event"),
        };
        out += before;
        out += value;
        rest = after;
    }
    out + rest
}

/// A Git repository of its own.
pub(crate) struct Repository {
    pub(crate) folder: tempfile::TempDir,
}

impl Repository {
    pub(crate) fn new() -> Repository {
        let repository = Repository { folder: tempfile::tempdir().unwrap() };
        repository.git(&["init", "--quiet", "--initial-branch", "main"]);
        repository
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn git(&self, arguments: &[&str]) -> String {
        let output = Command::new("git")
            .args(["-c", "user.name=test", "-c", "user.email=test@example.com", "-c", "commit.gpgsign=false"])
            .args(arguments)
            .current_dir(self.folder.path())
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .output()
            .unwrap();
        assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    pub(crate) fn commit(&self) -> String {
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--message", "change"]);
        self.git(&["rev-parse", "HEAD"])
    }

    /// Runs dbrender in it, and returns both outputs and the exit code.
    pub(crate) fn dbrender(&self, arguments: &[&str]) -> (String, i32) {
        let output = Command::new(env!("CARGO_BIN_EXE_dbrender"))
            .args(arguments)
            .current_dir(self.folder.path())
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
        (text, output.status.code().unwrap())
    }

    pub(crate) fn replace(&self, name: &str, from: &str, to: &str) {
        let text = fs::read_to_string(self.path(name)).unwrap();
        assert!(text.contains(from), "{name} has no {from}");
        fs::write(self.path(name), text.replace(from, to)).unwrap();
    }
}
