//! The rules for `spec.parameters` against a real server: what it takes we take, what it refuses we refuse, and a value
//! in our one spelling is what it shows.
//!
//! Servers: every `/usr/lib/postgresql/*/bin` of a version in the table, or the folders in `DBRENDER_POSTGRESQL_BIN`,
//! separated by colons. They run in single-user mode, without a port.

#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::panic,
    clippy::print_stderr,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a test may use files and programs, and ends where it fails"
)]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use dbrender::api::Database;
use dbrender::check::{Ground, check};
use serde_json::json;

/// Values of every kind, good and bad for each.
const VALUES: &[&str] = &[
    "",
    " ",
    "0",
    "1",
    "2",
    "-1",
    "-2",
    "+5",
    "- 5",
    "5",
    "5 ",
    " 5",
    "\t5",
    "5\t",
    "10",
    "16",
    "32",
    "100",
    "128",
    "129",
    "256",
    "1000",
    "1024",
    "65536",
    "262143",
    "1048576",
    "2147483647",
    "2147483648",
    "-2147483648",
    "-2147483649",
    "9223372036854775807",
    "9223372036854775808",
    "99999999999999999999",
    "1.5",
    "0.5",
    "2.5",
    "3.5",
    "100.5",
    "101.5",
    "3.99999",
    ".5",
    "-.5",
    " .5",
    "5.",
    ".",
    "1e3",
    "1E2",
    "1e-3",
    "1e",
    "1e+",
    "e5",
    "1e400",
    "1e-400",
    "1e308",
    "0x10",
    "0X1F",
    "0x",
    "0xg",
    "0x1.8",
    "0x.8",
    "0x1p4",
    "010",
    "0777",
    "08",
    "1_000",
    "1,000",
    "inf",
    "-inf",
    "infinity",
    "nan",
    "5B",
    "512B",
    "1024B",
    "8kB",
    "5kB",
    "5 kB",
    "5  kB ",
    "5KB",
    "5kb",
    "5 k B",
    "1MB",
    "1.5MB",
    "5mb",
    "64Mi",
    "1GB",
    "0.5GB",
    "30.1GB",
    "1TB",
    "0.001TB",
    "1PB",
    "1e3kB",
    "0x10MB",
    "010kB",
    "-1kB",
    "1us",
    "999us",
    "1ms",
    "0.1ms",
    "1s",
    "90s",
    "1.5s",
    "1min",
    "5min",
    "5 min",
    "5minutes",
    "1h",
    "1.5h",
    "1d",
    "1 d ",
    "24.5d",
    "5m",
    "5sec",
    "5kBx",
    "5 kB x",
    "on",
    "ON",
    "off",
    "of",
    "o",
    "t",
    "tr",
    "true",
    "TRUE",
    "truee",
    "f",
    "fa",
    "false",
    "y",
    "ye",
    "yes",
    "yess",
    "n",
    "no",
    "nope",
    "01",
    " on",
    "on ",
    "enable",
    "default",
    "auto",
    "none",
    "always",
    "replica",
    "logical",
    "hot_standby",
    "archive",
    "REPLICA",
    "local",
    "remote_apply",
    "debug",
    "debug1",
    "fatal",
    "warn",
    "read committed",
    "read_committed",
    "Serializable",
    "partition",
    "try",
    "mmap",
    "sysv",
    "posix",
    "ddl",
    "verbose",
    "content",
    "hex",
    "base64",
    "scram-sha-256",
    "lz4",
    "pglz",
    "TLSv1.2",
    "TLSv1",
    "iso_8601",
    "copy",
    "worker",
    "sync",
];

