//! What a field may hold, in the few words of JSON Schema that our own schemas use.
//!
//! The schemas are made from the Rust types by `api`. Whatever is not understood here counts as "anything", so a new
//! keyword can make the reader more lenient and never make it refuse what the API server takes.

use serde_json::Value;

/// Which values a field may hold.
#[derive(Debug)]
pub(super) enum Schema {
    Any,
    Object(Object),
    List(Box<Schema>),
    /// Text, and the words that it may be; none: any text.
    Text(Vec<String>),
    /// Text of at most so many characters.
    Short(usize),
    /// A whole number and its bounds, both inclusive.
    Integer(i64, i64),
    Number,
    Boolean,
}

/// A mapping.
#[derive(Debug, Default)]
pub(super) struct Object {
    /// Known keys, in the order of the schema.
    pub(super) fields: Vec<(String, Schema)>,
    pub(super) required: Vec<String>,
    /// What other keys may hold; nothing: there are no other keys.
    pub(super) others: Option<Box<Schema>>,
    /// Most keys that there may be.
    pub(super) most: Option<usize>,
}

impl Object {
    pub(super) fn field(&self, key: &str) -> Option<&Schema> {
        self.fields.iter().find(|(name, _)| name == key).map(|(_, schema)| schema)
    }

    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.fields.iter().map(|(name, _)| name.as_str())
    }
}

impl Schema {
    /// Reads one from JSON Schema.
    pub(super) fn read(schema: &Value) -> Schema {
        // An optional field of the platform file arrives as "this or null".
        let schema = without_null(schema);
        let words = words(schema);
        if !words.is_empty() {
            return Schema::Text(words);
        }
        match type_name(schema) {
            Some("string") => bound(schema, "maxLength").map_or_else(|| Schema::Text(Vec::new()), Schema::Short),
            Some("boolean") => Schema::Boolean,
            Some("number") => Schema::Number,
            Some("integer") => {
                let bound = |key: &str, none: i64| schema.get(key).and_then(Value::as_i64).unwrap_or(none);
                Schema::Integer(bound("minimum", i64::MIN), bound("maximum", i64::MAX))
            }
            Some("array") => Schema::List(Box::new(schema.get("items").map_or(Schema::Any, Schema::read))),
            Some("object") => Schema::Object(object(schema)),
            _ => Schema::Any,
        }
    }

    /// Dotted paths of the fields called `name`, letter case aside. `above` is the path of this schema itself.
    pub(super) fn find(&self, name: &str, above: &str) -> Vec<String> {
        let mut found = Vec::new();
        self.collect(name, above, &mut found);
        found
    }

    fn collect(&self, name: &str, above: &str, found: &mut Vec<String>) {
        if let Schema::Object(object) = self {
            for (key, schema) in &object.fields {
                let path = if above.is_empty() { key.clone() } else { format!("{above}.{key}") };
                if key.eq_ignore_ascii_case(name) {
                    found.push(path.clone());
                }
                schema.collect(name, &path, found);
            }
        }
    }
}

fn without_null(schema: &Value) -> &Value {
    let Some(choices) = schema.get("anyOf").and_then(Value::as_array) else { return schema };
    let mut rest = choices.iter().filter(|choice| choice.get("type").and_then(Value::as_str) != Some("null"));
    match (rest.next(), rest.next()) {
        (Some(only), None) => only,
        _ => schema,
    }
}

fn bound(schema: &Value, key: &str) -> Option<usize> {
    usize::try_from(schema.get(key)?.as_u64()?).ok()
}

/// The type, `null` aside.
fn type_name(schema: &Value) -> Option<&str> {
    match schema.get("type")? {
        Value::String(name) => Some(name),
        Value::Array(names) => names.iter().filter_map(Value::as_str).find(|name| *name != "null"),
        _ => None,
    }
}

/// The closed list of words, in the three ways in which the generator writes one.
fn words(schema: &Value) -> Vec<String> {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    if let Some(words) = schema.get("enum").and_then(Value::as_array) {
        return words.iter().filter_map(text).collect();
    }
    if let Some(word) = schema.get("const") {
        return text(word).into_iter().collect();
    }
    let choices = schema.get("oneOf").or_else(|| schema.get("anyOf")).and_then(Value::as_array);
    choices.into_iter().flatten().flat_map(words_of_choice).collect()
}

fn words_of_choice(choice: &Value) -> Vec<String> {
    if type_name(choice) == Some("string") { words(choice) } else { Vec::new() }
}

fn object(schema: &Value) -> Object {
    let fields = schema.get("properties").and_then(Value::as_object);
    let required = schema.get("required").and_then(Value::as_array);
    let others = match schema.get("additionalProperties") {
        Some(Value::Bool(false)) => None,
        Some(Value::Bool(true)) => Some(Schema::Any),
        Some(others) => Some(Schema::read(others)),
        // A structural schema drops keys that it does not name; without any name it is a free mapping.
        None if fields.is_some_and(|fields| !fields.is_empty()) => None,
        None => Some(Schema::Any),
    };
    Object {
        fields: fields.into_iter().flatten().map(|(key, schema)| (key.clone(), Schema::read(schema))).collect(),
        required: required.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect(),
        others: others.map(Box::new),
        most: bound(schema, "maxProperties"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::Schema;
    use crate::api;

    #[test]
    fn reads_every_way_to_write_a_word_list() {
        for schema in [
            json!({"enum": ["a", "b"], "type": "string"}),
            json!({"anyOf": [{"enum": ["a", "b"], "type": "string"}, {"type": "null"}]}),
            json!({"anyOf": [{"oneOf": [{"const": "a", "type": "string"}, {"const": "b", "type": "string"}]}, {"type": "null"}]}),
        ] {
            assert!(matches!(Schema::read(&schema), Schema::Text(words) if words == ["a", "b"]), "{schema}");
        }
    }

    /// A schema that is not understood would let everything pass without a word.
    #[test]
    fn understands_every_field_of_our_own_schemas() {
        fn walk(schema: &Schema, path: &str, seen: &mut usize) {
            *seen += 1;
            match schema {
                Schema::Any => panic!("{path} is read as anything"),
                Schema::Object(object) => {
                    for (key, field) in &object.fields {
                        walk(field, &format!("{path}.{key}"), seen);
                    }
                    if let Some(others) = &object.others {
                        walk(others, &format!("{path}.*"), seen);
                    }
                }
                Schema::List(items) => walk(items, &format!("{path}[]"), seen),
                _ => {}
            }
        }
        let crd = api::crd();
        let spec = crd.pointer("/spec/versions/0/schema/openAPIV3Schema/properties/spec").expect("the CRD has a spec");
        let mut seen = 0;
        walk(&Schema::read(spec), "spec", &mut seen);
        assert!(seen > 50, "{seen} fields of the CRD");
        let mut seen = 0;
        walk(&Schema::read(&api::platform_schema()), "platform", &mut seen);
        assert!(seen > 90, "{seen} fields of the platform file");
    }
}
