//! Against a server that answers as an API server does, and then as one in trouble does.

use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpListener;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use kube::{Client, Config};
use serde_json::{Value, json};

use super::{Seen, Wanted, read_live};
use crate::diff::{GapReason, KINDS};

/// An answer: status, headers beside the usual ones, body, and how many bytes of it are sent before the line breaks.
struct Reply {
    status: u16,
    headers: &'static str,
    body: String,
    cut: Option<usize>,
}

impl Reply {
    fn json(status: u16, body: &Value) -> Reply {
        Reply { status, headers: "", body: body.to_string(), cut: None }
    }

    fn text(status: u16, body: &str) -> Reply {
        Reply { status, headers: "", body: body.to_owned(), cut: None }
    }

    fn status(status: u16, message: &str) -> Reply {
        Reply::json(
            status,
            &json!({"kind": "Status", "apiVersion": "v1", "status": "Failure", "message": message, "code": status}),
        )
    }
}

struct Server {
    address: String,
    /// `GET /path?query` of every request, in order of arrival.
    requests: Arc<Mutex<Vec<String>>>,
}

impl Server {
    /// Answers each request by its path and query, and by how often that was asked before.
    fn start(answer: impl Fn(&str, usize) -> Reply + Send + Sync + 'static) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let requests = Arc::new(Mutex::new(Vec::<String>::new()));
        let (log, answer) = (Arc::clone(&requests), Arc::new(answer));
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let (log, answer) = (Arc::clone(&log), Arc::clone(&answer));
                std::thread::spawn(move || {
                    let mut stream = stream.unwrap();
                    let mut reader = BufReader::new(stream.try_clone().unwrap());
                    loop {
                        let mut head = String::new();
                        let mut length = 0;
                        loop {
                            let mut line = String::new();
                            if reader.read_line(&mut line).unwrap_or(0) == 0 {
                                return;
                            }
                            if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                                length = value.trim().parse().unwrap();
                            }
                            if line == "\r\n" {
                                break;
                            }
                            head.push_str(&line);
                        }
                        let mut body = vec![0; length];
                        reader.read_exact(&mut body).unwrap();
                        let request = head.lines().next().unwrap().trim_end_matches(" HTTP/1.1").to_owned();
                        let before = {
                            let mut log = log.lock().unwrap();
                            log.push(request.clone());
                            log.iter().filter(|other| **other == request).count() - 1
                        };
                        let reply = answer(request.trim_start_matches("GET "), before);
                        let sent = &reply.body[..reply.cut.unwrap_or(reply.body.len())];
                        let text = format!(
                            "HTTP/1.1 {} x\r\ncontent-type: application/json\r\ncontent-length: {}\r\n{}\r\n{sent}",
                            reply.status,
                            reply.body.len(),
                            reply.headers
                        );
                        if stream.write_all(text.as_bytes()).is_err() || reply.cut.is_some() {
                            return;
                        }
                    }
                });
            }
        });
        Server { address, requests }
    }

    fn read(&self, wanted: &Wanted) -> Seen {
        read(&self.address, wanted)
    }

    fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }

    fn count(&self, part: &str) -> usize {
        self.requests().iter().filter(|request| request.contains(part)).count()
    }
}

fn read(address: &str, wanted: &Wanted) -> Seen {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let mut config = Config::new(address.parse().unwrap());
        config.default_retry = false;
        let client = Client::try_from(config).unwrap();
        read_live(&client, "test".to_owned(), wanted).await
    })
}

fn wanted(objects: &[(&str, &str, &str)]) -> Wanted {
    let objects = objects.iter().map(|(k, ns, n)| ((*k).to_owned(), (*ns).to_owned(), (*n).to_owned())).collect();
    Wanted { objects, everywhere: false, secrets: true }
}

fn object(namespace: &str, name: &str) -> Value {
    json!({"metadata": {"name": name, "namespace": namespace, "labels": {"app.example.com/database": "db"}}})
}

fn list(items: Vec<Value>) -> Value {
    json!({"kind": "XList", "apiVersion": "v1", "metadata": {}, "items": items})
}

/// A healthy server: `/version`, and an empty list of everything that has no better answer.
fn healthy(path: &str) -> Reply {
    if path.starts_with("/version") {
        return Reply::json(200, &json!({"major": "1", "minor": "36+"}));
    }
    Reply::json(200, &list(Vec::new()))
}

fn seen(seen: &Seen) -> BTreeSet<String> {
    seen.live.objects.iter().map(|object| format!("{object:?}")).collect()
}

