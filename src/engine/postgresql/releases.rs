//! PostgreSQL in the image catalog.
//!
//! The official images, pinned to the exact minor and to one Debian suite: another suite has another C library, and with
//! it other collations, which silently corrupts text indexes. The image for automatic failover is the official one of
//! the same tag plus Patroni (`images/postgresql/Dockerfile`).

use crate::engine::{ImageOf, Release};

/// User and group of the Debian variants of the official image.
const POSTGRES: i64 = 999;

macro_rules! release {
    ($series:literal, $exact:literal, $end:literal, $soon:literal) => {
        Release {
            series: $series,
            exact: $exact,
            automatic: ImageOf {
                reference: concat!("ghcr.io/dbrender/postgresql:", $exact, "-bookworm"),
                uid: POSTGRES,
                gid: POSTGRES,
            },
            manual: ImageOf {
                reference: concat!("docker.io/library/postgres:", $exact, "-bookworm"),
                uid: POSTGRES,
                gid: POSTGRES,
            },
            end_of_life: $end,
            ends_soon: $soon,
        }
    };
}

/// Edition 1, of November 2026.
const EDITION_1: [Release; 4] = [
    release!("15", "15.19", "2027-11", true),
    release!("16", "16.15", "2028-11", false),
    release!("17", "17.11", "2029-11", false),
    release!("18", "18.6", "2030-11", false),
];

/// Releases of an edition, oldest first.
pub(super) fn of_edition(edition: u32) -> &'static [Release] {
    match edition {
        1 => &EDITION_1,
        _ => &[],
    }
}

/// The exporter of an edition.
pub(super) fn exporter_of_edition(_edition: u32) -> &'static str {
    "quay.io/prometheuscommunity/postgres-exporter:v0.20.1"
}
