//! An API server that answers as one does, and as one in trouble does.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::{Arc, Mutex};

use dbrender::diff::KINDS;
use serde_json::{Value, json};

/// One request.
pub(crate) struct Request {
    pub(crate) method: String,
    /// Without what comes behind the question mark.
    pub(crate) path: String,
    pub(crate) body: String,
}

/// An answer: status, headers beside the usual ones, body.
pub(crate) struct Reply(pub(crate) u16, pub(crate) &'static str, pub(crate) String);

impl Reply {
    pub(crate) fn json(body: &Value) -> Reply {
        Reply(200, "", body.to_string())
    }

    /// A refusal as an API server writes it.
    pub(crate) fn status(code: u16, message: &str) -> Reply {
        let body = json!({"kind": "Status", "apiVersion": "v1", "status": "Failure", "message": message, "code": code});
        Reply(code, "", body.to_string())
    }
}

/// A server that listens.
pub(crate) struct Server {
    address: String,
    /// `GET /path` of every request, in order of arrival.
    requests: Arc<Mutex<Vec<String>>>,
}

impl Server {
    /// Answers every request by itself and by how often the same was asked before.
    pub(crate) fn start(answer: impl Fn(&Request, usize) -> Reply + Send + Sync + 'static) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let requests = Arc::new(Mutex::new(Vec::new()));
        let (log, answer) = (Arc::clone(&requests), Arc::new(answer));
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (log, answer) = (Arc::clone(&log), Arc::clone(&answer));
                std::thread::spawn(move || talk(stream, &log, answer.as_ref()));
            }
        });
        Server { address, requests }
    }

    pub(crate) fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }

    /// Writes a kubeconfig with the context `production-eu`, and gives its path back.
    pub(crate) fn kubeconfig(&self, folder: &Path) -> String {
        kubeconfig(folder, &self.address)
    }
}

pub(crate) fn kubeconfig(folder: &Path, address: &str) -> String {
    let path = folder.join("kubeconfig");
    let config = json!({
        "apiVersion": "v1", "kind": "Config", "current-context": "production-eu",
        "clusters": [{"name": "c", "cluster": {"server": address}}],
        "contexts": [{"name": "production-eu", "context": {"cluster": "c", "user": "u"}}],
        "users": [{"name": "u", "user": {"token": "a-token-of-the-user"}}],
    });
    std::fs::write(&path, config.to_string()).unwrap();
    path.display().to_string()
}

fn talk(
    stream: TcpStream,
    log: &Mutex<Vec<String>>,
    answer: &(dyn Fn(&Request, usize) -> Reply + Send + Sync),
) -> Option<()> {
    let mut reader = BufReader::new(stream.try_clone().ok()?);
    let mut writer = stream;
    loop {
        let mut first = String::new();
        if reader.read_line(&mut first).ok()? == 0 {
            return None;
        }
        let mut length = 0;
        loop {
            let mut line = String::new();
            reader.read_line(&mut line).ok()?;
            if line.trim_end().is_empty() {
                break;
            }
            if let Some((name, value)) = line.split_once(':')
                && name.eq_ignore_ascii_case("content-length")
            {
                length = value.trim().parse().ok()?;
            }
        }
        let mut body = String::new();
        (&mut reader).take(length).read_to_string(&mut body).ok()?;
        let mut words = first.split_whitespace();
        let (method, target) = (words.next()?.to_owned(), words.next()?.to_owned());
        let path = target.split('?').next().unwrap_or_default().to_owned();
        let before = {
            let mut log = log.lock().ok()?;
            let asked = format!("{method} {path}");
            log.push(asked.clone());
            log.iter().filter(|other| **other == asked).count() - 1
        };
        let Reply(code, headers, body) = answer(&Request { method, path, body }, before);
        let head = format!(
            "HTTP/1.1 {code} X\r\ncontent-type: application/json\r\n{headers}content-length: {}\r\n\r\n",
            body.len()
        );
        writer.write_all(head.as_bytes()).ok()?;
        writer.write_all(body.as_bytes()).ok()?;
    }
}

/// What a healthy server with these objects answers.
pub(crate) fn healthy(objects: &[Value], request: &Request) -> Reply {
    let path = request.path.as_str();
    match path {
        "/version" => return Reply::json(&json!({"major": "1", "minor": "37"})),
        "/apis" => return Reply::json(&json!({"kind": "APIGroupList", "groups": [{"name": "apps"}]})),
        _ => {}
    }
    for kind in KINDS {
        let of_kind = || objects.iter().filter(|object| object["kind"] == kind.kind);
        let is_list = path == kind.path(None) || path == kind.path(Some("production"));
        if is_list && kind.built_in {
            let items: Vec<&Value> = of_kind().collect();
            let list = json!({"kind": format!("{}List", kind.kind), "apiVersion": kind.api_version, "metadata": {}, "items": items});
            return Reply::json(&list);
        }
        if let Some(name) = path.strip_prefix(&format!("{}/", kind.path(Some("production"))))
            && let Some(object) = of_kind().find(|object| object["metadata"]["name"] == name)
        {
            return Reply::json(object);
        }
    }
    if path.ends_with("/storageclasses") {
        return Reply::json(
            &json!({"kind": "StorageClassList", "apiVersion": "storage.k8s.io/v1", "metadata": {}, "items": []}),
        );
    }
    if request.path.contains("external-secrets.io") || request.path.contains("monitoring.coreos.com") {
        return Reply(404, "", "404 page not found\n".to_owned());
    }
    Reply::status(404, &format!("{path} not found"))
}
