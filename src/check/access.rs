//! Who may connect, and the Service of the primary.

use super::{Subject, kubernetes_name, label, spec};
use crate::plan::{Access, Service};
use crate::problem::{Code, Problems};

/// Namespaces that may connect. `None`: the platform renders no NetworkPolicy.
pub(super) fn check(subject: &Subject<'_>, out: &mut Problems) -> Option<Access> {
    let wanted = subject.spec.access.as_ref().map(|access| access.namespaces.clone()).unwrap_or_default();
    let path = spec("access.namespaces");
    for (index, name) in wanted.names.iter().enumerate() {
        if let Err(reason) = kubernetes_name::dns_label(name) {
            out.report(
                Code::InvalidNamespace,
                path.key("names").index(index),
                format!("the namespace {name:?} must {reason}"),
            );
        }
    }
    if let Some(selector) = &wanted.selector {
        label::labels(&selector.match_labels, &path.join("selector.matchLabels"), Code::InvalidLabel, out);
    }
    subject.ground.network_policy.then_some(Access { namespaces: wanted.names, selector: wanted.selector })
}

/// Type and annotations of the Service.
pub(super) fn service(subject: &Subject<'_>, out: &mut Problems) -> Service {
    let wanted = subject.spec.service.clone().unwrap_or_default();
    let path = spec("service.annotations");
    label::annotations(&wanted.annotations, &path, Code::InvalidLabel, out);
    label::reserved(&wanted.annotations, &path, out);
    Service { service_type: wanted.service_type, annotations: wanted.annotations }
}
