//! The three steps together on a real disk.

mod interrupted;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::Path;

use super::disk::{Disk, Machine};
use super::layout::{KUSTOMIZATION, LOCK};
use super::write::write_with;
use super::{Digest, Done, Options, Owner, Planned, Root, TakeObject, Texts, Wanted, look, plan, survey};
use crate::problem::{Code, Problem, Severity};

/// A tree as a test writes it down: folder, then the names and texts of its Services.
type Tree<'a> = &'a [(&'a str, &'a [(&'a str, &'a str)])];

/// An empty folder, in memory where the system has such a place: the tests make thousands of files.
fn folder() -> tempfile::TempDir {
    let memory = Path::new("/dev/shm");
    if memory.is_dir() { tempfile::tempdir_in(memory).unwrap() } else { tempfile::tempdir().unwrap() }
}

impl Texts for Tree<'_> {
    fn each(&mut self, database: &str, take: &mut TakeObject<'_>) -> Result<(), Problem> {
        let files = self.iter().filter(|(folder, _)| *folder == database).flat_map(|(_, files)| *files);
        // Cut anywhere, in different places of different texts.
        files.into_iter().try_for_each(|(name, text)| take("Service", name, text.split_at(text.len() / 3).into()))
    }
}

fn wanted(dir: &Path, mut tree: Tree<'_>) -> Wanted {
    let root = Root::to_read(dir).unwrap();
    let mut wanted = Wanted::new(None);
    for (folder, _) in tree {
        let (namespace, name) = folder.split_once('/').unwrap();
        let owner = Owner::new(namespace, name).unwrap();
        wanted.add(look(&root, &owner, &mut tree, &mut Vec::new()).unwrap());
    }
    wanted
}

fn planned(dir: &Path, wanted: Wanted, options: &Options) -> (Root, Planned) {
    let (root, warning) = Root::to_write(dir).unwrap();
    assert_eq!(warning, None);
    let existing = survey(&root, &wanted, options.prune).unwrap();
    let planned = plan(&existing, wanted, options, &|path| path.to_owned());
    (root, planned)
}

fn run_on(disk: &mut dyn Disk, dir: &Path, mut tree: Tree<'_>, options: &Options) -> Result<Done, Vec<(Code, String)>> {
    let (root, planned) = planned(dir, wanted(dir, tree), options);
    if planned.problems.has_errors() {
        return Err(codes(planned.problems.into_iter().filter(|p| p.severity == Severity::Error)));
    }
    write_with(disk, root.path(), &planned.actions, &mut tree).map_err(|problem| codes([problem]))
}

fn run(dir: &Path, tree: Tree<'_>, options: &Options) -> Result<Done, Vec<(Code, String)>> {
    run_on(&mut Unsynced, dir, tree, options)
}

/// A machine that does not wait for its disk, for the hundreds of runs here.
struct Unsynced;

impl Disk for Unsynced {
    fn create_dir(&mut self, path: &Path) -> io::Result<()> {
        Machine.create_dir(path)
    }
    fn create(&mut self, path: &Path, parts: &[&str]) -> io::Result<()> {
        Machine.create(path, parts)
    }
    fn rename(&mut self, from: &Path, to: &Path) -> io::Result<()> {
        Machine.rename(from, to)
    }
    fn remove_file(&mut self, path: &Path) -> io::Result<()> {
        Machine.remove_file(path)
    }
    fn remove_dir(&mut self, path: &Path) -> io::Result<()> {
        Machine.remove_dir(path)
    }
    fn remove_all(&mut self, path: &Path) -> io::Result<()> {
        Machine.remove_all(path)
    }
    fn sync(&mut self, _root: &Path) -> io::Result<()> {
        Ok(())
    }
}

fn codes(problems: impl IntoIterator<Item = Problem>) -> Vec<(Code, String)> {
    problems.into_iter().map(|p| (p.code, p.message)).collect()
}

/// Every file below a folder, with its text; `None` for a link.
fn contents(dir: &Path) -> BTreeMap<String, Option<String>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![dir.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.strip_prefix(dir).unwrap().to_str().unwrap().to_owned();
            if path.is_symlink() {
                found.insert(name, None);
            } else if path.is_dir() {
                folders.push(path);
            } else {
                found.insert(name, Some(String::from_utf8_lossy(&fs::read(&path).unwrap()).into_owned()));
            }
        }
    }
    found
}

fn fresh(tree: Tree<'_>, options: &Options) -> BTreeMap<String, Option<String>> {
    let dir = folder();
    run(dir.path(), tree, options).unwrap();
    contents(dir.path())
}

