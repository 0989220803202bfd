//! `dbrender explain`: what a code, a field or a word means.

mod words;

use clap::Args;
use serde_json::{Map, Value};

use super::args::HELP;
use super::exit::Exit;
use super::output::print_text;
use super::tell::Tell;
use crate::api;
use crate::problem::{Code, Severity, nearest};

const EXAMPLES: &str = "\
Examples:
  dbrender explain DBR206
  dbrender explain spec.storage.size
  dbrender explain platform.backupDestinations
  dbrender explain rolling-restart
";

/// Widest line that is printed.
const WIDTH: usize = 80;
/// First step of the path of a field of the platform file.
const PLATFORM: &str = "platform";

/// Explains a problem's code, a field, or a word of reports, statuses and metrics.
#[derive(Debug, Args)]
#[command(before_help = EXAMPLES, help_template = HELP)]
pub(super) struct ExplainArgs {
    /// A code such as DBR206, its name, or the path of a field. Fields of the platform file begin with `platform`. Or a
    /// class of a difference, a condition, a reason, an event, a metric. Without one: all codes and words.
    #[arg(value_name = "CODE|FIELD")]
    what: Option<String>,
}

pub(super) fn run(args: &ExplainArgs, tell: &Tell) -> Exit {
    let Some(what) = &args.what else { return print_text(&format!("{}\n{}", all_codes(), words::names()), tell) };
    if let Some(code) = Code::find(what) {
        return print_text(&code_text(code), tell);
    }
    if what.len() == 6 && what.to_ascii_uppercase().starts_with("DBR") {
        return tell.usage(&format!("there is no code {what}; without an argument, all codes are listed"));
    }
    if let Some(text) = words::text_of(what) {
        return print_text(&text, tell);
    }
    match field_text(what) {
        Ok(text) => print_text(&text, tell),
        Err(message) => tell.usage(&message),
    }
}

fn all_codes() -> String {
    let line = |code: &Code| {
        let kind = if code.severity() == Severity::Error { "" } else { " (warning)" };
        wrapped(&format!("{}{kind}", code.explanation().title), &format!("{}  ", code.id()), "        ")
    };
    Code::ALL.iter().map(line).collect()
}

fn code_text(code: Code) -> String {
    let explanation = code.explanation();
    let head = format!("{}[{}] {}: {}", code.severity().as_str(), code.id(), code.name(), explanation.title);
    let mut text = wrapped(&head, "", "  ");
    text.push('\n');
    text += &wrapped(explanation.text, "", "");
    text.push('\n');
    text += &wrapped(explanation.hint, "What to do: ", "            ");
    text
}

fn field_text(path: &str) -> Result<String, String> {
    let steps: Vec<&str> = path.split('.').map(|step| step.split('[').next().unwrap_or(step)).collect();
    let (root, steps) = match steps.as_slice() {
        [PLATFORM, rest @ ..] => (api::platform_schema(), rest),
        all => (api::database_schema(), all),
    };
    // People leave out the first step, because every field that they write is below it.
    let below_spec: Vec<&str> = std::iter::once("spec").chain(steps.iter().copied()).collect();
    if let Ok(found) = find(&root, steps) {
        return Ok(describe(path, &found));
    }
    match find(&root, &below_spec) {
        Ok(found) => Ok(describe(&format!("spec.{path}"), &found)),
        Err(_) => find(&root, steps).map(|found| describe(path, &found)),
    }
}

/// A field of a schema.
struct Field<'a> {
    schema: &'a Value,
    required: bool,
}

fn find<'a>(root: &'a Value, steps: &[&str]) -> Result<Field<'a>, String> {
    let mut field = Field { schema: root, required: true };
    let mut done: Vec<&str> = Vec::new();
    for step in steps {
        let schema = element(field.schema);
        field = if let Some(child) = properties(schema).and_then(|properties| properties.get(*step)) {
            let required = schema["required"].as_array().is_some_and(|names| names.iter().any(|name| name == step));
            Field { schema: child, required }
        } else if let Some(values) = schema.get("additionalProperties").filter(|values| values.is_object()) {
            Field { schema: values, required: false }
        } else {
            return Err(no_such_field(step, &done, schema));
        };
        done.push(step);
    }
    Ok(field)
}

fn no_such_field(step: &str, parents: &[&str], schema: &Value) -> String {
    let names: Vec<&str> = properties(schema).into_iter().flatten().map(|(name, _)| name.as_str()).collect();
    let words = words::all();
    let words = words.iter().filter(|_| parents.is_empty()).map(|word| word.name.as_str());
    let place = if parents.is_empty() { String::new() } else { format!(" in {}", parents.join(".")) };
    match nearest(step, names.iter().copied().chain(words)) {
        Some(near) => format!("there is no code and no field {step:?}{place}; did you mean {near:?}?"),
        None if names.is_empty() => format!("{} has no fields", parents.join(".")),
        None => format!("there is no code and no field {step:?}{place}; the fields are {}", names.join(", ")),
    }
}

/// What a list holds; everything else is itself.
fn element(schema: &Value) -> &Value {
    schema.get("items").unwrap_or(schema)
}

fn properties(schema: &Value) -> Option<&Map<String, Value>> {
    schema.get("properties")?.as_object()
}

