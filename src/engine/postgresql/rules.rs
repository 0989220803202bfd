//! Rules of just PostgreSQL: names of database and user, least sizes, and the user's settings.

use std::collections::BTreeMap;

use super::parameters::{self, Change, Parameter};
use super::value::{self, Value};
use super::{limits, reserved, settings};
use crate::api::{DatabaseSpec, Quantity};
use crate::engine::files;
use crate::engine::identifier::{self, Name};
use crate::engine::sizes::{self, Least};
use crate::problem::{Code, FieldPath, Problem, Problems, nearest};

/// Memory: below it the server and its agent are killed while they start. CPU: below it probes fail.
const LEAST: Least = Least { title: "PostgreSQL", millicores: 100, memory: 256 << 20 };
/// Longest name in the server, in bytes. It cuts longer ones without a word.
const NAME_MAX: usize = 63;
/// Databases that are there, and words that `pg_hba.conf` keeps for itself.
const DATABASES: [&str; 8] =
    ["postgres", "template0", "template1", "all", "replication", "samegroup", "samerole", "sameuser"];
/// Users that are there, and words that the server keeps for itself.
const USERS: [&str; 12] = [
    "postgres",
    "backup",
    "monitor",
    "replication",
    "restore",
    "rewind",
    "all",
    "current_role",
    "current_user",
    "none",
    "public",
    "session_user",
];
/// Settings that a standby must not have lower than its primary.
const STANDBY_SETTINGS: [&str; 5] = [
    "max_connections",
    "max_locks_per_transaction",
    "max_prepared_transactions",
    "max_wal_senders",
    "max_worker_processes",
];
/// Settings that each keep room for processes. In 18 autovacuum_worker_slots is one of them; elsewhere it counts nothing.
const PROCESSES: [&str; 5] =
    ["max_connections", "max_wal_senders", "max_worker_processes", "autovacuum_max_workers", "autovacuum_worker_slots"];
/// Processes of a server, less than its own limit by what it needs itself.
const PROCESSES_MAX: i64 = 262_000;
/// Extensions of the official image that have settings.
const EXTENSIONS: [&str; 12] = [
    "auth_delay",
    "auto_explain",
    "isn",
    "passwordcheck",
    "pg_prewarm",
    "pg_stat_statements",
    "pg_trgm",
    "plperl",
    "plpgsql",
    "pltcl",
    "postgres_fdw",
    "sepgsql",
];

/// Names and least sizes.
pub(super) fn check(spec: &DatabaseSpec, out: &mut Problems) {
    let kept = Some(("pg_", "begins with pg_, which the server keeps for itself"));
    let name = |field, name, taken, kept| Name { field, name, longest: NAME_MAX, beyond: "cuts it at", taken, kept };
    identifier::check(&name("database", &spec.database, &DATABASES, None), out);
    identifier::check(&name("username", &spec.username, &USERS, kept), out);
    sizes::check(spec, &LEAST, out);
}

fn memory(spec: &DatabaseSpec) -> Option<u64> {
    Quantity::parse(&spec.resources.memory).ok().and_then(|memory| memory.bytes())
}

/// The user's settings, each under the server's own name and in one spelling. What cannot be set is reported and left out.
pub(super) fn parameters(spec: &DatabaseSpec, series: &str, out: &mut Problems) -> BTreeMap<String, String> {
    let mut all = BTreeMap::new();
    let mut values: BTreeMap<&str, i64> = BTreeMap::new();
    for (name, text) in &spec.parameters {
        let setting = Setting { name, text, series, path: FieldPath::of("spec.parameters").key(name.as_str()) };
        let Some((known, value)) = setting.read(memory(spec), out) else { continue };
        if let Some(number) = known.and_then(|_| value.integer()) {
            values.insert(known.map_or("", |parameter| parameter.name), number);
        }
        let (name, text) = match known {
            Some(parameter) => (parameter.name.to_owned(), value.text(parameter)),
            None => (name.clone(), text.clone()),
        };
        if all.insert(name.clone(), text).is_some() {
            out.push(
                Problem::new(
                    Code::DuplicateKey,
                    setting.path,
                    format!("{name} stands twice, in different letter case"),
                )
                .on_key(),
            );
        }
    }
    sums(&values, series, out);
    all
}

