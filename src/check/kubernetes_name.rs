//! Names, label keys and label values as Kubernetes allows them (`k8s.io/apimachinery/pkg/util/validation`).
//!
//! Each function says what is wrong, in words that can stand behind "must", or nothing.

/// Longest DNS label, label value, and name part of a qualified name.
const LABEL_MAX: usize = 63;
/// Longest DNS name.
const SUBDOMAIN_MAX: usize = 253;

/// A DNS label (RFC 1123): the name of a namespace.
pub(super) fn dns_label(text: &str) -> Result<(), String> {
    length(text, LABEL_MAX)?;
    if is_label(text) {
        Ok(())
    } else {
        Err("have lower-case letters, digits and dashes only, with a letter or digit at both ends".to_owned())
    }
}

/// A DNS label that starts with a letter (RFC 1035): the name of a Service.
pub(super) fn service_name(text: &str, longest: usize) -> Result<(), String> {
    length(text, longest)?;
    if !text.starts_with(|c: char| c.is_ascii_lowercase()) {
        return Err("start with a lower-case letter, because Services carry it".to_owned());
    }
    dns_label(text)
}

/// A DNS name (RFC 1123 subdomain): the name of most objects.
pub(super) fn object_name(text: &str) -> Result<(), String> {
    length(text, SUBDOMAIN_MAX)?;
    if text.split('.').all(is_label) {
        Ok(())
    } else {
        Err("have lower-case letters, digits, dashes and dots only, with a letter or digit at both ends of each part"
            .to_owned())
    }
}

/// The key of a label or annotation: a name, or a DNS name, a slash and a name.
pub(super) fn qualified_name(text: &str) -> Result<(), String> {
    let name = match text.split_once('/') {
        Some((prefix, name)) => {
            object_name(prefix)
                .map_err(|reason| format!("have a prefix that is a DNS name; the prefix must {reason}"))?;
            name
        }
        None => text,
    };
    length(name, LABEL_MAX)?;
    if is_label_word(name) {
        Ok(())
    } else {
        Err("have letters, digits, dashes, underscores and dots only, with a letter or digit at both ends".to_owned())
    }
}

/// The value of a label. It may be empty.
pub(super) fn label_value(text: &str) -> Result<(), String> {
    if text.is_empty() {
        return Ok(());
    }
    length(text, LABEL_MAX)?;
    if is_label_word(text) {
        Ok(())
    } else {
        Err("have letters, digits, dashes, underscores and dots only, with a letter or digit at both ends".to_owned())
    }
}

fn length(text: &str, longest: usize) -> Result<(), String> {
    match text.len() {
        0 => Err("not be empty".to_owned()),
        found if found > longest => Err(format!("have at most {longest} characters, it has {found}")),
        _ => Ok(()),
    }
}

fn is_label(text: &str) -> bool {
    let good = |c: u8| c.is_ascii_lowercase() || c.is_ascii_digit();
    let bytes = text.as_bytes();
    bytes.len() <= LABEL_MAX && ends(bytes, good) && bytes.iter().all(|c| good(*c) || *c == b'-')
}

fn is_label_word(text: &str) -> bool {
    let bytes = text.as_bytes();
    ends(bytes, |c| c.is_ascii_alphanumeric()) && bytes.iter().all(|c| c.is_ascii_alphanumeric() || b"-_.".contains(c))
}

fn ends(bytes: &[u8], good: impl Fn(u8) -> bool) -> bool {
    match (bytes.first(), bytes.last()) {
        (Some(first), Some(last)) => good(*first) && good(*last),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::{dns_label, label_value, object_name, qualified_name, service_name};

    #[test]
    fn as_kubernetes_has_it() {
        let long = "a".repeat(63);
        let longer = "a".repeat(64);
        for (text, label, service, object, qualified, value) in [
            ("a", true, true, true, true, true),
            ("a-b", true, true, true, true, true),
            ("1a", true, false, true, true, true),
            ("", false, false, false, false, true),
            ("a.b", false, false, true, true, true),
            ("a..b", false, false, false, true, true),
            ("-a", false, false, false, false, false),
            ("a-", false, false, false, false, false),
            ("A", false, false, false, true, true),
            ("a_b", false, false, false, true, true),
            ("a b", false, false, false, false, false),
            ("a/b", false, false, false, true, false),
            ("a/b/c", false, false, false, false, false),
            ("/a", false, false, false, false, false),
            ("a/", false, false, false, false, false),
            ("A/b", false, false, false, false, false),
            ("../x", false, false, false, false, false),
            ("é", false, false, false, false, false),
            (long.as_str(), true, true, true, true, true),
            (longer.as_str(), false, false, false, false, false),
        ] {
            let found = (
                dns_label(text).is_ok(),
                service_name(text, 63).is_ok(),
                object_name(text).is_ok(),
                qualified_name(text).is_ok(),
                label_value(text).is_ok(),
            );
            assert_eq!(found, (label, service, object, qualified, value), "{text:?}");
        }
    }
}
