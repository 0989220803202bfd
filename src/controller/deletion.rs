//! How a Database is taken down: which step is next, as a function of what is there.
//!
//! Nothing gets an owner before the last backup has succeeded: with one, a deletion in the foreground would take the
//! network and the identity away from under that backup. Then everything that is not kept gets one, the finalizer goes,
//! and Kubernetes' garbage collector finishes the work.

use crate::api::{DeletionPolicy, SKIP_FINAL_BACKUP};

/// Kinds that hold data or passwords.
const PRECIOUS: [&str; 2] = ["PersistentVolumeClaim", "Secret"];

/// How the last backup stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum LastBackup {
    /// Its Job is not there.
    None,
    /// It runs.
    Running,
    /// It is done.
    Complete,
    /// It failed.
    Failed,
}

/// What is known about a Database that is being deleted.
#[derive(Clone, Debug)]
pub(super) struct Leaving {
    /// `None`: the Database cannot be read, so nobody knows what was asked for.
    pub(super) policy: Option<DeletionPolicy>,
    /// Whether a CronJob of backups is there, from which a Job can be made.
    pub(super) has_backups: bool,
    /// Whether a volume of a member was ever bound: otherwise there is nothing to back up.
    pub(super) has_data: bool,
    /// Whether there is a member that could be dumped.
    pub(super) hibernates: bool,
    /// Whether somebody has said to do without.
    pub(super) skip_backup: bool,
    /// Whether the namespace itself goes: then nothing new can be made in it.
    pub(super) namespace_goes: bool,
    /// The Job of the last backup.
    pub(super) last_backup: LastBackup,
    /// Whether dependents are to stay: `kubectl delete --cascade=orphan`.
    pub(super) orphan: bool,
    /// Objects that are to go and have no owner yet.
    pub(super) without_owner: usize,
}

/// What to do next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// Nothing, until a person acts. Why, in one word and in a sentence.
    Hold(&'static str, String),
    /// Make the Job of the last backup.
    StartBackup,
    /// Wait for it.
    AwaitBackup,
    /// Give an owner to what is to go.
    Disown,
    /// Take the finalizer away.
    Release,
}

/// The next step.
pub(super) fn step(leaving: &Leaving) -> Step {
    let Some(policy) = leaving.policy else {
        // Nothing is lost by keeping everything.
        return Step::Release;
    };
    if leaving.orphan {
        return Step::Release;
    }
    if policy == DeletionPolicy::Refuse && !leaving.namespace_goes {
        return Step::Hold(
            "DeletionRefused",
            "spec.deletionPolicy is Refuse: everything goes on as it was; set it to Retain or Delete to let it go"
                .to_owned(),
        );
    }
    let wants_backup = policy == DeletionPolicy::Delete && leaving.has_backups && leaving.has_data;
    if wants_backup && !leaving.skip_backup && !leaving.namespace_goes {
        match leaving.last_backup {
            LastBackup::Complete => {}
            LastBackup::Running => return Step::AwaitBackup,
            LastBackup::None if leaving.hibernates => {
                return Step::Hold(
                    "FinalBackupImpossible",
                    format!(
                        "the database hibernates, so no last backup can be made: set spec.hibernate to false, or the annotation {} to \"true\" to do without",
                        SKIP_FINAL_BACKUP
                    ),
                );
            }
            LastBackup::None => return Step::StartBackup,
            LastBackup::Failed => {
                return Step::Hold(
                    "FinalBackupFailed",
                    format!(
                        "the last backup failed, and everything is still there: delete its Job to try again, or set the annotation {} to \"true\" to do without",
                        SKIP_FINAL_BACKUP
                    ),
                );
            }
        }
    }
    if leaving.without_owner > 0 { Step::Disown } else { Step::Release }
}

/// Whether an object goes with its Database. The claim of backups stays even under `Delete`: the last backup is on it.
pub(super) fn goes(policy: Option<DeletionPolicy>, kind: &str, is_member_claim: bool) -> bool {
    match policy {
        Some(DeletionPolicy::Delete) => kind != "PersistentVolumeClaim" || is_member_claim,
        Some(DeletionPolicy::Retain) => !PRECIOUS.contains(&kind),
        Some(DeletionPolicy::Refuse) | None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::{LastBackup, Leaving, Step, goes, step};
    use crate::api::DeletionPolicy::{Delete, Refuse, Retain};

    fn leaving() -> Leaving {
        Leaving {
            policy: Some(Delete),
            has_backups: true,
            has_data: true,
            hibernates: false,
            skip_backup: false,
            namespace_goes: false,
            last_backup: LastBackup::None,
            orphan: false,
            without_owner: 5,
        }
    }

    fn reason(leaving: &Leaving) -> &'static str {
        match step(leaving) {
            Step::Hold(reason, _) => reason,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_last_backup_comes_before_everything_else() {
        let mut now = leaving();
        assert_eq!(step(&now), Step::StartBackup);
        now.last_backup = LastBackup::Running;
        assert_eq!(step(&now), Step::AwaitBackup);
        now.last_backup = LastBackup::Failed;
        assert_eq!(reason(&now), "FinalBackupFailed");
        assert_eq!(step(&Leaving { skip_backup: true, ..now.clone() }), Step::Disown);
        now.last_backup = LastBackup::Complete;
        assert_eq!(step(&now), Step::Disown);
        now.without_owner = 0;
        assert_eq!(step(&now), Step::Release);
    }

    #[test]
    fn there_is_no_backup_of_nothing_and_none_where_none_can_be_made() {
        assert_eq!(step(&Leaving { has_data: false, ..leaving() }), Step::Disown);
        assert_eq!(step(&Leaving { has_backups: false, ..leaving() }), Step::Disown);
        assert_eq!(step(&Leaving { namespace_goes: true, ..leaving() }), Step::Disown);
        assert_eq!(step(&Leaving { policy: Some(Retain), ..leaving() }), Step::Disown);
        assert_eq!(reason(&Leaving { hibernates: true, ..leaving() }), "FinalBackupImpossible");
    }

    #[test]
    fn when_in_doubt_everything_stays() {
        assert_eq!(reason(&Leaving { policy: Some(Refuse), ..leaving() }), "DeletionRefused");
        assert_eq!(step(&Leaving { policy: None, ..leaving() }), Step::Release);
        assert_eq!(step(&Leaving { orphan: true, ..leaving() }), Step::Release);
        for kind in ["PersistentVolumeClaim", "Secret"] {
            assert!(!goes(Some(Retain), kind, true) && !goes(Some(Refuse), kind, true) && !goes(None, kind, true));
        }
        assert!(goes(Some(Delete), "PersistentVolumeClaim", true));
        assert!(!goes(Some(Delete), "PersistentVolumeClaim", false), "the claim of backups");
        assert!(goes(Some(Delete), "Secret", false) && goes(Some(Retain), "StatefulSet", false));
        assert!(!goes(None, "StatefulSet", false));
    }
}
