//! YAML: documents that we write, and documents that others wrote.

use dbrender::yaml::{Document, Limits, ReadError, read_stream, write_document, write_stream};
use serde_json::{Map, Value, json};

use crate::oracle::{Answer, Random, ask, number};

fn strings() -> Vec<String> {
    lines(include_str!("cases/strings.txt")).map(|(_, text)| text).collect()
}

/// The JSON strings of a file of cases, each with the mark that stands before it.
fn lines(file: &str) -> impl Iterator<Item = (&str, String)> {
    file.lines().filter(|line| !line.is_empty() && !line.starts_with('#')).map(|line| {
        let (mark, text) = line.split_at(line.find('"').unwrap());
        (mark.trim(), serde_json::from_str(text).unwrap())
    })
}

fn write(value: &Value) -> String {
    let mut out = String::new();
    write_document(&mut out, value);
    out
}

fn read(text: &str) -> (Vec<Value>, Vec<ReadError>) {
    let (documents, errors) = read_stream(text, &Limits::default());
    (documents.iter().map(|document: &Document| document.root.to_json()).collect(), errors)
}

/// Every place where a string may stand.
fn places(text: &str) -> Vec<Value> {
    vec![
        json!({"metadata": {"annotations": {"a": text, "b": "x"}}}),
        json!({"data": {text: "x", "zzz": "y"}}),
        json!({"data": {text: {"deep": text}}}),
        json!({"items": [text, "x"]}),
        json!({"env": [{"name": "A", "value": text}, {"name": text, "value": "x"}]}),
        json!({"lists": [[text, text], [[text]], []], "last": text}),
        json!(text),
    ]
}

/// Writes every value, lets Kubernetes read it, and ourselves. Panics with what differs.
fn assert_written_is_read(values: &[Value]) {
    let texts: Vec<String> = values.iter().map(write).collect();
    let answers = ask(texts.iter().map(|text| ("yaml", text.as_bytes())));
    let mut wrong = Vec::new();
    for ((value, text), answer) in values.iter().zip(&texts).zip(answers) {
        let value = normal(value);
        if answer != Answer::Read(value.clone()) {
            wrong.push(format!("Kubernetes reads {text:?} as {answer:?}"));
        }
        let (documents, errors) = read(text);
        if documents != std::slice::from_ref(&value) || !errors.is_empty() {
            wrong.push(format!("we read {text:?} as {documents:?} {errors:?}"));
        }
        if text.lines().any(|line| line.ends_with(' ')) && !holds_trailing_blank(&value) {
            wrong.push(format!("a blank at the end of a line of {text:?}"));
        }
    }
    println!("{} documents written, {} read back with another value", values.len(), wrong.len());
    assert!(wrong.is_empty(), "{} wrong, the first of them:\n{}", wrong.len(), wrong[..wrong.len().min(60)].join("\n"));
}

fn holds_trailing_blank(value: &Value) -> bool {
    match value {
        Value::String(text) => text.contains(" \n") || text.ends_with(' '),
        Value::Array(items) => items.iter().any(holds_trailing_blank),
        Value::Object(map) => map.values().any(holds_trailing_blank),
        _ => false,
    }
}

#[test]
fn kubernetes_reads_every_tricky_string_as_it_was_written() {
    let values: Vec<Value> = strings().iter().flat_map(|text| places(text)).collect();
    assert!(values.len() > 3000, "strings.txt is there");
    assert_written_is_read(&values);
}

#[test]
fn kubernetes_reads_random_strings_as_they_were_written() {
    let mut random = Random::new(1);
    let values: Vec<Value> =
        (0..number("DBRENDER_ROUNDS", 4_000)).flat_map(|_| places(&random_string(&mut random))).collect();
    assert_written_is_read(&values);
}

#[test]
fn kubernetes_reads_random_structures_as_they_were_written() {
    let mut random = Random::new(2);
    let strings = strings();
    let values: Vec<Value> = (0..number("DBRENDER_ROUNDS", 8_000))
        .map(|_| random_value(&mut random, &strings, 4))
        .filter(|value| !value.is_null())
        .collect();
    assert_written_is_read(&values);
}

