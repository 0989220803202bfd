//! What a team gets from `dbrender init`, and the action that its workflow calls: the repository passes its own workflow,
//! and real API servers take the objects of Argo CD and Flux by the schemas that those projects publish.
//!
//! It needs bash, git and python3, as a runner of GitHub has them, and `DBRENDER_KUBECONFIG_1_34`.

#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::panic,
    clippy::print_stderr,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a test may use files and programs, and ends where it fails"
)]

#[path = "../servers/mod.rs"]
mod servers;

mod forge;
mod runner;

use std::fs;
use std::path::Path;

use forge::Forge;
use runner::{Event, Ran, Repository};
use serde_json::{Value, json};

const WORKFLOW: &str = ".github/workflows/databases.yml";
const DATABASE: &str = "databases/production/order-db.yaml";

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap()
}

fn scaffold(arguments: &[&str]) -> Repository {
    let repository = Repository::new();
    let (said, code) = repository.dbrender(&[&["init"], arguments].concat());
    assert_eq!(code, 0, "{said}");
    repository.commit();
    repository
}

fn check(repository: &Repository, event: &Event) -> Ran {
    runner::run(repository.folder.path(), WORKFLOW, "check", event)
}

#[test]
fn a_new_repository_passes_its_own_workflow_and_a_second_render_changes_nothing() {
    for arguments in [&["--controller", "observe"][..], &["--controller", "apply"], &["--with", "flux"]] {
        let repository = scaffold(arguments);
        let forge = Forge::start();
        let ran = check(&repository, &Event::new(&forge.address));
        assert!(ran.succeeded, "{}", ran.log);
        assert_eq!(ran.log.contains("Manifests are current"), repository.path("manifests").exists(), "{}", ran.log);
        assert!(ran.log.contains("Policies are current"), "{}", ran.log);
        let uploads: Vec<&str> = ran.others.iter().map(|(uses, _)| uses.split('@').next().unwrap()).collect();
        assert_eq!(uploads, ["actions/checkout", "github/codeql-action/upload-sarif"]);
        assert_eq!(forge.state.lock().unwrap().requests, Vec::<String>::new(), "a push has nothing to comment on");
        if repository.path("manifests").exists() {
            let (said, code) = repository.dbrender(&["render", "databases", "--output-dir", "manifests", "--prune"]);
            assert_eq!(code, 0, "{said}");
        }
        assert_eq!(repository.git(&["status", "--porcelain"]), "");
        // Git says what a review shows folded.
        if repository.path("manifests").exists() {
            let file = "manifests/production/order-db/statefulset-order-db.yaml";
            let attributes = repository.git(&["check-attr", "linguist-generated", "text", "--", file]);
            assert!(
                attributes.contains("linguist-generated: true") && attributes.contains("text: unset"),
                "{attributes}"
            );
        }
    }
}

#[test]
fn a_second_init_leaves_everything_as_it_is() {
    let repository = scaffold(&[]);
    repository.replace("dbrender.yaml", "catalog: 1", "catalog: 1\nlabels:\n  team: databases");
    repository.replace(WORKFLOW, "17 5", "18 6");
    fs::remove_file(repository.path("argo-cd/root.yaml")).unwrap();
    repository.commit();
    let (said, code) = repository.dbrender(&["init", "--repository", "https://git.example.com/other.git"]);
    assert_eq!(code, 0, "{said}");
    assert!(said.contains("left     .github/workflows/databases.yml, which has another text"), "{said}");
    assert!(said.contains("created  argo-cd/root.yaml"), "{said}");
    let changed = repository.git(&["status", "--porcelain"]);
    // The tree follows the platform file, as after every change of it; nothing that was there by hand is another.
    let strange: Vec<&str> =
        changed.lines().filter(|line| !line.contains("manifests/") && *line != "?? argo-cd/root.yaml").collect();
    assert!(strange.is_empty(), "{changed}");
}