/// Sums that the server refuses to start with.
fn sums(values: &BTreeMap<&str, i64>, series: &str, out: &mut Problems) {
    let of = |name: &str| values.get(name).copied().or_else(|| default(name, series)).unwrap_or(0);
    let mut fail = |names: &[&str], message: String, hint: &str| {
        let name = names.iter().find(|name| values.contains_key(*name)).copied().unwrap_or("max_connections");
        let path = FieldPath::of("spec.parameters").key(name);
        out.push(Problem::new(Code::InvalidParameter, path, message).with_hint(hint));
    };
    let (kept, all) = (of("superuser_reserved_connections") + of("reserved_connections"), of("max_connections"));
    if kept >= all {
        let names = ["reserved_connections", "superuser_reserved_connections"];
        let message = format!("{kept} connections are reserved and max_connections is {all}");
        fail(&names, message, "reserve fewer, or raise max_connections");
    }
    let processes: i64 = PROCESSES.iter().map(|name| of(name)).sum();
    if processes > PROCESSES_MAX {
        let message =
            format!("{} are {processes} together; the server has at most {PROCESSES_MAX}", PROCESSES.join(", "));
        fail(&PROCESSES, message, "lower one of them");
    }
}

/// What a setting is when the user does not set it.
fn default(name: &str, series: &str) -> Option<i64> {
    settings::FIXED
        .iter()
        .find(|(fixed, _)| *fixed == name)
        .map_or_else(|| parameters::find(name, series)?.built_in.parse().ok(), |(_, value)| value.parse().ok())
}

/// Values of the settings that a standby must not have lower. The series matters for no default of these.
pub(super) fn standby_settings(spec: &DatabaseSpec) -> Vec<(&'static str, i64)> {
    let series = spec.version.split('.').next().unwrap_or_default();
    let value = |name: &'static str| {
        let (_, text) = spec.parameters.iter().find(|(written, _)| written.eq_ignore_ascii_case(name))?;
        value::read(parameters::find(name, series)?, text).ok()?.integer()
    };
    STANDBY_SETTINGS.iter().map(|name| (*name, value(name).or_else(|| default(name, series)).unwrap_or(0))).collect()
}

/// One entry of `spec.parameters`.
struct Setting<'a> {
    name: &'a str,
    text: &'a str,
    series: &'a str,
    path: FieldPath,
}