#[test]
fn kubernetes_reads_a_stream_of_documents_as_it_was_written() {
    let mut random = Random::new(3);
    let strings = strings();
    let mut texts = Vec::new();
    let mut streams = Vec::new();
    for _ in 0..2_000 {
        let stream: Vec<Value> = (0..=random.below(4))
            .map(|_| json!({"kind": random_value(&mut random, &strings, 2), "a": strings[random.below(strings.len())]}))
            .collect();
        let mut text = String::new();
        write_stream(&mut text, &stream);
        texts.push(text);
        streams.push(normal(&Value::Array(stream)));
    }
    for (stream, answer) in streams.into_iter().zip(ask(texts.iter().map(|text| ("stream", text.as_bytes())))) {
        assert_eq!(answer, Answer::Read(stream));
    }
}

/// How our reading of a text compares with that of Kubernetes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Same,
    /// Another value, in silence.
    Wrong,
    /// We read what Kubernetes refuses.
    Lenient,
    /// We refuse what Kubernetes reads.
    Strict,
}

fn compare(text: &str, answer: &Answer) -> Verdict {
    let (documents, errors) = read(text);
    match (answer, errors.is_empty()) {
        (Answer::Read(Value::Array(theirs)), true) if theirs.iter().map(normal).eq(documents.iter().map(normal)) => {
            Verdict::Same
        }
        (Answer::Read(_), true) => Verdict::Wrong,
        (Answer::Refused(_), false) => Verdict::Same,
        (Answer::Refused(_), true) => Verdict::Lenient,
        (Answer::Read(_), false) => Verdict::Strict,
    }
}

/// Numbers as the API server keeps them: whole ones of 64 bits, else floats.
fn normal(value: &Value) -> Value {
    match value {
        Value::Number(number) if number.as_i64().is_none() => {
            let float = number.as_f64().unwrap();
            // Go prints the least digits that tell the float from its neighbours, and Rust does too.
            format!("{float}").parse::<i64>().map_or(json!(float), |whole| json!(whole))
        }
        Value::Array(items) => items.iter().map(normal).collect(),
        Value::Object(map) => Value::Object(map.iter().map(|(key, value)| (key.clone(), normal(value))).collect()),
        _ => value.clone(),
    }
}

/// `documents.txt`: no mark means the same answer; `strict` that we refuse on purpose what Kubernetes reads.
#[test]
fn known_documents_are_read_as_kubernetes_reads_them() {
    let cases: Vec<(&str, String)> = lines(include_str!("cases/documents.txt")).collect();
    let answers = ask(cases.iter().map(|(_, text)| ("stream", text.as_bytes())));
    let mut wrong = Vec::new();
    for ((mark, text), answer) in cases.iter().zip(answers) {
        let expected = match *mark {
            "" => Verdict::Same,
            "strict" => Verdict::Strict,
            other => panic!("unknown mark {other}"),
        };
        let verdict = compare(text, &answer);
        if verdict != expected {
            wrong.push(format!(
                "{verdict:?}, not {expected:?}: {text:?}\n  Kubernetes {answer:?}\n  we {:?}",
                read(text)
            ));
        }
    }
    println!("{} documents compared", cases.len());
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), cases.len(), wrong.join("\n"));
}

/// `answers.jsonl` says what Kubernetes reads, for the tests that run without it (`src/yaml/tests`). Written again with
/// `DBRENDER_BLESS=1`.
#[test]
fn the_recorded_answers_are_those_of_kubernetes() {
    let plain = strings().into_iter().filter(|text| !text.contains(['\n', '\r'])).map(|text| format!("k: {text}\n"));
    let texts: Vec<String> = lines(include_str!("cases/documents.txt")).map(|(_, text)| text).chain(plain).collect();
    let mut record = String::new();
    for (text, answer) in texts.iter().zip(ask(texts.iter().map(|text| ("stream", text.as_bytes())))) {
        let documents = match answer {
            Answer::Read(documents) => documents,
            Answer::Refused(_) => Value::Null,
        };
        record.push_str(&json!({"text": text, "documents": documents}).to_string());
        record.push('\n');
    }
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/kubernetes_reads/cases/answers.jsonl");
    if std::env::var_os("DBRENDER_BLESS").is_some() {
        std::fs::write(path, &record).unwrap();
    }
    assert!(
        std::fs::read_to_string(path).unwrap() == record,
        "run again with DBRENDER_BLESS=1 and look at the changes"
    );
}

