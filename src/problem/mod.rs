//! Problems as plain data: a stable code, a place, a sentence, a hint.
//!
//! Rules push problems that know only a field path. Whoever knows the text adds the place. Printing is `report`'s job.

mod code;
mod field_path;
mod suggest;

use std::ops::Range;

pub use code::{Code, Explanation};
pub use field_path::{FieldPath, Step};
pub use suggest::nearest;

/// How bad a problem is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Rendering goes on; somebody should know.
    Warning,
    /// Nothing is rendered.
    Error,
}

impl Severity {
    /// `error` or `warning`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Severity::Warning => "warning",
            Severity::Error => "error",
        }
    }
}

/// Where in the text of which source a problem is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Index of the source in the run's list of sources.
    pub source: usize,
    /// Bytes of the text.
    pub span: Range<usize>,
    /// Whether the key itself is absent, so that `span` is its nearest parent.
    pub absent: bool,
}

/// A second place that explains the first, for example where a key stood before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Related {
    /// The place.
    pub place: Place,
    /// What is there, in a few words.
    pub label: String,
}

/// One thing that is wrong, or worth a warning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Stable code.
    pub code: Code,
    /// Whether it stops the run.
    pub severity: Severity,
    /// `namespace/name` of the Database, where it is known.
    pub subject: Option<String>,
    /// Field of the object; empty for the whole object or file.
    pub path: FieldPath,
    /// Whether it is the key that is wrong, as with a label's name, rather than the value behind it.
    pub on_key: bool,
    /// What is wrong, in the user's words. Never a secret.
    pub message: String,
    /// What to type next.
    pub hint: String,
    /// Where it is, once somebody who knows the text has said so.
    pub place: Option<Place>,
    /// Other places that belong to it.
    pub related: Vec<Related>,
}

impl Problem {
    /// A problem at a field, with the code's own severity and hint.
    #[must_use]
    pub fn new(code: Code, path: FieldPath, message: impl Into<String>) -> Problem {
        Problem {
            code,
            severity: code.severity(),
            subject: None,
            path,
            on_key: false,
            message: short(message.into()),
            hint: code.hint().to_owned(),
            place: None,
            related: Vec::new(),
        }
    }

    /// The same problem with a hint for just this case.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Problem {
        self.hint = short(hint.into());
        self
    }

    /// The same problem about the key of its field.
    #[must_use]
    pub fn on_key(mut self) -> Problem {
        self.on_key = true;
        self
    }

    /// The same problem at a place.
    #[must_use]
    pub fn at(mut self, place: Place) -> Problem {
        self.place = Some(place);
        self
    }

    /// The same problem with a second place.
    #[must_use]
    pub fn and(mut self, place: Place, label: impl Into<String>) -> Problem {
        self.related.push(Related { place, label: label.into() });
        self
    }
}

/// Most bytes of a message or hint. Both may repeat what stands in a file, which may be megabytes.
const LONGEST: usize = 2_000;

/// A text without its middle, where it is longer than anybody reads.
fn short(text: String) -> String {
    if text.len() <= LONGEST {
        return text;
    }
    let start = &text[..text.floor_char_boundary(LONGEST / 2)];
    let end = &text[text.ceil_char_boundary(text.len() - LONGEST / 4)..];
    format!("{start} … {end}")
}

/// All problems of a run, in the order in which they were found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Problems(Vec<Problem>);

impl Problems {
    /// None.
    #[must_use]
    pub const fn new() -> Problems {
        Problems(Vec::new())
    }

    /// Adds one.
    pub fn push(&mut self, problem: Problem) {
        self.0.push(problem);
    }

    /// Adds one from its parts, with the code's own severity and hint.
    pub fn report(&mut self, code: Code, path: FieldPath, message: impl Into<String>) {
        self.push(Problem::new(code, path, message));
    }

    /// Whether one of them stops the run.
    #[must_use]
    pub fn has_errors(&self) -> bool {
        self.0.iter().any(|p| p.severity == Severity::Error)
    }

    /// Whether there are none at all.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Each of them.
    pub fn iter(&self) -> std::slice::Iter<'_, Problem> {
        self.0.iter()
    }

    /// Each of them, to add what only the caller knows.
    pub fn iter_mut(&mut self) -> std::slice::IterMut<'_, Problem> {
        self.0.iter_mut()
    }

    /// By source and place; problems without a place come last. Stable, so that equal places keep their order.
    pub fn sort(&mut self) {
        self.0.sort_by_key(|p| match &p.place {
            Some(place) => (place.source, place.span.start, place.span.end),
            None => (usize::MAX, 0, 0),
        });
    }
}

impl Extend<Problem> for Problems {
    fn extend<T: IntoIterator<Item = Problem>>(&mut self, problems: T) {
        self.0.extend(problems);
    }
}

impl FromIterator<Problem> for Problems {
    fn from_iter<T: IntoIterator<Item = Problem>>(problems: T) -> Self {
        Problems(problems.into_iter().collect())
    }
}

impl IntoIterator for Problems {
    type Item = Problem;
    type IntoIter = std::vec::IntoIter<Problem>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl<'a> IntoIterator for &'a Problems {
    type Item = &'a Problem;
    type IntoIter = std::slice::Iter<'a, Problem>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::{Code, FieldPath, Problem};

    /// A name of megabytes would be printed, kept and copied as such.
    #[test]
    fn a_message_that_repeats_megabytes_is_cut_in_its_middle() {
        let name = "한".repeat(1 << 20);
        let problem = Problem::new(Code::InvalidName, FieldPath::root(), format!("the name {name} is too long"));
        let problem = problem.with_hint(format!("leave out {name}, all of it"));
        for (text, start, end) in
            [(problem.message, "the name 한", "is too long"), (problem.hint, "leave", "all of it")]
        {
            assert!(text.len() < 2_000, "{}", text.len());
            assert!(text.starts_with(start) && text.ends_with(end) && text.contains("한 … 한"), "{text}");
        }
        let exact = "x".repeat(2_000);
        assert_eq!(Problem::new(Code::InvalidName, FieldPath::root(), exact.as_str()).message, exact);
    }
}
