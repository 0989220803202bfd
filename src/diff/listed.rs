//! An object of a list, read no further than who it is: of most that a server holds, no more is ever asked.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::render::DATABASE_LABEL;

use super::live::{Identity, LiveError, LiveObject, Raw};
use super::live_parts::Parts;

/// An object of the cluster, whole or as the text in which it came.
///
/// A tree of values takes some five times the room of its text, so an object becomes one when its Database is compared,
/// and is text again afterwards. Secrets are never kept as text.
#[derive(Clone)]
pub struct Listed {
    /// `StatefulSet`.
    pub kind: String,
    /// Namespace; empty for what has none.
    pub namespace: String,
    /// Name.
    pub name: String,
    /// The Database whose label it carries.
    pub(super) database: Option<Box<str>>,
    form: Form,
}

#[derive(Clone)]
enum Form {
    Whole(Box<LiveObject>),
    Text { api_version: String, text: Text },
}

/// The fields of an object as the text in which they came. It has no form in which it could be printed.
#[derive(Clone)]
struct Text {
    /// `metadata` has no text here.
    fields: Vec<(Box<str>, Option<Raw>)>,
    /// Fields of `metadata` but `managedFields`. `None`: it is null.
    metadata: Option<Vec<(Box<str>, Raw)>>,
    managed_fields: Option<Raw>,
}

/// Texts that many objects have in common, such as the scripts of an engine, kept once.
#[derive(Default)]
pub(super) struct Shared(BTreeSet<Arc<[u8]>>);

/// From so many bytes on a text is worth a look whether it is there already.
const LARGE: usize = 4096;

impl Shared {
    fn keep(&mut self, text: &RawValue) -> Raw {
        let bytes = text.get().as_bytes();
        if bytes.len() < LARGE {
            return Raw::from(bytes);
        }
        if let Some(known) = self.0.get(bytes) {
            return Raw::from(Arc::clone(known));
        }
        let new: Arc<[u8]> = bytes.into();
        self.0.insert(Arc::clone(&new));
        Raw::from(new)
    }
}

/// Names the object and nothing in it.
impl fmt::Debug for Listed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}/{}", self.kind, self.namespace, self.name)
    }
}

impl From<LiveObject> for Listed {
    fn from(object: LiveObject) -> Listed {
        let label =
            object.value.get("metadata").and_then(|metadata| metadata.get("labels")?.get(DATABASE_LABEL)?.as_str());
        Listed {
            kind: object.kind.clone(),
            namespace: object.namespace.clone(),
            name: object.name.clone(),
            database: label.map(Box::from),
            form: Form::Whole(Box::new(object)),
        }
    }
}

impl Listed {
    /// From its parts. `list` is apiVersion and kind of the items of a typed list, which do not repeat it. A Secret is
    /// decoded at once, so that its values are hidden from here on, and nothing of its text is kept.
    pub(super) fn of_parts(
        parts: Parts<'_>,
        list: Option<(&str, &str)>,
        shared: &mut Shared,
    ) -> Result<Listed, LiveError> {
        let Parts { identity, fields, metadata, managed_fields, next: _ } = parts;
        let identity = identity.check(list)?;
        let is_secret = identity.kind == "Secret";
        let mut keep = |text: &RawValue| if is_secret { Raw::from(text.get().as_bytes()) } else { shared.keep(text) };
        let text = Text {
            fields: fields.into_iter().map(|(key, value)| (key, value.map(&mut keep))).collect(),
            metadata: metadata.map(|fields| fields.into_iter().map(|(key, value)| (key, keep(value))).collect()),
            managed_fields: managed_fields.map(&mut keep),
        };
        if is_secret {
            return text.whole(&identity).map(Listed::from);
        }
        let database = text.label(DATABASE_LABEL);
        let Identity { api_version, kind, namespace, name } = identity;
        Ok(Listed { kind, namespace, name, database, form: Form::Text { api_version, text } })
    }

    /// The whole object.
    ///
    /// # Errors
    /// When something in it is no JSON that can be kept, such as a number beyond all bounds.
    pub fn open(&self) -> Result<Cow<'_, LiveObject>, LiveError> {
        match &self.form {
            Form::Whole(object) => Ok(Cow::Borrowed(object)),
            Form::Text { api_version, text } => {
                let identity = Identity {
                    api_version: api_version.clone(),
                    kind: self.kind.clone(),
                    namespace: self.namespace.clone(),
                    name: self.name.clone(),
                };
                text.whole(&identity).map(Cow::Owned)
            }
        }
    }

    /// The text of a field, where it is one.
    #[cfg(test)]
    pub(super) fn text_of(&self, field: &str) -> Option<&[u8]> {
        let Form::Text { text, .. } = &self.form else { return None };
        let (_, text) = text.fields.iter().find(|(key, _)| &**key == field)?;
        text.as_ref().map(Raw::bytes)
    }

    /// The whole object where it was read as one: that of a Secret always is.
    pub(super) fn whole(&self) -> Option<&LiveObject> {
        match &self.form {
            Form::Whole(object) => Some(object),
            Form::Text { .. } => None,
        }
    }
}

impl Text {
    fn label(&self, name: &str) -> Option<Box<str>> {
        let (_, labels) = self.metadata.iter().flatten().find(|(key, _)| &**key == "labels")?;
        labels.value()?.get(name)?.as_str().map(Box::from)
    }

    fn whole(&self, identity: &Identity) -> Result<LiveObject, LiveError> {
        // The decoder's own words would quote the value.
        let unreadable = || identity.error("it holds what is not understood as JSON".to_owned());
        let mut map = Map::with_capacity(self.fields.len());
        for (key, text) in &self.fields {
            let value = match (text, &self.metadata) {
                (Some(text), _) => text.value(),
                (None, Some(fields)) => metadata(fields),
                (None, None) => Some(Value::Null),
            };
            map.insert(key.to_string(), value.ok_or_else(unreadable)?);
        }
        LiveObject::new(identity.clone(), map, self.managed_fields.clone())
    }
}

fn metadata(fields: &[(Box<str>, Raw)]) -> Option<Value> {
    let mut map = Map::with_capacity(fields.len());
    for (key, text) in fields {
        map.insert(key.to_string(), text.value()?);
    }
    Some(Value::Object(map))
}
