//! Rules of just MongoDB: names of database and user, least sizes, and the user's settings.

use std::collections::BTreeMap;

use super::parameters::{self, Parameter};
use super::{reserved, value};
use crate::api::{DatabaseSpec, Quantity};
use crate::engine::files;
use crate::engine::identifier::{self, Name};
use crate::engine::sizes::{self, Least};
use crate::problem::{Code, FieldPath, Problem, Problems, nearest};

/// Memory: the least cache, 256 MiB, and twice as much for connections, sorts and the rest. Not measured. CPU: as the other engines.
const LEAST: Least = Least { title: "MongoDB", millicores: 100, memory: 768 << 20 };
/// Longest name of a database, in bytes (the manual's "Limits and Thresholds").
const DATABASE_MAX: usize = 63;
/// The server states none for a user's name; the API's.
const USERNAME_MAX: usize = 63;
/// Databases that are there, or that are dbrender's.
const DATABASES: [&str; 4] = ["admin", "config", "dbrender", "local"];
/// Users that are there, or that are dbrender's.
const USERS: [&str; 5] = ["backup", "monitor", "mongodb", "restore", "root"];

/// The one setting that the memory bounds.
pub(super) const CACHE: &str = "storage.wiredTiger.engineConfig.cacheSizeGB";

/// Names and least sizes.
pub(super) fn check(spec: &DatabaseSpec, out: &mut Problems) {
    let name = |field, name, longest, taken| Name { field, name, longest, beyond: "takes", taken, kept: None };
    identifier::check(&name("database", &spec.database, DATABASE_MAX, &DATABASES), out);
    identifier::check(&name("username", &spec.username, USERNAME_MAX, &USERS), out);
    sizes::check(spec, &LEAST, out);
}

/// The user's settings, each in one spelling. What cannot be set is reported and left out.
pub(super) fn parameters(spec: &DatabaseSpec, series: &str, out: &mut Problems) -> BTreeMap<String, String> {
    let memory = Quantity::parse(&spec.resources.memory).ok().and_then(|memory| memory.bytes());
    let mut all = BTreeMap::new();
    for (name, text) in &spec.parameters {
        let path = FieldPath::of("spec.parameters").key(name.as_str());
        let setting = Setting { name, text, series, path };
        if let Some((parameter, value)) = setting.read(memory, out) {
            all.insert(parameter.name.to_owned(), value);
        }
    }
    all
}

/// With a certificate, members end up speaking TLS with each other.
pub(super) fn update(old: &DatabaseSpec, new: &DatabaseSpec, out: &mut Problems) {
    if old.tls.is_some() && new.tls.is_none() && old.replicas > 1 {
        let message =
            "tls cannot be removed while there is more than one member: those that restart first are not heard";
        out.report(Code::TlsRemoved, FieldPath::of("spec").key("tls"), message);
    }
}

/// One entry of `spec.parameters`.
struct Setting<'a> {
    name: &'a str,
    text: &'a str,
    series: &'a str,
    path: FieldPath,
}

impl Setting<'_> {
    fn read(&self, memory: Option<u64>, out: &mut Problems) -> Option<(&'static Parameter, String)> {
        if files::has_control_character(self.name, self.text, None, &self.path, out) {
            return None;
        }
        let Some(parameter) = parameters::find(self.name, self.series) else {
            let message = format!("dbrender knows no setting {} of MongoDB {}", self.name, self.series);
            self.refuse(Code::UnknownParameter, message, &self.hint(), out);
            return None;
        };
        if let Some((why, instead)) = reserved::reserved(parameter.name) {
            self.refuse(Code::ReservedParameter, format!("{} cannot be set: {why}", parameter.name), instead, out);
            return None;
        }
        match value::read(parameter, self.text).and_then(|value| limit(parameter, value, memory)) {
            Ok(value) => Some((parameter, value)),
            Err(must) => {
                let message = format!("{} must be {must}; found {:?}", parameter.name, self.text);
                out.push(Problem::new(Code::InvalidParameter, self.path.clone(), message));
                None
            }
        }
    }

    /// What may be meant: a newer series' setting, the same in another case, an option by its last word, or the nearest.
    fn hint(&self) -> String {
        if parameters::known(self.name).is_some() {
            return format!("{} came with a newer series", self.name);
        }
        let names = || parameters::all(self.series).map(|parameter| parameter.name);
        let plain = self.name.strip_prefix("setParameter.").unwrap_or(self.name);
        let same = names().find(|name| name.eq_ignore_ascii_case(plain));
        let last = |name: &str| name.rsplit('.').next().is_some_and(|last| last.eq_ignore_ascii_case(plain));
        match same.or_else(|| names().find(|name| last(name))).or_else(|| nearest(plain, names())) {
            Some(near) => format!("did you mean {near}?"),
            None => Code::UnknownParameter.hint().to_owned(),
        }
    }

    fn refuse(&self, code: Code, message: String, hint: &str, out: &mut Problems) {
        out.push(Problem::new(code, self.path.clone(), message).with_hint(hint).on_key());
    }
}

