//! The settings of MySQL 9.7, from the server itself: `settings.txt`, written by `testbed/settings/mysql`.

use std::sync::LazyLock;

/// The table as text. It is read once, at the first question.
const TEXT: &str = include_str!("settings.txt");

static ROWS: LazyLock<Vec<Parameter>> = LazyLock::new(|| TEXT.lines().filter_map(row).collect());

/// One setting.
#[derive(Debug, PartialEq)]
pub(super) struct Parameter {
    /// As the server writes it, with underscores.
    pub(super) name: &'static str,
    pub(super) change: Change,
    pub(super) kind: Kind,
}

/// When a changed value counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Change {
    /// At the next start.
    Static,
    /// At once, some of them for new connections only.
    Dynamic,
}

/// What a value is.
#[derive(Debug, PartialEq)]
pub(super) enum Kind {
    Boolean,
    /// Bounds, both inclusive. Wider than 64 bits, because the largest is above what a signed number holds.
    Integer {
        least: i128,
        largest: i128,
    },
    /// Bounds, both inclusive.
    Number {
        least: f64,
        largest: f64,
    },
    Words(Vec<&'static str>),
    Text,
}

/// A setting, with dashes or underscores and in any letter case, as in an option file.
pub(super) fn find(name: &str) -> Option<&'static Parameter> {
    let name = name.to_ascii_lowercase().replace('-', "_");
    ROWS.iter().find(|parameter| parameter.name == name)
}

/// Every setting.
pub(super) fn all() -> impl Iterator<Item = &'static Parameter> {
    ROWS.iter()
}

/// Whether a running server does not take the setting.
pub(super) fn restart_needed(name: &str) -> bool {
    find(name).is_none_or(|parameter| parameter.change == Change::Static)
}

fn row(line: &'static str) -> Option<Parameter> {
    let columns: Vec<&str> = line.split('\t').collect();
    let [name, change, kind, least, largest, words] = columns.try_into().ok()?;
    let kind = match kind {
        "boolean" => Kind::Boolean,
        "integer" => Kind::Integer { least: least.parse().ok()?, largest: largest.parse().ok()? },
        "numeric" => Kind::Number { least: least.parse().ok()?, largest: largest.parse().ok()? },
        // An enumeration that only a start can change does not tell its words.
        "enumeration" if !words.is_empty() => Kind::Words(words.split(',').collect()),
        _ => Kind::Text,
    };
    let change = if change == "static" { Change::Static } else { Change::Dynamic };
    Some(Parameter { name, change, kind })
}

#[cfg(test)]
mod tests {
    use super::{Change, Kind, ROWS, TEXT, find, restart_needed};

    #[test]
    fn every_row_of_the_table_is_read() {
        let lines = TEXT.lines().filter(|line| !line.starts_with('#')).count();
        assert_eq!(ROWS.len(), lines);
        assert!(lines > 550, "{lines}");
        let numbers = TEXT.lines().filter(|line| line.contains("\tinteger\t") || line.contains("\tnumeric\t")).count();
        let read = ROWS.iter().filter(|p| matches!(p.kind, Kind::Integer { .. } | Kind::Number { .. })).count();
        assert_eq!(read, numbers);
    }

    #[test]
    fn knows_settings_by_name_and_kind() {
        let connections = find("Max-Connections").expect("every version has it");
        assert_eq!(connections.kind, Kind::Integer { least: 1, largest: 100_000 });
        assert_eq!(connections.change, Change::Dynamic);
        assert_eq!(find("max_conections"), None);
        for (name, restart) in
            [("innodb_buffer_pool_size", false), ("innodb_page_size", true), ("max_connections", false), ("x", true)]
        {
            assert_eq!(restart_needed(name), restart, "{name}");
        }
    }
}
