//! `kustomization.yaml` of a namespace: every manifest of ours in it, one line each.

use super::layout::is_segment;

const FIXED: [&str; 3] = ["apiVersion: kustomize.config.k8s.io/v1beta1", "kind: Kustomization", "resources:"];

fn header(namespace: &str) -> String {
    format!("# Namespace {namespace}: rendered by dbrender, edit the Databases instead")
}

/// The file's text. `files` are paths below the namespace's folder, in order. Every path holds a slash and ends in
/// `.yaml`, so no reader takes one for anything but text.
pub(super) fn text<'a>(namespace: &str, files: impl IntoIterator<Item = &'a String>) -> String {
    let mut text = header(namespace) + "\n";
    for line in FIXED {
        text.push_str(line);
        text.push('\n');
    }
    for file in files {
        text.push_str("- ");
        text.push_str(file);
        text.push('\n');
    }
    text
}

/// The paths that a text lists, when every line of it is one that [`text`] writes; else `None`: somebody edited it.
/// The lines may stand in another order and twice, as a merge leaves them.
pub(super) fn resources<'a>(namespace: &str, text: &'a str) -> Option<Vec<&'a str>> {
    let header = header(namespace);
    let mut files = Vec::new();
    for line in text.lines() {
        let line = line.trim_end_matches('\r');
        if let Some(path) = line.strip_prefix("- ") {
            let (folder, file) = path.split_once('/')?;
            if !is_segment(folder) || !is_segment(file) {
                return None;
            }
            files.push(path);
        } else if line != header && !FIXED.contains(&line) {
            return None;
        }
    }
    Some(files)
}

#[cfg(test)]
mod tests {
    use super::{resources, text};

    #[test]
    fn is_recognised_in_every_order_and_not_with_a_line_of_somebody_else() {
        let files = ["a/role-a.yaml".to_owned(), "b/role-b.yaml".to_owned()];
        let ours = text("demo", &files);
        assert_eq!(resources("demo", &ours), Some(vec!["a/role-a.yaml", "b/role-b.yaml"]));
        assert_eq!(resources("demo", &text("demo", files.iter().rev())).map(|f| f.len()), Some(2));
        assert_eq!(resources("demo", &ours.replace('\n', "\r\n")).map(|f| f.len()), Some(2));
        for edit in ["namePrefix: x\n", "# note\n", "- ../x/y.yaml\n", "- mine.yaml\n", "<<<<<<< HEAD\n"] {
            assert_eq!(resources("demo", &format!("{ours}{edit}")), None, "{edit}");
        }
        assert_eq!(resources("other", &ours), None);
    }
}
