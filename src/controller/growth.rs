//! Volumes that are to grow: the claims first, then the StatefulSet, whose claim template cannot change, is made anew
//! around its running pods.

use serde_json::{Value, json};

use crate::api::Quantity;

/// Where the size stands in a claim, and in a claim template.
const SIZE: &str = "/spec/resources/requests/storage";

/// What has to be done before the StatefulSet can be applied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Growth {
    /// Claims that are smaller than wanted, by name.
    pub(super) claims: Vec<String>,
    /// The wanted size.
    pub(super) size: String,
}

/// `None`: the two differ in more than a size that grows, or in nothing.
pub(super) fn growth(desired: &Value, live: &Value, claims: &[(String, Value)]) -> Option<Growth> {
    let template = |set: &Value| set.pointer("/spec/volumeClaimTemplates/0").cloned();
    let (wanted, found) = (template(desired)?, template(live)?);
    let size = |value: &Value| value.pointer(SIZE).and_then(Value::as_str).map(str::to_owned);
    let (wanted, found) = (size(&wanted)?, size(&found)?);
    if Quantity::parse(&wanted).ok()? <= Quantity::parse(&found).ok()? {
        return None;
    }
    let is_smaller = |claim: &Value| {
        let requested = size(claim).and_then(|text| Quantity::parse(&text).ok());
        requested.zip(Quantity::parse(&wanted).ok()).is_some_and(|(requested, wanted)| requested < wanted)
    };
    let claims = claims.iter().filter(|(_, claim)| is_smaller(claim)).map(|(name, _)| name.clone()).collect();
    Some(Growth { claims, size: wanted })
}

/// The patch of a claim.
pub(super) fn patch(size: &str) -> Value {
    json!({"spec": {"resources": {"requests": {"storage": size}}}})
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{Growth, growth};

    fn set(size: &str) -> Value {
        json!({"spec": {"volumeClaimTemplates": [{"spec": {"resources": {"requests": {"storage": size}}}}]}})
    }

    fn claim(name: &str, size: &str) -> (String, Value) {
        (name.to_owned(), json!({"spec": {"resources": {"requests": {"storage": size}}}}))
    }

    #[test]
    fn a_volume_grows_and_never_shrinks() {
        let claims = [claim("a", "1Gi"), claim("b", "2Gi"), claim("c", "1024Mi")];
        let wanted = Growth { claims: vec!["a".to_owned(), "c".to_owned()], size: "2Gi".to_owned() };
        assert_eq!(growth(&set("2Gi"), &set("1Gi"), &claims), Some(wanted));
        assert_eq!(growth(&set("1Gi"), &set("2Gi"), &claims), None);
        assert_eq!(growth(&set("1Gi"), &set("1024Mi"), &claims), None);
        assert_eq!(growth(&set("nonsense"), &set("1Gi"), &claims), None);
        assert_eq!(growth(&json!({}), &set("1Gi"), &claims), None);
        // the claims have grown already: a controller that died in between goes on here
        assert_eq!(growth(&set("2Gi"), &set("1Gi"), &[]).map(|g| g.claims.len()), Some(0));
    }
}
