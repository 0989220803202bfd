//! Reads the JSON of an API server or of `kubectl get -o json` without building what is not needed.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::live::{LiveObject, Read, Stopped, list_type};

impl Read {
    /// Reads objects, lists and streams of both. `item` is apiVersion and kind of the items of a list that does not
    /// name them before it lists them.
    ///
    /// Never fails: what was read before the text broke off is kept, and `stopped` says where.
    #[must_use]
    pub fn json(text: &[u8], item: Option<(&str, &str)>) -> Read {
        let mut read = Read::default();
        let mut stream = serde_json::Deserializer::from_slice(text);
        loop {
            if stream.end().is_ok() {
                return read;
            }
            if let Err(error) = (Document { read: &mut read, item }).deserialize(&mut stream) {
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
        let mut parts = Parts::default();
        let mut is_list = false;
        while let Some(key) = entries.next_key::<String>()? {
            if key == "items" {
                is_list = true;
                let own = list_type(&parts.map);
                let item = self.item.or(own.as_ref().map(|(version, kind)| (version.as_str(), kind.as_str())));
                entries.next_value_seed(Items { read: &mut *self.read, item })?;
            } else {
                parts.take(key, &mut entries)?;
            }
        }
        if is_list {
            let token = parts.map.get("metadata").and_then(|m| m.get("continue")).and_then(Value::as_str);
            self.read.next = token.filter(|token| !token.is_empty()).map(str::to_owned);
        } else {
            self.read.keep(LiveObject::new(parts.map, parts.managed_fields, self.item));
        }
        Ok(())
    }
}

/// The items of a list. Each is kept as soon as it is whole, so that a text that breaks off later costs only the rest.
struct Items<'a> {
    read: &'a mut Read,
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
        while let Some(parts) = items.next_element_seed(Item)? {
            self.read.keep(LiveObject::new(parts.map, parts.managed_fields, self.item));
        }
        Ok(())
    }
}

/// One item of a list.
struct Item;

impl<'de> DeserializeSeed<'de> for Item {
    type Value = Parts;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Parts, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Item {
    type Value = Parts;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a Kubernetes object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Parts, A::Error> {
        let mut parts = Parts::default();
        while let Some(key) = entries.next_key::<String>()? {
            parts.take(key, &mut entries)?;
        }
        Ok(parts)
    }
}

/// An object whose `managedFields` are apart and unread.
#[derive(Default)]
struct Parts {
    map: Map<String, Value>,
    managed_fields: Option<Box<str>>,
}

impl Parts {
    fn take<'de, A: MapAccess<'de>>(&mut self, key: String, entries: &mut A) -> Result<(), A::Error> {
        let value = if key == "metadata" {
            entries.next_value_seed(Metadata(&mut self.managed_fields))?
        } else {
            entries.next_value()?
        };
        self.map.insert(key, value);
        Ok(())
    }
}

struct Metadata<'a>(&'a mut Option<Box<str>>);

impl<'de> DeserializeSeed<'de> for Metadata<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Metadata<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("metadata")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut map = Map::new();
        while let Some(key) = entries.next_key::<String>()? {
            if key == "managedFields" {
                let raw: &RawValue = entries.next_value()?;
                *self.0 = Some(raw.get().into());
            } else {
                map.insert(key, entries.next_value()?);
            }
        }
        Ok(Value::Object(map))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
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
        let read = Read::json(LIST.as_bytes(), None);
        assert_eq!(format!("{:?}", read.objects), "[Service n/a, Service n/b]");
        assert_eq!(read.next.as_deref(), Some("abc"));
        assert_eq!(read.objects[0].managed_fields.as_deref(), Some(r#"[{"manager":"x"}]"#));
        assert!(read.objects[0].value["metadata"].get("managedFields").is_none());
        assert_eq!(read.stopped, None);
    }

    #[test]
    fn streams_lists_and_single_objects_are_read_alike() {
        let text = r#"{"kind":"Service","metadata":{"name":"a"}} {"kind":"List","items":[{"kind":"Secret","metadata":{"name":"b"},"data":{"k":"aGk="}}]}
            {"items":null,"kind":"List"}"#;
        let read = Read::json(text.as_bytes(), None);
        assert_eq!(format!("{:?}", read.objects), "[Service /a, Secret /b]");
        assert_eq!(read.objects[1].value["data"]["k"], "(hidden)");
    }

    #[test]
    fn what_stands_before_the_cut_is_kept() {
        let read = Read::json(&LIST.as_bytes()[..LIST.len() - 10], None);
        assert_eq!(format!("{:?}", read.objects), "[Service n/a]");
        assert!(matches!(read.stopped, Some(Stopped { early: true, line: 3, .. })), "{:?}", read.stopped);
        let read = Read::json(b"hello", None);
        assert!(matches!(read.stopped, Some(Stopped { early: false, .. })), "{:?}", read.stopped);
    }

    #[test]
    fn no_bytes_panic() {
        let mut bytes = LIST.as_bytes().to_vec();
        for at in 0..bytes.len() {
            for byte in [b'"', b'{', b']', 0xff, b'0'] {
                let old = std::mem::replace(&mut bytes[at], byte);
                let _ = Read::json(&bytes, None);
                bytes[at] = old;
            }
        }
    }
}
