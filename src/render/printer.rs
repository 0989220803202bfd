//! Manifests as YAML.

use std::sync::Arc;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use serde::Serialize;

use super::manifest_set::{Data, Files, ManifestSet, Scripts, Visitor};
use crate::yaml;

/// Writes sets as YAML, one after the other, and keeps what the next one has in common with them: the scripts of an
/// engine, which are most of the text of a Database. A new printer writes the same texts.
#[derive(Debug, Default)]
pub struct Printer {
    /// The entry `data` of scripts that have been written.
    scripts: Vec<(Files, Arc<str>)>,
    /// Where a text grows.
    text: String,
}

/// One object as text: `head`, and behind it `tail`.
#[derive(Clone, Copy, Debug)]
pub struct Printed<'a> {
    /// `StatefulSet`.
    pub kind: &'static str,
    /// Name of the object.
    pub name: &'a str,
    /// The text, or its beginning. It does not begin with `---`.
    pub head: &'a str,
    /// The rest of the text, which is also that of other objects.
    pub tail: Option<&'a Arc<str>>,
}

impl Printer {
    /// Gives each object of a set to `take`, in the order in which it is applied.
    ///
    /// # Errors
    ///
    /// The first error of `take`, which is not called again after it.
    pub fn print<E>(&mut self, set: &ManifestSet, take: impl FnMut(Printed<'_>) -> Result<(), E>) -> Result<(), E> {
        let mut texts = Texts { printer: self, take, result: Ok(()) };
        set.visit(&mut texts);
        texts.result
    }

    /// The entry `data` of these scripts.
    fn data(&mut self, files: Files) -> Arc<str> {
        // Equal places are equal contents, and comparing the contents would cost as much as writing them.
        if let Some((_, text)) = self.scripts.iter().find(|(known, _)| std::ptr::eq(*known, files)) {
            return Arc::clone(text);
        }
        self.text.clear();
        write(&mut self.text, &Entry { data: Data(files) });
        let text: Arc<str> = self.text.as_str().into();
        self.scripts.push((files, Arc::clone(&text)));
        text
    }
}

/// The part of a ConfigMap of scripts that is the same for many. It is the last: `data` comes after `metadata`.
#[derive(serde::Serialize)]
struct Entry {
    data: Data,
}

/// The part in front of it.
#[derive(serde::Serialize)]
#[serde(rename_all = "camelCase")]
struct Head<'a> {
    api_version: &'a str,
    kind: &'a str,
    metadata: &'a ObjectMeta,
}

fn write<T: Serialize>(out: &mut String, object: &T) {
    let written = yaml::write_object(out, object);
    debug_assert!(written.is_ok(), "our types hold nothing that YAML cannot: {written:?}");
}

struct Texts<'p, F, E> {
    printer: &'p mut Printer,
    take: F,
    result: Result<(), E>,
}

impl<E, F: FnMut(Printed<'_>) -> Result<(), E>> Texts<'_, F, E> {
    fn give<T: Serialize>(&mut self, kind: &'static str, metadata: &ObjectMeta, head: &T, tail: Option<&Arc<str>>) {
        if self.result.is_err() {
            return;
        }
        let text = &mut self.printer.text;
        text.clear();
        write(text, head);
        let name = metadata.name.as_deref().unwrap_or_default();
        self.result = (self.take)(Printed { kind, name, head: text, tail });
    }
}

impl<E, F: FnMut(Printed<'_>) -> Result<(), E>> Visitor for Texts<'_, F, E> {
    fn object<T: Serialize>(&mut self, kind: &'static str, metadata: &ObjectMeta, object: &T) {
        self.give(kind, metadata, object, None);
    }

    fn scripts(&mut self, scripts: &Scripts) {
        let Scripts { metadata, files } = scripts;
        let data = self.printer.data(files);
        let head = Head { api_version: "v1", kind: "ConfigMap", metadata };
        self.give("ConfigMap", metadata, &head, Some(&data));
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::Printer;
    use crate::api::PlatformSettings;
    use crate::check::{check, ground};
    use crate::plan::Plan;
    use crate::problem::Problems;
    use crate::render::render;
    use crate::yaml;

    fn plan(name: &str, failover: &str, settings: Value) -> Plan {
        let database = json!({
            "apiVersion": "app.example.com/v1alpha1",
            "kind": "Database",
            "metadata": {"name": name, "namespace": "production"},
            "spec": {"engine": "postgresql", "version": "16", "failover": failover, "storage": {"size": "1Gi"}},
        });
        let settings: PlatformSettings = serde_json::from_value(settings).unwrap();
        let ground = ground(&settings, &mut Problems::new()).unwrap();
        check(&serde_json::from_value(database).unwrap(), &ground, None).plan.unwrap()
    }

    fn texts(printer: &mut Printer, plan: &Plan) -> Vec<(String, String, String)> {
        let mut texts = Vec::new();
        let done: Result<(), ()> = printer.print(&render(plan), |object| {
            let text = object.head.to_owned() + object.tail.map_or("", |tail| tail);
            texts.push((object.kind.to_owned(), object.name.to_owned(), text));
            Ok(())
        });
        assert_eq!(done, Ok(()));
        texts
    }

    /// What is written is what is compared and applied; and what a printer has written before changes nothing.
    #[test]
    fn the_texts_are_those_of_the_objects() {
        let everything = json!({
            "monitoring": {"enabled": true},
            "credentials": {"mode": "external", "store": {"kind": "ClusterSecretStore", "name": "vault"}},
            "annotations": {"example.com/cost": "on"},
        });
        let mut one = Printer::default();
        for plan in [
            plan("order-db", "Automatic", json!({})),
            plan("order-db", "Manual", json!({})),
            plan("shop", "Automatic", everything),
        ] {
            let objects = render(&plan).objects();
            let expected: Vec<_> = objects
                .iter()
                .map(|object| {
                    let mut text = String::new();
                    yaml::write_document(&mut text, &object.value);
                    assert_eq!(object.value["kind"], object.kind);
                    assert_eq!(object.value["metadata"]["name"], object.name);
                    (object.kind.clone(), object.name.clone(), text)
                })
                .collect();
            assert!(expected.len() > 10);
            assert_eq!(texts(&mut one, &plan), expected);
            assert_eq!(texts(&mut Printer::default(), &plan), expected);
        }
    }

    /// A thousand Databases hold the scripts once.
    #[test]
    fn scripts_are_written_once() {
        let mut printer = Printer::default();
        let mut tails = Vec::new();
        for name in ["a", "b"] {
            let done: Result<(), ()> = printer.print(&render(&plan(name, "Manual", json!({}))), |object| {
                tails.extend(object.tail.cloned());
                Ok(())
            });
            assert_eq!(done, Ok(()));
        }
        let [first, second] = tails.as_slice() else { panic!("{} tails", tails.len()) };
        assert!(std::sync::Arc::ptr_eq(first, second));
        assert!(first.len() > 50_000);
    }

    #[test]
    fn the_first_error_ends_it() {
        let mut calls = 0;
        let done = Printer::default().print(&render(&plan("a", "Manual", json!({}))), |_| {
            calls += 1;
            Err("no room")
        });
        assert_eq!((done, calls), (Err("no room"), 1));
    }
}
