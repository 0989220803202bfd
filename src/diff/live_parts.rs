//! The parts of an object in JSON: who it is, and where the rest of it stands.

use std::fmt;

use serde::de::{Deserialize, DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use super::live::Identity;

/// An object, read no further than who it is.
#[derive(Default)]
pub(super) struct Parts<'de> {
    pub(super) identity: Identity,
    /// Its fields. `metadata` has no value here.
    pub(super) fields: Vec<(Box<str>, Option<&'de RawValue>)>,
    /// Fields of `metadata` but `managedFields`. `None`: it is null or absent.
    pub(super) metadata: Option<Vec<(Box<str>, &'de RawValue)>>,
    pub(super) managed_fields: Option<&'de RawValue>,
    /// `metadata.continue` of a list.
    pub(super) next: Option<String>,
}

/// A document whose items have been taken out.
pub(super) struct Whole<'de> {
    pub(super) parts: Parts<'de>,
    pub(super) is_list: bool,
}

impl<'de> Parts<'de> {
    fn take<A: MapAccess<'de>>(&mut self, key: Box<str>, entries: &mut A) -> Result<(), A::Error> {
        if &*key == "metadata" {
            entries.next_value_seed(Metadata(self))?;
            self.fields.push((key, None));
            return Ok(());
        }
        let raw: &RawValue = entries.next_value()?;
        match &*key {
            "apiVersion" => self.identity.api_version = text(raw),
            "kind" => self.identity.kind = text(raw),
            _ => {}
        }
        self.fields.push((key, Some(raw)));
        Ok(())
    }
}

/// A text; empty when it is anything else.
fn text(raw: &RawValue) -> String {
    serde_json::from_str(raw.get()).unwrap_or_default()
}

impl<'de> Deserialize<'de> for Parts<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Parts<'de>, D::Error> {
        struct Object;
        impl<'de> Visitor<'de> for Object {
            type Value = Parts<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a Kubernetes object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Parts<'de>, A::Error> {
                let mut parts = Parts::default();
                while let Some(key) = entries.next_key()? {
                    parts.take(key, &mut entries)?;
                }
                Ok(parts)
            }
        }
        deserializer.deserialize_map(Object)
    }
}

impl<'de> Deserialize<'de> for Whole<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Whole<'de>, D::Error> {
        struct Document;
        impl<'de> Visitor<'de> for Document {
            type Value = Whole<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a Kubernetes object or a list of them")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Whole<'de>, A::Error> {
                let mut whole = Whole { parts: Parts::default(), is_list: false };
                while let Some(key) = entries.next_key::<Box<str>>()? {
                    if &*key == "items" {
                        whole.is_list = true;
                        entries.next_value::<Option<Vec<TakenOut>>>()?;
                    } else {
                        whole.parts.take(key, &mut entries)?;
                    }
                }
                Ok(whole)
            }
        }
        deserializer.deserialize_map(Document)
    }
}

/// What stands in place of an item that was taken out: nothing else may be in the list.
struct TakenOut;

impl<'de> Deserialize<'de> for TakenOut {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<TakenOut, D::Error> {
        struct Braces;
        impl<'de> Visitor<'de> for Braces {
            type Value = TakenOut;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a Kubernetes object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<TakenOut, A::Error> {
                match entries.next_key::<IgnoredAny>()? {
                    None => Ok(TakenOut),
                    Some(_) => Err(A::Error::custom("an item that was not taken out")),
                }
            }
        }
        deserializer.deserialize_map(Braces)
    }
}

struct Metadata<'p, 'de>(&'p mut Parts<'de>);

impl<'de> DeserializeSeed<'de> for Metadata<'_, 'de> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Metadata<'_, 'de> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("metadata")
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<(), A::Error> {
        let Metadata(parts) = self;
        let mut fields = Vec::new();
        while let Some(key) = entries.next_key::<Box<str>>()? {
            let raw: &RawValue = entries.next_value()?;
            match &*key {
                "managedFields" => {
                    parts.managed_fields = Some(raw);
                    continue;
                }
                "name" => parts.identity.name = text(raw),
                "namespace" => parts.identity.namespace = text(raw),
                "continue" => parts.next = Some(text(raw)).filter(|token| !token.is_empty()),
                _ => {}
            }
            fields.push((key, raw));
        }
        parts.metadata = Some(fields);
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        while items.next_element::<IgnoredAny>()?.is_some() {}
        Err(A::Error::custom("metadata is a list"))
    }
}
