//! The house keeps its walls: which room uses which, where an engine is known, how long a file may be, and what may not
//! stand in a file at all. `ARCHITECTURE.md` says why.

#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::panic,
    clippy::print_stderr,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a test may use files and programs, and ends where it fails"
)]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::Command;

use dbrender::engine::{ALL, NEWEST_EDITION, Trial, helper_image, rclone_image};
use dbrender::plan::Profile;
use dbrender::problem::Code;

/// Room, and the rooms that it may use. Nothing above the I/O line uses anything below it.
const ROOMS: [(&str, &[&str]); 14] = [
    ("problem", &[]),
    ("api", &["problem"]),
    ("yaml", &[]),
    ("plan", &["api"]),
    ("input", &["api", "problem", "yaml"]),
    ("engine", &["api", "problem", "plan"]),
    ("check", &["api", "problem", "plan", "engine"]),
    ("render", &["api", "yaml", "plan", "engine"]),
    ("diff", &["api", "problem", "plan", "engine", "render", "yaml"]),
    ("report", &["api", "problem", "yaml", "input", "plan", "engine", "render", "diff"]),
    // ---- below the line ----
    ("io", &["api", "problem", "yaml", "input", "diff"]),
    ("cluster", &["api", "problem", "plan", "engine", "render", "diff"]),
    ("controller", &["api", "problem", "plan", "input", "engine", "check", "render", "diff", "cluster"]),
    (
        "cli",
        &[
            "api",
            "problem",
            "yaml",
            "plan",
            "input",
            "engine",
            "check",
            "render",
            "diff",
            "report",
            "io",
            "cluster",
            "controller",
        ],
    ),
];

/// Rooms whose first lines lift the wall of clippy.toml, with a reason.
const BELOW_THE_LINE: [&str; 4] = ["io", "cluster", "controller", "cli"];

/// Words of just one engine, and the folder that may know them.
const ENGINE_WORDS: [(&str, &str); 9] = [
    ("postgres", "engine/postgresql/"),
    ("patroni", "engine/postgresql/"),
    ("5432", "engine/postgresql/"),
    ("mysql", "engine/mysql/"),
    ("mariadb", "engine/mysql/"),
    ("3306", "engine/mysql/"),
    ("mongo", "engine/mongodb/"),
    ("mongosh", "engine/mongodb/"),
    ("27017", "engine/mongodb/"),
];

/// Files outside of an engine's folder that name engines, and why they have to.
const NAME_ENGINES: [(&str, &str); 4] = [
    ("src/api/database.rs", "the word in spec.engine"),
    ("src/api/crd.rs", "a rule that the API server enforces names an engine"),
    ("src/engine/mod.rs", "the list of engines"),
    ("src/cli/credentials.rs", "the example of its help text"),
];

/// Longest file of Rust, in lines without its tests; and longest file of tests.
const LONGEST: usize = 600;
const LONGEST_TESTS: usize = 800;
/// Longer files, and why.
const LONGER: [(&str, &str); 0] = [];

/// Names that say nothing about what is inside.
const EMPTY_NAMES: [&str; 10] =
    ["util", "utils", "common", "helper", "helpers", "manager", "misc", "shared", "stuff", "base"];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Every file of the repository by its path: what Git tracks, or, in an unpacked archive, what is there.
fn files() -> Vec<String> {
    let listed = Command::new("git")
        .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
        .current_dir(root())
        .output();
    if let Ok(output) = listed
        && output.status.success()
    {
        let text = String::from_utf8(output.stdout).unwrap();
        let tracked: Vec<String> = text.split('\0').filter(|name| !name.is_empty()).map(str::to_owned).collect();
        return tracked.into_iter().filter(|name| root().join(name).is_file()).collect();
    }
    let mut found = Vec::new();
    let mut folders = vec![root().to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.strip_prefix(root()).unwrap().to_str().unwrap().to_owned();
            if path.is_dir() && name != "target" && name != ".git" {
                folders.push(path);
            } else if path.is_file() {
                found.push(name);
            }
        }
    }
    found.sort();
    found
}

fn read(name: &str) -> String {
    String::from_utf8_lossy(&fs::read(root().join(name)).unwrap()).into_owned()
}

