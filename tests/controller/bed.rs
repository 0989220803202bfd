//! A namespace with volumes, a controller in it, and what a test asks of both.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::servers::{self, Server};

/// Longest wait for anything. The machine may be busy with other tests.
const PATIENCE: Duration = Duration::from_secs(180);
/// A class whose volumes are made by hand and may grow.
const CLASS: &str = "by-hand";

/// A Database of the smallest kind, on fake nodes, with what differs.
pub(crate) fn database(name: &str, differs: &Value) -> Value {
    let mut spec = json!({"engine": "postgresql", "version": "17", "replicas": 1,
        "storage": {"size": "1Gi", "storageClass": CLASS},
        "scheduling": {"nodeSelector": {"type": "fake"}, "topologyKeys": ["kubernetes.io/hostname"]}});
    for (key, value) in differs.as_object().unwrap() {
        spec[key] = value.clone();
    }
    if differs["storage"].is_object() {
        spec["storage"]["storageClass"] = json!(CLASS);
    }
    json!({"apiVersion": "app.example.com/v1alpha1", "kind": "Database", "metadata": {"name": name}, "spec": spec})
}

/// The status of a condition of a Database; empty when it has none.
pub(crate) fn condition(database: &Value, name: &str) -> String {
    find(database, name)["status"].as_str().unwrap_or_default().to_owned()
}

fn find(database: &Value, name: &str) -> Value {
    let conditions = database["status"]["conditions"].as_array().cloned().unwrap_or_default();
    let current = &database["metadata"]["generation"];
    // One that speaks of an earlier generation says nothing.
    let speaks = |c: &&Value| c["type"] == *name && (current.is_null() || c["observedGeneration"] == *current);
    conditions.iter().find(speaks).cloned().unwrap_or_default()
}

/// One namespace of one server.
pub(crate) struct Bed {
    pub(crate) server: Server,
    pub(crate) namespace: String,
    kubeconfig: PathBuf,
    /// Another way to the same server, for the controllers.
    way: Option<PathBuf>,
    /// The users that the controllers are: they have what `dbrender rbac controller` prints, and nothing else.
    pub(crate) users: [String; 2],
    scratch: tempfile::TempDir,
    controller: Option<Child>,
    arguments: Vec<String>,
    metrics: String,
    webhook: String,
}

impl Bed {
    /// One for each server, empty.
    pub(crate) async fn all(name: &str) -> Vec<Bed> {
        Bed::on(servers::all().await, name).await
    }

    /// One for the newest server: for what does not depend on the server's version.
    pub(crate) async fn newest(name: &str) -> Vec<Bed> {
        Bed::on(servers::all().await.pop().into_iter().collect(), name).await
    }

    async fn on(servers: Vec<Server>, name: &str) -> Vec<Bed> {
        let mut beds = Vec::new();
        for server in servers {
            let variable = format!("DBRENDER_KUBECONFIG_{}", server.minor.replace('.', "_"));
            let kubeconfig = PathBuf::from(std::env::var_os(variable).unwrap());
            let namespace = format!("controller-{name}-{}", std::process::id());
            let users = ["first", "second"].map(|which| format!("{which}-{namespace}"));
            let bed = Bed {
                server,
                namespace,
                users,
                way: None,
                kubeconfig,
                scratch: tempfile::tempdir().unwrap(),
                controller: None,
                arguments: Vec::new(),
                metrics: String::new(),
                webhook: String::new(),
            };
            bed.prepare().await;
            beds.push(bed);
        }
        beds
    }

