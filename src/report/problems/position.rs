//! From bytes of a text to lines and columns, in time that does not grow with the length of lines.

use std::ops::Range;

use crate::diff::Origin;
use crate::input::Source;
use crate::problem::Place;

/// Bytes between two counted places.
const BLOCK: usize = 1024;

/// A place as people count: from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Position {
    pub(super) line: usize,
    /// In characters.
    pub(super) column: usize,
    /// In UTF-16 code units.
    pub(super) column16: usize,
}

/// Where lines begin, and how many characters stand before every block.
struct Index<'a> {
    source: &'a Source,
    lines: Vec<usize>,
    /// Characters and UTF-16 code units before each block.
    before: Vec<(usize, usize)>,
}

/// The texts of a run, each counted once, when it is first asked about.
pub struct Positions<'a> {
    sources: &'a [Source],
    indexes: Vec<Option<Index<'a>>>,
}

impl<'a> Positions<'a> {
    /// Of these texts, which are the ones that places count.
    #[must_use]
    pub fn new(sources: &'a [Source]) -> Positions<'a> {
        Positions { sources, indexes: sources.iter().map(|_| None).collect() }
    }

    /// The source of a place and its first and last position. `None`: there is no such source.
    pub(super) fn of(&mut self, place: &Place) -> Option<(&'a Source, Position, Position)> {
        let source = self.sources.get(place.source)?;
        let slot = self.indexes.get_mut(place.source)?;
        let index = slot.get_or_insert_with(|| Index::new(source));
        let span = clamp(&source.text, &place.span);
        Some((source, index.position(span.start), index.position(span.end)))
    }

    /// File, line and column of the start of a place. `None`: there is no such source.
    pub fn origin(&mut self, place: &Place) -> Option<Origin> {
        let (source, start, _) = self.of(place)?;
        let number = |count: usize| u64::try_from(count).unwrap_or(u64::MAX);
        Some(Origin { file: source.name.clone(), line: number(start.line), column: number(start.column) })
    }

    /// Bytes of the line that holds the start of a place, without its line break and a byte order mark. Known for
    /// sources that [`Positions::of`] has been asked about.
    pub(super) fn line(&self, place: &Place) -> Option<Range<usize>> {
        let index = self.indexes.get(place.source)?.as_ref()?;
        let start = clamp(&index.source.text, &place.span).start;
        let line = index.lines.partition_point(|begin| *begin <= start).checked_sub(1)?;
        let begin = *index.lines.get(line)?;
        let end = index.lines.get(line + 1).copied().unwrap_or(index.source.text.len());
        let text = index.source.text.get(begin..end)?.trim_end_matches(['\n', '\r']);
        let mark = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
        Some(begin + mark..begin + text.len())
    }
}

/// The range within the text and at the borders of characters, whatever it was.
pub(super) fn clamp(text: &str, span: &Range<usize>) -> Range<usize> {
    let border = |at: usize| {
        let mut at = at.min(text.len());
        while !text.is_char_boundary(at) {
            at -= 1;
        }
        at
    };
    let start = border(span.start);
    start..border(span.end).max(start)
}

impl<'a> Index<'a> {
    fn new(source: &'a Source) -> Index<'a> {
        let text = source.text.as_str();
        let lines = std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect();
        let mut before = vec![(0, 0)];
        let mut counts = (0, 0);
        for block in text.as_bytes().chunks(BLOCK) {
            counts = add(counts, block);
            before.push(counts);
        }
        Index { source, lines, before }
    }

    /// Characters and UTF-16 code units before a byte.
    fn count(&self, at: usize) -> (usize, usize) {
        let block = at / BLOCK;
        let counts = self.before.get(block).copied().unwrap_or_default();
        add(counts, self.source.text.as_bytes().get(block * BLOCK..at).unwrap_or_default())
    }

    fn position(&self, at: usize) -> Position {
        let line = self.lines.partition_point(|begin| *begin <= at);
        let begin = line.checked_sub(1).and_then(|line| self.lines.get(line)).copied().unwrap_or(0);
        let (here, start) = (self.count(at), self.count(begin));
        // Editors do not count a byte order mark, which stands before the first character.
        let mark = usize::from(at > begin && self.source.text[begin..].starts_with('\u{feff}'));
        Position { line, column: here.0 - start.0 + 1 - mark, column16: here.1 - start.1 + 1 - mark }
    }
}

/// Characters are the bytes that do not continue one; those of four bytes are two UTF-16 code units.
fn add(counts: (usize, usize), bytes: &[u8]) -> (usize, usize) {
    bytes.iter().fold(counts, |(characters, units), byte| match byte {
        0x80..=0xBF => (characters, units),
        0xF0..=0xFF => (characters + 1, units + 2),
        _ => (characters + 1, units + 1),
    })
}

#[cfg(test)]
mod tests {
    use super::{Position, Positions};
    use crate::input::Source;
    use crate::problem::Place;

    fn at(text: &str, byte: usize) -> (usize, usize, usize) {
        let sources = [Source { name: String::new(), text: text.to_owned() }];
        let mut positions = Positions::new(&sources);
        let place = Place { source: 0, span: byte..byte, absent: false };
        let Some((_, Position { line, column, column16 }, _)) = positions.of(&place) else {
            panic!("there is the source")
        };
        (line, column, column16)
    }

    #[test]
    fn counts_characters_and_units() {
        assert_eq!(at("", 0), (1, 1, 1));
        assert_eq!(at("a\nb", 2), (2, 1, 1));
        assert_eq!(at("한국: x", 8), (1, 5, 5));
        assert_eq!(at("🙂x", 4), (1, 2, 3));
        assert_eq!(at("\u{feff}ab", 4), (1, 2, 2));
        assert_eq!(at("a\r\nb", 3), (2, 1, 1));
        // Beyond the end, and inside a character.
        assert_eq!(at("ab", 99), (1, 3, 3));
        assert_eq!(at("한", 1), (1, 1, 1));
    }

    #[test]
    fn counts_alike_over_the_borders_of_blocks() {
        let line = "한🙂a".repeat(1000);
        let text = format!("{line}\n{line}");
        for byte in (0..text.len()).filter(|at| text.is_char_boundary(*at)).step_by(97) {
            let begin = text[..byte].rfind('\n').map_or(0, |at| at + 1);
            let expected = (
                text[..byte].matches('\n').count() + 1,
                text[begin..byte].chars().count() + 1,
                text[begin..byte].encode_utf16().count() + 1,
            );
            assert_eq!(at(&text, byte), expected, "byte {byte}");
        }
    }
}
