//! The reference pages of the book are made of what the program says of itself: nobody writes them.
//!
//! `DBRENDER_BLESS=1` writes them into `docs/reference`.

#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::panic,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a test may use files and programs, and ends where it fails"
)]

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use dbrender::api::{CONDITIONS, EVENTS, METRICS, REASONS};
use dbrender::diff::{Impact, Report};
use dbrender::problem::{Code, Severity};
use libtest_mimic::{Arguments, Failed, Trial};
use serde_json::Value;

/// Stands at the head of each page, where readers do not see it.
const MADE: &str = "<!-- Made of the program by `make bless`; do not edit. -->\n\n";

/// Makes the text of a page.
type Make = fn() -> String;

/// Name, and what makes the page.
const PAGES: [(&str, Make); 9] = [
    ("fields", fields),
    ("platform", platform),
    ("commands", commands),
    ("codes", codes),
    ("impact", impact),
    ("status", status),
    ("metrics", metrics),
    ("rbac", rbac),
    ("report", report),
];

fn main() {
    let arguments = Arguments::from_args();
    let page = |(name, make): (&'static str, Make)| Trial::test(name, move || compare(name, &make()));
    let mut trials: Vec<Trial> = PAGES.into_iter().map(page).collect();
    trials.push(Trial::test("nothing else is there", nothing_else));
    trials.push(Trial::test("every word of the list is written by the controller", every_word_is_written));
    libtest_mimic::run(&arguments, trials).exit();
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn compare(name: &str, text: &str) -> Result<(), Failed> {
    let path = root().join(format!("docs/reference/{name}.md"));
    let text = format!("{MADE}{}\n", text.trim_end());
    if std::env::var_os("DBRENDER_BLESS").is_some_and(|value| value == "1") {
        return Ok(fs::write(path, text)?);
    }
    let found = fs::read_to_string(&path).unwrap_or_default();
    if found == text {
        return Ok(());
    }
    let diff = similar::TextDiff::from_lines(&found, &text);
    let diff = diff.unified_diff().context_radius(2).header("the page", "what the program says").to_string();
    Err(format!("docs/reference/{name}.md is stale: make bless\n{diff}").into())
}

fn nothing_else() -> Result<(), Failed> {
    let known: BTreeSet<String> = PAGES.iter().map(|(name, _)| format!("{name}.md")).collect();
    let there: BTreeSet<String> = fs::read_dir(root().join("docs/reference"))?
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    if known == there { Ok(()) } else { Err(format!("{known:?} are made, and there are {there:?}").into()) }
}

/// Text of Rust below the controller's folder.
fn controller() -> String {
    let mut text = String::new();
    let mut folders: Vec<PathBuf> = vec![root().join("src/controller")];
    while let Some(next) = folders.pop() {
        if next.is_dir() {
            folders.extend(fs::read_dir(&next).unwrap().map(|entry| entry.unwrap().path()));
        } else {
            text += &fs::read_to_string(&next).unwrap();
        }
    }
    text
}

/// The other way round, `debug_assert!` in the controller says so.
fn every_word_is_written() -> Result<(), Failed> {
    let text = controller();
    let words = CONDITIONS.iter().chain(REASONS).chain(EVENTS).map(|told| told.name);
    let metrics = METRICS.iter().map(|metric| metric.name);
    let idle: Vec<&str> = words.chain(metrics).filter(|word| !text.contains(&format!("\"{word}\""))).collect();
    if !idle.is_empty() {
        return Err(format!("nobody writes {}", idle.join(", ")).into());
    }
    let unlisted: Vec<&str> = text
        .split("\"dbrender_")
        .skip(1)
        .filter_map(|part| part.split('"').next())
        .filter(|name| !METRICS.iter().any(|metric| metric.name.strip_prefix("dbrender_") == Some(*name)))
        .collect();
    if unlisted.is_empty() { Ok(()) } else { Err(format!("not in the list: {}", unlisted.join(", ")).into()) }
}

/// What the program prints.
fn printed(arguments: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_dbrender")).args(arguments).env_clear().output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn json(arguments: &[&str]) -> Value {
    serde_json::from_str(&printed(arguments)).unwrap()
}

fn element(schema: &Value) -> &Value {
    schema.get("items").unwrap_or(schema)
}

/// Paths of all fields below this one.
fn paths(schema: &Value, path: &str, out: &mut Vec<String>) {
    for (name, child) in element(schema)["properties"].as_object().into_iter().flatten() {
        let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
        out.push(path.clone());
        let values = child.get("additionalProperties").filter(|values| values.is_object());
        match values {
            // Whatever the key is.
            Some(values) => paths(values, &format!("{path}.NAME"), out),
            None => paths(child, &path, out),
        }
    }
}

/// A heading for the field, and what `explain` says of it. Its own fields have headings of their own.
fn field(path: &str) -> String {
    let said = printed(&["explain", path]);
    let said = said.split("\nFields:\n").next().unwrap_or_default();
    let (head, rest) = said.split_once('\n').unwrap_or((said, ""));
    let (path, kind) = head.split_once(" (").unwrap_or((head, ""));
    let mut text = format!("## `{path}`\n\n*{}*\n", kind.trim_end_matches(')'));
    let mut is_list = false;
    // A list begins behind an empty line.
    let separated = |text: &str| if text.ends_with("\n\n") { "" } else { "\n" };
    for line in rest.lines().map(|line| line.strip_prefix("  ").unwrap_or(line)) {
        let fact = line.split_once(": ").filter(|(name, _)| !name.contains(' ') || *name == "One of");
        match fact {
            Some((name, value)) if matches!(name, "Default" | "Matches") => {
                let _ = writeln!(text, "{}- {name}: `{value}`", if is_list { "" } else { separated(&text) });
                is_list = true;
            }
            Some((name, value)) if !name.starts_with('`') && name.chars().all(|c| c.is_alphanumeric() || c == ' ') => {
                let _ = writeln!(text, "{}- `{name}`: {value}", if is_list { "" } else { separated(&text) });
                is_list = true;
            }
            _ if line.starts_with("From ") || line.starts_with("At least ") || line.starts_with("At most ") => {
                let _ = writeln!(text, "{}- {line}", if is_list { "" } else { separated(&text) });
                is_list = true;
            }
            _ if is_list => text += &format!("  {}\n", line.trim_start()),
            _ => text += &format!("{line}\n"),
        }
    }
    text.trim_end().to_owned() + "\n\n"
}

fn fields() -> String {
    let mut all = Vec::new();
    paths(&json(&["schema", "database"])["properties"]["spec"], "spec", &mut all);
    let mut text = "# Fields of a Database\n\nAs `dbrender explain FIELD` says them. What the controller writes into `status` is in [Status and events](status.md).\n\n".to_owned();
    all.iter().for_each(|path| text += &field(path));
    text
}

fn platform() -> String {
    let schema = json(&["schema", "platform"]);
    let mut all = Vec::new();
    paths(&schema, "platform", &mut all);
    // An overlay has the fields of the file itself.
    let own = ["platform.apiVersion", "platform.kind", "platform.metadata", "platform.environments."];
    all.retain(|path| !own.iter().any(|skipped| path.starts_with(skipped)));
    let mut text = "# The platform file\n\n`dbrender.yaml`: the nearest one at or above the current folder up to the root of the Git repository, or what `--platform` names.\n\n```yaml\napiVersion: dbrender.app.example.com/v1alpha1\nkind: Platform\n```\n\nAs `dbrender explain platform.FIELD` says them. Each of `environments` has the same fields, and `--env` chooses one. NAME is a name of yours.\n\n".to_owned();
    all.iter().for_each(|path| text += &field(path));
    text
}

fn commands() -> String {
    let help = printed(&["--help"]);
    let listed = help.split("Commands:\n").nth(1).unwrap_or_default();
    let names: Vec<&str> = listed
        .lines()
        .take_while(|line| !line.is_empty())
        .filter_map(|line| line.strip_prefix("  ")?.split(' ').next())
        .collect();
    let names: Vec<&str> = names.into_iter().filter(|name| !name.is_empty()).collect();
    assert!(names.len() > 8, "{names:?}");
    let mut text = format!("# Commands\n\n```text\n{}```\n", plain(&help));
    for name in names {
        let help = printed(&[name, "--help"]);
        let _ = write!(text, "\n## `dbrender {name}`\n\n```text\n{}```\n", plain(&help));
        let inner = help.split("Commands:\n").nth(1).unwrap_or_default();
        for inner in inner.lines().take_while(|line| !line.is_empty()) {
            let Some(inner) =
                inner.strip_prefix("  ").and_then(|line| line.split(' ').next()).filter(|n| !n.is_empty())
            else {
                continue;
            };
            let help = printed(&[name, inner, "--help"]);
            let _ = write!(text, "\n## `dbrender {name} {inner}`\n\n```text\n{}```\n", plain(&help));
        }
    }
    text
}

/// Without blanks at the ends of lines.
fn plain(text: &str) -> String {
    text.lines().map(|line| format!("{}\n", line.trim_end())).collect()
}

fn codes() -> String {
    let mut text =
        "# Problem codes\n\nAs `dbrender explain CODE` says them. A code is never used for anything else.\n".to_owned();
    let mut family = "";
    for code in Code::ALL {
        let now = match &code.id()[..4] {
            "DBR1" => "Reading",
            "DBR2" => "The schema",
            "DBR3" => "A Database by itself",
            "DBR4" => "A change of a Database",
            "DBR5" => "The platform file",
            "DBR6" => "The tree of files",
            "DBR7" => "The cluster",
            other => panic!("a family without a name: {other}"),
        };
        if now != family {
            let _ = write!(text, "\n## {now}\n");
            family = now;
        }
        let explanation = code.explanation();
        let kind = if code.severity() == Severity::Error { "error" } else { "warning" };
        let _ = write!(
            text,
            "\n### {} {}\n\n*{kind}*: {}.\n\n{}\n\n**What to do:** {}.\n",
            code.id(),
            code.name(),
            explanation.title,
            explanation.text,
            explanation.hint
        );
    }
    text
}

/// `| word | meaning |` for each word.
fn table<'a>(head: &str, rows: impl IntoIterator<Item = (&'a str, String)>) -> String {
    let mut text = format!("| {head} | meaning |\n|---|---|\n");
    for (word, meaning) in rows {
        let _ = writeln!(text, "| `{word}` | {} |", meaning.replace('|', "\\|"));
    }
    text
}

