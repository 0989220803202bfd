//! The settings of MongoDB 7.0 and 8.0: `settings.txt`, read from the manual and the sources. No server has confirmed it.

use std::sync::LazyLock;

/// The table as text. It is read once, at the first question.
const TEXT: &str = include_str!("settings.txt");

static ROWS: LazyLock<Vec<Parameter>> = LazyLock::new(|| TEXT.lines().filter_map(row).collect());

/// One setting.
#[derive(Debug, PartialEq)]
pub(super) struct Parameter {
    /// As the server writes it; upper and lower case differ.
    pub(super) name: &'static str,
    /// First series that has it.
    since: &'static str,
    pub(super) change: Change,
    pub(super) kind: Kind,
}

impl Parameter {
    /// An option of the configuration file, as `storage.dbPath`; otherwise a parameter below `setParameter`.
    pub(super) fn is_option(&self) -> bool {
        self.name.contains('.')
    }
}

/// When a changed value counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Change {
    /// At the next start.
    Static,
    /// At once.
    Dynamic,
}

/// What a value is.
#[derive(Debug, PartialEq)]
pub(super) enum Kind {
    Boolean,
    /// Bounds, both inclusive.
    Integer {
        least: i64,
        largest: i64,
    },
    /// Bounds, both inclusive.
    Number {
        least: f64,
        largest: f64,
    },
    Words(Vec<&'static str>),
    /// Some of these words, with commas.
    List(Vec<&'static str>),
    Text,
}

/// A setting that a series has.
pub(super) fn find(name: &str, series: &str) -> Option<&'static Parameter> {
    all(series).find(|parameter| parameter.name == name)
}

/// A setting of any series.
pub(super) fn known(name: &str) -> Option<&'static Parameter> {
    ROWS.iter().find(|parameter| parameter.name == name)
}

/// Every setting of a series. They come and do not go.
pub(super) fn all(series: &str) -> impl Iterator<Item = &'static Parameter> {
    ROWS.iter().filter(move |parameter| parameter.since <= series)
}

fn row(line: &'static str) -> Option<Parameter> {
    let columns: Vec<&str> = line.split('\t').collect();
    let [name, since, change, kind, least, largest, words] = columns.try_into().ok()?;
    let kind = match kind {
        "boolean" => Kind::Boolean,
        "integer" => Kind::Integer { least: least.parse().ok()?, largest: largest.parse().ok()? },
        "numeric" => Kind::Number { least: least.parse().ok()?, largest: largest.parse().ok()? },
        "words" => Kind::Words(words.split(',').collect()),
        "list" => Kind::List(words.split(',').collect()),
        _ => Kind::Text,
    };
    let change = if change == "static" { Change::Static } else { Change::Dynamic };
    Some(Parameter { name, since, change, kind })
}

#[cfg(test)]
mod tests {
    use super::{Change, Kind, ROWS, TEXT, find, known};

    #[test]
    fn every_row_of_the_table_is_read() {
        let lines: Vec<&str> = TEXT.lines().filter(|line| !line.starts_with('#')).collect();
        assert_eq!(ROWS.len(), lines.len());
        assert!(lines.len() > 200, "{}", lines.len());
        let names: std::collections::BTreeSet<&str> = ROWS.iter().map(|row| row.name).collect();
        assert_eq!(names.len(), lines.len(), "a name stands twice");
        let typed = ["boolean", "integer", "numeric", "words", "list", "text"];
        assert!(lines.iter().all(|line| typed.contains(&line.split('\t').nth(3).unwrap_or_default())));
    }

    #[test]
    fn knows_settings_by_name_series_and_kind() {
        let level = find("logLevel", "7.0").expect("every series has it");
        assert_eq!((level.change, level.is_option()), (Change::Dynamic, false));
        assert_eq!(level.kind, Kind::Integer { least: 0, largest: 5 });
        assert!(find("loglevel", "8.0").is_none());
        let cache = find("storage.wiredTiger.engineConfig.cacheSizeGB", "8.0").expect("every series has it");
        assert_eq!((cache.change, cache.is_option()), (Change::Static, true));
        // Came with 8.0.
        assert!(find("tcmallocEnableBackgroundThread", "8.0").is_some());
        assert!(
            find("tcmallocEnableBackgroundThread", "7.0").is_none()
                && known("tcmallocEnableBackgroundThread").is_some()
        );
    }
}