/// What the API server holds by itself is what the platform file says, also where that was there before.
#[test]
fn policies_are_those_of_the_platform_file_or_the_workflow_says_how_to_make_them() {
    let repository = scaffold(&[]);
    repository.replace("dbrender.yaml", "catalog: 1", "catalog: 1\nlimits: {maxReplicas: 3}");
    let forge = Forge::start();
    let ran = check(&repository, &Event::new(&forge.address));
    assert!(!ran.succeeded && ran.log.contains("::error::Policies are current ended with 1"), "{}", ran.log);
    let hint = "Run this and commit what it writes: dbrender crd --policies >policies/databases.yaml";
    assert!(ran.log.contains(hint), "{}", ran.log);

    let (printed, code) = repository.dbrender(&["crd", "--policies"]);
    assert_eq!(code, 0, "{printed}");
    fs::write(repository.path("policies/databases.yaml"), &printed).unwrap();
    let ran = check(&repository, &Event::new(&forge.address));
    assert!(ran.succeeded, "{}", ran.log);

    fs::remove_file(repository.path("policies/databases.yaml")).unwrap();
    let (said, code) = repository.dbrender(&["init"]);
    assert_eq!(code, 0, "{said}");
    assert_eq!(fs::read_to_string(repository.path("policies/databases.yaml")).unwrap(), printed);
    assert!(printed.contains("object.spec.replicas <= 3"), "{printed}");
}

#[test]
fn the_address_of_the_repository_is_the_one_that_git_knows() {
    let repository = Repository::new();
    repository.git(&["remote", "add", "origin", "git@git.example.com:team/databases.git"]);
    let (said, code) = repository.dbrender(&["init", "--ci", "none", "--revision", "release/1"]);
    assert_eq!(code, 0, "{said}");
    assert!(!repository.path(".github").exists());
    let root = runner::read_yaml(&repository.path("argo-cd/root.yaml"));
    assert_eq!(root["spec"]["source"]["repoURL"], "git@git.example.com:team/databases.git");
    assert_eq!(root["spec"]["source"]["targetRevision"], "release/1");
    let (said, code) = repository.dbrender(&["init", "--repository", "x: y"]);
    assert_eq!(code, 2, "{said}");
}

#[test]
fn a_pull_request_gets_one_comment_that_follows_it() {
    let repository = scaffold(&[]);
    let base = repository.git(&["rev-parse", "HEAD"]);
    let forge = Forge::start();
    let event = Event::new(&forge.address).pull_request(7, &base);
    // Somebody quotes an older report, and there is a page of talk.
    let quote = json!({"id": 1, "issue": "7", "body": "> <!-- dbrender diff -->\nwhy?"});
    let talk = (0..120).map(|number| json!({"id": number + 2, "issue": "7", "body": "hm"}));
    forge.state.lock().unwrap().comments = [quote].into_iter().chain(talk).collect();

    repository.replace(DATABASE, "replicas: 3", "replicas: 5");
    repository.commit();
    let ran = check(&repository, &event);
    assert!(!ran.succeeded, "{}", ran.log);
    assert!(ran.log.contains("::error::Manifests are current ended with 1"), "{}", ran.log);
    assert!(ran.log.contains("dbrender render databases --output-dir manifests --prune"), "{}", ran.log);
    assert!(!ran.log.contains("token-of-the-run"));
    let bodies = forge.bodies();
    assert_eq!(bodies.len(), 122, "the report is there all the same");
    assert!(bodies[121].contains("order-db") && bodies[121].contains("replicas"), "{}", bodies[121]);

    repository.dbrender(&["render", "databases", "--output-dir", "manifests", "--prune"]);
    repository.replace(DATABASE, "replicas: 5", "replicas: 7");
    repository.dbrender(&["render", "databases", "--output-dir", "manifests", "--prune"]);
    repository.commit();
    let ran = check(&repository, &event);
    assert!(ran.succeeded, "{}", ran.log);
    assert!(ran.summary.contains("order-db"), "{}", ran.summary);
    let after = forge.bodies();
    assert_eq!(after.len(), 122, "edited in place");
    assert_ne!(after[121], bodies[121]);
    assert_eq!(after[..121], bodies[..121], "nobody else's is touched");
}

#[test]
fn a_fork_may_not_write_and_is_checked_all_the_same() {
    let repository = scaffold(&[]);
    let base = repository.git(&["rev-parse", "HEAD"]);
    let forge = Forge::start();
    forge.state.lock().unwrap().read_only = true;
    let ran = check(&repository, &Event::new(&forge.address).pull_request(8, &base));
    assert!(ran.succeeded, "{}", ran.log);
    assert!(ran.log.contains("::warning::the comment could not be written"), "{}", ran.log);
    assert!(ran.log.contains("Resource not accessible by integration"), "{}", ran.log);
}

