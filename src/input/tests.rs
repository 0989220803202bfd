//! Tables of texts and the problems that they get.

use std::sync::LazyLock;

use super::{Schemas, Source, parse, parse_platform};
use crate::problem::{Place, Problem, Problems};

static SCHEMAS: LazyLock<Schemas> = LazyLock::new(Schemas::new);

const HEAD: &str = "apiVersion: app.example.com/v1alpha1\nkind: Database\n";

fn source(text: impl Into<String>) -> Source {
    Source { name: "a.yaml".to_owned(), text: text.into() }
}

/// `CODE path [what is marked] message (hint)`.
fn line(problem: &Problem, text: &str) -> String {
    let marked = match &problem.place {
        Some(Place { span, absent, .. }) => format!("{}{}", &text[span.clone()], if *absent { "…" } else { "" }),
        None => "nowhere".to_owned(),
    };
    format!("{} {} [{marked}] {} ({})", problem.code.id(), problem.path, problem.message, problem.hint)
}

/// Problems of a Database whose spec is `engine, version, storage` and these lines.
fn problems(text: &str) -> Vec<String> {
    let mut out = Problems::new();
    let source = source(text);
    parse(0, &source, &SCHEMAS, &mut out);
    out.iter().map(|problem| line(problem, text)).collect()
}

fn spec(lines: &str) -> String {
    format!("{HEAD}metadata: {{name: shop, namespace: demo}}\nspec:\n{lines}")
}

fn one(lines: &str) -> String {
    let found = problems(&spec(lines));
    assert_eq!(found.len(), 1, "{lines}\n{found:#?}");
    found.into_iter().next().unwrap_or_default()
}

const BASE: &str = "  engine: postgresql\n  version: \"16\"\n  storage: {size: 1Gi}\n";

#[test]
fn the_users_own_example_is_read_with_every_default() {
    let text = spec(BASE);
    let mut out = Problems::new();
    let parsed = parse(0, &source(text), &SCHEMAS, &mut out);
    assert!(out.is_empty(), "{out:?}");
    let database = &parsed.databases[0].database;
    assert_eq!(database.metadata.name.as_deref(), Some("shop"));
    assert_eq!(database.spec.replicas, 1);
    assert!(database.spec.backup.enabled);
    assert_eq!(database.spec.storage.storage_class, "standard");
    assert_eq!(database.spec.resources.memory, "1Gi");
}

/// RD-09: the API server drops a null and then fills in the default.
#[test]
fn null_is_absent() {
    let read = |text: String| {
        let mut out = Problems::new();
        let parsed = parse(0, &source(text), &SCHEMAS, &mut out);
        assert!(out.is_empty(), "{out:?}");
        parsed.databases.into_iter().next().map(|d| d.database.spec)
    };
    let base = read(spec(BASE));
    assert!(base.is_some());
    for more in [
        "  replicas: ~\n",
        "  replicas:\n",
        "  backup: {schedule: }\n",
        "  backup:\n",
        "  parameters: {work_mem: null}\n",
        "  primary: null\n",
    ] {
        assert_eq!(read(spec(&format!("{BASE}{more}"))), base, "{more}");
    }
    assert_eq!(
        read(spec("  engine: postgresql\n  version: \"16\"\n  storage: {size: 1Gi, storageClass: null}\n")),
        base
    );
}

