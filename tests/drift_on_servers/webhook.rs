//! A real mutating webhook, called by real API servers: what it adds is its own, and not drift.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use dbrender::diff::{Bucket, FailOn, Verdict};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use serde_json::{Value, json};

use super::servers::Server;
use super::{apply, changes, compare, plans, prepared, read, runtime};

/// The certificate of a webhook that listens, in PEM, and its port.
fn listen() -> (String, u16) {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name).display().to_string();
    let made = Command::new("openssl")
        .args(["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"])
        .args(["-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"])
        .args(["-keyout", &file("key"), "-out", &file("certificate")])
        .output()
        .unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let pem = std::fs::read_to_string(file("certificate")).unwrap();
    let chain = vec![CertificateDer::from_pem_file(file("certificate")).unwrap()];
    let key = PrivateKeyDer::from_pem_file(file("key")).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(chain, key)
        .unwrap();
    let config = Arc::new(config);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for connection in listener.incoming().flatten() {
            let config = Arc::clone(&config);
            std::thread::spawn(move || answer(connection, config));
        }
    });
    (pem, port)
}

/// One request and its answer. A server that only looks whether somebody is there sends none.
fn answer(connection: TcpStream, config: Arc<ServerConfig>) -> Option<()> {
    let mut stream = StreamOwned::new(ServerConnection::new(config).ok()?, connection);
    let mut bytes = Vec::new();
    let mut chunk = [0; 16 * 1024];
    let (start, length) = loop {
        let read = stream.read(&mut chunk).ok().filter(|read| *read > 0)?;
        bytes.extend_from_slice(&chunk[..read]);
        let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") else { continue };
        let head = String::from_utf8_lossy(&bytes[..end]).to_lowercase();
        let length = head.lines().find_map(|line| line.strip_prefix("content-length:")?.trim().parse().ok());
        break (end + 4, length.unwrap_or(0));
    };
    while bytes.len() < start + length {
        let read = stream.read(&mut chunk).ok().filter(|read| *read > 0)?;
        bytes.extend_from_slice(&chunk[..read]);
    }
    let review: Value = serde_json::from_slice(&bytes[start..start + length]).ok()?;
    let patch = STANDARD.encode(Value::from(additions(&review["request"]["object"])).to_string());
    let body = json!({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "response": {
        "uid": review["request"]["uid"], "allowed": true, "patchType": "JSONPatch", "patch": patch}})
    .to_string();
    let head = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes()).ok()?;
    stream.write_all(body.as_bytes()).ok()?;
    stream.flush().ok()
}

/// What the webhook adds: a sidecar with all that belongs to it, labels and annotations. Once, as webhooks do.
fn additions(object: &Value) -> Vec<Value> {
    let add = |path: &str, value: Value| json!({"op": "add", "path": path, "value": value});
    let mut patch = vec![add("/metadata/labels/mesh.example.com~1seen", json!("yes"))];
    if object["kind"] != "StatefulSet" {
        return patch;
    }
    let containers = object["spec"]["template"]["spec"]["containers"].as_array().cloned().unwrap_or_default();
    if containers.iter().all(|container| container["name"] != "mesh") {
        let annotations = "/spec/template/metadata/annotations";
        if object.pointer(annotations).is_none() {
            patch.push(add(annotations, json!({})));
        }
        patch.extend([
            add(&format!("{annotations}/mesh.example.com~1status"), json!("injected")),
            add("/spec/template/spec/containers/-", json!({"name": "mesh", "image": "mesh:1"})),
            add("/spec/template/spec/volumes/-", json!({"name": "mesh", "emptyDir": {}})),
        ]);
    }
    patch
}

async fn configure(server: &Server, namespace: &str, pem: &str, port: u16) -> Value {
    let configuration = json!({
        "apiVersion": "admissionregistration.k8s.io/v1", "kind": "MutatingWebhookConfiguration",
        "metadata": {"name": "mesh.example.com"},
        "webhooks": [{
            "name": "mesh.example.com", "sideEffects": "None", "admissionReviewVersions": ["v1"],
            // A failure would be silent, and the test would say so: it waits for the first addition.
            "failurePolicy": "Ignore", "timeoutSeconds": 5,
            "clientConfig": {"url": format!("https://127.0.0.1:{port}/"), "caBundle": STANDARD.encode(pem)},
            "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": namespace}},
            "rules": [{"apiGroups": ["", "apps"], "apiVersions": ["v1"], "resources": ["statefulsets", "services"],
                "operations": ["CREATE", "UPDATE"], "scope": "Namespaced"}],
        }],
    });
    server.apply(&configuration).await.ok().unwrap();
    configuration
}

/// If this fails, every service mesh is a drift, or what a webhook does to our own containers goes unseen.
#[test]
fn what_a_mutating_webhook_adds_is_foreign_and_no_drift() {
    let (pem, port) = listen();
    // Of its own each time, so that the test can be run again on the same server.
    let namespace = format!("injected-{}", std::process::id());
    runtime().block_on(async {
        for server in prepared().await {
            server.namespace(&namespace).await;
            let configuration = configure(&server, &namespace, &pem, port).await;
            let cases = plans::all(|_| Some(namespace.clone()));
            let case = cases.into_iter().find(|case| case.name == "order-db").unwrap();
            let set = case.objects.iter().find(|object| object.kind == "StatefulSet").unwrap();
            let end = Instant::now() + Duration::from_secs(60);
            while server.try_create(&set.value).await.ok().unwrap()["metadata"]["labels"]
                .get("mesh.example.com/seen")
                .is_none()
            {
                assert!(Instant::now() < end, "{}: the webhook is not called", server.minor);
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
            apply(&server, &case).await;
            // Applied again, as each sync does: the webhook is called again, and the fields have owners by now.
            apply(&server, &case).await;
            let report = compare(&case.plan, &case.objects, &read(&server, &namespace).await, &server);
            let path = super::servers::path_of(&configuration);
            server.send("DELETE", &path, "application/json", &Value::Null).await.ok().unwrap();
            let all = changes(&report);
            assert!(all.iter().all(|change| change.bucket == Bucket::Foreign), "{}: {all:#?}", server.minor);
            for path in [
                "/metadata/labels/mesh.example.com~1seen",
                "/spec/template/metadata/annotations/mesh.example.com~1status",
                "/spec/template/spec/containers/[name=mesh]",
                "/spec/template/spec/volumes/[name=mesh]",
            ] {
                assert!(all.iter().any(|change| change.path == path), "{}: no {path} in {all:#?}", server.minor);
            }
            assert_eq!(report.verdict(FailOn::default()), Verdict::InSync);
            assert_eq!(report.verdict(FailOn::Foreign), Verdict::Differences);
        }
    });
}
