//! Label selectors as kubectl reads them: `a=b,c!=d,e in (x,y),f notin (z),g,!h`.

use std::collections::{BTreeMap, BTreeSet};

/// A list of conditions on labels, all of which have to hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Selector(Vec<Condition>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Condition {
    In(String, BTreeSet<String>),
    NotIn(String, BTreeSet<String>),
    Exists(String),
    Absent(String),
}

impl Selector {
    /// Reads a selector.
    pub(super) fn parse(text: &str) -> Result<Selector, String> {
        split(text)?.into_iter().map(condition).collect::<Result<_, _>>().map(Selector)
    }

    /// Whether labels fulfil it. A label that is absent is not equal to anything, so `!=` and `notin` hold for it.
    pub(super) fn selects(&self, labels: &BTreeMap<String, String>) -> bool {
        self.0.iter().all(|condition| match condition {
            Condition::In(key, values) => labels.get(key).is_some_and(|value| values.contains(value)),
            Condition::NotIn(key, values) => labels.get(key).is_none_or(|value| !values.contains(value)),
            Condition::Exists(key) => labels.contains_key(key),
            Condition::Absent(key) => !labels.contains_key(key),
        })
    }
}

/// The conditions between commas that are not inside parentheses.
fn split(text: &str) -> Result<Vec<&str>, String> {
    let mut parts = Vec::new();
    let (mut start, mut open) = (0, false);
    for (position, c) in text.char_indices() {
        match c {
            '(' if open => return Err("( inside of (".to_owned()),
            '(' => open = true,
            ')' if !open => return Err(") without (".to_owned()),
            ')' => open = false,
            ',' if !open => {
                parts.push(text[start..position].trim());
                start = position + 1;
            }
            _ => {}
        }
    }
    if open {
        return Err("( without )".to_owned());
    }
    parts.push(text[start..].trim());
    Ok(parts)
}

fn condition(text: &str) -> Result<Condition, String> {
    if let Some(key) = text.strip_prefix('!') {
        return Ok(Condition::Absent(label_key(key)?));
    }
    if let Some(list) = text.strip_suffix(')') {
        let (head, values) = list.split_once('(').ok_or("( is missing")?;
        let values = values.split(',').map(label_value).collect::<Result<_, _>>()?;
        return match head.split_whitespace().collect::<Vec<_>>().as_slice() {
            [key, "in"] => Ok(Condition::In(label_key(key)?, values)),
            [key, "notin"] => Ok(Condition::NotIn(label_key(key)?, values)),
            _ => Err(format!("{text:?}: write `key in (a,b)` or `key notin (a,b)`")),
        };
    }
    // `!=` before `=`, and `==` as kubectl allows it.
    for (sign, not) in [("!=", true), ("==", false), ("=", false)] {
        if let Some((key, value)) = text.split_once(sign) {
            let (key, values) = (label_key(key)?, BTreeSet::from([label_value(value)?]));
            return Ok(if not { Condition::NotIn(key, values) } else { Condition::In(key, values) });
        }
    }
    Ok(Condition::Exists(label_key(text)?))
}

fn label_key(text: &str) -> Result<String, String> {
    let key = text.trim();
    let (prefix, name) = key.rsplit_once('/').map_or((None, key), |(prefix, name)| (Some(prefix), name));
    if name.is_empty() || !is_word(name) || prefix.is_some_and(|prefix| prefix.is_empty() || !is_word(prefix)) {
        return Err(format!("{key:?} is no label key"));
    }
    Ok(key.to_owned())
}

fn label_value(text: &str) -> Result<String, String> {
    let value = text.trim();
    if is_word(value) { Ok(value.to_owned()) } else { Err(format!("{value:?} is no label value")) }
}

/// Empty, or letters and digits with `-`, `_` and `.` between them.
fn is_word(text: &str) -> bool {
    let inside = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let at_end = |c: Option<char>| c.is_none_or(|c| c.is_ascii_alphanumeric());
    text.len() <= 253 && text.chars().all(inside) && at_end(text.chars().next()) && at_end(text.chars().next_back())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::Selector;

    #[test]
    fn selects_as_kubectl_does() {
        let labels: BTreeMap<String, String> =
            [("team", "orders"), ("app.example.com/tier", "gold")].map(|(k, v)| (k.to_owned(), v.to_owned())).into();
        for (text, expected) in [
            ("team=orders", true),
            ("team==orders", true),
            ("team = orders", true),
            ("team=other", false),
            ("team!=other", true),
            ("absent!=x", true),
            ("absent=x", false),
            ("team", true),
            ("absent", false),
            ("!absent", true),
            ("!team", false),
            ("team in (orders, other)", true),
            ("team notin (orders)", false),
            ("absent notin (orders)", true),
            ("app.example.com/tier=gold,team in (orders,x),!absent", true),
            ("app.example.com/tier=gold,team=x", false),
            ("empty=", false),
        ] {
            assert_eq!(Selector::parse(text).unwrap().selects(&labels), expected, "{text}");
        }
    }

    #[test]
    fn refuses_what_kubectl_refuses() {
        for bad in
            ["", "a,", "=b", "a in b", "a in (b", "a) in (b)", "a=b=c", "a like (b)", "a=b c", "/x=1", "a/=1", "!"]
        {
            assert!(Selector::parse(bad).is_err(), "{bad}");
        }
    }
}