/// Sources of the library by path, without comments and without tests, which may use whatever they like.
fn sources() -> BTreeMap<String, String> {
    let sources =
        files().into_iter().filter(|name| name.starts_with("src/") && name.ends_with(".rs") && !is_test(name));
    sources.map(|name| (name.clone(), code(&read(&name)))).collect()
}

fn is_test(name: &str) -> bool {
    Path::new(name).components().any(|part| part.as_os_str() == "tests") || name.ends_with("/tests.rs")
}

/// Where the tests of a source begin.
const TESTS: &str = "#[cfg(test)]\nmod tests {";

/// The lines of code: neither comments nor what follows `#[cfg(test)]` before a module with a body.
fn code(text: &str) -> String {
    let end = text.find(TESTS).unwrap_or(text.len());
    let lines = text[..end].lines().filter(|line| !line.trim_start().starts_with("//"));
    lines.fold(String::new(), |code, line| code + line + "\n")
}

fn room_of(name: &str) -> Option<&str> {
    let inside = name.strip_prefix("src/")?;
    Some(inside.split(['/', '.']).next().unwrap_or(inside))
}

/// Rooms that a source names behind `crate::`, alone or in braces.
fn used_rooms(code: &str) -> BTreeSet<String> {
    let mut used = BTreeSet::new();
    for (position, _) in code.match_indices("crate::") {
        let rest = &code[position + "crate::".len()..];
        let names: Vec<&str> = match rest.strip_prefix('{') {
            Some(list) => split_list(list),
            None => vec![rest],
        };
        let word = |text: &str| {
            text.trim_start().chars().take_while(|c| c.is_ascii_lowercase() || *c == '_').collect::<String>()
        };
        used.extend(names.into_iter().map(word).filter(|name| !name.is_empty()));
    }
    used
}

/// The items of a `{a, b::{c, d}}` behind its first brace.
fn split_list(list: &str) -> Vec<&str> {
    let (mut depth, mut start, mut items) = (0, 0, Vec::new());
    for (position, c) in list.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth == 0 => {
                items.push(&list[start..position]);
                break;
            }
            '}' => depth -= 1,
            ',' if depth == 0 => {
                items.push(&list[start..position]);
                start = position + 1;
            }
            _ => {}
        }
    }
    items
}

fn none(faults: &[String]) {
    assert!(faults.is_empty(), "\n{}\n", faults.join("\n"));
}

#[test]
fn a_room_uses_only_the_rooms_that_the_table_names() {
    let table: BTreeMap<&str, &[&str]> = ROOMS.into_iter().collect();
    let mut faults = Vec::new();
    let mut seen = BTreeSet::new();
    for (name, code) in sources() {
        let Some(room) = room_of(&name).filter(|room| !["lib", "main"].contains(room)) else { continue };
        seen.insert(room.to_owned());
        let Some(allowed) = table.get(room) else {
            faults.push(format!("{name}: the room {room} is not in the table"));
            continue;
        };
        let known = |used: &String| table.contains_key(used.as_str()) && used != room;
        let strange = used_rooms(&code).into_iter().filter(known).filter(|used| !allowed.contains(&used.as_str()));
        faults.extend(strange.map(|used| format!("{name}: {room} may not use {used}")));
        // The other way out of a room.
        for other in table.keys().filter(|other| **other != room && !allowed.contains(*other)) {
            if code.contains(&format!("super::super::{other}::"))
                || (name.ends_with("/mod.rs") && code.contains(&format!("super::{other}::")))
            {
                faults.push(format!("{name}: reaches {other} through super"));
            }
        }
    }
    none(&faults);
    assert!(seen.len() > 8, "{seen:?}");
}

#[test]
fn the_arrows_have_no_circle() {
    let mut done: BTreeSet<&str> = BTreeSet::new();
    for (room, uses) in ROOMS {
        for used in uses {
            assert!(done.contains(used), "{room} uses {used}, which stands further down");
        }
        done.insert(room);
    }
}