#[test]
fn what_the_api_server_would_refuse_is_refused_with_what_to_type() {
    let without = |field: &str| {
        BASE.lines().filter(|line| !line.contains(field)).map(|line| format!("{line}\n")).collect::<String>()
    };
    for (lines, expected) in [
        // RD-04, OP-94: numbers for text.
        (
            without("version") + "  version: 16\n",
            "DBR203 spec.version [16] spec.version must be text; YAML reads 16 as a number (quote it: version: \"16\")",
        ),
        (
            without("version") + "  version: 8.0\n",
            "DBR203 spec.version [8.0] spec.version must be text; YAML reads 8.0 as the number 8 (quote it: version: \"8.0\")",
        ),
        (
            without("version") + "  version: yes\n",
            "DBR203 spec.version [yes] spec.version must be text; YAML reads yes as the boolean true (quote it: version: \"yes\")",
        ),
        (
            without("version") + "  version: true\n",
            "DBR203 spec.version [true] spec.version must be text; YAML reads true as a boolean (quote it: version: \"true\")",
        ),
        (
            without("version") + "  version: [\"16\"]\n",
            "DBR203 spec.version [[\"16\"]] spec.version must be text, found a list (write one value, as text)",
        ),
        // RD-20: a bare number where the schema has text.
        (
            BASE.to_owned() + "  resources: {cpu: 1}\n",
            "DBR203 spec.resources.cpu [1] spec.resources.cpu must be text; YAML reads 1 as a number (quote it: cpu: \"1\")",
        ),
        (
            BASE.to_owned() + "  replicas: \"3\"\n",
            "DBR203 spec.replicas [\"3\"] spec.replicas must be a whole number, found the text \"3\" (write it without quotes: replicas: 3)",
        ),
        (
            BASE.to_owned() + "  replicas: three\n",
            "DBR203 spec.replicas [three] spec.replicas must be a whole number, found the text \"three\" (write a number, without quotes and without a unit)",
        ),
        (
            BASE.to_owned() + "  replicas: 2.5\n",
            "DBR203 spec.replicas [2.5] spec.replicas must be a whole number, found 2.5 (write it without a fraction)",
        ),
        (
            BASE.to_owned() + "  backup: {enabled: \"true\"}\n",
            "DBR203 spec.backup.enabled [\"true\"] spec.backup.enabled must be true or false, found the text \"true\" (write it without quotes: enabled: true)",
        ),
        (
            BASE.to_owned() + "  backup: daily\n",
            "DBR203 spec.backup [daily] spec.backup must be a mapping, found the text \"daily\" (indent its fields below it, for example destination: …)",
        ),
        (
            BASE.to_owned() + "  scheduling: {topologyKeys: zone}\n",
            "DBR203 spec.scheduling.topologyKeys [zone] spec.scheduling.topologyKeys must be a list, found the text \"zone\" (write a list: topologyKeys: [zone])",
        ),
        (
            BASE.to_owned() + "  scheduling: {topologyKeys: [~]}\n",
            "DBR203 spec.scheduling.topologyKeys[0] [~] spec.scheduling.topologyKeys[0] must be text, found nothing (write one value, as text)",
        ),
        (
            BASE.to_owned() + "  parameters: {work_mem: 64}\n",
            "DBR203 spec.parameters.work_mem [64] spec.parameters.work_mem must be text; YAML reads 64 as a number (quote it: work_mem: \"64\")",
        ),
        (
            BASE.to_owned() + "  parameters: {on: \"1\"}\n",
            "DBR203 spec.parameters.true [on] YAML reads the key on in spec.parameters as true (quote it: \"on\": …)",
        ),
        // RD-19, OP-94: misspelt and misplaced fields.
        (
            BASE.to_owned() + "  backup: {retension: 30}\n",
            "DBR201 spec.backup.retension [retension] spec.backup has no field \"retension\" (did you mean retention? (fields here: destination, enabled, retention, schedule, suspend, timeZone, walArchive))",
        ),
        (
            BASE.to_owned() + "  schedule: x\n",
            "DBR201 spec.schedule [schedule] spec has no field \"schedule\" (there is spec.backup.schedule",
        ),
        (without("engine"), "DBR204 spec.engine [spec…] spec.engine is missing (add the field to the marked object)"),
        (
            without("engine") + "  engine:\n",
            "DBR204 spec.engine [engine] spec.engine has no value (write a value behind the key)",
        ),
        (
            without("storage") + "  storage: {}\n",
            "DBR204 spec.storage.size [storage…] spec.storage.size is missing (add the field to the marked object)",
        ),
        (
            without("engine") + "  engine: postgres\n",
            "DBR205 spec.engine [postgres] spec.engine cannot be \"postgres\"; it is one of postgresql, mysql, mongodb (did you mean postgresql?)",
        ),
        (
            BASE.to_owned() + "  failover: automatic\n",
            "DBR205 spec.failover [automatic] spec.failover cannot be \"automatic\"; it is one of Automatic, Manual (did you mean Automatic?)",
        ),
        (
            BASE.to_owned() + "  replicas: 9\n",
            "DBR206 spec.replicas [9] spec.replicas must be between 1 and 7, found 9 (use a number within the bounds)",
        ),
        (
            BASE.to_owned() + "  backup: {retention: 1e30}\n",
            "DBR206 spec.backup.retention [1e30] spec.backup.retention must be a number of 64 bits, found 1e30 (use a number within the bounds)",
        ),
        (
            format!("{BASE}  database: {}\n", "a".repeat(64)),
            "DBR206 spec.database [aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa] spec.database may have at most 63 characters, found 64 (leave some of the characters out)",
        ),
        (
            format!("{BASE}  parameters: {{{}}}\n", (0..513).map(|n| format!("k{n}: \"1\", ")).collect::<String>()),
            "DBR206 spec.parameters [parameters] spec.parameters may have at most 512 entries, found 513",
        ),
        (
            BASE.to_owned() + "  replicas: 3\n  replicas: 1\n",
            "DBR202 spec.replicas [replicas] spec.replicas stands twice (keep one of the two keys)",
        ),
    ] {
        let found = one(&lines);
        assert!(found.starts_with(expected), "{lines}\nfound    {found}\nexpected {expected}");
    }
}

