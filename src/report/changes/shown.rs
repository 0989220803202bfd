//! How the two values of a change are laid out, whatever the view: on one line when short, else line by line.

use serde_json::Value;

use crate::diff::{Change, HIDDEN, HIDDEN_OTHER};
use crate::yaml;

use super::lines::{Line, hunks};
use super::thousands;

/// Longest text of a value on a line of its own. Longer lines are cut in the views for people; JSON has all of it.
const LINE: usize = 2_000;
/// Longest value that stands beside its path.
const SHORT: usize = 64;
/// Most lines of one change.
const LINES: usize = 400;

/// The two values of a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Shown {
    /// Both fit beside the path. `None`: there is none.
    Short {
        /// Live.
        live: Option<String>,
        /// Desired.
        desired: Option<String>,
    },
    /// Lines.
    Block(Vec<(Mark, String)>),
}

/// What a line of a block is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mark {
    /// The place of the lines after it.
    Place,
    /// The same on both sides.
    Both,
    /// Live only.
    Live,
    /// Desired only.
    Desired,
    /// A word to the reader.
    Note,
}

impl Mark {
    /// The character before the line.
    pub(super) const fn sign(self) -> &'static str {
        match self {
            Mark::Both => " ",
            Mark::Live => "-",
            Mark::Desired => "+",
            Mark::Place | Mark::Note => "",
        }
    }
}

/// Lays out the values of a change, with `context` equal lines around each different one.
pub(super) fn shown(change: &Change, context: usize) -> Shown {
    let (live, desired) = (present(&change.live), present(&change.desired));
    if change.live == HIDDEN && change.desired == HIDDEN {
        let changed = Some(HIDDEN_OTHER.to_owned());
        return Shown::Short { live: Some(HIDDEN.to_owned()), desired: changed };
    }
    if let (Ok(live), Ok(desired)) = (short(live), short(desired)) {
        return Shown::Short { live, desired };
    }
    let mut out = Vec::new();
    match (live, desired) {
        (Some(live), Some(desired)) => {
            let (live, desired) = (block(live), block(desired));
            for hunk in hunks(&live, &desired, context) {
                out.push((Mark::Place, hunk.header()));
                out.extend(hunk.lines.iter().take(LINES + 1).map(|line| match line {
                    Line::Both(text) => (Mark::Both, cut(text)),
                    Line::Old(text) => (Mark::Live, cut(text)),
                    Line::New(text) => (Mark::Desired, cut(text)),
                }));
            }
        }
        (Some(value), None) => whole(value, Mark::Live, &mut out),
        (None, Some(value)) => whole(value, Mark::Desired, &mut out),
        (None, None) => {}
    }
    if out.len() > LINES {
        out.truncate(LINES);
        out.push((Mark::Note, "… more lines differ; -o json has all of them".to_owned()));
    }
    Shown::Block(out)
}

fn whole(value: &Value, mark: Mark, out: &mut Vec<(Mark, String)>) {
    out.extend(block(value).lines().take(LINES + 1).map(|line| (mark, cut(line))));
}

fn present(value: &Value) -> Option<&Value> {
    (!value.is_null()).then_some(value)
}

/// The value beside its path, or nothing when it is too long for that.
fn short(value: Option<&Value>) -> Result<Option<String>, ()> {
    let Some(value) = value else { return Ok(None) };
    if let Some(words) = value.as_str().filter(|text| [HIDDEN, HIDDEN_OTHER].contains(text)) {
        return Ok(Some(words.to_owned()));
    }
    match value {
        Value::String(text) if text.len() > SHORT || text.trim_end_matches('\n').contains('\n') => return Err(()),
        // Only small ones are worth writing out to see whether they are short.
        Value::Array(items) if items.len() > 8 => return Err(()),
        Value::Object(map) if map.len() > 4 => return Err(()),
        _ => {}
    }
    let text = value.to_string();
    if text.len() > SHORT { Err(()) } else { Ok(Some(text)) }
}

/// A value as lines: a text as it is, everything else as YAML.
fn block(value: &Value) -> String {
    match value {
        Value::String(text) if text.contains('\n') => text.clone(),
        value => {
            let mut out = String::new();
            yaml::write_document(&mut out, value);
            out
        }
    }
}

/// A line of bearable length.
fn cut(line: &str) -> String {
    match line.char_indices().nth(LINE) {
        Some((end, _)) => format!("{}… ({} bytes)", &line[..end], thousands(line.len() as u64)),
        None => line.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{Mark, Shown, shown};
    use crate::diff::{Bucket, Change, Impact, Op};

    fn change(live: Value, desired: Value) -> Change {
        Change {
            path: "/x".to_owned(),
            bucket: Bucket::Drift,
            op: Op::Replace,
            desired,
            live,
            impact: Impact::InPlace,
            reason: "because".into(),
            field: None,
            changed_by: None,
            count: 1,
        }
    }

    fn block(live: Value, desired: Value) -> Vec<(Mark, String)> {
        match shown(&change(live, desired), 1) {
            Shown::Block(lines) => lines,
            short @ Shown::Short { .. } => panic!("{short:?}"),
        }
    }

    #[test]
    fn short_values_stand_beside_the_path() {
        for (live, desired, a, b) in [
            (json!(5), json!(3), Some("5"), Some("3")),
            (json!("4"), Value::Null, Some("\"4\""), None),
            (Value::Null, json!({"a": 1}), None, Some("{\"a\":1}")),
            (json!("(hidden)"), json!("(hidden)"), Some("(hidden)"), Some("(hidden, another value)")),
        ] {
            let expected = Shown::Short { live: a.map(str::to_owned), desired: b.map(str::to_owned) };
            assert_eq!(shown(&change(live, desired), 3), expected);
        }
    }

    #[test]
    fn long_values_are_lines() {
        let lines = block(json!("a\nb\nc\n"), json!("a\nx\nc\n"));
        let lines: Vec<String> = lines.iter().map(|(mark, line)| format!("{}{line}", mark.sign())).collect();
        assert_eq!(lines, ["@@ -1,3 +1,3 @@", " a", "-b", "+x", " c"]);
        let lines = block(
            json!({"name": "x", "env": [{"name": "a", "value": "0123456789012345678901234567890123456789"}]}),
            Value::Null,
        );
        assert_eq!(lines.last(), Some(&(Mark::Live, "name: x".to_owned())));
    }

    #[test]
    fn huge_values_are_cut() {
        let line = &block(Value::Null, json!("x".repeat(1 << 20)))[0].1;
        assert!(line.len() < 2_100 && line.ends_with("bytes)"), "{}", line.len());
        let many: String = (0..10_000).map(|n| format!("{n}\n")).collect();
        assert_eq!(block(Value::Null, json!(many)).last().map(|(mark, _)| *mark), Some(Mark::Note));
    }
}
