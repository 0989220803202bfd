//! The real kubectl runs dbrender as its plugin and asks it for completions. `DBRENDER_KUBECTL` names the program.

#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test may use files and programs, and ends where it fails"
)]

use std::os::unix::fs::symlink;
use std::process::{Command, Output};

fn kubectl(arguments: &[&str]) -> Output {
    let program = std::env::var_os("DBRENDER_KUBECTL").expect("DBRENDER_KUBECTL names the kubectl to ask");
    let plugins = tempfile::tempdir().unwrap();
    for name in ["kubectl-dbrender", "kubectl_complete-dbrender"] {
        symlink(env!("CARGO_BIN_EXE_dbrender"), plugins.path().join(name)).unwrap();
    }
    let path = format!("{}:{}", plugins.path().display(), std::env::var("PATH").unwrap());
    Command::new(program).args(arguments).env("PATH", path).env("KUBECONFIG", "/dev/null").output().unwrap()
}

#[test]
fn kubectl_runs_it_and_its_exit_code_stays() {
    let output = kubectl(&["dbrender", "rbac", "viewer"]);
    assert!(output.status.success());
    assert!(String::from_utf8_lossy(&output.stdout).contains("dbrender-viewer"));
    let output = kubectl(&["dbrender", "rbac", "nobody"]);
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn kubectl_completes_commands_flags_and_values() {
    let complete = |words: &[&str]| {
        let output = kubectl(&[&["__complete", "dbrender"], words].concat());
        String::from_utf8(output.stdout).unwrap()
    };
    assert!(complete(&["ren"]).starts_with("render\tRenders Databases"), "{}", complete(&["ren"]));
    assert!(complete(&["render", "--pru"]).starts_with("--prune\t"));
    assert_eq!(complete(&["rbac", "v"]).lines().next().unwrap().split('\t').next(), Some("viewer"));
    assert!(complete(&["rbac", "v"]).trim_end().ends_with(":4"), "no names of files");
}