/// What `explain` says of a word, by the kind that it names, as one line.
fn said(word: &str, kind: &str) -> String {
    let text = printed(&["explain", word]);
    let mut parts = text.split("\n\n");
    while let Some(head) = parts.next() {
        let meaning = parts.next().unwrap_or_default();
        if head.replace('\n', " ").contains(kind) {
            return meaning.split_whitespace().collect::<Vec<_>>().join(" ");
        }
    }
    panic!("explain {word} says nothing of a {kind}: {text}");
}

fn impact() -> String {
    let rows = Impact::ALL.iter().map(|class| (class.as_str(), said(class.as_str(), "class of")));
    let statuses = ["in-sync", "drifted", "missing", "orphaned", "retained", "forbidden", "error", "skipped"];
    let buckets = ["drift", "foreign", "ignored"];
    format!(
        "# Impact classes\n\nWhat putting a difference right does to the running database. Each class is worse than the one before it; `--fail-on CLASS` lets a run fail from that class on.\n\n{}\n## Statuses of objects\n\n{}\n## Kinds of differences\n\n{}",
        table("class", rows),
        table("status", statuses.map(|word| (word, said(word, "status of")))),
        table("kind", buckets.map(|word| (word, said(word, "kind of")))),
    )
}

fn status() -> String {
    let phases = ["Pending", "Creating", "Running", "Failed", "Deleting"];
    let of = |words: &'static [dbrender::api::Told]| words.iter().map(|told| (told.name, told.text.to_owned()));
    format!(
        "# Status and events\n\nWhat `dbrender controller` writes into the status of a Database, and tells in events.\n\n## Phases\n\n{}\n## Conditions\n\n{}\n## Reasons\n\nOf conditions, and of the events that tell of their change: of `Ready`, `Stalled`, `BackupReady` and `Drifted`.\n\n{}\n## Other events\n\n{}",
        table("phase", phases.map(|word| (word, said(word, "phase of")))),
        table("condition", of(CONDITIONS)),
        table("reason", of(REASONS)),
        table("event", of(EVENTS)),
    )
}

