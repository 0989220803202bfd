//! The pods that back up and restore, the same for every engine whose folder has the scripts `backup.sh`, `restore.sh`,
//! `upload.sh` and `download.sh`: a dump and a load by the server's own clients, and a copy to or from a bucket.

use crate::engine::{Container, EnvVar, Image, Mount, Size, Task, Volume, VolumeSource};
use crate::plan::{Bucket, Destination, Plan};

const MIB: u64 = 1 << 20;

/// What a dump or a load may use; the work is the server's.
pub(super) const SIZE: Size = Size::Fixed { cpu: 500, memory: 512 * MIB };
/// What a copy to or from a bucket may use.
pub(super) const COPY: Size = Size::Fixed { cpu: 250, memory: 256 * MIB };
/// Longest backup, in seconds. A hung one would hold back all later ones.
const BACKUP_DEADLINE: i64 = 6 * 3600;
/// Longest restore, in seconds, with the wait for the server.
const RESTORE_DEADLINE: i64 = 24 * 3600;

const CONFIG: Mount = Mount { volume: "config", path: "/etc/dbrender/config", writable: false };
const SCRIPTS: Mount = Mount { volume: "scripts", path: "/etc/dbrender/scripts", writable: false };
const CREDENTIALS: Mount = Mount { volume: "credentials", path: "/etc/dbrender/credentials", writable: false };
pub(super) const BACKUP: Mount = Mount { volume: "backup", path: "/backup", writable: true };
const TMP: Mount = Mount { volume: "tmp", path: "/tmp", writable: true };

/// The backup: a dump into the claim, or a dump and then a copy into the bucket.
pub(super) fn backup(plan: &Plan) -> Task {
    let mounts = vec![BACKUP, CONFIG, CREDENTIALS, SCRIPTS, TMP];
    let dump = |name| server_container(name, "/etc/dbrender/scripts/backup.sh", mounts.clone());
    let credentials = credentials(&["backup-password"]);
    match &plan.backup.destination {
        Destination::Volume(_) => Task {
            init: Vec::new(),
            container: dump("backup"),
            volumes: volumes(credentials, VolumeSource::BackupClaim),
            deadline: BACKUP_DEADLINE,
        },
        Destination::S3(bucket) => Task {
            init: vec![dump("dump")],
            container: rclone("upload", "/etc/dbrender/scripts/upload.sh", bucket),
            volumes: volumes(credentials, work(plan)),
            deadline: BACKUP_DEADLINE,
        },
    }
}

/// The restore: a load from the source's claim, or a copy from the bucket and then a load.
pub(super) fn restore(plan: &Plan) -> Task {
    let mounts = vec![BACKUP, CONFIG, CREDENTIALS, SCRIPTS, TMP];
    let mut load = server_container("restore", "/etc/dbrender/scripts/restore.sh", mounts);
    // Who restores is gone when the restore is done; a pod that comes after that, because the first one died before it said so
    // or the Job was made anew, asks as the one who backs up.
    let credentials = credentials(&["backup-password", "restore-password"]);
    let (init, source) = match plan.restore.as_ref().map(|r| (&r.source, &r.name)) {
        Some((Destination::S3(bucket), _)) => {
            (vec![rclone("fetch", "/etc/dbrender/scripts/download.sh", bucket)], work(plan))
        }
        Some((Destination::Volume(_), name)) => {
            load.mounts.iter_mut().filter(|m| m.volume == BACKUP.volume).for_each(|m| m.writable = false);
            (Vec::new(), VolumeSource::BackupClaimOf(format!("{name}-backup")))
        }
        None => (Vec::new(), VolumeSource::BackupClaim),
    };
    Task { init, container: load, volumes: volumes(credentials, source), deadline: RESTORE_DEADLINE }
}

/// Room for a whole dump on the node's disk, as much as the database itself may hold.
fn work(plan: &Plan) -> VolumeSource {
    VolumeSource::Disk(plan.storage.size.bytes().unwrap_or(0))
}

pub(super) fn credentials(keys: &[&'static str]) -> VolumeSource {
    VolumeSource::Credentials { app: Vec::new(), admin: keys.iter().map(|&key| (key, key)).collect() }
}

fn volumes(credentials: VolumeSource, backup: VolumeSource) -> Vec<Volume> {
    vec![
        Volume { name: "backup", source: backup },
        Volume { name: "config", source: VolumeSource::Config },
        Volume { name: "credentials", source: credentials },
        Volume { name: "scripts", source: VolumeSource::Scripts },
        Volume { name: "tmp", source: VolumeSource::Disk(256 * MIB) },
    ]
}

pub(super) fn server_container(name: &'static str, script: &'static str, mounts: Vec<Mount>) -> Container {
    Container {
        env: vec![EnvVar::Value("HOME", TMP.path.to_owned())],
        mounts,
        ..Container::new(name, Image::Server, vec![script], SIZE)
    }
}

/// rclone takes its remote from the environment only; the keys of the bucket come from the user's Secret.
fn rclone(name: &'static str, script: &'static str, bucket: &Bucket) -> Container {
    let mut container = server_container(name, script, vec![BACKUP, CONFIG, SCRIPTS, TMP]);
    container.image = Image::Rclone;
    container.command = vec!["/bin/sh", script];
    container.size = COPY;
    container.env.extend(remote(bucket));
    container
}

/// The remote `dest` of rclone.
pub(super) fn remote(bucket: &Bucket) -> Vec<EnvVar> {
    let secret = |name, key| EnvVar::SecretKey { name, secret: bucket.secret.clone(), key };
    let mut env = vec![
        EnvVar::Value("RCLONE_CONFIG", "/tmp/rclone.conf".to_owned()),
        EnvVar::Value("RCLONE_CONFIG_DEST_TYPE", "s3".to_owned()),
        EnvVar::Value("RCLONE_CONFIG_DEST_PROVIDER", bucket.provider.clone()),
        EnvVar::Value("RCLONE_CONFIG_DEST_NO_CHECK_BUCKET", "true".to_owned()),
    ];
    if let Some(endpoint) = &bucket.endpoint {
        env.push(EnvVar::Value("RCLONE_CONFIG_DEST_ENDPOINT", endpoint.clone()));
    }
    if let Some(region) = &bucket.region {
        env.push(EnvVar::Value("RCLONE_CONFIG_DEST_REGION", region.clone()));
    }
    env.extend([
        secret("RCLONE_CONFIG_DEST_ACCESS_KEY_ID", "access-key-id"),
        secret("RCLONE_CONFIG_DEST_SECRET_ACCESS_KEY", "secret-access-key"),
    ]);
    env
}