/// Every tricky string that is one line, as it stands: as a value, a key, an item, inside brackets.
#[test]
fn bare_scalars_are_read_as_kubernetes_reads_them() {
    let texts: Vec<String> = strings()
        .iter()
        .filter(|text| !text.contains(['\n', '\r']))
        .flat_map(|text| {
            [
                format!("k: {text}\n"),
                format!("{text}: v\n"),
                format!("- {text}\n"),
                format!("k: [{text}]\n"),
                format!("k: {{{text}: {text}}}\n"),
                format!("{text}\n"),
                format!("k: !!str {text}\n"),
                format!("k: !!int {text}\n"),
                format!("k: !!float {text}\n"),
                format!("k: \"{text}\"\n"),
                format!("k: '{text}'\n"),
                format!("k: |\n  {text}\n"),
                format!("k: >\n {text}\n {text}\n"),
                format!("a: &a {text}\nb: *a\n"),
            ]
        })
        .collect();
    summarise(&texts, "bare", "");
}

#[test]
fn damaged_manifests_are_read_as_kubernetes_reads_them() {
    let mut random = Random::new(number("DBRENDER_SEED", 4));
    for base in
        [include_str!("cases/manifest.yaml"), include_str!("cases/odd.yaml"), include_str!("cases/objects.json")]
    {
        let texts: Vec<String> = (0..number("DBRENDER_ROUNDS", 2_000)).map(|_| damage(base, &mut random)).collect();
        summarise(&texts, "damaged", base);
    }
}

/// Texts made of the pieces of YAML in no good order.
#[test]
fn heaps_of_yaml_are_read_as_kubernetes_reads_them() {
    const PIECES: [&str; 72] = [
        "a", "b", "key", "1", "yes", "\"q\"", "'s'", "~", "<<", "é", "0x1", "-1", "a b", "a: ", "b: ", "k:", ": ", ":",
        "? ", "?", "- ", "-", "- - ", "[", "]", "{", "}", ", ", ",", "&a ", "&b ", "*a", "*b ", "!!str ", "!!map ",
        "! ", "|", ">", "|-\n", "|+\n", ">-\n", "|2\n", "\n", "\n", "\n ", "\n  ", "\n    ", "\n- ", "\na: ",
        "\n  b: ", "\n  - ", "\n\n", "\t", "\n\t", " \t", " ", "  ", "#", " # c", "\n# c\n", "---", "\n---\n",
        "\n...\n", "...", "\r\n", "\"", "'", "\\", "\\n", "%", "@", "<<: ",
    ];
    let mut random = Random::new(number("DBRENDER_SEED", 5));
    let texts: Vec<String> = (0..number("DBRENDER_ROUNDS", 2_000) * 5)
        .map(|_| (0..=random.below(14)).map(|_| PIECES[random.below(PIECES.len())]).collect())
        .collect();
    summarise(&texts, "heaps", "");
}

/// Never another value, never something that Kubernetes refuses.
fn summarise(texts: &[String], what: &str, base: &str) {
    let answers = ask(texts.iter().map(|text| ("stream", text.as_bytes())));
    let mut count = [0; 4];
    let mut wrong = Vec::new();
    for (text, answer) in texts.iter().zip(answers) {
        let verdict = compare(text, &answer);
        count[verdict as usize] += 1;
        if matches!(verdict, Verdict::Wrong | Verdict::Lenient) {
            wrong.push(report(verdict, text, &answer, base));
        }
        if verdict == Verdict::Strict && std::env::var_os("DBRENDER_SHOW_STRICT").is_some() {
            println!("{}", report(verdict, text, &answer, base));
        }
    }
    wrong.sort_by_key(String::len);
    let [same, other, lenient, strict] = count;
    println!("{what}: {} texts, {same} same, {other} wrong, {lenient} lenient, {strict} strict", texts.len());
    assert!(wrong.is_empty(), "{} wrong, the first of them:\n{}", wrong.len(), wrong[..wrong.len().min(60)].join("\n"));
}

