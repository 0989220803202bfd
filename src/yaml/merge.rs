//! `<<`: the entries of another mapping, taken into this one.

use std::collections::BTreeMap;
use std::ops::Range;

use super::node::{Entry, Kind, Node};
use super::read::{ReadError, ReadErrorKind};

/// The entries of a mapping that is being read.
#[derive(Default)]
pub(super) struct Entries {
    list: Vec<Entry>,
    /// Present once something was merged.
    merged: Option<Merged>,
}

struct Merged {
    /// Entry by entry, whether it came in by `<<`: it gives way to a key that is written out, without being a duplicate.
    from_merge: Vec<bool>,
    places: BTreeMap<String, usize>,
}

impl Entries {
    pub(super) fn last(&self) -> Option<&Entry> {
        self.list.last()
    }

    pub(super) fn into_list(self) -> Vec<Entry> {
        self.list
    }

    /// Adds an entry that is written out.
    pub(super) fn push(&mut self, entry: Entry) {
        if let Some(merged) = &mut self.merged {
            if let Some(&place) = merged.places.get(&entry.key.text)
                && merged.from_merge[place]
            {
                merged.from_merge[place] = false;
                self.list[place] = entry;
                return;
            }
            merged.places.insert(entry.key.text.clone(), self.list.len());
            merged.from_merge.push(false);
        }
        self.list.push(entry);
    }

    /// Adds the entries behind `<<`. A key that is already there gets the merged value: the reader of Kubernetes sets
    /// keys one after the other in the order of the text, and so do we.
    ///
    /// # Errors
    /// `value` is neither a mapping nor, written out in place, a list of mappings.
    pub(super) fn merge(&mut self, value: Node, is_alias: bool) -> Result<(), ReadError> {
        let sources = match value.kind {
            Kind::Mapping(source) => vec![source],
            Kind::Sequence(items) if !is_alias => {
                let mut sources = Vec::with_capacity(items.len());
                for item in items {
                    match item.kind {
                        Kind::Mapping(source) => sources.push(source),
                        _ => return Err(wrong(item.span)),
                    }
                }
                // The first of the list wins, so it comes last.
                sources.reverse();
                sources
            }
            _ => return Err(wrong(value.span)),
        };
        let list = &mut self.list;
        let merged = self.merged.get_or_insert_with(|| Merged {
            from_merge: vec![false; list.len()],
            places: list.iter().enumerate().map(|(place, entry)| (entry.key.text.clone(), place)).collect(),
        });
        for entry in sources.into_iter().flatten() {
            match merged.places.get(&entry.key.text) {
                Some(&place) => list[place] = entry,
                None => {
                    merged.places.insert(entry.key.text.clone(), list.len());
                    merged.from_merge.push(true);
                    list.push(entry);
                }
            }
        }
        Ok(())
    }
}

fn wrong(span: Range<usize>) -> ReadError {
    ReadError {
        span,
        kind: ReadErrorKind::Merge,
        message: "<< takes a mapping, an alias of a mapping, or a list of these".to_owned(),
        hint: Some("write \"<<\" in quotes if it is meant as a key".to_owned()),
    }
}
