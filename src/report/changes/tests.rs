//! All views of one report: the numbers agree, hostile text stays text, limits hold.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::diff::{
    Bucket, Change, ChangedBy, DatabaseReport, Impact, Notice, ObjectReport, Op, Origin, Report, SCHEMA_VERSION,
    Status, Summary,
};

use super::{MARKER, TextOptions, Totals, View, github, html, json as json_view, junit, markdown, sarif, text};

/// What a person with rights on the cluster could have written into it.
const HOSTILE: &str = "</code></pre><script>alert(1)</script> \u{1b}[2J \u{202e} ``` @team ::error::x %0A | ]]> & \"'";

fn change(path: &str, bucket: Bucket, live: Value, desired: Value, impact: Impact) -> Change {
    let op = match (&live, &desired) {
        (Value::Null, _) => Op::Add,
        (_, Value::Null) => Op::Remove,
        _ => Op::Replace,
    };
    Change {
        path: path.to_owned(),
        bucket,
        op,
        desired,
        live,
        impact,
        reason: format!("why it is {impact}").into(),
        field: None,
        changed_by: None,
        count: 1,
    }
}

fn object(kind: &str, name: &str, status: Status, impact: Impact, changes: Vec<Change>) -> ObjectReport {
    ObjectReport {
        api_version: "apps/v1".to_owned(),
        kind: kind.to_owned(),
        namespace: "production".to_owned(),
        name: name.to_owned(),
        status,
        reason: "".into(),
        impact,
        procedure: Vec::new(),
        changes,
    }
}

fn report(mut databases: Vec<DatabaseReport>, problems: Vec<Notice>) -> Report {
    let mut summary = Summary::default();
    let mut impact = Impact::None;
    for database in &mut databases {
        database.impact = database.objects.iter().map(|object| object.impact).max().unwrap_or_default();
        impact = impact.max(database.impact);
        database.objects.iter().for_each(|object| summary.count(object.status));
    }
    let complete = summary.unknown == 0 && !problems.iter().any(Notice::is_error);
    Report { schema_version: SCHEMA_VERSION, complete, impact, summary, problems, databases }
}

fn database(name: &str, objects: Vec<ObjectReport>) -> DatabaseReport {
    DatabaseReport {
        namespace: "production".to_owned(),
        name: name.to_owned(),
        engine: "postgresql".to_owned(),
        impact: Impact::None,
        origin: Some(Origin { file: format!("databases/{name}.yaml"), line: 3, column: 1 }),
        objects,
    }
}

