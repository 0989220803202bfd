//! The write-ahead log in the bucket, and the way back to a moment. `BACKUP.md` says how it is kept safe.

use crate::engine::{Container, EnvVar, Image, Mount, Task, Volume, VolumeSource, tasks};
use crate::plan::{Bucket, Destination, Plan};

use super::server::{BIN, CONFIG, DATA, TMP};

/// Longest time, in seconds, that a segment with something in it waits to be archived: what a whole loss can cost.
const TIMEOUT: &str = "300";

const BASE: Mount = Mount { volume: "base", path: "/backup/base", writable: true };

/// The bucket, where the log is archived.
fn bucket(plan: &Plan) -> Option<&Bucket> {
    match &plan.backup.destination {
        Destination::S3(bucket) if plan.backup.wal_archive => Some(bucket),
        Destination::S3(_) | Destination::Volume(_) => None,
    }
}

/// Settings of the server. With `always` a standby keeps what the bucket does not have yet.
pub(super) fn settings(plan: &Plan) -> impl Iterator<Item = (&'static str, &'static str)> {
    bucket(plan).into_iter().flat_map(|_| {
        [
            ("archive_command", r#"/opt/dbrender/archive-wal.sh "%p" "%f""#),
            ("archive_mode", "always"),
            ("archive_timeout", TIMEOUT),
        ]
    })
}

/// Beside the server: it has the keys of the bucket, and neither the volume nor a password.
pub(super) fn archiver(plan: &Plan) -> Option<Container> {
    let mut archiver =
        Container::new("archiver", Image::Rclone, vec!["/bin/sh", "/opt/dbrender/archiver.sh"], tasks::COPY);
    archiver.env = vec![EnvVar::Value("HOME", TMP.path.to_owned())];
    archiver.env.extend(tasks::remote(bucket(plan)?));
    archiver.mounts = vec![BIN, CONFIG, TMP];
    Some(archiver)
}

/// Before the first start: it fetches what the member is recovered from.
pub(super) fn fetch(plan: &Plan) -> Option<Container> {
    let restore = plan.restore.as_ref().filter(|restore| restore.point_in_time.is_some())?;
    let Destination::S3(bucket) = &restore.source else { return None };
    let mut fetch = Container::new("fetch", Image::Rclone, vec!["/bin/sh", "/opt/dbrender/fetch.sh"], tasks::COPY);
    fetch.env = vec![EnvVar::Field("POD_NAME", "metadata.name"), EnvVar::Value("HOME", TMP.path.to_owned())];
    fetch.env.extend(tasks::remote(bucket));
    fetch.mounts = vec![BIN, CONFIG, DATA, TMP];
    Some(fetch)
}

/// The backup, with a base backup between dump and upload.
pub(super) fn backup(plan: &Plan) -> Task {
    let mut task = tasks::backup(plan);
    if bucket(plan).is_none() {
        return task;
    }
    let mounts = task.init.first().map(|dump| dump.mounts.clone()).unwrap_or_default();
    let base = tasks::server_container("base", "/etc/dbrender/scripts/base-backup.sh", mounts);
    task.init.push(base);
    for container in task.init.iter_mut().chain([&mut task.container]) {
        container.mounts.insert(1, BASE);
    }
    // The copy, and its packed form beside it.
    let room = plan.storage.size.bytes().unwrap_or(0).saturating_mul(2);
    task.volumes.insert(1, Volume { name: BASE.volume, source: VolumeSource::Disk(room) });
    for volume in &mut task.volumes {
        if matches!(volume.source, VolumeSource::Credentials { .. }) {
            volume.source = tasks::credentials(&["backup-password", "replication-password"]);
        }
    }
    task
}
