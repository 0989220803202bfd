//! Where in an object a difference is.

use std::borrow::Cow;
use std::fmt::Write as _;

/// One step from the root of an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Step<'a> {
    /// A field of an object or a key of a map.
    Field(&'a str),
    /// The item of a list that has these values in these fields.
    Item(Vec<(&'static str, Cow<'a, str>)>),
    /// The item at this place.
    Index(usize),
}

/// As a JSON pointer, in which an item with a key stands as `[name=agent]`.
pub(super) fn pointer(steps: &[Step<'_>]) -> String {
    let mut text = String::new();
    for step in steps {
        text.push('/');
        match step {
            Step::Field(name) => escape(&mut text, name),
            Step::Index(index) => {
                // Writing into a String cannot fail.
                let _ = write!(text, "{index}");
            }
            Step::Item(keys) => {
                text.push('[');
                for (index, (key, value)) in keys.iter().enumerate() {
                    text.push_str(if index == 0 { "" } else { "," });
                    text.push_str(key);
                    text.push('=');
                    escape(&mut text, value);
                }
                text.push(']');
            }
        }
    }
    text
}

/// The same with `*` for every item of a list: what tables of rules are written in.
pub(super) fn pattern(steps: &[Step<'_>]) -> String {
    let mut text = String::new();
    for step in steps {
        text.push('/');
        match step {
            Step::Field(name) => escape(&mut text, name),
            Step::Index(_) | Step::Item(_) => text.push('*'),
        }
    }
    text
}

/// RFC 6901.
fn escape(text: &mut String, part: &str) {
    for character in part.chars() {
        match character {
            '~' => text.push_str("~0"),
            '/' => text.push_str("~1"),
            other => text.push(other),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Step, pattern, pointer};

    #[test]
    fn items_are_named_by_their_keys() {
        let steps = [
            Step::Field("metadata"),
            Step::Field("a/b~c"),
            Step::Item(vec![("port", "5432".into()), ("protocol", "TCP".into())]),
            Step::Index(3),
        ];
        assert_eq!(pointer(&steps), "/metadata/a~1b~0c/[port=5432,protocol=TCP]/3");
        assert_eq!(pattern(&steps), "/metadata/a~1b~0c/*/*");
    }
}