impl Setting<'_> {
    /// The setting, `None` for one of an extension, and its value.
    fn read(&self, memory: Option<u64>, out: &mut Problems) -> Option<(Option<&'static Parameter>, Value)> {
        if files::has_control_character(self.name, self.text, Some('\t'), &self.path, out) {
            return None;
        }
        if let Some((prefix, rest)) = self.name.split_once('.') {
            return self.extension(prefix, rest, out).then(|| (None, Value::Text(self.text.to_owned())));
        }
        let Some(parameter) = parameters::find(self.name, self.series) else {
            self.unknown(out);
            return None;
        };
        if parameter.change == Change::Never {
            self.refuse(
                Code::ReservedParameter,
                format!("{} cannot be set in a configuration file", parameter.name),
                "remove it",
                out,
            );
            return None;
        }
        if let Some((why, instead)) = reserved::reserved(parameter.name) {
            self.refuse(Code::ReservedParameter, format!("{} cannot be set: {why}", parameter.name), instead, out);
            return None;
        }
        let value = value::read(parameter, self.text)
            .and_then(|value| limits::check(parameter, &value, self.series, memory).map(|()| value));
        match value {
            Ok(value) => Some((Some(parameter), value)),
            Err(must) => {
                let message = format!("{} must be {must}; found {:?}", parameter.name, self.text);
                let problem = Problem::new(Code::InvalidParameter, self.path.clone(), message);
                out.push(match self.with_a_known_unit(parameter) {
                    Some(text) => problem.with_hint(format!("did you mean {text}?")),
                    None => problem,
                });
                None
            }
        }
    }

    /// The value with the server's own unit, where it has one of Kubernetes or in another letter case.
    fn with_a_known_unit(&self, parameter: &Parameter) -> Option<String> {
        let at = self.text.find(|c: char| c.is_ascii_alphabetic())?;
        let (number, unit) = self.text.split_at(at);
        let unit = match unit.trim().to_ascii_lowercase().as_str() {
            "k" | "ki" | "kb" | "kib" => "kB",
            "m" | "mi" | "mb" | "mib" => "MB",
            "g" | "gi" | "gb" | "gib" => "GB",
            "t" | "ti" | "tb" | "tib" => "TB",
            "sec" | "second" | "seconds" => "s",
            "minute" | "minutes" => "min",
            "hour" | "hours" => "h",
            "day" | "days" => "d",
            _ => return None,
        };
        let text = format!("{}{unit}", number.trim());
        value::read(parameter, &text).is_ok().then_some(text)
    }

    fn refuse(&self, code: Code, message: String, hint: &str, out: &mut Problems) {
        out.push(Problem::new(code, self.path.clone(), message).with_hint(hint).on_key());
    }

    fn unknown(&self, out: &mut Problems) {
        let message = format!("PostgreSQL {} has no setting {}", self.series, self.name);
        let other = ["15", "16", "17", "18"].into_iter().find(|series| parameters::find(self.name, series).is_some());
        let near = nearest(self.name, parameters::of_series(self.series).map(|parameter| parameter.name));
        let hint = match (other, near) {
            (Some(other), _) => format!("remove it; PostgreSQL {other} has it"),
            (None, Some(near)) => format!("did you mean {near}?"),
            (None, None) => Code::UnknownParameter.hint().to_owned(),
        };
        self.refuse(Code::UnknownParameter, message, &hint, out);
    }

    /// A setting with a dot belongs to an extension, or to the application. The server takes any such text.
    fn extension(&self, prefix: &str, rest: &str, out: &mut Problems) -> bool {
        let word = |text: &str| {
            text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
                && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
        };
        if !word(prefix) || !rest.split('.').all(word) {
            let hint = "write names of letters, digits and underscores, joined by a dot";
            self.refuse(Code::UnknownParameter, format!("{} is no name of a setting", self.name), hint, out);
            return false;
        }
        match nearest(prefix, EXTENSIONS) {
            Some(near) if near != prefix => {
                self.refuse(
                    Code::UnknownParameter,
                    format!("no extension {prefix} is in the image"),
                    &format!("did you mean {near}.{rest}?"),
                    out,
                );
                false
            }
            _ => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::standby_settings;
    use super::{check, parameters};
    use crate::api::{DatabaseSpec, EngineName};
    use crate::engine::cases::{self, lines};
    use crate::problem::Problems;
    use serde_json::{Value, json};

    fn spec(changes: &Value) -> DatabaseSpec {
        cases::spec(EngineName::Postgresql, "16", changes)
    }

    #[test]
    fn names_and_sizes() {
        let long = "a".repeat(64);
        for (changes, expected) in [
            (json!({}), None),
            (json!({"database": "orders_2", "username": "o"}), None),
            (
                json!({"database": "postgres"}),
                Some("DBR361 spec.database spec.database \"postgres\" belongs to the server or to dbrender"),
            ),
            (json!({"username": "replication"}), Some("DBR361 spec.username")),
            (json!({"username": "pg_me"}), Some("DBR361 spec.username spec.username \"pg_me\" begins with pg_")),
            (json!({"username": ""}), Some("DBR361 spec.username spec.username \"\" is empty")),
            (json!({"database": "Orders"}), Some("DBR361 spec.database spec.database \"Orders\" would need quotes")),
            (json!({"database": "1a"}), Some("DBR361 ")),
            (json!({"database": "a'b"}), Some("DBR361 ")),
            (json!({"database": long}), Some("DBR361 spec.database spec.database \"aaaa")),
            (json!({"database": "a".repeat(63)}), None),
            (
                json!({"resources": {"memory": "255Mi"}}),
                Some("DBR333 spec.resources.memory PostgreSQL needs 256Mi or more"),
            ),
            (json!({"resources": {"memory": "256Mi", "cpu": "100m"}}), None),
            (json!({"resources": {"cpu": "99m"}}), Some("DBR333 spec.resources.cpu PostgreSQL needs 100m or more")),
        ] {
            let mut out = Problems::new();
            check(&spec(&changes), &mut out);
            let found = lines(&out);
            match expected {
                None => assert_eq!(found, Vec::<String>::new(), "{changes}"),
                Some(expected) => assert!(found.len() == 1 && found[0].starts_with(expected), "{changes}: {found:?}"),
            }
        }
    }

    #[test]
    fn settings_are_known_by_version_and_have_one_spelling() {
        for (name, text, expected) in [
            ("work_mem", "65536", Ok("work_mem = 64MB")),
            ("timezone", "europe/berlin", Ok("TimeZone = europe/berlin")),
            ("pg_stat_statements.max", "10000", Ok("pg_stat_statements.max = 10000")),
            ("myapp.tenant", "x", Ok("myapp.tenant = x")),
            (
                "shared_preload_libraries",
                "pg_stat_statements, auto_explain",
                Ok("shared_preload_libraries = pg_stat_statements, auto_explain"),
            ),
            ("wal_level", "logical", Ok("wal_level = logical")),
            (
                "max_conections",
                "10",
                Err(
                    "DBR362 spec.parameters.max_conections PostgreSQL 16 has no setting max_conections (did you mean max_connections?)",
                ),
            ),
            (
                "io_method",
                "sync",
                Err(
                    "DBR362 spec.parameters.io_method PostgreSQL 16 has no setting io_method (remove it; PostgreSQL 18 has it)",
                ),
            ),
            ("include_dir", "/etc", Err("DBR362 ")),
            (
                "pg_stat_statement.max",
                "1",
                Err(
                    "DBR362 spec.parameters[pg_stat_statement.max] no extension pg_stat_statement is in the image (did you mean pg_stat_statements.max?)",
                ),
            ),
            ("a.b-c", "1", Err("DBR362 ")),
            ("a.", "1", Err("DBR362 ")),
            ("server_version", "1", Err("DBR362 ")),
            (
                "block_size",
                "8192",
                Err("DBR363 spec.parameters.block_size block_size cannot be set in a configuration file"),
            ),
            ("port", "5433", Err("DBR363 spec.parameters.port port cannot be set: clients")),
            (
                "synchronous_standby_names",
                "*",
                Err(
                    "DBR363 spec.parameters.synchronous_standby_names synchronous_standby_names cannot be set: it names members that are there at the moment (set spec.replication)",
                ),
            ),
            ("fsync", "off", Err("DBR363 ")),
            (
                "work_mem",
                "64 megs",
                Err(
                    "DBR364 spec.parameters.work_mem work_mem must be a whole number, with one of the units B, kB, MB, GB, TB; without one it counts in kB; found \"64 megs\"",
                ),
            ),
            (
                "work_mem",
                "1kB",
                Err("DBR364 spec.parameters.work_mem work_mem must be between 64kB and 2147483647kB; found \"1kB\""),
            ),
            (
                "work_mem",
                "64Mi",
                Err(
                    "DBR364 spec.parameters.work_mem work_mem must be a whole number, with one of the units B, kB, MB, GB, TB; without one it counts in kB; found \"64Mi\" (did you mean 64MB?)",
                ),
            ),
            (
                "statement_timeout",
                "5 minutes",
                Err(
                    "DBR364 spec.parameters.statement_timeout statement_timeout must be a whole number, with one of the units us, ms, s, min, h, d; without one it counts in ms; found \"5 minutes\" (did you mean 5min?)",
                ),
            ),
            ("jit", "maybe", Err("DBR364 spec.parameters.jit jit must be on or off; found \"maybe\"")),
            ("synchronous_commit", "local_write", Err("DBR364 ")),
            ("wal_level", "minimal", Err("DBR364 spec.parameters.wal_level wal_level must be replica or logical")),
            (
                "shared_buffers",
                "900MB",
                Err(
                    "DBR364 spec.parameters.shared_buffers shared_buffers must be at most three quarters of resources.memory",
                ),
            ),
            ("huge_pages", "on", Err("DBR364 ")),
            ("max_wal_senders", "3", Err("DBR364 ")),
            ("max_stack_depth", "8MB", Err("DBR364 ")),
            ("min_wal_size", "16MB", Err("DBR364 ")),
            ("TimeZone", "Berlin", Err("DBR364 ")),
            ("shared_preload_libraries", "timescaledb", Err("DBR364 ")),
            (
                "superuser_reserved_connections",
                "100",
                Err(
                    "DBR364 spec.parameters.superuser_reserved_connections 100 connections are reserved and max_connections is 100",
                ),
            ),
            (
                "log_line_prefix",
                "a\nfsync = off",
                Err("DBR364 spec.parameters.log_line_prefix the value of log_line_prefix holds the character U+000A"),
            ),
        ] {
            let mut out = Problems::new();
            let all = parameters(&spec(&json!({"parameters": {name: text}})), "16", &mut out);
            let found = lines(&out);
            match expected {
                Ok(expected) => {
                    let set: Vec<String> = all.iter().map(|(name, text)| format!("{name} = {text}")).collect();
                    assert_eq!((set, found), (vec![expected.to_owned()], Vec::<String>::new()), "{name} = {text:?}");
                }
                Err(expected) => {
                    assert!(found.len() == 1 && found[0].starts_with(expected), "{name} = {text:?}: {found:?}")
                }
            }
        }
        let mut out = Problems::new();
        parameters(&spec(&json!({"parameters": {"Work_Mem": "1MB", "work_mem": "2MB"}})), "16", &mut out);
        assert!(lines(&out)[0].starts_with("DBR202 spec.parameters.work_mem"), "{out:?}");
    }

    #[test]
    fn standbys_are_compared_by_the_values_that_they_get() {
        let found = standby_settings(&spec(&json!({"parameters": {"Max_Connections": "200"}})));
        assert_eq!(
            found,
            [
                ("max_connections", 200),
                ("max_locks_per_transaction", 64),
                ("max_prepared_transactions", 0),
                ("max_wal_senders", 16),
                ("max_worker_processes", 8)
            ]
        );
    }
}