fn prune() -> Options {
    Options { prune: true, ..Options::default() }
}

const ONE: Tree<'_> = &[("demo/shop", &[("shop", "a: 1\n"), ("shop-ro", "b: 1\n")])];
const TWO: Tree<'_> =
    &[("demo/shop", &[("shop", "a: 2\n"), ("shop-new", "c: 1\n")]), ("demo/store", &[("store", "x\n")])];

#[test]
fn a_second_run_writes_nothing() {
    let dir = folder();
    let done = run(dir.path(), ONE, &Options::default()).unwrap();
    assert_eq!(done.written, ["demo/shop/service-shop-ro.yaml", "demo/shop/service-shop.yaml"]);
    let file = dir.path().join("demo/shop/service-shop.yaml");
    let head = "# Database demo/shop: rendered by dbrender, edit the Database instead\n";
    assert_eq!(fs::read_to_string(&file).unwrap(), format!("{head}a: 1\n"));
    let before = fs::metadata(&file).unwrap();
    assert_eq!(run(dir.path(), ONE, &Options::default()).unwrap(), Done::default());
    assert_eq!(fs::metadata(&file).unwrap().modified().unwrap(), before.modified().unwrap());
}

#[test]
fn the_lock_is_what_sha256sum_checks() {
    let dir = folder();
    run(dir.path(), ONE, &Options::default()).unwrap();
    let folder = dir.path().join("demo/shop");
    let lock = fs::read_to_string(folder.join(LOCK)).unwrap();
    for line in lock.lines().filter(|line| !line.starts_with('#')) {
        let (digest, name) = line.split_once("  ").unwrap();
        assert_eq!(digest, Digest::of(&fs::read(folder.join(name)).unwrap()).to_string());
    }
    assert_eq!(lock.lines().count(), 3);
}

#[test]
fn only_what_changed_is_written_and_what_is_ours_is_removed() {
    let dir = folder();
    run(dir.path(), ONE, &Options::default()).unwrap();
    fs::write(dir.path().join("demo/shop/README.md"), "mine").unwrap();
    let done = run(dir.path(), TWO, &Options::default()).unwrap();
    assert_eq!(
        done.written,
        ["demo/shop/service-shop-new.yaml", "demo/shop/service-shop.yaml", "demo/store/service-store.yaml"]
    );
    assert_eq!(done.removed, ["demo/shop/service-shop-ro.yaml"]);
    let mut right = fresh(TWO, &Options::default());
    right.insert("demo/shop/README.md".to_owned(), Some("mine".to_owned()));
    assert_eq!(contents(dir.path()), right);
}

/// What a test does to a tree before the run.
type Edit = fn(&Path);

#[test]
fn what_is_not_ours_stops_the_run_and_nothing_is_touched() {
    const MARKED: &str = "<<<<<<< HEAD\na: 1\n=======\na: 3\n>>>>>>> other\n";
    let file = "demo/shop/service-shop.yaml";
    let cases: [(&str, Edit, Code, &str); 9] = [
        ("edited", |dir| fs::write(dir.join("demo/shop/service-shop.yaml"), "mine").unwrap(), Code::EditedFile, file),
        (
            "edited, and no longer rendered",
            |dir| fs::write(dir.join("demo/shop/service-shop-ro.yaml"), "mine").unwrap(),
            Code::EditedFile,
            "demo/shop/service-shop-ro.yaml",
        ),
        (
            "foreign",
            |dir| fs::write(dir.join("demo/shop/service-shop-new.yaml"), "mine").unwrap(),
            Code::ForeignFile,
            "demo/shop/service-shop-new.yaml",
        ),
        (
            "a folder in the way",
            |dir| fs::create_dir(dir.join("demo/shop/service-shop-new.yaml")).unwrap(),
            Code::ForeignFile,
            "demo/shop/service-shop-new.yaml",
        ),
        (
            "foreign in place of a folder",
            |dir| fs::write(dir.join("demo/store"), "mine").unwrap(),
            Code::ForeignFile,
            "demo/store",
        ),
        (
            "conflict",
            |dir| fs::write(dir.join("demo/shop/service-shop.yaml"), MARKED).unwrap(),
            Code::ConflictMarker,
            file,
        ),
        (
            "conflict in the lock",
            |dir| fs::write(dir.join("demo/shop/dbrender.lock"), MARKED).unwrap(),
            Code::ConflictMarker,
            "demo/shop/dbrender.lock",
        ),
        (
            "broken lock",
            |dir| fs::write(dir.join("demo/shop/dbrender.lock"), b"\xff\0").unwrap(),
            Code::BrokenLock,
            "demo/shop/dbrender.lock",
        ),
        ("lock removed", |dir| fs::remove_file(dir.join("demo/shop/dbrender.lock")).unwrap(), Code::ForeignFile, file),
    ];
    for (what, edit, code, path) in cases {
        let dir = folder();
        run(dir.path(), ONE, &Options::default()).unwrap();
        edit(dir.path());
        let before = contents(dir.path());
        let problems = run(dir.path(), TWO, &Options::default()).unwrap_err();
        assert!(problems.iter().any(|(c, message)| *c == code && message.contains(path)), "{what}: {problems:?}");
        assert_eq!(contents(dir.path()), before, "{what}");
    }
}

