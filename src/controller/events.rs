//! Events of a Database: what has changed, for people. Never the only place where a state stands.

use k8s_openapi::api::core::v1::ObjectReference;
use kube::Client;
use kube::runtime::events::{Event, EventType, Recorder as Publisher, Reporter};

use super::intent::Intent;
use crate::api::{self, API_VERSION, Condition, DatabaseStatus, KIND};

/// The longest note that the server takes, in bytes.
const LONGEST: usize = 1000;

/// Writes them.
pub(super) struct Recorder(Publisher);

impl Recorder {
    pub(super) fn new(client: Client, identity: &str) -> Recorder {
        let reporter = Reporter { controller: "dbrender".to_owned(), instance: Some(identity.to_owned()) };
        Recorder(Publisher::new(client, reporter))
    }

    /// Tells one thing. An event that cannot be written is lost; the status says the same.
    pub(super) async fn tell(&self, intent: &Intent, warning: bool, reason: &str, action: &str, note: &str) {
        debug_assert!(api::is_event(reason), "{reason} is not in the list of api/told.rs");
        let event = Event {
            type_: if warning { EventType::Warning } else { EventType::Normal },
            reason: reason.to_owned(),
            note: Some(shortened(note)),
            action: action.to_owned(),
            secondary: None,
        };
        let reference = ObjectReference {
            api_version: Some(API_VERSION.to_owned()),
            kind: Some(KIND.to_owned()),
            namespace: Some(intent.namespace.clone()),
            name: Some(intent.name.clone()),
            uid: Some(intent.uid.clone()),
            ..ObjectReference::default()
        };
        let _ = self.0.publish(&event, &reference).await;
    }

    /// Tells what has changed between two states.
    pub(super) async fn tell_changes(&self, intent: &Intent, after: &DatabaseStatus) {
        for change in changes(&intent.status, after) {
            let Condition { condition_type, status, reason, message, .. } = change;
            let warning = (condition_type == "Stalled" && status == "True")
                || (condition_type == "BackupReady" && reason.as_deref() == Some("Failed"))
                || (condition_type == "Ready" && status == "False");
            let reason = reason.as_deref().unwrap_or(condition_type);
            self.tell(intent, warning, reason, condition_type, message.as_deref().unwrap_or_default()).await;
        }
    }
}

/// Conditions whose status is another one now. The first state of all is no change, but for one that waits for a person.
fn changes<'a>(before: &DatabaseStatus, after: &'a DatabaseStatus) -> Vec<&'a Condition> {
    const WORTH: [&str; 4] = ["Ready", "Stalled", "BackupReady", "Drifted"];
    let is_new = |condition: &&Condition| match before
        .conditions
        .iter()
        .find(|c| c.condition_type == condition.condition_type)
    {
        Some(before) => {
            before.status != condition.status || (condition.status == "True" && before.reason != condition.reason)
        }
        None => condition.condition_type == "Stalled" && condition.status == "True",
    };
    after.conditions.iter().filter(|c| WORTH.contains(&c.condition_type.as_str())).filter(is_new).collect()
}

fn shortened(note: &str) -> String {
    if note.len() <= LONGEST {
        return note.to_owned();
    }
    let end = (0..=LONGEST - 4).rev().find(|end| note.is_char_boundary(*end)).unwrap_or(0);
    format!("{} …", &note[..end])
}

#[cfg(test)]
mod tests {
    use super::{changes, shortened};
    use crate::api::{Condition, DatabaseStatus};

    fn status(conditions: &[(&str, &str, &str)]) -> DatabaseStatus {
        let conditions = conditions.iter().map(|(of, status, reason)| Condition {
            condition_type: (*of).to_owned(),
            status: (*status).to_owned(),
            last_transition_time: None,
            reason: Some((*reason).to_owned()),
            message: None,
            observed_generation: None,
        });
        DatabaseStatus { conditions: conditions.collect(), ..DatabaseStatus::default() }
    }

    #[test]
    fn only_what_changes_is_told() {
        let told = |before: &[(&str, &str, &str)], after: &[(&str, &str, &str)]| {
            let after = status(after);
            changes(&status(before), &after).iter().map(|c| c.condition_type.clone()).collect::<Vec<_>>()
        };
        assert!(told(&[], &[("Ready", "False", "NoMembers")]).is_empty());
        assert_eq!(told(&[], &[("Stalled", "True", "Invalid")]), ["Stalled"]);
        assert_eq!(told(&[("Ready", "False", "x")], &[("Ready", "True", "y")]), ["Ready"]);
        assert!(told(&[("Ready", "False", "x")], &[("Ready", "False", "y")]).is_empty());
        assert_eq!(told(&[("Stalled", "True", "x")], &[("Stalled", "True", "y")]), ["Stalled"]);
        assert!(told(&[("Reconciling", "False", "x")], &[("Reconciling", "True", "y")]).is_empty());
    }

    #[test]
    fn a_long_note_is_cut_between_characters() {
        let cut = shortened(&"ü".repeat(900));
        assert!(cut.len() <= 1000 && cut.ends_with(" …"));
    }
}
