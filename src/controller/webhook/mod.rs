//! The validating webhook: the same check as everywhere, asked by the API server before it stores a Database.
//!
//! What has been stored a moment ago may not have been seen: the loop checks again.

mod certificate;
mod review;

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use http::{Method, Request, Response, StatusCode};
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;

use super::progress::count;
use super::{Shared, Webhook};
use certificate::Certificate;

/// Where it is asked.
const PATH: &str = "/validate";
/// The longest review, in bytes: two Databases, each as large as the server's store takes one, and the words around them.
const LONGEST: usize = 8 << 20;
/// The longest that a client may take to say something.
const PATIENCE: Duration = Duration::from_secs(10);

/// Listens, and answers until the process ends.
///
/// # Errors
/// When the address cannot be had. A certificate that cannot be read is waited for.
pub(super) async fn serve(webhook: Webhook, shared: Shared) -> std::io::Result<SocketAddr> {
    let listener = TcpListener::bind(webhook.address).await?;
    let address = listener.local_addr()?;
    let certificate = Arc::new(Certificate::default());
    let acceptor =
        TlsAcceptor::from(Arc::new(certificate::config(certificate.clone()).map_err(std::io::Error::other)?));
    tokio::spawn(certificate::follow(webhook.certificates, certificate, shared.clone()));
    tokio::spawn(async move {
        loop {
            let Ok((stream, _)) = listener.accept().await else { continue };
            let (shared, acceptor) = (shared.clone(), acceptor.clone());
            tokio::spawn(async move {
                // Whoever does not trust the certificate says so itself, to whoever asked.
                let Ok(Ok(stream)) = timeout(PATIENCE, acceptor.accept(stream)).await else { return };
                let answer = service_fn(move |request| answer(request, shared.clone()));
                // Each question has a connection of its own: a new certificate is seen by the next one.
                let connection = http1::Builder::new().keep_alive(false).serve_connection(TokioIo::new(stream), answer);
                let _ = connection.await;
            });
        }
    });
    Ok(address)
}

async fn answer(request: Request<Incoming>, shared: Shared) -> Result<Response<Full<Bytes>>, Infallible> {
    let (status, text) = match (request.method(), request.uri().path()) {
        (&Method::POST, PATH) => match timeout(PATIENCE, Limited::new(request.into_body(), LONGEST).collect()).await {
            Ok(Ok(body)) => reviewed(&body.to_bytes(), &shared),
            _ => (StatusCode::BAD_REQUEST, "the body is too long, or it did not come\n".to_owned()),
        },
        (_, PATH) => (StatusCode::METHOD_NOT_ALLOWED, "only POST\n".to_owned()),
        _ => (StatusCode::NOT_FOUND, "not found\n".to_owned()),
    };
    let mut response = Response::new(Full::new(Bytes::from(text)));
    *response.status_mut() = status;
    if status == StatusCode::OK {
        let value = http::HeaderValue::from_static("application/json");
        response.headers_mut().insert(http::header::CONTENT_TYPE, value);
    }
    Ok(response)
}

fn reviewed(body: &[u8], shared: &Shared) -> (StatusCode, String) {
    let review = serde_json::from_slice(body).ok();
    let Some(answer) =
        review.and_then(|review| review::answer(&review, &shared.ground(), &shared.schemas, &shared.stored()))
    else {
        return (StatusCode::BAD_REQUEST, "this is no AdmissionReview of admission.k8s.io/v1\n".to_owned());
    };
    let counted = &shared.progress.counted;
    count(if answer["response"]["allowed"] == true { &counted.allowed } else { &counted.denied });
    (StatusCode::OK, answer.to_string())
}
