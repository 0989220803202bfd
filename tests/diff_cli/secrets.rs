//! A password that is in the cluster leaves no command in any form, format or failure.

use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use crate::happened::CANARY;
use crate::server::{Reply, Server, healthy};
use crate::{Scene, spellings};

const FORMATS: [&str; 7] = ["text", "json", "markdown", "html", "sarif", "junit", "github"];

/// Fails when the output, or a file that was written, holds the password in any form.
fn shows_nothing(scene: &Scene, what: &str, arguments: &[&str], input: &[u8]) -> usize {
    let output = scene.run(arguments, input);
    let mut told = vec![output.stdout, output.stderr];
    for format in FORMATS {
        told.extend(std::fs::read(scene.path(&format!("report.{format}"))));
    }
    for bytes in &told {
        let text = String::from_utf8_lossy(bytes);
        if let Some(form) = spellings::found(&text, CANARY) {
            let (_, spelled) = spellings::all(CANARY).into_iter().find(|(name, _)| *name == form).unwrap();
            let line = text.lines().find(|line| line.contains(&spelled)).unwrap_or_default();
            panic!("{what}: {arguments:?} shows it {form}: {line}");
        }
    }
    told.iter().map(Vec::len).sum()
}

/// Every format at once, in files and on stdout, quietly and with every detail.
fn in_every_format(scene: &Scene, what: &str, more: &[&str], input: &[u8]) {
    let files: Vec<String> = FORMATS[1..].iter().map(|format| format!("{format}=report.{format}")).collect();
    let mut arguments = vec!["diff"];
    if !more.contains(&"--rendered") {
        arguments.push("databases");
    }
    arguments.extend(["-v", "-o", "text", "--color", "always"]);
    files.iter().for_each(|file| arguments.extend(["-o", file.as_str()]));
    arguments.extend(more);
    let size = shows_nothing(scene, what, &arguments, input);
    assert!(size > 200, "{what}: it says nothing at all");
}

/// Puts the password, in forms in which people and tools do it, everywhere where it can be put.
fn spread(cluster: &mut [Value]) {
    let base64 = STANDARD.encode(CANARY);
    let percent = "C4nary%2Fpass%20word%2B%2541";
    let copy = json!({"kind": "Secret", "data": {"password": base64}}).to_string();
    for object in cluster.iter_mut() {
        let metadata = &mut object["metadata"];
        metadata["annotations"]["kubectl.kubernetes.io/last-applied-configuration"] = json!(copy);
        metadata["annotations"]["kapp.k14s.io/original"] = json!(copy);
        metadata["annotations"]["example.com/url"] = json!(format!("postgresql://app:{percent}@order-db:5432/app"));
        metadata["annotations"]["example.com/plain"] = json!(CANARY);
        metadata["annotations"]["example.com/base64"] = json!(base64);
        metadata["labels"]["note"] = json!(CANARY);
        metadata["finalizers"] = json!([format!("example.com/{CANARY}")]);
        match object["kind"].as_str().unwrap() {
            "StatefulSet" => {
                let container = &mut object["spec"]["template"]["spec"]["containers"][0];
                let more = [
                    json!({"name": "PGPASSWORD", "value": CANARY}),
                    json!({"name": "DATABASE_URL", "value": format!("postgresql://app:{percent}@order-db/app")}),
                    json!({"name": "HARMLESS", "value": CANARY}),
                    json!({"name": "IN_BASE64", "value": base64}),
                ];
                container["env"].as_array_mut().unwrap().extend(more);
                container["args"] = json!(["--password", CANARY]);
                container["image"] = json!(format!("registry.example.com/{CANARY}:1"));
            }
            "ConfigMap" => {
                object["data"]["leak"] = json!(format!("a line\npassword = {CANARY}\nanother\n"));
            }
            "Secret" => {
                object["data"]["added"] = json!(base64);
                object["data"]["port"] = json!(base64);
                object["stringData"] = json!({"plain": CANARY});
                object["type"] = json!(CANARY);
            }
            "Service" => object["spec"]["externalName"] = json!(CANARY),
            "CronJob" => {
                object["spec"]["jobTemplate"]["spec"]["template"]["spec"]["containers"][0]["args"] = json!([CANARY])
            }
            _ => object["surprise"] = json!({CANARY: [CANARY, base64]}),
        }
    }
}

fn yaml(values: &[Value]) -> String {
    let mut text = String::new();
    for value in values {
        text += "---\n";
        dbrender::yaml::write_document(&mut text, value);
    }
    text
}

#[test]
fn of_a_dump_in_every_format() {
    let mut scene = Scene::new();
    in_every_format(&scene, "in sync", &["--live", "-"], scene.dump().as_bytes());
    spread(&mut scene.cluster);
    in_every_format(&scene, "JSON", &["--live", "-"], scene.dump().as_bytes());
    in_every_format(&scene, "JSON without Secrets", &["--live", "-", "--no-secret-read"], scene.dump().as_bytes());
    in_every_format(&scene, "YAML", &["--live", "-"], yaml(&scene.cluster).as_bytes());
    in_every_format(&scene, "bounded", &["--live", "-", "--max-length", "900", "-U", "0"], scene.dump().as_bytes());
}