/// What a value must fulfil beyond its type and range.
fn limit(parameter: &Parameter, value: String, memory: Option<u64>) -> Result<String, String> {
    if parameter.name == CACHE
        && let (Ok(gigabytes), Some(memory)) = (value.parse::<f64>(), memory)
        && !fits(gigabytes, memory)
    {
        return Err("at most three quarters of resources.memory; the rest is for connections and sorts".to_owned());
    }
    Ok(value)
}

/// Whether so many GiB are at most three quarters of so many bytes.
fn fits(gigabytes: f64, memory: u64) -> bool {
    // Whole MiB are below 2^44, which a double holds exactly.
    let most = u32::try_from((memory >> 20) / 4 * 3).unwrap_or(u32::MAX);
    gigabytes * 1024.0 <= f64::from(most)
}

#[cfg(test)]
mod tests {
    use super::{check, parameters};
    use crate::api::{DatabaseSpec, EngineName};
    use crate::engine::cases::{self, lines};
    use crate::problem::Problems;
    use serde_json::{Value, json};

    fn spec(changes: &Value) -> DatabaseSpec {
        cases::spec(EngineName::Mongodb, "8.0", changes)
    }

    #[test]
    fn names_and_sizes() {
        for (changes, expected) in [
            (json!({}), None),
            (json!({"database": "orders_2", "username": "o"}), None),
            (json!({"database": "admin"}), Some("DBR361 spec.database spec.database \"admin\" belongs to the server")),
            (json!({"database": "local"}), Some("DBR361 spec.database")),
            (json!({"username": "root"}), Some("DBR361 spec.username")),
            (json!({"username": ""}), Some("DBR361 spec.username spec.username \"\" is empty")),
            (json!({"database": "a".repeat(64)}), Some("DBR361 spec.database")),
            (json!({"username": "a".repeat(63), "database": "a".repeat(63)}), None),
            // The server takes neither a dot nor a dollar in it.
            (json!({"database": "a.b"}), Some("DBR361 ")),
            (
                json!({"resources": {"memory": "767Mi"}}),
                Some("DBR333 spec.resources.memory MongoDB needs 768Mi or more"),
            ),
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
        const CACHE: &str = "storage.wiredTiger.engineConfig.cacheSizeGB";
        for (name, text, expected) in [
            ("logLevel", "1", Ok("logLevel = 1")),
            (CACHE, "0.50", Ok("storage.wiredTiger.engineConfig.cacheSizeGB = 0.5")),
            (CACHE, "0.75", Ok("storage.wiredTiger.engineConfig.cacheSizeGB = 0.75")),
            (CACHE, "0.76", Err("DBR364 ")),
            (
                "loglevel",
                "1",
                Err(
                    "DBR362 spec.parameters.loglevel dbrender knows no setting loglevel of MongoDB 8.0 (did you mean logLevel?)",
                ),
            ),
            ("setParameter.logLevel", "1", Err("DBR362 ")),
            (
                "cacheSizeGB",
                "1",
                Err(
                    "DBR362 spec.parameters.cacheSizeGB dbrender knows no setting cacheSizeGB of MongoDB 8.0 (did you mean storage.wiredTiger.engineConfig.cacheSizeGB?)",
                ),
            ),
            ("net.port", "27018", Err("DBR363 ")),
            ("replication.oplogSizeMB", "2048", Err("DBR363 ")),
            ("security.keyFile", "/x", Err("DBR363 ")),
            ("logLevel", "6", Err("DBR364 spec.parameters.logLevel logLevel must be between 0 and 5; found \"6\"")),
            (
                "cursorTimeoutMillis",
                "0",
                Err("DBR364 spec.parameters.cursorTimeoutMillis cursorTimeoutMillis must be 1 or more"),
            ),
            ("planCacheSize", "a\nnet:", Err("DBR364 spec.parameters.planCacheSize the value of planCacheSize holds")),
        ] {
            let mut out = Problems::new();
            let all = parameters(&spec(&json!({"parameters": {name: text}})), "8.0", &mut out);
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
        let newer = json!({"parameters": {"tcmallocEnableBackgroundThread": "false"}});
        parameters(&spec(&newer), "7.0", &mut out);
        assert!(
            lines(&out)[0].contains("of MongoDB 7.0 (tcmallocEnableBackgroundThread came with a newer series)"),
            "{out:?}"
        );
    }
}
