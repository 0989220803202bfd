//! From a field's path to the bytes of the text where it stands.

use std::ops::Range;

use crate::problem::{FieldPath, Place, Problem, Step};
use crate::yaml::{Kind, Node};

/// The problem with the place of its field, unless it has a place already.
pub(super) fn locate(root: &Node, source: usize, mut problem: Problem) -> Problem {
    if problem.place.is_none() {
        problem.place = Some(of(root, source, &problem.path, problem.on_key));
    }
    problem
}

/// The place of a field's value, or of its key. Where the field is absent, the key of the nearest field above it.
pub(super) fn of(root: &Node, source: usize, path: &FieldPath, on_key: bool) -> Place {
    let mut node = root;
    // What to mark when the way ends here: of a mapping over many lines its key says more than all of it.
    let mut mark = first_key(root);
    let mut absent = false;
    let mut key_mark = mark.clone();
    for step in path.steps() {
        let next = match step {
            Step::Key(key) => node.entry(key).map(|entry| {
                key_mark = entry.key.span.clone();
                &entry.value
            }),
            Step::Index(index) => node.items().get(*index),
        };
        let Some(next) = next else {
            absent = true;
            break;
        };
        node = next;
        mark = match (&node.kind, step) {
            (Kind::Mapping(_) | Kind::Sequence(_) | Kind::Null, Step::Key(_)) => key_mark.clone(),
            (Kind::Mapping(_), Step::Index(_)) => first_key(node),
            _ => node.span.clone(),
        };
    }
    if on_key && !absent && matches!(path.steps().last(), Some(Step::Key(_))) {
        mark = key_mark;
    }
    Place { source, span: mark, absent }
}

fn first_key(node: &Node) -> Range<usize> {
    match &node.kind {
        Kind::Mapping(entries) => entries.first().map_or_else(|| node.span.clone(), |entry| entry.key.span.clone()),
        _ => node.span.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::of;
    use crate::problem::FieldPath;
    use crate::yaml::{Limits, read_stream};

    #[test]
    fn finds_values_keys_and_parents() {
        let text =
            "kind: Database\nspec:\n  storage:\n    size: 1Gi\n  tolerations:\n  - key: a\n  - operator: x\n  empty:\n";
        let (documents, errors) = read_stream(text, &Limits::default());
        assert!(errors.is_empty(), "{errors:?}");
        let root = &documents[0].root;
        for (path, on_key, marked, absent) in [
            (FieldPath::of("spec.storage.size"), false, "1Gi", false),
            (FieldPath::of("spec.storage.size"), true, "size", false),
            (FieldPath::of("spec.storage"), false, "storage", false),
            (FieldPath::of("spec.storage.storageClass"), false, "storage", true),
            (FieldPath::of("spec.backup.schedule"), false, "spec", true),
            (FieldPath::of("spec.empty"), false, "empty", false),
            (FieldPath::of("metadata.name"), false, "kind", true),
            (FieldPath::of("spec.tolerations").index(1), false, "operator", false),
            (FieldPath::of("spec.tolerations").index(0).key("key"), false, "a", false),
            (FieldPath::root(), false, "kind", false),
        ] {
            let place = of(root, 0, &path, on_key);
            assert_eq!((&text[place.span], place.absent), (marked, absent), "{path}");
        }
    }
}
