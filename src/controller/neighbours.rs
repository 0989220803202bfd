//! Databases of one namespace that would write the same object, such as `shop` with its Service `shop-ro` and another one
//! that is called `shop-ro`: the younger one waits for a person.

use std::sync::Arc;

use kube::api::DynamicObject;

use super::intent::Intent;
use crate::api::EngineName;
use crate::check::{Written, together};
use crate::plan::Plan;
use crate::problem::Problem;
use crate::render;

/// Every Database that is stored.
pub(super) type Stored = [Arc<DynamicObject>];

/// What stands in the way of one that is stored: the objects of an elder one.
pub(super) fn clash(stored: &Stored, intent: &Intent, plan: &Plan) -> Option<Problem> {
    let is_me = |object: &&Arc<DynamicObject>| {
        object.metadata.name.as_ref() == Some(&intent.name)
            && object.metadata.namespace.as_ref() == Some(&intent.namespace)
    };
    let me = stored.iter().find(is_me)?;
    first(plan, stored.iter().filter(|other| age(other) < age(me)))
}

/// What stands in the way of one that is about to be stored: to it all others are elders.
pub(super) fn clash_of_new(stored: &Stored, plan: &Plan) -> Option<Problem> {
    first(plan, stored.iter())
}

fn first<'a>(plan: &Plan, elders: impl Iterator<Item = &'a Arc<DynamicObject>>) -> Option<Problem> {
    let mine = render::names_of(&plan.name, plan.engine);
    let mut near = elders.filter(|other| {
        other.metadata.namespace.as_ref() == Some(&plan.namespace)
            && other.metadata.name.as_ref().is_some_and(|name| is_related(name, &plan.name))
    });
    near.find_map(|other| {
        let name = other.metadata.name.clone()?;
        let engine: EngineName = serde_json::from_value(other.data["spec"]["engine"].clone()).ok()?;
        let objects = render::names_of(&name, engine);
        // Of the other one only the name is asked for.
        let theirs = Plan { name, ..plan.clone() };
        let both =
            [Written { plan: &theirs, objects, place: None }, Written { plan, objects: mine.clone(), place: None }];
        together(&both).iter().next().cloned()
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
