//! Rules of just MySQL: names of database and user, least sizes, and the user's settings.

use std::collections::BTreeMap;

use super::parameters::{self, Change, Parameter};
use super::{reserved, value};
use crate::api::{DatabaseSpec, Failover, Quantity};
use crate::engine::files;
use crate::engine::identifier::{self, Name};
use crate::engine::sizes::{self, Least};
use crate::problem::{Code, FieldPath, Problem, Problems, nearest};

/// Memory: a member of a group takes 665 MiB with the least of everything (measured). CPU: below it probes fail.
const LEAST: Least = Least { title: "MySQL", millicores: 100, memory: 768 << 20 };
/// Longest name of a database, and of a user, in characters.
const DATABASE_MAX: usize = 64;
const USERNAME_MAX: usize = 32;
/// Databases that are there, or that are dbrender's.
const DATABASES: [&str; 6] =
    ["dbrender", "information_schema", "mysql", "performance_schema", "sys", "mysql_innodb_cluster_metadata"];
/// Users that are there, or that are dbrender's.
const USERS: [&str; 6] = ["backup", "monitor", "mysql", "replication", "restore", "root"];

/// Names and least sizes.
pub(super) fn check(spec: &DatabaseSpec, out: &mut Problems) {
    let kept = Some(("mysql_", identifier::TAKEN));
    let name = |field, name, longest, taken, kept| Name { field, name, longest, beyond: "takes", taken, kept };
    identifier::check(&name("database", &spec.database, DATABASE_MAX, &DATABASES, None), out);
    identifier::check(&name("username", &spec.username, USERNAME_MAX, &USERS, kept), out);
    sizes::check(spec, &LEAST, out);
}

/// The user's settings, each under the server's own name and in one spelling. What cannot be set is reported and left out.
pub(super) fn parameters(spec: &DatabaseSpec, series: &str, out: &mut Problems) -> BTreeMap<String, String> {
    let memory = Quantity::parse(&spec.resources.memory).ok().and_then(|memory| memory.bytes());
    let mut all = BTreeMap::new();
    for (name, text) in &spec.parameters {
        let path = FieldPath::of("spec.parameters").key(name.as_str());
        let setting = Setting { name, text, series, path, group: spec.failover == Failover::Automatic };
        let Some((parameter, value)) = setting.read(memory, out) else { continue };
        if all.insert(parameter.name.to_owned(), value).is_some() {
            let message = format!("{} stands twice, in different spelling", parameter.name);
            out.push(Problem::new(Code::DuplicateKey, setting.path, message).on_key());
        }
    }
    all
}

/// One entry of `spec.parameters`.
struct Setting<'a> {
    name: &'a str,
    text: &'a str,
    series: &'a str,
    path: FieldPath,
    /// Whether the members are a group.
    group: bool,
}

impl Setting<'_> {
    fn read(&self, memory: Option<u64>, out: &mut Problems) -> Option<(&'static Parameter, String)> {
        if files::has_control_character(self.name, self.text, None, &self.path, out) {
            return None;
        }
        let Some(parameter) = parameters::find(self.name) else {
            let message = format!("MySQL {} has no setting {}", self.series, self.name);
            let hint = match nearest(self.name, parameters::all().map(|parameter| parameter.name)) {
                Some(near) => format!("did you mean {near}?"),
                None => Code::UnknownParameter.hint().to_owned(),
            };
            self.refuse(Code::UnknownParameter, message, &hint, out);
            return None;
        };
        if let Some((why, instead)) = reserved::reserved(parameter.name) {
            self.refuse(Code::ReservedParameter, format!("{} cannot be set: {why}", parameter.name), instead, out);
            return None;
        }
        // A server that has not the plugin does not start with its settings.
        if !self.group && parameter.name.starts_with("group_replication_") {
            let message = format!("{} cannot be set: with failover: Manual the members are no group", parameter.name);
            self.refuse(Code::ReservedParameter, message, "remove it, or use failover: Automatic", out);
            return None;
        }
        match value::read(parameter, self.text).and_then(|value| limit(parameter, value, memory)) {
            Ok(value) => Some((parameter, value)),
            Err(must) => {
                let message = format!("{} must be {must}; found {:?}", parameter.name, self.text);
                let problem = Problem::new(Code::InvalidParameter, self.path.clone(), message);
                out.push(match self.with_a_known_suffix(parameter) {
                    Some(text) => problem.with_hint(format!("did you mean {text}?")),
                    None => problem,
                });
                None
            }
        }
    }

    /// The value with a suffix of the server's, where it has a unit of Kubernetes or of other programs.
    fn with_a_known_suffix(&self, parameter: &Parameter) -> Option<String> {
        let at = self.text.find(|c: char| c.is_ascii_alphabetic())?;
        let (number, unit) = self.text.split_at(at);
        let suffix = match unit.to_ascii_lowercase().as_str() {
            "ki" | "kb" | "kib" => "K",
            "mi" | "mb" | "mib" => "M",
            "gi" | "gb" | "gib" => "G",
            "ti" | "tb" | "tib" => "T",
            _ => return None,
        };
        let text = format!("{}{suffix}", number.trim());
        value::read(parameter, &text).is_ok().then_some(text)
    }

    fn refuse(&self, code: Code, message: String, hint: &str, out: &mut Problems) {
        out.push(Problem::new(code, self.path.clone(), message).with_hint(hint).on_key());
    }
}

