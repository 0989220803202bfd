//! One folder per database engine. An engine states facts; it never makes a Kubernetes object.
//!
//! Adding an engine: its folder, and in this file one `mod` line and one line in `ALL`.

#[cfg(test)]
mod cases;
mod catalog;
mod facts;
mod files;
mod identifier;
mod mongodb;
mod mysql;
mod postgresql;
mod reserved;
mod sizes;
mod tasks;

pub use catalog::{Edition, ImageOf, NEWEST_EDITION, Release, helper_image, rclone_image};
pub use facts::{
    AccessRule, Container, EnvVar, Facts, FileMode, Image, Mount, Port, Probe, ProbeAction, Role, RoleSelector,
    RunConfigMap, Size, StoredKey, Task, Trial, VersionMove, Volume, VolumeSource, uri_part,
};

use std::collections::BTreeMap;

use crate::api::{DatabaseSpec, EngineName};
use crate::plan::{Plan, Profile};
use crate::problem::Problems;

/// What dbrender has to know about an engine, and nothing of Kubernetes.
pub trait Engine: Sync {
    /// The word in `spec.engine`.
    fn name(&self) -> EngineName;

    /// The name that its makers write: `PostgreSQL`.
    fn title(&self) -> &'static str;

    /// Releases of an edition of the image catalog, oldest first. Empty when the edition does not exist.
    fn releases(&self, edition: u32) -> &'static [Release];

    /// How far what runs in the pods of this series and profile has been tried.
    fn trial(&self, series: &str, profile: Profile) -> Trial;

    /// Rules of just this engine: names and least sizes.
    fn check(&self, spec: &DatabaseSpec, out: &mut Problems);

    /// Rules of just this engine for a change of a Database that exists. Most have none.
    fn update(&self, _old: &DatabaseSpec, _new: &DatabaseSpec, _out: &mut Problems) {}

    /// The user's settings, checked against a series of versions, under the server's own names and in one spelling, so
    /// that equal settings are equal text.
    fn parameters(&self, spec: &DatabaseSpec, series: &str, out: &mut Problems) -> BTreeMap<String, String>;

    /// What fails with this number of members because it is even. `None`: nothing.
    fn even_members(&self, replicas: u8, profile: Profile) -> Option<&'static str>;

    /// Settings that a standby must not have lower than its primary, by name, with the values that they get.
    fn standby_settings(&self, spec: &DatabaseSpec) -> Vec<(&'static str, i64)>;

    /// Image of the metrics exporter in an edition of the catalog.
    fn exporter_image(&self, edition: u32) -> &'static str;

    /// Port that clients connect to.
    fn client_port(&self) -> u16;

    /// Keys of the application's Secret that are filled in the cluster.
    fn app_keys(&self) -> &'static [StoredKey];

    /// Keys of the administration's Secret that are filled in the cluster.
    fn admin_keys(&self) -> &'static [StoredKey];

    /// The connection URI, from the entries of the application's Secret. `None` while one of them is missing.
    fn uri(&self, entry: &dyn Fn(&str) -> Option<String>) -> Option<String>;

    /// Ends of the names of ConfigMaps that members use as their store, in any profile. Their names are taken.
    fn run_config_map_suffixes(&self) -> &'static [&'static str];

    /// Annotations that members write on these ConfigMaps at run time.
    fn run_config_map_annotations(&self) -> &'static [&'static str];

    /// What it takes to go from one exact version to another.
    fn version_move(&self, from: &str, to: &str) -> VersionMove;

    /// Whether a server of this profile archives its log in a bucket, and can be made anew of a base backup and that log.
    fn archives_log(&self, _profile: Profile) -> bool {
        false
    }

    /// What runs in the pods, the backup and the restore of this Database.
    fn facts(&self, plan: &Plan) -> Facts;
}

/// Every engine that this build renders.
pub const ALL: &[&dyn Engine] = &[&postgresql::PostgreSql, &mysql::MySql, &mongodb::MongoDb];

/// The engine of a name, when this build renders it.
#[must_use]
pub fn by_name(name: EngineName) -> Option<&'static dyn Engine> {
    ALL.iter().copied().find(|engine| engine.name() == name)
}

/// Keys of the passwords in both Secrets: those that can be made anew while servers and clients run.
#[must_use]
pub fn passwords(engine: &dyn Engine) -> Vec<&'static str> {
    let keys = engine.app_keys().iter().chain(engine.admin_keys());
    keys.filter_map(|key| if let StoredKey::Password(name) = key { Some(*name) } else { None }).collect()
}
