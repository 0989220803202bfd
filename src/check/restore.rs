//! A backup that the empty server starts from.

use super::{Subject, backup, kubernetes_name, spec};
use crate::api::{BackupSource, NAME_MAX};
use crate::plan::{Destination, Profile, Restore};
use crate::problem::{Code, Problem, Problems};

/// The word for the newest complete backup, and for the end of the log.
const LATEST: &str = "latest";

/// Checks that the backup can be reached from here. `None`: no restore, or a problem.
pub(super) fn check(subject: &Subject<'_>, profile: Profile, out: &mut Problems) -> Option<Restore> {
    let wanted = &subject.spec.bootstrap.as_ref()?.from_backup;
    let namespace = wanted.namespace.as_deref().unwrap_or(subject.namespace);
    let mut fail = |field: &str, message: String, hint: &str| {
        out.push(Problem::new(Code::InvalidRestore, spec("bootstrap.fromBackup").join(field), message).with_hint(hint));
    };
    if let Err(reason) = kubernetes_name::service_name(&wanted.name, NAME_MAX) {
        fail(
            "name",
            format!("the source {:?} must {reason}", wanted.name),
            "write the name of the Database that was backed up",
        );
    }
    if wanted.namespace.is_some()
        && let Err(reason) = kubernetes_name::dns_label(namespace)
    {
        fail(
            "namespace",
            format!("the namespace {namespace:?} must {reason}"),
            "write the namespace of the Database that was backed up",
        );
    }
    if wanted.name == subject.name && namespace == subject.namespace {
        fail(
            "name",
            "a Database cannot be restored from itself: its server is not empty".to_owned(),
            "give the new Database another name",
        );
    }
    if wanted.backup != LATEST && !is_id(&wanted.backup) {
        fail(
            "backup",
            format!("{:?} is no id of a backup", wanted.backup),
            "write latest, or an id such as 20261130T020000Z that `dbrender backups list` shows",
        );
    }
    let source = source(subject, wanted, namespace, &mut fail);
    let point_in_time = point_in_time(subject, wanted, profile, source.as_ref(), &mut fail);
    Some(Restore {
        namespace: namespace.to_owned(),
        name: wanted.name.clone(),
        backup: wanted.backup.clone(),
        point_in_time,
        source: source?,
    })
}

/// The moment, in the one form that scripts compare as text. `None` with a problem when it cannot be gone to.
fn point_in_time(
    subject: &Subject<'_>,
    wanted: &BackupSource,
    profile: Profile,
    source: Option<&Destination>,
    fail: &mut impl FnMut(&str, String, &str),
) -> Option<String> {
    let text = wanted.point_in_time.as_ref()?;
    let moment = moment(text);
    if moment.is_none() {
        let message = format!("{text:?} is no moment in UTC");
        let hint = "write it in RFC 3339 and in UTC, such as 2026-11-30T09:41:00Z, or latest for all of the log";
        fail("pointInTime", message, hint);
    }
    if let Some((message, hint)) = backup::no_archive(subject, profile) {
        fail("pointInTime", message, hint);
    }
    if matches!(source, Some(Destination::Volume(_))) {
        let message = "backup.destination is a volume, and the log is archived in a bucket only".to_owned();
        fail(
            "pointInTime",
            message,
            "set backup.destination to the S3 destination that the source's log is archived in",
        );
    }
    if wanted.backup != LATEST {
        let message = format!("backup {} and a moment are both given", wanted.backup);
        fail("pointInTime", message, "remove backup: the newest base backup before the moment is taken");
    }
    moment
}

/// `latest`, or `YYYY-MM-DDTHH:MM:SS[.ffffff]Z` with all six digits of the fraction. `None`: it is something else.
fn moment(text: &str) -> Option<String> {
    if text == LATEST {
        return Some(text.to_owned());
    }
    let whole = text.strip_suffix('Z')?;
    let (seconds, fraction) = whole.split_once('.').unwrap_or((whole, "0"));
    let form = "dddd-dd-ddTdd:dd:dd";
    let fits = seconds.len() == form.len()
        && seconds.bytes().zip(form.bytes()).all(|(byte, wanted)| match wanted {
            b'd' => byte.is_ascii_digit(),
            other => byte == other,
        });
    let has_fraction = (1..=6).contains(&fraction.len()) && fraction.bytes().all(|byte| byte.is_ascii_digit());
    if !fits || !has_fraction {
        return None;
    }
    let number = |from: usize, to: usize| seconds.get(from..to).and_then(|digits| digits.parse::<u32>().ok());
    let (year, month, day) = (number(0, 4)?, number(5, 7)?, number(8, 10)?);
    let is_day = (1..=12).contains(&month) && (1..=days_of(year, month)).contains(&day);
    let is_time = number(11, 13)? < 24 && number(14, 16)? < 60 && number(17, 19)? < 60;
    (is_day && is_time).then(|| format!("{seconds}.{fraction:0<6}Z"))
}

fn days_of(year: u32, month: u32) -> u32 {
    match month {
        2 if year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400)) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Where the backup is: the source's own claim, or the bucket that this Database backs up to as well.
fn source(
    subject: &Subject<'_>,
    wanted: &BackupSource,
    namespace: &str,
    fail: &mut impl FnMut(&str, String, &str),
) -> Option<Destination> {
    let name = &subject.spec.backup.destination;
    let here = subject.ground.destinations.get(name)?;
    if namespace == subject.namespace || wanted.namespace.is_none() {
        return Some(here.destination.clone());
    }
    match &here.destination {
        Destination::Volume(_) => {
            let message = format!(
                "the backups of namespace {namespace} are on a volume there, which no pod of {} can mount",
                subject.namespace
            );
            fail(
                "namespace",
                message,
                "use an S3 destination that names this namespace under sharedWith, or restore in the same namespace",
            );
            None
        }
        Destination::S3(_) if !here.shared_with.iter().any(|shared| shared == subject.namespace) => {
            let message = format!("destination {name} is not shared with namespace {}", subject.namespace);
            fail("namespace", message, "ask the platform team to add the namespace to sharedWith of the destination");
            None
        }
        Destination::S3(_) => Some(here.destination.clone()),
    }
}

/// `YYYYMMDDThhmmssZ`, the name of a backup's directory.
fn is_id(text: &str) -> bool {
    text.len() == 16
        && text.bytes().enumerate().all(|(at, byte)| match at {
            8 => byte == b'T',
            15 => byte == b'Z',
            _ => byte.is_ascii_digit(),
        })
}