/// Texts whose values we look at as well, with values of their own.
const TEXTS: &[(&str, &[&str])] = &[
    (
        "TimeZone",
        &["UTC", "utc", "Europe/Berlin", "europe/berlin", "Asia/Seoul", "Berlin", "Mars/Base", "", "5", "-3.5"],
    ),
    ("log_timezone", &["GMT", "America/New_York", "Nowhere"]),
    ("DateStyle", &["ISO", "iso, dmy", "SQL, YMD", "German", "Klingon", "ISO,", "mdy"]),
    ("restrict_nonsystem_relation_kind", &["view", "view, foreign-table", "table"]),
    ("createrole_self_grant", &["set", "set, inherit", "admin", ""]),
    ("debug_io_direct", &["", "nonsense"]),
    ("backtrace_functions", &["a_b, c", "a-b", ""]),
    ("default_table_access_method", &[""]),
];

/// Settings of which we ask more than the server does when it reads the file: see `engine/postgresql/limits.rs`. It
/// checks some of them at its start instead.
const STRICTER: &[&str] = &[
    "autovacuum_max_workers",
    "autovacuum_worker_slots",
    "huge_pages",
    "max_connections",
    "max_replication_slots",
    "max_stack_depth",
    "max_wal_senders",
    "max_wal_size",
    "max_worker_processes",
    "min_wal_size",
    "reserved_connections",
    "shared_buffers",
    "superuser_reserved_connections",
    "wal_level",
];

/// Where the test machine is not a pod: a limit of its own, and a build without a library.
const ELSEWHERE: &[&str] = &["default_toast_compression", "max_stack_depth", "wal_compression"];

struct Server {
    series: String,
    bin: PathBuf,
    folder: tempfile::TempDir,
}

impl Server {
    fn new(bin: PathBuf) -> Server {
        let folder =
            tempfile::Builder::new().prefix("dbrender-postgresql-").tempdir_in("/tmp").expect("a temporary folder");
        let server = Server { series: String::new(), bin, folder };
        let version = server.run("postgres", &["--version"], "");
        let series =
            version.0.split_whitespace().nth(2).and_then(|v| v.split('.').next()).unwrap_or_default().to_owned();
        let root = Command::new("id").arg("-u").output().is_ok_and(|output| output.stdout == b"0\n");
        if root {
            let done = Command::new("chown").arg("nobody").arg(server.folder.path()).status();
            assert!(done.is_ok_and(|status| status.success()), "the server does not run as root");
        }
        let data = server.data();
        server.run("initdb", &["-D", &data, "-U", "postgres", "-A", "trust", "--no-sync", "--locale=C"], "");
        Server { series, ..server }
    }

    fn data(&self) -> String {
        self.folder.path().join("data").to_string_lossy().into_owned()
    }

    /// Runs a program of the server as a user that it accepts; standard output and standard error.
    fn run(&self, program: &str, arguments: &[&str], input: &str) -> (String, String) {
        let program = self.bin.join(program);
        let library = self.bin.parent().map(|parent| parent.join("lib")).unwrap_or_default();
        let root = Command::new("id").arg("-u").output().is_ok_and(|output| output.stdout == b"0\n");
        let mut command = if root {
            let mut command = Command::new("setpriv");
            command.args(["--reuid", "nobody", "--regid", "nogroup", "--clear-groups"]).arg(program);
            command
        } else {
            Command::new(program)
        };
        command.args(arguments).env("LD_LIBRARY_PATH", library).env("LC_ALL", "C").current_dir("/");
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the server runs");
        let mut stdin = child.stdin.take().expect("a pipe");
        let text = input.to_owned();
        let writer = std::thread::spawn(move || stdin.write_all(text.as_bytes()));
        let output = child.wait_with_output().expect("the server ends");
        writer.join().expect("the writer ends").expect("the server reads everything");
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        assert!(output.status.success(), "{}", text(output.stderr));
        (text(output.stdout), text(output.stderr))
    }

    /// Statements, one a line, in single-user mode; what it wrote to standard error.
    fn ask(&self, statements: &str) -> String {
        let data = self.data();
        self.run("postgres", &["--single", "-F", "-D", &data, "-c", "log_line_prefix=", "postgres"], statements).1
    }

