//! Reads the JSON of an API server or of `kubectl get -o json` as it arrives, without building what is not needed.
//!
//! An item of a list is kept as soon as it is whole, and the text in which it came is given up. What stands around the
//! items, the frame, is read when its document ends.

use std::mem;

use super::Listed;
use super::listed::Shared;
use super::live::{Read, Stopped, list_type};
use super::live_parts::{Parts, Whole};

impl Read {
    /// Reads objects, lists and streams of both, from a text that is there as a whole. See [`JsonReader`].
    #[must_use]
    pub fn json(text: &[u8], item: Option<(&str, &str)>) -> Read {
        let mut reader = JsonReader::new(item);
        reader.push(text);
        reader.end()
    }
}

/// Reads objects, lists and streams of both from a text that arrives in parts.
///
/// Never fails: what was read before the text broke off is kept, and [`Read::stopped`] says where.
pub struct JsonReader<'k> {
    /// apiVersion and kind of the items of a list that does not name them before it lists them.
    item: Option<(&'k str, &'k str)>,
    read: Read,
    shared: Shared,
    /// What has arrived of an item that is not whole yet.
    pending: Vec<u8>,
    here: Position,
    frame: Frame,
}

impl<'k> JsonReader<'k> {
    /// Begins. `item` is apiVersion and kind of the items of a list that does not name them before it lists them.
    #[must_use]
    pub fn new(item: Option<(&'k str, &'k str)>) -> JsonReader<'k> {
        JsonReader {
            item,
            read: Read::default(),
            shared: Shared::default(),
            pending: Vec::new(),
            here: Position::default(),
            frame: Frame::default(),
        }
    }

    /// Takes the next part of the text. Behind a fault, nothing is read any more.
    pub fn push(&mut self, part: &[u8]) {
        if self.pending.is_empty() {
            let used = self.take(part, false);
            self.pending.extend_from_slice(part.get(used..).unwrap_or_default());
        } else {
            let mut pending = mem::take(&mut self.pending);
            pending.extend_from_slice(part);
            pending.drain(..self.take(&pending, false));
            self.pending = pending;
        }
    }

    /// What was read, up to the end or to where it broke off.
    #[must_use]
    pub fn end(mut self) -> Read {
        let pending = mem::take(&mut self.pending);
        self.take(&pending, true);
        if !self.frame.text.is_empty() {
            self.close();
        }
        self.read
    }

    /// Takes what is whole in a text, and returns how long that is. With `last`, no more comes behind it.
    fn take(&mut self, text: &[u8], last: bool) -> usize {
        let mut at = 0;
        while let Some(byte) = text.get(at) {
            if self.read.stopped.is_some() {
                return text.len();
            }
            if self.frame.is_at_item(*byte) {
                match self.item(&text[at..], last) {
                    Some(length) => at += length,
                    None => return at,
                }
                continue;
            }
            at += 1;
            let before = self.here;
            self.here = before.after(&[*byte]);
            if self.frame.take(*byte, before) {
                self.close();
            }
        }
        at
    }

    /// Keeps the item that begins a text, and returns its length. `None`: it is not whole yet.
    fn item(&mut self, text: &[u8], last: bool) -> Option<usize> {
        let mut stream = serde_json::Deserializer::from_slice(text).into_iter::<Parts<'_>>();
        match stream.next()? {
            Ok(parts) => {
                let length = stream.byte_offset();
                let own = self.frame.list.as_ref().map(|(version, kind)| (version.as_str(), kind.as_str()));
                self.read.keep(Listed::of_parts(parts, self.item.or(own), &mut self.shared));
                self.here = self.here.after(text.get(..length).unwrap_or_default());
                self.frame.stand_in(self.here);
                Some(length)
            }
            Err(error) if error.is_eof() && !last => None,
            Err(error) => {
                self.stop(error.is_eof(), self.here.at(error.line(), error.column()));
                Some(text.len())
            }
        }
    }

    /// Reads the frame: its document has ended, or the text has.
    fn close(&mut self) {
        let frame = mem::take(&mut self.frame);
        if self.read.stopped.is_some() {
            return;
        }
        match serde_json::from_slice::<Whole<'_>>(&frame.text) {
            Ok(Whole { parts, is_list: true }) => self.read.next = parts.next,
            Ok(Whole { parts, is_list: false }) => {
                self.read.keep(Listed::of_parts(parts, self.item, &mut self.shared));
            }
            Err(error) => self.stop(error.is_eof(), frame.place(error.line(), error.column())),
        }
    }

    /// The error's own words may quote a value, so they are not kept.
    fn stop(&mut self, early: bool, place: Position) {
        self.read.stopped = Some(Stopped { early, line: place.line + 1, column: place.column });
    }
}

