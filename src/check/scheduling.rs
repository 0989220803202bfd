//! On which nodes the pods may run.

use std::collections::BTreeSet;

use super::{Subject, kubernetes_name, label, spec};
use crate::api::Toleration;
use crate::plan::Scheduling;
use crate::problem::{Code, FieldPath, Problem, Problems};

/// Node labels over which members are spread where nothing else is asked for.
const SPREAD: [&str; 2] = ["kubernetes.io/hostname", "topology.kubernetes.io/zone"];

/// Checks all of `spec.scheduling`.
pub(super) fn check(subject: &Subject<'_>, out: &mut Problems) -> Scheduling {
    let wanted = subject.spec.scheduling.clone().unwrap_or_default();
    let path = spec("scheduling");
    label::labels(&wanted.node_selector, &path.key("nodeSelector"), Code::InvalidLabel, out);
    for (index, toleration) in wanted.tolerations.iter().enumerate() {
        self::toleration(toleration, &path.key("tolerations").index(index), out);
    }
    if let Some(name) = &wanted.priority_class_name
        && let Err(reason) = kubernetes_name::object_name(name)
    {
        out.report(
            Code::InvalidReference,
            path.key("priorityClassName"),
            format!("the priority class {name:?} must {reason}"),
        );
    }
    let mut seen = BTreeSet::new();
    for (index, key) in wanted.topology_keys.iter().enumerate() {
        let here = path.key("topologyKeys").index(index);
        if let Err(reason) = kubernetes_name::qualified_name(key) {
            out.report(Code::InvalidLabel, here, format!("the node label {key:?} must {reason}"));
        } else if !seen.insert(key) {
            out.push(
                Problem::new(Code::InvalidLabel, here, format!("the node label {key} stands twice"))
                    .with_hint("remove one of the two"),
            );
        }
    }
    let topology_keys =
        if wanted.topology_keys.is_empty() { SPREAD.map(str::to_owned).to_vec() } else { wanted.topology_keys };
    Scheduling {
        node_selector: wanted.node_selector,
        tolerations: wanted.tolerations,
        priority_class_name: wanted.priority_class_name,
        topology_keys,
    }
}

/// The rules of `ValidateTolerations` in Kubernetes' core validation.
fn toleration(toleration: &Toleration, path: &FieldPath, out: &mut Problems) {
    let mut fail = |field: &str, message: String, hint: &str| {
        out.push(Problem::new(Code::InvalidToleration, path.key(field), message).with_hint(hint));
    };
    let key = toleration.key.as_deref().unwrap_or_default();
    let operator = toleration.operator.as_deref().unwrap_or_default();
    let value = toleration.value.as_deref().unwrap_or_default();
    if !key.is_empty()
        && let Err(reason) = kubernetes_name::qualified_name(key)
    {
        fail("key", format!("the taint key {key:?} must {reason}"), "write the key of the taint");
    }
    match operator {
        "Exists" if !value.is_empty() => {
            fail("value", "operator Exists takes no value".to_owned(), "remove value, or use operator: Equal")
        }
        "Exists" => {}
        "" | "Equal" if key.is_empty() => {
            fail(
                "operator",
                "without a key the operator must be Exists, which tolerates every taint".to_owned(),
                "add the key of the taint, or write operator: Exists",
            );
        }
        "" | "Equal" => {
            if let Err(reason) = kubernetes_name::label_value(value) {
                fail("value", format!("the taint value {value:?} must {reason}"), "write the value of the taint");
            }
        }
        other => {
            fail("operator", format!("the operator {other:?} is none of Equal and Exists"), "write Equal or Exists")
        }
    }
    let effect = toleration.effect.as_deref().unwrap_or_default();
    if !["", "NoSchedule", "PreferNoSchedule", "NoExecute"].contains(&effect) {
        fail(
            "effect",
            format!("the effect {effect:?} is none of NoSchedule, PreferNoSchedule and NoExecute"),
            "write one of the three, or remove effect",
        );
    }
    if toleration.toleration_seconds.is_some() && effect != "NoExecute" {
        fail(
            "tolerationSeconds",
            "tolerationSeconds counts for the effect NoExecute only".to_owned(),
            "remove it, or write effect: NoExecute",
        );
    }
}
