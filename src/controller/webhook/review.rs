//! What the webhook answers: a function of the question and the platform file.

use serde_json::{Value, json};

use crate::api::{GROUP, KIND};
use crate::check::{Ground, update};
use crate::controller::intent::{Understood, field, sentence, understand, words};
use crate::controller::neighbours::{Stored, clash_of_new};
use crate::input::Schemas;
use crate::problem::{Problem, Severity};

/// Longest warning, in bytes: what the server does not cut.
const LONGEST: usize = 250;

/// The answer to a review, beside the Databases that are stored. `None`: it is none.
pub(super) fn answer(review: &Value, ground: &Ground, schemas: &Schemas, stored: &Stored) -> Option<Value> {
    let request = review.get("request").filter(|_| review["kind"] == "AdmissionReview")?;
    let uid = request["uid"].as_str()?;
    let problems = problems(request, ground, schemas, stored);
    let (errors, warnings): (Vec<&Problem>, Vec<&Problem>) =
        problems.iter().partition(|problem| problem.severity == Severity::Error);
    let mut response = json!({"uid": uid, "allowed": errors.is_empty()});
    if !errors.is_empty() {
        response["status"] = refusal(request, &errors);
    }
    if !warnings.is_empty() {
        response["warnings"] = warnings.into_iter().map(|problem| Value::from(warning(problem))).collect();
    }
    Some(json!({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "response": response}))
}

/// What is wrong with what somebody wants to store, and was not wrong before.
fn problems(request: &Value, ground: &Ground, schemas: &Schemas, stored: &Stored) -> Vec<Problem> {
    let object = &request["object"];
    let old = Some(&request["oldObject"]).filter(|_| request["operation"] == "UPDATE");
    let is_database = object["kind"] == KIND && request["subResource"].as_str().is_none_or(str::is_empty);
    // One that is being deleted must be able to lose its finalizers, however wrong it is.
    if !is_database || !object["metadata"]["deletionTimestamp"].is_null() {
        return Vec::new();
    }
    let new = understand(object, ground, schemas);
    let before = old.map(|old| understand(old, ground, schemas)).unwrap_or_default();
    let changes = change(&before, &new);
    // No change makes two meet that did not: their names and their engines stay.
    let clash = new.plan.as_ref().filter(|_| old.is_none()).and_then(|plan| clash_of_new(stored, plan));
    let mut problems: Vec<Problem> = new.problems.into_iter().chain(changes).chain(clash).collect();
    if old.is_some_and(|old| old["spec"] == object["spec"]) {
        // A label or a finalizer: what was wrong before may have become so with the platform file, and is said in the
        // status. It must not stand in the way.
        let said = |problem: &Problem| (problem.code, problem.path.to_string(), problem.message.clone());
        let known: Vec<_> = before.problems.iter().map(said).collect();
        problems.retain(|problem| !known.contains(&said(problem)));
    }
    problems
}

/// What may not change, when both states can be read.
fn change(before: &Understood, new: &Understood) -> Vec<Problem> {
    match (&before.database, &new.database) {
        (Some(before), Some(new)) => update(before, new).into_iter().collect(),
        _ => Vec::new(),
    }
}

/// A Status as the server's own validation writes it, so that clients show one line per field.
fn refusal(request: &Value, errors: &[&Problem]) -> Value {
    let causes: Vec<Value> = errors
        .iter()
        .map(|error| json!({"reason": "FieldValueInvalid", "field": field(error), "message": words(error)}))
        .collect();
    let message: Vec<String> = errors.iter().map(|error| sentence(error)).collect();
    json!({"status": "Failure", "code": 422, "reason": "Invalid", "message": message.join("; "),
        "details": {"group": GROUP, "kind": KIND, "name": request["name"], "causes": causes}})
}

