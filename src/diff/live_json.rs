//! Reads the JSON of an API server or of `kubectl get -o json` without building what is not needed.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use serde::de::{DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use super::Listed;
use super::listed::Text;
use super::live::{Identity, LiveError, Read, Stopped, list_type};

impl Read {
    /// Reads objects, lists and streams of both. `item` is apiVersion and kind of the items of a list that does not
    /// name them before it lists them.
    ///
    /// Never fails: what was read before the text broke off is kept, and `stopped` says where.
    #[must_use]
    pub fn json(text: Vec<u8>, item: Option<(&str, &str)>) -> Read {
        let all = Arc::new(text);
        let mut read = Read::default();
        let mut stream = serde_json::Deserializer::from_slice(&all);
        loop {
            if stream.end().is_ok() {
                return read;
            }
            if let Err(error) = (Document { read: &mut read, all: &all, item }).deserialize(&mut stream) {
                // The error's own words may quote a value.
                read.stopped = Some(Stopped { early: error.is_eof(), line: error.line(), column: error.column() });
                return read;
            }
        }
    }
}

/// An object or a list of objects.
struct Document<'a> {
    read: &'a mut Read,
    all: &'a Arc<Vec<u8>>,
    item: Option<(&'a str, &'a str)>,
}

impl<'de> DeserializeSeed<'de> for Document<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Document<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a Kubernetes object or a list of them")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<(), A::Error> {
        let Document { read, all, item } = self;
        let mut parts = Parts::default();
        let mut is_list = false;
        while let Some(key) = entries.next_key::<Box<str>>()? {
            if &*key == "items" {
                is_list = true;
                let own = list_type(&parts.identity.api_version, &parts.identity.kind);
                entries.next_value_seed(Items { read: &mut *read, all, item: item.or(own) })?;
            } else {
                parts.take(key, all, &mut entries)?;
            }
        }
        if is_list {
            read.next = parts.next;
        } else {
            read.keep(parts.listed(all, item));
        }
        Ok(())
    }
}

/// The items of a list. Each is kept as soon as it is whole, so that a text that breaks off later costs only the rest.
struct Items<'a> {
    read: &'a mut Read,
    all: &'a Arc<Vec<u8>>,
    item: Option<(&'a str, &'a str)>,
}

impl<'de> DeserializeSeed<'de> for Items<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Items<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of objects")
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        while let Some(parts) = items.next_element_seed(Item(self.all))? {
            self.read.keep(parts.listed(self.all, self.item));
        }
        Ok(())
    }
}

/// One item of a list.
struct Item<'a>(&'a [u8]);

impl<'de> DeserializeSeed<'de> for Item<'_> {
    type Value = Parts;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Parts, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Item<'_> {
    type Value = Parts;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a Kubernetes object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Parts, A::Error> {
        let mut parts = Parts::default();
        while let Some(key) = entries.next_key()? {
            parts.take(key, self.0, &mut entries)?;
        }
        Ok(parts)
    }
}

/// A field and where its value stands.
type Place = (Box<str>, Range<usize>);

/// Who an object is, and where the rest of it stands.
#[derive(Default)]
struct Parts {
    identity: Identity,
    fields: Vec<Place>,
    metadata: Option<Vec<Place>>,
    managed_fields: Option<Range<usize>>,
    /// `metadata.continue` of a list.
    next: Option<String>,
}

impl Parts {
    fn take<'de, A: MapAccess<'de>>(&mut self, key: Box<str>, all: &[u8], entries: &mut A) -> Result<(), A::Error> {
        if &*key == "metadata" {
            entries.next_value_seed(Metadata { parts: self, all })?;
            self.fields.push((key, 0..0));
            return Ok(());
        }
        let raw: &RawValue = entries.next_value()?;
        match &*key {
            "apiVersion" => self.identity.api_version = text(raw),
            "kind" => self.identity.kind = text(raw),
            _ => {}
        }
        self.fields.push((key, place(raw, all)?));
        Ok(())
    }

    fn listed(self, all: &Arc<Vec<u8>>, list: Option<(&str, &str)>) -> Result<Listed, LiveError> {
        let Parts { identity, fields, metadata, managed_fields, next: _ } = self;
        Listed::new(identity.check(list)?, Text { all: Arc::clone(all), fields, metadata, managed_fields })
    }
}

/// A text; empty when it is anything else.
fn text(raw: &RawValue) -> String {
    serde_json::from_str(raw.get()).unwrap_or_default()
}

/// Where a value stands in what it was read from.
fn place<E: serde::de::Error>(raw: &RawValue, all: &[u8]) -> Result<Range<usize>, E> {
    let start = raw.get().as_ptr().addr().checked_sub(all.as_ptr().addr());
    let range = start.map(|start| start..start + raw.get().len()).filter(|range| range.end <= all.len());
    range.ok_or_else(|| E::custom("a value that is no part of the text"))
}

