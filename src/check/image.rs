//! From the catalog's image references to those of this platform.

use super::Ground;
use crate::engine::{Engine, Release, helper_image, rclone_image};
use crate::plan::{Images, Profile};

/// The images of a Database.
pub(super) fn plan(ground: &Ground, engine: &dyn Engine, release: &Release, profile: Profile) -> Images {
    let image = match profile {
        Profile::Automatic => release.automatic,
        Profile::Manual => release.manual,
    };
    let edition = ground.catalog;
    Images {
        server: resolve(ground, image.reference),
        uid: image.uid,
        gid: image.gid,
        helper: resolve(ground, helper_image(edition).unwrap_or_default()),
        rclone: resolve(ground, rclone_image(edition).unwrap_or_default()),
        exporter: resolve(ground, engine.exporter_image(edition)),
    }
}

/// The platform's own image in place of this one, otherwise the same image from the mirror of its registry.
fn resolve(ground: &Ground, reference: &str) -> String {
    if let Some(own) = ground.images.get(reference) {
        return own.clone();
    }
    match reference.split_once('/') {
        Some((registry, rest)) => match ground.registry_mirror.get(registry) {
            Some(mirror) => format!("{mirror}/{rest}"),
            None => reference.to_owned(),
        },
        None => reference.to_owned(),
    }
}
