//! What `diff` needs of a cluster: GET alone, and no more rights than `rbac viewer` prints.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::Command;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use super::servers::Server;
use super::{apply, prepared, runtime};
use crate::plans;

/// Answers GET with what the server says and refuses everything else, and keeps the list of what was asked.
fn proxy(server: &Server) -> (String, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let asked = Arc::new(Mutex::new(Vec::new()));
    let (server, list) = (server.clone(), Arc::clone(&asked));
    std::thread::spawn(move || {
        for connection in listener.incoming().flatten() {
            let (server, list) = (server.clone(), Arc::clone(&list));
            std::thread::spawn(move || relay(connection, &server, &list));
        }
    });
    (address, asked)
}

fn relay(connection: TcpStream, server: &Server, asked: &Mutex<Vec<String>>) -> Option<()> {
    let mut reader = BufReader::new(connection.try_clone().ok()?);
    let mut writer = connection;
    loop {
        let mut first = String::new();
        if reader.read_line(&mut first).ok()? == 0 {
            return None;
        }
        let (mut length, mut accept) = (0, String::new());
        loop {
            let mut line = String::new();
            reader.read_line(&mut line).ok()?;
            let line = line.trim_end();
            if line.is_empty() {
                break;
            }
            let (name, value) = line.split_once(':')?;
            match name.to_lowercase().as_str() {
                "content-length" => length = value.trim().parse().ok()?,
                "accept" => accept = value.trim().to_owned(),
                _ => {}
            }
        }
        std::io::copy(&mut (&mut reader).take(length), &mut std::io::sink()).ok()?;
        let mut words = first.split_whitespace();
        let (method, path) = (words.next()?.to_owned(), words.next()?.to_owned());
        asked.lock().ok()?.push(format!("{method} {path}"));
        let (code, body) = if method == "GET" { get(server, &path, &accept) } else { (405, "only GET".to_owned()) };
        let head =
            format!("HTTP/1.1 {code} X\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n", body.len());
        writer.write_all(head.as_bytes()).ok()?;
        writer.write_all(body.as_bytes()).ok()?;
    }
}

/// The server's own answer, as text: what it says is passed on and not understood.
fn get(server: &Server, path: &str, accept: &str) -> (u16, String) {
    let request = http::Request::get(path).header("accept", accept).body(Vec::new()).unwrap();
    // A connection belongs to the runtime in which it was made.
    let kubeconfig = server.kubeconfig.clone();
    runtime().block_on(async move {
        let kubeconfig = kube::config::Kubeconfig::read_from(kubeconfig).unwrap();
        let config = kube::Config::from_custom_kubeconfig(kubeconfig, &Default::default()).await.unwrap();
        match kube::Client::try_from(config).unwrap().request_text(request).await {
            Ok(text) => (200, text),
            Err(kube::Error::Api(status)) => {
                // The client takes a Status apart and leaves out what kind it was.
                let mut body = serde_json::to_value(&*status).unwrap();
                body["kind"] = json!("Status");
                (status.code, body.to_string())
            }
            Err(error) => (502, error.to_string()),
        }
    })
}

fn kubeconfig(folder: &Path, address: &str) -> String {
    let path = folder.join("only-get.kubeconfig");
    let config = json!({
        "apiVersion": "v1", "kind": "Config", "current-context": "only-get",
        "clusters": [{"name": "only-get", "cluster": {"server": address}}],
        "contexts": [{"name": "only-get", "context": {"cluster": "only-get", "user": ""}}],
        "users": [],
    });
    std::fs::write(&path, config.to_string()).unwrap();
    path.display().to_string()
}

/// The report of the binary, and how it ended.
fn diff(folder: &Path, more: &[&str]) -> (Value, Option<i32>) {
    let output = Command::new(env!("CARGO_BIN_EXE_dbrender"))
        .args(["diff", "databases", "-o", "json"])
        .args(more)
        .current_dir(folder)
        .env_clear()
        .output()
        .unwrap();
    let report = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&output.stderr)));
    (report, output.status.code())
}

/// If this fails, `diff` needs rights that auditors do not give, or finds something else without them.
#[test]
fn neither_a_proxy_that_only_gets_nor_a_viewer_changes_a_verdict() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("databases")).unwrap();
    for server in runtime().block_on(prepared()) {
        // In sync, drifted, and not there at all.
        let names = ["order-db", "postgresql-manual-3-backup", "postgresql-automatic-1-no-backup"];
        for (number, name) in names.into_iter().enumerate() {
            let namespace = format!("only-get-{number}");
            let case = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/render").join(name);
            let text = std::fs::read_to_string(case.join("database.yaml")).unwrap();
            let text = text.replace("namespace: production", &format!("namespace: {namespace}"));
            std::fs::write(folder.path().join(format!("databases/{name}.yaml")), text).unwrap();
            let cases = plans::all(|_| Some(namespace.clone()));
            let case = cases.into_iter().find(|case| case.name == name).unwrap();
            if number < 2 {
                runtime().block_on(async {
                    // A connection belongs to the runtime in which it was made.
                    let server = prepared().await.into_iter().find(|other| other.minor == server.minor).unwrap();
                    apply(&server, &case).await;
                    if number == 1 {
                        let set = case.objects.iter().find(|object| object.kind == "StatefulSet").unwrap();
                        let path = format!("{}/scale?fieldManager=kubectl", super::servers::path_of(&set.value));
                        let patch = json!({"spec": {"replicas": 1}});
                        server.send("PATCH", &path, "application/merge-patch+json", &patch).await.ok().unwrap();
                    }
                });
            }
        }
        let admin = server.kubeconfig.display().to_string();
        let (plain, code) = diff(folder.path(), &["--kubeconfig", &admin]);
        assert_eq!(code, Some(1), "{}: {:#}", server.minor, plain["problems"]);
        assert!(
            plain["summary"]["drifted"] == 1 && plain["summary"]["missing"].as_u64() > Some(10),
            "{:#}",
            plain["summary"]
        );

        let (address, asked) = proxy(&server);
        let through = kubeconfig(folder.path(), &address);
        let (report, code) = diff(folder.path(), &["--kubeconfig", &through]);
        assert_eq!((code, &report), (Some(1), &plain), "{}: through a proxy", server.minor);
        let asked = asked.lock().unwrap();
        assert!(asked.len() > 10 && asked.iter().all(|one| one.starts_with("GET ")), "{asked:#?}");

        runtime().block_on(viewer(&server.minor));
        let (report, code) = diff(folder.path(), &["--kubeconfig", &admin, "--as", "somebody-who-views"]);
        assert_eq!((code, &report), (Some(1), &plain), "{}: as a viewer", server.minor);
        let (report, code) = diff(folder.path(), &["--kubeconfig", &admin, "--as", "somebody-without-rights"]);
        assert_eq!((code, &report["complete"]), (Some(3), &json!(false)), "{}: {:#}", server.minor, report["summary"]);
    }
}

/// Gives somebody the role that `dbrender rbac viewer` prints, and nothing else.
async fn viewer(minor: &str) {
    let server = prepared().await.into_iter().find(|other| other.minor == minor).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_dbrender")).args(["rbac", "viewer", "-o", "json"]).output().unwrap();
    let role: Value = serde_json::from_slice(&output.stdout).unwrap();
    server.apply(&role).await.ok().unwrap();
    let binding = json!({
        "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding",
        "metadata": {"name": "somebody-who-views"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": role["metadata"]["name"]},
        "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "somebody-who-views"}],
    });
    server.apply(&binding).await.ok().unwrap();
}