#[test]
fn the_wall_is_lifted_below_the_line_only() {
    let mut faults = Vec::new();
    for (name, code) in sources() {
        let room = room_of(&name).unwrap_or_default();
        let inside = code.replace(' ', "");
        let lifts = inside.contains("#![expect") || inside.contains("#![allow");
        let is_front = name == format!("src/{room}/mod.rs");
        if lifts && !(is_front && BELOW_THE_LINE.contains(&room)) {
            faults.push(format!("{name}: lifts a lint for a whole file"));
        }
        if inside.contains("#[allow(") {
            faults.push(format!("{name}: #[allow]; #[expect] says when it is no longer needed"));
        }
    }
    none(&faults);
}

#[test]
fn only_an_engines_folder_knows_the_engine() {
    let mut faults = Vec::new();
    for (name, code) in sources() {
        if NAME_ENGINES.iter().any(|(file, _)| *file == name) {
            continue;
        }
        for (number, line) in code.lines().enumerate() {
            let line = line.to_lowercase();
            for (word, folder) in ENGINE_WORDS {
                if line.contains(word) && !name.contains(folder) {
                    faults.push(format!("{name}: line {} of its code says {word:?}: {}", number + 1, line.trim()));
                }
            }
        }
    }
    none(&faults);
}

#[test]
fn files_are_short_enough_to_read() {
    let mut faults = Vec::new();
    for name in files().into_iter().filter(|name| name.ends_with(".rs")) {
        let text = read(&name);
        let body = text.find(TESTS).map_or(text.as_str(), |end| &text[..end]);
        let (lines, tests) = (body.lines().count(), text.lines().count() - body.lines().count());
        let longest = if is_test(&name) { LONGEST_TESTS } else { LONGEST };
        let listed = LONGER.iter().any(|(file, _)| *file == name);
        let is_long = lines > longest || tests > LONGEST_TESTS;
        if is_long && !listed {
            faults.push(format!("{name} has {lines} lines and {tests} of tests; split it by topic"));
        } else if !is_long && listed {
            faults.push(format!("{name} is short again; take it off the list"));
        }
    }
    none(&faults);
}

#[test]
fn names_say_what_is_inside() {
    let mut faults = Vec::new();
    for name in files().into_iter().filter(|name| name.starts_with("src/") || name.starts_with("tests/")) {
        let stems = Path::new(&name).components().filter_map(|part| Path::new(part.as_os_str()).file_stem()?.to_str());
        if stems
            .into_iter()
            .any(|stem| EMPTY_NAMES.contains(&stem) || stem.split('_').any(|word| EMPTY_NAMES.contains(&word)))
        {
            faults.push(name);
        }
    }
    none(&faults);
}

/// A path of somebody's machine works on that machine only.
#[test]
fn no_file_knows_a_machine() {
    // Put together here, or this file would be the first to fail.
    let paths = [["/ro", "ot/"], ["/ho", "me/"], ["/wo", "rk/"], ["/Us", "ers/"]].map(|parts| parts.concat());
    /// Text that may stand there, and why.
    const FINE: [(&str, &str); 3] = [
        ("/home/runner", "a folder of GitHub's own machines"),
        ("/home/argocd", "a folder of Argo CD's image"),
        ("~/.config", "a folder of whoever reads the help"),
    ];
    let mut faults = Vec::new();
    for name in files().into_iter().filter(|name| name != "LICENSE") {
        for (number, line) in read(&name).lines().enumerate() {
            let mut line = line.to_owned();
            FINE.iter().for_each(|(text, _)| line = line.replace(text, ""));
            // `$root/…` and `x/root/…` are somebody's own folders.
            let is_path = |path: &String| {
                line.match_indices(path.as_str()).any(|(at, _)| {
                    let before = line[..at].chars().next_back();
                    !before.is_some_and(|c| c.is_alphanumeric() || matches!(c, '}' | '_' | '-' | '.' | '/' | '"' | ')'))
                })
            };
            if paths.iter().any(is_path) {
                faults.push(format!("{name}:{}: {}", number + 1, line.trim()));
            }
        }
    }
    none(&faults);
}

