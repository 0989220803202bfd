//! A backup that the empty server starts from.

use super::{Subject, kubernetes_name, spec};
use crate::api::{BackupSource, NAME_MAX};
use crate::plan::{Destination, Restore};
use crate::problem::{Code, Problem, Problems};

/// The word for the newest complete backup.
const LATEST: &str = "latest";

/// Checks that the backup can be reached from here. `None`: no restore, or a problem.
pub(super) fn check(subject: &Subject<'_>, out: &mut Problems) -> Option<Restore> {
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
    if wanted.point_in_time.is_some() {
        fail(
            "pointInTime",
            "no destination keeps the server's log yet, so there is no moment between two backups to go to".to_owned(),
            "remove pointInTime and choose a backup",
        );
    }
    let source = source(subject, wanted, namespace, &mut fail)?;
    Some(Restore { namespace: namespace.to_owned(), name: wanted.name.clone(), backup: wanted.backup.clone(), source })
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
