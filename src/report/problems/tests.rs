//! One set of problems in all forms.

use serde_json::Value;

use super::{github, json, sarif, text};
use crate::input::Source;
use crate::problem::{Code, FieldPath, Place, Problem, Problems};

fn sources() -> Vec<Source> {
    let text =
        "# 복제본\nspec: # 주석\n  이름: 값 # 🙂\n  replicas: 9\n\n  long: ".to_owned() + &"한".repeat(1000) + " END\n";
    vec![Source { name: "a,b%c.yaml".to_owned(), text }]
}

fn at(sources: &[Source], word: &str) -> Place {
    let start = sources[0].text.find(word).expect("the word stands in the text");
    Place { source: 0, span: start..start + word.len(), absent: false }
}

fn problems(sources: &[Source]) -> Problems {
    let mut with_subject = Problem::new(Code::NoBackups, FieldPath::of("spec.backup"), "no backups");
    with_subject.subject = Some("demo/shop".to_owned());
    [
        Problem::new(Code::OutOfRange, FieldPath::of("spec.replicas"), "replicas must be between 1 and 7, found 9")
            .with_hint("use 7")
            .at(at(sources, "9")),
        Problem::new(Code::WrongType, FieldPath::of("spec.이름"), "wrong\u{1b}[31m word\nand 100%")
            .at(at(sources, "값"))
            .and(at(sources, "spec"), "in here"),
        Problem::new(Code::MissingField, FieldPath::of("spec.engine"), "spec.engine is missing")
            .at(Place { absent: true, ..at(sources, "spec") }),
        Problem::new(Code::Syntax, FieldPath::root(), "far to the right").at(at(sources, "END")),
        with_subject,
    ]
    .into_iter()
    .collect()
}

#[test]
fn for_people() {
    let sources = sources();
    let found = text(&problems(&sources), &sources, false);
    let expected = "\
error[DBR206]: replicas must be between 1 and 7, found 9
 --> a,b%c.yaml:4:13
  |
4 |   replicas: 9
  |             ^
  |
  = hint: use 7

error[DBR203]: wrong\\u{1b}[31m word\\nand 100%
 --> a,b%c.yaml:3:7
  |
3 |   이름: 값 # 🙂
  |         ^^
  |
 ::: a,b%c.yaml:2:1
  |
2 | spec: # 주석
  | ---- in here
  |
  = hint: write the value in the type that the field has; quote text that looks like a number

error[DBR204]: spec.engine is missing
 --> a,b%c.yaml:2:1
  |
2 | spec: # 주석
  | ^^^^ missing in here
  |
  = hint: add the field to the marked object

";
    assert!(found.starts_with(expected), "{found}");
    assert!(found.contains("--> a,b%c.yaml:6:1010\n"), "{found}");
    assert!(found.lines().all(|line| line.chars().count() < 200), "{found}");
    assert!(found.contains("한 END\n") && found.contains("…"), "{found}");
    assert!(
        found.ends_with(
            "warning[DBR347]: demo/shop: no backups\n |\n = hint: enable backups, or keep the warning in mind\n\n"
        ),
        "{found}"
    );
    assert!(text(&problems(&sources), &sources, true).contains("\u{1b}["));
    assert_eq!(text(&Problems::new(), &sources, false), "");
}

#[test]
fn for_programs() {
    let sources = sources();
    let found: Value = serde_json::from_str(&json(&problems(&sources), &sources)).expect("it is JSON");
    assert_eq!(found["schemaVersion"], "dbrender.problems/v1");
    let place = |index: usize| &found["problems"][index]["place"];
    assert_eq!(place(1)["line"], 3);
    assert_eq!((place(1)["column"].as_u64(), place(1)["endColumn"].as_u64()), (Some(7), Some(8)));
    assert_eq!(place(2)["absent"], true);
    assert_eq!(place(4), &Value::Null);
    assert_eq!(found["problems"][1]["related"][0]["label"], "in here");
    assert_eq!(found["problems"][4]["severity"], "warning");
    assert_eq!(found["problems"][4]["name"], "NoBackups");
}

#[test]
fn for_github() {
    let sources = sources();
    let found = github(&problems(&sources), &sources);
    let lines: Vec<&str> = found.lines().collect();
    assert_eq!(lines.len(), 5);
    assert_eq!(
        lines[0],
        "::error file=a%2Cb%25c.yaml,line=4,endLine=4,col=13,endColumn=14,title=DBR206 a number is outside its range::replicas must be between 1 and 7, found 9%0Ahint: use 7"
    );
    assert!(lines[1].contains("::wrong\\u{1b}[31m word\\nand 100%25%0Ahint: "), "{}", lines[1]);
    assert!(
        lines[4].starts_with("::warning title=DBR347 a Database has no backups::demo/shop: no backups%0A"),
        "{}",
        lines[4]
    );
}

#[test]
fn for_code_scanning() {
    let sources = vec![Source { name: "x y.yaml".to_owned(), text: "🙂 값\n".to_owned() }];
    let all: Problems =
        [Problem::new(Code::WrongType, FieldPath::of("spec.x"), "m").at(at(&sources, "값"))].into_iter().collect();
    let found: Value = serde_json::from_str(&sarif(&all, &sources)).expect("it is JSON");
    let run = &found["runs"][0];
    assert_eq!(run["columnKind"], "utf16CodeUnits");
    let location = &run["results"][0]["locations"][0];
    assert_eq!(location["physicalLocation"]["region"]["startColumn"], 4);
    assert_eq!(location["physicalLocation"]["artifactLocation"]["uri"], "x%20y.yaml");
    assert_eq!(location["logicalLocations"][0]["fullyQualifiedName"], "spec.x");
    assert_eq!(
        (run["results"][0]["ruleIndex"].as_u64(), run["tool"]["driver"]["rules"][0]["id"].as_str()),
        (Some(0), Some("DBR203"))
    );
    // A log without results is refused by readers.
    let empty: Value = serde_json::from_str(&sarif(&Problems::new(), &sources)).expect("it is JSON");
    assert!(empty["runs"][0]["results"].as_array().is_some_and(Vec::is_empty));
}
