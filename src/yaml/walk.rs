//! The way of the writer through a value: whatever serialises goes entry by entry into the text, in the order of keys.
//!
//! An entry is written where it comes. When the entries of a mapping came in another order than the canonical one,
//! their texts are put in order at its end; types that serialise in order cost nothing more.

use std::cmp::Ordering;
use std::fmt::{self, Display, Write as _};
use std::ops::Range;

use serde::Serialize;
use serde::ser::{self, Impossible, Serializer};
use serde_json::Value;

use super::write::{blanks, float, key, string};

/// Why a value cannot be YAML: a key that is no text, infinity, not-a-number, bytes.
#[derive(Debug)]
pub struct Unwritable(String);

impl Display for Unwritable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Unwritable {}

impl ser::Error for Unwritable {
    fn custom<T: Display>(message: T) -> Unwritable {
        Unwritable(message.to_string())
    }
}

/// What is being written.
pub(super) struct Walk<'o> {
    out: &'o mut String,
    /// Keys of all mappings that are open, as they are and not as they are written.
    keys: String,
    /// Entries of all mappings that are open.
    entries: Vec<Entry>,
    /// Where entries are put in order.
    spare: String,
}

/// An entry of an open mapping.
struct Entry {
    key: Range<usize>,
    /// In the text, from the beginning of its first line to that of the next entry.
    text: Range<usize>,
}

/// Where a value stands; decides about the line it begins on and about which of its keys come first.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Document,
    /// Behind a key and its colon.
    Field,
    /// In a list. What is in front of it has not been written yet.
    Item,
}

impl<'o> Walk<'o> {
    pub(super) fn new(out: &'o mut String) -> Walk<'o> {
        Walk { out, keys: String::new(), entries: Vec::new(), spare: String::new() }
    }

    pub(super) fn document<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Unwritable> {
        value.serialize(At { walk: self, place: Place::Document, indent: 0 })
    }

    /// Puts the entries from `from` on in order and forgets them.
    fn close(&mut self, from: usize, place: Place) {
        let Walk { out, keys, entries, spare } = self;
        let Some(first) = entries.get(from) else { return };
        let (key, text) = (first.key.start, first.text.start);
        let compare = |a: &Entry, b: &Entry| compare_keys(&keys[a.key.clone()], &keys[b.key.clone()], place);
        let open = &mut entries[from..];
        if !open.is_sorted_by(|a, b| compare(a, b) != Ordering::Greater) {
            open.sort_unstable_by(compare);
            spare.clear();
            open.iter().for_each(|entry| spare.push_str(&out[entry.text.clone()]));
            out.truncate(text);
            out.push_str(spare);
        }
        keys.truncate(key);
        entries.truncate(from);
    }
}

/// Puts the keys of a document in the order in which they are written, for those who print it in another form.
pub fn sort_keys(document: &mut Value) {
    sort_below(document, Place::Document);
}

fn sort_below(value: &mut Value, place: Place) {
    match value {
        Value::Object(map) => {
            let mut entries: Vec<(String, Value)> = std::mem::take(map).into_iter().collect();
            entries.sort_by(|(left, _), (right, _)| compare_keys(left, right, place));
            entries.iter_mut().for_each(|(_, value)| sort_below(value, Place::Field));
            map.extend(entries);
        }
        Value::Array(items) => items.iter_mut().for_each(|item| sort_below(item, Place::Item)),
        _ => {}
    }
}

fn compare_keys(left: &str, right: &str, place: Place) -> Ordering {
    let rank = |key: &str| match (place, key) {
        (Place::Document, "apiVersion") | (Place::Item, "name") => 0,
        (Place::Document, "kind") => 1,
        (Place::Document, "metadata") => 2,
        _ => 3,
    };
    match place {
        Place::Field => left.cmp(right),
        Place::Document | Place::Item => rank(left).cmp(&rank(right)).then_with(|| left.cmp(right)),
    }
}

/// A place in the text that waits for its value.
struct At<'w, 'o> {
    walk: &'w mut Walk<'o>,
    place: Place,
    /// Of the key in front of it, or of the list that it stands in.
    indent: usize,
}

impl<'w, 'o> At<'w, 'o> {
    /// What stands in front of a value that is no filled collection.
    fn lead(&mut self) -> &mut String {
        let out = &mut *self.walk.out;
        match self.place {
            Place::Document => {}
            Place::Field => out.push(' '),
            Place::Item => {
                blanks(out, self.indent);
                out.push_str("- ");
            }
        }
        out
    }

