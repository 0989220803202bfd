//! MySQL in the image catalog: the two series with long support, in Oracle's official images.

use crate::engine::{ImageOf, Release, Trial, VersionMove};
use crate::plan::Profile;

/// User and group of the official image.
const MYSQL: i64 = 999;

macro_rules! release {
    ($series:literal, $exact:literal, $end:literal) => {
        Release {
            series: $series,
            exact: $exact,
            automatic: ImageOf {
                reference: concat!("docker.io/library/mysql:", $exact, "-oraclelinux9"),
                uid: MYSQL,
                gid: MYSQL,
            },
            manual: ImageOf {
                reference: concat!("docker.io/library/mysql:", $exact, "-oraclelinux9"),
                uid: MYSQL,
                gid: MYSQL,
            },
            end_of_life: $end,
            ends_soon: false,
        }
    };
}

/// Edition 1, of November 2026.
const EDITION_1: [Release; 2] = [release!("8.4", "8.4.11", "2032-04"), release!("9.7", "9.7.2", "2034-04")];

/// Releases of an edition, oldest first.
pub(super) fn of_edition(edition: u32) -> &'static [Release] {
    match edition {
        1 => &EDITION_1,
        _ => &[],
    }
}

/// What has run on real servers, with `testbed/unshare/mysql-server` and `testbed/life mysql`.
const PROVEN: [(&str, Profile); 2] = [("9.7", Profile::Automatic), ("9.7", Profile::Manual)];

pub(super) fn trial(series: &str, profile: Profile) -> Trial {
    if PROVEN.contains(&(series, profile)) { Trial::Whole } else { Trial::None }
}

/// The exporter of an edition.
pub(super) fn exporter_of_edition(_edition: u32) -> &'static str {
    "docker.io/prom/mysqld-exporter:v0.19.0"
}

/// A server changes its data directory when it starts on one of an older series, and no older series reads that again
/// (MySQL's manual, "Upgrade Paths" and "Downgrading MySQL").
pub(super) fn version_move(from: &str, to: &str) -> VersionMove {
    let numbers = |version: &str| version.split('.').map(|part| part.parse().unwrap_or(0)).collect::<Vec<u32>>();
    let series = |numbers: &[u32]| numbers.iter().take(2).copied().collect::<Vec<u32>>();
    let (old, new) = (numbers(from), numbers(to));
    let (old_series, new_series) = (series(&old), series(&new));
    if old_series == new_series {
        let back = if new < old { "an older minor of the same series; what it mended is broken again" } else { "" };
        VersionMove::Restart(back)
    } else if new < old {
        VersionMove::Migration("an older series cannot read these files: only a dump can be taken back")
    } else if old_series == [8, 4] && new_series == [9, 7] {
        VersionMove::Restart("the server upgrades its files at the first start, and no older series reads them again")
    } else {
        VersionMove::Migration(
            "the server reads files of the series before it alone: go through that one, or make a new Database and restore a backup into it",
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
            ("9.7.2", "9.7.4", true),
            ("9.7.4", "9.7.2", true),
            ("8.4.11", "9.7.2", true),
            ("9.7.2", "8.4.11", false),
            ("8.0.46", "9.7.2", false),
            ("8.0.46", "8.4.11", false),
        ] {
            assert_eq!(matches!(version_move(from, to), VersionMove::Restart(_)), restart, "{from} to {to}");
        }
    }
}
