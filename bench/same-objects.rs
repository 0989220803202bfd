//! Whether files of YAML hold the same objects, by another reader than that of dbrender. For `bench/run`.
//!
//! `same-objects compare A B`: exit 0, and the number of objects, when both hold the same, in any order.
//! `same-objects json FILE`: the documents as one list of JSON.

#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::print_stdout,
    reason = "a program of the benchmarks reads files and prints"
)]

use std::collections::BTreeMap;
use std::error::Error;
use std::fs::File;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io::{BufReader, Read as _};

use serde::Deserialize as _;
use serde_json::Value;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

fn main() -> Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match words.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["compare", a, b] => compare(a, b),
        ["json", file] => {
            let mut all = Vec::new();
            each(file, |value| all.push(value))?;
            println!("{}", Value::from(all));
            Ok(())
        }
        _ => Err("same-objects compare A B | json FILE".into()),
    }
}

/// Gives each document that is not empty to `take`.
fn each(file: &str, mut take: impl FnMut(Value)) -> Result<()> {
    let mut text = String::new();
    BufReader::new(File::open(file)?).read_to_string(&mut text)?;
    // One document after the other: the reader would hold all of a stream. The line feed in front belongs to what it ends.
    let mut rest = text.as_str();
    while !rest.is_empty() {
        let end = rest.find("\n---\n").map_or(rest.len(), |at| at + 1);
        let value = Value::deserialize(yaml_serde::Deserializer::from_str(&rest[..end]))?;
        rest = rest.get(end + 4..).unwrap_or_default();
        match value {
            Value::Null => {}
            Value::Array(items) => items.into_iter().for_each(&mut take),
            value => take(value),
        }
    }
    Ok(())
}

/// Kind, namespace and name, and a digest of the whole object with its keys in order.
fn digests(file: &str) -> Result<BTreeMap<[String; 3], u64>> {
    let mut found = BTreeMap::new();
    let mut twice = None;
    each(file, |mut value| {
        let text = |path: &str| value.pointer(path).and_then(Value::as_str).unwrap_or_default().to_owned();
        let key = [text("/kind"), text("/metadata/namespace"), text("/metadata/name")];
        value.sort_all_objects();
        let mut hasher = DefaultHasher::new();
        value.to_string().hash(&mut hasher);
        if found.insert(key.clone(), hasher.finish()).is_some() {
            twice = Some(key);
        }
    })?;
    match twice {
        Some(key) => Err(format!("{file} holds {key:?} twice").into()),
        None => Ok(found),
    }
}

fn compare(a: &str, b: &str) -> Result<()> {
    let (one, other) = (digests(a)?, digests(b)?);
    if one == other {
        println!("{}", one.len());
        return Ok(());
    }
    let lacks = |x: &BTreeMap<[String; 3], u64>, y: &BTreeMap<[String; 3], u64>| -> Vec<String> {
        x.keys().filter(|key| !y.contains_key(*key)).take(3).map(|key| key.join(" ")).collect()
    };
    let differ: Vec<_> =
        one.iter().filter(|(key, digest)| other.get(*key).is_some_and(|found| found != *digest)).collect();
    let example = differ.first().map(|(key, _)| key.join(" "));
    Err(format!(
        "{} and {} objects; only in {a}: {:?}; only in {b}: {:?}; {} differ, such as {example:?}",
        one.len(),
        other.len(),
        lacks(&one, &other),
        lacks(&other, &one),
        differ.len(),
    )
    .into())
}
