//! Stands between a controller and the API server, and answers for it what a server answers on a bad day.

use std::convert::Infallible;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use futures::StreamExt as _;
use http::{Request, Response, StatusCode, header};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt as _, BodyStream, Full, StreamBody};
use hyper::body::{Bytes, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use kube::Client;
use kube::client::Body;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::watch;

/// How it answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Mood {
    /// As the server does.
    Good,
    /// With this code, whatever is asked.
    Code(u16),
    /// Every watch begins with the event that says that its version is too old.
    Gone,
    /// The connection ends without a word.
    Cut,
}

struct State {
    client: Client,
    mood: Mutex<Mood>,
    /// What the server takes as a token.
    token: Mutex<String>,
    refused: AtomicUsize,
    /// Changes when running watches have to end.
    epoch: watch::Sender<u64>,
}

/// The proxy.
pub(crate) struct Proxy {
    state: Arc<State>,
    folder: tempfile::TempDir,
}

type Answered = Response<UnsyncBoxBody<Bytes, Box<dyn std::error::Error + Send + Sync>>>;

impl Proxy {
    /// Listens in front of a server.
    pub(crate) async fn new(client: &Client) -> Proxy {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let state = Arc::new(State {
            client: client.clone(),
            mood: Mutex::new(Mood::Good),
            token: Mutex::new("first".to_owned()),
            refused: AtomicUsize::new(0),
            epoch: watch::Sender::new(0),
        });
        let folder = tempfile::tempdir().unwrap();
        let proxy = Proxy { state: state.clone(), folder };
        proxy.write_token("first");
        let kubeconfig = json!({
            "apiVersion": "v1", "kind": "Config", "current-context": "proxy",
            "contexts": [{"name": "proxy", "context": {"cluster": "proxy", "user": "proxy"}}],
            "clusters": [{"name": "proxy", "cluster": {"server": format!("http://127.0.0.1:{port}")}}],
            "users": [{"name": "proxy", "user": {"tokenFile": proxy.folder.path().join("token")}}],
        });
        std::fs::write(proxy.kubeconfig(), kubeconfig.to_string()).unwrap();
        tokio::spawn(async move {
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                let state = state.clone();
                tokio::spawn(async move {
                    let answer = service_fn(move |request| answer(state.clone(), request));
                    let _ = http1::Builder::new().serve_connection(TokioIo::new(stream), answer).await;
                });
            }
        });
        proxy
    }

    pub(crate) fn kubeconfig(&self) -> PathBuf {
        self.folder.path().join("kubeconfig")
    }

    /// What the client finds in its file, as a kubelet writes it.
    pub(crate) fn write_token(&self, token: &str) {
        std::fs::write(self.folder.path().join("token"), token).unwrap();
    }

    /// What the server takes from now on.
    pub(crate) fn take_only(&self, token: &str) {
        token.clone_into(&mut self.state.token.lock().unwrap());
        self.begin_anew();
    }

    /// How it answers from now on. Running watches end.
    pub(crate) fn is(&self, mood: Mood) {
        *self.state.mood.lock().unwrap() = mood;
        self.begin_anew();
    }

    fn begin_anew(&self) {
        self.state.refused.store(0, Ordering::Relaxed);
        self.state.epoch.send_modify(|epoch| *epoch += 1);
    }

    /// Requests that got no good answer since the last change.
    pub(crate) fn refused(&self) -> usize {
        self.state.refused.load(Ordering::Relaxed)
    }
}

/// An error ends the connection.
async fn answer(state: Arc<State>, request: Request<Incoming>) -> Result<Answered, std::io::Error> {
    let refuse = |code: u16| {
        state.refused.fetch_add(1, Ordering::Relaxed);
        let status = json!({"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": code,
            "message": "a bad day", "reason": if code == 401 { "Unauthorized" } else { "InternalError" }});
        text(code, &status)
    };
    let bearer = format!("Bearer {}", state.token.lock().unwrap());
    if request.headers().get(header::AUTHORIZATION).is_none_or(|value| value.as_bytes() != bearer.as_bytes()) {
        return Ok(refuse(401));
    }
    let mood = state.mood.lock().unwrap().clone();
    let is_watch = request.uri().query().is_some_and(|query| query.contains("watch=true"));
    match mood {
        Mood::Code(code) => return Ok(refuse(code)),
        Mood::Cut => {
            state.refused.fetch_add(1, Ordering::Relaxed);
            return Err(std::io::Error::other("cut"));
        }
        Mood::Gone if is_watch => {
            state.refused.fetch_add(1, Ordering::Relaxed);
            let gone = json!({"type": "ERROR", "object": {"kind": "Status", "apiVersion": "v1", "status": "Failure",
                "code": 410, "reason": "Expired", "message": "too old resource version"}});
            return Ok(text(200, &gone));
        }
        Mood::Gone | Mood::Good => {}
    }
    let (mut head, body) = request.into_parts();
    for name in [header::AUTHORIZATION, header::HOST, header::CONTENT_LENGTH, header::ACCEPT_ENCODING] {
        head.headers.remove(name);
    }
    let body = body.collect().await.map_err(std::io::Error::other)?.to_bytes();
    let mut epoch = state.epoch.subscribe();
    let asked = state.client.send(Request::from_parts(head, Body::from(body.to_vec()))).await;
    let (mut head, body) = asked.map_err(std::io::Error::other)?.into_parts();
    head.headers.remove(header::TRANSFER_ENCODING);
    let stream = BodyStream::new(body).map(|frame| frame.map_err(Into::into));
    let end = async move { epoch.changed().await };
    let stream = stream.take_until(Box::pin(end));
    Ok(Response::from_parts(head, UnsyncBoxBody::new(StreamBody::new(stream))))
}

fn text(code: u16, body: &Value) -> Answered {
    let full = Full::new(Bytes::from(format!("{body}\n"))).map_err(|never: Infallible| match never {});
    let mut response = Response::new(UnsyncBoxBody::new(full));
    *response.status_mut() = StatusCode::from_u16(code).unwrap();
    response.headers_mut().insert(header::CONTENT_TYPE, header::HeaderValue::from_static("application/json"));
    response
}
