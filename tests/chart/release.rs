//! A release in a namespace of its own, Databases beside it, and what is asked of both.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::servers::Server;
use crate::{helm_ok, objects, root};

/// Longest wait for anything. The machine may be busy with other tests.
const PATIENCE: Duration = Duration::from_secs(180);

/// Makes the kinds of other projects known to a server.
pub(crate) async fn other_kinds(server: &Server) {
    let folder = root().join("fixtures/schemas");
    for file in [
        "prometheus-operator/podmonitors.yaml",
        "prometheus-operator/prometheusrules.yaml",
        "cert-manager/issuers.yaml",
        "cert-manager/certificates.yaml",
    ] {
        let definition = objects(&fs::read_to_string(folder.join(file)).unwrap()).remove(0);
        server.define(&definition).await;
    }
}

/// Every metric that an alert or a panel asks for is one that the controller exports.
pub(crate) fn alerts_and_panels_know(metrics: &str) {
    let exported: BTreeSet<&str> =
        metrics.lines().filter_map(|line| line.strip_prefix("# TYPE ")?.split(' ').next()).collect();
    for file in ["files/rules.yaml", "files/dashboard.json"] {
        let text = fs::read_to_string(root().join("charts/dbrender").join(file)).unwrap();
        let is_part = |c: char| c.is_ascii_lowercase() || c == '_';
        let asked: BTreeSet<&str> = text
            .match_indices("dbrender_")
            .map(|(at, _)| text[at..].split(|c| !is_part(c)).next().unwrap_or_default())
            .collect();
        assert!(asked.len() > 3, "{file}: {asked:?}");
        let strange: Vec<&&str> = asked.iter().filter(|name| !exported.contains(**name)).collect();
        assert!(strange.is_empty(), "{file} asks for {strange:?}; there are {exported:?}");
    }
}

/// One release and the namespace of its Databases.
pub(crate) struct Bed {
    server: Server,
    /// Also the name of the release.
    operators: String,
    databases: String,
    scratch: tempfile::TempDir,
}