fn gaps(seen: &Seen) -> Vec<(String, Option<String>, GapReason)> {
    seen.live.gaps.iter().map(|gap| (gap.kind.clone(), gap.namespace.clone(), gap.reason)).collect()
}

#[test]
fn one_list_per_kind_and_only_get() {
    let server = Server::start(|path, _| match path {
        p if p.starts_with("/apis/apps/v1/namespaces/prod/statefulsets?") => {
            Reply::json(200, &list(vec![object("prod", "db")]))
        }
        p => healthy(p),
    });
    let seen_now = server.read(&wanted(&[("StatefulSet", "prod", "db")]));
    assert_eq!(seen(&seen_now), BTreeSet::from(["StatefulSet prod/db".to_owned()]));
    assert_eq!(seen_now.kubernetes.map(|minor| minor.to_string()).as_deref(), Some("1.36"));
    assert!(seen_now.live.gaps.is_empty());
    // Every kind, the version and the StorageClasses.
    assert_eq!(server.requests().len(), KINDS.len() + 2);
    assert!(server.requests().iter().all(|request| request.starts_with("GET ")));
    assert_eq!(server.count("labelSelector=app.example.com%2Fdatabase"), KINDS.len());
}

#[test]
fn pages_are_followed_and_an_expired_one_begins_again() {
    let page = |number: usize, last: bool| {
        let mut list = list(vec![object("prod", &format!("db-{number}"))]);
        list["metadata"] = if last { json!({}) } else { json!({"continue": format!("page{}", number + 1)}) };
        Reply::json(200, &list)
    };
    let server = Server::start(move |path, before| match path {
        p if !p.starts_with("/api/v1/namespaces/prod/services?") => healthy(p),
        p if p.contains("continue=page1") && before == 0 => Reply::status(410, "expired"),
        p if p.contains("continue=page1") => page(1, false),
        p if p.contains("continue=page2") => page(2, true),
        _ => page(0, false),
    });
    let seen_now = server.read(&wanted(&[("Service", "prod", "db-0")]));
    assert_eq!(seen_now.live.objects.len(), 3, "{:?}", seen_now.live);
    assert!(seen_now.live.gaps.is_empty());
}

/// RD-86: what is forbidden is named, and everything else is still there.
#[test]
fn forbidden_hides_one_kind_and_not_the_rest() {
    let server = Server::start(|path, _| match path {
        p if p.contains("/secrets") => {
            Reply::status(403, "secrets is forbidden: User \"x\" cannot list resource \"secrets\"")
        }
        p if p.contains("/services?") => Reply::json(200, &list(vec![object("prod", "db")])),
        p => healthy(p),
    });
    let seen_now = server.read(&wanted(&[("Service", "prod", "db"), ("Secret", "prod", "db-app")]));
    assert_eq!(gaps(&seen_now), [("Secret".to_owned(), Some("prod".to_owned()), GapReason::Forbidden)]);
    assert!(seen_now.live.gaps[0].message.contains("cannot list resource"));
    assert!(seen(&seen_now).contains("Service prod/db"));
    assert_eq!(server.count("/secrets"), 1, "403 is final, and nothing is asked for by name behind it");
}

/// RD-85: only a Status that says so means absence.
#[test]
fn an_error_is_never_absence() {
    let unavailable = |status: u16| {
        Server::start(move |path, _| match path {
            p if p.contains("/statefulsets") => Reply::text(status, "<html>nginx</html>"),
            p => healthy(p),
        })
    };
    for status in [400, 404, 501] {
        let seen_now = unavailable(status).read(&wanted(&[("StatefulSet", "prod", "db")]));
        assert_eq!(
            gaps(&seen_now),
            [("StatefulSet".to_owned(), Some("prod".to_owned()), GapReason::Error)],
            "{status}"
        );
        assert!(!seen_now.live.gaps[0].message.contains("nginx"), "a foreign page is not quoted");
    }
    // A body that breaks off, and one that is whole and is no list.
    for (body, cut) in
        [(list(vec![object("prod", "db"), object("prod", "db2")]).to_string(), Some(120)), ("[".to_owned(), None)]
    {
        let server = Server::start(move |path, _| match path {
            p if p.contains("/statefulsets") => Reply { status: 200, headers: "", body: body.clone(), cut },
            p => healthy(p),
        });
        let seen_now = server.read(&wanted(&[("StatefulSet", "prod", "db")]));
        assert_eq!(gaps(&seen_now), [("StatefulSet".to_owned(), Some("prod".to_owned()), GapReason::Error)]);
    }
}