    async fn prepare(&self) {
        self.server.define(&dbrender::api::crd()).await;
        self.server.namespace(&self.namespace).await;
        let output =
            Command::new(env!("CARGO_BIN_EXE_dbrender")).args(["rbac", "controller", "-o", "json"]).output().unwrap();
        let role: Value = serde_json::from_slice(&output.stdout).unwrap();
        self.server.apply(&role).await.ok().unwrap();
        let user = |name: &String| json!({"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": name});
        let binding = json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding",
            "metadata": {"name": self.namespace}, "roleRef": {"apiGroup": "rbac.authorization.k8s.io",
            "kind": "ClusterRole", "name": role["metadata"]["name"]},
            "subjects": self.users.iter().map(user).collect::<Vec<_>>()});
        self.server.apply(&binding).await.ok().unwrap();
        let class = json!({"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": CLASS},
            "provisioner": "kubernetes.io/no-provisioner", "allowVolumeExpansion": true});
        self.server.apply(&class).await.ok().unwrap();
        // Nobody provides volumes here, so there are some.
        for (number, size) in ["3Gi"; 4].into_iter().enumerate() {
            let volume = json!({"apiVersion": "v1", "kind": "PersistentVolume",
                "metadata": {"name": format!("{}-{number}", self.namespace)},
                "spec": {"capacity": {"storage": size}, "accessModes": ["ReadWriteOnce"],
                    "storageClassName": CLASS, "persistentVolumeReclaimPolicy": "Delete",
                    "hostPath": {"path": "/nowhere"}}});
            self.server.apply(&volume).await.ok().unwrap();
        }
    }

    /// Starts the controller and returns when it leads.
    pub(crate) async fn start(&mut self, more: &[&str]) {
        assert!(self.controller.is_none(), "one is running");
        self.arguments = more.iter().map(|text| (*text).to_owned()).collect();
        let (child, log) = self.spawn(&self.users[0]);
        let child = self.controller.insert(child);
        let text = said(child, &log, " leading").await;
        (self.metrics, self.webhook) = (served(&text, "Metrics"), served(&text, "Webhook"));
    }

    /// Starts another one beside it, which waits for its turn.
    pub(crate) async fn another(&mut self) -> Child {
        self.second(" leads; waiting").await.0
    }

    /// The same, with the address of its webhook.
    pub(crate) async fn another_with_webhook(&mut self) -> (Child, String) {
        let (child, text) = self.second(" leads; waiting").await;
        (child, served(&text, "Webhook"))
    }

    /// Starts another one, which leads beside it.
    pub(crate) async fn beside(&mut self, more: &[&str]) -> Child {
        self.arguments = more.iter().map(|text| (*text).to_owned()).collect();
        self.second(" leading").await.0
    }

    async fn second(&self, says: &str) -> (Child, String) {
        let (mut child, log) = self.spawn(&self.users[1]);
        let text = said(&mut child, &log, says).await;
        (child, text)
    }

    /// Has the controllers speak to the server by another kubeconfig.
    pub(crate) fn connect_by(&mut self, kubeconfig: PathBuf) {
        self.way = Some(kubeconfig);
    }

    /// Address of the webhook.
    pub(crate) fn webhook(&self) -> &str {
        &self.webhook
    }

    fn spawn(&self, user: &str) -> (Child, PathBuf) {
        let number = fs::read_dir(self.scratch.path()).unwrap().count();
        let log = self.scratch.path().join(format!("controller-{number}.log"));
        let child = Command::new(env!("CARGO_BIN_EXE_dbrender"))
            .arg("controller")
            .args(["--namespace", &self.namespace, "--lease-namespace", &self.namespace, "--as", user])
            .args(["--health-address", "127.0.0.1:0", "--metrics-address", "127.0.0.1:0"])
            .args(&self.arguments)
            .env("KUBECONFIG", self.way.as_ref().unwrap_or(&self.kubeconfig))
            .stderr(fs::File::create(&log).unwrap())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        (child, log)
    }

    /// Asks it to end, as a kubelet does.
    pub(crate) async fn stop(&mut self) {
        let mut child = self.controller.take().unwrap();
        signal(&child, "TERM");
        assert_eq!(wait(&mut child).await, Some(0));
    }

    pub(crate) fn freeze(&self) {
        signal(self.controller.as_ref().unwrap(), "STOP");
    }

    /// Lets it go on.
    pub(crate) fn thaw(&self) {
        signal(self.controller.as_ref().unwrap(), "CONT");
    }

    /// Ends it as a machine that loses its power does.
    pub(crate) fn kill(&mut self) {
        let mut child = self.controller.take().unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
    }

    /// What the API server has written down about a user since a time (RFC 3339, in UTC).
    pub(crate) fn audit(&self, user: &str, since: &str) -> Vec<Value> {
        let log = self.kubeconfig.parent().unwrap().join("audit.log");
        let text = fs::read_to_string(&log).unwrap_or_else(|error| panic!("{}: {error}", log.display()));
        // The last line may be half written.
        let entries = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        let is_meant = |entry: &Value| {
            entry["impersonatedUser"]["username"] == *user
                && entry["requestReceivedTimestamp"].as_str().is_some_and(|time| time >= since)
        };
        entries.filter(is_meant).collect()
    }

    /// Who has the Lease.
    pub(crate) async fn holder(&self) -> String {
        let lease = self.of("coordination.k8s.io/v1", "Lease", "db-operator-leader");
        self.server.get(&lease).await.body["spec"]["holderIdentity"].as_str().unwrap_or_default().to_owned()
    }

    /// Waits for a state of the cluster.
    pub(crate) async fn until(&self, what: &str, holds: impl AsyncFn(&Bed) -> bool) {
        let deadline = Instant::now() + PATIENCE;
        while !holds(self).await {
            assert!(
                Instant::now() < deadline,
                "{} on {}: not {what}\n{}",
                self.namespace,
                self.server.minor,
                self.told().await
            );
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
    }

    /// What helps to see why.
    pub(crate) async fn told(&self) -> String {
        let path = format!("/apis/app.example.com/v1alpha1/namespaces/{}/databases", self.namespace);
        let list = self.server.send("GET", &path, "application/json", &Value::Null).await.body;
        let mut text: String = list["items"]
            .as_array()
            .into_iter()
            .flatten()
            .fold(String::new(), |text, item| format!("{text}{}: {}\n", item["metadata"]["name"], item["status"]));
        let mut logs: Vec<PathBuf> = fs::read_dir(self.scratch.path()).unwrap().map(|e| e.unwrap().path()).collect();
        logs.sort();
        for log in logs.iter().filter(|path| path.extension().is_some_and(|e| e == "log")) {
            text +=
                &format!("== {}\n{}", log.file_name().unwrap().display(), fs::read_to_string(log).unwrap_or_default());
        }
        text
    }

    /// An object of this namespace, by its name.
    pub(crate) fn of(&self, api_version: &str, kind: &str, name: &str) -> Value {
        json!({"apiVersion": api_version, "kind": kind, "metadata": {"name": name, "namespace": self.namespace}})
    }

    /// Applies a Database as a person does.
    pub(crate) async fn apply(&self, database: &Value) {
        let code = self.try_apply(database).await;
        assert!(code < 300, "{code}");
    }

    pub(crate) async fn try_apply(&self, database: &Value) -> u16 {
        let mut database = database.clone();
        database["metadata"]["namespace"] = json!(self.namespace);
        let path = format!("{}?fieldManager=kubectl&force=true", servers::path_of(&database));
        self.server.send("PATCH", &path, "application/apply-patch+yaml", &database).await.code
    }

    /// What the server warns of when a Database is applied.
    pub(crate) async fn warnings(&self, database: &Value) -> Vec<String> {
        let mut database = database.clone();
        database["metadata"]["namespace"] = json!(self.namespace);
        let path = format!("{}?fieldManager=kubectl&force=true", servers::path_of(&database));
        let request = http::Request::patch(path).header("content-type", "application/apply-patch+yaml");
        let body = kube::client::Body::from(database.to_string().into_bytes());
        let response = self.server.client.send(request.body(body).unwrap()).await.unwrap();
        assert!(response.status().is_success(), "{}", response.status());
        let headers = response.headers().get_all("warning").iter();
        headers.map(|value| value.to_str().unwrap().to_owned()).collect()
    }

    pub(crate) async fn patch(&self, object: &Value, manager: &str, patch: Value) {
        let path = format!("{}?fieldManager={manager}", servers::path_of(object));
        self.server.send("PATCH", &path, "application/merge-patch+json", &patch).await.ok().unwrap();
    }

    pub(crate) async fn delete(&self, object: &Value) {
        self.delete_by(object, "Background").await;
    }

    /// Deletes it, and by what policy what it owns.
    pub(crate) async fn delete_by(&self, object: &Value, policy: &str) {
        let options = json!({"apiVersion": "v1", "kind": "DeleteOptions", "propagationPolicy": policy});
        self.server.send("DELETE", &servers::path_of(object), "application/json", &options).await.ok().unwrap();
    }

    pub(crate) async fn database(&self, name: &str) -> Value {
        self.server.get(&self.of("app.example.com/v1alpha1", "Database", name)).await.body
    }

    pub(crate) async fn database_code(&self, name: &str) -> u16 {
        self.server.get(&self.of("app.example.com/v1alpha1", "Database", name)).await.code
    }

    pub(crate) async fn condition(&self, database: &str, name: &str) -> Value {
        find(&self.database(database).await, name)
    }

    pub(crate) async fn uid(&self, object: &Value) -> String {
        self.server.get(object).await.body["metadata"]["uid"].as_str().unwrap_or_default().to_owned()
    }

    /// What `dbrender render` prints for a Database that is in the cluster.
    pub(crate) async fn rendered(&self, name: &str) -> Vec<Value> {
        let mut database = self.database(name).await;
        let spec = database["spec"].take();
        let declared = json!({"apiVersion": "app.example.com/v1alpha1", "kind": "Database",
            "metadata": {"name": name, "namespace": self.namespace}, "spec": spec});
        let file = self.file("rendered.json", &declared.to_string());
        let output = Command::new(env!("CARGO_BIN_EXE_dbrender"))
            .args(["render", "--quiet", "-o", "json", &file])
            .current_dir(self.scratch.path())
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let list: Value = serde_json::from_slice(&output.stdout).unwrap();
        list["items"].as_array().unwrap().clone()
    }

    /// A file of this test.
    pub(crate) fn file(&self, name: &str, text: &str) -> String {
        let path = self.scratch.path().join(name);
        fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    }

    /// Fills the passwords as a person does.
    pub(crate) fn fill(&self, name: &str) {
        let output = Command::new(env!("CARGO_BIN_EXE_dbrender"))
            .args(["credentials", "fill", "--engine", "postgresql", "--namespace", &self.namespace])
            .args(["--app-secret", &format!("{name}-app"), "--admin-secret", &format!("{name}-admin")])
            .env("KUBECONFIG", &self.kubeconfig)
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }

    /// resourceVersions of what only the controller writes: others have a status, which lives on.
    pub(crate) async fn versions(&self, objects: &[Value]) -> Vec<String> {
        const STILL: [&str; 6] = ["ConfigMap", "NetworkPolicy", "Role", "RoleBinding", "Secret", "ServiceAccount"];
        let mut versions = Vec::new();
        for object in objects.iter().filter(|object| STILL.contains(&object["kind"].as_str().unwrap())) {
            let live = self.server.get(object).await.body;
            versions.push(format!("{} {}", object["metadata"]["name"], live["metadata"]["resourceVersion"]));
        }
        versions
    }

    pub(crate) async fn events(&self, database: &str) -> Vec<Value> {
        let path = format!("/apis/events.k8s.io/v1/namespaces/{}/events", self.namespace);
        let list = self.server.send("GET", &path, "application/json", &Value::Null).await.body;
        let items = list["items"].as_array().cloned().unwrap_or_default();
        items.into_iter().filter(|event| event["regarding"]["name"] == *database).collect()
    }

    /// The page of metrics.
    pub(crate) async fn metrics(&self) -> String {
        use std::io::{Read as _, Write as _};
        let mut stream = std::net::TcpStream::connect(&self.metrics).unwrap();
        stream.write_all(b"GET /metrics HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        text
    }

    pub(crate) async fn metric(&self, name: &str) -> u64 {
        let text = self.metrics().await;
        let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' ')?.parse().ok());
        line.unwrap_or_else(|| panic!("no {name} in {text}"))
    }

    /// From here on no pod of a backup is taken, so that its Job ends when the test says so: nodes that are only said to
    /// run pods would let it end well after a moment. Returns what does it, to be deleted.
    pub(crate) async fn without_pods_of_backups(&self) -> [Value; 2] {
        let name = format!("no-backups-{}", self.namespace);
        let policy = json!({
            "apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingAdmissionPolicy",
            "metadata": {"name": name},
            "spec": {
                "matchConstraints": {"resourceRules": [
                    {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"]}]},
                "validations": [{"expression": "!has(object.metadata.labels) || \
                    !('app.kubernetes.io/component' in object.metadata.labels) || \
                    object.metadata.labels['app.kubernetes.io/component'] != 'backup'"}],
            },
        });
        let binding = json!({
            "apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingAdmissionPolicyBinding",
            "metadata": {"name": name},
            "spec": {"policyName": name, "validationActions": ["Deny"], "matchResources": {
                "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": self.namespace}}}},
        });
        for object in [&policy, &binding] {
            self.server.apply(object).await.ok().unwrap();
        }
        let pod = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "backup", "namespace": self.namespace,
            "labels": {"app.kubernetes.io/component": "backup"}},
            "spec": {"containers": [{"name": "x", "image": "x"}]}});
        self.until("no pod of a backup is taken", async |bed| {
            bed.server.try_create(&pod).await.message().contains("no-backups-")
        })
        .await;
        [policy, binding]
    }

    /// Ends a Job as its pods would: there is no kubelet that could run them.
    pub(crate) async fn finish(&self, job: &Value, how: &str) {
        self.until("the Job has begun", async |bed| bed.server.get(job).await.body["status"]["startTime"].is_string())
            .await;
        let before = if how == "Complete" { "SuccessCriteriaMet" } else { "FailureTarget" };
        let now = self.server.get(job).await.body["status"]["startTime"].clone();
        let one = |of: &str| json!({"type": of, "status": "True", "lastTransitionTime": now, "lastProbeTime": now});
        let mut status = json!({"conditions": [one(before), one(how)], "active": 0, "ready": 0,
            "terminating": 0, "uncountedTerminatedPods": {}});
        if how == "Complete" {
            status["completionTime"] = now.clone();
            status["succeeded"] = json!(1);
        } else {
            status["failed"] = json!(1);
        }
        let path = format!("{}/status", servers::path_of(job));
        let answer = self.server.send("PATCH", &path, "application/merge-patch+json", &json!({"status": status})).await;
        if let Err(why) = answer.ok() {
            let stored = self.server.get(job).await.body;
            let conditions = stored["status"]["conditions"].as_array().cloned().unwrap_or_default();
            assert!(conditions.iter().any(|c| c["type"] == how && c["status"] == "True"), "not {how}: {why}");
        }
    }

    /// The end of the test.
    pub(crate) async fn end(&mut self) {
        if self.controller.is_some() {
            self.stop().await;
        }
        let binding = json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding",
            "metadata": {"name": self.namespace}});
        self.delete(&binding).await;
        let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": self.namespace}});
        self.delete(&namespace).await;
    }
}

impl Drop for Bed {
    fn drop(&mut self) {
        if let Some(mut child) = self.controller.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// Waits until a controller has said something. Its log until then.
async fn said(child: &mut Child, log: &Path, what: &str) -> String {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let text = fs::read_to_string(log).unwrap_or_default();
        if text.contains(what) {
            return text;
        }
        let ended = child.try_wait().unwrap();
        assert!(ended.is_none() && Instant::now() < deadline, "it does not say '{what}': {ended:?}\n{text}");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

/// Where something is served, as a log says.
fn served(log: &str, what: &str) -> String {
    let line = format!("{what} is served on ");
    let address = log.lines().find_map(|text| text.split(&line).nth(1));
    address.map(|address| address.trim().to_owned()).unwrap_or_default()
}

fn signal(child: &Child, name: &str) {
    let status = Command::new("kill").arg(format!("-{name}")).arg(child.id().to_string()).status().unwrap();
    assert!(status.success());
}

async fn wait(child: &mut Child) -> Option<i32> {
    let deadline = Instant::now() + PATIENCE;
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            return status.code();
        }
        assert!(Instant::now() < deadline, "it does not end");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}
