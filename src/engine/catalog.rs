//! The image catalog: numbered editions that are only ever appended to.
//!
//! A Database keeps its exact image until somebody chooses a newer edition in the platform file, so that a newer
//! dbrender never changes a pod template by itself.

/// Number of the newest edition of this build. All editions from 1 to here exist.
pub const NEWEST_EDITION: u32 = 1;

/// One version of an engine in one edition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Release {
    /// What data directories are compatible within, and what users write: `16`.
    pub series: &'static str,
    /// Exact version inside the images: `16.15`.
    pub exact: &'static str,
    /// Image for `failover: Automatic`.
    pub automatic: ImageOf,
    /// Image for `failover: Manual`; the same where the engine needs no other.
    pub manual: ImageOf,
    /// Last day on which its makers mend it, as `YYYY-MM`.
    pub end_of_life: &'static str,
    /// Whether that day is near enough for a warning in this edition.
    pub ends_soon: bool,
}

/// An image and the user it runs as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ImageOf {
    /// Registry, name and exact tag with the suite of the operating system.
    pub reference: &'static str,
    /// User id.
    pub uid: i64,
    /// Group id.
    pub gid: i64,
}

/// What an edition holds beside the engines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edition {
    /// `dbrender` itself.
    pub helper: &'static str,
    /// rclone.
    pub rclone: &'static str,
}

const EDITIONS: [Edition; NEWEST_EDITION as usize] =
    [Edition { helper: "ghcr.io/dbrender/dbrender:0.1.0", rclone: "docker.io/rclone/rclone:1.75.0" }];

fn edition(number: u32) -> Option<&'static Edition> {
    EDITIONS.get(usize::try_from(number).ok()?.checked_sub(1)?)
}

/// Image of `dbrender` in an edition.
#[must_use]
pub fn helper_image(number: u32) -> Option<&'static str> {
    edition(number).map(|e| e.helper)
}

/// Image of rclone in an edition.
#[must_use]
pub fn rclone_image(number: u32) -> Option<&'static str> {
    edition(number).map(|e| e.rclone)
}
