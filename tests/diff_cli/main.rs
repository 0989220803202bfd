//! `dbrender diff` as a process: what it says and how it ends when it cannot see, and that no password leaves it in any
//! form, whatever happens.

#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::panic,
    clippy::print_stderr,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a test may use files and programs, and ends where it fails"
)]
#![allow(unreachable_pub, reason = "files that several tests share")]

#[path = "../happened/mod.rs"]
mod happened;
#[path = "../plans/mod.rs"]
mod plans;
mod secrets;
mod server;
#[path = "../spellings/mod.rs"]
mod spellings;

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use dbrender::diff::{Minor, as_stored};
use dbrender::input::Schemas;
use serde_json::{Value, json};
use server::{Reply, Server, healthy};

/// A folder with a Database, and what a cluster that runs it holds.
struct Scene {
    folder: tempfile::TempDir,
    cluster: Vec<Value>,
}

impl Scene {
    fn new() -> Scene {
        let case = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/drift/just-applied");
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("databases")).unwrap();
        std::fs::copy(case.join("database.yaml"), folder.path().join("databases/order-db.yaml")).unwrap();
        let database = plans::of_file(&case, "database.yaml", None, &Schemas::new()).remove(0);
        let stored = database.objects.iter().map(|object| as_stored(&object.value, Minor::NEWEST)).collect();
        let cluster = happened::carry_out(&database.plan, stored, &[]).unwrap();
        Scene { folder, cluster }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The objects as `kubectl get -o json` prints them.
    fn dump(&self) -> String {
        json!({"apiVersion": "v1", "kind": "List", "metadata": {"resourceVersion": ""}, "items": self.cluster})
            .to_string()
    }

    /// Runs dbrender here, with nothing of the caller's environment.
    fn run(&self, arguments: &[&str], input: &[u8]) -> Output {
        use std::io::Write as _;
        let mut child = Command::new(env!("CARGO_BIN_EXE_dbrender"))
            .args(arguments)
            .current_dir(self.folder.path())
            .env_clear()
            .env("HOME", self.folder.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let input = input.to_vec();
        let writer = std::thread::spawn(move || {
            // A program that refuses its input closes it early.
            let _ = stdin.write_all(&input);
        });
        let output = child.wait_with_output().unwrap();
        writer.join().unwrap();
        output
    }

    fn diff(&self, more: &[&str]) -> Ended {
        let arguments: Vec<&str> = ["diff", "databases"].iter().chain(more).copied().collect();
        Ended::of(&self.run(&arguments, b""))
    }
}

/// How a run ended and what it said on both outputs.
#[derive(Debug)]
struct Ended {
    code: Option<i32>,
    text: String,
}

impl Ended {
    fn of(output: &Output) -> Ended {
        let text = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes).into_owned()).concat();
        Ended { code: output.status.code(), text }
    }

    fn says(&self, code: i32, sentences: &[&str]) {
        assert_eq!(self.code, Some(code), "{}", self.text);
        for sentence in sentences {
            assert!(self.text.contains(sentence), "it does not say {sentence:?}:\n{}", self.text);
        }
    }
}

#[test]
fn a_healthy_server_is_in_sync() {
    let scene = Scene::new();
    let objects = scene.cluster.clone();
    let server = Server::start(move |request, _| healthy(&objects, request));
    let ended = scene.diff(&["--kubeconfig", &server.kubeconfig(scene.folder.path())]);
    ended.says(0, &["26 in sync", "fields: 0 different"]);
}

#[test]
fn without_a_context_it_says_where_it_looked() {
    let scene = Scene::new();
    scene.diff(&[]).says(3, &["no cluster is configured", "INCOMPLETE"]);
    scene.diff(&["--kubeconfig", "nowhere"]).says(3, &["cannot use the kubeconfig", "nowhere", "INCOMPLETE"]);
    let path = server::kubeconfig(scene.folder.path(), "http://127.0.0.1:1");
    let ended = scene.diff(&["--kubeconfig", &path, "--context", "staging"]);
    ended.says(3, &["cannot use the kubeconfig", "staging", "INCOMPLETE"]);
}

#[test]
fn a_server_that_is_not_there_is_named() {
    let scene = Scene::new();
    let path = server::kubeconfig(scene.folder.path(), "http://127.0.0.1:1");
    scene.diff(&["--kubeconfig", &path]).says(3, &["refused", "127.0.0.1:1", "every kind", "INCOMPLETE"]);
}

