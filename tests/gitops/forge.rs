//! Stands in for GitHub: comments and issues over HTTP, with the answers that its documentation names.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

/// What it holds.
#[derive(Default)]
pub(crate) struct State {
    pub(crate) comments: Vec<Value>,
    pub(crate) issues: Vec<Value>,
    /// Method and path of every request.
    pub(crate) requests: Vec<String>,
    /// Whether writing is refused, as to a fork.
    pub(crate) read_only: bool,
}

/// A running one.
pub(crate) struct Forge {
    pub(crate) address: String,
    pub(crate) state: Arc<Mutex<State>>,
}

impl Forge {
    pub(crate) fn start() -> Forge {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let state: Arc<Mutex<State>> = Arc::default();
        let shared = state.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                serve(stream, &shared);
            }
        });
        Forge { address, state }
    }

    pub(crate) fn bodies(&self) -> Vec<String> {
        let state = self.state.lock().unwrap();
        state.comments.iter().map(|comment| comment["body"].as_str().unwrap().to_owned()).collect()
    }
}

fn serve(mut stream: TcpStream, state: &Mutex<State>) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut first = String::new();
    reader.read_line(&mut first).unwrap();
    let (mut length, mut token) = (0, String::new());
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        let Some((name, value)) = line.trim_end().split_once(": ") else { break };
        match name.to_lowercase().as_str() {
            "content-length" => length = value.parse().unwrap(),
            "authorization" => value.clone_into(&mut token),
            _ => {}
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    let body: Value = serde_json::from_slice(&body).unwrap_or_default();
    let mut words = first.split(' ');
    let (method, target) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let mut state = state.lock().unwrap();
    state.requests.push(format!("{method} {target}"));
    let (code, answer) = if token != "Bearer token-of-the-run" {
        (401, json!({"message": "Bad credentials"}))
    } else if state.read_only && method != "GET" {
        (403, json!({"message": "Resource not accessible by integration"}))
    } else {
        answer(&mut state, method, target, body)
    };
    let text = answer.to_string();
    write!(stream, "HTTP/1.1 {code} x\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{text}", text.len()).unwrap();
}

fn answer(state: &mut State, method: &str, target: &str, body: Value) -> (u16, Value) {
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let Some(path) = path.strip_prefix("/repos/team/databases/issues") else {
        return (404, json!({"message": "Not Found"}));
    };
    let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
    let asked = |name: &str| query.split('&').find_map(|pair| pair.strip_prefix(&format!("{name}=")));
    match (method, parts.as_slice()) {
        ("GET", [number, "comments"]) => {
            let all: Vec<Value> = state.comments.iter().filter(|c| c["issue"] == *number).cloned().collect();
            let (page, size): (usize, usize) =
                (asked("page").unwrap().parse().unwrap(), asked("per_page").unwrap().parse().unwrap());
            (200, all.into_iter().skip((page - 1) * size).take(size).collect())
        }
        ("POST", [number, "comments"]) => {
            let id = 1000 + state.comments.len();
            state.comments.push(json!({"id": id, "issue": number, "body": body["body"]}));
            (201, json!({"id": id}))
        }
        ("PATCH", ["comments", id]) => match state.comments.iter_mut().find(|c| c["id"].as_u64() == id.parse().ok()) {
            Some(comment) => {
                comment["body"] = body["body"].clone();
                (200, comment.clone())
            }
            None => (404, json!({"message": "Not Found"})),
        },
        ("GET", []) => {
            let label = asked("labels").unwrap();
            let fits = |i: &&Value| {
                i["state"] == asked("state").unwrap() && i["labels"].as_array().unwrap().contains(&json!(label))
            };
            (200, state.issues.iter().filter(fits).cloned().collect())
        }
        ("POST", []) => {
            let mut issue = body;
            issue["number"] = json!(state.issues.len() + 1);
            issue["state"] = json!("open");
            state.issues.push(issue.clone());
            (201, issue)
        }
        ("PATCH", [number]) => match state.issues.iter_mut().find(|i| i["number"].as_u64() == number.parse().ok()) {
            Some(issue) => {
                for (key, value) in body.as_object().unwrap() {
                    issue[key] = value.clone();
                }
                (200, issue.clone())
            }
            None => (404, json!({"message": "Not Found"})),
        },
        _ => (404, json!({"message": "Not Found"})),
    }
}
