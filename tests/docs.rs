//! The book and the README: every link leads somewhere, every page is in the table of contents, and every promise that is
//! marked has a row in `docs/proof.md` that names tests which exist.

#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::panic,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a test may use files, and ends where it fails"
)]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Component, Path, PathBuf};
use std::process::Command;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_default()
}

/// Markdown files of a folder, as paths from the root.
fn pages_of(folder: &str) -> Vec<String> {
    let name = |entry: fs::DirEntry| entry.file_name().to_string_lossy().into_owned();
    let names = fs::read_dir(root().join(folder)).into_iter().flatten().filter_map(Result::ok).map(name);
    let prefix = if folder == "." { String::new() } else { format!("{folder}/") };
    names.filter(|name| name.ends_with(".md")).map(|name| format!("{prefix}{name}")).collect()
}

fn book() -> Vec<String> {
    [pages_of("docs"), pages_of("docs/reference")].concat()
}

/// The text without fenced blocks and code spans: what stands there is no link.
fn prose(text: &str) -> String {
    let mut out = String::new();
    let mut fenced = false;
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        } else if !fenced {
            let plain: Vec<&str> = line.split('`').step_by(2).collect();
            out += &plain.join("`");
        }
        out.push('\n');
    }
    out
}

/// Targets of `[text](target)` and of images, with their line.
fn links(text: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    for (number, line) in prose(text).lines().enumerate() {
        for (at, _) in line.match_indices("](") {
            let rest = &line[at + 2..];
            found.extend(rest.find(')').map(|end| (number + 1, rest[..end].to_owned())));
        }
        for part in line.split(" src=\"").skip(1).chain(line.split(" srcset=\"").skip(1)) {
            found.extend(part.split('"').next().map(|target| (number + 1, target.to_owned())));
        }
    }
    found
}

/// The anchors of a page: of its headings as GitHub and mdBook make them, and those that stand in it.
fn anchors(text: &str) -> BTreeSet<String> {
    let mut found: BTreeSet<String> =
        text.split("<a id=\"").skip(1).filter_map(|part| part.split('"').next()).map(str::to_owned).collect();
    let mut fenced = false;
    for line in text.lines() {
        fenced ^= line.starts_with("```");
        if let Some(heading) = line.strip_prefix('#').filter(|_| !fenced) {
            let heading = heading.trim_start_matches('#').trim();
            let keep = |c: char| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_');
            let slug: String = heading.chars().filter(|c| keep(*c)).collect();
            found.insert(slug.to_lowercase().replace(' ', "-"));
        }
    }
    found
}

/// The path from the root that a link in a page means.
fn resolved(page: &str, target: &str) -> String {
    let mut parts: Vec<String> = Vec::new();
    let folder = Path::new(page).parent().unwrap_or(Path::new(""));
    for part in folder.join(target).components() {
        match part {
            Component::ParentDir => {
                parts.pop();
            }
            Component::Normal(name) => parts.push(name.to_string_lossy().into_owned()),
            _ => {}
        }
    }
    parts.join("/")
}

fn none(faults: &[String]) {
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}

#[test]
fn every_link_leads_somewhere() {
    let others =
        ["testbed/README.md", "fixtures/README.md", "src/engine/postgresql/README.md", "src/engine/mysql/README.md"];
    let pages: Vec<String> = [pages_of("."), book(), others.map(str::to_owned).to_vec()].concat();
    assert!(pages.len() > 10, "{pages:?}");
    let mut faults = Vec::new();
    for page in &pages {
        for (line, link) in links(&read(page)) {
            if link.contains("://") || link.starts_with("mailto:") {
                continue;
            }
            let (target, anchor) = link.split_once('#').unwrap_or((&link, ""));
            let file = if target.is_empty() { page.clone() } else { resolved(page, target) };
            if !root().join(&file).exists() {
                faults.push(format!("{page}:{line}: there is no {file}"));
            } else if !anchor.is_empty() && !anchors(&read(&file)).contains(anchor) {
                faults.push(format!("{page}:{line}: {file} has no #{anchor}"));
            } else if page.starts_with("docs/") && !file.starts_with("docs/") {
                faults.push(format!("{page}:{line}: {file} is not in the book, so its link is dead there"));
            }
        }
    }
    none(&faults);
}