#[test]
fn expired_credentials_are_told_once() {
    let scene = Scene::new();
    let server = Server::start(|_, _| Reply::status(401, "Unauthorized"));
    let ended = scene.diff(&["--kubeconfig", &server.kubeconfig(scene.folder.path())]);
    ended.says(3, &["does not accept the credentials (401): they are missing, wrong or expired", "INCOMPLETE"]);
    assert_eq!(server.requests().len(), 1);
    assert_eq!(ended.text.matches("error[").count(), 1, "{}", ended.text);
}

/// RD-86: one kind that nobody lets us read, and a drift that is told all the same.
#[test]
fn a_kind_that_is_forbidden_hides_nothing_else() {
    let mut scene = Scene::new();
    let set = scene.cluster.iter_mut().find(|object| object["kind"] == "StatefulSet").unwrap();
    set["spec"]["replicas"] = json!(1);
    let objects = scene.cluster.clone();
    let server = Server::start(move |request, _| match request.path.ends_with("/services") {
        true => Reply::status(403, "services is forbidden: User \"ci\" cannot list resource \"services\""),
        false => healthy(&objects, request),
    });
    let ended = scene.diff(&["--kubeconfig", &server.kubeconfig(scene.folder.path())]);
    ended.says(
        3,
        &[
            "User \"ci\" cannot list resource \"services\"",
            "Service order-db",
            "1 drifted",
            "3 unknown",
            "/spec/replicas",
        ],
    );
}

#[test]
fn a_server_that_is_busy_or_broken_is_told_from_one_that_has_nothing() {
    for (code, headers, sentence) in [
        (429, "Retry-After: 3600\r\n", "the server answers 429: try later"),
        (500, "", "the server answers 500: try later"),
    ] {
        let scene = Scene::new();
        let objects = scene.cluster.clone();
        let server = Server::start(move |request, _| match request.path.ends_with("/statefulsets") {
            true => {
                let Reply(code, _, body) = Reply::status(code, "try later");
                Reply(code, headers, body)
            }
            false => healthy(&objects, request),
        });
        let ended = scene.diff(&["--kubeconfig", &server.kubeconfig(scene.folder.path())]);
        ended.says(3, &[sentence, "StatefulSet order-db", "0 missing", "1 unknown", "25 in sync"]);
    }
}

#[test]
fn a_server_that_was_busy_is_asked_again() {
    let scene = Scene::new();
    let objects = scene.cluster.clone();
    let server = Server::start(move |request, before| match (request.path.ends_with("/secrets"), before) {
        (true, 0) => {
            let Reply(code, _, body) = Reply::status(429, "try later");
            Reply(code, "Retry-After: 1\r\n", body)
        }
        _ => healthy(&objects, request),
    });
    let began = Instant::now();
    scene.diff(&["--kubeconfig", &server.kubeconfig(scene.folder.path())]).says(0, &["26 in sync"]);
    assert!(began.elapsed() >= Duration::from_secs(1), "Retry-After is honoured");
}

/// A dump that was cut at any place names what it does not hold, and never calls it missing.
#[test]
fn a_dump_that_was_cut_in_half_calls_nothing_missing() {
    let scene = Scene::new();
    let dump = scene.dump();
    for part in [0, 1, 3, 5, 7] {
        let end = dump.len() * part / 8;
        std::fs::write(scene.path("live.json"), &dump[..end]).unwrap();
        let ended = scene.diff(&["--live", "live.json"]);
        ended.says(3, &["file live.json breaks off at line 1", "0 missing", "0 drifted", "INCOMPLETE"]);
    }
    scene.diff(&["--live", "not-there.json"]).says(3, &["not-there.json"]);
}

#[test]
fn a_dump_of_another_cluster_is_told_so() {
    let scene = Scene::new();
    std::fs::write(scene.path("live.json"), scene.dump().replace("\"production\"", "\"staging\"")).unwrap();
    scene.diff(&["--live", "live.json"]).says(3, &["is it a dump of another cluster?", "0 missing", "INCOMPLETE"]);
}