/// Every status, every bucket, every class, and text that tries to be markup.
pub(super) fn sample() -> Report {
    let by = |subresource: Option<&str>| ChangedBy {
        manager: "kubectl-edit".to_owned(),
        operation: "Update".to_owned(),
        subresource: subresource.map(str::to_owned),
        time: Some("2026-03-01T10:00:00Z".to_owned()),
    };
    let mut replicas = change("/spec/replicas", Bucket::Drift, json!(5), json!(3), Impact::InPlace);
    (replicas.field, replicas.changed_by) = (Some("spec.replicas"), Some(by(Some("scale"))));
    let mut cpu = change(
        "/spec/template/spec/containers/[name=postgresql]/resources/limits/cpu",
        Bucket::Drift,
        json!("4"),
        json!("2"),
        Impact::RollingRestart,
    );
    (cpu.field, cpu.changed_by) = (Some("spec.resources.cpu"), Some(by(None)));
    let mut memory = cpu.clone();
    memory.path = cpu.path.replace("cpu", "memory");
    (memory.live, memory.desired) = (json!("8Gi"), json!("4Gi"));
    let mut ignored = change("/metadata/annotations", Bucket::Ignored, json!({"a": "b"}), Value::Null, Impact::None);
    (ignored.reason, ignored.count) = ("Argo CD's own bookkeeping".into(), 12);
    let label = change("/metadata/labels/team", Bucket::Foreign, json!(HOSTILE), Value::Null, Impact::None);
    let conf: String = (0..40).map(|n| format!("setting_{n} = {n}\n")).collect();
    let edited = conf.replace("setting_20 = 20", &format!("setting_20 = 2000 # {HOSTILE}"));
    let config = change("/data/postgresql.conf", Bucket::Drift, json!(edited), json!(conf), Impact::InPlace);
    let env = change(
        "/spec/template/spec/containers/[name=postgresql]/env/[name=TRUST]",
        Bucket::Drift,
        json!({"name": "TRUST", "value": HOSTILE, "more": "so long that it does not fit beside its path any more"}),
        Value::Null,
        Impact::RollingRestart,
    );
    let mut claim = object(
        "StatefulSet",
        "ledger",
        Status::Drifted,
        Impact::RecreateOrphan,
        vec![change(
            "/spec/volumeClaimTemplates/[name=data]/spec/resources/requests/storage",
            Bucket::Drift,
            json!("10Gi"),
            json!("20Gi"),
            Impact::RecreateOrphan,
        )],
    );
    claim.procedure = vec![
        "kubectl patch pvc -n production data-ledger-0 …".to_owned(),
        "kubectl delete sts -n production ledger --cascade=orphan".to_owned(),
    ];
    let mut forbidden = object("Secret", "ledger-app", Status::Forbidden, Impact::None, Vec::new());
    forbidden.reason = "forbidden: list secrets".into();
    let mut filled = object("Secret", "order-db-admin", Status::InSync, Impact::None, Vec::new());
    filled.reason = "not filled yet".into();
    let hidden = change("/data/username", Bucket::Drift, json!("(hidden)"), json!("(hidden)"), Impact::DataRisk);
    let none = change("/spec/minReadySeconds", Bucket::Drift, json!(0), json!(10), Impact::None);
    report(
        vec![
            database("calm", vec![object("Service", "calm", Status::InSync, Impact::None, Vec::new())]),
            database(
                "order-db",
                vec![
                    object("Service", "order-db", Status::InSync, Impact::None, vec![ignored, label]),
                    object("ConfigMap", "order-db-config", Status::Drifted, Impact::InPlace, vec![config]),
                    object(
                        "StatefulSet",
                        "order-db",
                        Status::Drifted,
                        Impact::RollingRestart,
                        vec![replicas, cpu, memory, env],
                    ),
                    object("PodDisruptionBudget", "order-db", Status::Missing, Impact::Metadata, Vec::new()),
                    filled,
                ],
            ),
            database(
                "ledger",
                vec![
                    claim,
                    forbidden,
                    object("Secret", "ledger-admin", Status::Drifted, Impact::DataRisk, vec![hidden]),
                    object("CronJob", "ledger-backup", Status::Orphaned, Impact::DataRisk, Vec::new()),
                    object("Job", "ledger-restore-abcde", Status::Orphaned, Impact::DataLoss, Vec::new()),
                    object("Role", "ledger", Status::Drifted, Impact::None, vec![none]),
                    object(
                        "PersistentVolumeClaim",
                        "ledger-backup",
                        Status::Drifted,
                        Impact::Migration,
                        vec![change(
                            "/spec/storageClassName",
                            Bucket::Drift,
                            json!("slow"),
                            json!("fast"),
                            Impact::Migration,
                        )],
                    ),
                    object("PersistentVolumeClaim", "data-ledger-3", Status::Retained, Impact::None, Vec::new()),
                    object("PodMonitor", "ledger", Status::Skipped, Impact::None, Vec::new()),
                    object("Job", "ledger-credentials-abcde", Status::Error, Impact::None, Vec::new()),
                ],
            ),
        ],
        vec![Notice {
            code: "DBR701".into(),
            severity: "error".into(),
            subject: Some("secrets in production".to_owned()),
            path: None,
            message: format!("not allowed to list secrets {HOSTILE}"),
            hint: "bind the role of `dbrender rbac viewer`".to_owned(),
            origin: None,
        }],
    )
}

/// As many Databases as a company has, all different.
fn fleet(databases: usize) -> Report {
    let conf: String = (0..30).map(|n| format!("setting_{n} = {n}\n")).collect();
    let many = (0..databases).map(|number| {
        let name = format!("db-{number:04}");
        let changes = vec![
            change("/data/a.conf", Bucket::Drift, json!(conf.replace('5', "x")), json!(conf), Impact::InPlace),
            change("/data/b.conf", Bucket::Drift, json!("a"), json!(HOSTILE), Impact::InPlace),
        ];
        database(&name, vec![object("ConfigMap", &name, Status::Drifted, Impact::InPlace, changes)])
    });
    report(many.collect(), Vec::new())
}

