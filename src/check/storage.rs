//! The volume of each member.

use super::{Subject, kubernetes_name, spec};
use crate::api::Quantity;
use crate::plan::Volume;
use crate::problem::{Code, Problem, Problems};

/// Size and class of the claim.
pub(super) fn volume(subject: &Subject<'_>, out: &mut Problems) -> Option<Volume> {
    let size = size(subject, out);
    let class = class(subject, out);
    Some(Volume { size: size?, class: class? })
}

fn size(subject: &Subject<'_>, out: &mut Problems) -> Option<Quantity> {
    let written = subject.spec.storage.size.as_str();
    let path = spec("storage.size");
    let digits = written.strip_suffix("Gi").or_else(|| written.strip_suffix("Ti"));
    if !digits.is_some_and(|digits| !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit())) {
        out.push(
            Problem::new(
                Code::InvalidStorageSize,
                path,
                format!("storage.size must be a whole number of Gi or Ti, found {written:?}"),
            )
            .with_hint(hint(written)),
        );
        return None;
    }
    // Kubernetes makes 2^63 - 1 of everything above it.
    let fits = |size: &Quantity| size.bytes().is_some_and(|bytes| bytes < i64::MAX.unsigned_abs());
    let size = Quantity::parse(written).ok().filter(fits);
    let Some(size) = size else {
        out.report(Code::InvalidStorageSize, path, format!("storage.size {written} is too large for a volume"));
        return None;
    };
    if !size.is_positive() {
        out.report(Code::InvalidStorageSize, path, "storage.size must be above zero");
        return None;
    }
    if let Some(largest) = subject.ground.limits.max_storage.filter(|largest| size > *largest) {
        let message = format!("storage.size {written} is above the platform's limit of {}", largest.canonical());
        out.report(Code::AboveLimit, path, message);
    }
    Some(size)
}

/// What was probably meant.
fn hint(written: &str) -> String {
    let digits: String = written.chars().take_while(char::is_ascii_digit).collect();
    let rest = written[digits.len()..].trim().to_ascii_lowercase();
    match (digits.is_empty(), rest.as_str()) {
        (false, "g" | "gb" | "gib" | "gi" | "") => format!("did you mean {digits}Gi?"),
        (false, "t" | "tb" | "tib" | "ti") => format!("did you mean {digits}Ti?"),
        _ => Code::InvalidStorageSize.hint().to_owned(),
    }
}

fn class(subject: &Subject<'_>, out: &mut Problems) -> Option<String> {
    let logical = subject.spec.storage.storage_class.as_str();
    let class = subject.ground.storage_class(logical);
    // Empty is Kubernetes' own word for "no class": volumes that somebody has made by hand.
    if !class.is_empty()
        && let Err(reason) = kubernetes_name::object_name(class)
    {
        let message = format!("the storage class {class:?} must {reason}");
        out.report(Code::InvalidReference, spec("storage.storageClass"), message);
        return None;
    }
    Some(class.to_owned())
}