fn metrics() -> String {
    let mut text = "# Metrics\n\nOf `dbrender controller`, at `/metrics` on port 8080, in Prometheus' text format. `/healthz` and `/readyz` are on port 8081.\n".to_owned();
    for metric in METRICS {
        let labels: Vec<String> = metric.labels.iter().map(|label| format!(", label `{label}`")).collect();
        let _ = write!(text, "\n## `{}`\n\n*{}*{}\n\n{}\n", metric.name, metric.kind, labels.concat(), metric.text);
    }
    text
}

fn rbac() -> String {
    format!(
        "# Rights\n\n## `dbrender rbac viewer`\n\nFor `dbrender diff`. With `--no-secret-read` it has no rule for Secrets.\n\n```yaml viewer.yaml\n{}```\n\n## `dbrender rbac controller`\n\n```yaml controller.yaml\n{}```\n",
        printed(&["rbac", "viewer"]),
        printed(&["rbac", "controller"])
    )
}

fn report() -> String {
    let schema = Report::schema();
    let mut text = "# The report of diff\n\nWhat `dbrender diff -o json` prints, `dbrender.report/v1`. Fields are added without a new version, never removed or given another meaning. `dbrender schema report` prints the JSON Schema.\n".to_owned();
    let mut names = vec!["Report".to_owned()];
    names.extend(schema["$defs"].as_object().unwrap().keys().cloned());
    for name in names {
        let of = schema["$defs"].get(&name).unwrap_or(&schema);
        let Some(fields) = of["properties"].as_object() else { continue };
        let _ = write!(
            text,
            "\n## {name}\n\n{}\n\n| field | type | meaning |\n|---|---|---|\n",
            of["description"].as_str().unwrap_or_default()
        );
        for (field, of) in fields {
            let meaning = of["description"].as_str().unwrap_or_default().replace('|', "\\|");
            let _ = writeln!(text, "| `{field}` | {} | {meaning} |", kind(of));
        }
    }
    text
}

/// The type of a field of the report, with a link to the table of an object.
fn kind(schema: &Value) -> String {
    if let Some(name) = schema["$ref"].as_str().and_then(|path| path.rsplit('/').next()) {
        return match name {
            "Impact" | "Status" | "Bucket" => format!("[{name}](impact.md)"),
            "Op" => "`add`, `remove`, `replace`".to_owned(),
            name => format!("[{name}](#{})", name.to_lowercase()),
        };
    }
    match (&schema["type"], &schema["anyOf"]) {
        (Value::String(kind), _) if kind == "array" => format!("list of {}", kind_of_items(schema)),
        (Value::String(kind), _) => kind.clone(),
        (Value::Array(kinds), _) => kinds.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" or "),
        (_, Value::Array(kinds)) => kinds.iter().map(kind).collect::<Vec<_>>().join(" or "),
        _ => "any".to_owned(),
    }
}

fn kind_of_items(schema: &Value) -> String {
    kind(&schema["items"])
}
