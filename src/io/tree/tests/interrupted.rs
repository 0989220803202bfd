//! Runs that end before their time: a kill after each operation, and a disk that is full.

use std::cell::RefCell;
use std::fs;
use std::io;
use std::path::Path;

use super::super::Options;
use super::super::disk::{Disk, Machine};
use super::super::layout::{KUSTOMIZATION, LOCK, TEMPORARY};
use super::{ONE, TWO, Tree, contents, folder, fresh, prune, run, run_on};
use crate::problem::Code;

/// A disk that does `left` operations and then, half-way through the next one, is no more.
struct Stops {
    left: usize,
    stopped: bool,
}

impl Stops {
    fn after(left: usize) -> Stops {
        Stops { left, stopped: false }
    }

    fn step(&mut self) -> io::Result<()> {
        if self.left == 0 {
            self.stopped = true;
            return Err(io::Error::new(io::ErrorKind::StorageFull, "No space left on device (os error 28)"));
        }
        self.left -= 1;
        Ok(())
    }
}

impl Disk for Stops {
    fn create_dir(&mut self, path: &Path) -> io::Result<()> {
        self.step()?;
        Machine.create_dir(path)
    }

    fn create(&mut self, path: &Path, parts: &[&str]) -> io::Result<()> {
        if let Err(error) = self.step() {
            // Half of it got through, unless the machine has been off for a while.
            let text = parts.concat();
            let _ = Machine.create(path, &[&text[..text.len() / 2]]);
            return Err(error);
        }
        Machine.create(path, parts)
    }

    fn rename(&mut self, from: &Path, to: &Path) -> io::Result<()> {
        self.step()?;
        Machine.rename(from, to)
    }

    fn remove_file(&mut self, path: &Path) -> io::Result<()> {
        self.step()?;
        Machine.remove_file(path)
    }

    fn remove_dir(&mut self, path: &Path) -> io::Result<()> {
        self.step()?;
        Machine.remove_dir(path)
    }

    fn remove_all(&mut self, path: &Path) -> io::Result<()> {
        self.step()?;
        Machine.remove_all(path)
    }

    fn sync(&mut self, _root: &Path) -> io::Result<()> {
        self.step()
    }
}

#[test]
fn a_kill_at_any_step_leaves_whole_files_and_the_next_run_repairs_the_rest() {
    const BEFORE: Tree<'_> = &[
        ("demo/shop", &[("shop", "a: 1\n"), ("shop-ro", "b: 1\n"), ("shop-same", "s\n")]),
        ("demo/gone", &[("gone", "g\n"), ("gone-ro", "g\n")]),
        ("old/last", &[("last", "l\n")]),
    ];
    const DURING: Tree<'_> = &[
        ("demo/shop", &[("shop", "a: 2\n"), ("shop-new", "n\n"), ("shop-same", "s\n")]),
        ("demo/store", &[("store", "x\n"), ("store-ro", "x\n")]),
        ("new/first", &[("first", "f\n")]),
    ];
    // Somebody changes the input before the second run: what the first one left is none of the new contents.
    const AFTER: Tree<'_> = &[
        ("demo/shop", &[("shop", "a: 3\n"), ("shop-new", "n: 3\n"), ("shop-same", "s: 3\n")]),
        ("demo/store", &[("store", "x: 3\n")]),
    ];
    let options = Options { kustomization: true, ..prune() };
    let (before, during) = (fresh(BEFORE, &options), fresh(DURING, &options));
    let mut steps = 0;
    loop {
        for next in [DURING, AFTER, BEFORE] {
            let dir = folder();
            run(dir.path(), BEFORE, &options).unwrap();
            let mut disk = Stops::after(steps);
            let result = run_on(&mut disk, dir.path(), DURING, &options);
            let found = contents(dir.path());
            if !disk.stopped {
                assert!(result.is_ok());
                assert_eq!(found, during);
                assert!(steps > 30, "{steps}");
                return;
            }
            for (name, text) in found.iter().filter(|(name, _)| !name.contains(TEMPORARY)) {
                if name.ends_with(LOCK) {
                    continue;
                }
                let whole = before.get(name) == Some(text) || during.get(name) == Some(text);
                assert!(whole, "step {steps}: {name} is neither old nor new: {text:?}");
                if name.ends_with(KUSTOMIZATION) {
                    let namespace = name.split_once('/').unwrap().0;
                    let lines = text.as_ref().unwrap().lines().filter_map(|line| line.strip_prefix("- "));
                    for file in lines {
                        assert!(
                            found.contains_key(&format!("{namespace}/{file}")),
                            "step {steps}: {name} names {file}"
                        );
                    }
                }
            }
            let repaired = run(dir.path(), next, &options);
            assert!(repaired.is_ok(), "step {steps}: {repaired:?}");
            assert_eq!(contents(dir.path()), fresh(next, &options), "step {steps}");
        }
        steps += 1;
    }
}

#[test]
fn a_full_disk_leaves_the_old_tree_as_it_was() {
    /// Has no room for new files, and does everything else.
    struct Full(RefCell<usize>);
    impl Disk for Full {
        fn create_dir(&mut self, path: &Path) -> io::Result<()> {
            Machine.create_dir(path)
        }
        fn create(&mut self, path: &Path, parts: &[&str]) -> io::Result<()> {
            let room = self.0.get_mut();
            if *room == 0 {
                Machine.create(path, &["#"])?;
                return Err(io::Error::from(io::ErrorKind::StorageFull));
            }
            *room -= 1;
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
    let before = fresh(ONE, &Options::default());
    for room in 0.. {
        let dir = folder();
        run(dir.path(), ONE, &Options::default()).unwrap();
        match run_on(&mut Full(RefCell::new(room)), dir.path(), TWO, &Options::default()) {
            Ok(_) => {
                assert!(room > 3, "{room}");
                return;
            }
            Err(problems) => assert_eq!(problems[0].0, Code::Unwritable),
        }
        assert_eq!(contents(dir.path()), before, "room for {room}");
        assert_eq!(fs::read_dir(dir.path().join("demo")).unwrap().count(), 1, "room for {room}");
    }
}
