//! What `kubectl get -o json` or `-o yaml` printed, from a file or from standard input.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

use super::inputs::{STANDARD_INPUT, shown, unreadable};
use crate::diff::{JsonReader, Read, Stopped};
use crate::problem::Problem;
use crate::yaml::{self, Limits};

/// Values of a dump in YAML, which is read as a tree before it is anything else. A thousand Databases are far below.
const YAML_NODES: usize = 20_000_000;
/// Bytes of a dump in JSON that are read at a time.
const PART: u64 = 1 << 20;
const BOM: &[u8] = b"\xEF\xBB\xBF";

/// Reads a dump: a list, an object, or several of both after each other.
///
/// What stands before a fault is kept, and the result says where it is. Nothing of the text is ever quoted: it may be the
/// value of a Secret.
///
/// # Errors
/// When the file cannot be read at all.
pub fn read_live_file(path: &Path) -> Result<(String, Read), Problem> {
    let (name, read) = if path == Path::new(STANDARD_INPUT) {
        ("stdin".to_owned(), parse(&mut io::stdin().lock()))
    } else {
        let name = shown(path);
        (format!("file {name}"), File::open(path).and_then(|mut file| parse(&mut file)))
    };
    let read = read.map_err(|error| unreadable(name.strip_prefix("file ").unwrap_or(&name), &error))?;
    Ok((name, read))
}

fn parse(input: &mut dyn io::Read) -> io::Result<Read> {
    let mut bytes = Vec::new();
    // Its first character says what it is written in.
    while bytes.trim_ascii_start().is_empty() || bytes.len() < BOM.len() {
        if next(input, &mut bytes)? == 0 {
            break;
        }
    }
    if bytes.starts_with(BOM) {
        bytes.drain(..BOM.len());
    }
    match bytes.trim_ascii_start().first() {
        Some(b'{' | b'[') => {
            let mut json = JsonReader::new(None);
            loop {
                json.push(&bytes);
                bytes.clear();
                if next(input, &mut bytes)? == 0 {
                    return Ok(json.end());
                }
            }
        }
        Some(_) => {
            input.read_to_end(&mut bytes)?;
            Ok(yaml(&bytes))
        }
        // kubectl prints an empty list when it finds nothing. No text at all means that it failed.
        None => Ok(stopped_at(&bytes, bytes.len(), true)),
    }
}

/// Adds the next part, and returns how long it is; 0 at the end.
fn next(input: &mut dyn io::Read, bytes: &mut Vec<u8>) -> io::Result<usize> {
    io::Read::take(input, PART).read_to_end(bytes)
}

fn yaml(bytes: &[u8]) -> Read {
    let text = match yaml::decode(bytes) {
        Ok(text) => text,
        Err(error) => return stopped_at(bytes, error.span.start, false),
    };
    let mut limits = Limits::default();
    (limits.bytes, limits.nodes) = (usize::MAX, YAML_NODES);
    let (documents, errors) = yaml::read_stream(text, &limits);
    let mut read = match errors.first() {
        Some(error) => stopped_at(bytes, error.span.start, error.span.start >= text.trim_end().len()),
        None => Read::default(),
    };
    for document in documents {
        read.push(document.root.to_json());
    }
    read
}

fn stopped_at(bytes: &[u8], at: usize, early: bool) -> Read {
    let before = &bytes[..at.min(bytes.len())];
    let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
    let column = before.iter().rev().take_while(|byte| **byte != b'\n').count() + 1;
    Read { stopped: Some(Stopped { early, line, column }), ..Read::default() }
}

#[cfg(test)]
mod tests {
    use crate::diff::Read;

    fn parse(bytes: &[u8]) -> Read {
        super::parse(&mut &*bytes).unwrap()
    }

    const JSON: &str = r#"{"kind":"List","apiVersion":"v1","items":[
        {"kind":"Service","apiVersion":"v1","metadata":{"name":"a","namespace":"ns"}},
        {"kind":"Secret","apiVersion":"v1","metadata":{"name":"b","namespace":"ns"},"data":{"k":"aHVudGVyMg=="}}]}"#;
    const YAML: &str = "apiVersion: v1\nkind: List\nitems:\n- kind: Service\n  metadata: {name: a, namespace: ns}\n\
        - kind: Secret\n  metadata: {name: b, namespace: ns}\n  data: {k: aHVudGVyMg==}\n";

    #[test]
    fn lists_and_streams_in_both_forms() {
        let stream = "kind: Service\nmetadata: {name: a, namespace: ns}\n---\nkind: Secret\n\
            metadata: {name: b, namespace: ns}\ndata: {k: aHVudGVyMg==}\n";
        let bom = format!("\u{feff}  {JSON}");
        for text in [JSON, YAML, stream, bom.as_str()] {
            let read = parse(text.as_bytes());
            assert_eq!(format!("{:?}", read.objects), "[Service ns/a, Secret ns/b]", "{text}");
            assert_eq!(read.objects[1].open().unwrap().secret["k"].reveal(), b"hunter2");
            assert_eq!(read.stopped, None);
        }
    }

    #[test]
    fn a_dump_that_was_cut_says_where() {
        for (text, kept) in [(&JSON[..JSON.len() - 30], 1), (&JSON[..20], 0), ("", 0), (" \n", 0)] {
            let read = parse(text.as_bytes());
            assert_eq!(read.objects.len(), kept, "{text}");
            assert!(read.stopped.is_some_and(|stopped| stopped.early), "{text}");
        }
        for text in ["hello: [", "a: b: c\n", "\u{fffe}", "{]"] {
            assert!(parse(text.as_bytes()).stopped.is_some(), "{text}");
        }
        assert!(parse(b"\xff\xfe").stopped.is_some());
    }

    #[test]
    fn nothing_of_the_text_is_quoted() {
        let yaml = YAML.replace("k: aHVudGVyMg==", "k: hunter2!");
        let read = parse(yaml.as_bytes());
        assert!(!format!("{read:?}").contains("hunter2"), "{read:?}");
        let read = parse(YAML.replace("k: aHVudGVyMg==}", "k: \"hunter2\\q\"}").as_bytes());
        assert!(!format!("{read:?}").contains("hunter2"), "{read:?}");
    }
}