    fn plain(mut self, text: impl Display) -> Result<(), Unwritable> {
        // A String takes whatever is written.
        let _ = writeln!(self.lead(), "{text}");
        Ok(())
    }

    fn open(self, indent: usize, empty: &'static str) -> Open<'w, 'o> {
        let (start, from) = (self.walk.out.len(), self.walk.entries.len());
        Open { at: self, indent, start, from, empty, filled: false }
    }

    fn sequence(self) -> Open<'w, 'o> {
        // A list is not indented under its key.
        let indent = if self.place == Place::Item { self.indent + 2 } else { self.indent };
        self.open(indent, "[]")
    }

    fn mapping(self) -> Open<'w, 'o> {
        let indent = if self.place == Place::Document { 0 } else { self.indent + 2 };
        self.open(indent, "{}")
    }
}

/// A collection that is being written.
struct Open<'w, 'o> {
    at: At<'w, 'o>,
    /// Of its keys or items.
    indent: usize,
    /// Where its text begins.
    start: usize,
    /// The first of its entries, while it is a mapping.
    from: usize,
    empty: &'static str,
    filled: bool,
}

impl Open<'_, '_> {
    fn begin(&mut self) {
        if !self.filled && self.at.place == Place::Field {
            self.at.walk.out.push('\n');
        }
        self.filled = true;
    }

    fn item<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Unwritable> {
        self.begin();
        value.serialize(At { walk: self.at.walk, place: Place::Item, indent: self.indent })
    }

    /// Writes the key that `name` appends to the keys.
    fn entry_key(&mut self, name: impl FnOnce(&mut String) -> fmt::Result) -> Result<(), Unwritable> {
        self.begin();
        let walk = &mut *self.at.walk;
        let start = walk.keys.len();
        name(&mut walk.keys).map_err(|_| Unwritable("a key that is no text".to_owned()))?;
        let line = walk.out.len();
        walk.entries.push(Entry { key: start..walk.keys.len(), text: line..line });
        blanks(walk.out, self.indent);
        key(walk.out, &walk.keys[start..], self.indent);
        Ok(())
    }

    fn entry_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Unwritable> {
        value.serialize(At { walk: self.at.walk, place: Place::Field, indent: self.indent })?;
        if let Some(entry) = self.at.walk.entries.last_mut() {
            entry.text.end = self.at.walk.out.len();
        }
        Ok(())
    }

    fn finish(self) -> Result<(), Unwritable> {
        if !self.filled {
            let empty = self.empty;
            return self.at.plain(empty);
        }
        self.at.walk.close(self.from, self.at.place);
        if self.at.place == Place::Item {
            // Its first line began with blanks only: there is room for the dash.
            let dash = self.start + self.at.indent;
            self.at.walk.out.replace_range(dash..dash + 2, "- ");
        }
        Ok(())
    }
}

impl<'w, 'o> Serializer for At<'w, 'o> {
    type Ok = ();
    type Error = Unwritable;
    type SerializeSeq = Open<'w, 'o>;
    type SerializeTuple = Open<'w, 'o>;
    type SerializeTupleStruct = Open<'w, 'o>;
    type SerializeTupleVariant = Impossible<(), Unwritable>;
    type SerializeMap = Open<'w, 'o>;
    type SerializeStruct = Open<'w, 'o>;
    type SerializeStructVariant = Impossible<(), Unwritable>;

