//! What needs no Kubernetes beside it. `tests/kubernetes_reads` compares the same cases, and many more, with it.

mod errors;
mod hostile;
mod reading;
mod writing;

use proptest::prelude::*;
use serde_json::{Map, Number, Value};

use super::{Limits, ReadError, read_stream};

/// The documents of a text that has no problem.
fn read(text: &str) -> Vec<Value> {
    let (documents, errors) = read_stream(text, &Limits::default());
    assert_eq!(errors, [], "{text:?}");
    documents.iter().map(|document| document.root.to_json()).collect()
}

fn problems(text: &str) -> Vec<ReadError> {
    read_stream(text, &Limits::default()).1
}

/// The known strings that go wrong somewhere.
fn strings() -> Vec<String> {
    include_str!("../../../tests/kubernetes_reads/cases/strings.txt")
        .lines()
        .filter(|line| line.starts_with('"'))
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// Any string, with a leaning to the characters that mean something in YAML.
fn any_string() -> impl Strategy<Value = String> {
    let special = "[-yYnNoO0127eExX_.+:# \n\t\r\"'\\\\{}\\[\\],&*!|>%@`?=~<\u{85}\u{a0}\u{2028}\u{feff}é한🙂a]{0,12}";
    prop_oneof![3 => special, 1 => any::<String>(), 1 => proptest::sample::select(strings())]
}

/// Any value that JSON can hold. Numbers are those that the API server can tell apart.
fn any_value() -> impl Strategy<Value = Value> {
    let number = prop_oneof![
        any::<i64>().prop_map(Number::from),
        any::<f64>().prop_filter_map("finite, with a fraction", |float| {
            if float.fract() == 0.0 { None } else { Number::from_f64(float) }
        }),
    ];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        number.prop_map(Value::Number),
        any_string().prop_map(Value::String),
    ];
    leaf.prop_recursive(5, 60, 6, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..6).prop_map(Value::Array),
            proptest::collection::vec((any_string(), inner), 0..6)
                .prop_map(|entries| Value::Object(entries.into_iter().collect::<Map<_, _>>())),
        ]
    })
}