/// What differs, without the parts of the text that are not damaged.
fn report(verdict: Verdict, text: &str, answer: &Answer, base: &str) -> String {
    let changed: Vec<&str> = text.split('\n').filter(|line| !base.split('\n').any(|kept| kept == *line)).collect();
    let (documents, errors) = read(text);
    let ours = match errors.first() {
        Some(error) => format!("{error:?}"),
        None => format!("{}", Value::Array(documents)),
    };
    let theirs = match answer {
        Answer::Read(value) => value.to_string(),
        Answer::Refused(error) => error.clone(),
    };
    let same = ours.bytes().zip(theirs.bytes()).take_while(|(a, b)| a == b).count();
    let from = (0..=same.saturating_sub(30))
        .rev()
        .find(|at| ours.is_char_boundary(*at) && theirs.is_char_boundary(*at))
        .unwrap_or(0);
    let cut = |text: &str| text[from..].chars().take(120).collect::<String>();
    format!("{verdict:?}: {changed:?}\n  Kubernetes: {}\n  we:         {}", cut(&theirs), cut(&ours))
}

fn damage(base: &str, random: &mut Random) -> String {
    const PIECES: [&str; 40] = [
        ":", "-", " ", "  ", "\n", "\t", "#", "\"", "'", "{", "}", "[", "]", ",", "|", ">", "&a ", "*a", "!", "%", "@",
        "?", "~", "yes", "0x1F", "1_000", "010", "- ", ": ", " #", "\u{85}", "\u{a0}", "\u{feff}", "\r\n", "---\n",
        "...\n", "<<: ", "\\", "null", "é",
    ];
    let mut text: Vec<char> = base.chars().collect();
    for _ in 0..=random.below(3) {
        let at = random.below(text.len());
        match random.below(5) {
            0 => {
                text.remove(at);
            }
            1 => {
                let end = (at + 1 + random.below(8)).min(text.len());
                text.drain(at..end);
            }
            2 => {
                let other = random.below(text.len());
                text.swap(at, other);
            }
            _ => {
                let piece = PIECES[random.below(PIECES.len())];
                text.splice(at..at, piece.chars());
            }
        }
    }
    text.into_iter().collect()
}

fn random_string(random: &mut Random) -> String {
    const ALPHABET: &str = "aabcyYnNoOeExX0011279__..--++::  ##\n\n\n\t\t''\"\"\\{}[],&*!|>%@`?=~<$/()é한\u{1}\u{7f}\u{85}\u{a0}\u{2028}\u{feff}\r🙂";
    let alphabet: Vec<char> = ALPHABET.chars().collect();
    (0..random.below(9)).map(|_| alphabet[random.below(alphabet.len())]).collect()
}

fn random_value(random: &mut Random, strings: &[String], depth: usize) -> Value {
    match random.below(if depth == 0 { 5 } else { 9 }) {
        0 => Value::Null,
        1 => json!(random.below(2) == 0),
        2 => json!(random.next() as i64 >> random.below(64)),
        3 => json!(f64::from_bits(random.next())),
        4 => json!(strings[random.below(strings.len())]),
        5 | 6 => (0..random.below(4)).map(|_| random_value(random, strings, depth - 1)).collect(),
        _ => {
            let entry = |random: &mut Random| {
                (strings[random.below(strings.len())].clone(), random_value(random, strings, depth - 1))
            };
            Value::Object((0..random.below(5)).map(|_| entry(random)).collect::<Map<_, _>>())
        }
    }
}
