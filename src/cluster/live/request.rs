//! One request, asked again as long as the server says that this may help, and what its refusal means.

use std::error::Error;
use std::time::Duration;

use http::Request;
use http::header::RETRY_AFTER;
use kube::Client;
use kube::client::Body;
use serde_json::Value;
use tokio::time::{Instant, sleep};

use crate::diff::{GapReason, Kind};

/// Attempts at one request.
const ATTEMPTS: u32 = 5;
/// The first pause; each further one is twice as long.
const PAUSE: Duration = Duration::from_millis(200);
/// The longest pause that a server may ask for. A person waits for the answer.
const LONGEST_PAUSE: Duration = Duration::from_secs(30);
/// A connection that fails later than this ran into a time limit; trying again would only run into it again.
const SLOW: Duration = Duration::from_secs(5);

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::cluster) struct Trouble {
    /// What it means for what was asked for.
    pub(in crate::cluster) reason: GapReason,
    /// A sentence without a full stop. Never a secret: bodies that are no Status of the API server are not quoted.
    pub(in crate::cluster) message: String,
    /// HTTP status, when there was an answer.
    pub(in crate::cluster) status: Option<u16>,
}

impl Trouble {
    pub(super) fn error(message: String) -> Trouble {
        Trouble { reason: GapReason::Error, message, status: None }
    }

    /// Whether no further request can be expected to be answered: there is no connection, or nobody knows us.
    pub(super) fn is_unreachable(&self) -> bool {
        matches!(self.status, None | Some(401))
    }
}

/// The body of the answer to one request for objects of a kind.
pub(in crate::cluster) async fn ask(
    client: &Client,
    request: Result<Request<Vec<u8>>, kube::core::request::Error>,
    kind: &Kind,
) -> Result<Vec<u8>, Trouble> {
    // All requests of this room can be repeated: they change nothing.
    let request = request.map_err(|error| Trouble::error(error.to_string()))?;
    let mut pause = PAUSE;
    let mut attempt = 1;
    loop {
        let began = Instant::now();
        let (trouble, asked_for) = match once(client, &request).await {
            Ok(answer) if answer.status < 400 => return Ok(answer.body),
            Ok(answer) => {
                let trouble = refusal(client, &answer, kind).await;
                (trouble, answer.retry_after)
            }
            Err(error) => (Trouble::error(in_words(&error)), None),
        };
        // 400, 401, 403, 404, 410 will be the same the next time, and so will a connection that took that long to fail.
        let may_help = match trouble.status {
            Some(status) => matches!(status, 429 | 500..=599),
            None => began.elapsed() < SLOW,
        };
        let wait = asked_for.unwrap_or(pause).max(pause);
        if !may_help || attempt == ATTEMPTS || wait > LONGEST_PAUSE {
            return Err(trouble);
        }
        sleep(wait).await;
        pause *= 2;
        attempt += 1;
    }
}

struct Answer {
    status: u16,
    retry_after: Option<Duration>,
    body: Vec<u8>,
}

async fn once(client: &Client, request: &Request<Vec<u8>>) -> Result<Answer, kube::Error> {
    let response = client.send(request.clone().map(Body::from)).await?;
    let status = response.status().as_u16();
    let seconds = response.headers().get(RETRY_AFTER).and_then(|value| value.to_str().ok()?.parse().ok());
    let body = response.into_body().collect_bytes().await?;
    Ok(Answer { status, retry_after: seconds.map(Duration::from_secs), body: body.into() })
}

/// What an answer means that holds no objects.
///
/// Absent is only what a Status of the API server calls absent. A page of a proxy with the same number is an error:
/// taking it for absence would report living databases as missing.
async fn refusal(client: &Client, answer: &Answer, kind: &Kind) -> Trouble {
    let trouble = |reason, message| Trouble { reason, message, status: Some(answer.status) };
    let status = serde_json::from_slice::<Value>(&answer.body).ok().filter(|value| {
        value.get("kind").and_then(Value::as_str) == Some("Status") && value.get("code").is_some_and(Value::is_u64)
    });
    let words = status.as_ref().and_then(|status| status.get("message")).and_then(Value::as_str).unwrap_or_default();
    match (answer.status, status.is_some()) {
        // Rights are asked about before existence: what is not served is forbidden too, to whoever has no rights on it.
        (403, _) if !kind.built_in && is_served(client, kind).await == Ok(false) => {
            trouble(GapReason::NotFound, not_served(kind))
        }
        (403, true) => trouble(GapReason::Forbidden, words.to_owned()),
        (403, false) => trouble(GapReason::Forbidden, format!("the server refuses {} (403)", kind.resource)),
        (401, _) => trouble(
            GapReason::Error,
            "the server does not accept the credentials (401): they are missing, wrong or expired".to_owned(),
        ),
        (404, true) => trouble(GapReason::NotFound, words.to_owned()),
        // Whoever asks for a group that is not served gets a plain text. Only the list of groups tells it from a proxy's.
        (404, false) if !kind.built_in => match is_served(client, kind).await {
            Ok(false) => trouble(GapReason::NotFound, not_served(kind)),
            Ok(true) => trouble(GapReason::Error, no_status(answer.status)),
            Err(error) => trouble(GapReason::Error, error),
        },
        (code, true) => trouble(GapReason::Error, format!("the server answers {code}: {words}")),
        (code, false) => trouble(GapReason::Error, no_status(code)),
    }
}

fn not_served(kind: &Kind) -> String {
    format!("the server has no {} of {}", kind.resource, kind.group())
}

fn no_status(code: u16) -> String {
    format!("{code} without a Kubernetes Status: a proxy or load balancer answers in place of the API server")
}

/// Whether the server lists the group of a kind.
async fn is_served(client: &Client, kind: &Kind) -> Result<bool, String> {
    let request = Request::get("/apis").body(Vec::new()).map_err(|error| error.to_string())?;
    let answer = once(client, &request).await.map_err(|error| in_words(&error))?;
    let list: Value = serde_json::from_slice(&answer.body).unwrap_or_default();
    match list.get("groups").and_then(Value::as_array) {
        Some(groups) if answer.status < 400 => {
            Ok(groups.iter().any(|group| group.get("name").and_then(Value::as_str) == Some(kind.group())))
        }
        _ => Err(no_status(answer.status)),
    }
}

/// How a message begins when there is no connection. Who knows the address puts it in.
pub(in crate::cluster) const UNREACHED: &str = "the server cannot be reached";

/// An error with its causes. The first words of the client's own errors say nothing: `client error (Connect)`.
fn in_words(error: &kube::Error) -> String {
    if matches!(error, kube::Error::SerdeError(_)) {
        // Its words would quote the answer.
        return "the server's answer is not understood".to_owned();
    }
    // What the client calls it, "ServiceError", says nothing to anybody.
    let mut words = vec![match error {
        kube::Error::Service(_) | kube::Error::HyperError(_) => UNREACHED.to_owned(),
        other => other.to_string(),
    }];
    let mut cause = error.source();
    while let Some(error) = cause {
        let text = error.to_string();
        // Many repeat what their cause says.
        if !words.iter().any(|said| said.contains(&text)) {
            words.push(text);
        }
        cause = error.source();
    }
    words.join(": ")
}