#[test]
fn a_busy_server_is_asked_again_when_it_says_so() {
    let server = Server::start(|path, before| match path {
        p if p.contains("/statefulsets") && before == 0 => {
            Reply { headers: "Retry-After: 1\r\n", ..Reply::status(429, "too many requests") }
        }
        p if p.contains("/services") && before < 2 => Reply::status(503, "try again"),
        p if p.contains("/statefulsets") || p.contains("/services") => {
            Reply::json(200, &list(vec![object("prod", "db")]))
        }
        p => healthy(p),
    });
    let began = Instant::now();
    let seen_now = server.read(&wanted(&[("StatefulSet", "prod", "db"), ("Service", "prod", "db")]));
    assert_eq!(seen(&seen_now).len(), 2);
    assert!(seen_now.live.gaps.is_empty());
    assert!(began.elapsed() >= Duration::from_secs(1), "Retry-After is honoured");
    // An hour is longer than anybody waits.
    let server = Server::start(|path, _| match path {
        p if p.contains("/statefulsets") => {
            Reply { headers: "Retry-After: 3600\r\n", ..Reply::status(429, "too many requests") }
        }
        p => healthy(p),
    });
    let seen_now = server.read(&wanted(&[("StatefulSet", "prod", "db")]));
    assert_eq!(gaps(&seen_now), [("StatefulSet".to_owned(), Some("prod".to_owned()), GapReason::Error)]);
    assert_eq!(server.count("/statefulsets"), 1);
}

/// RD-87: without the CustomResourceDefinition the objects are missing; behind a broken proxy nothing is known.
#[test]
fn a_kind_that_is_not_served_is_told_from_a_proxy() {
    let server = |apis: Reply, answer: u16| {
        let apis = Mutex::new(Some(apis));
        Server::start(move |path, _| match path {
            "/apis" => apis.lock().unwrap().take().unwrap_or_else(|| Reply::text(404, "")),
            p if p.contains("/podmonitors") && answer == 403 => Reply::status(403, "cannot list podmonitors"),
            p if p.contains("/podmonitors") => Reply::text(404, "404 page not found\n"),
            p => healthy(p),
        })
    };
    let with = |groups: Value| Reply::json(200, &json!({"kind": "APIGroupList", "groups": groups}));
    for (apis, answer, reason) in [
        (with(json!([{"name": "apps"}])), 404, GapReason::NotFound),
        (with(json!([{"name": "apps"}])), 403, GapReason::NotFound),
        (with(json!([{"name": "monitoring.coreos.com"}])), 404, GapReason::Error),
        (with(json!([{"name": "monitoring.coreos.com"}])), 403, GapReason::Forbidden),
        (Reply::text(404, "<html></html>"), 404, GapReason::Error),
        (Reply::text(404, "<html></html>"), 403, GapReason::Forbidden),
    ] {
        let seen_now = server(apis, answer).read(&wanted(&[("PodMonitor", "prod", "db")]));
        assert_eq!(gaps(&seen_now), [("PodMonitor".to_owned(), Some("prod".to_owned()), reason)]);
    }
    let seen_now = server(with(json!([])), 404).read(&wanted(&[("Service", "prod", "db")]));
    assert_eq!(gaps(&seen_now), [], "nobody wants one");
}

/// A label that somebody took away must not make a living database look missing.
#[test]
fn what_lost_its_label_is_found_by_name() {
    let bare = |name: &str| json!({"metadata": {"name": name, "namespace": "prod"}});
    let server = Server::start(move |path, _| match path {
        "/apis/apps/v1/namespaces/prod/statefulsets/db" => Reply::json(200, &bare("db")),
        p if p.starts_with("/api/v1/namespaces/prod/services?") && !p.contains("labelSelector") => {
            Reply::json(200, &list((0..4).map(|n| bare(&format!("s{n}"))).chain([bare("foreign")]).collect()))
        }
        p if p.starts_with("/api/v1/namespaces/prod/services/") => {
            Reply::json(200, &bare(p.rsplit('/').next().unwrap()))
        }
        p if p.starts_with("/api/v1/namespaces/prod/configmaps/") => Reply::status(404, "not found"),
        p => healthy(p),
    });
    let mut objects = vec![("StatefulSet", "prod", "db"), ("ConfigMap", "prod", "gone")];
    objects.extend(["s0", "s1", "s2", "s3", "s4", "s5"].map(|name| ("Service", "prod", name)));
    let seen_now = server.read(&wanted(&objects));
    let expected = ["StatefulSet prod/db", "Service prod/s0", "Service prod/s1", "Service prod/s2", "Service prod/s3"];
    assert_eq!(seen(&seen_now), expected.map(str::to_owned).into());
    assert!(seen_now.live.gaps.is_empty(), "{:?}", seen_now.live.gaps);
    assert_eq!(server.count("/services/"), 4, "what is not in the list of names is not asked for");
}

