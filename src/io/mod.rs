//! Files: inputs are read here, and the tree of manifests is written here. Nothing else in the crate touches a disk.
#![expect(clippy::disallowed_methods, clippy::disallowed_types, reason = "below the line: this is the room of files")]

mod git;
mod inputs;
mod live_file;
mod platform;
mod scaffold;
pub mod tree;

pub use git::Commit;
pub use inputs::{Inputs, read, read_file, read_manifests};
pub use live_file::read_live_file;
pub use platform::{PLATFORM_FILE, find_platform_file};
pub use scaffold::{Made, has_files, origin, write_new};

/// What the system says about a failed operation, without its number.
pub(crate) fn reason(error: &std::io::Error) -> String {
    let text = error.to_string();
    match text.split_once(" (os error") {
        Some((words, _)) => words.to_owned(),
        None => text,
    }
}
