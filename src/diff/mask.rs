//! What must not be shown, taken out before any view exists.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::collections::BTreeSet;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE, URL_SAFE_NO_PAD};
use serde_json::Value;

use crate::engine::uri_part;

use super::live::{HIDDEN, HIDDEN_OTHER};
use super::path::Step;
use super::{Hidden, Listed, LiveObject};

/// Shorter values are hidden where they stand alone, and not where they are a part of a longer text.
const SHORTEST_PART: usize = 6;

/// Every value of a Secret that was read, to be kept out of whatever is said.
#[derive(Debug)]
pub struct Mask<'a> {
    values: BTreeSet<&'a [u8]>,
    /// Made when the first sentence asks.
    parts: OnceCell<Vec<String>>,
}

/// The same for one Database: what is known to be no secret, and what must not stand inside a longer text either.
#[derive(Debug)]
pub(super) struct DatabaseMask<'m> {
    all: &'m Mask<'m>,
    known: BTreeSet<Vec<u8>>,
    values: Vec<&'m [u8]>,
    /// Made when the first difference asks.
    parts: OnceCell<Vec<String>>,
}

impl<'a> Mask<'a> {
    /// The values of the Secrets among the objects.
    #[must_use]
    pub fn new(objects: &'a [Listed]) -> Mask<'a> {
        let secrets = objects.iter().filter_map(Listed::whole);
        let values = secrets.flat_map(|object| object.secret.values()).map(Hidden::reveal);
        Mask { values: values.filter(|value| !value.is_empty()).collect(), parts: OnceCell::new() }
    }

    /// A sentence of the server's, without any value.
    #[must_use]
    pub fn sentence(&self, text: &str) -> String {
        cut(text, self.parts.get_or_init(|| parts_of(self.values.iter().copied()))).into_owned()
    }

    /// `known` are texts that stand in a Secret and are no secret, such as the port.
    pub(super) fn of_database<'m>(&'m self, secrets: &[&'m LiveObject], known: BTreeSet<Vec<u8>>) -> DatabaseMask<'m> {
        let values = secrets.iter().flat_map(|secret| secret.secret.values()).map(Hidden::reveal);
        let values = values.filter(|value| !known.contains(*value)).collect();
        DatabaseMask { all: self, known, values, parts: OnceCell::new() }
    }
}

/// Every spelling of some values, the longest first: a shorter one may be a part of it.
fn parts_of<'v>(values: impl Iterator<Item = &'v [u8]>) -> Vec<String> {
    let forms: BTreeSet<String> = values.flat_map(spellings).collect();
    let mut forms: Vec<String> = forms.into_iter().collect();
    forms.sort_by_key(|form| std::cmp::Reverse(form.len()));
    forms
}

/// As it is, in the forms of base64, as a part of a URI or of a form, and as JSON and its pointers write it.
fn spellings(value: &[u8]) -> Vec<String> {
    if value.len() < SHORTEST_PART {
        return Vec::new();
    }
    let mut forms: Vec<String> =
        [STANDARD, STANDARD_NO_PAD, URL_SAFE, URL_SAFE_NO_PAD].iter().map(|form| form.encode(value)).collect();
    if let Ok(text) = std::str::from_utf8(value) {
        let percent = uri_part(text);
        forms.push(percent.replace("%20", "+"));
        forms.push(small_digits(&percent));
        forms.push(percent);
        forms.push(Value::from(text).to_string().trim_matches('"').to_owned());
        forms.push(text.replace('~', "~0").replace('/', "~1"));
        forms.push(text.to_owned());
    }
    forms
}

/// `%2f` for `%2F`.
fn small_digits(percent: &str) -> String {
    let mut digits = 0;
    percent
        .chars()
        .map(|character| match character {
            '%' => {
                digits = 2;
                character
            }
            other if digits > 0 => {
                digits -= 1;
                other.to_ascii_lowercase()
            }
            other => other,
        })
        .collect()
}

fn cut<'t>(text: &'t str, parts: &[String]) -> Cow<'t, str> {
    let mut text = Cow::Borrowed(text);
    for part in parts {
        if text.contains(part.as_str()) {
            text = Cow::Owned(text.replace(part.as_str(), HIDDEN));
        }
    }
    text
}

/// Names of environment variables whose values are not shown.
fn is_telling(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    ["PASSWORD", "SECRET", "TOKEN", "KEY"].iter().any(|word| name.contains(word))
}

/// Annotations that are, or may be, copies of whole objects or of their values.
fn is_copy(kind: &str, name: &str, value: &str) -> bool {
    kind == "Secret" || name.contains("last-applied") || name.ends_with("/original") || value.contains("\"Secret\"")
}