/// What a value must fulfil beyond its type and range.
fn limit(parameter: &Parameter, value: String, memory: Option<u64>) -> Result<String, String> {
    match (parameter.name, value.parse::<u64>(), memory) {
        ("innodb_buffer_pool_size", Ok(bytes), Some(memory)) if bytes > memory / 4 * 3 => {
            Err("at most three quarters of resources.memory; the rest is for connections and the group".to_owned())
        }
        ("max_connections", Ok(number), _) if number < 20 => {
            Err("20 or more: the server's own users need some of them".to_owned())
        }
        // The server rounds these down to a multiple, and what it shows would not be what is written.
        ("innodb_redo_log_capacity", Ok(bytes), _) if bytes % (1 << 20) != 0 => Err("a multiple of 1M".to_owned()),
        _ if parameter.change == Change::Static && parameter.name == "large_pages" && value == "ON" => {
            Err("OFF: pods have no large pages".to_owned())
        }
        _ => Ok(value),
    }
}

#[cfg(test)]
mod tests {
    use super::{check, parameters};
    use crate::api::{DatabaseSpec, EngineName};
    use crate::engine::cases::{self, lines};
    use crate::problem::Problems;
    use serde_json::{Value, json};

    fn spec(changes: &Value) -> DatabaseSpec {
        cases::spec(EngineName::Mysql, "9.7", changes)
    }

    #[test]
    fn names_and_sizes() {
        for (changes, expected) in [
            (json!({}), None),
            (json!({"database": "orders_2", "username": "o"}), None),
            (json!({"database": "mysql"}), Some("DBR361 spec.database spec.database \"mysql\" belongs to the server")),
            (json!({"database": "dbrender"}), Some("DBR361 spec.database")),
            (json!({"username": "replication"}), Some("DBR361 spec.username")),
            (json!({"username": "mysql_x"}), Some("DBR361 spec.username")),
            (json!({"username": ""}), Some("DBR361 spec.username spec.username \"\" is empty")),
            (json!({"username": "a".repeat(33)}), Some("DBR361 spec.username")),
            (json!({"username": "a".repeat(32), "database": "a".repeat(64)}), None),
            (json!({"database": "a`b"}), Some("DBR361 ")),
            (json!({"resources": {"memory": "767Mi"}}), Some("DBR333 spec.resources.memory MySQL needs 768Mi or more")),
            (json!({"resources": {"memory": "768Mi", "cpu": "100m"}}), None),
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
    fn settings_are_known_and_have_one_spelling() {
        for (name, text, expected) in [
            ("Max-Connections", "200", Ok("max_connections = 200")),
            ("innodb_buffer_pool_size", "512M", Ok("innodb_buffer_pool_size = 536870912")),
            ("sql_mode", "ANSI_QUOTES,STRICT_TRANS_TABLES", Ok("sql_mode = ANSI_QUOTES,STRICT_TRANS_TABLES")),
            ("log_bin_trust_function_creators", "1", Ok("log_bin_trust_function_creators = ON")),
            ("group_replication_consistency", "after", Ok("group_replication_consistency = AFTER")),
            (
                "max_conections",
                "10",
                Err(
                    "DBR362 spec.parameters.max_conections MySQL 9.7 has no setting max_conections (did you mean max_connections?)",
                ),
            ),
            ("validate_password.length", "8", Err("DBR362 ")),
            ("port", "3307", Err("DBR363 spec.parameters.port port cannot be set: clients")),
            ("group_replication_group_name", "x", Err("DBR363 ")),
            ("gtid-mode", "OFF", Err("DBR363 spec.parameters.gtid-mode gtid_mode cannot be set")),
            (
                "innodb_buffer_pool_size",
                "512Mi",
                Err(
                    "DBR364 spec.parameters.innodb_buffer_pool_size innodb_buffer_pool_size must be a whole number, perhaps with one of the suffixes K, M, G, T; found \"512Mi\" (did you mean 512M?)",
                ),
            ),
            ("innodb_buffer_pool_size", "900M", Err("DBR364 ")),
            ("max_connections", "5", Err("DBR364 ")),
            (
                "max_connections",
                "1000000",
                Err("DBR364 spec.parameters.max_connections max_connections must be between 1 and 100000"),
            ),
            ("init_connect", "x", Err("DBR363 ")),
            (
                "sql_mode",
                "a\n[mysqld]",
                Err("DBR364 spec.parameters.sql_mode the value of sql_mode holds the character U+000A"),
            ),
        ] {
            let mut out = Problems::new();
            let all = parameters(&spec(&json!({"parameters": {name: text}})), "9.7", &mut out);
            let found = lines(&out);
            match expected {
                Ok(expected) => {
                    let set: Vec<String> = all.iter().map(|(name, text)| format!("{name} = {text}")).collect();
                    assert_eq!((set, found), (vec![expected.to_owned()], Vec::<String>::new()), "{name} = {text:?}");
                }
                Err(expected) => {
                    assert!(found.len() == 1 && found[0].starts_with(expected), "{name} = {text:?}: {found:?}");
                }
            }
        }
        let mut out = Problems::new();
        parameters(
            &spec(&json!({"parameters": {"max-connections": "100", "max_connections": "200"}})),
            "9.7",
            &mut out,
        );
        assert!(lines(&out)[0].starts_with("DBR202 spec.parameters.max_connections"), "{out:?}");
    }
}
