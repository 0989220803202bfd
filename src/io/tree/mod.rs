//! The tree of files that `render --output-dir` writes: `<dir>/<namespace>/<database>/<kind>-<name>.yaml`.
//!
//! Three steps. [`survey`] reads what is there. [`plan`] decides, as a function of two values, what to write and what
//! to remove, or why everything is left as it is. [`write()`] does it so that a kill at any moment leaves old or new
//! files and a tree that the next run repairs.
//!
//! Of what is wanted only digests are kept, so that memory does not grow with the texts: [`Texts`] makes those of one
//! Database at a time, first to be compared, and again if they are written.

mod contents;
mod difference;
mod disk;
mod kustomization;
mod layout;
mod lock;
mod planner;
mod root;
mod survey;
#[cfg(test)]
mod tests;
mod write;

pub use contents::{Digest, Looked, TakeObject, Texts, Wanted, look};
pub use difference::difference;
pub(super) use layout::LOCK;
pub use layout::Owner;
pub use lock::listed_files;
pub use planner::{Actions, Options, Planned, plan};
pub use root::Root;
pub use survey::{Existing, survey};
pub use write::{Done, write};
