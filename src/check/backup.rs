//! When backups are made, where they go and how many are kept.

use super::{Subject, spec};
use crate::api::{Schedule, is_time_zone};
use crate::plan::{Backup, Destination, Profile};
use crate::problem::{Code, Problem, Problems, nearest};

/// The name of the destination that is there without being named in the platform file.
pub(super) const VOLUME: &str = "volume";

/// Checks all of `spec.backup`. There is a plan even while backups are off, because the claim stays.
pub(super) fn check(subject: &Subject<'_>, profile: Profile, out: &mut Problems) -> Option<Backup> {
    let wanted = &subject.spec.backup;
    schedule(&wanted.schedule, out);
    if !is_time_zone(&wanted.time_zone) {
        let problem = Problem::new(
            Code::UnknownTimeZone,
            spec("backup.timeZone"),
            format!("{:?} is no time zone", wanted.time_zone),
        );
        out.push(match nearest(&wanted.time_zone, crate::api::time_zones()) {
            Some(near) => problem.with_hint(format!("did you mean {near}?")),
            None => problem,
        });
    }
    if wanted.retention < 1 {
        out.report(
            Code::InvalidRetention,
            spec("backup.retention"),
            format!("backup.retention must be 1 or more, found {}", wanted.retention),
        );
    }
    none(subject, out);
    wal_archive(subject, profile, out);
    let destination = subject.ground.destinations.get(&wanted.destination);
    if destination.is_none() {
        let known: Vec<&str> = subject.ground.destinations.keys().map(String::as_str).collect();
        let message = format!(
            "backup.destination {:?} is none of the platform's destinations: {}",
            wanted.destination,
            known.join(", ")
        );
        let problem = Problem::new(Code::UnknownDestination, spec("backup.destination"), message);
        out.push(match nearest(&wanted.destination, known) {
            Some(near) => problem.with_hint(format!("did you mean {near}?")),
            None => problem,
        });
    }
    Some(Backup {
        enabled: wanted.enabled,
        suspend: wanted.suspend,
        schedule: wanted.schedule.clone(),
        time_zone: wanted.time_zone.clone(),
        retention: wanted.retention,
        destination: destination?.destination.clone(),
        wal_archive: wanted.wal_archive,
    })
}

/// Why the log of this Database cannot be archived, and what to do. `None`: it can, or the engine is unknown.
pub(super) fn no_archive(subject: &Subject<'_>, profile: Profile) -> Option<(String, &'static str)> {
    let engine = subject.engine.filter(|engine| !engine.archives_log(profile))?;
    Some(if engine.archives_log(Profile::Manual) {
        let message =
            "with failover: Automatic the log is not archived, and no member is recovered to a moment".to_owned();
        (message, "set failover: Manual; a point in time is there in that profile alone")
    } else {
        let message =
            format!("the log of {} is not archived, so there is no moment between two backups", engine.title());
        (message, "remove it: this engine has no restore to a point in time")
    })
}

/// What the archive of the log needs.
fn wal_archive(subject: &Subject<'_>, profile: Profile, out: &mut Problems) {
    let wanted = &subject.spec.backup;
    if !wanted.wal_archive {
        return;
    }
    let mut fail = |message: String, hint: &str| {
        out.push(Problem::new(Code::WalArchiveNotPossible, spec("backup.walArchive"), message).with_hint(hint));
    };
    if let Some((message, hint)) = no_archive(subject, profile) {
        fail(message, hint);
    }
    if !wanted.enabled {
        let message = "backup.enabled is false, so that no base backup is made for the log to go on from".to_owned();
        fail(message, "set backup.enabled to true, or remove backup.walArchive");
    }
    let destination = subject.ground.destinations.get(&wanted.destination);
    if destination.is_some_and(|d| matches!(d.destination, Destination::Volume(_))) {
        let message = format!("destination {} is a volume, which only one node can write to", wanted.destination);
        fail(message, "choose an S3 destination of the platform file in backup.destination");
    }
}

/// Shortest time between two backups that makes sense, in seconds: a dump of any size takes minutes.
const OFTEN: u64 = 300;

fn schedule(text: &str, out: &mut Problems) {
    let path = spec("backup.schedule");
    // Kubernetes looks for these letters before it looks at anything else.
    if text.contains("TZ") {
        let message = "backup.schedule holds a time zone, which Kubernetes refuses there";
        out.report(Code::ScheduleWithTimeZone, path, message);
        return;
    }
    match Schedule::parse(text) {
        Err(error) => {
            let problem = Problem::new(Code::InvalidSchedule, path, format!("backup.schedule {text:?}: {error}"));
            out.push(match error.hint {
                Some(hint) => problem.with_hint(hint),
                None => problem,
            });
        }
        Ok(schedule) if schedule.never_fires() => {
            out.report(Code::ScheduleNeverFires, path, format!("backup.schedule {text:?} never comes"));
        }
        Ok(schedule) => {
            if let Some(shortest) = schedule.intervals().map(|i| i.shortest).filter(|shortest| *shortest < OFTEN) {
                let every = if shortest == 1 { "second".to_owned() } else { format!("{shortest} seconds") };
                let message = format!("backup.schedule {text:?} starts a backup every {every}");
                out.report(Code::FrequentBackups, path, message);
            }
        }
    }
}

/// A warning that nothing is backed up.
fn none(subject: &Subject<'_>, out: &mut Problems) {
    let wanted = subject.spec;
    let (field, why) = if wanted.hibernate {
        ("hibernate", "hibernate: true")
    } else if !wanted.backup.enabled {
        ("backup.enabled", "backup.enabled: false")
    } else if wanted.backup.suspend {
        ("backup.suspend", "backup.suspend: true")
    } else {
        return;
    };
    out.report(Code::NoBackups, spec(field), format!("{why}: no backups are made"));
}
