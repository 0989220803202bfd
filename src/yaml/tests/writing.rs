use std::collections::BTreeMap;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::super::{Limits, read_stream, sort_keys, write_document, write_object, write_stream};
use super::{any_value, read, strings};

fn write(value: &Value) -> String {
    let mut out = String::new();
    write_document(&mut out, value);
    out
}

fn scalar(text: &str) -> String {
    write(&json!({ "k": text })).strip_prefix("k: ").unwrap().strip_suffix('\n').unwrap().to_owned()
}

/// The whole style in one place: people review this text in pull requests.
#[test]
fn a_manifest_looks_like_this() {
    let value = json!({
        "spec": {
            "template": {"spec": {
                "containers": [
                    {
                        "image": "docker.io/library/postgres:16.4-bookworm",
                        "args": ["--config-file=/etc/postgresql.conf", "-c", "a b", ""],
                        "name": "server",
                        "ports": [{"containerPort": 5432, "name": "postgresql"}],
                        "env": [{"value": "yes", "name": "DEBUG"}, {"name": "LIMIT", "value": "10Gi"}],
                        "command": ["sh", "-c", "set -eu\nif true; then\n\techo \"$x\"  \nfi\n"],
                    },
                    {"env": [], "securityContext": {}, "name": "agent"},
                ],
                "matrix": [[1, [2, 3]], [], [{"b": null, "a": [true]}]],
            }},
            "replicas": 3,
        },
        "kind": "StatefulSet",
        "metadata": {"name": "order-db", "labels": {"kind": "x", "app.kubernetes.io/name": "postgresql", "apiVersion": "y"}},
        "apiVersion": "apps/v1",
        "Extra": 1.5,
    });
    let text = r#"apiVersion: apps/v1
kind: StatefulSet
metadata:
  labels:
    apiVersion: "y"
    app.kubernetes.io/name: postgresql
    kind: x
  name: order-db
Extra: 1.5
spec:
  replicas: 3
  template:
    spec:
      containers:
      - name: server
        args:
        - --config-file=/etc/postgresql.conf
        - "-c"
        - a b
        - ""
        command:
        - sh
        - "-c"
        - |
          set -eu
          if true; then
          	echo "$x"  
          fi
        env:
        - name: DEBUG
          value: "yes"
        - name: LIMIT
          value: 10Gi
        image: docker.io/library/postgres:16.4-bookworm
        ports:
        - name: postgresql
          containerPort: 5432
      - name: agent
        env: []
        securityContext: {}
      matrix:
      - - 1
        - - 2
          - 3
      - []
      - - a:
          - true
          b: null
"#;
    assert_eq!(write(&value), text);
    assert_eq!(read(text), [value]);
}