#[test]
fn every_page_is_in_the_table_of_contents() {
    let listed: BTreeSet<String> =
        links(&read("docs/SUMMARY.md")).iter().map(|(_, link)| resolved("docs/SUMMARY.md", link)).collect();
    let pages: BTreeSet<String> = book().into_iter().filter(|page| page != "docs/SUMMARY.md").collect();
    assert_eq!(listed, pages);
}

/// A row of `docs/proof.md`: its anchor, and the cell that names its tests.
fn rows() -> BTreeMap<String, String> {
    let text = read("docs/proof.md");
    let mut rows = BTreeMap::new();
    for line in text.lines() {
        let Some(id) = line.split("<a id=\"").nth(1).and_then(|part| part.split('"').next()) else { continue };
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        assert!(cells.len() == 6, "a row has a promise, tests, where and a figure: {line}");
        let known = cells[3].split(", ").all(|place| ["1", "2", "3", "more"].contains(&place));
        assert!(known, "nobody runs it: {line}");
        assert!(rows.insert(id.to_owned(), cells[2].to_owned()).is_none(), "{id} stands twice");
    }
    assert!(rows.len() > 40, "only {} rows", rows.len());
    rows
}

#[test]
fn every_promise_has_a_row() {
    let rows = rows();
    let mut faults = Vec::new();
    for page in [vec!["README.md".to_owned()], book()].concat() {
        for (line, link) in links(&read(&page)) {
            if let Some(id) = link.split_once("proof.md#").map(|(_, id)| id)
                && !rows.contains_key(id)
            {
                faults.push(format!("{page}:{line}: the promise {id} has no row"));
            }
        }
    }
    none(&faults);
}

/// Text in which a test of this file is defined: the file itself, or everything below a folder of that name.
fn definitions(path: &Path) -> String {
    let mut text = String::new();
    let mut folders: Vec<PathBuf> = vec![path.to_owned(), PathBuf::from(format!("{}.parts", path.display()))];
    while let Some(next) = folders.pop() {
        if next.is_dir() {
            folders.extend(fs::read_dir(&next).unwrap().map(|entry| entry.unwrap().path()));
        } else {
            text += &fs::read_to_string(&next).unwrap_or_default();
        }
    }
    text
}

/// A function of Rust or of the shell, or a case of a trial.
fn is_defined(name: &str, text: &str) -> bool {
    [format!("fn {name}("), format!("\ncase_{name}()"), format!("\ncases_{name}()"), format!("\n{name}()")]
        .iter()
        .any(|definition| text.contains(definition))
}

/// What is wrong with a cell that names tests: files by their path, tests of a file behind it.
fn untested(cell: &str) -> Vec<String> {
    let mut faults = Vec::new();
    let mut text = String::new();
    let mut files = 0;
    for name in cell.split('`').skip(1).step_by(2) {
        if name.contains('/') {
            files += 1;
            let path = root().join(name);
            if !path.exists() {
                faults.push(format!("there is no {name}"));
            }
            text = definitions(&path);
        } else if !is_defined(name, &text) {
            faults.push(format!("there is no test {name} in the file before it"));
        }
    }
    if files == 0 {
        faults.push("no test is named".to_owned());
    }
    faults
}

#[test]
fn every_row_names_tests_that_exist() {
    let faults: Vec<String> = rows()
        .iter()
        .flat_map(|(id, cell)| untested(cell).into_iter().map(move |fault| format!("docs/proof.md: {id}: {fault}")))
        .collect();
    none(&faults);
}

#[test]
fn the_picture_is_what_its_script_prints() {
    let output = Command::new("bash").arg(root().join("docs/flow")).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(read("docs/flow.svg") == printed, "docs/flow.svg is stale: docs/flow >docs/flow.svg");
}

#[test]
fn what_is_wrong_is_found() {
    assert_eq!(untested("`tests/docs.rs` `what_is_wrong_is_found`"), Vec::<String>::new());
    assert_eq!(untested("`tests/docs.rs` `what_never_was`").len(), 1);
    assert_eq!(untested("`tests/never.rs`").len(), 1);
    assert_eq!(untested("somebody tried").len(), 1);
    assert_eq!(links("a [b](c.md#d) `[e](f)`\n```\n[g](h)\n```\n"), [(1, "c.md#d".to_owned())]);
    assert!(anchors("## `render` writes nothing\n").contains("render-writes-nothing"));
    assert_eq!(resolved("docs/reference/a.md", "../b.md"), "docs/b.md");
}