#[test]
fn of_a_dump_that_cannot_be_read() {
    let mut scene = Scene::new();
    spread(&mut scene.cluster);
    // What the Secrets hold can be known behind them alone.
    scene.cluster.sort_by_key(|object| object["kind"] != "Secret");
    let (dump, base64) = (scene.dump(), STANDARD.encode(CANARY));
    // Cut inside of each form of the password, and behind it.
    for form in [CANARY, base64.as_str()] {
        for (number, (place, _)) in dump.match_indices(form).enumerate().step_by(37) {
            for end in [place + form.len() - 2, place + form.len(), place + form.len() + 1] {
                in_every_format(&scene, &format!("cut {number}"), &["--live", "-"], &dump.as_bytes()[..end]);
            }
        }
    }
    let broken = [
        ("no base64", dump.replacen(&format!("\"password\":\"{base64}\""), &format!("\"password\":\"{CANARY}\""), 1)),
        ("a number", dump.replacen(&format!("\"password\":\"{base64}\""), "\"password\":4711", 1)),
        ("a list", dump.replacen(&format!("\"password\":\"{base64}\""), &format!("\"password\":[\"{CANARY}\"]"), 1)),
        ("an escape that is none", dump.replacen(CANARY, &format!("{CANARY}\\q"), 1)),
        ("no quote", dump.replacen(&format!("\"{base64}\""), &base64, 1)),
        ("no document", format!("{CANARY}\n")),
        ("a password in place of a kind", format!("{{\"kind\": \"{CANARY}\", \"{CANARY}\": 1}}")),
    ];
    for (what, text) in broken {
        assert_ne!(text, dump, "{what}");
        in_every_format(&scene, what, &["--live", "-"], text.as_bytes());
    }
    let text = yaml(&scene.cluster);
    for (what, text) in [
        ("a tab", text.replacen("  password:", "\tpassword:", 1)),
        ("an escape that is none", text.replacen(CANARY, "\"C4nary/pass word+%41\\q\"", 1)),
        ("a key that stands twice", text.replacen("  password:", &format!("  password: {CANARY}\n  password:"), 1)),
        ("an alias of nothing", text.replacen(&base64, &format!("*{base64}"), 1)),
    ] {
        in_every_format(&scene, what, &["--live", "-"], text.as_bytes());
    }
}

/// Whoever compares with `--rendered` may have made the Secrets with another tool, values and all.
#[test]
fn of_manifests_that_hold_it() {
    let mut scene = Scene::new();
    std::fs::create_dir(scene.path("manifests")).unwrap();
    let write = |scene: &Scene, text: &str| std::fs::write(scene.path("manifests/all.yaml"), text).unwrap();
    write(&scene, &yaml(&scene.cluster));
    spread(&mut scene.cluster);
    in_every_format(&scene, "in live", &["--rendered", "manifests", "--live", "-"], scene.dump().as_bytes());
    write(&scene, &yaml(&scene.cluster));
    let plain = Scene::new();
    in_every_format(&scene, "in desired", &["--rendered", "manifests", "--live", "-"], plain.dump().as_bytes());
    in_every_format(&scene, "in both", &["--rendered", "manifests", "--live", "-"], scene.dump().as_bytes());
    for text in [
        yaml(&scene.cluster).replacen("  password:", "\tpassword:", 1),
        yaml(&scene.cluster).replacen("  password: ", &format!("  password: \"{CANARY}\\q\" "), 1),
        yaml(&scene.cluster).replacen("  password: ", &format!("  password: {CANARY}\n  password: "), 1),
    ] {
        write(&scene, &text);
        in_every_format(&scene, "no YAML", &["--rendered", "manifests", "--live", "-"], scene.dump().as_bytes());
    }
}

/// A server's own words are passed on, and they may quote what it was sent or what it holds.
#[test]
fn of_a_cluster_in_every_trouble() {
    let words = format!("admission webhook said: {CANARY} and {} are not allowed", STANDARD.encode(CANARY));
    for (kind, code) in [
        ("/statefulsets", 400),
        ("/statefulsets", 403),
        ("/services", 404),
        ("/services", 429),
        ("/configmaps", 500),
        ("/configmaps", 503),
        ("/cronjobs", 410),
        ("", 0),
    ] {
        let mut scene = Scene::new();
        spread(&mut scene.cluster);
        let (objects, words) = (scene.cluster.clone(), words.clone());
        let server = Server::start(move |request, before| match request.path.ends_with(kind) && !kind.is_empty() {
            // A body that is no Status is a proxy's, and is never quoted.
            true if before % 2 == 1 => Reply(code, "Retry-After: 0\r\n", format!("<html>{words}</html>")),
            true => {
                let Reply(code, _, body) = Reply::status(code, &words);
                Reply(code, "Retry-After: 0\r\n", body)
            }
            false if request.method == "PATCH" => Reply::status(422, &format!("{words}: {}", request.body)),
            false => healthy(&objects, request),
        });
        let path = server.kubeconfig(scene.folder.path());
        in_every_format(&scene, &format!("{kind} {code}"), &["--kubeconfig", &path], b"");
        in_every_format(&scene, &format!("{kind} {code} dry"), &["--kubeconfig", &path, "--server-dry-run"], b"");
    }
}

