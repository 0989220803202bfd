//! Finds the platform file.

use std::path::{Path, PathBuf};

/// Name of the platform file.
pub const PLATFORM_FILE: &str = "dbrender.yaml";

/// The nearest platform file at or above a folder, not beyond the root of the Git repository that the folder is in.
/// Outside of a repository only the folder itself is looked at: a file further up belongs to something else.
#[must_use]
pub fn find_platform_file(folder: &Path) -> Option<PathBuf> {
    // `.git` is a file in a worktree or a submodule.
    let repository = folder.ancestors().find(|above| above.join(".git").exists());
    for above in folder.ancestors() {
        let file = above.join(PLATFORM_FILE);
        if file.is_file() {
            return Some(file);
        }
        if repository.is_none_or(|root| root == above) {
            break;
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::find_platform_file;

    #[test]
    fn the_nearest_one_up_to_the_root_of_the_repository() {
        let dir = tempfile::tempdir().unwrap();
        let deep = dir.path().join("repository/teams/orders");
        fs::create_dir_all(&deep).unwrap();
        fs::write(dir.path().join("dbrender.yaml"), "").unwrap();
        assert_eq!(find_platform_file(&deep), None);
        assert_eq!(find_platform_file(dir.path()), Some(dir.path().join("dbrender.yaml")));

        fs::write(dir.path().join("repository/.git"), "gitdir: elsewhere").unwrap();
        assert_eq!(find_platform_file(&deep), None);
        let at_root = dir.path().join("repository/dbrender.yaml");
        fs::write(&at_root, "").unwrap();
        assert_eq!(find_platform_file(&deep), Some(at_root));
        let nearer = dir.path().join("repository/teams/dbrender.yaml");
        fs::write(&nearer, "").unwrap();
        assert_eq!(find_platform_file(&deep), Some(nearer));
    }
}
