//! Views of the problems of a run. One value, four forms; each has every problem, with its hint and its places.

mod github;
mod json;
mod position;
mod sarif;
#[cfg(test)]
mod tests;
mod text;

pub use github::github;
pub use json::json;
pub use position::Positions;
pub use sarif::sarif;
pub use text::text;