#[test]
fn a_lost_lock_is_no_trouble_while_the_files_are_right() {
    let dir = folder();
    run(dir.path(), ONE, &Options::default()).unwrap();
    fs::remove_file(dir.path().join("demo/shop").join(LOCK)).unwrap();
    assert_eq!(run(dir.path(), ONE, &Options::default()).unwrap(), Done::default());
    assert_eq!(contents(dir.path()), fresh(ONE, &Options::default()));
}

#[test]
fn a_checkout_with_crlf_is_no_edit() {
    let dir = folder();
    run(dir.path(), ONE, &Options::default()).unwrap();
    for name in ["service-shop.yaml", "service-shop-ro.yaml", LOCK] {
        let path = dir.path().join("demo/shop").join(name);
        let text = fs::read_to_string(&path).unwrap();
        fs::write(&path, text.replace('\n', "\r\n")).unwrap();
    }
    run(dir.path(), TWO, &Options::default()).unwrap();
    assert_eq!(contents(dir.path()), fresh(TWO, &Options::default()));
}

#[test]
fn force_takes_the_named_file_only() {
    let dir = folder();
    run(dir.path(), ONE, &Options::default()).unwrap();
    let names = ["demo/shop/service-shop.yaml", "demo/shop/service-shop-ro.yaml"];
    for name in names {
        fs::write(dir.path().join(name), "mine").unwrap();
    }
    let force =
        |names: &[&str]| Options { force: names.iter().map(|n| (*n).to_owned()).collect(), ..Options::default() };
    let problems = run(dir.path(), ONE, &force(&names[..1])).unwrap_err();
    assert_eq!(problems.len(), 1, "{problems:?}");
    run(dir.path(), ONE, &force(&names)).unwrap();
    assert_eq!(contents(dir.path()), fresh(ONE, &Options::default()));

    let (_root, planned) = planned(dir.path(), wanted(dir.path(), ONE), &force(&["demo/shop/x.yaml", names[0]]));
    assert_eq!(planned.unused_force, BTreeSet::from(["demo/shop/x.yaml".to_owned()]));
}

#[test]
fn a_broken_lock_can_be_forced() {
    let dir = folder();
    run(dir.path(), ONE, &Options::default()).unwrap();
    fs::write(dir.path().join("demo/shop/dbrender.lock"), "rubbish").unwrap();
    let options = Options { force: BTreeSet::from(["demo/shop/dbrender.lock".to_owned()]), ..Options::default() };
    run(dir.path(), ONE, &options).unwrap();
    assert_eq!(contents(dir.path()), fresh(ONE, &Options::default()));
}

#[cfg(unix)]
#[test]
fn nothing_is_written_through_a_link() {
    use std::os::unix::fs::symlink;
    let outside = folder();
    fs::write(outside.path().join("secret"), "s3cr3t").unwrap();
    for link in ["demo", "demo/shop", "demo/shop/service-shop.yaml", "demo/shop/dbrender.lock"] {
        let dir = folder();
        let path = dir.path().join(link);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let target = if link.contains('.') { outside.path().join("secret") } else { outside.path().to_owned() };
        symlink(target, &path).unwrap();
        let problems = run(dir.path(), ONE, &Options::default()).unwrap_err();
        assert_eq!(problems[0].0, Code::ForeignFile, "{link}: {problems:?}");
        assert!(problems.iter().all(|(_, message)| !message.contains("s3cr3t")));
        assert_eq!(contents(outside.path()).len(), 1, "{link}");
    }
    // A forced link is replaced by a file; what it led to stays.
    let dir = folder();
    fs::create_dir_all(dir.path().join("demo/shop")).unwrap();
    symlink(outside.path().join("secret"), dir.path().join("demo/shop/service-shop.yaml")).unwrap();
    let options = Options { force: BTreeSet::from(["demo/shop/service-shop.yaml".to_owned()]), ..Options::default() };
    run(dir.path(), ONE, &options).unwrap();
    assert_eq!(contents(dir.path()), fresh(ONE, &Options::default()));
    assert_eq!(fs::read_to_string(outside.path().join("secret")).unwrap(), "s3cr3t");
}