struct Metadata<'a> {
    parts: &'a mut Parts,
    all: &'a [u8],
}

impl<'de> DeserializeSeed<'de> for Metadata<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Metadata<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("metadata")
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<(), A::Error> {
        let Metadata { parts, all } = self;
        let mut fields = Vec::new();
        while let Some(key) = entries.next_key::<Box<str>>()? {
            let raw: &RawValue = entries.next_value()?;
            let range = place(raw, all)?;
            match &*key {
                "managedFields" => {
                    parts.managed_fields = Some(range);
                    continue;
                }
                "name" => parts.identity.name = text(raw),
                "namespace" => parts.identity.namespace = text(raw),
                "continue" => parts.next = Some(text(raw)).filter(|token| !token.is_empty()),
                _ => {}
            }
            fields.push((key, range));
        }
        parts.metadata = Some(fields);
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        while items.next_element::<IgnoredAny>()?.is_some() {}
        Err(A::Error::custom("metadata is a list"))
    }
}

#[cfg(test)]
mod tests {
    use super::{Read, Stopped};

    const LIST: &str = r#"{"kind":"ServiceList","apiVersion":"v1","metadata":{"resourceVersion":"5","continue":"abc"},"items":[
        {"metadata":{"name":"a","namespace":"n","managedFields":[{"manager":"x"}],"uid":"1"},"spec":{"ports":[]}},
        {"metadata":{"name":"b","namespace":"n"}}]}"#;

    #[test]
    fn a_typed_list_says_what_its_items_are_and_where_it_goes_on() {
        let read = Read::json(LIST.into(), None);
        assert_eq!(format!("{:?}", read.objects), "[Service n/a, Service n/b]");
        assert_eq!(read.next.as_deref(), Some("abc"));
        let object = read.objects[0].open().unwrap();
        assert_eq!(object.managed_fields.as_ref().unwrap().bytes(), br#"[{"manager":"x"}]"#);
        assert!(object.value["metadata"].get("managedFields").is_none());
        assert_eq!(read.stopped, None);
    }

    /// A number that no computer holds breaks one object, and says nothing of what it holds.
    #[test]
    fn an_object_that_cannot_be_opened_is_named() {
        let text = r#"{"kind":"List","items":[{"kind":"Service","metadata":{"name":"a","namespace":"n"},"spec":{"x":1e999,"y":"hunter2"}},
            {"kind":"Secret","metadata":{"name":"s","namespace":"n"},"data":{"k":1e999}},
            {"kind":"Service","metadata":{"name":"b","namespace":"n"}}]}"#;
        let read = Read::json(text.into(), None);
        assert_eq!(format!("{:?} {:?}", read.objects, read.stopped), "[Service n/a, Service n/b] None");
        let error = read.objects[0].open().unwrap_err();
        assert_eq!((error.kind.as_str(), error.namespace.as_str(), error.name.as_str()), ("Service", "n", "a"));
        assert!(!error.message.contains("hunter2") && !error.message.contains("999"), "{}", error.message);
        assert_eq!((read.broken.len(), read.broken[0].name.as_str()), (1, "s"));
        assert!(read.objects[1].open().is_ok());
    }

    #[test]
    fn streams_lists_and_single_objects_are_read_alike() {
        let text = r#"{"kind":"Service","metadata":{"name":"a"}} {"kind":"List","items":[{"kind":"Secret","metadata":{"name":"b"},"data":{"k":"aGk="}}]}
            {"items":null,"kind":"List"}"#;
        let read = Read::json(text.into(), None);
        assert_eq!(format!("{:?}", read.objects), "[Service /a, Secret /b]");
        assert_eq!(read.objects[1].open().unwrap().value["data"]["k"], "(hidden)");
    }

    #[test]
    fn what_stands_before_the_cut_is_kept() {
        let read = Read::json(LIST[..LIST.len() - 10].into(), None);
        assert_eq!(format!("{:?}", read.objects), "[Service n/a]");
        assert!(matches!(read.stopped, Some(Stopped { early: true, line: 3, .. })), "{:?}", read.stopped);
        let read = Read::json("hello".into(), None);
        assert!(matches!(read.stopped, Some(Stopped { early: false, .. })), "{:?}", read.stopped);
    }

    #[test]
    fn no_bytes_panic() {
        let mut bytes = LIST.as_bytes().to_vec();
        for at in 0..bytes.len() {
            for byte in [b'"', b'{', b']', 0xff, b'0'] {
                let old = std::mem::replace(&mut bytes[at], byte);
                let _ = Read::json(bytes.clone(), None);
                bytes[at] = old;
            }
        }
    }
}
