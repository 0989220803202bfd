//! Changes of one leaf of an object.

use std::fmt;

use serde_json::{Value, json};

/// What was done, and where.
#[derive(Clone, Debug)]
pub struct Mutation {
    /// Keys and indices.
    pub steps: Vec<String>,
    /// Which of the steps are indices.
    indices: Vec<bool>,
    /// `changed`, `removed` or `doubled`.
    pub what: &'static str,
}

impl Mutation {
    /// JSON pointer, with `*` for indices: the form of `diff::defaults`.
    pub fn pattern(&self) -> String {
        let steps = self.steps.iter().zip(&self.indices);
        steps.map(|(step, is_index)| if *is_index { "/*".to_owned() } else { format!("/{}", escape(step)) }).collect()
    }

    /// JSON pointer.
    pub fn pointer(&self) -> String {
        self.steps.iter().map(|step| format!("/{}", escape(step))).collect()
    }
}

impl fmt::Display for Mutation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.pointer(), self.what)
    }
}

fn escape(step: &str) -> String {
    step.replace('~', "~0").replace('/', "~1")
}

/// Whether a reported path names the place of a mutation: the same keys, an index or a key in brackets for each item of a
/// list, and perhaps ending earlier, where a list or an item is reported as a whole.
pub fn is_at(path: &str, mutation: &Mutation) -> bool {
    let mut reported = path.split('/').skip(1);
    for (step, is_index) in mutation.steps.iter().zip(&mutation.indices) {
        match reported.next() {
            None => return true,
            Some(part) if *is_index => {
                if !(part.starts_with('[') || part.parse::<usize>().is_ok()) {
                    return false;
                }
            }
            Some(part) if part == escape(step) => {}
            // A key by which items are told apart: the item itself is reported.
            Some(_) => return false,
        }
    }
    true
}

/// Every leaf of `rendered`, changed, removed and doubled in `stored`. What a server fixes for good is left out: identity
/// and type.
pub fn mutations(rendered: &Value, stored: &Value) -> Vec<(Mutation, Value)> {
    let mut out = Vec::new();
    let mut place = Mutation { steps: Vec::new(), indices: Vec::new(), what: "changed" };
    walk(rendered, stored, &mut place, &mut out);
    out
}

fn walk(rendered: &Value, stored: &Value, place: &mut Mutation, out: &mut Vec<(Mutation, Value)>) {
    match rendered {
        Value::Object(map) => {
            for (key, value) in map {
                if is_identity(&place.steps, key) {
                    continue;
                }
                place.steps.push(key.clone());
                place.indices.push(false);
                walk(value, stored, place, out);
                place.steps.pop();
                place.indices.pop();
            }
        }
        Value::Array(items) => {
            for (index, value) in items.iter().enumerate() {
                place.steps.push(index.to_string());
                place.indices.push(true);
                walk(value, stored, place, out);
                place.steps.pop();
                place.indices.pop();
            }
            for index in 0..items.len() {
                let mut changed = stored.clone();
                let Some(Value::Array(list)) = changed.pointer_mut(&place.pointer()) else { continue };
                let Some(item) = list.get(index).cloned() else { continue };
                list.push(item);
                let mut mutation = place.clone();
                mutation.steps.push(index.to_string());
                mutation.indices.push(true);
                mutation.what = "doubled";
                out.push((mutation, changed));
            }
        }
        leaf => {
            let pointer = place.pointer();
            // What a server does not keep, such as an empty text, has no leaf to change.
            if stored.pointer(&pointer).is_none() {
                return;
            }
            for what in ["changed", "removed"] {
                let mut changed = stored.clone();
                if what == "changed" {
                    *changed.pointer_mut(&pointer).unwrap() = other(leaf, place);
                } else {
                    remove(&mut changed, place);
                }
                let mut mutation = place.clone();
                mutation.what = what;
                out.push((mutation, changed));
            }
        }
    }
}

fn is_identity(steps: &[String], key: &str) -> bool {
    match steps {
        [] => matches!(key, "apiVersion" | "kind"),
        [metadata] if metadata == "metadata" => matches!(key, "name" | "namespace"),
        _ => false,
    }
}

fn other(leaf: &Value, place: &Mutation) -> Value {
    match leaf {
        Value::String(_) if place.steps.first().is_some_and(|step| step == "data") => {
            // Of a Secret it has to be base64, of a ConfigMap it may be anything.
            json!("b3RoZXI=")
        }
        Value::String(text)
            if text.ends_with(|c: char| c.is_ascii_digit()) || text.ends_with("Gi") || text.ends_with("Mi") =>
        {
            json!(format!("9{text}"))
        }
        Value::String(text) => json!(format!("{text}x")),
        Value::Number(number) => json!(number.as_i64().unwrap() + 1),
        Value::Bool(value) => json!(!value),
        other => panic!("{other} is no leaf"),
    }
}

fn remove(value: &mut Value, place: &Mutation) {
    let (last, parents) = place.steps.split_last().unwrap();
    let parent: String = parents.iter().map(|step| format!("/{}", escape(step))).collect();
    match value.pointer_mut(&parent).unwrap() {
        Value::Object(map) => {
            map.shift_remove(last);
        }
        Value::Array(items) => {
            items.remove(last.parse().unwrap());
        }
        other => panic!("{other} holds nothing"),
    }
}
