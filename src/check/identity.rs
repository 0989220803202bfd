//! Name and namespace: the names of all objects and the path of all files come from these two.

use super::{Subject, kubernetes_name};
use crate::api::NAME_MAX;
use crate::problem::{Code, FieldPath, Problem, Problems};

/// Checks name, namespace and the flag `--namespace`.
pub(super) fn check(subject: &Subject<'_>, flag: Option<&str>, out: &mut Problems) {
    let name = subject.name;
    if let Err(reason) = kubernetes_name::service_name(name, NAME_MAX) {
        out.report(Code::InvalidName, FieldPath::of("metadata.name"), format!("the name {name:?} must {reason}"));
    }
    let path = FieldPath::of("metadata.namespace");
    let given = subject.database.metadata.namespace.as_deref();
    match (given, flag) {
        (None, None) => out.report(Code::MissingNamespace, path, "the Database has no namespace"),
        (Some(given), Some(flag)) if given != flag => {
            let message = format!("metadata.namespace is {given:?} and --namespace says {flag:?}");
            out.push(Problem::new(Code::NamespaceDiffers, path, message));
        }
        _ => {
            if let Err(reason) = kubernetes_name::dns_label(subject.namespace) {
                out.report(
                    Code::InvalidNamespace,
                    path,
                    format!("the namespace {:?} must {reason}", subject.namespace),
                );
            }
        }
    }
    limits(subject, out);
}

/// What the platform allows.
fn limits(subject: &Subject<'_>, out: &mut Problems) {
    let limits = &subject.ground.limits;
    if let Some(namespaces) = &limits.namespaces
        && !namespaces.iter().any(|allowed| allowed == subject.namespace)
        && !subject.namespace.is_empty()
    {
        let message = format!(
            "the platform allows no Database in namespace {}; it allows {}",
            subject.namespace,
            listed(namespaces)
        );
        out.report(Code::AboveLimit, FieldPath::of("metadata.namespace"), message);
    }
    let engine = subject.spec.engine;
    if let Some(engines) = &limits.engines
        && !engines.contains(&engine)
    {
        let engines: Vec<String> = engines.iter().map(|e| e.as_str().to_owned()).collect();
        let message = format!("the platform allows no {}; it allows {}", engine.as_str(), listed(&engines));
        out.report(Code::AboveLimit, super::spec("engine"), message);
    }
}

fn listed(words: &[String]) -> String {
    if words.is_empty() { "none".to_owned() } else { words.join(", ") }
}