/// How many lines and, in the last of them, bytes stand before a place.
#[derive(Clone, Copy, Default)]
struct Position {
    line: usize,
    column: usize,
}

impl Position {
    /// Behind these bytes.
    fn after(self, bytes: &[u8]) -> Position {
        match bytes.iter().rposition(|byte| *byte == b'\n') {
            Some(last) => {
                let lines = bytes.iter().filter(|byte| **byte == b'\n').count();
                Position { line: self.line + lines, column: bytes.len() - last - 1 }
            }
            None => Position { line: self.line, column: self.column + bytes.len() },
        }
    }

    /// Line, from 1, and column in a text that begins here.
    fn at(self, line: usize, column: usize) -> Position {
        match line {
            0 | 1 => Position { line: self.line, column: self.column + column },
            _ => Position { line: self.line + line - 1, column },
        }
    }
}

/// A document without the items of its list.
#[derive(Default)]
struct Frame {
    /// In place of an item stand two braces, so that a comma too many or too few is found all the same.
    text: Vec<u8>,
    /// Where in the whole text the document begins and goes on behind each item, by the length of the frame there.
    pieces: Vec<(usize, Position)>,
    depth: usize,
    in_string: bool,
    is_escaped: bool,
    in_items: bool,
    /// apiVersion and kind of the items, where the list has named them before it lists them.
    list: Option<(String, String)>,
}

/// Depth of the list in its document.
const IN_LIST: usize = 2;

impl Frame {
    /// Whether an item begins with this byte.
    fn is_at_item(&self, byte: u8) -> bool {
        byte == b'{' && self.in_items && self.depth == IN_LIST && !self.in_string
    }

    /// Adds a byte that is no item's. Returns whether the document ends with it.
    fn take(&mut self, byte: u8, here: Position) -> bool {
        if self.text.is_empty() {
            if byte.is_ascii_whitespace() {
                return false;
            }
            self.pieces.push((0, here));
        }
        self.text.push(byte);
        if self.in_string {
            match byte {
                _ if self.is_escaped => self.is_escaped = false,
                b'\\' => self.is_escaped = true,
                b'"' => self.in_string = false,
                _ => {}
            }
            return false;
        }
        match byte {
            b'"' => self.in_string = true,
            b'{' => self.depth += 1,
            b'[' => {
                self.depth += 1;
                if self.depth == IN_LIST && self.is_behind_items() {
                    self.in_items = true;
                    self.list = self.type_of_items();
                }
            }
            b'}' | b']' => {
                self.in_items &= self.depth != IN_LIST;
                self.depth = self.depth.saturating_sub(1);
                return self.depth == 0;
            }
            _ => {}
        }
        false
    }

