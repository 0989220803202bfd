//! Real API servers for tests: which are there, and requests to them. `testbed/up MINOR` starts one.
#![allow(dead_code, reason = "each test binary uses its part of this module")]

use std::time::Duration;

use kube::Client;
use kube::config::{Config, KubeConfigOptions, Kubeconfig};
use serde_json::Value;

/// A running API server.
#[derive(Clone)]
pub(crate) struct Server {
    /// `1.34`.
    pub(crate) minor: String,
    /// Path of the kubeconfig.
    pub(crate) kubeconfig: std::path::PathBuf,
    pub(crate) client: Client,
}

/// What the server said.
pub(crate) struct Answer {
    /// HTTP status.
    pub(crate) code: u16,
    /// The object, or a Status.
    pub(crate) body: Value,
}

impl Answer {
    /// The body of a success.
    pub(crate) fn ok(self) -> Result<Value, String> {
        if (200..300).contains(&self.code) { Ok(self.body) } else { Err(format!("{}: {}", self.code, self.message())) }
    }

    /// The server's own sentence.
    pub(crate) fn message(&self) -> String {
        self.body["message"].as_str().unwrap_or_default().to_owned()
    }

    /// Fields that the server names as the cause.
    pub(crate) fn fields(&self) -> Vec<String> {
        let causes = self.body["details"]["causes"].as_array().cloned().unwrap_or_default();
        causes.iter().filter_map(|cause| cause["field"].as_str()).map(str::to_owned).collect()
    }
}

/// The servers named by `DBRENDER_KUBECONFIG_1_34` and so on. None is a failure and no reason to skip.
pub(crate) async fn all() -> Vec<Server> {
    let mut servers = Vec::new();
    for minor in ["1.34", "1.35", "1.36", "1.37"] {
        let variable = format!("DBRENDER_KUBECONFIG_{}", minor.replace('.', "_"));
        let Some(path) = std::env::var_os(&variable) else { continue };
        let kubeconfig = Kubeconfig::read_from(&path).unwrap_or_else(|error| panic!("{variable}: {error}"));
        let mut config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default())
            .await
            .unwrap_or_else(|error| panic!("{variable}: {error}"));
        config.read_timeout = Some(Duration::from_secs(60));
        let client = Client::try_from(config).unwrap_or_else(|error| panic!("{variable}: {error}"));
        servers.push(Server { minor: minor.to_owned(), kubeconfig: path.into(), client });
    }
    assert!(!servers.is_empty(), "set DBRENDER_KUBECONFIG_1_34 to what `testbed/up 1.34` prints");
    servers
}

impl Server {
    /// One request.
    pub(crate) async fn send(&self, method: &str, path: &str, content_type: &str, body: &Value) -> Answer {
        let bytes = if body.is_null() { Vec::new() } else { body.to_string().into_bytes() };
        let request = http::Request::builder()
            .method(method)
            .uri(path)
            .header("content-type", content_type)
            .header("accept", "application/json")
            .body(bytes)
            .unwrap();
        match self.client.request::<Value>(request).await {
            Ok(body) => Answer { code: 200, body },
            Err(kube::Error::Api(status)) => {
                Answer { code: status.code, body: serde_json::to_value(&*status).unwrap() }
            }
            Err(error) => panic!("{method} {path}: {error}"),
        }
    }

    /// Server-side apply with strict field validation, as the field manager `dbrender`.
    pub(crate) async fn apply(&self, object: &Value) -> Answer {
        let path = format!("{}?fieldManager=dbrender&force=true&fieldValidation=Strict", path_of(object));
        self.send("PATCH", &path, "application/apply-patch+yaml", object).await
    }

    /// Create without storing, with strict field validation.
    pub(crate) async fn try_create(&self, object: &Value) -> Answer {
        let path = format!("{}?dryRun=All&fieldValidation=Strict", collection_of(object));
        self.send("POST", &path, "application/json", object).await
    }

    /// Replaces an object without storing it; the answer is what would be stored.
    pub(crate) async fn try_replace(&self, object: &Value) -> Answer {
        let path = format!("{}?dryRun=All&fieldManager=somebody", path_of(object));
        self.send("PUT", &path, "application/json", object).await
    }

    /// The object as it is stored.
    pub(crate) async fn get(&self, object: &Value) -> Answer {
        self.send("GET", &path_of(object), "application/json", &Value::Null).await
    }

    /// A namespace, new or not.
    pub(crate) async fn namespace(&self, name: &str) {
        let namespace = serde_json::json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}});
        self.apply(&namespace).await.ok().unwrap();
    }

    /// Applies definitions and waits until they are served.
    pub(crate) async fn define(&self, definition: &Value) {
        self.apply(definition).await.ok().unwrap_or_else(|error| panic!("{}: {error}", self.minor));
        for _ in 0..600 {
            let stored = self.get(definition).await.ok().unwrap();
            let conditions = stored["status"]["conditions"].as_array().cloned().unwrap_or_default();
            if conditions.iter().any(|c| c["type"] == "Established" && c["status"] == "True") {
                return;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        panic!("{}: {} is not served", self.minor, definition["metadata"]["name"]);
    }
}

fn collection_of(object: &Value) -> String {
    let api_version = object["apiVersion"].as_str().unwrap_or_default();
    let kind = object["kind"].as_str().unwrap_or_default();
    let plural = match kind {
        "NetworkPolicy" => "networkpolicies".to_owned(),
        "StorageClass" => "storageclasses".to_owned(),
        "GitRepository" => "gitrepositories".to_owned(),
        "OCIRepository" => "ocirepositories".to_owned(),
        "ValidatingAdmissionPolicy" => "validatingadmissionpolicies".to_owned(),
        other => format!("{}s", other.to_lowercase()),
    };
    let base = if api_version.contains('/') { format!("/apis/{api_version}") } else { format!("/api/{api_version}") };
    match object["metadata"]["namespace"].as_str() {
        Some(namespace) => format!("{base}/namespaces/{namespace}/{plural}"),
        None => format!("{base}/{plural}"),
    }
}

/// The path of an object.
pub(crate) fn path_of(object: &Value) -> String {
    format!("{}/{}", collection_of(object), object["metadata"]["name"].as_str().unwrap_or_default())
}

/// Leaves of `ours` that the server stores otherwise, as `path: ours != theirs`.
pub(crate) fn lost(path: &str, ours: &Value, theirs: &Value, out: &mut Vec<String>) {
    match (ours, theirs) {
        (Value::Object(a), Value::Object(b)) => {
            for (key, value) in a {
                lost(&format!("{path}/{key}"), value, b.get(key).unwrap_or(&Value::Null), out);
            }
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            for (index, (x, y)) in a.iter().zip(b).enumerate() {
                lost(&format!("{path}/{index}"), x, y, out);
            }
        }
        _ if ours == theirs => {}
        _ => out.push(format!("{path}: {ours} became {theirs}")),
    }
}
