//! Names of time zones.

/// Names of the IANA database, sorted by bytes: the entries of `lib/time/zoneinfo.zip` of Go 1.26, which is what API
/// servers are built with. `testbed/settings/time-zones` writes the file.
const NAMES: &str = include_str!("time_zones.txt");

/// Every name that the API server knows, sorted.
pub fn time_zones() -> impl Iterator<Item = &'static str> {
    NAMES.lines()
}

/// Whether the API server takes a name. Letter case counts.
#[must_use]
pub fn is_time_zone(name: &str) -> bool {
    time_zones().any(|known| known == name)
}

#[cfg(test)]
mod tests {
    use super::{is_time_zone, time_zones};

    #[test]
    fn knows_what_the_api_server_knows() {
        for (name, known) in [
            ("Etc/UTC", true),
            ("UTC", true),
            ("Europe/Berlin", true),
            ("Asia/Seoul", true),
            ("America/Argentina/Buenos_Aires", true),
            ("europe/berlin", false),
            ("Local", false),
            ("", false),
            ("Berlin", false),
            ("UTC+1", false),
        ] {
            assert_eq!(is_time_zone(name), known, "{name}");
        }
        assert!(time_zones().is_sorted());
    }
}