fn view() -> View<'static> {
    View {
        live: "live: context kind-test",
        desired: "desired: databases",
        now: Some(1_772_359_200 + 3 * 3600),
        place: &|database, field| {
            let origin = database.origin.clone()?;
            (field == "spec.replicas").then_some(Origin { line: 9, column: 13, ..origin })
        },
    }
}

const PLAIN: TextOptions = TextOptions { color: false, context: 3, ignored: false };

/// The numbers that stand in every view.
fn numbers(report: &Report) -> BTreeMap<&'static str, u64> {
    let Summary { in_sync, drifted, missing, orphaned, unknown, retained, skipped } = report.summary;
    BTreeMap::from([
        ("in sync", in_sync),
        ("drifted", drifted),
        ("missing", missing),
        ("orphaned", orphaned),
        ("unknown", unknown),
        ("retained", retained),
        ("skipped", skipped),
    ])
}

/// `2 drifted, 1 missing` anywhere in a text: the number before each word.
fn numbers_in(text: &str, words: &BTreeMap<&'static str, u64>) -> BTreeMap<&'static str, u64> {
    let before = |word: &str| {
        let start = text.find(&format!(" {word}"))?;
        let digits: Vec<char> = text[..start].chars().rev().take_while(char::is_ascii_digit).collect();
        digits.iter().rev().collect::<String>().parse().ok()
    };
    words.keys().map(|word| (*word, before(word).unwrap_or(0))).collect()
}

fn line_with<'a>(text: &'a str, word: &str) -> &'a str {
    text.lines().find(|line| line.contains(word)).unwrap_or_else(|| panic!("no line has {word:?}:\n{text}"))
}

/// RD-82 and the one rule of views: whichever of them a person reads, the numbers are the same.
#[test]
fn counts_agree_in_every_view() {
    let (report, view) = (sample(), view());
    let numbers = numbers(&report);
    let differing = report.summary.differences() as usize;
    let unknown = report.summary.unknown as usize;
    let objects = || report.databases.iter().flat_map(|database| &database.objects);
    let drift: usize = objects().flat_map(|o| &o.changes).filter(|c| c.bucket == Bucket::Drift).count();
    assert_eq!(Totals::of(&report).drift, drift as u64);
    assert_eq!(Totals::of(&report).ignored, 12);

    let text = text(&report, &view, PLAIN);
    assert_eq!(numbers_in(line_with(&text, " drifted, "), &numbers), numbers);
    let listed =
        |status: &str| text.lines().filter(|l| l.starts_with("  ") && l.contains(&format!("  {status}"))).count();
    for status in ["drifted", "missing", "orphaned", "retained", "skipped"] {
        assert_eq!(listed(status) as u64, numbers[status], "{status}\n{text}");
    }

    let markdown = markdown(&report, &view, 65_536, 3);
    assert_eq!(numbers_in(line_with(&markdown, " drifted, "), &numbers), numbers);
    assert_eq!(markdown.matches("\n@@ ").count(), drift + 1, "{drift} of drift, 1 foreign\n{markdown}");

    let html = html(&report, &view, 3);
    let in_html: BTreeMap<&str, u64> = numbers
        .keys()
        .map(|word| {
            let line = html.lines().find(|line| line.ends_with(&format!("</b>{word}</li>"))).unwrap();
            (*word, line.trim_start_matches(|c: char| !c.is_ascii_digit()).split('<').next().unwrap().parse().unwrap())
        })
        .collect();
    assert_eq!(in_html, numbers);
    for (status, number) in &numbers {
        let found = html.matches(&format!("data-status=\"{status}\"")).count() as u64;
        match *status {
            "in sync" | "unknown" => {}
            _ => assert_eq!(found, *number, "{status}"),
        }
    }

    let parsed: Value = serde_json::from_str(&json_view(&report)).unwrap();
    assert_eq!(parsed["summary"]["drifted"], numbers["drifted"]);
    assert_eq!(parsed["schemaVersion"], "dbrender.report/v1");

    let log: Value = serde_json::from_str(&sarif(&report, &view)).unwrap();
    let results = log["runs"][0]["results"].as_array().unwrap();
    let of = |rule: &str| results.iter().filter(|result| result["ruleId"] == rule).count() as u64;
    assert_eq!(
        (of("missing"), of("orphaned"), of("unknown")),
        (numbers["missing"], numbers["orphaned"], numbers["unknown"])
    );
    assert_eq!(results.len(), drift + (differing - report.summary.drifted as usize) + unknown);
    assert_eq!(log["runs"][0]["properties"]["summary"]["inSync"], numbers["in sync"]);

    let junit = junit(&report, &view);
    assert_eq!(junit.matches("<failure ").count(), differing);
    assert_eq!(junit.matches("<error ").count(), unknown + 1, "one of them is the problem of the run");
    assert_eq!(junit.matches("<skipped ").count() as u64, numbers["skipped"]);
    assert!(junit.contains(&format!("failures=\"{differing}\" errors=\"{}\"", unknown + 1)), "{junit}");

    let github = github(&report, &view);
    assert_eq!(numbers_in(line_with(&github, " drifted, "), &numbers), numbers);
    let annotations = github.lines().filter(|line| line.contains("file=")).count();
    let calm = (numbers["retained"] + numbers["skipped"]) as usize;
    assert_eq!(annotations, differing + unknown + calm);
}