#[test]
fn every_family_of_fixtures_has_a_harness() {
    let harness = read("tests/fixtures.rs");
    // A harness of its own names its folder.
    let harnesses: Vec<String> = files()
        .iter()
        .filter(|name| name.starts_with("tests/") && name.ends_with(".rs") && !name.ends_with("/architecture.rs"))
        .map(|name| read(name))
        .collect();
    let families: BTreeSet<std::path::PathBuf> = files()
        .iter()
        .filter_map(|name| Path::new(name).strip_prefix("fixtures").ok().map(Path::to_owned))
        .filter(|path| path.components().count() > 1)
        .filter_map(|path| path.components().next().map(|family| Path::new(family.as_os_str()).to_owned()))
        .collect();
    assert!(!families.is_empty());
    for family in families {
        let family = family.to_str().unwrap();
        let runs = harness.contains(&format!("(\"{family}\", "))
            || harnesses.iter().any(|text| text.contains(&format!("join(\"fixtures/{family}\")")));
        assert!(runs, "nothing runs fixtures/{family}");
    }
}

/// Fixtures show the other codes; those about the tree of files need a tree.
#[test]
fn every_code_about_the_tree_stands_in_a_transcript() {
    let transcripts: String =
        files().iter().filter(|name| name.starts_with("tests/cli/")).map(|name| read(name)).collect();
    let codes: Vec<&str> = Code::ALL.iter().map(|code| code.id()).filter(|id| id.starts_with("DBR6")).collect();
    assert!(codes.len() > 5);
    for code in codes {
        assert!(transcripts.contains(&format!("[{code}]")), "{code} is in no transcript of tests/cli");
    }
}

/// What lives in the test bed is what is rendered, and nothing else is made there but the pause image of its node and
/// images of what is being tried.
#[test]
fn the_test_bed_makes_the_images_of_the_catalog() {
    let own = [helper_image(NEWEST_EDITION), rclone_image(NEWEST_EDITION)];
    let mut rendered: BTreeSet<&str> = own.into_iter().flatten().collect();
    let mut catalog = rendered.clone();
    for engine in ALL {
        catalog.insert(engine.exporter_image(NEWEST_EDITION));
        for release in engine.releases(NEWEST_EDITION) {
            for (profile, image) in [(Profile::Automatic, release.automatic), (Profile::Manual, release.manual)] {
                catalog.insert(image.reference);
                if engine.trial(release.series, profile) == Trial::Whole {
                    rendered.extend([image.reference, engine.exporter_image(NEWEST_EDITION)]);
                }
            }
        }
    }
    let list = read("testbed/images.txt");
    let lines = list.lines().filter(|line| !line.starts_with('#') && !line.starts_with("pause "));
    let made: BTreeSet<&str> = lines.filter_map(|line| line.split_whitespace().nth(3)).collect();
    assert_eq!(rendered.difference(&made).collect::<Vec<_>>(), Vec::<&&str>::new(), "rendered and not in images.txt");
    assert_eq!(
        made.difference(&catalog).collect::<Vec<_>>(),
        Vec::<&&str>::new(),
        "in images.txt and not in the catalog"
    );
}

#[test]
fn the_map_of_the_code_names_every_room() {
    let map = read("ARCHITECTURE.md");
    for (room, _) in ROOMS.iter().filter(|(room, _)| root().join("src").join(room).exists()) {
        assert!(map.contains(&format!("`{room}`")), "ARCHITECTURE.md does not name the room {room}");
    }
}

#[cfg(test)]
mod tests {
    use super::{code, used_rooms};

    #[test]
    fn a_use_is_found_in_every_spelling() {
        let used = |code: &str| used_rooms(code).into_iter().collect::<Vec<_>>().join(" ");
        assert_eq!(used("use crate::api::Database;"), "api");
        assert_eq!(used("use crate::{api, io::tree::{self, plan}, yaml};"), "api io yaml");
        assert_eq!(used("let x: crate::plan::Plan = crate::check::f();"), "check plan");
        assert_eq!(used("pub(crate) fn x() {}"), "");
    }

    #[test]
    fn tests_and_comments_are_no_code() {
        let text = "//! crate::a\nuse crate::b;\n  // crate::c\n#[cfg(test)]\nmod tests {\n use crate::d;\n}\n";
        assert_eq!(code(text), "use crate::b;\n");
    }
}
