//! Whatever stands in a file: no panic, and for each Database either a Plan or an error.

#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::panic,
    clippy::print_stderr,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a test may use files and programs, and ends where it fails"
)]

use std::sync::LazyLock;

use dbrender::api;
use dbrender::check::{Ground, check, update};
use dbrender::input::{Schemas, Source, parse, parse_platform};
use dbrender::problem::Problems;
use dbrender::report::problems as report;
use dbrender::yaml;
use proptest::prelude::*;
use serde_json::{Map, Value, json};

static SCHEMAS: LazyLock<Schemas> = LazyLock::new(Schemas::new);
static DATABASE: LazyLock<Value> = LazyLock::new(api::database_schema);

const EXAMPLE: &str = include_str!("../examples/order-db.yaml");
const PLATFORM: &str = "apiVersion: dbrender.app.example.com/v1alpha1\nkind: Platform\n\
    storageClasses: {fast: io2}\nlimits: {maxReplicas: 3}\nenvironments:\n  prod: {clusterDomain: x}\n";

/// Everything that a run does with a text, up to the printed problems.
fn whole_way(text: &str) {
    let source = Source { name: "a.yaml".to_owned(), text: text.to_owned() };
    let mut out = Problems::new();
    let parsed = parse(0, &source, &SCHEMAS, &mut out);
    for declared in &parsed.databases {
        let checked = check(&declared.database, &Ground::default(), None);
        assert_eq!(checked.plan.is_none(), checked.problems.has_errors());
        out.extend(checked.problems.into_iter().map(|problem| declared.locate(problem)));
    }
    for problem in &out {
        let place = problem.place.as_ref().expect("every problem of a text has a place");
        assert!(text.get(place.span.clone()).is_some(), "{problem:?} is outside of the text");
    }
    let sources = [source];
    for text in [
        report::text(&out, &sources, false),
        report::json(&out, &sources),
        report::github(&out, &sources),
        report::sarif(&out, &sources),
    ] {
        let told = out.iter().filter(|problem| text.contains(problem.code.id())).count();
        assert_eq!(told, out.len(), "{text}");
    }
    parse_platform(0, &sources[0], Some("prod"), &SCHEMAS, &mut out);
}

/// A text with some of its parts replaced by others.
fn damaged(text: &'static str) -> impl Strategy<Value = String> {
    let part = prop_oneof![
        Just(String::new()),
        "[ -~\\n]{0,6}",
        "\\PC{0,4}",
        proptest::sample::select(vec![
            "\n", ": ", "- ", "{", "}", "[", "]", "\"", "'", "#", "&a ", "*a", "null", "~", "\t", "16", "-1", "yes",
            "spec:", "<<: "
        ])
        .prop_map(str::to_owned),
    ];
    proptest::collection::vec((any::<proptest::sample::Index>(), 0..8usize, part), 1..6).prop_map(move |edits| {
        let mut text = text.to_owned();
        for (at, length, part) in edits {
            let borders: Vec<usize> = (0..=text.len()).filter(|at| text.is_char_boundary(*at)).collect();
            let start = at.index(borders.len());
            let end = (start + length).min(borders.len() - 1);
            text.replace_range(borders[start]..borders[end], &part);
        }
        text
    })
}

/// Texts that the rules take, by the field that they stand in. The other fields' are drawn from all of them.
fn good(field: &str) -> &'static [&'static str] {
    match field {
        "name" => &["shop", "orders-2"],
        "namespace" | "names" => &["demo", "prod"],
        "engine" => &["postgresql"],
        "version" => &["15", "16", "17", "18"],
        "size" => &["10Gi", "1Ti"],
        "storageClass" => &["standard", "fast", ""],
        "schedule" => &["0 2 * * *", "@daily", "*/30 0-6 * * mon"],
        "timeZone" => &["Etc/UTC", "Asia/Seoul"],
        "destination" => &["volume"],
        "cpu" => &["500m", "2", "1.5"],
        "memory" => &["1Gi", "4Gi", "512M"],
        "database" | "username" => &["app", "orders"],
        "appSecretName" => &["shop-app"],
        "adminSecretName" => &["shop-admin"],
        "secretName" | "priorityClassName" => &["certificate"],
        "backup" => &["latest", "20261130T020000Z"],
        "topologyKeys" => &["kubernetes.io/hostname"],
        "key" => &["dedicated"],
        "operator" => &["Equal"],
        "value" => &["databases", ""],
        "effect" => &["NoExecute"],
        "labels" | "matchLabels" | "nodeSelector" | "annotations" => &["a", "example.com/b"],
        "parameters" => &["work_mem", "maintenance_work_mem", "app.tenant"],
        "in parameters" => &["64MB", "4096"],
        "in labels" | "in matchLabels" | "in nodeSelector" | "in annotations" => &["x", "y-1", ""],
        _ => ODD,
    }
}

