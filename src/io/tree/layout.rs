//! Names of files and folders, and the line that stands at the head of each file.

use crate::problem::{Code, FieldPath, Problem};

/// File that lists what we own in a folder. No `.yaml` and no `.json`, or Argo CD would take it for a manifest.
pub(in crate::io) const LOCK: &str = "dbrender.lock";
/// File that lists the manifests of a namespace.
pub(super) const KUSTOMIZATION: &str = "kustomization.yaml";
/// What the name of everything begins with that a run has not finished.
pub(super) const TEMPORARY: &str = ".dbrender-tmp-";

/// A Database as the owner of a folder of the tree.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Owner {
    namespace: String,
    name: String,
}

impl Owner {
    /// The owner of `<namespace>/<name>/`. Refuses what could leave the tree or would not survive a checkout on
    /// another system; `check` has refused such names before, so this is the second wall.
    ///
    /// # Errors
    ///
    /// The problem with the name or the namespace.
    pub fn new(namespace: &str, name: &str) -> Result<Owner, Problem> {
        for (part, path, code) in
            [(namespace, "metadata.namespace", Code::InvalidNamespace), (name, "metadata.name", Code::InvalidName)]
        {
            if !is_segment(part) {
                return Err(Problem::new(
                    code,
                    FieldPath::of(path),
                    format!("{part:?} cannot be the name of a folder"),
                ));
            }
        }
        Ok(Owner { namespace: namespace.to_owned(), name: name.to_owned() })
    }

    /// Namespace of the Database.
    #[must_use]
    pub fn namespace(&self) -> &str {
        &self.namespace
    }

    /// `<namespace>/<name>`: the folder below the root, and the subject of a problem.
    #[must_use]
    pub fn folder(&self) -> String {
        format!("{}/{}", self.namespace, self.name)
    }
}

/// First line of each file of a Database. It holds no path, version or time, so that none of them changes a file.
pub(super) fn header(database: &str) -> String {
    format!("# Database {database}: rendered by dbrender, edit the Database instead\n")
}

/// `<kind>-<name>.yaml`, the kind in lower case. The kind in front keeps names such as `aux` usable on every system.
pub(super) fn file_name(kind: &str, name: &str) -> Option<String> {
    let file = format!("{}-{name}.yaml", kind.to_ascii_lowercase());
    is_segment(&file).then_some(file)
}

/// Whether a text can be one step of a path, in the tree and on every file system.
pub(super) fn is_segment(text: &str) -> bool {
    let allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-' || c == '.';
    !text.is_empty() && text.len() <= 255 && text.chars().all(allowed) && !text.starts_with('.') && !text.ends_with('.')
}

#[cfg(test)]
mod tests {
    use super::{Owner, file_name, is_segment};

    #[test]
    fn a_name_cannot_leave_the_tree() {
        for bad in
            ["", ".", "..", "../x", "a/b", "a\\b", "a:b", "A", ".git", "a\0", "é", "a ", "con.", &"x".repeat(256)]
        {
            assert!(!is_segment(bad), "{bad:?}");
            assert!(Owner::new("demo", bad).is_err(), "{bad:?}");
            assert!(Owner::new(bad, "shop").is_err(), "{bad:?}");
        }
    }

    #[test]
    fn reserved_words_of_other_systems_get_the_kind_in_front() {
        assert_eq!(file_name("StatefulSet", "aux").as_deref(), Some("statefulset-aux.yaml"));
        assert_eq!(file_name("Role", "system:x"), None);
    }
}