impl DatabaseMask<'_> {
    /// Both sides of a difference, fit to be shown.
    pub(super) fn pair(&self, kind: &str, steps: &[Step<'_>], desired: Value, live: Value) -> (Value, Value) {
        let (desired, live) = (self.at(kind, steps, desired), self.at(kind, steps, live));
        if desired == HIDDEN && live == HIDDEN {
            return (desired, Value::from(HIDDEN_OTHER));
        }
        (desired, live)
    }

    fn at(&self, kind: &str, steps: &[Step<'_>], value: Value) -> Value {
        if value.is_null() {
            return value;
        }
        match steps {
            [.., Step::Field("env"), Step::Item(keys), Step::Field("value")]
                if keys.iter().any(|(_, name)| is_telling(name)) =>
            {
                Value::from(HIDDEN)
            }
            [Step::Field("data" | "stringData"), Step::Field(_)] if kind == "Secret" => Value::from(HIDDEN),
            [.., Step::Field("annotations"), Step::Field(name)]
                if value.as_str().is_some_and(|text| is_copy(kind, name, text)) =>
            {
                Value::from(HIDDEN)
            }
            _ => self.inside(value),
        }
    }

    fn inside(&self, value: Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.text(&text)),
            Value::Array(items) => items.into_iter().map(|item| self.inside(item)).collect(),
            Value::Object(map) => {
                let telling = map.get("name").and_then(Value::as_str).is_some_and(is_telling);
                map.into_iter()
                    .map(|(key, value)| {
                        let copy = value.as_str().is_some_and(|text| is_copy("", &key, text));
                        let value =
                            if (telling && key == "value") || copy { Value::from(HIDDEN) } else { self.inside(value) };
                        (self.text(&key), value)
                    })
                    .collect()
            }
            scalar => scalar,
        }
    }

    /// The place of a difference: a name that somebody chose may be a value.
    pub(super) fn place(&self, place: String) -> String {
        match cut(&place, self.parts()) {
            Cow::Borrowed(_) => place,
            Cow::Owned(place) => place,
        }
    }

    fn parts(&self) -> &[String] {
        self.parts.get_or_init(|| parts_of(self.values.iter().copied()))
    }

    fn text(&self, text: &str) -> String {
        let bytes = text.as_bytes();
        if self.all.values.contains(bytes) && !self.known.contains(bytes) {
            return HIDDEN.to_owned();
        }
        cut(text, self.parts()).into_owned()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::{Value, json};

    use super::{LiveObject, Mask, Step};

    fn shown(kind: &str, steps: &[Step<'_>], live: Value) -> String {
        let secret = LiveObject::from_value(json!({
            "kind": "Secret", "metadata": {"name": "s", "namespace": "n"},
            "stringData": {"password": "pa/ss word", "port": "5432", "pin": "471", "token": "abcdefgh"},
        }))
        .unwrap();
        let objects = [secret.into()];
        let mask = Mask::new(&objects);
        let known = BTreeSet::from([b"5432".to_vec()]);
        let (_, live) = mask.of_database(&[objects[0].whole().unwrap()], known).pair(kind, steps, Value::Null, live);
        live.to_string()
    }

    #[test]
    fn texts_that_are_or_hold_a_value_are_hidden() {
        let at = [Step::Field("spec"), Step::Field("x")];
        let cases = [
            (json!("pa/ss word"), "\"(hidden)\""),
            (json!("471"), "\"(hidden)\""),
            (json!("1471"), "\"1471\""),
            (json!("5432"), "\"5432\""),
            (json!("postgresql://u:pa%2Fss%20word@h"), "\"postgresql://u:(hidden)@h\""),
            (json!("cGEvc3Mgd29yZA=="), "\"(hidden)\""),
            (json!({"a": ["xabcdefghx"]}), "{\"a\":[\"x(hidden)x\"]}"),
            (json!([{"name": "DB_PASSWORD", "value": "other"}]), "[{\"name\":\"DB_PASSWORD\",\"value\":\"(hidden)\"}]"),
            (json!({"k/last-applied": "x"}), "{\"k/last-applied\":\"(hidden)\"}"),
        ];
        for (live, expected) in cases {
            assert_eq!(shown("StatefulSet", &at, live.clone()), expected, "{live}");
        }
    }

    #[test]
    fn places_that_tell_are_hidden_whatever_stands_there() {
        let variable = [Step::Field("env"), Step::Item(vec![("name", "MY_TOKEN".into())]), Step::Field("value")];
        assert_eq!(shown("StatefulSet", &variable, json!("anything")), "\"(hidden)\"");
        let copy = [Step::Field("metadata"), Step::Field("annotations"), Step::Field("kapp.k14s.io/original")];
        assert_eq!(shown("Service", &copy, json!("anything")), "\"(hidden)\"");
        let any = [Step::Field("metadata"), Step::Field("annotations"), Step::Field("x")];
        assert_eq!(shown("Secret", &any, json!("anything")), "\"(hidden)\"");
        assert_eq!(shown("Service", &any, json!("anything")), "\"anything\"");
        assert_eq!(shown("Secret", &[Step::Field("data"), Step::Field("k")], json!("anything")), "\"(hidden)\"");
    }

    #[test]
    fn a_hidden_change_stays_visible() {
        let mask = Mask::new(&[]);
        let steps = [Step::Field("data"), Step::Field("k")];
        let pair = mask.of_database(&[], BTreeSet::new()).pair("Secret", &steps, json!("a"), json!("b"));
        assert_eq!(pair, (json!("(hidden)"), json!("(hidden, another value)")));
    }
}
