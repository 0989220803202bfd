//! Databases that would write the same object.

use std::collections::BTreeMap;

use crate::plan::Plan;
use crate::problem::{Code, FieldPath, Place, Problem, Problems};

/// A Database that is to be rendered beside others.
#[derive(Clone, Debug)]
pub struct Written<'a> {
    /// Its Plan.
    pub plan: &'a Plan,
    /// Kind and name of all objects that it may ever have, as the renderer names them.
    pub objects: Vec<(&'static str, String)>,
    /// Where its name stands.
    pub place: Option<Place>,
}

/// Reports each Database that would write an object of an earlier one, with both places.
///
/// Names that are only taken at times count too: a Database that gets a second member must not meet another then.
#[must_use]
pub fn together(written: &[Written<'_>]) -> Problems {
    let mut out = Problems::new();
    let mut seen: BTreeMap<(&str, &str, &str), usize> = BTreeMap::new();
    for (index, one) in written.iter().enumerate() {
        let clash = one.objects.iter().find_map(|(kind, name)| {
            let key = (one.plan.namespace.as_str(), *kind, name.as_str());
            seen.get(&key).map(|earlier| (*earlier, *kind, name.as_str()))
        });
        for (kind, name) in &one.objects {
            seen.entry((&one.plan.namespace, kind, name)).or_insert(index);
        }
        if let Some((earlier, kind, name)) = clash {
            out.push(problem(one, &written[earlier], kind, name));
        }
    }
    out
}

fn problem(one: &Written<'_>, other: &Written<'_>, kind: &str, name: &str) -> Problem {
    let (mine, theirs) = (&one.plan.name, &other.plan.name);
    let namespace = &one.plan.namespace;
    let message = if mine == theirs {
        format!("Database {mine} of namespace {namespace} stands twice")
    } else {
        format!("Databases {theirs} and {mine} of namespace {namespace} would both write {kind} {name}")
    };
    let mut problem = Problem::new(Code::SameObjectTwice, FieldPath::of("metadata.name"), message);
    problem.subject = Some(format!("{namespace}/{mine}"));
    problem.place.clone_from(&one.place);
    match &other.place {
        Some(place) => problem.and(place.clone(), "the other Database"),
        None => problem,
    }
}