    /// Whether the bracket at its end opens the value of a key `items`.
    fn is_behind_items(&self) -> bool {
        let key = self.text.strip_suffix(b"[").and_then(|text| text.trim_ascii_end().strip_suffix(b":"));
        key.and_then(|text| text.trim_ascii_end().strip_suffix(br#""items""#))
            .is_some_and(|text| matches!(text.trim_ascii_end().last(), Some(b'{' | b',')))
    }

    fn type_of_items(&self) -> Option<(String, String)> {
        let text = [&*self.text, b"]}"].concat();
        let parts = serde_json::from_slice::<Whole<'_>>(&text).ok()?.parts;
        let (version, kind) = list_type(&parts.identity.api_version, &parts.identity.kind)?;
        Some((version.to_owned(), kind.to_owned()))
    }

    /// Puts the braces in place of an item that ends here.
    fn stand_in(&mut self, here: Position) {
        self.text.extend_from_slice(b"{}");
        self.pieces.push((self.text.len(), here));
    }

    /// Where in the whole text a line, from 1, and a column of the frame are.
    fn place(&self, line: usize, column: usize) -> Position {
        let lines = self.text.split_inclusive(|byte| *byte == b'\n').take(line.saturating_sub(1));
        let offset = (lines.map(<[u8]>::len).sum::<usize>() + column).min(self.text.len());
        let piece = self.pieces.iter().rev().find(|(start, _)| *start <= offset);
        let (start, here) = piece.copied().unwrap_or_default();
        here.after(self.text.get(start..offset).unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::{JsonReader, Read, Stopped};

    const LIST: &str = r#"{"kind":"ServiceList","apiVersion":"v1","metadata":{"resourceVersion":"5","continue":"abc"},"items":[
        {"metadata":{"name":"a","namespace":"n","managedFields":[{"manager":"x"}],"uid":"1"},"spec":{"ports":[]}},
        {"metadata":{"name":"b","namespace":"n"}}]}"#;

    #[test]
    fn a_typed_list_says_what_its_items_are_and_where_it_goes_on() {
        let read = Read::json(LIST.as_bytes(), None);
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
        let read = Read::json(text.as_bytes(), None);
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
        let read = Read::json(text.as_bytes(), None);
        assert_eq!(format!("{:?}", read.objects), "[Service /a, Secret /b]");
        assert_eq!(read.objects[1].open().unwrap().value["data"]["k"], "(hidden)");
    }

    #[test]
    fn what_stands_before_the_cut_is_kept() {
        let read = Read::json(&LIST.as_bytes()[..LIST.len() - 10], None);
        assert_eq!(format!("{:?}", read.objects), "[Service n/a]");
        assert!(matches!(read.stopped, Some(Stopped { early: true, line: 3, .. })), "{:?}", read.stopped);
        let read = Read::json(b"hello", None);
        assert!(matches!(read.stopped, Some(Stopped { early: false, .. })), "{:?}", read.stopped);
    }

    /// However the text arrives, what is read of it is the same, and so is where it breaks off.
    #[test]
    fn parts_of_a_text_are_read_as_the_whole() {
        let stream =
            format!("{LIST} {{\"kind\":\"List\",\"items\":[]}}\n{{\"kind\":\"Pod\",\"metadata\":{{\"name\":\"p\"}}}}");
        for text in [&stream, &stream[..stream.len() - 3], &LIST[..200], "{\"items\":[{}, 5]}", "{]"] {
            let told = |read: Read| format!("{:?} {:?} {:?} {:?}", read.objects, read.broken, read.next, read.stopped);
            let whole = told(Read::json(text.as_bytes(), None));
            for length in [1, 2, 7, 50] {
                let mut reader = JsonReader::new(None);
                text.as_bytes().chunks(length).for_each(|part| reader.push(part));
                assert_eq!(told(reader.end()), whole, "{text} by {length}");
            }
        }
    }

    /// Where serde_json finds the fault, in a text of one line and in one of several.
    #[test]
    fn a_fault_is_where_the_parser_of_the_whole_finds_it() {
        let pretty = "{\n  \"kind\": \"List\",\n  \"items\": [\n    {\"kind\": \"Pod\", \"metadata\": {\"name\": \"a\"}},\n    {\"kind\": \"Pod\",\n     \"metadata\": {\"name\": \"b\"}}\n  ],\n  \"x\": 1\n}\n";
        for text in [pretty, LIST] {
            for at in 1..text.len() - 1 {
                for fault in ["\u{1}", "]"] {
                    let text = format!("{}{fault}{}", &text[..at], &text[at..]);
                    // In a string, a bracket is none.
                    let Err(expected) = serde_json::from_str::<serde_json::Value>(&text) else { continue };
                    let stopped = Read::json(text.as_bytes(), None).stopped.unwrap_or_else(|| panic!("{text}"));
                    assert_eq!(stopped.line, expected.line(), "{text}");
                    // What is skipped is one column further on than what is read.
                    assert!(stopped.column.abs_diff(expected.column()) < 2, "{text} {stopped:?} {expected}");
                }
            }
        }
    }

    /// What would be skipped in silence is refused.
    #[test]
    fn items_under_an_escaped_key_stop_the_reading() {
        let read = Read::json(br#"{"kind":"List","\u0069tems":[{"kind":"Pod","metadata":{"name":"a"}}]}"#, None);
        assert!(read.objects.is_empty() && read.stopped.is_some());
    }

    /// A text that is large and not new is kept once.
    #[test]
    fn what_objects_have_in_common_is_kept_once() {
        let large = "x".repeat(10_000);
        let item =
            |name: &str| format!(r#"{{"kind":"ConfigMap","metadata":{{"name":"{name}"}},"data":{{"k":"{large}"}}}}"#);
        let text = format!(r#"{{"kind":"List","items":[{},{}]}}"#, item("a"), item("b"));
        let read = Read::json(text.as_bytes(), None);
        let texts: Vec<*const u8> =
            read.objects.iter().map(|object| object.text_of("data").unwrap().as_ptr()).collect();
        assert_eq!(texts[0], texts[1]);
        assert_eq!(read.objects[1].open().unwrap().value["data"]["k"], large);
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