/// The guard stands before the first request.
#[test]
fn the_wrong_context_is_refused_before_anything_is_asked() {
    let scene = Scene::new();
    let server = Server::start(|request, _| healthy(&[], request));
    let path = server.kubeconfig(scene.folder.path());
    let ended = scene.diff(&["--kubeconfig", &path, "--expect-context", "^staging"]);
    ended.says(4, &["the context is \"production-eu\", and --expect-context asks for \"^staging\""]);
    assert_eq!(server.requests(), Vec::<String>::new());
    scene.diff(&["--kubeconfig", &path, "--expect-context", "^production-"]).says(1, &["missing"]);
    scene.diff(&["--expect-context", "x"]).says(4, &["there is no context"]);
}

#[test]
fn without_the_right_to_secrets_no_request_for_them_is_made() {
    let scene = Scene::new();
    let objects = scene.cluster.clone();
    let server = Server::start(move |request, _| healthy(&objects, request));
    let path = server.kubeconfig(scene.folder.path());
    scene.diff(&["--kubeconfig", &path, "--no-secret-read"]).says(0, &["2 skipped", "Secrets were not asked for"]);
    let asked = server.requests();
    assert!(asked.len() > 10 && asked.iter().all(|one| !one.ends_with("/secrets")), "{asked:#?}");
}

/// RD-65: a second opinion that is not given is no agreement.
#[test]
fn a_server_that_refuses_a_dry_run_makes_the_answer_incomplete() {
    let told = "admission webhook \"mesh\" does not support dry run";
    for (code, message, exit, sentence) in [
        (400, told, 3, told),
        (403, "cannot patch", 3, "not allowed to patch"),
        (500, "internal error of a webhook", 3, "internal error of a webhook"),
        (409, "conflict with \"argocd\"", 3, "conflict with \"argocd\""),
    ] {
        let scene = Scene::new();
        let objects = scene.cluster.clone();
        let server = Server::start(move |request, _| match request.method.as_str() {
            "PATCH" if request.path.contains("/statefulsets/") => Reply::status(code, message),
            "PATCH" => objects
                .iter()
                .find(|object| {
                    object["metadata"]["name"].as_str().is_some_and(|name| request.path.ends_with(&format!("/{name}")))
                        && request.path.contains(&format!("/{}s/", object["kind"].as_str().unwrap().to_lowercase()))
                })
                .map_or_else(|| healthy(&objects, &as_get(request)), Reply::json),
            _ => healthy(&objects, request),
        });
        let path = server.kubeconfig(scene.folder.path());
        let ended = scene.diff(&["--kubeconfig", &path, "--server-dry-run"]);
        ended.says(exit, &["the server gives no second opinion", sentence, "StatefulSet production/order-db"]);
    }
}

fn as_get(request: &server::Request) -> server::Request {
    server::Request { method: "GET".to_owned(), path: request.path.clone(), body: String::new() }
}

/// RD-82: each exit is reached, and bad usage is never 1.
#[test]
fn bad_usage_never_looks_like_a_difference() {
    let scene = Scene::new();
    std::fs::write(scene.path("live.json"), scene.dump()).unwrap();
    for arguments in [
        &["--fail-on", "everything"][..],
        &["-o", "yaml"],
        &["-o", "text", "-o", "json"],
        &["-o", "html="],
        &["--expect-context", "("],
        &["--base", "HEAD", "--live", "live.json"],
        &["--request-timeout", "soon"],
    ] {
        let all: Vec<&str> = ["--live", "live.json"].iter().chain(arguments).copied().collect();
        let all = if arguments[0] == "--base" { arguments.to_vec() } else { all };
        assert_eq!(scene.diff(&all).code, Some(2), "{arguments:?}");
    }
    scene.diff(&["--live", "live.json"]).says(0, &["26 in sync"]);
    std::fs::write(scene.path("live.json"), r#"{"kind": "List", "items": []}"#).unwrap();
    scene.diff(&["--live", "live.json"]).says(1, &["23 missing"]);
    scene.diff(&["--live", "live.json", "--exit-code=false"]).says(0, &["23 missing"]);
    scene.diff(&["--live", "live.json", "--fail-on", "data-loss"]).says(0, &["23 missing"]);
    scene.diff(&["--live", "live.json", "-o", "html=no/such/folder.html"]).says(3, &["cannot write"]);
}
