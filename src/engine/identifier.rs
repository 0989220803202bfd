//! Names of the first database and its owner: a rule that every engine has, with its own words.

use crate::problem::{Code, FieldPath, Problem, Problems};

/// What a name in the server may be, beside a word of small letters, digits and underscores.
pub(super) struct Name<'a> {
    /// Field below `spec`.
    pub(super) field: &'a str,
    /// The name.
    pub(super) name: &'a str,
    /// Longest, in bytes.
    pub(super) longest: usize,
    /// What the server does with a longer one: `takes`, `cuts it at`.
    pub(super) beyond: &'a str,
    /// Names that are there already.
    pub(super) taken: &'a [&'a str],
    /// Starts that the server keeps for itself, with the reason.
    pub(super) kept: Option<(&'a str, &'a str)>,
}

/// Reports a name that the server, or a client, could not have without trouble.
pub(super) fn check(identifier: &Name<'_>, out: &mut Problems) {
    let Name { field, name, longest, beyond, taken, kept } = *identifier;
    let letters = name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_');
    let (reason, hint) = if name.is_empty() {
        ("is empty".to_owned(), "write a name, or remove the field")
    } else if name.len() > longest {
        (format!("has {} characters, the server {beyond} {longest}", name.len()), "use a shorter name")
    } else if !letters || !name.starts_with(|c: char| c.is_ascii_lowercase()) {
        ("would need quotes in every client".to_owned(), Code::InvalidIdentifier.hint())
    } else if taken.contains(&name) {
        (TAKEN.to_owned(), "choose another name")
    } else if let Some((_, why)) = kept.filter(|(start, _)| name.starts_with(start)) {
        (why.to_owned(), "choose another name")
    } else {
        return;
    };
    let message = format!("spec.{field} {name:?} {reason}");
    out.push(Problem::new(Code::InvalidIdentifier, FieldPath::of("spec").key(field), message).with_hint(hint));
}

/// Why a name that is there already cannot be had.
pub(super) const TAKEN: &str = "belongs to the server or to dbrender";
