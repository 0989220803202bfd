//! `dbrender backups` on real API servers with their Job controller, as a user with just the rights that its help names.
//! There is no kubelet here: the test plays it, and says of a pod what one would.

#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::panic,
    clippy::print_stderr,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a test may use files and programs, and ends where it fails"
)]

mod servers;

use std::process::{Command, Output};
use std::time::Duration;

use serde_json::{Value, json};
use servers::Server;

const DATABASE: &str = "apiVersion: app.example.com/v1alpha1
kind: Database
metadata: {name: order-db, namespace: NAMESPACE}
spec:
  engine: postgresql
  version: \"16\"
  storage: {size: 1Gi}
  backup: {suspend: true}
  scheduling: {nodeSelector: {nowhere: here}}
";

struct Bed {
    server: Server,
    namespace: String,
    folder: tempfile::TempDir,
}

impl Bed {
    fn dbrender(&self, words: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_dbrender"));
        command.args(words).arg("--kubeconfig").arg(&self.server.kubeconfig).args(["--as", "backup-person"]);
        command.current_dir(self.folder.path()).output().unwrap()
    }

    fn list(&self) -> Vec<Value> {
        let output = self.dbrender(&["backups", "list", "order-db", "-n", &self.namespace, "-o", "json"]);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice::<Value>(&output.stdout).unwrap().as_array().unwrap().clone()
    }

    fn now(&self, more: &[&str]) -> Output {
        let words = ["backups", "now", "order-db", "-n", &self.namespace];
        self.dbrender(&[&words, more].concat())
    }

    async fn all(&self, path: &str) -> Vec<Value> {
        let (group, plural) = path.rsplit_once('/').unwrap();
        let path = format!("{group}/namespaces/{}/{plural}", self.namespace);
        let list = self.server.send("GET", &path, "application/json", &Value::Null).await.ok().unwrap();
        list["items"].as_array().unwrap().clone()
    }