#[test]
fn absent_databases_stay_until_pruned_and_the_last_needs_a_word_more() {
    let dir = folder();
    run(dir.path(), TWO, &Options::default()).unwrap();
    fs::write(dir.path().join("demo/store/notes.txt"), "mine").unwrap();
    let shop: Tree<'_> = &TWO[..1];

    let (root, left) = planned(dir.path(), wanted(dir.path(), shop), &Options::default());
    assert_eq!(
        left.problems.iter().map(|p| (p.code, p.subject.as_deref())).collect::<Vec<_>>(),
        [(Code::LeftBehind, Some("demo/store"))]
    );
    assert!(left.actions.is_empty());
    drop(root);

    let done = run(dir.path(), shop, &prune()).unwrap();
    assert_eq!(done.removed, ["demo/store/service-store.yaml"]);
    assert_eq!(fs::read_dir(dir.path().join("demo/store")).unwrap().count(), 1);

    assert_eq!(run(dir.path(), &[], &prune()).unwrap_err()[0].0, Code::WouldBeEmpty);
    let done = run(dir.path(), &[], &Options { allow_empty: true, ..prune() }).unwrap();
    assert_eq!(done.removed.len(), 2);
    assert_eq!(contents(dir.path()).keys().collect::<Vec<_>>(), ["demo/store/notes.txt"]);
}

#[test]
fn an_empty_namespace_goes_with_its_last_database() {
    let dir = folder();
    let options = Options { allow_empty: true, kustomization: true, ..prune() };
    run(dir.path(), TWO, &options).unwrap();
    run(dir.path(), &[], &options).unwrap();
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
}

#[test]
fn what_a_selector_leaves_out_is_not_absent() {
    let dir = folder();
    run(dir.path(), TWO, &Options::default()).unwrap();
    let mut some = wanted(dir.path(), &TWO[..1]);
    some.leave(&Owner::new("demo", "store").unwrap());
    let (_root, planned) = planned(dir.path(), some, &prune());
    assert!(planned.problems.is_empty() && planned.actions.is_empty());
}

#[test]
fn a_run_for_one_namespace_leaves_the_others_alone() {
    let dir = folder();
    run(dir.path(), &[("demo/shop", &[("shop", "a")]), ("live/shop", &[("shop", "a")])], &Options::default()).unwrap();
    let mut tree: Tree<'_> = &[("demo/new", &[("new", "b")])];
    let mut demo = wanted(dir.path(), tree);
    demo.scope = Some("demo".to_owned());
    let (root, planned) = planned(dir.path(), demo, &prune());
    assert!(planned.problems.is_empty());
    write_with(&mut Unsynced, root.path(), &planned.actions, &mut tree).unwrap();
    let names: Vec<String> = contents(dir.path()).into_keys().filter(|name| name.ends_with("yaml")).collect();
    assert_eq!(names, ["demo/new/service-new.yaml", "live/shop/service-shop.yaml"]);
}

/// Files are made again when they are written. One that does not come would be in the lock and not in the tree.
#[test]
fn what_does_not_come_a_second_time_stops_the_run() {
    let dir = folder();
    run(dir.path(), ONE, &Options::default()).unwrap();
    let before = contents(dir.path());
    let (root, planned) = planned(dir.path(), wanted(dir.path(), TWO), &Options::default());
    let mut others: Tree<'_> = &[("demo/shop", &[("shop", "a: 2\n")]), ("demo/store", &[("store", "x\n")])];
    let problem = write_with(&mut Unsynced, root.path(), &planned.actions, &mut others).unwrap_err();
    assert_eq!((problem.code, problem.message.contains("demo/shop: 1 files")), (Code::Unwritable, true));
    assert_eq!(contents(dir.path()), before);
}