#[test]
fn a_fault_is_a_note_at_its_line_and_in_the_list_of_code_scanning() {
    let repository = scaffold(&[]);
    repository.replace(DATABASE, "replicas: 3", "replicas: 9");
    let forge = Forge::start();
    let ran = check(&repository, &Event::new(&forge.address));
    assert!(!ran.succeeded, "{}", ran.log);
    assert!(ran.log.contains(&format!("::error file={DATABASE},line=10")), "{}", ran.log);
    assert!(
        ran.others.iter().any(|(_, with)| with["sarif_file"].as_str().is_some_and(|file| file.ends_with(".sarif")))
    );
}

#[test]
fn what_is_missing_is_said() {
    let repository = scaffold(&[]);
    let forge = Forge::start();
    let ran = runner::run(repository.folder.path(), WORKFLOW, "drift", &Event::new(&forge.address));
    assert!(!ran.succeeded);
    assert!(ran.log.contains("::error::the input kubeconfig is missing"), "{}", ran.log);
    for (from, to, sentence) in [
        ("mode: drift", "mode: drfit", "the input mode is 'drfit'; it is check or drift"),
        ("databases: databases\n        # of", "databases: \"\"\n        # of", "the input databases is missing"),
    ] {
        let repository = scaffold(&[]);
        repository.replace(WORKFLOW, from, to);
        let ran = runner::run(repository.folder.path(), WORKFLOW, "drift", &Event::new(&forge.address));
        assert!(!ran.succeeded && ran.log.contains(sentence), "{}", ran.log);
    }
}

/// On a real server: nothing is there, so there is an issue; everything is there, so it is closed.
#[test]
fn drift_is_one_issue_that_is_opened_edited_and_closed() {
    runtime().block_on(async {
        let server = servers::all().await.remove(0);
        let namespace = format!("gitops-{}", std::process::id());
        server.namespace(&namespace).await;
        let repository = scaffold(&[]);
        repository.replace(DATABASE, "namespace: production", &format!("namespace: {namespace}"));
        let kubeconfig = fs::read_to_string(&server.kubeconfig).unwrap();
        let forge = Forge::start();
        let event = Event::new(&forge.address).with("secrets.DBRENDER_KUBECONFIG", &kubeconfig);
        let drift = || runner::run(repository.folder.path(), WORKFLOW, "drift", &event);

        let ran = drift();
        assert!(!ran.succeeded && ran.log.contains("databases have drifted"), "{}", ran.log);
        assert!(!ran.log.contains("client-key-data"), "{}", ran.log);
        let issue = forge.state.lock().unwrap().issues[0].clone();
        assert_eq!(issue["title"], "Databases have drifted");
        assert!(
            issue["body"].as_str().unwrap().contains("statefulset")
                || issue["body"].as_str().unwrap().contains("StatefulSet")
        );

        let (printed, code) = repository.dbrender(&["render", "databases", "--quiet", "-o", "json"]);
        assert_eq!(code, 0, "{printed}");
        let list: Value = serde_json::from_str(&printed).unwrap();
        let (last, most) = list["items"].as_array().unwrap().split_last().unwrap();
        for object in most {
            server.apply(object).await.ok().unwrap();
        }
        drift();
        let issues = forge.state.lock().unwrap().issues.clone();
        assert_eq!(issues.len(), 1, "edited, not opened again");
        assert_ne!(issues[0]["body"], issue["body"]);

        server.apply(last).await.ok().unwrap();
        // No node here runs the Job that fills the passwords.
        let (kubeconfig, app, admin) = (server.kubeconfig.to_str().unwrap(), "order-db-app", "order-db-admin");
        let fill =
            ["credentials", "fill", "--engine", "postgresql", "--namespace", &namespace, "--kubeconfig", kubeconfig];
        let (said, code) = repository.dbrender(&[&fill[..], &["--app-secret", app, "--admin-secret", admin]].concat());
        assert_eq!(code, 0, "{said}");
        let ran = drift();
        assert!(ran.succeeded, "{}", ran.log);
        assert_eq!(forge.state.lock().unwrap().issues[0]["state"], "closed");
        let path = format!("/api/v1/namespaces/{namespace}");
        server.send("DELETE", &path, "application/json", &Value::Null).await.ok().unwrap();
    });
}

