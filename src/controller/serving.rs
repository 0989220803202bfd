//! What the controller answers over HTTP: whether it lives, whether it is ready, and its metrics.

use std::convert::Infallible;
use std::fmt::Write as _;
use std::net::SocketAddr;
use std::sync::atomic::Ordering;

use http::{Request, Response, StatusCode};
use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;

use super::Shared;

/// Which of the two addresses this is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Site {
    /// `/healthz` and `/readyz`.
    Health,
    /// `/metrics`.
    Metrics,
}

/// Listens, and answers until the process ends.
///
/// # Errors
/// When the address cannot be had.
pub(super) async fn serve(address: SocketAddr, site: Site, shared: Shared) -> std::io::Result<SocketAddr> {
    let listener = TcpListener::bind(address).await?;
    let address = listener.local_addr()?;
    tokio::spawn(async move {
        loop {
            let Ok((stream, _)) = listener.accept().await else { continue };
            let shared = shared.clone();
            tokio::spawn(async move {
                let answer = service_fn(move |request: Request<Incoming>| {
                    let response = answer(site, request.uri().path(), &shared);
                    async move { Ok::<_, Infallible>(response) }
                });
                // A client that goes away is its own business.
                let _ = http1::Builder::new().keep_alive(false).serve_connection(TokioIo::new(stream), answer).await;
            });
        }
    });
    Ok(address)
}

fn answer(site: Site, path: &str, shared: &Shared) -> Response<Full<Bytes>> {
    let (status, text) = match (site, path) {
        (Site::Health, "/healthz") => (StatusCode::OK, "ok\n".to_owned()),
        (Site::Health, "/readyz") => match shared.progress.not_ready() {
            None => (StatusCode::OK, "ok\n".to_owned()),
            Some(why) => (StatusCode::SERVICE_UNAVAILABLE, format!("{why}\n")),
        },
        (Site::Metrics, "/metrics") => (StatusCode::OK, metrics(shared)),
        _ => (StatusCode::NOT_FOUND, "not found\n".to_owned()),
    };
    let mut response = Response::new(Full::new(Bytes::from(text)));
    *response.status_mut() = status;
    if site == Site::Metrics {
        let value = http::HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");
        response.headers_mut().insert(http::header::CONTENT_TYPE, value);
    }
    response
}

/// In Prometheus' text format. Labels are of closed sets, so that their number does not grow with the fleet.
fn metrics(shared: &Shared) -> String {
    let counted = &shared.progress.counted;
    let mut text = String::new();
    let mut counter = |name: &str, help: &str, rows: &[(&str, u64)]| {
        let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} counter");
        for (labels, value) in rows {
            let _ = writeln!(text, "{name}{labels} {value}");
        }
    };
    let get = |number: &std::sync::atomic::AtomicU64| number.load(Ordering::Relaxed);
    counter(
        "dbrender_reconciles_total",
        "Looks at a Database, by what came of them.",
        &[("{result=\"done\"}", get(&counted.done)), ("{result=\"retried\"}", get(&counted.retried))],
    );
    counter("dbrender_applies_total", "Objects that were applied.", &[("", get(&counted.applied))]);
    counter("dbrender_deletes_total", "Objects that were deleted.", &[("", get(&counted.deleted))]);
    counter("dbrender_forced_total", "Applies that took fields from another writer.", &[("", get(&counted.forced))]);
    counter("dbrender_status_writes_total", "Writes of a Database's status.", &[("", get(&counted.statuses))]);
    counter(
        "dbrender_admission_reviews_total",
        "Databases that the webhook was asked about.",
        &[("{result=\"allowed\"}", get(&counted.allowed)), ("{result=\"denied\"}", get(&counted.denied))],
    );
    let _ = writeln!(
        text,
        "# HELP dbrender_webhook_certificate_end_seconds When the webhook's certificate ends; 0: there is none.\n\
         # TYPE dbrender_webhook_certificate_end_seconds gauge\n\
         dbrender_webhook_certificate_end_seconds {}",
        get(&counted.certificate_end)
    );
    let _ = writeln!(text, "# HELP dbrender_leader Whether this process writes.\n# TYPE dbrender_leader gauge");
    let _ = writeln!(text, "dbrender_leader {}", u8::from(shared.progress.leads()));
    let _ = writeln!(text, "# HELP dbrender_databases Databases by phase.\n# TYPE dbrender_databases gauge");
    for (phase, number) in shared.progress.phases() {
        let _ = writeln!(text, "dbrender_databases{{phase=\"{phase}\"}} {number}");
    }
    let _ = writeln!(
        text,
        "# HELP dbrender_databases_stalled Databases that wait for a person.\n# TYPE dbrender_databases_stalled gauge"
    );
    let _ = writeln!(text, "dbrender_databases_stalled {}", shared.progress.stalled());
    text
}
