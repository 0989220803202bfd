//! What a dump shows, and what it cannot: a file does not say what was left out of it.

use std::collections::{BTreeMap, BTreeSet};

use super::{Gap, GapReason, KINDS, LiveSet, Read};

/// Objects that are wanted: kind, namespace and name.
pub type Identities = BTreeSet<(String, String, String)>;

impl LiveSet {
    /// What was read from a dump, with a gap for whatever it leaves open.
    ///
    /// - A dump that breaks off: nothing is known about what it does not hold.
    /// - A namespace of which it holds nothing, while it holds others: it was made of something else, or by somebody who
    ///   may not read it.
    /// - No Secret at all: people leave those out on purpose, and "all passwords are gone" must not follow from that.
    ///
    /// Any other object that is not in it is missing. An empty list is an empty cluster.
    #[must_use]
    pub fn of_dump(source: String, read: Read, wanted: &Identities, secrets: bool) -> LiveSet {
        let mut gaps = Vec::new();
        if let Some(stopped) = &read.stopped {
            let words = if stopped.early { "breaks off" } else { "cannot be read on" };
            let message = format!("{source} {words} at line {}, column {}", stopped.line, stopped.column);
            gaps.extend(KINDS.iter().map(|kind| gap(kind.kind, None, &message)));
        }
        let seen: BTreeSet<&str> = read.objects.iter().map(|object| object.namespace.as_str()).collect();
        let mut asked: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for (kind, namespace, _) in wanted {
            asked.entry(namespace).or_default().insert(kind);
        }
        if !read.objects.is_empty() && read.stopped.is_none() {
            let strangers = asked.keys().all(|namespace| !seen.contains(namespace));
            let doubt = if strangers { ": is it a dump of another cluster?" } else { "" };
            for (namespace, kinds) in asked.iter().filter(|(namespace, _)| !seen.contains(*namespace)) {
                let message = format!("{source} holds nothing of namespace {namespace}{doubt}");
                gaps.extend(kinds.iter().map(|kind| gap(kind, Some((*namespace).to_owned()), &message)));
            }
        }
        if !secrets {
            let message = "left aside (--no-secret-read)".to_owned();
            gaps.push(Gap { kind: "Secret".to_owned(), namespace: None, reason: GapReason::Skipped, message });
        } else if !read.objects.is_empty()
            && read.stopped.is_none()
            && wanted.iter().any(|(kind, _, _)| kind == "Secret")
            && !read.objects.iter().any(|object| object.kind == "Secret")
            && read.broken.iter().all(|error| error.kind != "Secret")
        {
            let message = format!("{source} holds no Secret at all; with --no-secret-read that is all right");
            gaps.push(gap("Secret", None, &message));
        }
        LiveSet { source, objects: read.objects, broken: read.broken, gaps, is_rendered: false, is_dump: true }
    }

    /// Kinds that are wanted and of which a dump holds not one object: perhaps it was made without them.
    #[must_use]
    pub fn kinds_absent(&self, wanted: &Identities) -> Vec<&'static str> {
        let absent = |kind: &str| {
            wanted.iter().any(|(wanted, _, _)| wanted == kind) && self.objects.iter().all(|object| object.kind != kind)
        };
        KINDS.iter().map(|kind| kind.kind).filter(|kind| *kind != "Secret" && absent(kind)).collect()
    }
}

fn gap(kind: &str, namespace: Option<String>, message: &str) -> Gap {
    Gap { kind: kind.to_owned(), namespace, reason: GapReason::Error, message: message.to_owned() }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{GapReason, Identities, LiveSet, Read};

    fn wanted() -> Identities {
        [("StatefulSet", "a"), ("Secret", "a"), ("StatefulSet", "b")]
            .map(|(kind, namespace)| (kind.to_owned(), namespace.to_owned(), "db".to_owned()))
            .into()
    }

    fn dump(text: &str, secrets: bool) -> LiveSet {
        LiveSet::of_dump("file live.json".to_owned(), Read::json(text.as_bytes(), None), &wanted(), secrets)
    }

    fn object(kind: &str, namespace: &str) -> serde_json::Value {
        json!({"kind": kind, "apiVersion": "v1", "metadata": {"name": "db", "namespace": namespace}})
    }

    fn gaps(live: &LiveSet) -> Vec<(&str, Option<&str>, GapReason)> {
        live.gaps.iter().map(|gap| (gap.kind.as_str(), gap.namespace.as_deref(), gap.reason)).collect()
    }

    #[test]
    fn an_empty_list_is_an_empty_cluster() {
        assert_eq!(gaps(&dump(r#"{"kind":"List","items":[]}"#, true)), []);
    }

    #[test]
    fn a_dump_that_breaks_off_says_nothing_about_the_rest() {
        let list = json!({"kind": "List", "items": [object("Secret", "a"), object("StatefulSet", "a")]}).to_string();
        let live = dump(&list[..list.len() - 4], true);
        assert_eq!(live.objects.len(), 1);
        assert!(gaps(&live).contains(&("StatefulSet", None, GapReason::Error)));
        assert!(live.gaps[0].message.contains("breaks off at line 1"), "{}", live.gaps[0].message);
    }

    #[test]
    fn a_namespace_that_it_does_not_know_is_not_empty() {
        let list = json!({"kind": "List", "items": [object("Secret", "a")]}).to_string();
        let live = dump(&list, true);
        assert_eq!(gaps(&live), [("StatefulSet", Some("b"), GapReason::Error)]);
        assert_eq!(live.kinds_absent(&wanted()), ["StatefulSet"]);

        let list = json!({"kind": "List", "items": [object("Secret", "z")]}).to_string();
        assert!(dump(&list, true).gaps[0].message.contains("another cluster"));
    }

    #[test]
    fn no_secret_at_all_means_that_they_were_left_out() {
        let list =
            json!({"kind": "List", "items": [object("StatefulSet", "a"), object("StatefulSet", "b")]}).to_string();
        assert_eq!(gaps(&dump(&list, true)), [("Secret", None, GapReason::Error)]);
        assert_eq!(gaps(&dump(&list, false)), [("Secret", None, GapReason::Skipped)]);
    }
}
