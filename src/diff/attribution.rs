//! Who wrote a value: `managedFields`, read only where a difference asks.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::render::MANAGED_BY_LABEL;

use super::ChangedBy;
use super::path::Step;

/// The managers of one object.
#[derive(Debug, Default)]
pub(super) struct Managers(Vec<Manager>);

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Manager {
    #[serde(default)]
    manager: String,
    #[serde(default)]
    operation: String,
    #[serde(default)]
    subresource: Option<String>,
    #[serde(default)]
    time: Option<String>,
    #[serde(default, rename = "fieldsV1")]
    fields: Map<String, Value>,
}

impl Managers {
    /// From the text. What is not understood counts as absent: it decides nothing but a name in the report.
    pub(super) fn read(fields: Option<&[u8]>) -> Managers {
        Managers(fields.and_then(|fields| serde_json::from_slice(fields).ok()).unwrap_or_default())
    }

    /// Whether the server said nothing about managers, as in a dump of `kubectl get` without `--show-managed-fields`.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether a manager of this name has written anything that is still there.
    pub(super) fn has(&self, name: &str) -> bool {
        self.0.iter().any(|manager| manager.manager == name)
    }

    /// Whether one of those that deliver our manifests has written what stands at this place: whoever owns the label that
    /// stands on everything we render. Then it was rendered once, and the next delivery takes it away.
    pub(super) fn delivered(&self, steps: &[Step<'_>]) -> bool {
        let mark = [Step::Field("metadata"), Step::Field("labels"), Step::Field(MANAGED_BY_LABEL)];
        self.0.iter().any(|manager| owns(&manager.fields, &mark) && owns(&manager.fields, steps))
    }

    /// Who wrote last what stands at this place. Several may own a field; the last one set its value, the others agreed
    /// before or applied the same.
    pub(super) fn of(&self, steps: &[Step<'_>]) -> Option<ChangedBy> {
        let owners = self.0.iter().filter(|manager| owns(&manager.fields, steps));
        // RFC 3339 in UTC sorts as text.
        owners.max_by(|a, b| a.time.cmp(&b.time)).map(|manager| ChangedBy {
            manager: manager.manager.clone(),
            operation: manager.operation.clone(),
            subresource: manager.subresource.clone().filter(|name| !name.is_empty()),
            time: manager.time.clone(),
        })
    }
}

/// Whether the set of fields holds the place, something below it, or an atomic value around it.
fn owns(fields: &Map<String, Value>, steps: &[Step<'_>]) -> bool {
    let Some((step, rest)) = steps.split_first() else { return true };
    let next = match step {
        Step::Field(name) => fields.iter().find(|(key, _)| key.strip_prefix("f:") == Some(name)),
        Step::Item(keys) => fields.iter().find(|(key, _)| key.strip_prefix("k:").is_some_and(|json| names(json, keys))),
        // Kubernetes knows lists without keys as a whole.
        Step::Index(_) => None,
    };
    match next {
        // A leaf above the place is an atomic value that holds it.
        Some((_, Value::Object(below))) => below.is_empty() || owns(below, rest),
        // Not a form that Kubernetes writes.
        Some(_) | None => false,
    }
}

/// Whether `{"name":"agent"}` names the item. Kubernetes may know more or fewer keys than we pair by.
fn names(json: &str, keys: &[(&'static str, Cow<'_, str>)]) -> bool {
    let Ok(named) = serde_json::from_str::<Map<String, Value>>(json) else { return false };
    let mut shared = 0;
    for (key, wanted) in keys {
        match named.get(*key) {
            Some(Value::String(text)) if text == wanted => shared += 1,
            Some(Value::String(_)) => return false,
            Some(other) if other.to_string() == *wanted => shared += 1,
            Some(_) => return false,
            None => {}
        }
    }
    shared > 0
}

/// Whether the writer is one of the autoscalers, which write the subresource `scale`. A person who scales does it there
/// too, but under the name of kubectl or of a dashboard.
pub(super) fn is_autoscaler(by: &ChangedBy) -> bool {
    let manager = by.manager.as_str();
    by.subresource.as_deref() == Some("scale")
        && (matches!(manager, "kube-controller-manager" | "horizontal-pod-autoscaler") || manager.starts_with("keda"))
}

#[cfg(test)]
mod tests {
    use super::{Managers, Step, is_autoscaler};

    const FIELDS: &str = r#"[
      {"manager":"dbrender","operation":"Apply","time":"2026-11-01T00:00:00Z","fieldsV1":{
        "f:metadata":{"f:labels":{"f:app.kubernetes.io/name":{}}},
        "f:spec":{"f:replicas":{},"f:serviceName":{},"f:volumeClaimTemplates":{},"f:template":{"f:spec":{"f:containers":{
          "k:{\"name\":\"postgresql\"}":{".":{},"f:image":{},"f:args":{},"f:ports":{"k:{\"containerPort\":5432,\"protocol\":\"TCP\"}":{".":{},"f:name":{}}}}}}}}}},
      {"manager":"kubectl","operation":"Update","subresource":"scale","time":"2026-11-02T00:00:00Z","fieldsV1":{"f:spec":{"f:replicas":{}}}},
      {"manager":"kubectl-edit","operation":"Update","time":"2026-11-03T00:00:00Z","fieldsV1":{"f:spec":{"f:template":{"f:spec":{"f:containers":{
          "k:{\"name\":\"postgresql\"}":{"f:image":{}},"k:{\"name\":\"side\"}":{".":{},"f:name":{}}}}}}}}]"#;

    fn owner(steps: &[Step<'_>]) -> Option<String> {
        Managers::read(Some(FIELDS.as_bytes())).of(steps).map(|by| by.manager)
    }

    fn container<'a>(name: &'a str, rest: &[Step<'a>]) -> Vec<Step<'a>> {
        let mut steps =
            vec![Step::Field("spec"), Step::Field("template"), Step::Field("spec"), Step::Field("containers")];
        steps.push(Step::Item(vec![("name", name.into())]));
        steps.extend_from_slice(rest);
        steps
    }

    #[test]
    fn the_last_writer_of_the_place_is_named() {
        assert_eq!(owner(&[Step::Field("spec"), Step::Field("replicas")]).as_deref(), Some("kubectl"));
        assert_eq!(owner(&[Step::Field("spec"), Step::Field("serviceName")]).as_deref(), Some("dbrender"));
        assert_eq!(owner(&container("postgresql", &[Step::Field("image")])).as_deref(), Some("kubectl-edit"));
        assert_eq!(owner(&container("side", &[])).as_deref(), Some("kubectl-edit"));
        assert_eq!(owner(&container("other", &[])), None);
        let port = Step::Item(vec![("containerPort", "5432".into()), ("protocol", "TCP".into())]);
        assert_eq!(
            owner(&container("postgresql", &[Step::Field("ports"), port.clone(), Step::Field("name")])).as_deref(),
            Some("dbrender")
        );
        assert_eq!(
            owner(&container("postgresql", &[Step::Field("args"), Step::Index(1)])).as_deref(),
            Some("dbrender")
        );
        let claim = Step::Item(vec![("name", "data".into())]);
        let inside = [Step::Field("spec"), Step::Field("volumeClaimTemplates"), claim, Step::Field("spec")];
        assert_eq!(owner(&inside).as_deref(), Some("dbrender"), "an atomic list is owned as a whole");
    }

    #[test]
    fn a_scale_by_an_autoscaler_is_told_from_one_by_a_person() {
        let by = |manager: &str, subresource: &str| {
            let text = format!(
                r#"[{{"manager":"{manager}","operation":"Update","subresource":"{subresource}","fieldsV1":{{"f:spec":{{"f:replicas":{{}}}}}}}}]"#
            );
            Managers::read(Some(text.as_bytes())).of(&[Step::Field("spec"), Step::Field("replicas")]).unwrap()
        };
        assert!(is_autoscaler(&by("kube-controller-manager", "scale")));
        assert!(is_autoscaler(&by("keda-operator", "scale")));
        assert!(!is_autoscaler(&by("kubectl", "scale")));
        assert!(
            !is_autoscaler(&by("kube-controller-manager", "")),
            "a controller that writes the object itself does not scale"
        );
    }

    #[test]
    fn nonsense_names_nobody() {
        for text in
            [None, Some(""), Some("{}"), Some("[{\"fieldsV1\":3}]"), Some("[{}]"), Some("[{\"fieldsV1\":{\"k:\":{}}}]")]
        {
            assert_eq!(
                Managers::read(text.map(str::as_bytes)).of(&[Step::Field("spec"), Step::Field("replicas")]),
                None,
                "{text:?}"
            );
        }
    }
}