#[test]
fn a_string_is_plain_only_where_nobody_can_misread_it() {
    for text in [
        "a",
        "postgres:16.4",
        "a b",
        "10Gi",
        "500m",
        "100m",
        "1k",
        "/var/lib",
        "./x",
        "a:b",
        "a#b",
        "$(VAR)",
        "--flag=value",
        "http://a/b?c=d",
        "it's",
        "a, b",
        "a [b]",
        "sha256:e3b0",
        "Asia/Seoul",
        "_x",
        "a=b",
        "yesterday",
        "nullable",
        "a\\nb",
        "(x)",
        "0 2 * * *",
    ] {
        assert_eq!(scalar(text), text);
    }
    for (text, written) in [
        ("", "\"\""),
        ("y", "\"y\""),
        ("No", "\"No\""),
        ("oN", "\"oN\""),
        ("null", "\"null\""),
        ("~", "\"~\""),
        ("16", "\"16\""),
        ("1.10", "\"1.10\""),
        ("1_000", "\"1_000\""),
        ("0x1F", "\"0x1F\""),
        ("72225e2", "\"72225e2\""),
        ("10.0.0.1", "\"10.0.0.1\""),
        ("2001-01-01", "\"2001-01-01\""),
        ("12:30", "\"12:30\""),
        (".inf", "\".inf\""),
        ("-x", "\"-x\""),
        ("a: b", "\"a: b\""),
        ("a:", "\"a:\""),
        ("a #b", "\"a #b\""),
        (" a", "\" a\""),
        ("a ", "\"a \""),
        ("*/5 * * * *", "\"*/5 * * * *\""),
        ("{\"a\": 1}", r#""{\"a\": 1}""#),
        ("C:\\x", "C:\\x"),
        ("\"\\", r#""\"\\""#),
        ("a\tb", r#""a\tb""#),
        ("\0\u{1}\u{7f}\u{85}\u{a0}\u{2028}\u{feff}", r#""\0\x01\x7F\x85\xA0\u2028\uFEFF""#),
        ("주문 🙂", "\"주문 🙂\""),
    ] {
        assert_eq!(scalar(text), written);
    }
}

#[test]
fn a_text_of_several_lines_is_a_block_where_yaml_can_hold_it() {
    for (text, written) in [
        ("a\nb\n", "|\n  a\n  b"),
        ("a\nb", "|-\n  a\n  b"),
        ("a\n\n\n", "|+\n  a\n\n"),
        ("\n\na\n", "|\n\n\n  a"),
        ("a \n\n  b\n", "|\n  a \n\n    b"),
        ("a\n\tb\t\n", "|\n  a\n  \tb\t"),
        ("a\n  ", "|-\n  a\n    "),
        ("# a\n---\n", "|\n  # a\n  ---"),
        ("한\n글\n", "|\n  한\n  글"),
        // Here the first line would set the indentation wrong, or the block cannot hold the character.
        (" a\nb\n", "\" a\\nb\\n\""),
        ("\ta\nb\n", "\"\\ta\\nb\\n\""),
        ("\n a\n", "\"\\n a\\n\""),
        ("\n\n", "\"\\n\\n\""),
        ("a\r\nb\n", "\"a\\r\\nb\\n\""),
        ("a\n\u{85}\n", "\"a\\n\\x85\\n\""),
    ] {
        assert_eq!(scalar(text), written);
    }
}

#[test]
fn a_number_has_one_spelling() {
    for (number, written) in [
        (json!(8.0), "8\n"),
        (json!(-0.0), "0\n"),
        (json!(1e20), "1e20\n"),
        (json!(18446744073709551.15), "18446744073709550\n"),
        (json!(0.00001), "0.00001\n"),
        (json!(1.5e300), "1.5e300\n"),
        (json!(1.5), "1.5\n"),
        (json!(i64::MIN), "-9223372036854775808\n"),
        (json!(1e-7), "1e-7\n"),
    ] {
        assert_eq!(write(&number), written);
    }
}

#[test]
fn a_stream_has_a_separator_between_documents_and_none_before() {
    let mut out = String::new();
    write_stream(&mut out, &[json!({"a": "x\n\n"}), json!({"b": 1})]);
    assert_eq!(out, "a: |+\n  x\n\n---\nb: 1\n");
    assert_eq!(read(&out), [json!({"a": "x\n\n"}), json!({"b": 1})]);
    out.clear();
    write_stream(&mut out, &[]);
    assert_eq!(out, "");
}

/// A key whose colon comes later than 1,024 characters is refused by every reader.
#[test]
fn a_very_long_key_is_written_with_a_question_mark() {
    let value = json!({"a": {"k".repeat(1100): {"b": ["x"]}, "\u{1}".repeat(300): 1}});
    assert_eq!(read(&write(&value)), [value]);
}

/// `yaml_serde` reads YAML 1.2: a second opinion on everything that both versions read alike.
fn second_reader(text: &str) -> Value {
    yaml_serde::from_str(text).unwrap_or_else(|error| panic!("{error}: {text:?}"))
}

#[test]
fn every_tricky_string_comes_back_in_every_place() {
    for text in strings() {
        let value = json!({
            "value": text, text.clone(): "key", "items": [text, [text], {text.clone(): {text.clone(): text}}],
            "env": [{"name": "A", "value": text}, {"name": text, "value": "x"}], "last": text,
        });
        let written = write(&value);
        assert_eq!(read(&written), std::slice::from_ref(&value), "{written}");
        assert_eq!(second_reader(&written), value, "{written}");
        assert_eq!(read(&write(&json!(text))), [json!(text)]);
    }
}

proptest! {
    #[test]
    fn any_value_comes_back(value in any_value()) {
        let written = write(&value);
        let documents = if value.is_null() { vec![] } else { vec![value.clone()] };
        prop_assert_eq!(read(&written), documents, "{}", written);
        prop_assert_eq!(second_reader(&written), value, "{}", written);
    }

    /// The order of the keys in the value changes nothing, and writing what was read changes nothing.
    #[test]
    fn the_bytes_depend_on_the_value_alone(value in any_value()) {
        let written = write(&value);
        prop_assert_eq!(&written, &write(&reversed(&value)));
        let (documents, _) = read_stream(&written, &Limits::default());
        for document in documents {
            prop_assert_eq!(write(&document.root.to_json()), &written[..]);
        }
    }

    /// JSON is printed in the order of the YAML.
    #[test]
    fn sorted_keys_are_in_the_order_of_the_text(value in any_value()) {
        for document in read_stream(&write(&value), &Limits::default()).0 {
            let read = document.root.to_json();
            let mut sorted = reversed(&read);
            sort_keys(&mut sorted);
            prop_assert_eq!(sorted.to_string(), read.to_string());
        }
    }

    #[test]
    fn a_line_ends_in_a_blank_only_inside_a_block(value in any_value()) {
        for line in write(&value).lines() {
            prop_assert!(!line.ends_with([' ', '\t']) || line.starts_with("  "), "{:?}", line);
            prop_assert!(!line.ends_with(": ") && !line.ends_with("- "), "{:?}", line);
        }
    }
}

/// Types go into the text without a Value in between, whatever the order of their fields.
#[test]
fn what_serialises_is_written_as_its_value() {
    #[derive(serde::Serialize)]
    #[serde(rename_all = "camelCase")]
    struct Object {
        spec: Spec,
        metadata: BTreeMap<&'static str, &'static str>,
        kind: Kind,
    }
    #[derive(serde::Serialize)]
    enum Kind {
        Database,
        Of(u8),
    }
    #[derive(serde::Serialize)]
    struct Spec {
        z: Option<(i8, f32)>,
        a: (),
        by_number: BTreeMap<u16, char>,
        items: Vec<Item>,
        empty: Vec<Item>,
        kind: Kind,
    }
    #[derive(serde::Serialize)]
    struct Item {
        args: [&'static str; 2],
        name: &'static str,
    }
    let object = Object {
        spec: Spec {
            z: Some((-1, 1.5)),
            a: (),
            by_number: BTreeMap::from([(16, 'y'), (9, 'x')]),
            items: vec![Item { args: ["a\nb\n", ""], name: "first" }, Item { args: ["--x", "on"], name: "second" }],
            empty: Vec::new(),
            kind: Kind::Of(1),
        },
        metadata: BTreeMap::from([("name", "x")]),
        kind: Kind::Database,
    };
    let mut written = String::new();
    write_object(&mut written, &object).unwrap();
    assert_eq!(written, write(&serde_json::to_value(&object).unwrap()));
    assert!(written.starts_with("kind: Database\nmetadata:\n  name: x\nspec:\n  a: null\n"), "{written}");
}

#[test]
fn what_yaml_cannot_hold_is_refused() {
    let refused = |object: &dyn Fn(&mut String) -> Result<(), crate::yaml::Unwritable>| {
        object(&mut String::new()).unwrap_err().to_string()
    };
    assert_eq!(refused(&|out| write_object(out, &[f64::NAN])), "the number NaN");
    assert_eq!(refused(&|out| write_object(out, &BTreeMap::from([([1], 1)]))), "a key that is no text");
}

fn reversed(value: &Value) -> Value {
    match value {
        Value::Array(items) => items.iter().map(reversed).collect(),
        Value::Object(map) => {
            Value::Object(map.iter().rev().map(|(key, value)| (key.clone(), reversed(value))).collect())
        }
        _ => value.clone(),
    }
}