impl Bed {
    pub(crate) async fn new(server: Server) -> Bed {
        let number = std::process::id();
        let bed = Bed {
            server,
            operators: format!("chart-{number}"),
            databases: format!("chart-{number}-databases"),
            scratch: tempfile::tempdir().unwrap(),
        };
        let restricted = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": bed.operators,
            "labels": {"pod-security.kubernetes.io/enforce": "restricted"}}});
        bed.server.apply(&restricted).await.ok().unwrap();
        bed.server.namespace(&bed.databases).await;
        bed
    }

    /// Runs Helm on this release (`{}` stands for its name) and waits until what it made is ready.
    pub(crate) fn helm(&self, arguments: &[&str]) {
        let watch = format!("watchNamespace={}", self.databases);
        let mut all: Vec<&str> =
            arguments.iter().map(|text| if *text == "{}" { self.operators.as_str() } else { text }).collect();
        all.extend(["--namespace", &self.operators, "--wait", "--timeout", "3m"]);
        if ["install", "upgrade"].contains(&arguments[0]) {
            all.extend(["--set", &watch, "--set", "platform.storageClasses.fast=standard"]);
        }
        helm_ok(&all, Some(&self.server.kubeconfig));
    }

    /// The chart as another version.
    pub(crate) fn package(&self, version: &str) -> String {
        let folder = self.scratch.path().to_str().unwrap();
        helm_ok(&["package", "dbrender", "--version", version, "--destination", folder], None);
        format!("{folder}/dbrender-{version}.tgz")
    }

    fn name(&self) -> String {
        format!("{}-dbrender", self.operators)
    }

    pub(crate) async fn deployment(&self) -> Value {
        let deployment = json!({"apiVersion": "apps/v1", "kind": "Deployment",
            "metadata": {"name": self.name(), "namespace": self.operators}});
        self.server.get(&deployment).await.body
    }

    pub(crate) async fn definition(&self) -> Value {
        self.server.get(&dbrender::api::crd()).await.body
    }

    pub(crate) async fn create_databases(&self) {
        for (name, replicas) in [("order-db", 3), ("cart-db", 1)] {
            let database = json!({"apiVersion": "app.example.com/v1alpha1", "kind": "Database",
                "metadata": {"name": name, "namespace": self.databases},
                "spec": {"engine": "postgresql", "version": "17", "replicas": replicas,
                    "storage": {"size": "1Gi", "storageClass": "fast"},
                    "scheduling": {"nodeSelector": {"type": "fake"}, "topologyKeys": ["kubernetes.io/hostname"]}}});
            self.server.apply(&database).await.ok().unwrap();
        }
    }

    /// The image that a fake node does not run: the same program with the arguments of the Deployment, its platform file
    /// and the rights of its ServiceAccount. Returns its metrics once it has looked at every Database.
    pub(crate) async fn run_what_the_deployment_runs(&self) -> String {
        let deployment = self.deployment().await;
        let pod = &deployment["spec"]["template"]["spec"];
        let configuration = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"namespace": self.operators,
            "name": pod["volumes"][0]["configMap"]["name"]}});
        let configuration = self.server.get(&configuration).await.ok().unwrap();
        let file = self.scratch.path().join("dbrender.yaml");
        fs::write(&file, configuration["data"]["dbrender.yaml"].as_str().unwrap()).unwrap();
        let certificates = self.scratch.path().join("certificates");
        for (name, value) in self.certificate().await.as_object().into_iter().flatten() {
            fs::create_dir_all(&certificates).unwrap();
            fs::write(certificates.join(name), base64(value.as_str().unwrap())).unwrap();
        }
        let own: Vec<String> = pod["containers"][0]["args"]
            .as_array()
            .unwrap()
            .iter()
            .map(|argument| {
                let argument = argument.as_str().unwrap();
                let argument = argument.replace("/etc/dbrender/dbrender.yaml", file.to_str().unwrap());
                let argument = argument.replace("/etc/dbrender-webhook", certificates.to_str().unwrap());
                let argument = argument.replace("0.0.0.0:9443", "127.0.0.1:0");
                argument.replace("0.0.0.0:8081", "127.0.0.1:0").replace("0.0.0.0:8080", "127.0.0.1:0")
            })
            .collect();
        let account =
            format!("system:serviceaccount:{}:{}", self.operators, pod["serviceAccountName"].as_str().unwrap());
        let log = self.scratch.path().join("controller.log");
        let mut controller = Running(
            Command::new(env!("CARGO_BIN_EXE_dbrender"))
                .args(&own)
                .args(["--as", &account])
                .env("KUBECONFIG", &self.server.kubeconfig)
                .env("POD_NAMESPACE", &self.operators)
                .env("POD_NAME", "outside")
                .stdout(Stdio::null())
                .stderr(fs::File::create(&log).unwrap())
                .spawn()
                .unwrap(),
        );
        let deadline = Instant::now() + PATIENCE;
        loop {
            let said = fs::read_to_string(&log).unwrap_or_default();
            let ended = controller.0.try_wait().unwrap();
            assert!(ended.is_none() && Instant::now() < deadline, "{ended:?}\n{said}");
            let metrics = said.lines().find_map(|line| line.split("Metrics is served on ").nth(1)).map(page);
            let looked = |text: &&String| said.contains(" leading") && sum(text, "dbrender_databases{") == 2;
            if let Some(text) = metrics.as_ref().filter(looked)
                && self.has_everything().await
            {
                if let Some(address) = said.lines().find_map(|line| line.split("Webhook is served on ").nth(1)) {
                    self.trusts(address.trim(), &certificates);
                }
                controller.end();
                return text.clone();
            }
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
    }

    /// The Secret of the webhook: its data, in base64.
    pub(crate) async fn certificate(&self) -> Value {
        let secret = json!({"apiVersion": "v1", "kind": "Secret",
            "metadata": {"name": format!("{}-webhook", self.name()), "namespace": self.operators}});
        self.server.get(&secret).await.body["data"].clone()
    }

    /// What the API server is told to ask.
    pub(crate) async fn webhook(&self) -> Value {
        let configuration = json!({"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingWebhookConfiguration",
            "metadata": {"name": self.name()}});
        self.server.get(&configuration).await.body["webhooks"][0].clone()
    }

    /// Whoever trusts the authority trusts this address, by the name that the API server calls the Service.
    fn trusts(&self, address: &str, certificates: &Path) {
        let name = format!("{}-webhook.{}.svc", self.name(), self.operators);
        let output = Command::new("openssl")
            .args([
                "s_client",
                "-connect",
                address,
                "-servername",
                &name,
                "-verify_hostname",
                &name,
                "-verify_return_error",
            ])
            .arg("-CAfile")
            .arg(certificates.join("ca.crt"))
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(said.contains("Verify return code: 0 (ok)") || said.contains("Verification: OK"), "{said}");
    }

    async fn has_everything(&self) -> bool {
        let mut there = true;
        // All members are ready, so that no claim comes any more.
        for (name, members) in [("order-db", 3), ("cart-db", 1)] {
            let database = json!({"apiVersion": "app.example.com/v1alpha1", "kind": "Database",
                "metadata": {"name": name, "namespace": self.databases}});
            let set = json!({"apiVersion": "apps/v1", "kind": "StatefulSet",
                "metadata": {"name": name, "namespace": self.databases}});
            let observed = self.server.get(&database).await.body["status"]["observedGeneration"].as_i64();
            there &= observed.is_some() && self.server.get(&set).await.body["status"]["readyReplicas"] == members;
        }
        there
    }

    /// uid and generation of every Database and of everything that belongs to one.
    pub(crate) async fn everything(&self) -> BTreeMap<String, String> {
        let mut found = BTreeMap::new();
        let lists = [
            "apis/app.example.com/v1alpha1/namespaces/{}/databases",
            "apis/apps/v1/namespaces/{}/statefulsets",
            "api/v1/namespaces/{}/persistentvolumeclaims",
            "api/v1/namespaces/{}/secrets",
            "api/v1/namespaces/{}/services",
            "api/v1/namespaces/{}/configmaps",
            "api/v1/namespaces/{}/serviceaccounts",
            "apis/batch/v1/namespaces/{}/cronjobs",
            "apis/networking.k8s.io/v1/namespaces/{}/networkpolicies",
            "apis/rbac.authorization.k8s.io/v1/namespaces/{}/roles",
            "apis/rbac.authorization.k8s.io/v1/namespaces/{}/rolebindings",
        ];
        for list in lists {
            let path = format!("/{}", list.replace("{}", &self.databases));
            let answer = self.server.send("GET", &path, "application/json", &Value::Null).await.ok().unwrap();
            for item in answer["items"].as_array().unwrap() {
                let metadata = &item["metadata"];
                let state = format!("{} {} {}", metadata["uid"], metadata["generation"], metadata["deletionTimestamp"]);
                found.insert(format!("{list} {}", metadata["name"]), state);
            }
        }
        found
    }

    /// Removes what was made.
    pub(crate) async fn end(self) {
        let databases = format!("/apis/app.example.com/v1alpha1/namespaces/{}/databases", self.databases);
        for name in ["order-db", "cart-db"] {
            // No controller takes the finalizer away any more.
            let path = format!("{databases}/{name}");
            let patch = json!({"metadata": {"finalizers": null}});
            self.server.send("PATCH", &path, "application/merge-patch+json", &patch).await.ok().unwrap();
            self.server.send("DELETE", &path, "application/json", &Value::Null).await.ok().unwrap();
        }
        for namespace in [&self.operators, &self.databases] {
            let path = format!("/api/v1/namespaces/{namespace}");
            self.server.send("DELETE", &path, "application/json", &Value::Null).await.ok().unwrap();
        }
    }
}

fn base64(text: &str) -> Vec<u8> {
    use ::base64::Engine as _;
    ::base64::engine::general_purpose::STANDARD.decode(text).unwrap()
}

/// A process that does not outlive its test.
struct Running(Child);

impl Running {
    fn end(&mut self) {
        let status = Command::new("kill").args(["-TERM", &self.0.id().to_string()]).status().unwrap();
        assert!(status.success());
        assert_eq!(self.0.wait().unwrap().code(), Some(0));
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn page(address: &str) -> String {
    use std::io::{Read as _, Write as _};
    let mut stream = std::net::TcpStream::connect(address.trim()).unwrap();
    stream.write_all(b"GET /metrics HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    text
}

fn sum(metrics: &str, prefix: &str) -> u64 {
    let values = metrics.lines().filter(|line| line.starts_with(prefix)).filter_map(|line| line.rsplit(' ').next());
    values.filter_map(|value| value.parse::<u64>().ok()).sum()
}