    /// Name, context and type of every setting.
    fn settings(&self) -> Vec<(String, String, String)> {
        let file = self.folder.path().join("data/settings");
        let errors = self.ask(&format!(
            "COPY (SELECT name, context, vartype FROM pg_settings WHERE name NOT LIKE '%.%' ORDER BY 1) TO '{}'\n",
            file.display()
        ));
        let text = fs::read_to_string(file).unwrap_or_else(|_| panic!("{errors}"));
        let column = |line: &str, at: usize| line.split('\t').nth(at).unwrap_or_default().to_owned();
        text.lines().map(|line| (column(line, 0), column(line, 1), column(line, 2))).collect()
    }

    /// Of these settings and values, those that the server refuses in a configuration file.
    fn refused(&self, asked: &[(String, &str)]) -> BTreeSet<(String, String)> {
        let statement = |(name, value): &(String, &str)| format!("ALTER SYSTEM SET \"{name}\" = '{value}'");
        let statements: String = asked.iter().map(|one| statement(one) + "\n").collect();
        let errors = self.ask(&statements);
        // The server would start with all of that.
        fs::write(self.folder.path().join("data/postgresql.auto.conf"), "").expect("the server's own file");
        let refused: BTreeSet<&str> =
            errors.lines().filter_map(|line| line.split_once("STATEMENT:  ")).map(|(_, rest)| rest).collect();
        asked
            .iter()
            // The log trims the statement's end.
            .filter(|one| refused.contains(statement(one).trim_end()))
            .map(|(name, value)| (name.clone(), (*value).to_owned()))
            .collect()
    }

    /// What the server shows for each setting and value that a session may set.
    fn shown(&self, asked: &[(String, &str)]) -> BTreeMap<(String, String), String> {
        let (input, output) = (self.folder.path().join("data/input"), self.folder.path().join("data/output"));
        let escaped = |text: &str| text.replace('\\', "\\\\").replace('\t', "\\t");
        let rows: String = asked.iter().map(|(name, value)| format!("{name}\t{}\n", escaped(value))).collect();
        fs::write(&input, rows).expect("a file for the server");
        let errors = self.ask(&format!(
            "CREATE TABLE asked (name text, value text)\n\
             COPY asked FROM '{}'\n\
             CREATE FUNCTION shown(name text, value text) RETURNS text LANGUAGE plpgsql AS 'BEGIN PERFORM set_config(name, value, true); RETURN current_setting(name); EXCEPTION WHEN OTHERS THEN RETURN NULL; END'\n\
             COPY (SELECT name, value, shown(name, value) FROM asked) TO '{}'\n",
            input.display(),
            output.display()
        ));
        let text = fs::read_to_string(output).unwrap_or_else(|_| panic!("{errors}"));
        text.lines()
            .filter_map(|line| {
                let mut columns = line.split('\t').map(|column| column.replace("\\t", "\t").replace("\\\\", "\\"));
                Some(((columns.next()?, columns.next()?), columns.next()?))
            })
            .filter(|(_, shown)| shown != "\\N")
            .collect()
    }
}

/// The value that would be rendered, or the code of the problem.
fn ours(series: &str, name: &str, value: &str) -> Result<String, String> {
    let database: Database = serde_json::from_value(json!({
        "metadata": {"name": "shop", "namespace": "demo"},
        "spec": {
            "engine": "postgresql", "version": series, "storage": {"size": "10Gi"},
            "resources": {"memory": "64Ti"}, "parameters": {name: value},
        },
    }))
    .expect("a Database");
    let checked = check(&database, &Ground::default(), None);
    match checked.problems.iter().find(|problem| problem.code.id().starts_with("DBR36")) {
        Some(problem) => Err(problem.code.id().to_owned()),
        None => Ok(checked.plan.and_then(|plan| plan.parameters.get(name).cloned()).unwrap_or_default()),
    }
}

fn servers() -> Vec<PathBuf> {
    let listed = std::env::var("DBRENDER_POSTGRESQL_BIN").unwrap_or_default();
    let listed: Vec<PathBuf> = listed.split(':').filter(|path| !path.is_empty()).map(PathBuf::from).collect();
    if !listed.is_empty() {
        return listed;
    }
    let mut found: Vec<PathBuf> = fs::read_dir("/usr/lib/postgresql")
        .into_iter()
        .flatten()
        .filter_map(Result::ok)
        .map(|entry| entry.path().join("bin"))
        .filter(|bin| bin.join("postgres").exists() && bin.join("initdb").exists())
        .collect();
    found.sort();
    found
}