#[test]
fn metadata_is_read_strictly_and_what_a_cluster_adds_is_read_over() {
    let text = |metadata: &str| format!("{HEAD}metadata: {metadata}\nspec:\n{BASE}");
    let clean = "{name: a, namespace: b, uid: x, resourceVersion: \"1\", generation: 2, creationTimestamp: null, managedFields: [{manager: kubectl}], finalizers: [x]}";
    assert_eq!(problems(&(text(clean) + "status: {phase: Running, whatever: 1}\n")), Vec::<String>::new());
    for (metadata, expected) in [
        ("{namespace: b}", "DBR204 metadata.name [metadata…] metadata.name is missing"),
        ("{name: }", "DBR204 metadata.name [name] metadata.name is missing"),
        ("", "DBR204 metadata [metadata] metadata is missing"),
        ("{name: 1}", "DBR203 metadata.name [1] metadata.name must be text"),
        (
            "{name: a, label: {}}",
            "DBR201 metadata.label [label] metadata has no field \"label\" (did you mean labels? (fields here: name, namespace, labels, annotations))",
        ),
        ("{generateName: a-, name: a}", "DBR201 metadata.generateName"),
        (
            "{name: a, labels: {tier: on}}",
            "DBR203 metadata.labels.tier [on] metadata.labels.tier must be text; YAML reads on as the boolean true (quote it: tier: \"on\")",
        ),
        ("{name: a, labels: {t: \"1\", t: \"2\"}}", "DBR202 metadata.labels.t [t]"),
        (
            "{name: a, annotations: {app.example.com/x: 72225e2}}",
            "DBR203 metadata.annotations[app.example.com/x] [72225e2] metadata.annotations[app.example.com/x] must be text; YAML reads 72225e2 as the number 7222500",
        ),
        ("[a]", "DBR203 metadata [[a]] metadata must be a mapping"),
    ] {
        let found = problems(&text(metadata));
        assert_eq!(found.len(), 1, "{metadata}: {found:#?}");
        assert!(found[0].starts_with(expected), "{metadata}\nfound    {}\nexpected {expected}", found[0]);
    }
}

