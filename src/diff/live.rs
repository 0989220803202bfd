//! What is in the cluster, as far as it was read, and what could not be read.
//!
//! Values of Secrets become `Hidden` at the moment of decoding; what stays in the tree is a token. `managedFields` are
//! more than half of what a server sends and are needed for few objects, so they stay unread text until one asks.
//! [`Listed`] is an object that is text until somebody asks for more than its name.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value};

use super::{Hidden, Listed};

/// What stands in place of a value that must not be shown.
pub const HIDDEN: &str = "(hidden)";
/// In place of the live value, where the rendered one is hidden too, so that a change stays visible.
pub const HIDDEN_OTHER: &str = "(hidden, another value)";
/// The copy of the whole object that `kubectl apply` keeps, values of Secrets included.
pub(super) const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// One object of the cluster.
#[derive(Clone)]
pub struct LiveObject {
    /// `apps/v1`.
    pub api_version: String,
    /// `StatefulSet`.
    pub kind: String,
    /// Namespace; empty for what has none.
    pub namespace: String,
    /// Name.
    pub name: String,
    /// The object without `managedFields`. In a Secret, every value is [`HIDDEN`].
    pub value: Value,
    /// Values of a Secret by key, from `data` and `stringData`.
    pub secret: BTreeMap<String, Hidden>,
    /// `managedFields` as JSON text.
    pub(super) managed_fields: Option<Raw>,
}

/// Names the object and nothing in it: an environment value may be a password.
impl fmt::Debug for LiveObject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}/{}", self.kind, self.namespace, self.name)
    }
}

/// An object that is there but has no form that could be compared. Never holds a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LiveError {
    /// Kind, where it is known.
    pub kind: String,
    /// Namespace, where it is known.
    pub namespace: String,
    /// Name, where it is known.
    pub name: String,
    /// What is wrong with it.
    pub message: String,
}

/// What one look at the cluster, or one dump of it, has shown.
///
/// Whoever fills it reads every rendered kind, and StorageClasses where that is allowed. All our objects, and the claims
/// that Kubernetes makes for the members, carry the label [`crate::render::DATABASE_LABEL`]; other labels may be absent.
/// Somebody may have taken that label away, and Secrets of `spec.credentials` never had it: what is wanted and was not
/// found by label has to be looked for without it before it is called missing.
#[derive(Clone, Debug, Default)]
pub struct LiveSet {
    /// Where it comes from, in words: `context kind-test`, `file live.json`.
    pub source: String,
    /// Objects of rendered kinds; also claims of the members, and StorageClasses where they could be read.
    pub objects: Vec<Listed>,
    /// Objects that could not be decoded.
    pub broken: Vec<LiveError>,
    /// Whether it is no cluster but another rendering, as with `--base`: then everything in it is ours.
    pub is_rendered: bool,
    /// Whether it is a dump: then what is lacking is mended by another dump.
    pub is_dump: bool,
    /// What was not seen. An object of a gap is never called missing, unless the gap says that there is no such kind.
    pub gaps: Vec<Gap>,
}

/// Objects of one kind that were not, or not all, seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gap {
    /// `StatefulSet`.
    pub kind: String,
    /// `None`: in every namespace.
    pub namespace: Option<String>,
    /// Why.
    pub reason: GapReason,
    /// What the server said, in a sentence. Never a secret.
    pub message: String,
}

/// Why objects were not seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum GapReason {
    /// 403.
    Forbidden,
    /// Anything else that went wrong; also a list of which only a part was read.
    Error,
    /// The server does not have this kind, or not this namespace: its objects are missing.
    NotFound,
    /// Not asked for, because we were told not to.
    Skipped,
}

/// What was read from JSON: everything up to where it broke off.
#[derive(Debug, Default)]
pub struct Read {
    /// Objects.
    pub objects: Vec<Listed>,
    /// Objects without a usable form.
    pub broken: Vec<LiveError>,
    /// `metadata.continue` of the last list.
    pub next: Option<String>,
    /// Where and why reading stopped before the end.
    pub stopped: Option<Stopped>,
}

/// Where JSON broke off.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stopped {
    /// Whether the text just ends, as a dump that was cut.
    pub early: bool,
    /// Line, from 1.
    pub line: usize,
    /// Column, from 1.
    pub column: usize,
}

