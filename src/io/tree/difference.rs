//! What a run would change, as a unified diff.

use std::fs;

use similar::TextDiff;

use super::contents::Texts;
use super::layout::{KUSTOMIZATION, LOCK};
use super::planner::Actions;
use super::root::Root;
use crate::problem::{Code, FieldPath, Problem};

/// The diff between the tree and what it would be, by path. Empty when nothing would change.
///
/// `texts` gives what was planned. Nothing of a Secret's file is shown: what somebody put into it by hand may be one, and this goes into build logs.
///
/// # Errors
///
/// A file that cannot be read.
pub fn difference(root: &Root, actions: &Actions, texts: &mut dyn Texts) -> Result<String, Problem> {
    let mut parts: Vec<(String, String)> = Vec::new();
    for change in actions.changes() {
        let mut compare = |name: &str, new: Option<&str>| -> Result<(), Problem> {
            let path = format!("{}/{name}", change.folder);
            let old = if change.fresh { None } else { read(root, &path)? };
            let secret = name.starts_with("secret-");
            let text = file_difference(&root.shown(&path), old.as_deref(), new, secret);
            parts.push((path, text));
            Ok(())
        };
        change.each_text(texts, &mut |name, text| compare(name, Some(&text.concat())))?;
        change.remove.iter().try_for_each(|name| compare(name, None))?;
        if change.write.is_empty() && change.remove.is_empty() {
            let path = format!("{}/{LOCK}", change.folder);
            parts.push((
                path.clone(),
                format!("{} is out of date, and the files beside it are not\n", root.shown(&path)),
            ));
        }
    }
    // The list of a namespace's files stands behind the files.
    parts.sort_by_key(|(path, _)| {
        (path.split('/').next().map(str::to_owned), path.ends_with(KUSTOMIZATION), path.clone())
    });
    Ok(parts.into_iter().map(|(_, text)| text).collect())
}

fn read(root: &Root, relative: &str) -> Result<Option<String>, Problem> {
    let path = root.path().join(relative);
    match fs::symlink_metadata(&path) {
        Ok(file) if file.is_file() => {}
        // A link may lead to anything; only that it is there is said.
        Ok(_) | Err(_) => return Ok(None),
    }
    let bytes = fs::read(&path).map_err(|error| {
        let message = format!("cannot read {}: {}", root.shown(relative), crate::io::reason(&error));
        Problem::new(Code::Unreadable, FieldPath::root(), message)
    })?;
    Ok(Some(String::from_utf8_lossy(&bytes).into_owned()))
}

fn file_difference(path: &str, old: Option<&str>, new: Option<&str>, secret: bool) -> String {
    let from = old.map_or("/dev/null".to_owned(), |_| format!("a/{path}"));
    let to = new.map_or("/dev/null".to_owned(), |_| format!("b/{path}"));
    if secret && old.is_some() {
        return format!("--- {from}\n+++ {to}\n(the file of a Secret differs; its content is not shown)\n");
    }
    let old = old.unwrap_or_default();
    let new = new.unwrap_or_default();
    TextDiff::from_lines(old, new).unified_diff().context_radius(3).header(&from, &to).to_string()
}

#[cfg(test)]
mod tests {
    use super::file_difference;

    #[test]
    fn is_what_diff_u_prints() {
        let text = file_difference("d/x.yaml", Some("a: 1\nb: 2\n"), Some("a: 1\nb: 3\n"), false);
        assert_eq!(text, "--- a/d/x.yaml\n+++ b/d/x.yaml\n@@ -1,2 +1,2 @@\n a: 1\n-b: 2\n+b: 3\n");
        let text = file_difference("x", None, Some("a\n"), false);
        assert_eq!(text, "--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+a\n");
    }

    #[test]
    fn a_secret_is_not_shown() {
        let text = file_difference("secret-a.yaml", Some("data: hunter2\n"), Some("data: {}\n"), true);
        assert!(!text.contains("hunter2"), "{text}");
    }
}