/// The definitions of other projects, and every object that is written for them.
#[test]
fn objects_of_argo_cd_and_flux_are_what_those_projects_define() {
    runtime().block_on(async {
        for server in servers::all().await {
            let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/schemas");
            for project in ["argo-cd", "flux"] {
                for file in fs::read_dir(folder.join(project)).unwrap() {
                    server.define(&runner::read_yaml(&file.unwrap().path())).await;
                }
            }
            for namespace in ["argocd", "flux-system", "dbrender-system"] {
                server.namespace(namespace).await;
            }
            let mut seen = 0;
            for controller in ["observe", "apply"] {
                for (with, folders) in [("argo-cd", &["argo-cd", "argo-cd/applications"][..]), ("flux", &["flux"])] {
                    let repository = scaffold(&["--with", with, "--controller", controller, "--repository", "https://git.example.com/databases.git"]);
                    let folders = folders.iter().chain(&["crds", "policies", "namespaces"]);
                    for object in folders.flat_map(|folder| objects(&repository.path(folder))) {
                        let name = format!("{with} {controller}: {} {}", object["kind"], object["metadata"]["name"]);
                        let path = format!("{}?dryRun=All&force=true&fieldManager=test&fieldValidation=Strict", servers::path_of(&object));
                        let answer = server.send("PATCH", &path, "application/apply-patch+yaml", &object).await;
                        let stored = answer.ok().unwrap_or_else(|error| panic!("{}: {name}: {error}", server.minor));
                        let mut lost = Vec::new();
                        servers::lost("", &object, &stored, &mut lost);
                        assert!(lost.is_empty() || object["kind"] == "CustomResourceDefinition", "{name}: {lost:?}");
                        seen += 1;
                    }
                }
            }
            assert!(seen > 30, "{seen}");
            // The server does know better.
            let wrong = json!({"apiVersion": "argoproj.io/v1alpha1", "kind": "Application", "metadata": {"name": "x", "namespace": "argocd"},
                "spec": {"project": "x", "destination": {}, "source": {"repoUrl": "x"}}});
            let refused = server.apply(&wrong).await;
            assert!(refused.message().contains("repoUrl"), "{}", refused.message());
        }
    });
}

/// What Argo CD's repo-server runs in a folder of Databases: objects on stdout, and nothing but objects.
#[test]
fn the_plugin_of_argo_cd_prints_objects_or_fails() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("gitops/argo-cd-plugin");
    let plugin = runner::read_yaml(&folder.join("plugin.yaml"));
    let command: Vec<&str> =
        plugin["spec"]["generate"]["command"].as_array().unwrap().iter().map(|word| word.as_str().unwrap()).collect();
    assert_eq!(command[0], "dbrender");
    let repository = scaffold(&["--controller", "apply"]);
    let generate = || {
        std::process::Command::new(env!("CARGO_BIN_EXE_dbrender"))
            .args(&command[1..])
            .current_dir(repository.path("databases"))
            .env("ARGOCD_APP_NAME", "databases")
            .output()
            .unwrap()
    };
    let output = generate();
    assert!(output.status.success() && output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    let (documents, problems) =
        dbrender::yaml::read_stream(std::str::from_utf8(&output.stdout).unwrap(), &dbrender::yaml::Limits::default());
    assert!(problems.is_empty() && documents.len() > 15);
    repository.replace(DATABASE, "replicas: 3", "replicas: 9");
    let output = generate();
    assert!(!output.status.success() && output.stdout.is_empty());
    assert!(String::from_utf8_lossy(&output.stderr).contains("DBR206"));
}