impl LiveObject {
    /// From a whole object. Values of a Secret are hidden at once.
    ///
    /// # Errors
    /// When it has no kind or no name, or is a Secret whose data is not base64.
    pub fn from_value(value: Value) -> Result<LiveObject, LiveError> {
        let Value::Object(mut map) = value else { return Err(nameless("", "it is not an object")) };
        let managed = map
            .get_mut("metadata")
            .and_then(Value::as_object_mut)
            .and_then(|metadata| metadata.shift_remove("managedFields"))
            .map(|fields| Raw::from(fields.to_string().into_bytes()));
        let text = |value: Option<&Value>| value.and_then(Value::as_str).unwrap_or_default().to_owned();
        let field = |name: &str| text(map.get("metadata").and_then(|metadata| metadata.get(name)));
        let identity = Identity {
            api_version: text(map.get("apiVersion")),
            kind: text(map.get("kind")),
            namespace: field("namespace"),
            name: field("name"),
        };
        LiveObject::new(identity.check(None)?, map, managed)
    }

    /// From an object without its `managedFields`.
    pub(super) fn new(
        identity: Identity,
        mut map: Map<String, Value>,
        managed_fields: Option<Raw>,
    ) -> Result<LiveObject, LiveError> {
        let mut secret = BTreeMap::new();
        if identity.kind == "Secret" {
            hide(&mut map, &mut secret).map_err(|message| identity.error(message))?;
        }
        let Identity { api_version, kind, namespace, name } = identity;
        Ok(LiveObject { api_version, kind, namespace, name, value: Value::Object(map), secret, managed_fields })
    }
}

/// JSON as it was read. It has no form in which it could be printed.
#[derive(Clone)]
pub(super) struct Raw(Arc<[u8]>);

impl<B: Into<Arc<[u8]>>> From<B> for Raw {
    fn from(bytes: B) -> Raw {
        Raw(bytes.into())
    }
}

impl Raw {
    pub(super) fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// `None`: it is none that can be kept, such as a number beyond all bounds.
    pub(super) fn value(&self) -> Option<Value> {
        serde_json::from_slice(&self.0).ok()
    }
}

/// Who an object is.
#[derive(Clone, Debug, Default)]
pub(super) struct Identity {
    pub(super) api_version: String,
    pub(super) kind: String,
    pub(super) namespace: String,
    pub(super) name: String,
}

impl Identity {
    /// From what stands in the object; empty is absent. `list` is apiVersion and kind of the items of a typed list, which
    /// do not repeat it.
    pub(super) fn check(mut self, list: Option<(&str, &str)>) -> Result<Identity, LiveError> {
        if let Some((version, kind)) = list {
            for (own, of_list) in [(&mut self.api_version, version), (&mut self.kind, kind)] {
                if own.is_empty() {
                    of_list.clone_into(own);
                }
            }
        }
        // Anything else is no kind, and could be anything, such as a value that has slipped out of its place.
        if self.kind.is_empty() || !self.kind.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
            return Err(nameless("", "it does not say its kind"));
        }
        if self.name.is_empty() {
            return Err(nameless(&self.kind, "it has no name"));
        }
        Ok(self)
    }

    /// Something is wrong with it.
    pub(super) fn error(&self, message: String) -> LiveError {
        LiveError { kind: self.kind.clone(), namespace: self.namespace.clone(), name: self.name.clone(), message }
    }
}

fn nameless(kind: &str, message: &str) -> LiveError {
    LiveError { kind: kind.to_owned(), namespace: String::new(), name: String::new(), message: message.to_owned() }
}

/// Moves the values of a Secret out of the tree. `stringData` wins over `data`, as the API server does it.
///
/// The error names the key and nothing else: a decoder's own words would quote the value.
fn hide(map: &mut Map<String, Value>, secret: &mut BTreeMap<String, Hidden>) -> Result<(), String> {
    let take = |map: &mut Map<String, Value>, field: &str| match map.get_mut(field).map(Value::take) {
        Some(Value::Object(entries)) => Ok(entries),
        None | Some(Value::Null) => Ok(Map::new()),
        Some(_) => Err(format!("{field} is not a map")),
    };
    let data = take(map, "data")?;
    let plain = take(map, "stringData")?;
    map.shift_remove("stringData");
    for (key, value) in data {
        let bytes = match &value {
            Value::Null => Vec::new(),
            Value::String(text) => {
                STANDARD.decode(text).map_err(|_| format!("the value of key {key:?} is not base64"))?
            }
            _ => return Err(format!("the value of key {key:?} is not a text")),
        };
        secret.insert(key, Hidden::new(bytes));
    }
    for (key, value) in plain {
        let Value::String(text) = value else { return Err(format!("the value of key {key:?} is not a text")) };
        secret.insert(key, Hidden::new(text.into_bytes()));
    }
    let tokens = secret.keys().map(|key| (key.clone(), Value::from(HIDDEN))).collect();
    map.insert("data".to_owned(), Value::Object(tokens));
    if let Some(copy) =
        map.get_mut("metadata").and_then(|m| m.get_mut("annotations")).and_then(|a| a.get_mut(LAST_APPLIED))
    {
        *copy = Value::from(HIDDEN);
    }
    Ok(())
}