fn describe(path: &str, field: &Field<'_>) -> String {
    let required = if field.required { ", required" } else { "" };
    let mut text = format!("{path} ({}{required})\n", type_of(field.schema));
    if let Some(description) = field.schema.get("description").and_then(Value::as_str) {
        text.push('\n');
        text += &wrapped(description, "  ", "  ");
    }
    let facts = facts(field.schema);
    if !facts.is_empty() {
        text.push('\n');
        facts.iter().for_each(|fact| text += &wrapped(fact, "  ", "    "));
    }
    let children = properties(element(field.schema)).filter(|children| !children.is_empty());
    if let Some(children) = children {
        text += "\nFields:\n";
        let widest = children.keys().map(String::len).max().unwrap_or_default();
        for (name, child) in children {
            let description = child.get("description").and_then(Value::as_str).unwrap_or_default();
            let first = description.split_inclusive(". ").next().unwrap_or_default().trim_end();
            text += &wrapped(first, &format!("  {name:widest$}  "), &" ".repeat(widest + 4));
        }
    }
    text
}

fn type_of(schema: &Value) -> String {
    // `["integer", "null"]` is how an optional field arrives.
    let kind = match schema.get("type") {
        Some(Value::Array(kinds)) => kinds.iter().filter_map(Value::as_str).find(|kind| *kind != "null"),
        Some(kind) => kind.as_str(),
        None => None,
    };
    let kind = kind.unwrap_or(if words::words_in(schema).is_empty() { "any" } else { "string" });
    match (kind, schema.get("items"), schema.get("additionalProperties").filter(|values| values.is_object())) {
        ("array", Some(items), _) => format!("list of {}", type_of(items)),
        ("object", _, Some(values)) => format!("map of {}", type_of(values)),
        _ => kind.to_owned(),
    }
}

fn facts(schema: &Value) -> Vec<String> {
    let meaning = |(word, meaning): &(String, String)| format!("{word}: {meaning}");
    let mut facts: Vec<String> = words::words_in(schema).iter().map(meaning).collect();
    if let Some(words) = schema.get("enum").and_then(Value::as_array) {
        let words: Vec<&str> = words.iter().filter_map(Value::as_str).collect();
        match words::meanings(&words) {
            Some(meanings) => facts.extend(meanings.iter().map(meaning)),
            None => facts.push(format!("One of: {}", words.join(", "))),
        }
    }
    match (schema.get("minimum"), schema.get("maximum")) {
        (Some(least), Some(most)) => facts.push(format!("From {least} to {most}")),
        (Some(least), None) => facts.push(format!("At least {least}")),
        (None, Some(most)) => facts.push(format!("At most {most}")),
        (None, None) => {}
    }
    if let Some(pattern) = schema.get("pattern").and_then(Value::as_str) {
        facts.push(format!("Matches: {pattern}"));
    }
    if let Some(default) = schema.get("default").filter(|default| !default.is_object()) {
        facts.push(format!("Default: {default}"));
    }
    facts
}

/// A text in lines of at most 80 columns, each with a line feed.
fn wrapped(text: &str, first: &str, rest: &str) -> String {
    let mut out = String::new();
    let mut line = first.to_owned();
    let mut is_empty = true;
    for word in text.split_whitespace() {
        if !is_empty && line.chars().count() + 1 + word.chars().count() > WIDTH {
            out += line.trim_end();
            out.push('\n');
            line = rest.to_owned();
            is_empty = true;
        }
        if !is_empty {
            line.push(' ');
        }
        line += word;
        is_empty = false;
    }
    out += line.trim_end();
    out.push('\n');
    out
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::{WIDTH, all_codes, code_text, element, field_text, properties};
    use crate::api;
    use crate::problem::Code;

    fn every_path(schema: &Value, path: &str, out: &mut Vec<String>) {
        for (name, child) in properties(element(schema)).into_iter().flatten() {
            let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
            every_path(child, &path, out);
            out.push(path);
        }
    }

    #[test]
    fn every_field_and_every_code_has_words_that_fit_a_terminal() {
        let mut paths = Vec::new();
        every_path(&api::database_schema(), "", &mut paths);
        every_path(&api::platform_schema(), "platform", &mut paths);
        assert!(paths.len() > 80, "{paths:?}");
        let texts =
            paths.iter().map(|path| field_text(path).unwrap()).chain(Code::ALL.iter().map(|code| code_text(*code)));
        for text in texts.chain([all_codes()]) {
            assert!(text.lines().all(|line| line.chars().count() <= WIDTH), "{text}");
        }
    }

    #[test]
    fn the_path_may_begin_below_spec_and_hold_indices() {
        let full = field_text("spec.storage.size").unwrap();
        assert_eq!(field_text("storage.size").unwrap(), full);
        assert!(field_text("spec.scheduling.tolerations[0].key").unwrap().contains("Taint"));
    }

    #[test]
    fn a_misspelt_field_is_told_its_neighbour() {
        assert!(field_text("spec.storage.sise").unwrap_err().contains("did you mean \"size\"?"));
        assert!(field_text("nothing.like.this").unwrap_err().contains("spec"));
        assert!(field_text("spec.replicas.x").unwrap_err().contains("has no fields"));
        assert!(field_text("").is_err());
    }
}