/// The sidecar, added to a Deployment as Argo CD's, is one that a server takes.
#[test]
fn the_sidecar_of_the_plugin_fits_a_repo_server() {
    let kustomize = std::env::var_os("DBRENDER_KUSTOMIZE").expect("DBRENDER_KUSTOMIZE names the kustomize to run");
    let repository = Repository::new();
    let component = Path::new(env!("CARGO_MANIFEST_DIR")).join("gitops/argo-cd-plugin");
    let copy = repository.path("plugin");
    fs::create_dir(&copy).unwrap();
    for file in fs::read_dir(component).unwrap().map(|entry| entry.unwrap().path()) {
        fs::copy(&file, copy.join(file.file_name().unwrap())).unwrap();
    }
    let deployment = json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "argocd-repo-server"},
        "spec": {"selector": {"matchLabels": {"a": "b"}}, "template": {"metadata": {"labels": {"a": "b"}}, "spec": {
            "containers": [{"name": "argocd-repo-server", "image": "quay.io/argoproj/argocd:v3.5.1"}],
            "volumes": [{"name": "var-files", "emptyDir": {}}, {"name": "plugins", "emptyDir": {}}]}}}});
    fs::write(repository.path("deployment.yaml"), deployment.to_string()).unwrap();
    let text = "namespace: argocd\nresources: [deployment.yaml]\ncomponents: [plugin]\n";
    fs::write(repository.path("kustomization.yaml"), text).unwrap();
    let output = std::process::Command::new(kustomize).arg("build").arg(repository.folder.path()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let (documents, _) =
        dbrender::yaml::read_stream(std::str::from_utf8(&output.stdout).unwrap(), &dbrender::yaml::Limits::default());
    assert_eq!(documents.len(), 2);
    runtime().block_on(async {
        for server in servers::all().await {
            server.namespace("argocd").await;
            for document in &documents {
                let object = document.root.to_json();
                server.try_create(&object).await.ok().unwrap_or_else(|error| panic!("{}: {error}", server.minor));
            }
        }
    });
    let built = documents.iter().map(|document| document.root.to_json()).find(|o| o["kind"] == "Deployment").unwrap();
    let pod = &built["spec"]["template"]["spec"];
    assert_eq!(pod["containers"].as_array().unwrap().len(), 2);
    // A name with the hash of the content: a changed plugin is a new pod.
    let map = documents.iter().map(|document| document.root.to_json()).find(|o| o["kind"] == "ConfigMap").unwrap();
    let mounted = pod["volumes"].as_array().unwrap().iter().find(|volume| volume["name"] == "dbrender-plugin").unwrap();
    assert_eq!(mounted["configMap"]["name"], map["metadata"]["name"]);
    assert_ne!(map["metadata"]["name"], "argocd-dbrender-plugin");
}

/// The hooks for pre-commit do what they say in a repository of `dbrender init`.
#[test]
fn the_hooks_of_pre_commit_run_in_a_new_repository() {
    let hooks = runner::read_yaml(&Path::new(env!("CARGO_MANIFEST_DIR")).join(".pre-commit-hooks.yaml"));
    let repository = scaffold(&[]);
    let run = |hook: &Value| {
        let words: Vec<&str> = hook["entry"].as_str().unwrap().split(' ').collect();
        assert_eq!((words[0], &hook["pass_filenames"]), ("dbrender", &json!(false)));
        let arguments = hook["args"].as_array().unwrap().iter().map(|word| word.as_str().unwrap());
        repository.dbrender(&words[1..].iter().copied().chain(arguments).collect::<Vec<_>>())
    };
    for hook in hooks.as_array().unwrap() {
        let (said, code) = run(hook);
        assert_eq!(code, 0, "{said}");
    }
    assert_eq!(repository.git(&["status", "--porcelain"]), "");
    repository.replace(DATABASE, "replicas: 3", "replicas: 9");
    for hook in hooks.as_array().unwrap() {
        let (said, code) = run(hook);
        assert_eq!(code, 2, "{said}");
    }
}

fn objects(folder: &Path) -> Vec<Value> {
    let mut files: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|file| file.extension().is_some_and(|ending| ending == "yaml"));
    files.sort();
    let read = |file: &std::path::PathBuf| {
        let text = fs::read_to_string(file).unwrap();
        let (documents, problems) = dbrender::yaml::read_stream(&text, &dbrender::yaml::Limits::default());
        assert!(problems.is_empty(), "{problems:?}");
        documents.into_iter().map(|document| document.root.to_json()).collect::<Vec<_>>()
    };
    files.iter().flat_map(read).collect()
}