/// RD-13, RD-17.
#[test]
fn documents_and_lists_are_sorted_by_what_they_are() {
    let database = |name: &str| {
        format!(
            "{{apiVersion: app.example.com/v1alpha1, kind: Database, metadata: {{name: {name}}}, spec: {{engine: mysql, version: \"8.0\", storage: {{size: 1Gi}}}}}}"
        )
    };
    let (a, b) = (database("a"), database("b"));
    let platform = "apiVersion: dbrender.app.example.com/v1alpha1\nkind: Platform\n";
    for (text, names, skipped, platforms) in [
        (format!("# licence\n---\n--- # shop\n{a}\n---\n\n---\n{b}\n...\n"), vec!["a", "b"], 0, 0),
        (
            format!("{{apiVersion: v1, kind: List, items: [{a}, {{apiVersion: v1, kind: ConfigMap}}, {b}]}}"),
            vec!["a", "b"],
            1,
            0,
        ),
        (
            format!("{{apiVersion: app.example.com/v1alpha1, kind: DatabaseList, items: [{a}, {b}]}}"),
            vec!["a", "b"],
            0,
            0,
        ),
        (
            format!("{{apiVersion: v1, kind: List, items: [{{apiVersion: v1, kind: List, items: [{a}]}}]}}"),
            vec!["a"],
            0,
            0,
        ),
        ("{apiVersion: v1, kind: ConfigMapList, items: []}".to_owned(), vec![], 1, 0),
        ("{apiVersion: v1, kind: List}".to_owned(), vec![], 0, 0),
        ("{apiVersion: other.example.org/v1, kind: Database}".to_owned(), vec![], 1, 0),
        ("{apiVersion: app.example.com/v1, kind: Queue}".to_owned(), vec![], 1, 0),
        ("image: {tag: x}\n---\n[1, 2]\n---\ntext\n".to_owned(), vec![], 3, 0),
        (platform.to_owned(), vec![], 0, 1),
    ] {
        let mut out = Problems::new();
        let parsed = parse(0, &source(text.clone()), &SCHEMAS, &mut out);
        assert!(out.is_empty(), "{text}\n{out:?}");
        let found: Vec<_> = parsed.databases.iter().filter_map(|d| d.database.metadata.name.as_deref()).collect();
        assert_eq!((found, parsed.skipped, parsed.platforms), (names, skipped, platforms), "{text}");
    }
}

#[test]
fn what_looks_like_a_database_and_is_none_is_told() {
    for (text, expected) in [
        (
            "apiVersion: app.example.com/v1\nkind: Database\n",
            "DBR107 apiVersion [app.example.com/v1] apiVersion \"app.example.com/v1\" is not known to this dbrender",
        ),
        (
            "apiVersion: app.example.com/v1alpha1\nkind: Databse\n",
            "DBR205 kind [Databse] kind \"Databse\" is none of app.example.com (did you mean Database?)",
        ),
        ("kind: Database\nspec: {}\n", "DBR204 apiVersion [kind…] apiVersion is missing"),
        ("apiVersion: app.example.com/v1alpha1\nspec: {}\n", "DBR204 kind [apiVersion…] kind is missing"),
        (
            "apiVersion: v1\nkind: List\nitems: [{apiVersion: v1}]\n",
            "DBR204 kind [apiVersion…] an item of the list has no kind",
        ),
        ("apiVersion: v1\nkind: List\nitems: {}\n", "DBR203 items [{}] items must be a list"),
        (
            "apiVersion: app.example.com/v1alpha1\nkind: Database\nmetadata: {name: a}\n",
            "DBR204 spec [apiVersion…] spec is missing",
        ),
        ("a: [\n", "DBR103 "),
        ("--- {a: 1}\n", "DBR104 "),
    ] {
        let found = problems(text);
        assert_eq!(found.len(), 1, "{text}\n{found:#?}");
        assert!(found[0].starts_with(expected), "{text}\nfound    {}\nexpected {expected}", found[0]);
    }
    let root = problems(&format!("{HEAD}metadata: {{name: a}}\ndata: 1\nspec:\n{BASE}"));
    assert_eq!(
        root,
        ["DBR201 data [data] the object has no field \"data\" ((fields here: apiVersion, kind, metadata, spec))"]
    );
}

#[test]
fn all_problems_of_all_documents_in_one_go() {
    let text = format!(
        "{}---\n{}",
        spec("  engine: x\n  version: 16\n  storage: {}\n  replica: 1\n"),
        spec("  backup: {enable: 1}\n")
    );
    let codes: Vec<_> = problems(&text).iter().map(|line| line[..6].to_owned()).collect();
    assert_eq!(codes, ["DBR205", "DBR203", "DBR204", "DBR201", "DBR201", "DBR204", "DBR204", "DBR204"]);
}