    fn serialize_bool(self, value: bool) -> Result<(), Unwritable> {
        self.plain(value)
    }
    fn serialize_i8(self, value: i8) -> Result<(), Unwritable> {
        self.plain(value)
    }
    fn serialize_i16(self, value: i16) -> Result<(), Unwritable> {
        self.plain(value)
    }
    fn serialize_i32(self, value: i32) -> Result<(), Unwritable> {
        self.plain(value)
    }
    fn serialize_i64(self, value: i64) -> Result<(), Unwritable> {
        self.plain(value)
    }
    fn serialize_u8(self, value: u8) -> Result<(), Unwritable> {
        self.plain(value)
    }
    fn serialize_u16(self, value: u16) -> Result<(), Unwritable> {
        self.plain(value)
    }
    fn serialize_u32(self, value: u32) -> Result<(), Unwritable> {
        self.plain(value)
    }
    fn serialize_u64(self, value: u64) -> Result<(), Unwritable> {
        self.plain(value)
    }
    fn serialize_f32(self, value: f32) -> Result<(), Unwritable> {
        self.serialize_f64(value.into())
    }
    fn serialize_f64(mut self, value: f64) -> Result<(), Unwritable> {
        if !value.is_finite() {
            return Err(Unwritable(format!("the number {value}")));
        }
        let out = self.lead();
        float(out, value);
        out.push('\n');
        Ok(())
    }
    fn serialize_char(self, value: char) -> Result<(), Unwritable> {
        self.serialize_str(value.encode_utf8(&mut [0; 4]))
    }
    fn serialize_str(mut self, value: &str) -> Result<(), Unwritable> {
        let (indent, root) = (self.indent + 2, self.place == Place::Document);
        string(self.lead(), value, indent, root);
        Ok(())
    }
    fn serialize_bytes(self, _value: &[u8]) -> Result<(), Unwritable> {
        Err(Unwritable("bytes".to_owned()))
    }
    fn serialize_none(self) -> Result<(), Unwritable> {
        self.plain("null")
    }
    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), Unwritable> {
        value.serialize(self)
    }
    fn serialize_unit(self) -> Result<(), Unwritable> {
        self.plain("null")
    }
    fn serialize_unit_struct(self, _name: &'static str) -> Result<(), Unwritable> {
        self.plain("null")
    }
    fn serialize_unit_variant(self, _name: &'static str, _index: u32, variant: &'static str) -> Result<(), Unwritable> {
        self.serialize_str(variant)
    }
    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _name: &'static str, value: &T) -> Result<(), Unwritable> {
        value.serialize(self)
    }
    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<(), Unwritable> {
        let mut open = self.mapping();
        open.entry_key(|keys| keys.write_str(variant))?;
        open.entry_value(value)?;
        open.finish()
    }
    fn serialize_seq(self, _length: Option<usize>) -> Result<Open<'w, 'o>, Unwritable> {
        Ok(self.sequence())
    }
    fn serialize_tuple(self, _length: usize) -> Result<Open<'w, 'o>, Unwritable> {
        Ok(self.sequence())
    }
    fn serialize_tuple_struct(self, _name: &'static str, _length: usize) -> Result<Open<'w, 'o>, Unwritable> {
        Ok(self.sequence())
    }
    fn serialize_tuple_variant(
        self,
        name: &'static str,
        _index: u32,
        _variant: &'static str,
        _length: usize,
    ) -> Result<Self::SerializeTupleVariant, Unwritable> {
        Err(Unwritable(format!("an unnamed variant of {name}")))
    }
    fn serialize_map(self, _length: Option<usize>) -> Result<Open<'w, 'o>, Unwritable> {
        Ok(self.mapping())
    }
    fn serialize_struct(self, _name: &'static str, _length: usize) -> Result<Open<'w, 'o>, Unwritable> {
        Ok(self.mapping())
    }
    fn serialize_struct_variant(
        self,
        name: &'static str,
        _index: u32,
        _variant: &'static str,
        _length: usize,
    ) -> Result<Self::SerializeStructVariant, Unwritable> {
        Err(Unwritable(format!("a variant of {name}")))
    }
}

impl ser::SerializeSeq for Open<'_, '_> {
    type Ok = ();
    type Error = Unwritable;
    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Unwritable> {
        self.item(value)
    }
    fn end(self) -> Result<(), Unwritable> {
        self.finish()
    }
}

impl ser::SerializeTuple for Open<'_, '_> {
    type Ok = ();
    type Error = Unwritable;
    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Unwritable> {
        self.item(value)
    }
    fn end(self) -> Result<(), Unwritable> {
        self.finish()
    }
}

impl ser::SerializeTupleStruct for Open<'_, '_> {
    type Ok = ();
    type Error = Unwritable;
    fn serialize_field<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Unwritable> {
        self.item(value)
    }
    fn end(self) -> Result<(), Unwritable> {
        self.finish()
    }
}

impl ser::SerializeMap for Open<'_, '_> {
    type Ok = ();
    type Error = Unwritable;
    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), Unwritable> {
        self.entry_key(|keys| write!(keys, "{}", Text(key)))
    }
    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Unwritable> {
        self.entry_value(value)
    }
    fn end(self) -> Result<(), Unwritable> {
        self.finish()
    }
}

impl ser::SerializeStruct for Open<'_, '_> {
    type Ok = ();
    type Error = Unwritable;
    fn serialize_field<T: Serialize + ?Sized>(&mut self, key: &'static str, value: &T) -> Result<(), Unwritable> {
        self.entry_key(|keys| keys.write_str(key))?;
        self.entry_value(value)
    }
    fn end(self) -> Result<(), Unwritable> {
        self.finish()
    }
}

/// A key as its text, as far as it has one: serde writes into a formatter what is no collection.
struct Text<'k, T: ?Sized>(&'k T);

impl<T: Serialize + ?Sized> Display for Text<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.serialize(f)
    }
}