impl LiveSet {
    /// Adds what was read.
    pub fn add(&mut self, read: Read) {
        self.objects.extend(read.objects);
        self.broken.extend(read.broken);
    }
}

impl Read {
    /// Adds an object or a list of objects that is already a value, as from YAML.
    pub fn push(&mut self, value: Value) {
        match value {
            Value::Object(mut map) if matches!(map.get("items"), Some(Value::Array(_))) => {
                let items = map.get_mut("items").map(Value::take);
                let text = |field| map.get(field).and_then(Value::as_str).unwrap_or_default();
                let list = list_type(text("apiVersion"), text("kind"));
                if let Some(Value::Array(items)) = items {
                    for item in items {
                        self.push_item(item, list);
                    }
                }
            }
            other => self.push_item(other, None),
        }
    }

    fn push_item(&mut self, mut item: Value, list: Option<(&str, &str)>) {
        if let (Some((version, kind)), Some(map)) = (list, item.as_object_mut()) {
            map.entry("apiVersion").or_insert_with(|| Value::from(version));
            map.entry("kind").or_insert_with(|| Value::from(kind));
        }
        self.keep(LiveObject::from_value(item).map(Listed::from));
    }

    pub(super) fn keep(&mut self, object: Result<Listed, LiveError>) {
        match object {
            Ok(object) => self.objects.push(object),
            Err(error) => self.broken.push(error),
        }
    }
}

/// Type of the items of a typed list, from its own: a `SecretList` holds Secrets. `None` for kubectl's `List`, whose items
/// say theirs.
pub(super) fn list_type<'a>(api_version: &'a str, kind: &'a str) -> Option<(&'a str, &'a str)> {
    let kind = kind.strip_suffix("List").filter(|kind| !kind.is_empty())?;
    Some((api_version, kind))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{LiveObject, Read};

    #[test]
    fn a_secret_shows_no_value_in_any_form() {
        let object = LiveObject::from_value(json!({
            "apiVersion": "v1", "kind": "Secret",
            "metadata": {"name": "s", "namespace": "n", "annotations": {
                "kubectl.kubernetes.io/last-applied-configuration": "{\"data\":{\"a\":\"aHVudGVyMg==\"}}"}},
            "data": {"a": "aHVudGVyMg=="},
            "stringData": {"b": "hunter3"},
        }))
        .unwrap();
        let all = format!("{object:?} {:?} {:?}", object.value, object.secret);
        for value in ["aHVudGVyMg", "hunter2", "hunter3"] {
            assert!(!all.contains(value), "{all}");
        }
        assert_eq!(object.secret["a"].reveal(), b"hunter2");
        assert_eq!(object.secret["b"].reveal(), b"hunter3");
        assert_eq!(object.value["data"], json!({"a": "(hidden)", "b": "(hidden)"}));
    }

    /// RD-78: a parser that quotes what it does not understand prints the password.
    #[test]
    fn an_error_names_the_key_and_not_the_value() {
        for data in [
            json!({"password": "hunter2!"}),
            json!({"password": 4711}),
            json!({"password": ["hunter2!"]}),
            json!("hunter2!"),
        ] {
            let object = json!({"kind": "Secret", "metadata": {"name": "s", "namespace": "n"}, "data": data});
            let error = LiveObject::from_value(object).unwrap_err();
            assert!(!format!("{error:?}").contains("hunter2") && !format!("{error:?}").contains("4711"), "{error:?}");
            assert_eq!((error.namespace.as_str(), error.name.as_str()), ("n", "s"));
        }
    }

    #[test]
    fn items_of_a_typed_list_are_of_its_type() {
        let mut read = Read::default();
        read.push(json!({"kind": "SecretList", "apiVersion": "v1", "items": [
            {"metadata": {"name": "a", "namespace": "n"}, "data": {"k": "aHVudGVyMg=="}},
            {"metadata": {"namespace": "n"}},
        ]}));
        assert_eq!((read.objects.len(), read.broken.len()), (1, 1));
        let object = read.objects[0].open().unwrap();
        assert_eq!((object.kind.as_str(), object.api_version.as_str()), ("Secret", "v1"));
        assert_eq!(object.value["data"]["k"], "(hidden)");
    }
}
