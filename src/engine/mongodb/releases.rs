//! MongoDB in the image catalog: the two series that their makers mend for years, in the official images.

use crate::engine::{ImageOf, Release, VersionMove};

/// User and group of the official image.
const MONGODB: i64 = 999;

macro_rules! release {
    ($series:literal, $exact:literal, $suite:literal, $end:literal, $soon:literal) => {
        Release {
            series: $series,
            exact: $exact,
            automatic: ImageOf {
                reference: concat!("docker.io/library/mongo:", $exact, "-", $suite),
                uid: MONGODB,
                gid: MONGODB,
            },
            // `Manual` is refused: members always elect.
            manual: ImageOf {
                reference: concat!("docker.io/library/mongo:", $exact, "-", $suite),
                uid: MONGODB,
                gid: MONGODB,
            },
            end_of_life: $end,
            ends_soon: $soon,
        }
    };
}

/// Edition 1, of November 2026. 8.2 and 8.3 are not in it: their makers mend such a series for some months alone.
const EDITION_1: [Release; 2] =
    [release!("7.0", "7.0.40", "jammy", "2027-08", true), release!("8.0", "8.0.29", "noble", "2029-10", false)];

/// Releases of an edition, oldest first.
pub(super) fn of_edition(edition: u32) -> &'static [Release] {
    match edition {
        1 => &EDITION_1,
        _ => &[],
    }
}

/// The exporter of an edition.
pub(super) fn exporter_of_edition(_edition: u32) -> &'static str {
    "docker.io/percona/mongodb_exporter:0.43.1"
}

/// A server starts on files of its own series and of the one before (MongoDB's manual, "Upgrade a Replica Set"), and
/// only while their feature compatibility is that of one of the two. It is never raised by dbrender.
pub(super) fn version_move(from: &str, to: &str) -> VersionMove {
    let numbers = |version: &str| version.split('.').map(|part| part.parse().unwrap_or(0)).collect::<Vec<u32>>();
    let series = |numbers: &[u32]| numbers.iter().take(2).copied().collect::<Vec<u32>>();
    let (old, new) = (numbers(from), numbers(to));
    let (old_series, new_series) = (series(&old), series(&new));
    if old_series == new_series {
        let back = if new < old { "an older minor of the same series; what it mended is broken again" } else { "" };
        VersionMove::Restart(back)
    } else if new < old {
        VersionMove::Migration("the makers support no way back to an older series: only a dump can be taken back")
    } else if old_series == [7, 0] && new_series == [8, 0] {
        VersionMove::Restart(
            "feature compatibility must be 7.0 before, and stays there until a person raises it with setFeatureCompatibilityVersion",
        )
    } else {
        VersionMove::Migration(
            "no series can be left out: go through each one between, and raise feature compatibility at each, or make a new Database and restore a backup into it",
        )
    }
}

#[cfg(test)]
mod tests {
    use super::version_move;
    use crate::engine::VersionMove;

    #[test]
    fn moves_between_versions() {
        for (from, to, restart) in [
            ("8.0.29", "8.0.32", true),
            ("8.0.32", "8.0.29", true),
            ("7.0.40", "8.0.29", true),
            ("8.0.29", "7.0.40", false),
            ("6.0.27", "8.0.29", false),
            ("6.0.27", "7.0.40", false),
        ] {
            assert_eq!(matches!(version_move(from, to), VersionMove::Restart(_)), restart, "{from} to {to}");
        }
    }
}
