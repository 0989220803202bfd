//! StatefulSets, Jobs and CronJobs.

use super::pod::TEMPLATE;
use super::small::CLAIM_SPEC;
use crate::diff::Minor;

use super::{Extra, Field, Fill, Key, Kind, OPEN, SCALAR, SELECTOR, anything, d, f, ours};

/// A claim is told from another by the name in its metadata; the comparison knows this one nested key.
const CLAIM_NAME: &[Key] = &[Key { name: "metadata.name", absent: "" }];

pub(super) const STATEFUL_SET: &[Field] = &[f(
    "spec",
    &Kind::Fields(&[
        d("minReadySeconds", SCALAR, Fill::Zero),
        f("ordinals", &Kind::Fields(&[d("start", SCALAR, Fill::Zero)])),
        d(
            "persistentVolumeClaimRetentionPolicy",
            &Kind::Fields(&[
                d("whenDeleted", SCALAR, Fill::Text("Retain")),
                d("whenScaled", SCALAR, Fill::Text("Retain")),
            ]),
            Fill::Object,
        ),
        d("podManagementPolicy", SCALAR, Fill::Text("OrderedReady")),
        d("replicas", SCALAR, Fill::Int(1)),
        d("revisionHistoryLimit", SCALAR, Fill::Int(10)),
        f("selector", SELECTOR),
        f("serviceName", SCALAR),
        TEMPLATE,
        d(
            "updateStrategy",
            &Kind::Fields(&[
                d(
                    "rollingUpdate",
                    &Kind::Fields(&[
                        // Beta and on since 1.37: before that a server drops the field.
                        d("maxUnavailable", SCALAR, Fill::Until(Minor(36), &Fill::Nothing, &Fill::Int(1))),
                        d("partition", SCALAR, Fill::Int(0)),
                    ]),
                    Fill::Object,
                ),
                d("type", SCALAR, Fill::Text("RollingUpdate")),
            ]),
            Fill::Object,
        ),
        f(
            "volumeClaimTemplates",
            &Kind::Keyed(
                CLAIM_NAME,
                &Kind::Fields(&[
                    d("apiVersion", SCALAR, Fill::Text("v1")),
                    d("kind", SCALAR, Fill::Text("PersistentVolumeClaim")),
                    f("metadata", &Kind::Fields(&[f("annotations", OPEN), f("labels", OPEN), f("name", SCALAR)])),
                    f("spec", &Kind::Fields(CLAIM_SPEC)),
                    d("status", OPEN, Fill::Assigned(anything)),
                ]),
                Extra::Foreign,
            ),
        ),
    ]),
)];

const JOB_SPEC: &[Field] = &[
    f("activeDeadlineSeconds", SCALAR),
    d("backoffLimit", SCALAR, Fill::Int(6)),
    d("completionMode", SCALAR, Fill::Text("NonIndexed")),
    d("completions", SCALAR, Fill::Int(1)),
    d("manualSelector", SCALAR, Fill::Bool(false)),
    d("parallelism", SCALAR, Fill::Int(1)),
    d("podReplacementPolicy", SCALAR, Fill::Text("TerminatingOrFailed")),
    // The server finds the pods of a Job by a label that it makes up.
    d("selector", SELECTOR, Fill::Assigned(anything)),
    d("suspend", SCALAR, Fill::Bool(false)),
    TEMPLATE,
    f("ttlSecondsAfterFinished", SCALAR),
];

/// The server fills in what the template of a CronJob leaves out when it makes a Job of it, and not before.
const JOB_TEMPLATE_SPEC: &[Field] = &[
    f("activeDeadlineSeconds", SCALAR),
    f("backoffLimit", SCALAR),
    f("completionMode", SCALAR),
    f("completions", SCALAR),
    f("parallelism", SCALAR),
    f("podReplacementPolicy", SCALAR),
    f("suspend", SCALAR),
    TEMPLATE,
    f("ttlSecondsAfterFinished", SCALAR),
];

pub(super) const JOB: &[Field] = &[f("spec", &Kind::Fields(JOB_SPEC))];

pub(super) const CRON_JOB: &[Field] = &[f(
    "spec",
    &Kind::Fields(&[
        d("concurrencyPolicy", SCALAR, Fill::Text("Allow")),
        d("failedJobsHistoryLimit", SCALAR, Fill::Int(1)),
        f(
            "jobTemplate",
            &Kind::Fields(&[
                f("metadata", &Kind::Fields(&[f("annotations", OPEN), f("labels", OPEN)])),
                f("spec", &Kind::Fields(JOB_TEMPLATE_SPEC)),
            ]),
        ),
        f("schedule", SCALAR),
        f("startingDeadlineSeconds", SCALAR),
        d("successfulJobsHistoryLimit", SCALAR, Fill::Int(3)),
        d("suspend", SCALAR, Fill::Bool(false)),
        ours("timeZone", SCALAR),
    ]),
)];
