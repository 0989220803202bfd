//! How many members there are, and who chooses the primary.

use super::{Subject, spec};
use crate::api::Failover;
use crate::plan::Profile;
use crate::problem::{Code, Problem, Problems};

/// What the plan has to know of it.
pub(super) struct Members {
    pub(super) profile: Profile,
    pub(super) replicas: u8,
    pub(super) primary: u8,
}

/// Checks replicas, failover and primary against each other. What is out of bounds has been reported.
pub(super) fn check(subject: &Subject<'_>, out: &mut Problems) -> Members {
    let wanted = subject.spec;
    let profile = profile(wanted.failover);
    let replicas = u8::try_from(wanted.replicas).ok().filter(|n| (1..=7).contains(n));
    if replicas.is_none() {
        // The schema says so too; the controller reads what an older schema let through.
        out.report(
            Code::OutOfRange,
            spec("replicas"),
            format!("spec.replicas must be between 1 and 7, found {}", wanted.replicas),
        );
    }
    if let Some(largest) = subject.ground.limits.max_replicas.filter(|largest| wanted.replicas > *largest) {
        let message = format!("{} replicas are more than the platform's limit of {largest}", wanted.replicas);
        out.report(Code::AboveLimit, spec("replicas"), message);
    }
    let replicas = replicas.unwrap_or(1);
    if profile == Profile::Manual && !wanted.engine.has_manual_failover() {
        let message = format!("{} always elects its primary; failover: Manual is not possible", wanted.engine.as_str());
        out.report(Code::ManualNotPossible, spec("failover"), message);
    }
    if let Some(reason) = subject.engine.and_then(|engine| engine.even_members(replicas, profile)) {
        out.report(Code::EvenReplicas, spec("replicas"), reason);
    }
    if profile == Profile::Manual && replicas > 1 {
        let message = "failover: Manual: when the primary fails, writes stop until a person moves spec.primary";
        out.report(Code::NoAutomaticFailover, spec("failover"), message);
    }
    let primary = primary(subject, replicas, out);
    Members { profile, replicas, primary }
}

/// The profile that a kind of failover means.
pub(super) const fn profile(failover: Failover) -> Profile {
    match failover {
        Failover::Automatic => Profile::Automatic,
        Failover::Manual => Profile::Manual,
    }
}

fn primary(subject: &Subject<'_>, replicas: u8, out: &mut Problems) -> u8 {
    let Some(wanted) = subject.spec.primary else { return 0 };
    if subject.spec.failover == Failover::Automatic {
        out.report(
            Code::PrimaryWithoutManual,
            spec("primary"),
            format!("primary: {wanted} is set and the members elect their primary themselves"),
        );
        return 0;
    }
    match u8::try_from(wanted).ok().filter(|ordinal| *ordinal < replicas) {
        Some(ordinal) => ordinal,
        None => {
            let message = format!(
                "primary: {wanted} is none of the {replicas} members; their ordinals are 0 to {}",
                replicas - 1
            );
            let problem = Problem::new(Code::PrimaryOutsideReplicas, spec("primary"), message);
            out.push(problem.with_hint(format!("use an ordinal of 0 to {}", replicas - 1)));
            0
        }
    }
}
