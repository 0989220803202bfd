//! Kinds with few fields.

use super::{CLOSED, Extra, Field, Fill, Kind, NAME, OPEN, QUANTITY, SCALAR, SET, anything, d, f, ours};

const REFERENCES: &Kind = &Kind::Keyed(NAME, &Kind::Fields(&[f("name", SCALAR)]), Extra::Foreign);

pub(super) const SERVICE_ACCOUNT: &[Field] = &[
    f("automountServiceAccountToken", SCALAR),
    // Controllers of some distributions add pull secrets and tokens of their own.
    d("imagePullSecrets", REFERENCES, Fill::Assigned(anything)),
    d("secrets", REFERENCES, Fill::Assigned(anything)),
];

/// A file that is added to a ConfigMap is added to a volume of our own containers.
pub(super) const CONFIG_MAP: &[Field] = &[ours("binaryData", CLOSED), ours("data", CLOSED), f("immutable", SCALAR)];

/// The values of `data` are compared apart, because they are hidden.
pub(super) const SECRET: &[Field] = &[f("data", OPEN), f("immutable", SCALAR), d("type", SCALAR, Fill::Text("Opaque"))];

pub(super) const ROLE: &[Field] = &[ours(
    "rules",
    &Kind::Items(
        &Kind::Fields(&[
            ours("apiGroups", SET),
            ours("nonResourceURLs", SET),
            ours("resourceNames", SET),
            ours("resources", SET),
            ours("verbs", SET),
        ]),
        Extra::Drift,
    ),
)];

pub(super) const ROLE_BINDING: &[Field] = &[
    f(
        "roleRef",
        &Kind::Fields(&[
            d("apiGroup", SCALAR, Fill::Text("rbac.authorization.k8s.io")),
            f("kind", SCALAR),
            f("name", SCALAR),
        ]),
    ),
    ours(
        "subjects",
        &Kind::Items(
            &Kind::Fields(&[
                d("apiGroup", SCALAR, Fill::Zero),
                f("kind", SCALAR),
                f("name", SCALAR),
                d("namespace", SCALAR, Fill::Zero),
            ]),
            Extra::Drift,
        ),
    ),
];

pub(super) const CLAIM_SPEC: &[Field] = &[
    f("accessModes", SET),
    f("dataSource", OPEN),
    f("dataSourceRef", OPEN),
    f("resources", &Kind::Fields(&[f("limits", AMOUNTS), f("requests", AMOUNTS)])),
    f("selector", super::SELECTOR),
    d("storageClassName", SCALAR, Fill::Assigned(anything)),
    d("volumeMode", SCALAR, Fill::Text("Filesystem")),
    d("volumeName", SCALAR, Fill::Assigned(anything)),
];

const AMOUNTS: &Kind = &Kind::Map(QUANTITY, Extra::Foreign);

pub(super) const CLAIM: &[Field] = &[f("spec", &Kind::Fields(CLAIM_SPEC))];
