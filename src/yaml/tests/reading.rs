use proptest::prelude::*;
use serde_json::{Value, json};

use super::super::{Kind, Limits, Node, Step, decode, read_stream};
use super::{any_string, problems, read};

/// What Kubernetes made of each text, taken from it by `tests/kubernetes_reads`.
#[test]
fn texts_are_read_as_kubernetes_has_read_them() {
    let mut compared = 0;
    for line in include_str!("../../../tests/kubernetes_reads/cases/answers.jsonl").lines() {
        let (documents, errors) = read_stream(line, &Limits::default());
        assert_eq!(errors, []);
        let case = documents[0].root.to_json();
        let (text, theirs) = (case["text"].as_str().unwrap(), &case["documents"]);
        let (documents, errors) = read_stream(text, &Limits::default());
        // Where we refuse on purpose what Kubernetes reads, `documents.txt` says so.
        if errors.is_empty() {
            let ours: Value = documents.iter().map(|document| document.root.to_json()).collect();
            assert_eq!(&ours, theirs, "{text:?}");
            compared += 1;
        }
    }
    assert!(compared > 450, "{compared}");
}

const TEXT: &str = "# 주문
kind: 데이터베이스  # a comment
spec:
  version: '16'
  sizes:
  - 10Gi
  -   big: true
      none:
  flow: {a: [1, \"x\"]}
  script: |
    set -eu

    exit
  alias: &a {q: 1}
  same: *a
---
second: 1
";

#[test]
fn every_value_knows_its_place() {
    let (documents, errors) = read_stream(TEXT, &Limits::default());
    assert_eq!(errors, []);
    assert_eq!(&TEXT[documents[1].span.clone()], "second: 1\n");
    let root = &documents[0].root;
    let spec = Step::Key("spec");
    for (path, text) in [
        (&[Step::Key("kind")][..], "데이터베이스"),
        (&[spec, Step::Key("version")], "'16'"),
        (&[spec, Step::Key("sizes")], "- 10Gi\n  -   big: true\n      none"),
        (&[spec, Step::Key("sizes"), Step::Index(0)], "10Gi"),
        (&[spec, Step::Key("sizes"), Step::Index(1)], "big: true\n      none"),
        (&[spec, Step::Key("sizes"), Step::Index(1), Step::Key("big")], "true"),
        (&[spec, Step::Key("sizes"), Step::Index(1), Step::Key("none")], ""),
        (&[spec, Step::Key("flow")], "{a: [1, \"x\"]}"),
        (&[spec, Step::Key("flow"), Step::Key("a"), Step::Index(1)], "\"x\""),
        (&[spec, Step::Key("script")], "set -eu\n\n    exit"),
        (&[spec, Step::Key("same")], "*a"),
        (&[spec, Step::Key("same"), Step::Key("q")], "1"),
    ] {
        let node = root.find(path).unwrap();
        assert_eq!(&TEXT[node.span.clone()], text, "{path:?}");
    }
    let version = root.get("spec").unwrap().entry("version").unwrap();
    assert_eq!(&TEXT[version.key.span.clone()], "version");
    assert!(TEXT[root.span.clone()].starts_with("kind:") && TEXT[root.span.clone()].ends_with("*a"));
}

#[test]
fn the_nearest_value_is_found_where_the_path_breaks_off() {
    let (documents, _) = read_stream(TEXT, &Limits::default());
    let path = [Step::Key("spec"), Step::Key("sizes"), Step::Index(7), Step::Key("x")];
    let (node, steps) = documents[0].root.nearest(&path);
    assert_eq!((node.items().len(), steps), (2, 2));
    assert_eq!(documents[0].root.find(&path), None);
}

#[test]
fn a_byte_order_mark_shifts_no_place() {
    let bytes = "\u{feff}a: b\n".as_bytes();
    let text = decode(bytes).unwrap();
    let (documents, errors) = read_stream(text, &Limits::default());
    assert_eq!(errors, []);
    let node = documents[0].root.get("a").unwrap();
    assert_eq!(node.span, 6..7);
    assert_eq!(&bytes[node.span.clone()], b"b");
}

#[test]
fn what_is_not_utf8_is_refused_with_its_place() {
    for (bytes, message, span) in [
        (&b"a: b\xff\n"[..], "byte 4 of the file is not UTF-8 (0xFF)", 4..5),
        (b"a: \xe2\x82", "byte 3 of the file is not UTF-8 (0xE2)", 3..5),
        (b"\xff\xfea\0", "the file is UTF-16, not UTF-8", 0..2),
        (b"\xfe\xff\0a", "the file is UTF-16, not UTF-8", 0..2),
        (b"\xff\xfe\0\0", "the file is UTF-32, not UTF-8", 0..4),
    ] {
        let error = decode(bytes).unwrap_err();
        assert_eq!((error.message.as_str(), error.span), (message, span));
    }
    assert_eq!(decode(b""), Ok(""));
}

/// One broken document does not hide the others, nor their problems.
#[test]
fn documents_that_can_be_read_stand_beside_the_problems_of_the_others() {
    let text = "a: 1\n---\nb: [\n---\nc: 3\n---\nd: {\n----\ne: 5\n--- {f: 6}\n---\n";
    let (documents, errors) = read_stream(text, &Limits::default());
    let values: Vec<Value> = documents.iter().map(|document| document.root.to_json()).collect();
    assert_eq!(values, [json!({"a": 1}), json!({"c": 3}), json!({"e": 5}), json!({"f": 6})]);
    assert_eq!(errors.len(), 4, "{errors:#?}");
}

#[test]
fn duplicate_keys_are_both_in_the_tree_and_the_last_one_counts() {
    let (documents, errors) = read_stream("a: 1\nb: 2\n'a': 3\n", &Limits::default());
    assert_eq!(errors, []);
    let keys: Vec<(&str, usize)> =
        documents[0].root.entries().iter().map(|entry| (&*entry.key.text, entry.key.span.start)).collect();
    assert_eq!(keys, [("a", 0), ("b", 5), ("a", 10)]);
    assert_eq!(documents[0].root.get("a").unwrap().kind, Kind::Number(3.into()));
    // A merged key that is written out as well is no duplicate.
    let (documents, _) = read_stream("p: &p {a: 1, b: 2}\nq: {<<: *p, a: 3}\n", &Limits::default());
    assert_eq!(documents[0].root.get("q").unwrap().entries().len(), 2);
}

#[test]
fn json_objects_after_each_other_are_documents() {
    assert_eq!(read("{\"a\": \"\\/\"}\n{\"b\": [1, 2.0, -0]}"), [json!({"a": "/"}), json!({"b": [1, 2, 0]})]);
    assert_eq!(read("{\"a\": 1}\n---\nb: 2\n"), [json!({"a": 1}), json!({"b": 2})]);
    assert_eq!(problems("{\"a\": 1}{\"b\": 2}{\"c\": }").len(), 1);
}

fn in_order(node: &Node, text: &str) {
    assert!(text.get(node.span.clone()).is_some(), "{:?} of {text:?}", node.span);
    for entry in node.entries() {
        assert!(text.get(entry.key.span.clone()).is_some());
        in_order(&entry.value, text);
    }
    node.items().iter().for_each(|item| in_order(item, text));
}

fn any_text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        any_string(),
        proptest::sample::select(vec![
            "a: ",
            "- ",
            "\n",
            "\n  ",
            "---\n",
            "--- ",
            "...\n",
            "? ",
            ": ",
            "&a ",
            "*a",
            "!!str ",
            "!x ",
            "{",
            "}",
            "[",
            "]",
            ", ",
            "|\n",
            ">-\n",
            "'",
            "\"",
            "<<: ",
            "\\u",
            "\\",
            "\t",
            "\r\n",
            "\u{feff}",
            "{\"a\": ",
            "%",
            "#",
            " #",
            "{{",
            "<<<<<<< x\n",
        ])
        .prop_map(str::to_owned),
    ];
    proptest::collection::vec(piece, 0..30).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn any_text_ends_with_documents_or_problems_whose_places_are_in_it(text in any_text()) {
        let (documents, errors) = read_stream(&text, &Limits::default());
        for document in &documents {
            in_order(&document.root, &text);
            prop_assert!(text.get(document.span.clone()).is_some());
        }
        for error in errors {
            prop_assert!(text.get(error.span.clone()).is_some(), "{:?}", error);
            prop_assert!(!error.message.is_empty() && !error.message.ends_with('.'));
        }
    }

    #[test]
    fn any_bytes_are_text_or_a_problem(bytes in proptest::collection::vec(any::<u8>(), 0..40)) {
        match decode(&bytes) {
            Ok(text) => prop_assert_eq!(text.as_bytes(), &bytes[..]),
            Err(error) => prop_assert!(error.span.end <= bytes.len()),
        }
    }
}
