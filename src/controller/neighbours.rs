//! Databases of one namespace that would write the same object, such as `shop` with its Service `shop-ro` and another one
//! that is called `shop-ro`: the younger one waits for a person.

use kube::api::DynamicObject;

use super::Inner;
use super::intent::{Intent, sentence};
use crate::api::EngineName;
use crate::check::{Written, together};
use crate::plan::Plan;
use crate::render;

/// What stands in the way, in a sentence.
pub(super) fn clash(shared: &Inner, intent: &Intent, plan: &Plan) -> Option<String> {
    let stored = shared.databases()?.state();
    let here = |object: &&std::sync::Arc<DynamicObject>| object.metadata.namespace.as_ref() == Some(&intent.namespace);
    let me = stored.iter().filter(here).find(|object| object.metadata.name.as_ref() == Some(&intent.name))?;
    let elders = stored.iter().filter(here).filter(|other| {
        let name = other.metadata.name.as_deref().unwrap_or_default();
        is_related(name, &intent.name) && age(other) < age(me)
    });
    let mine = render::names_of(&plan.name, plan.engine);
    elders.into_iter().find_map(|other| {
        let name = other.metadata.name.clone()?;
        let engine: EngineName = serde_json::from_value(other.data["spec"]["engine"].clone()).ok()?;
        let objects = render::names_of(&name, engine);
        // Of the other one only the name is asked for.
        let theirs = Plan { name, ..plan.clone() };
        let both =
            [Written { plan: &theirs, objects, place: None }, Written { plan, objects: mine.clone(), place: None }];
        together(&both).iter().next().map(sentence)
    })
}

/// All objects of a Database begin with its name.
fn is_related(one: &str, other: &str) -> bool {
    let below = |long: &str, short: &str| long.strip_prefix(short).is_some_and(|rest| rest.starts_with('-'));
    below(one, other) || below(other, one)
}

/// Two of the same second are told apart by their names.
fn age(object: &DynamicObject) -> (Option<jiff::Timestamp>, &str) {
    let time = object.metadata.creation_timestamp.as_ref().map(|time| time.0);
    (time, object.metadata.name.as_deref().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::is_related;

    #[test]
    fn only_names_that_go_on_with_a_hyphen_can_meet() {
        assert!(is_related("shop", "shop-ro") && is_related("shop-ro", "shop"));
        assert!(!is_related("shop", "shopping") && !is_related("shop", "shop") && !is_related("a", "b"));
    }
}
