//! The binary and the disk: what a kill, a full disk, a second run and another environment leave behind.

#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::panic,
    clippy::print_stderr,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a test may use files and programs, and ends where it fails"
)]

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

/// A folder in memory where the system has such a place: kills shall hit the program, not its waiting for the disk.
fn folder() -> tempfile::TempDir {
    let memory = Path::new("/dev/shm");
    if memory.is_dir() { tempfile::tempdir_in(memory).unwrap() } else { tempfile::tempdir().unwrap() }
}

fn dbrender(dir: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_dbrender"));
    command.current_dir(dir).env_clear().stdin(Stdio::null());
    command
}

fn render(dir: &Path, arguments: &[&str]) -> Output {
    dbrender(dir).arg("render").args(arguments).output().unwrap()
}

fn rendered(dir: &Path, arguments: &[&str]) -> Vec<u8> {
    let output = render(dir, arguments);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}

/// Some Databases, numbered, of one size each.
fn write_databases(dir: &Path, numbers: impl IntoIterator<Item = usize>, size: &str) {
    fs::create_dir_all(dir.join("in")).unwrap();
    for number in numbers {
        let text = format!(
            "apiVersion: app.example.com/v1alpha1\nkind: Database\nmetadata: {{name: db-{number}, namespace: ns-{}}}\n\
             spec: {{engine: postgresql, version: \"16\", replicas: 3, storage: {{size: {size}}}}}\n",
            number % 3
        );
        fs::write(dir.join(format!("in/{number}.yaml")), text).unwrap();
    }
}

fn contents(dir: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![dir.to_owned()];
    while let Some(folder) = folders.pop() {
        let Ok(entries) = fs::read_dir(folder) else { continue };
        for entry in entries {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                found.insert(path.strip_prefix(dir).unwrap().to_str().unwrap().to_owned(), fs::read(path).unwrap());
            }
        }
    }
    found
}

/// Two states of an input, and the trees that they give.
struct States {
    dir: tempfile::TempDir,
    old: BTreeMap<String, Vec<u8>>,
    new: BTreeMap<String, Vec<u8>>,
}

const FLAGS: [&str; 4] = ["--output-dir", "tree", "--prune", "--kustomization"];

impl States {
    fn new() -> States {
        let mut states = States { dir: folder(), old: BTreeMap::new(), new: BTreeMap::new() };
        states.new = states.fresh(true);
        states.old = states.fresh(false);
        states
    }

    fn input(&self, new: bool) {
        let _ = fs::remove_dir_all(self.dir.path().join("in"));
        // Some change, some go, some come, some stay.
        write_databases(self.dir.path(), if new { 0..4 } else { 0..6 }, if new { "20Gi" } else { "10Gi" });
        write_databases(self.dir.path(), if new { 10..13 } else { 8..10 }, "1Gi");
        write_databases(self.dir.path(), 20..22, "1Gi");
    }

    fn fresh(&self, new: bool) -> BTreeMap<String, Vec<u8>> {
        let _ = fs::remove_dir_all(self.dir.path().join("tree"));
        self.input(new);
        self.run();
        contents(&self.dir.path().join("tree"))
    }

    /// Puts the old tree there, as it was.
    fn restore(&self) {
        let tree = self.dir.path().join("tree");
        let _ = fs::remove_dir_all(&tree);
        for (name, bytes) in &self.old {
            let path = tree.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, bytes).unwrap();
        }
    }

    fn run(&self) {
        rendered(self.dir.path(), &[&["in"], &FLAGS[..]].concat());
    }

    fn found(&self) -> BTreeMap<String, Vec<u8>> {
        contents(&self.dir.path().join("tree"))
    }

    fn assert_whole(&self, when: &str) {
        for (name, bytes) in self.found() {
            if name.contains(".dbrender-tmp-") || name.ends_with("dbrender.lock") {
                continue;
            }
            let whole = self.old.get(&name) == Some(&bytes) || self.new.get(&name) == Some(&bytes);
            assert!(whole, "{when}: {name} is neither old nor new");
        }
    }
}

/// Whether a run has begun to write below the tree.
fn is_writing(tree: &Path) -> bool {
    let temporary = |path: &Path| {
        let entries = fs::read_dir(path).into_iter().flatten().filter_map(Result::ok);
        let names: Vec<_> = entries.map(|entry| entry.path()).collect();
        (names.iter().any(|path| path.to_string_lossy().contains("/.dbrender-tmp-")), names)
    };
    let (here, namespaces) = temporary(tree);
    here || namespaces.iter().any(|namespace| temporary(namespace).0)
}

/// Kills a run at a moment: so long after its start, or after it has begun to write. Whether it came in time.
fn kill(states: &States, writing: bool, moment: Duration) -> bool {
    let mut command = dbrender(states.dir.path());
    command.arg("render").arg("in").args(FLAGS).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    let tree = states.dir.path().join("tree");
    while writing && !is_writing(&tree) && child.try_wait().unwrap().is_none() {}
    let start = Instant::now();
    while start.elapsed() < moment {
        std::hint::spin_loop();
    }
    let _ = child.kill();
    child.wait().unwrap().code().is_none()
}

