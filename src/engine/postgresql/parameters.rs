//! The settings of PostgreSQL 15 to 18, from the servers themselves: `settings.txt`, written by
//! `testbed/settings/generate`, whose head names the exact versions.

use std::sync::LazyLock;

/// The table as text. It is read once, at the first question.
const TEXT: &str = include_str!("settings.txt");

static ROWS: LazyLock<Vec<Parameter>> = LazyLock::new(|| TEXT.lines().filter_map(row).collect());

/// One setting in one or more major versions.
#[derive(Debug, PartialEq)]
pub(super) struct Parameter {
    /// As the server writes it. It takes any letter case.
    pub(super) name: &'static str,
    /// First and last major.
    majors: (u32, u32),
    pub(super) change: Change,
    pub(super) kind: Kind,
    /// What the server has where nobody says otherwise, in the base unit.
    pub(super) built_in: &'static str,
}

/// When a changed value counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Change {
    /// No configuration file may hold it.
    Never,
    /// At the next start.
    Restart,
    /// At the next reload, some of them for new connections only.
    Reload,
}

/// What a value is.
#[derive(Debug, PartialEq)]
pub(super) enum Kind {
    Bool,
    /// Bounds in the base unit, both inclusive.
    Integer {
        least: i64,
        largest: i64,
        unit: Option<Unit>,
    },
    /// Bounds in the base unit, both inclusive.
    Real {
        least: f64,
        largest: f64,
        unit: Option<Unit>,
    },
    Words(Vec<&'static str>),
    Text,
}

/// The unit in which the server counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unit {
    Bytes,
    Kilobytes,
    /// Pages of 8 kB.
    Blocks,
    Megabytes,
    Milliseconds,
    Seconds,
    Minutes,
}

/// A setting of a major version, by name in any letter case.
pub(super) fn find(name: &str, series: &str) -> Option<&'static Parameter> {
    let major: u32 = series.parse().ok()?;
    of_major(major).find(|parameter| parameter.name.eq_ignore_ascii_case(name))
}

/// Every setting of a major version, by name.
pub(super) fn of_series(series: &str) -> impl Iterator<Item = &'static Parameter> {
    of_major(series.parse().unwrap_or(0))
}

fn of_major(major: u32) -> impl Iterator<Item = &'static Parameter> {
    ROWS.iter().filter(move |parameter| (parameter.majors.0..=parameter.majors.1).contains(&major))
}

/// Whether a change of the setting restarts the server, in any version. Unknown ones, which belong to extensions, may.
pub(super) fn restart_needed(name: &str) -> bool {
    let mut known = ROWS.iter().filter(|parameter| parameter.name.eq_ignore_ascii_case(name)).peekable();
    known.peek().is_none() || known.any(|parameter| parameter.change == Change::Restart)
}

fn row(line: &'static str) -> Option<Parameter> {
    let mut columns = line.split('\t');
    let mut next = || columns.next();
    let (name, majors, context, kind) = (next()?, next()?, next()?, next()?);
    let (unit, least, largest, built_in, words) = (unit(next()?), next()?, next()?, next()?, next()?);
    let (first, last) = majors.split_once('-').unwrap_or((majors, majors));
    let kind = match kind {
        "bool" => Kind::Bool,
        "integer" => Kind::Integer { least: least.parse().ok()?, largest: largest.parse().ok()?, unit },
        "real" => Kind::Real { least: least.parse().ok()?, largest: largest.parse().ok()?, unit },
        "enum" => Kind::Words(words.split(',').collect()),
        _ => Kind::Text,
    };
    let change = match context {
        "-" | "internal" => Change::Never,
        "postmaster" => Change::Restart,
        _ => Change::Reload,
    };
    Some(Parameter { name, majors: (first.parse().ok()?, last.parse().ok()?), change, kind, built_in })
}

fn unit(text: &str) -> Option<Unit> {
    Some(match text {
        "B" => Unit::Bytes,
        "kB" => Unit::Kilobytes,
        "8kB" => Unit::Blocks,
        "MB" => Unit::Megabytes,
        "ms" => Unit::Milliseconds,
        "s" => Unit::Seconds,
        "min" => Unit::Minutes,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::{Change, Kind, ROWS, TEXT, Unit, find, of_series, restart_needed};

    #[test]
    fn every_row_of_the_table_is_read() {
        let lines: Vec<&str> = TEXT.lines().filter(|line| !line.starts_with('#')).collect();
        assert_eq!(ROWS.len(), lines.len());
        assert!(ROWS.len() > 400, "{}", ROWS.len());
        // A unit that is not known would make a size look like a count.
        let units = lines.iter().filter(|line| line.split('\t').nth(4) != Some("")).count();
        let read = ROWS
            .iter()
            .filter(|p| matches!(p.kind, Kind::Integer { unit: Some(_), .. } | Kind::Real { unit: Some(_), .. }))
            .count();
        assert_eq!(read, units);
        for (series, least) in [("15", 340), ("16", 350), ("17", 365), ("18", 385)] {
            assert!(of_series(series).count() > least, "{series}: {}", of_series(series).count());
        }
    }

    #[test]
    fn knows_settings_by_version_and_context() {
        let shared_buffers = find("shared_buffers", "16").expect("every version has it");
        assert_eq!(shared_buffers.kind, Kind::Integer { least: 16, largest: 1_073_741_823, unit: Some(Unit::Blocks) });
        assert_eq!((shared_buffers.change, shared_buffers.built_in), (Change::Restart, "16384"));
        assert!(find("io_method", "17").is_none() && find("io_method", "18").is_some());
        assert!(find("old_snapshot_threshold", "16").is_some() && find("old_snapshot_threshold", "17").is_none());
        assert_eq!(find("timezone", "15").map(|p| p.name), Some("TimeZone"));
        assert_eq!(find("work_mem", "99"), None);
        for (name, restart) in [
            ("max_connections", true),
            ("work_mem", false),
            ("log_connections", false),
            ("pg_stat_statements.max", true),
        ] {
            assert_eq!(restart_needed(name), restart, "{name}");
        }
    }
}
