//! Everything that people and machines read of us, as text. A function of values: nothing here prints.

mod changes;
mod escape;
pub mod problems;

pub use changes::{MARKER, TextOptions, Totals, View, github, html, json, junit, markdown, sarif, text};
pub use escape::terminal;