const ODD: &[&str] = &[
    "shop",
    "16",
    "16.15",
    "10Gi",
    "0Gi",
    "500m",
    "standard",
    "0 2 * * *",
    "volume",
    "latest",
    "app",
    "64MB",
    "on",
    "1/3",
    "Exists",
    "app.example.com/force-primary",
    "max_connections",
    "",
    "y",
    "1_000",
    "0x1F",
    "한국",
];

fn text(field: &str) -> BoxedStrategy<String> {
    prop_oneof![
        96 => proptest::sample::select(good(field)).prop_map(str::to_owned),
        2 => proptest::sample::select(ODD).prop_map(str::to_owned),
        1 => "\\PC{0,12}",
        1 => "[a-z]([a-z0-9-]{0,50}[a-z0-9])?",
    ]
    .boxed()
}

/// A value that a schema allows. Most texts are what the rules want, so that about every other Database gets a Plan.
fn value(field: &str, schema: &'static Value) -> BoxedStrategy<Value> {
    if let Some(word) = schema.get("const") {
        return Just(word.clone()).boxed();
    }
    if let Some(words) = schema.get("enum").and_then(Value::as_array) {
        let all = proptest::sample::select(words.clone());
        let first = Just(words[0].clone());
        return prop_oneof![19 => first, 1 => all].boxed();
    }
    match schema.get("type").and_then(Value::as_str) {
        Some("object") => object(field, schema),
        Some("array") => proptest::collection::vec(value(field, &schema["items"]), 0..2).prop_map(Value::Array).boxed(),
        Some("boolean") => any::<bool>().prop_map(Value::Bool).boxed(),
        Some("integer") => {
            let bound = |key: &str, none: i64| schema.get(key).and_then(Value::as_i64).unwrap_or(none);
            (bound("minimum", -1)..=bound("maximum", 1000)).prop_map(Value::from).boxed()
        }
        _ => text(field).prop_map(Value::String).boxed(),
    }
}

fn object(field: &str, schema: &'static Value) -> BoxedStrategy<Value> {
    let Some(fields) = schema.get("properties").and_then(Value::as_object) else {
        let others = schema.get("additionalProperties").filter(|others| others.is_object());
        let Some(others) = others else { return Just(json!({})).boxed() };
        return proptest::collection::btree_map(text(field), value(&format!("in {field}"), others), 0..3)
            .prop_map(|map| Value::Object(map.into_iter().collect()))
            .boxed();
    };
    let required = schema.get("required").and_then(Value::as_array);
    let parts: Vec<_> = fields
        .iter()
        .filter(|(key, _)| *key != "status")
        .map(|(key, field)| {
            let must = required.is_some_and(|required| required.contains(&json!(key)));
            // These fit few of the others.
            let seldom = ["primary", "bootstrap", "pointInTime"].contains(&key.as_str());
            let there = if must {
                Just(true).boxed()
            } else {
                proptest::bool::weighted(if seldom { 0.05 } else { 0.5 }).boxed()
            };
            (Just(key.clone()), there, value(key, field))
        })
        .collect();
    parts
        .prop_map(|parts| {
            let there = parts.into_iter().filter(|(_, there, _)| *there);
            Value::Object(there.map(|(key, _, value)| (key, value)).collect::<Map<_, _>>())
        })
        .boxed()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_end_without_a_panic(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        if let Ok(text) = yaml::decode(&bytes) {
            whole_way(text);
        }
    }

    #[test]
    fn a_damaged_example_ends_without_a_panic(text in damaged(EXAMPLE)) {
        whole_way(&text);
    }

    #[test]
    fn a_damaged_platform_file_ends_without_a_panic(text in damaged(PLATFORM)) {
        whole_way(&text);
    }

    /// The schema, the reader and the Rust types agree on every value that the schema allows.
    #[test]
    fn what_the_schema_allows_is_read_and_gets_a_plan_or_an_error(value in value("", &DATABASE)) {
        let text = value.to_string();
        let source = Source { name: "a.json".to_owned(), text: text.clone() };
        let mut out = Problems::new();
        let parsed = parse(0, &source, &SCHEMAS, &mut out);
        prop_assert!(out.is_empty(), "{text}\n{out:?}");
        prop_assert_eq!(parsed.databases.len(), 1);
        let declared = &parsed.databases[0].database;
        let direct: api::Database = serde_json::from_value(value).expect("the types take what the schema allows");
        prop_assert_eq!(&declared.spec, &direct.spec);
        let checked = check(declared, &Ground::default(), Some("demo"));
        prop_assert_eq!(checked.plan.is_none(), checked.problems.has_errors());
        // Nothing has changed, so nothing is refused.
        prop_assert!(update(declared, declared).is_empty());
        whole_way(&text);
    }
}
