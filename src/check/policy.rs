//! Rules that an API server holds by itself, as ValidatingAdmissionPolicies: they hold while neither webhook nor
//! controller runs.
//!
//! Input: the checked platform. Output: objects to apply. What a Database alone can say about itself stands in its
//! definition; here is what needs the platform file, and the one thing that a definition cannot say: not to be deleted.

use serde_json::{Value, json};

use super::ground::Ground;
use crate::api::GROUP;
use crate::problem::Code;

/// The policies and their bindings.
#[must_use]
pub fn admission_policies(ground: &Ground) -> Vec<Value> {
    let mut objects = policy(
        "dbrender-deletion",
        &["DELETE"],
        &[],
        &[(
            // The namespace that goes takes everything else with it: what would be held back is the one object that says
            // how.
            "!has(oldObject.spec.deletionPolicy) || oldObject.spec.deletionPolicy != 'Refuse' || has(namespaceObject.metadata.deletionTimestamp)".to_owned(),
            "spec.deletionPolicy is Refuse: set it to Retain or Delete first".to_owned(),
        )],
    );
    let limits = limits(ground);
    if !limits.is_empty() {
        objects.extend(policy(
            "dbrender-limits",
            &["CREATE", "UPDATE"],
            &[
                ("is-not-deleted", "!has(object.metadata.deletionTimestamp)".to_owned()),
                // A label or a finalizer of a Database from before the limit stands in nobody's way.
                ("spec-changes", "oldObject == null || object.spec != oldObject.spec".to_owned()),
            ],
            &limits,
        ));
    }
    objects
}

/// Expressions that must hold, with what is said otherwise.
fn limits(ground: &Ground) -> Vec<(String, String)> {
    let limits = &ground.limits;
    let mut rules = Vec::new();
    let mut rule = |expression: String, message: String| {
        rules.push((expression, format!("{message} [{}]", Code::AboveLimit.id())));
    };
    if let Some(largest) = limits.max_replicas {
        rule(
            format!("!has(object.spec.replicas) || object.spec.replicas <= {largest}"),
            format!("spec.replicas is above the platform's limit of {largest}"),
        );
    }
    if let Some(largest) = limits.max_storage {
        let largest = largest.canonical();
        rule(
            format!("quantity(object.spec.storage.size).compareTo(quantity('{largest}')) <= 0"),
            format!("spec.storage.size is above the platform's limit of {largest}"),
        );
    }
    if let Some(engines) = &limits.engines {
        let engines: Vec<&str> = engines.iter().map(|engine| engine.as_str()).collect();
        rule(
            format!("object.spec.engine in {}", list(&engines)),
            format!("the platform does not allow this engine; it allows {}", told(&engines)),
        );
    }
    if let Some(namespaces) = &limits.namespaces {
        let namespaces: Vec<&str> = namespaces.iter().map(String::as_str).collect();
        rule(
            format!("request.namespace in {}", list(&namespaces)),
            format!("the platform allows no Database in this namespace; it allows {}", told(&namespaces)),
        );
    }
    rules
}

/// Words of a closed alphabet, as a list of CEL. An empty one needs a type.
fn list(words: &[&str]) -> String {
    if words.is_empty() {
        return "['']".to_owned();
    }
    let quoted: Vec<String> = words.iter().map(|word| format!("'{word}'")).collect();
    format!("[{}]", quoted.join(", "))
}

fn told(words: &[&str]) -> String {
    if words.is_empty() { "none".to_owned() } else { words.join(", ") }
}

fn policy(
    name: &str,
    operations: &[&str],
    conditions: &[(&str, String)],
    validations: &[(String, String)],
) -> Vec<Value> {
    let conditions: Vec<Value> =
        conditions.iter().map(|(name, expression)| json!({"name": name, "expression": expression})).collect();
    let validations: Vec<Value> = validations
        .iter()
        .map(|(expression, message)| json!({"expression": expression, "message": message, "reason": "Forbidden"}))
        .collect();
    let rule = json!({"apiGroups": [GROUP], "apiVersions": ["*"], "operations": operations,
        "resources": ["databases"], "scope": "Namespaced"});
    let mut spec = json!({"failurePolicy": "Fail", "matchConstraints": {"resourceRules": [rule]},
        "validations": validations});
    if !conditions.is_empty() {
        spec["matchConditions"] = conditions.into();
    }
    vec![
        json!({
            "apiVersion": "admissionregistration.k8s.io/v1",
            "kind": "ValidatingAdmissionPolicy",
            "metadata": {"name": name},
            "spec": spec,
        }),
        json!({
            "apiVersion": "admissionregistration.k8s.io/v1",
            "kind": "ValidatingAdmissionPolicyBinding",
            "metadata": {"name": name},
            "spec": {"policyName": name, "validationActions": ["Deny"]},
        }),
    ]
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::admission_policies;
    use crate::api::PlatformSettings;
    use crate::check::ground;
    use crate::problem::Problems;

    fn policies(settings: Value) -> Vec<Value> {
        let settings: PlatformSettings = serde_json::from_value(settings).unwrap();
        admission_policies(&ground(&settings, &mut Problems::new()).unwrap())
    }

    #[test]
    fn a_platform_without_limits_has_the_policy_of_deletion_alone() {
        let names = |objects: &[Value]| {
            objects.iter().map(|o| o["metadata"]["name"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(names(&policies(json!({}))), ["dbrender-deletion", "dbrender-deletion"]);
        assert_eq!(names(&policies(json!({"limits": {"maxReplicas": 3}}))).len(), 4);
    }

    #[test]
    fn each_limit_is_one_rule_with_its_numbers() {
        let limits = json!({"maxReplicas": 3, "maxStorage": "1024Gi", "engines": ["postgresql"], "namespaces": []});
        let objects = policies(json!({"limits": limits}));
        let rules = objects[2]["spec"]["validations"].as_array().unwrap();
        let texts: Vec<String> = rules.iter().map(|rule| rule["expression"].as_str().unwrap().to_owned()).collect();
        assert_eq!(
            texts,
            [
                "!has(object.spec.replicas) || object.spec.replicas <= 3",
                "quantity(object.spec.storage.size).compareTo(quantity('1Ti')) <= 0",
                "object.spec.engine in ['postgresql']",
                "request.namespace in ['']",
            ]
        );
        assert!(rules.iter().all(|rule| rule["message"].as_str().unwrap().ends_with(']')));
    }
}