#[test]
fn an_incomplete_report_says_so_in_every_view() {
    let (report, view) = (sample(), view());
    assert!(!report.complete);
    for (name, page) in [
        ("text", text(&report, &view, PLAIN)),
        ("markdown", markdown(&report, &view, 65_536, 3)),
        ("short markdown", markdown(&report, &view, 200, 3)),
        ("html", html(&report, &view, 3)),
        ("sarif", sarif(&report, &view)),
        ("github", github(&report, &view)),
    ] {
        assert!(page.contains("INCOMPLETE"), "{name}: {page}");
    }
    assert!(json_view(&report).contains("\"complete\": false"));
    assert!(junit(&report, &view).contains("<error "));
}

#[test]
fn what_others_wrote_stays_text() {
    let (report, view) = (sample(), view());
    let html = html(&report, &view, 3);
    assert!(!html.contains("<script"), "no script at all, not even an injected one");
    assert!(!html.contains("</code></pre><script"));
    for (name, page) in [
        ("text", text(&report, &view, PLAIN)),
        ("markdown", markdown(&report, &view, 65_536, 3)),
        ("html", html.clone()),
        ("junit", junit(&report, &view)),
        ("sarif", sarif(&report, &view)),
        ("github", github(&report, &view)),
    ] {
        assert!(!page.contains('\u{1b}'), "{name} commands the terminal");
        assert!(!page.contains('\u{202e}'), "{name} turns the direction of writing");
    }
    let github = github(&report, &view);
    assert!(github.lines().all(|line| line.starts_with("::")), "{github}");
    assert!(github.contains("%25"), "a percent sign is escaped");
}

/// argocd-diff-preview#328: a comment that is one character too long is refused as a whole.
#[test]
fn markdown_is_never_longer_than_it_may_be() {
    let view = view();
    for report in [sample(), fleet(1_000), fleet(1), report(Vec::new(), Vec::new())] {
        for limit in [0, 1, 50, 399, 400, 500, 1_000, 1_700, 3_000, 10_000, 65_536] {
            let page = markdown(&report, &view, limit, 3);
            let length = page.encode_utf16().count();
            assert!(length <= limit, "{length} > {limit}");
            assert_eq!(page.matches("<details").count(), page.matches("</details>").count());
            assert_eq!(page.matches("\n```").count() % 2, 0, "a fence stays open at {limit}:\n{page}");
            if limit >= 50 {
                assert!(page.starts_with(MARKER), "{page}");
            }
        }
    }
    let page = markdown(&fleet(1_000), &view, 65_536, 3);
    assert!(page.encode_utf16().count() > 60_000, "room is used");
    assert!(page.contains("Not shown in full here:"), "what is cut is counted");
    let shown = page.matches("<details").count();
    assert!(page.contains(&format!("{} Databases", 1_000 - shown)), "{}", line_with(&page, "Not shown"));
}

#[test]
fn the_worst_comes_first() {
    let (report, view) = (sample(), view());
    for page in [text(&report, &view, PLAIN), markdown(&report, &view, 65_536, 3), html(&report, &view, 3)] {
        let at = |name: &str| page.find(name).unwrap();
        assert!(at("production/ledger") < at("production/order-db"), "{page}");
    }
}

