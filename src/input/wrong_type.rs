//! The words for a value of another type than the field's: what YAML made of the text, and what to type instead.

use super::reader::quoted;
use super::schema::Schema;
use super::trail::Trail;
use crate::yaml::{Kind, Node};

/// Message and hint.
pub(super) fn explain(node: &Node, written: &str, schema: &Schema, trail: &Trail<'_>) -> (String, String) {
    let field = trail.text();
    let plain = plain(node, written);
    let message = match (&node.kind, plain) {
        (Kind::Number(_) | Kind::Bool(_), Some(text)) => {
            format!("{field} must be {}; YAML reads {text} as {}", wanted(schema), read_as(node, text))
        }
        _ => format!("{field} must be {}, found {}", wanted(schema), found(node)),
    };
    (message, hint(node, plain, schema, trail))
}

fn hint(node: &Node, plain: Option<&str>, schema: &Schema, trail: &Trail<'_>) -> String {
    let key = trail.last_key();
    match (schema, &node.kind) {
        (Schema::Text(_) | Schema::Short(_), Kind::Number(_) | Kind::Bool(_)) => match plain {
            Some(text) => format!("quote it: {key}\"{text}\""),
            None => "write it in double quotes".to_owned(),
        },
        (Schema::Integer(..) | Schema::Number, Kind::String(text)) if text.trim().parse::<i64>().is_ok() => {
            format!("write it without quotes: {key}{}", text.trim())
        }
        (Schema::Integer(..) | Schema::Number, _) => "write a number, without quotes and without a unit".to_owned(),
        (Schema::Boolean, Kind::String(text)) => match text.trim().to_ascii_lowercase().as_str() {
            "true" | "yes" | "on" => format!("write it without quotes: {key}true"),
            "false" | "no" | "off" => format!("write it without quotes: {key}false"),
            _ => "write true or false".to_owned(),
        },
        (Schema::Boolean, _) => "write true or false".to_owned(),
        (Schema::Object(object), _) => {
            let names: Vec<&str> = object.names().take(3).collect();
            match names.first() {
                Some(first) => format!("indent its fields below it, for example {first}: …"),
                None => "write key: value pairs, indented below it".to_owned(),
            }
        }
        (Schema::List(_), Kind::String(_) | Kind::Number(_) | Kind::Bool(_)) => match plain {
            Some(text) => format!("write a list: {key}[{text}]"),
            None => "write a list: each item in a line of its own, with a dash in front".to_owned(),
        },
        (Schema::List(_), _) => "write a list: each item in a line of its own, with a dash in front".to_owned(),
        (Schema::Text(_) | Schema::Short(_), Kind::Mapping(_)) => {
            "write one value; text with a colon or braces needs quotes".to_owned()
        }
        (Schema::Text(_) | Schema::Short(_), _) => "write one value, as text".to_owned(),
        (Schema::Any, _) => "write a value".to_owned(),
    }
}

/// The scalar as it was typed, when it is a plain one on one line.
fn plain<'a>(node: &Node, written: &'a str) -> Option<&'a str> {
    let scalar = matches!(node.kind, Kind::Number(_) | Kind::Bool(_) | Kind::String(_));
    let typed = !written.is_empty()
        && written.len() <= 40
        && !written.contains('\n')
        && !written.starts_with(['*', '&', '!', '"', '\'', '|', '>']);
    (scalar && typed).then_some(written)
}

fn wanted(schema: &Schema) -> &'static str {
    match schema {
        Schema::Any => "a value",
        Schema::Object(_) => "a mapping",
        Schema::List(_) => "a list",
        Schema::Text(_) | Schema::Short(_) => "text",
        Schema::Integer(..) => "a whole number",
        Schema::Number => "a number",
        Schema::Boolean => "true or false",
    }
}

/// What YAML made of it, said only as far as it is not what stands there anyway.
fn read_as(node: &Node, text: &str) -> String {
    match &node.kind {
        Kind::Number(number) if number.to_string() == text => "a number".to_owned(),
        Kind::Number(number) => format!("the number {number}"),
        Kind::Bool(value) if value.to_string() == text => "a boolean".to_owned(),
        Kind::Bool(value) => format!("the boolean {value}"),
        _ => found(node),
    }
}

fn found(node: &Node) -> String {
    match &node.kind {
        Kind::Null => "nothing".to_owned(),
        Kind::Bool(value) => value.to_string(),
        Kind::Number(number) => number.to_string(),
        Kind::String(text) => format!("the text {}", quoted(text)),
        Kind::Sequence(_) => "a list".to_owned(),
        Kind::Mapping(_) => "a mapping".to_owned(),
    }
}