/// The answer to a list of Secrets that is cut, or is something else.
#[test]
fn of_secrets_that_arrive_in_pieces() {
    let secret = json!({"metadata": {"name": "order-db-app", "namespace": "production"}, "data": {"password": STANDARD.encode(CANARY)}});
    let list = json!({"kind": "SecretList", "apiVersion": "v1", "metadata": {}, "items": [secret]}).to_string();
    let end = list.rfind('"').unwrap();
    for body in [
        list[..end].to_owned(),
        list.replace(&STANDARD.encode(CANARY), CANARY),
        CANARY.to_owned(),
        format!("[\"{CANARY}\"]"),
    ] {
        let scene = Scene::new();
        let objects = scene.cluster.clone();
        let server = Server::start(move |request, _| match request.path.ends_with("/secrets") {
            true => Reply(200, "", body.clone()),
            false => healthy(&objects, request),
        });
        in_every_format(&scene, "pieces", &["--kubeconfig", &server.kubeconfig(scene.folder.path())], b"");
    }
}

/// What the other commands print of it: a file of Databases may hold the Secrets of others.
#[test]
fn of_the_other_commands() {
    let scene = Scene::new();
    let secret = format!(
        "---\napiVersion: v1\nkind: Secret\nmetadata: {{name: s, namespace: production}}\nstringData:\n  password: {CANARY}\n"
    );
    let database = std::fs::read_to_string(scene.path("databases/order-db.yaml")).unwrap();
    for (what, text) in [
        ("beside", format!("{database}{secret}")),
        ("before", format!("{}---\n{database}", &secret[4..])),
        ("no YAML", format!("{database}{secret}  broken: [\n")),
    ] {
        std::fs::write(scene.path("databases/order-db.yaml"), text).unwrap();
        for arguments in [
            &["render", "databases"][..],
            &["render", "databases", "-o", "json"],
            &["render", "databases", "--output-dir", "tree", "-v"],
            &["check", "databases"],
            &["check", "databases", "-o", "json"],
            &["check", "databases", "-o", "sarif"],
            &["check", "databases", "-o", "github"],
            &["check", "databases", "-v", "--color", "always"],
        ] {
            shows_nothing(&scene, what, arguments, b"");
        }
    }
}

/// What is made and what is there when passwords are filled, also when the server quotes it back.
#[test]
fn of_the_command_that_fills() {
    for trouble in [0, 403, 409, 422, 500] {
        let scene = Scene::new();
        let objects = scene.cluster.clone();
        let made = std::sync::Arc::new(std::sync::Mutex::new(Vec::<String>::new()));
        let seen = std::sync::Arc::clone(&made);
        let server = Server::start(move |request, _| {
            if request.method == "PATCH" {
                let body: Value = serde_json::from_str(&request.body).unwrap();
                for value in body["data"].as_object().unwrap().values() {
                    let bytes = STANDARD.decode(value.as_str().unwrap()).unwrap();
                    seen.lock().unwrap().push(String::from_utf8(bytes).unwrap());
                }
                return match trouble {
                    0 => Reply::json(
                        &json!({"kind": "Secret", "apiVersion": "v1", "metadata": {"name": "x"}, "data": body["data"]}),
                    ),
                    code => Reply::status(code, &format!("refused: {}", request.body)),
                };
            }
            let mut objects = objects.clone();
            for object in &mut objects {
                // One password is there and one is not, so that both are near the words.
                if object["kind"] == "Secret" {
                    object["data"].as_object_mut().unwrap().shift_remove("monitor-password");
                    object["data"].as_object_mut().unwrap().shift_remove("uri");
                }
            }
            healthy(&objects, request)
        });
        let path = server.kubeconfig(scene.folder.path());
        let output = scene.run(
            &[
                "credentials",
                "fill",
                "--namespace",
                "production",
                "--engine",
                "postgresql",
                "--app-secret",
                "order-db-app",
                "--admin-secret",
                "order-db-admin",
                "--kubeconfig",
                &path,
            ],
            b"",
        );
        let text = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes).into_owned()).concat();
        let made = made.lock().unwrap();
        assert!(!made.is_empty() && !text.is_empty(), "{trouble}: {text}");
        for secret in made.iter().map(String::as_str).chain([CANARY]) {
            assert_eq!(spellings::found(&text, secret), None, "{trouble}: {text}");
        }
        assert_eq!(output.status.code(), Some(if trouble == 0 { 0 } else { 3 }), "{text}");
    }
}

/// A test of the test: each form is found where it stands.
#[test]
fn every_form_would_be_found() {
    for (name, form) in spellings::all(CANARY) {
        assert!(spellings::found(&format!("before {form} behind"), CANARY).is_some(), "{name}");
    }
    assert_eq!(spellings::found("nothing of it: C4nary, pass, word", CANARY), None);
    assert!(Path::new(env!("CARGO_BIN_EXE_dbrender")).exists());
}
