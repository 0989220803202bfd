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
use crate::api::metric_of;

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

/// In Prometheus' text format: every metric of the list, with its text.
fn metrics(shared: &Shared) -> String {
    let counted = &shared.progress.counted;
    let get = |number: &std::sync::atomic::AtomicU64| number.load(Ordering::Relaxed);
    let mut text = String::new();
    let mut tell = |name: &str, rows: &[(&str, u64)]| {
        let Some(metric) = metric_of(name) else { return };
        let _ = writeln!(text, "# HELP {name} {}\n# TYPE {name} {}", metric.text, metric.kind);
        for (value, number) in rows {
            let label = metric.labels.first().map_or_else(String::new, |label| format!("{{{label}=\"{value}\"}}"));
            let _ = writeln!(text, "{name}{label} {number}");
        }
    };
    tell("dbrender_reconciles_total", &[("done", get(&counted.done)), ("retried", get(&counted.retried))]);
    tell("dbrender_applies_total", &[("", get(&counted.applied))]);
    tell("dbrender_deletes_total", &[("", get(&counted.deleted))]);
    tell("dbrender_forced_total", &[("", get(&counted.forced))]);
    tell("dbrender_status_writes_total", &[("", get(&counted.statuses))]);
    let asked = [("allowed", get(&counted.allowed)), ("denied", get(&counted.denied))];
    tell("dbrender_admission_reviews_total", &asked);
    tell("dbrender_webhook_certificate_end_seconds", &[("", get(&counted.certificate_end))]);
    tell("dbrender_leader", &[(&shared.shard.to_string(), u64::from(shared.progress.leads()))]);
    let phases: Vec<(&str, u64)> =
        shared.progress.phases().into_iter().map(|(phase, number)| (phase, number as u64)).collect();
    tell("dbrender_databases", &phases);
    tell("dbrender_databases_stalled", &[("", shared.progress.stalled() as u64)]);
    text
}