#[test]
fn a_kustomization_lists_what_is_in_the_tree() {
    let dir = folder();
    let options = Options { kustomization: true, ..Options::default() };
    run(dir.path(), TWO, &options).unwrap();
    let path = dir.path().join("demo").join(KUSTOMIZATION);
    let head = "# Namespace demo: rendered by dbrender, edit the Databases instead\n\
                apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources:\n";
    let all = "- shop/service-shop-new.yaml\n- shop/service-shop.yaml\n- store/service-store.yaml\n";
    assert_eq!(fs::read_to_string(&path).unwrap(), format!("{head}{all}"));

    // A Database that is left behind stays in it, with or without the flag: the next sync would delete it otherwise.
    for options in [&options, &Options::default()] {
        assert_eq!(run(dir.path(), &TWO[..1], options).unwrap(), Done::default());
    }
    run(dir.path(), ONE, &Options::default()).unwrap();
    let after = "- shop/service-shop-ro.yaml\n- shop/service-shop.yaml\n- store/service-store.yaml\n";
    assert_eq!(fs::read_to_string(&path).unwrap(), format!("{head}{after}"));

    // Without its lock nobody knows what it has; an empty list would be a deletion.
    let lock = dir.path().join("demo/store").join(LOCK);
    let kept = fs::read(&lock).unwrap();
    fs::write(&lock, "rubbish").unwrap();
    assert_eq!(run(dir.path(), ONE, &Options::default()).unwrap_err()[0].0, Code::BrokenLock);
    fs::write(&lock, kept).unwrap();

    // Two branches were merged: the lines of both, in any order.
    fs::write(&path, format!("{head}- store/service-store.yaml\n- shop/service-shop.yaml\n")).unwrap();
    run(dir.path(), ONE, &Options::default()).unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), format!("{head}{after}"));

    // Somebody's own line.
    fs::write(dir.path().join("demo/shop/mine.yaml"), "x").unwrap();
    for edit in ["- shop/mine.yaml\n", "namePrefix: x\n"] {
        fs::write(&path, format!("{head}{after}{edit}")).unwrap();
        assert_eq!(run(dir.path(), ONE, &options).unwrap_err()[0].0, Code::EditedFile, "{edit}");
    }

    // Taken away by hand: it comes back only when it is asked for.
    fs::remove_file(&path).unwrap();
    run(dir.path(), ONE, &Options::default()).unwrap();
    assert!(!path.exists());
    run(dir.path(), ONE, &options).unwrap();
    assert!(path.exists());
}

#[test]
fn a_foreign_kustomization_is_left_alone() {
    let dir = folder();
    fs::create_dir(dir.path().join("demo")).unwrap();
    let path = dir.path().join("demo").join(KUSTOMIZATION);
    fs::write(&path, "resources: []\n").unwrap();
    run(dir.path(), ONE, &Options::default()).unwrap();
    let options = Options { kustomization: true, ..Options::default() };
    assert_eq!(run(dir.path(), ONE, &options).unwrap_err()[0].0, Code::ForeignFile);
    assert_eq!(fs::read_to_string(&path).unwrap(), "resources: []\n");
}

#[test]
fn a_second_run_at_the_same_time_is_refused() {
    let dir = folder();
    let (first, _) = Root::to_write(dir.path()).unwrap();
    assert_eq!(Root::to_write(dir.path()).unwrap_err().code, Code::Unwritable);
    assert_eq!(Root::to_read(dir.path()).unwrap_err().code, Code::Unwritable);
    drop(first);
    let reader = Root::to_read(dir.path()).unwrap();
    assert!(Root::to_read(dir.path()).is_ok());
    assert!(Root::to_write(dir.path()).is_err());
    drop(reader);
    assert!(Root::to_write(dir.path()).is_ok());
}

#[test]
fn a_root_that_was_made_for_nothing_goes_again() {
    let dir = folder();
    let path = dir.path().join("new");
    Root::to_write(&path).unwrap().0.abandon();
    assert!(!path.exists());
    Root::to_write(dir.path()).unwrap().0.abandon();
    assert!(dir.path().exists());
}

#[test]
fn a_users_path_is_found_below_the_root() {
    let dir = folder();
    run(dir.path(), ONE, &Options::default()).unwrap();
    let root = Root::to_read(dir.path()).unwrap();
    let inside = dir.path().join("demo/shop/service-shop.yaml");
    for path in [inside.as_path(), Path::new("demo/shop/service-shop.yaml")] {
        assert_eq!(root.relative(path).as_deref(), Some("demo/shop/service-shop.yaml"));
    }
    for path in ["/etc/passwd", "../x/y", ""] {
        assert_eq!(root.relative(Path::new(path)), None, "{path}");
    }
}