    /// Waits for the pod of a Job, and lets it end with a last word.
    async fn end_pod(&self, job: &str, phase: &str, code: u8, message: &str) {
        let pod = loop {
            let pods = self.all("/api/v1/pods").await;
            let is_new = |pod: &&Value| {
                pod["metadata"]["labels"]["batch.kubernetes.io/job-name"] == job && pod["status"]["phase"] == "Pending"
            };
            if let Some(pod) = pods.iter().find(is_new) {
                break pod.clone();
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        };
        let ended = |container: &Value| {
            let terminated = json!({"exitCode": code, "message": message, "finishedAt": "2026-11-30T20:00:00Z",
                "startedAt": "2026-11-30T19:59:00Z"});
            json!({"name": container["name"], "image": container["image"], "imageID": "", "ready": false,
                "restartCount": 0, "state": {"terminated": terminated}})
        };
        let containers: Vec<Value> = pod["spec"]["containers"].as_array().unwrap().iter().map(ended).collect();
        let path =
            format!("/api/v1/namespaces/{}/pods/{}/status", self.namespace, pod["metadata"]["name"].as_str().unwrap());
        let status = json!({"status": {"phase": phase, "containerStatuses": containers}});
        self.server.send("PATCH", &path, "application/merge-patch+json", &status).await.ok().unwrap();
    }

    /// Waits until the last run stands as it should.
    async fn settled(&self, outcome: &str) -> Value {
        for _ in 0..600 {
            let last = self.list().pop().unwrap();
            if last["outcome"] == outcome {
                return last;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        panic!("{}: {:?}", self.server.minor, self.list());
    }
}

async fn bed(server: Server) -> Bed {
    let namespace = format!("backups-{}", std::process::id());
    server.namespace(&namespace).await;
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("database.yaml"), DATABASE.replace("NAMESPACE", &namespace)).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_dbrender"))
        .args(["render", "-q", "-o", "json", "database.yaml"])
        .current_dir(folder.path())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let list: Value = serde_json::from_slice(&output.stdout).unwrap();
    for object in list["items"].as_array().unwrap() {
        if ["ServiceAccount", "CronJob"].contains(&object["kind"].as_str().unwrap()) {
            server.apply(object).await.ok().unwrap();
        }
    }
    let role = json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role",
        "metadata": {"name": "backups", "namespace": namespace}, "rules": [
            {"apiGroups": ["batch"], "resources": ["cronjobs"], "verbs": ["get"]},
            {"apiGroups": ["batch"], "resources": ["jobs"], "verbs": ["list", "create"]},
            {"apiGroups": [""], "resources": ["pods"], "verbs": ["list"]}]});
    let binding = json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "RoleBinding",
        "metadata": {"name": "backups", "namespace": namespace},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "backups"},
        "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "backup-person"}]});
    for object in [&role, &binding] {
        server.apply(object).await.ok().unwrap();
    }
    Bed { server, namespace, folder }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn a_backup_is_started_once_and_told_with_what_became_of_it() {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
        for server in servers::all().await {
            let bed = bed(server).await;
            assert_eq!(bed.list(), Vec::<Value>::new());

            let output = bed.now(&[]);
            assert!(output.status.success(), "{}", text(&output.stderr));
            let job = text(&output.stdout).trim().to_owned();
            assert_eq!(bed.settled("Running").await["job"], job.as_str());

            // Somebody is impatient.
            let output = bed.now(&[]);
            assert_eq!(output.status.code(), Some(4), "{}", text(&output.stderr));
            assert!(text(&output.stderr).contains(&job), "{}", text(&output.stderr));
            assert_eq!(bed.all("/apis/batch/v1/jobs").await.len(), 1);

            let said = r#"{"id": "20261130T200000Z", "version": "16.14", "bytes": 172327, "sha256": "e5"}"#;
            bed.end_pod(&job, "Succeeded", 0, said).await;
            let run = bed.settled("Complete").await;
            assert_eq!((&run["id"], &run["bytes"]), (&json!("20261130T200000Z"), &json!(172_327)), "{run}");
            let output = bed.dbrender(&["backups", "list", "order-db", "-n", &bed.namespace]);
            let shown = text(&output.stdout);
            assert!(shown.lines().any(|line| line.starts_with(&job) && line.ends_with("16.14    172327")), "{shown}");

            // What was made by hand belongs to the CronJob, and is no orphan.
            let made = bed.all("/apis/batch/v1/jobs").await.remove(0);
            let owner = &made["metadata"]["ownerReferences"][0];
            assert_eq!((&owner["kind"], &owner["name"]), (&json!("CronJob"), &json!("order-db-backup")));
            let output = Command::new(env!("CARGO_BIN_EXE_dbrender"))
                .args(["diff", "database.yaml", "-o", "json", "--kubeconfig"])
                .arg(&bed.server.kubeconfig)
                .current_dir(bed.folder.path())
                .output()
                .unwrap();
            let report: Value = serde_json::from_slice(&output.stdout).unwrap();
            assert_eq!(report["summary"]["orphaned"], 0, "{report:#}");

            // The next one fails, as often as it may.
            let output = bed.now(&[]);
            let job = text(&output.stdout).trim().to_owned();
            let fails = async {
                loop {
                    bed.end_pod(&job, "Failed", 1, r#"{"error": "No space left on the backup volume."}"#).await;
                }
            };
            let run = tokio::select! {
                () = fails => unreachable!("it never ends"),
                run = failed(&bed) => run,
            };
            assert_eq!(run["message"], "No space left on the backup volume.");
            assert_eq!(bed.list().len(), 2);

            let output = bed.dbrender(&["backups", "now", "other-db", "-n", &bed.namespace]);
            assert_eq!(output.status.code(), Some(3));
            assert!(text(&output.stderr).contains("other-db-backup does not exist"), "{}", text(&output.stderr));
            let output = bed.dbrender(&["backups", "list", "order-db", "-n", "default"]);
            assert_eq!(output.status.code(), Some(3), "no right to look is no empty list");
        }
    });
}

async fn failed(bed: &Bed) -> Value {
    loop {
        let last = bed.list().pop().unwrap();
        if last["outcome"] == "Failed" {
            return last;
        }
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
}
