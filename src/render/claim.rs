//! Claims: the members' data and the backups.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::{PersistentVolumeClaim, PersistentVolumeClaimSpec, VolumeResourceRequirements};
use k8s_openapi::apimachinery::pkg::api::resource::Quantity;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;

use crate::plan::{Destination, Volume};

use super::Input;
use super::metadata::{Component, keep, may_be_pending, metadata, named};

/// `<name>-backup`, whether backups are on or not: turning them off must not delete those that exist.
pub(super) fn build_persistent_volume_claims(input: &Input<'_>) -> Vec<PersistentVolumeClaim> {
    let Destination::Volume(volume) = &input.plan.backup.destination else { return Vec::new() };
    let mut metadata = metadata(input, named(input.plan, "backup"), Component::Backup);
    keep(input, &mut metadata);
    may_be_pending(&mut metadata);
    vec![PersistentVolumeClaim { metadata, spec: Some(spec(volume)), status: None }]
}

/// The claim template of the members. `apiVersion` and `kind` are written, since the API server stores them; no labels
/// and nothing else that could change, because a template is immutable.
pub(super) fn build_claim_template(input: &Input<'_>) -> PersistentVolumeClaim {
    PersistentVolumeClaim {
        metadata: ObjectMeta { name: Some("data".to_owned()), ..ObjectMeta::default() },
        spec: Some(spec(&input.plan.storage)),
        status: None,
    }
}

fn spec(volume: &Volume) -> PersistentVolumeClaimSpec {
    PersistentVolumeClaimSpec {
        access_modes: Some(vec!["ReadWriteOnce".to_owned()]),
        resources: Some(VolumeResourceRequirements {
            requests: Some(BTreeMap::from([("storage".to_owned(), Quantity(volume.size.canonical()))])),
            limits: None,
        }),
        storage_class_name: Some(volume.class.clone()),
        volume_mode: Some("Filesystem".to_owned()),
        ..PersistentVolumeClaimSpec::default()
    }
}