/// RD-95: a cut manifest is a valid shorter one, and a sync picks it up.
#[test]
fn a_killed_run_leaves_whole_files_and_the_next_one_repairs_the_rest() {
    let states = States::new();
    let (mut killed, mut between) = (0, 0);
    for number in 0..24 {
        states.restore();
        states.input(true);
        let writing = number % 4 != 0;
        // The writing takes some milliseconds; what comes before it, much longer.
        let moment = if writing { Duration::from_micros(number * 250) } else { Duration::from_millis(number * 6) };
        killed += usize::from(kill(&states, writing, moment));
        states.assert_whole(&format!("kill {number}"));
        let found = states.found();
        between += usize::from(found != states.old && found != states.new);
        states.run();
        assert_eq!(states.found(), states.new, "after kill {number}");
    }
    // The test would be worth nothing if no kill had come in time.
    assert!(killed > 5 && between > 2, "{killed} of 24 runs were killed, {between} in the middle of their writing");
}

/// RD-95, without root: see `tests/disk.rs` for real disks.
#[test]
fn a_disk_without_room_leaves_the_old_tree() {
    let states = States::new();
    // Files may have 1 KiB: the first large one fails, as it would on a full disk.
    let script =
        format!("ulimit -f 1; trap '' XFSZ; exec {:?} render in {}", env!("CARGO_BIN_EXE_dbrender"), FLAGS.join(" "));
    states.restore();
    states.input(true);
    let output = Command::new("bash").args(["-c", &script]).current_dir(states.dir.path()).output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{stderr}");
    assert!(stderr.contains("error[DBR606]"), "{stderr}");
    assert_eq!(states.found(), states.old);
    states.run();
    assert_eq!(states.found(), states.new);
}

/// RD-96: parallel jobs render into one checkout.
#[test]
fn two_runs_at_once_give_the_tree_of_one() {
    let dir = folder();
    write_databases(dir.path(), 0..20, "1Gi");
    let start = || {
        dbrender(dir.path())
            .args(["render", "in", "--output-dir", "tree"])
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap()
    };
    for _ in 0..4 {
        let _ = fs::remove_dir_all(dir.path().join("tree"));
        let children = [start(), start(), start()];
        let mut done = 0;
        for child in children {
            let output = child.wait_with_output().unwrap();
            let stderr = String::from_utf8_lossy(&output.stderr);
            match output.status.code() {
                Some(0) => done += 1,
                Some(3) => assert!(stderr.contains("another run of dbrender is at work"), "{stderr}"),
                other => panic!("{other:?}: {stderr}"),
            }
        }
        assert!(done > 0);
        let check = render(dir.path(), &["in", "--output-dir", "tree", "--check"]);
        assert!(check.status.success(), "{}", String::from_utf8_lossy(&check.stdout));
    }
}

/// RD-74: a difference that is none is a review for nothing, and a restart for nothing.
#[test]
fn the_environment_changes_no_byte() {
    let dir = folder();
    write_databases(dir.path(), 0..12, "1Gi");
    // The same files, made in another order and below another folder.
    fs::create_dir_all(dir.path().join("other/place/in")).unwrap();
    for number in (0..12).rev() {
        let name = format!("in/{number}.yaml");
        fs::copy(dir.path().join(&name), dir.path().join("other/place").join(&name)).unwrap();
    }
    let mut outputs = Vec::new();
    let places =
        [("", "C", "UTC"), ("", "tr_TR.UTF-8", "Asia/Seoul"), ("other/place", "de_DE.UTF-8", "America/New_York")];
    for (place, locale, zone) in places {
        for format in ["yaml", "json"] {
            let mut command = dbrender(&dir.path().join(place));
            command.env("LANG", locale).env("LC_ALL", locale).env("TZ", zone).env("COLUMNS", "20").env("NO_COLOR", "1");
            let output = command.args(["render", "in", "-o", format]).output().unwrap();
            assert!(output.status.success());
            assert!(output.stdout.len() > 100_000);
            outputs.push((format, output.stdout));
        }
        rendered(&dir.path().join(place), &["in", "--output-dir", "tree"]);
    }
    for (format, output) in &outputs[2..] {
        let first = outputs.iter().find(|(other, _)| other == format).unwrap();
        assert!(first.1 == *output, "{format} differs");
    }
    assert_eq!(contents(&dir.path().join("tree")), contents(&dir.path().join("other/place/tree")));
}

/// RD-81.
#[test]
fn files_are_readable_for_others_as_far_as_the_umask_says() {
    for (mask, file, folder_mode) in [("022", 0o644, 0o755), ("077", 0o600, 0o700), ("000", 0o644, 0o777)] {
        let dir = folder();
        write_databases(dir.path(), 0..1, "1Gi");
        let script = format!("umask {mask}; exec {:?} render in --output-dir tree", env!("CARGO_BIN_EXE_dbrender"));
        assert!(Command::new("bash").args(["-c", &script]).current_dir(dir.path()).output().unwrap().status.success());
        let mode = |path: &str| fs::metadata(dir.path().join(path)).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode("tree/ns-0/db-0/service-db-0.yaml"), file, "umask {mask}");
        assert_eq!(mode("tree/ns-0/db-0"), folder_mode, "umask {mask}");
    }
}

/// RD-82: `| head` is no crash.
#[test]
fn a_reader_that_stops_is_no_fault() {
    let dir = folder();
    write_databases(dir.path(), 0..20, "1Gi");
    let mut child =
        dbrender(dir.path()).args(["render", "in"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    std::thread::sleep(Duration::from_millis(1));
    let output = child.wait_with_output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{stderr}");
    assert!(!stderr.contains("panicked") && !stderr.contains("error"), "{stderr}");
}