#[test]
fn a_flood_of_problems_is_cut() {
    let lines: String = (0..5000).map(|n| format!("  x{n}y: 1\n")).collect();
    let found = problems(&spec(&format!("{BASE}{lines}")));
    assert_eq!(found.len(), 101);
    assert!(found[100].contains("4900 more problems"), "{}", found[100]);
}

#[test]
fn every_problem_names_its_database() {
    let mut out = Problems::new();
    parse(3, &source(spec("  engine: x\n")), &SCHEMAS, &mut out);
    assert!(
        out.iter()
            .all(|p| p.subject.as_deref() == Some("demo/shop")
                && p.place.as_ref().is_some_and(|place| place.source == 3)),
        "{out:?}"
    );
}

const PLATFORM: &str = "apiVersion: dbrender.app.example.com/v1alpha1\nkind: Platform\n";

fn platform(text: &str, environment: Option<&str>) -> (Option<crate::api::PlatformSettings>, Vec<String>) {
    let text = format!("{PLATFORM}{text}");
    let mut out = Problems::new();
    let settings = parse_platform(0, &source(text.clone()), environment, &SCHEMAS, &mut out).map(|p| p.settings);
    (settings, out.iter().map(|problem| line(problem, &text)).collect())
}

#[test]
fn an_environment_is_laid_over_the_file() {
    let text = "clusterDomain: a\nlabels: {a: \"1\", b: \"2\"}\nimagePullSecrets: [a, b]\nlimits: {maxReplicas: 3}\n\
        environments:\n  prod:\n    clusterDomain: b\n    labels: {b: \"3\", c: \"4\"}\n    imagePullSecrets: [c]\n    limits: {maxStorage: 1Ti}\n  dev:\n    labels: {a: null}\n    limits: null\n  none:\n";
    let (base, problems) = platform(text, None);
    assert_eq!(problems, Vec::<String>::new());
    let base = base.unwrap_or_default();
    assert_eq!(base.cluster_domain.as_deref(), Some("a"));
    let prod = platform(text, Some("prod")).0.unwrap_or_default();
    assert_eq!(prod.cluster_domain.as_deref(), Some("b"));
    assert_eq!(format!("{:?}", prod.labels), r#"{"a": "1", "b": "3", "c": "4"}"#);
    assert_eq!(prod.image_pull_secrets, ["c"]);
    assert_eq!(prod.limits.as_ref().and_then(|l| l.max_replicas), Some(3));
    assert_eq!(prod.limits.and_then(|l| l.max_storage).as_deref(), Some("1Ti"));
    let dev = platform(text, Some("dev")).0.unwrap_or_default();
    assert_eq!((format!("{:?}", dev.labels), dev.limits), (r#"{"b": "2"}"#.to_owned(), None));
    assert_eq!(platform(text, Some("none")).0, Some(base));
}

#[test]
fn a_platform_file_is_checked_with_all_its_environments() {
    for (text, environment, expected) in [
        (
            "environments:\n  prod: {}\n",
            Some("prd"),
            "DBR502 environments [environments] there is no environment \"prd\"; there are prod (did you mean --env prod?)",
        ),
        (
            "",
            Some("prod"),
            "DBR502 environments [apiVersion…] there is no environment \"prod\"; this Platform has none",
        ),
        (
            "environments:\n  prod: {catalogue: 1}\n",
            None,
            "DBR201 environments.prod.catalogue [catalogue] environments.prod has no field \"catalogue\" (did you mean catalog?",
        ),
        ("catalog: 0\n", None, "DBR206 catalog [0] catalog must be 1 or more, found 0"),
        ("catalog: \"1\"\n", None, "DBR203 catalog [\"1\"]"),
        (
            "credentials: {mode: vault}\n",
            None,
            "DBR205 credentials.mode [vault] credentials.mode cannot be \"vault\"; it is one of generated, existing, external",
        ),
        ("catalog: 5000000000\n", None, "DBR501 "),
        ("---\na: 1\n", None, "DBR501 "),
    ] {
        let (settings, found) = platform(text, environment);
        assert_eq!((settings, found.len()), (None, 1), "{text}\n{found:#?}");
        assert!(found[0].starts_with(expected), "{text}\nfound    {}\nexpected {expected}", found[0]);
    }
}