/// A warning as long as the server shows one: without its hint, when that is too much.
fn warning(problem: &Problem) -> String {
    let full = sentence(problem);
    if full.len() <= LONGEST {
        return full;
    }
    let code = format!(" [{}]", problem.code.id());
    let text = format!("{}: {}", field(problem), problem.message);
    let end = text.floor_char_boundary(LONGEST - code.len() - " …".len());
    if end == text.len() { text + &code } else { format!("{} …{code}", &text[..end]) }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::answer;
    use crate::api::PlatformSettings;
    use crate::check::{Ground, ground};
    use crate::input::Schemas;
    use crate::problem::Problems;

    fn here(settings: Value) -> Ground {
        let settings: PlatformSettings = serde_json::from_value(settings).unwrap();
        ground(&settings, &mut Problems::new()).unwrap()
    }

    fn database(differs: Value) -> Value {
        let mut spec = json!({"engine": "postgresql", "version": "17", "replicas": 3, "storage": {"size": "10Gi"}});
        for (key, value) in differs.as_object().unwrap() {
            spec[key] = value.clone();
        }
        json!({"apiVersion": "app.example.com/v1alpha1", "kind": "Database",
            "metadata": {"name": "order-db", "namespace": "production", "uid": "u"}, "spec": spec})
    }

    fn asked(old: Option<&Value>, new: &Value) -> Value {
        json!({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": {
            "uid": "7", "name": "order-db", "operation": if old.is_some() { "UPDATE" } else { "CREATE" },
            "object": new, "oldObject": old}})
    }

    fn response(old: Option<&Value>, new: &Value) -> Value {
        let answer = answer(&asked(old, new), &here(json!({})), &Schemas::new(), &[]).unwrap();
        assert_eq!((&answer["kind"], &answer["response"]["uid"]), (&json!("AdmissionReview"), &json!("7")));
        answer["response"].clone()
    }

    fn fields(response: &Value) -> Vec<String> {
        let causes = response["status"]["details"]["causes"].as_array().cloned().unwrap_or_default();
        causes.iter().map(|cause| cause["field"].as_str().unwrap().to_owned()).collect()
    }

    #[test]
    fn every_problem_is_in_one_answer_with_its_field_and_its_code() {
        let wrong =
            database(json!({"version": "9.4", "backup": {"schedule": "whenever"}, "resources": {"memory": "much"}}));
        let response = response(None, &wrong);
        assert_eq!((&response["allowed"], &response["status"]["code"]), (&json!(false), &json!(422)));
        assert_eq!(fields(&response).len(), 3, "{response}");
        let message = response["status"]["message"].as_str().unwrap();
        for field in fields(&response) {
            assert!(message.contains(&field), "{field}: {message}");
        }
        assert_eq!(message.matches("[DBR").count(), 3, "{message}");
    }

    #[test]
    fn what_is_right_is_allowed_and_what_is_unwise_is_said() {
        assert_eq!(response(None, &database(json!({}))), json!({"uid": "7", "allowed": true}));
        let even = response(None, &database(json!({"replicas": 2})));
        assert_eq!(even["allowed"], true);
        let warnings = even["warnings"].as_array().unwrap();
        assert!(warnings.iter().all(|w| w.as_str().unwrap().len() <= 256), "{warnings:?}");
        assert!(warnings[0].as_str().unwrap().starts_with("spec.replicas: "), "{warnings:?}");
    }

    #[test]
    fn what_may_not_change_is_refused_by_what_it_was() {
        let old = database(json!({}));
        let smaller = response(Some(&old), &database(json!({"storage": {"size": "5Gi"}, "version": "16"})));
        assert_eq!(fields(&smaller), ["spec.version", "spec.storage.size"]);
        assert_eq!(response(Some(&old), &database(json!({"storage": {"size": "20Gi"}})))["allowed"], true);
        // Whatever it was: what was stored by an older version is no reason to refuse what is right.
        assert_eq!(response(Some(&json!({"spec": {"engine": 3}})), &old)["allowed"], true);
    }

    /// If this fails, a Database that a changed platform file forbids can neither be labelled nor deleted.
    #[test]
    fn what_was_wrong_before_stands_in_nobodys_way() {
        let old = database(json!({"version": "9.4", "replicas": 2}));
        let mut new = old.clone();
        new["metadata"]["finalizers"] = json!(["x"]);
        assert_eq!(response(Some(&old), &new), json!({"uid": "7", "allowed": true}));
        new["metadata"]["annotations"] = json!({"app.example.com/force-primary": "nonsense"});
        assert_eq!(fields(&response(Some(&old), &new)), ["metadata.annotations[app.example.com/force-primary]"]);
        new["spec"]["replicas"] = json!(3);
        assert_eq!(fields(&response(Some(&old), &new)).len(), 2, "a change has to mend all of it");
        new["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
        assert_eq!(response(Some(&old), &new)["allowed"], true);
    }

    #[test]
    fn the_platform_files_limits_hold() {
        let ground = here(json!({"limits": {"maxReplicas": 2}}));
        let answer = answer(&asked(None, &database(json!({}))), &ground, &Schemas::new(), &[]).unwrap();
        assert_eq!(fields(&answer["response"]), ["spec.replicas"]);
    }

    #[test]
    fn a_question_about_something_else_is_answered_and_nonsense_is_not() {
        let mut other = database(json!({}));
        other["kind"] = json!("ConfigMap");
        assert_eq!(response(None, &other)["allowed"], true);
        for review in [json!({}), json!([]), json!({"kind": "AdmissionReview", "request": {}}), Value::Null] {
            assert_eq!(answer(&review, &here(json!({})), &Schemas::new(), &[]), None, "{review}");
        }
        for object in [json!({"kind": "Database"}), json!({"kind": "Database", "spec": []})] {
            assert_eq!(response(None, &object)["allowed"], false, "{object}");
        }
    }
}