#[test]
fn many_namespaces_are_one_list_unless_that_is_forbidden() {
    let names: Vec<String> = (0..10).map(|n| format!("ns{n}")).collect();
    let objects: Vec<(&str, &str, &str)> = names.iter().map(|ns| ("StatefulSet", ns.as_str(), "db")).collect();
    let all: Vec<Value> = names.iter().map(|ns| object(ns, "db")).chain([object("other", "db")]).collect();
    let answer = move |path: &str, forbidden: bool| match path {
        p if p.starts_with("/apis/apps/v1/statefulsets?") && forbidden => Reply::status(403, "not in all namespaces"),
        p if p.starts_with("/apis/apps/v1/statefulsets?") => Reply::json(200, &list(all.clone())),
        p if p.contains("/statefulsets?") => Reply::json(200, &list(vec![object(p.split('/').nth(5).unwrap(), "db")])),
        p => healthy(p),
    };
    let one = answer.clone();
    let server = Server::start(move |path, _| one(path, false));
    let seen_now = server.read(&wanted(&objects));
    assert_eq!(seen_now.live.objects.len(), 10, "what is in another namespace is none of our business");
    assert_eq!(server.requests().len(), KINDS.len() + 2);

    let server = Server::start(move |path, _| answer(path, true));
    let mut wanted = wanted(&objects);
    wanted.everywhere = true;
    let seen_now = server.read(&wanted);
    assert_eq!(seen_now.live.objects.len(), 10);
    assert_eq!(server.requests().len(), KINDS.len() + 2 + 10);
    assert_eq!(seen_now.not_everywhere, ["StatefulSet"]);
    assert!(seen_now.live.gaps.is_empty());
}

#[test]
fn without_secrets_no_request_for_them_is_made() {
    let server = Server::start(|path, _| healthy(path));
    let mut wanted = wanted(&[("Secret", "prod", "db-app"), ("Service", "prod", "db")]);
    wanted.secrets = false;
    let seen_now = server.read(&wanted);
    assert_eq!(server.count("secrets"), 1, "that of external-secrets.io: {:?}", server.requests());
    assert_eq!(server.count("/externalsecrets"), 1);
    assert_eq!(gaps(&seen_now), [("Secret".to_owned(), None, GapReason::Skipped)]);
}

#[test]
fn who_is_not_known_or_not_reached_is_told_so_once() {
    let server = Server::start(|_, _| Reply::status(401, "Unauthorized"));
    let seen_now = server.read(&wanted(&[("Service", "prod", "db")]));
    assert_eq!(server.requests().len(), 1);
    assert_eq!(seen_now.live.gaps.len(), KINDS.len());
    assert!(seen_now.live.gaps[0].message.contains("expired"), "{}", seen_now.live.gaps[0].message);

    let seen_now = read("http://127.0.0.1:1", &wanted(&[("Service", "prod", "db")]));
    assert_eq!(seen_now.live.gaps.len(), KINDS.len());
    assert!(seen_now.live.gaps[0].message.contains("refused"), "{}", seen_now.live.gaps[0].message);
}

/// RD-78: a Secret that cannot be decoded is named, and its value is nowhere.
#[test]
fn a_broken_secret_is_named_and_not_quoted() {
    let server = Server::start(|path, _| match path {
        p if p.contains("/secrets?") => {
            let mut broken = object("prod", "db-app");
            broken["data"] = json!({"password": "hunter2!"});
            Reply::json(200, &list(vec![broken, object("prod", "db-admin")]))
        }
        p => healthy(p),
    });
    let seen_now = server.read(&wanted(&[("Secret", "prod", "db-app"), ("Secret", "prod", "db-admin")]));
    assert_eq!(seen_now.live.broken.len(), 1);
    assert_eq!(seen(&seen_now).len(), 1);
    assert!(!format!("{seen_now:?}").contains("hunter2"));
    assert_eq!(server.count("/secrets/"), 0, "it was seen, so it is not asked for again");
}
