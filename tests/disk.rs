//! Disks as they are at their worst: too small, or not writable at all. Each test makes a file system of its own in a
//! mount namespace, which needs root or user namespaces; `.ci/tiers` says so when there are none.

#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::panic,
    clippy::print_stderr,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a test may use files and programs, and ends where it fails"
)]

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

/// Runs a script in a mount namespace of its own, in a folder with two inputs, `old` and `new`.
fn in_own_mounts(folder: &Path, script: &str) -> Output {
    for (input, size, names) in [("old", "10Gi", ["a", "b"]), ("new", "20Gi", ["a", "c"])] {
        fs::create_dir_all(folder.join(input)).unwrap();
        for name in names {
            let text = format!(
                "apiVersion: app.example.com/v1alpha1\nkind: Database\nmetadata: {{name: {name}, namespace: demo}}\n\
                 spec: {{engine: postgresql, version: \"16\", storage: {{size: {size}}}}}\n"
            );
            fs::write(folder.join(format!("{input}/{name}.yaml")), text).unwrap();
        }
    }
    let is_root = Command::new("id").arg("-u").output().unwrap().stdout == b"0\n";
    let mut command = Command::new("unshare");
    command.args(["--mount", "--propagation", "private"]);
    if !is_root {
        command.args(["--user", "--map-root-user"]);
    }
    let script = format!("set -euo pipefail\ndbrender={:?}\nmkdir disk\n{script}", env!("CARGO_BIN_EXE_dbrender"));
    command.args(["bash", "-c", &script]).current_dir(folder).output().unwrap()
}

fn succeeds(script: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    let output = in_own_mounts(folder.path(), script);
    let text = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{text}");
    text
}

#[test]
fn a_full_disk_leaves_the_tree_as_it_was() {
    // From too small for the first file to just large enough for all of them: each step is full at another moment.
    let text = succeeds(
        r#"
        full=0 fits=0
        for free in $(seq 4 24 900); do
          mount -t tmpfs -o size=8m tmpfs disk
          "$dbrender" render old --output-dir disk/tree -q
          (cd disk/tree && find . -type f -exec sha256sum {} + | sort) >before
          used=$(df --output=used -k disk | tail -n 1)
          mount -o remount,size=$((used + free))k disk
          code=0
          "$dbrender" render new --output-dir disk/tree --prune -q 2>stderr || code=$?
          case $code in
            0) fits=$((fits + 1)) ;;
            3)
              full=$((full + 1))
              grep -q '^error\[DBR606\].*No space left on device' stderr
              (cd disk/tree && find . -type f -exec sha256sum {} + | sort) | diff before - ;;
            *) echo "exit $code"; cat stderr; exit 1 ;;
          esac
          # With room again, the next run brings it up to date.
          mount -o remount,size=8m disk
          "$dbrender" render new --output-dir disk/tree --prune -q
          "$dbrender" render new --output-dir disk/tree --prune -q --check
          [[ -z $(find disk/tree -name '.dbrender-tmp-*') ]]
          umount disk
        done
        echo "full $full times, fits $fits times"
        ((full > 3 && fits > 0))
        "#,
    );
    assert!(text.contains("full"), "{text}");
}

#[test]
fn a_disk_that_is_read_only_is_told_and_can_be_compared_with() {
    succeeds(
        r#"
        mount -t tmpfs tmpfs disk
        "$dbrender" render old --output-dir disk/tree -q
        mount -o remount,ro disk
        code=0
        "$dbrender" render new --output-dir disk/tree 2>stderr || code=$?
        [[ $code == 3 ]] && grep -q '^error\[DBR606\].*Read-only file system' stderr
        code=0
        "$dbrender" render new --output-dir disk/other 2>stderr || code=$?
        [[ $code == 3 ]] && grep -q '^error\[DBR606\].*Read-only file system' stderr
        "$dbrender" render old --output-dir disk/tree -q
        "$dbrender" render old --output-dir disk/tree -q --check
        code=0
        "$dbrender" render new --output-dir disk/tree -q --check >/dev/null || code=$?
        [[ $code == 1 ]]
        "#,
    );
}

#[test]
fn a_folder_of_somebody_else_is_told() {
    succeeds(
        r#"
        mount -t tmpfs -o mode=755 tmpfs disk
        "$dbrender" render old --output-dir disk/tree -q
        chmod 000 old/a.yaml
        code=0
        chmod o+rx . && setpriv --reuid=65534 --regid=65534 --clear-groups "$dbrender" render new --output-dir disk/tree 2>stderr || code=$?
        [[ $code == 3 ]] && grep -q '^error\[DBR606\].*Permission denied' stderr
        code=0
        setpriv --reuid=65534 --regid=65534 --clear-groups "$dbrender" render old >stdout 2>stderr || code=$?
        [[ $code == 3 && ! -s stdout ]] && grep -q '^error\[DBR101\].*old/a.yaml: Permission denied' stderr
        "#,
    );
}
