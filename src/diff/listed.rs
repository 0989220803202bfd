//! An object of a list, read no further than who it is: of most that a server holds, no more is ever asked.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use serde_json::{Map, Value};

use crate::render::DATABASE_LABEL;

use super::live::{Identity, LiveError, LiveObject, Raw};

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

/// Where the fields of an object stand in what was read.
#[derive(Clone)]
pub(super) struct Text {
    /// All that was read. It may hold Secrets, so it has no form in which it could be printed.
    pub(super) all: Arc<Vec<u8>>,
    /// Fields but `metadata`, whose place is kept by an empty range.
    pub(super) fields: Vec<(Box<str>, Range<usize>)>,
    /// Fields of `metadata` but `managedFields`. `None`: it is null.
    pub(super) metadata: Option<Vec<(Box<str>, Range<usize>)>>,
    pub(super) managed_fields: Option<Range<usize>>,
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
    /// From the places of its fields. A Secret is decoded at once, so that its values are hidden from here on.
    pub(super) fn new(identity: Identity, text: Text) -> Result<Listed, LiveError> {
        if identity.kind == "Secret" {
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

    /// The whole object where it was read as one: that of a Secret always is.
    pub(super) fn whole(&self) -> Option<&LiveObject> {
        match &self.form {
            Form::Whole(object) => Some(object),
            Form::Text { .. } => None,
        }
    }
}

impl Text {
    fn value(&self, range: &Range<usize>) -> Option<Value> {
        serde_json::from_slice(self.all.get(range.clone())?).ok()
    }

    fn map(&self, fields: &[(Box<str>, Range<usize>)]) -> Option<Map<String, Value>> {
        let mut map = Map::with_capacity(fields.len());
        for (key, range) in fields {
            map.insert(key.to_string(), self.value(range)?);
        }
        Some(map)
    }

    fn label(&self, name: &str) -> Option<Box<str>> {
        let (_, range) = self.metadata.iter().flatten().find(|(key, _)| &**key == "labels")?;
        self.value(range)?.get(name)?.as_str().map(Box::from)
    }

    fn whole(&self, identity: &Identity) -> Result<LiveObject, LiveError> {
        // The decoder's own words would quote the value.
        let unreadable = || identity.error("it holds what is not understood as JSON".to_owned());
        let mut map = Map::with_capacity(self.fields.len());
        for (key, range) in &self.fields {
            let value = match (&**key, &self.metadata) {
                ("metadata", Some(fields)) => self.map(fields).map(Value::Object),
                ("metadata", None) => Some(Value::Null),
                _ => self.value(range),
            };
            map.insert(key.to_string(), value.ok_or_else(unreadable)?);
        }
        let managed = self.managed_fields.clone().map(|range| Raw { all: Arc::clone(&self.all), range });
        LiveObject::new(identity.clone(), map, managed)
    }
}
