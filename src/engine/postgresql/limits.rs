//! What a setting's value must fulfil beyond its type and range: rules of the server's own that it checks at its start,
//! and floors below which members cannot follow their primary.

use super::parameters::Parameter;
use super::value::Value;
use crate::api::time_zones;

/// Libraries of the official image that have to be loaded at the start to be of use.
const PRELOADED: [&str; 5] = ["auth_delay", "auto_explain", "passwordcheck", "pg_prewarm", "pg_stat_statements"];
/// Locales of the official image.
const LOCALES: [&str; 7] = ["", "C", "C.UTF-8", "C.utf8", "POSIX", "en_US.UTF-8", "en_US.utf8"];
/// Stack of a process in a container is 8 MB; the server wants 512 kB of it for itself.
const STACK_DEPTH_MAX: i64 = 7680;
/// Twice the size of a log segment, in MB.
const WAL_SIZE_LEAST: i64 = 32;

/// What the value must be, in words that can stand behind "must be", when it is not.
pub(super) fn check(parameter: &Parameter, value: &Value, series: &str, memory: Option<u64>) -> Result<(), String> {
    match value {
        Value::Integer(number) => integer(parameter.name, *number, memory),
        Value::Word(word) => self::word(parameter.name, word),
        Value::Text(text) => self::text(parameter.name, text, series),
        Value::Bool(_) | Value::Real(_) => Ok(()),
    }
}

fn integer(name: &str, value: i64, memory: Option<u64>) -> Result<(), String> {
    let at_least = |least: i64, why: &str| if value < least { Err(format!("{least} or more: {why}")) } else { Ok(()) };
    match name {
        "max_wal_senders" => at_least(10, "six standbys, their first copies and their successors need them"),
        "max_replication_slots" => at_least(8, "each standby has one"),
        "max_connections" => at_least(20, "the server's own users need some of them"),
        "max_wal_size" | "min_wal_size" if value < WAL_SIZE_LEAST => {
            Err(format!("{WAL_SIZE_LEAST}MB or more, which is two segments of the log"))
        }
        "max_stack_depth" if value > STACK_DEPTH_MAX => {
            Err(format!("{STACK_DEPTH_MAX}kB or less, because a container's stack has 8MB"))
        }
        "io_max_concurrency" if value == 0 => Err("-1, or 1 or more".to_owned()),
        "vacuum_buffer_usage_limit" if value != 0 && value < 128 => Err("0, or 128kB or more".to_owned()),
        "commit_timestamp_buffers"
        | "multixact_member_buffers"
        | "multixact_offset_buffers"
        | "notify_buffers"
        | "serializable_buffers"
        | "subtransaction_buffers"
        | "transaction_buffers"
            if value % 16 != 0 =>
        {
            Err("a multiple of 16 pages, that is of 128kB".to_owned())
        }
        "shared_buffers" => match (u64::try_from(value), memory) {
            (Ok(pages), Some(memory)) if pages.saturating_mul(8192) > memory / 4 * 3 => {
                Err("at most three quarters of resources.memory; the rest is for connections and their work".to_owned())
            }
            _ => Ok(()),
        },
        _ => Ok(()),
    }
}

fn word(name: &str, word: &str) -> Result<(), String> {
    match (name, word) {
        ("wal_level", "minimal") => Err("replica or logical, because standbys follow the log".to_owned()),
        ("huge_pages", "on" | "true" | "yes" | "1") => {
            Err("try or off: pods have no huge pages, and the server would not start".to_owned())
        }
        _ => Ok(()),
    }
}

fn text(name: &str, text: &str, series: &str) -> Result<(), String> {
    match name {
        "TimeZone" | "log_timezone" => time_zone(text),
        "DateStyle" => words(
            text,
            &[
                "ISO",
                "SQL",
                "POSTGRES",
                "GERMAN",
                "YMD",
                "DMY",
                "EURO",
                "EUROPEAN",
                "MDY",
                "US",
                "NONEURO",
                "NONEUROPEAN",
                "DEFAULT",
            ],
        ),
        "lc_messages" | "lc_monetary" | "lc_numeric" | "lc_time" => one_of(text, &LOCALES),
        "shared_preload_libraries" | "session_preload_libraries" => words(text, &PRELOADED),
        "log_connections" if series == "18" => log_connections(text),
        "createrole_self_grant" => words(text, &["set", "inherit"]),
        "restrict_nonsystem_relation_kind" => words(text, &["view", "foreign-table"]),
        "debug_io_direct" => words(text, &["data", "wal", "wal_init"]),
        "default_table_access_method" if text.is_empty() || text.len() > 63 => {
            Err("the name of an access method, for example heap".to_owned())
        }
        "backtrace_functions" if !text.bytes().all(|b| b.is_ascii_alphanumeric() || b"_, \n\t".contains(&b)) => {
            Err("names of functions, joined by commas".to_owned())
        }
        "timezone_abbreviations" => one_of(text, &["Default", "Australia", "India"]),
        _ => Ok(()),
    }
}

/// In 18 a list; the words of a boolean are understood too, alone.
fn log_connections(text: &str) -> Result<(), String> {
    let alone = ["on", "true", "yes", "1", "off", "false", "no", "0", "all", ""];
    if alone.iter().any(|word| word.eq_ignore_ascii_case(text.trim())) {
        return Ok(());
    }
    words(text, &["receipt", "authentication", "authorization", "setup_durations", "all"])
}

/// Names of the IANA database, in any letter case; offsets and POSIX forms have digits and are left to the server.
fn time_zone(text: &str) -> Result<(), String> {
    let known = time_zones().any(|zone| zone.eq_ignore_ascii_case(text));
    if known || text.bytes().any(|b| b.is_ascii_digit()) {
        Ok(())
    } else {
        Err("a time zone, for example Europe/Berlin".to_owned())
    }
}

/// A list joined by commas, in any letter case.
fn words(text: &str, known: &[&str]) -> Result<(), String> {
    let good = |part: &str| known.iter().any(|word| word.eq_ignore_ascii_case(part.trim().trim_matches('"')));
    if text.trim().is_empty() || text.split(',').all(good) {
        Ok(())
    } else {
        Err(format!("words of this list, joined by commas: {}", known.join(", ")))
    }
}

fn one_of(text: &str, known: &[&str]) -> Result<(), String> {
    if known.contains(&text) {
        Ok(())
    } else {
        Err(format!("one of {}", known.iter().filter(|word| !word.is_empty()).copied().collect::<Vec<_>>().join(", ")))
    }
}