fn compare(bin: &Path) {
    let server = Server::new(bin.to_owned());
    let series = server.series.as_str();
    let mut asked: Vec<(String, &str)> = Vec::new();
    let mut kinds: BTreeMap<String, (String, String)> = BTreeMap::new();
    let (mut reserved, mut unknown) = (0, Vec::new());
    for (name, context, kind) in server.settings() {
        match ours(series, &name, "1") {
            Err(code) if code == "DBR363" => reserved += 1,
            Err(code) if code == "DBR362" => unknown.push(name),
            _ => {
                let values: &[&str] = match TEXTS.iter().find(|(text, _)| *text == name) {
                    Some((_, values)) => values,
                    None if kind == "string" => &[],
                    None => VALUES,
                };
                asked.extend(values.iter().map(|value| (name.clone(), *value)));
                kinds.insert(name, (context, kind));
            }
        }
    }
    // What only the build of this server or of its packages has.
    unknown.retain(|name| !["extension_destdir", "server_version", "server_version_num"].contains(&name.as_str()));
    assert!(unknown.is_empty(), "{series}: the table lacks {unknown:?}");
    assert!(asked.len() > 20_000 && reserved > 40, "{series}: {} values, {reserved} reserved", asked.len());

    let refused = server.refused(&asked);
    let mut wrong = Vec::new();
    let mut good: Vec<(String, &str, String)> = Vec::new();
    for (name, value) in &asked {
        let server_takes = !refused.contains(&(name.clone(), (*value).to_owned()));
        match ours(series, name, value) {
            Ok(_) if !server_takes && !ELSEWHERE.contains(&name.as_str()) => {
                wrong.push(format!("we take {name} = {value:?}"))
            }
            Err(_) if server_takes && !STRICTER.contains(&name.as_str()) => {
                wrong.push(format!("we refuse {name} = {value:?}"))
            }
            Ok(text) if server_takes => good.push((name.clone(), value, text)),
            _ => {}
        }
    }
    assert!(wrong.is_empty(), "{series}: {} differ, first {:#?}", wrong.len(), &wrong[..wrong.len().min(40)]);

    // Whole numbers and booleans have one spelling, the server's own; reals are shown in other units, and tcp_ shows
    // what the connection has.
    let settable: Vec<&(String, &str, String)> = good
        .iter()
        .filter(|(name, ..)| {
            kinds.get(name).is_some_and(|(context, kind)| {
                ["user", "superuser"].contains(&context.as_str())
                    && ["integer", "bool"].contains(&kind.as_str())
                    && !name.starts_with("tcp_")
            })
        })
        .collect();
    let shown = server.shown(&settable.iter().map(|(name, value, _)| (name.clone(), *value)).collect::<Vec<_>>());
    assert!(shown.len() > 3000, "{series}: only {} values were shown", shown.len());
    let differ: Vec<String> = settable
        .iter()
        .filter_map(|(name, value, text)| {
            let shown = shown.get(&(name.clone(), (*value).to_owned()))?;
            (shown != text).then(|| format!("{name} = {value:?}: we write {text}, the server shows {shown}"))
        })
        .collect();
    assert!(differ.is_empty(), "{series}: {} differ, first {:#?}", differ.len(), &differ[..differ.len().min(40)]);
    println!(
        "PostgreSQL {series}: {} values of {} settings read alike, {} shown alike, {reserved} reserved",
        asked.len(),
        kinds.len(),
        shown.len()
    );
}

#[test]
fn settings_are_read_as_the_server_reads_them() {
    let servers = servers();
    assert!(!servers.is_empty(), "no PostgreSQL server below /usr/lib/postgresql");
    for bin in servers {
        compare(&bin);
    }
}