/// Code scanning shows an alert at the line that has to change.
#[test]
fn a_difference_points_at_the_field_that_causes_it() {
    let log: Value = serde_json::from_str(&sarif(&sample(), &view())).unwrap();
    let results = log["runs"][0]["results"].as_array().unwrap();
    let line = |part: &str| {
        let result = results.iter().find(|r| r["message"]["text"].as_str().unwrap().contains(part)).unwrap();
        result["locations"][0]["physicalLocation"].clone()
    };
    assert_eq!(line("/spec/replicas")["region"]["startLine"], 9);
    assert_eq!(line("limits/cpu")["region"]["startLine"], 3);
    assert_eq!(line("limits/cpu")["artifactLocation"]["uri"], "databases/order-db.yaml");
    let github = github(&sample(), &view());
    assert!(github.contains("file=databases/order-db.yaml,line=9"), "{github}");
}

/// Where a value is not what a schema says, as far as our schemas say anything: types, keys, words, references.
fn strangers(schema: &Value, value: &Value, root: &Value, at: &str, out: &mut Vec<String>) {
    if let Some(name) = schema["$ref"].as_str() {
        return strangers(&root["$defs"][name.rsplit('/').next().unwrap()], value, root, at, out);
    }
    if let Some(choices) = schema["anyOf"].as_array().or_else(|| schema["oneOf"].as_array()) {
        let fits = |choice: &Value| {
            let mut wrong = Vec::new();
            strangers(choice, value, root, at, &mut wrong);
            wrong.is_empty()
        };
        if !choices.iter().any(fits) {
            out.push(format!("{at}: {value} fits none of {choices:?}"));
        }
    }
    let kind = match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    };
    let kinds = schema["type"].as_array().cloned().unwrap_or_else(|| vec![schema["type"].clone()]);
    if !schema["type"].is_null() && !kinds.contains(&json!(kind)) {
        out.push(format!("{at}: {kind} is not {kinds:?}"));
    }
    if schema["enum"].as_array().is_some_and(|words| !words.contains(value))
        || (!schema["const"].is_null() && schema["const"] != *value)
    {
        out.push(format!("{at}: {value} is none of the words"));
    }
    if let Some(map) = value.as_object().filter(|_| schema["properties"].is_object()) {
        let required = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
        out.extend(required.filter(|key| !map.contains_key(*key)).map(|key| format!("{at} lacks {key}")));
        for (key, child) in map {
            match schema["properties"].get(key) {
                Some(schema) => strangers(schema, child, root, &format!("{at}/{key}"), out),
                None => out.push(format!("{at}/{key} is not in the schema")),
            }
        }
    }
    for (index, item) in value.as_array().into_iter().flatten().enumerate() {
        strangers(&schema["items"], item, root, &format!("{at}/{index}"), out);
    }
}

/// What `dbrender schema report` publishes is what `-o json` prints.
#[test]
fn the_published_schema_is_that_of_the_report() {
    let schema = Report::schema();
    let mut out = Vec::new();
    let mut value: Value = serde_json::from_str(&json_view(&sample())).unwrap();
    strangers(&schema, &value, &schema, "", &mut out);
    assert_eq!(out, [] as [String; 0]);
    // And the check can fail.
    value["databases"][0]["objects"][0]["status"] = json!("fine");
    value["databases"][1]["impact"] = json!(7);
    value["databases"][2].as_object_mut().unwrap().remove("engine");
    strangers(&schema, &value, &schema, "", &mut out);
    assert!(out.len() >= 3, "{out:?}");
}

#[test]
fn nothing_found_is_a_whole_page_too() {
    let (report, view) = (report(vec![database("calm", Vec::new())], Vec::new()), view());
    assert!(sarif(&report, &view).contains("\"results\": []"));
    assert!(junit(&report, &view).contains("tests=\"0\""));
    assert!(text(&report, &view, PLAIN).contains("0 drifted"));
    assert!(html(&report, &view, 3).contains("Nothing differs."));
    assert!(markdown(&report, &view, 65_536, 3).contains("in sync"));
}

#[test]
fn ages_and_managers_are_named() {
    let text = text(&sample(), &view(), PLAIN);
    assert!(text.contains("changed by kubectl-edit (Update, scale), 3 hours ago"), "{text}");
}
