//! The differing lines of two texts, as hunks with some lines around them.
//!
//! Configuration files and scripts are compared line by line. The cost stays near the size of the texts: equal ends are
//! cut off first, and a middle that is too different to be worth pairing is shown as replaced.

use std::collections::BTreeMap;

/// One line of a hunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Line<'a> {
    /// In both.
    Both(&'a str),
    /// In the first only.
    Old(&'a str),
    /// In the second only.
    New(&'a str),
}

/// Lines that belong together, and the numbers of their first lines in both texts, from 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Hunk<'a> {
    pub(super) old_start: usize,
    pub(super) new_start: usize,
    pub(super) lines: Vec<Line<'a>>,
}

impl Hunk<'_> {
    /// `@@ -3,7 +3,8 @@`, as diff and patch write it.
    pub(super) fn header(&self) -> String {
        let old = self.lines.iter().filter(|line| !matches!(line, Line::New(_))).count();
        let new = self.lines.iter().filter(|line| !matches!(line, Line::Old(_))).count();
        // A side without lines stands behind the line before it.
        let start = |start: usize, count: usize| if count == 0 { start - 1 } else { start };
        format!("@@ -{},{old} +{},{new} @@", start(self.old_start, old), start(self.new_start, new))
    }
}

/// Cells of the table for the longest common subsequence of one middle; above it, lines that occur once pair the texts.
const MOST_CELLS: usize = 1 << 20;

/// The hunks of the difference with `context` lines around each change. None: the texts have equal lines.
pub(super) fn hunks<'a>(old: &'a str, new: &'a str, context: usize) -> Vec<Hunk<'a>> {
    let (old, new): (Vec<&str>, Vec<&str>) = (lines(old), lines(new));
    let mut script = Vec::with_capacity(old.len().max(new.len()));
    compare(&old, &new, true, &mut script);
    cut(&script, context)
}

/// Lines without their ends; a missing last line break is a difference of its own.
fn lines(text: &str) -> Vec<&str> {
    let mut lines: Vec<&str> = text.split('\n').collect();
    match lines.last() {
        Some(&"") => {
            lines.pop();
        }
        _ => lines.push("\\ no line break at the end"),
    }
    lines
}

fn compare<'a>(old: &[&'a str], new: &[&'a str], may_anchor: bool, out: &mut Vec<Line<'a>>) {
    let head = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let tail = old[head..].iter().rev().zip(new[head..].iter().rev()).take_while(|(a, b)| a == b).count();
    out.extend(old[..head].iter().map(|line| Line::Both(line)));
    let (a, b) = (&old[head..old.len() - tail], &new[head..new.len() - tail]);
    if a.is_empty() || b.is_empty() {
        replace(a, b, out);
    } else if a.len().saturating_mul(b.len()) <= MOST_CELLS {
        pair(a, b, out);
    } else if may_anchor {
        anchor(a, b, out);
    } else {
        replace(a, b, out);
    }
    out.extend(old[old.len() - tail..].iter().map(|line| Line::Both(line)));
}

fn replace<'a>(old: &[&'a str], new: &[&'a str], out: &mut Vec<Line<'a>>) {
    out.extend(old.iter().map(|line| Line::Old(line)));
    out.extend(new.iter().map(|line| Line::New(line)));
}

/// The longest common subsequence, by the table of its lengths.
fn pair<'a>(old: &[&'a str], new: &[&'a str], out: &mut Vec<Line<'a>>) {
    let width = new.len() + 1;
    let mut lengths = vec![0u32; (old.len() + 1) * width];
    for i in (0..old.len()).rev() {
        for j in (0..new.len()).rev() {
            lengths[i * width + j] = if old[i] == new[j] {
                lengths[(i + 1) * width + j + 1] + 1
            } else {
                lengths[(i + 1) * width + j].max(lengths[i * width + j + 1])
            };
        }
    }
    let (mut i, mut j) = (0, 0);
    while i < old.len() && j < new.len() {
        if old[i] == new[j] {
            out.push(Line::Both(old[i]));
            (i, j) = (i + 1, j + 1);
        } else if lengths[(i + 1) * width + j] >= lengths[i * width + j + 1] {
            out.push(Line::Old(old[i]));
            i += 1;
        } else {
            out.push(Line::New(new[j]));
            j += 1;
        }
    }
    replace(&old[i..], &new[j..], out);
}

/// Lines that occur once in both texts, and in the same order, cut them into parts that are compared by themselves.
fn anchor<'a>(old: &[&'a str], new: &[&'a str], out: &mut Vec<Line<'a>>) {
    let mut places: BTreeMap<&str, (usize, usize, usize, usize)> = BTreeMap::new();
    for (i, line) in old.iter().enumerate() {
        let place = places.entry(line).or_default();
        (place.0, place.1) = (place.0 + 1, i);
    }
    for (j, line) in new.iter().enumerate() {
        let place = places.entry(line).or_default();
        (place.2, place.3) = (place.2 + 1, j);
    }
    let mut once: Vec<(usize, usize)> =
        places.values().filter(|place| place.0 == 1 && place.2 == 1).map(|place| (place.1, place.3)).collect();
    once.sort_unstable();
    let (mut i, mut j) = (0, 0);
    for (next_i, next_j) in ascending(&once) {
        compare(&old[i..next_i], &new[j..next_j], false, out);
        out.push(Line::Both(old[next_i]));
        (i, j) = (next_i + 1, next_j + 1);
    }
    compare(&old[i..], &new[j..], false, out);
}

/// The longest part of the pairs whose second numbers ascend like the first.
fn ascending(pairs: &[(usize, usize)]) -> Vec<(usize, usize)> {
    // `ends[n]` is the pair that ends the best run of n + 1 pairs so far.
    let mut ends: Vec<usize> = Vec::new();
    let mut before: Vec<Option<usize>> = Vec::with_capacity(pairs.len());
    for (index, pair) in pairs.iter().enumerate() {
        let position = ends.partition_point(|&end| pairs[end].1 < pair.1);
        before.push(position.checked_sub(1).map(|last| ends[last]));
        if position == ends.len() {
            ends.push(index);
        } else {
            ends[position] = index;
        }
    }
    let mut run = Vec::with_capacity(ends.len());
    let mut next = ends.last().copied();
    while let Some(index) = next {
        run.push(pairs[index]);
        next = before[index];
    }
    run.reverse();
    run
}

/// Cuts the lines into hunks: changes that are nearer than twice the context share one.
fn cut<'a>(script: &[Line<'a>], context: usize) -> Vec<Hunk<'a>> {
    let changed: Vec<usize> =
        script.iter().enumerate().filter(|(_, line)| !matches!(line, Line::Both(_))).map(|(index, _)| index).collect();
    let mut ranges: Vec<(usize, usize)> = Vec::new();
    for index in changed {
        let (start, end) = (index.saturating_sub(context), index.saturating_add(context + 1).min(script.len()));
        match ranges.last_mut() {
            Some(last) if start <= last.1 => last.1 = end,
            _ => ranges.push((start, end)),
        }
    }
    let (mut at, mut old, mut new) = (0, 1, 1);
    let mut hunks = Vec::with_capacity(ranges.len());
    for (start, end) in ranges {
        let skipped = start - at;
        // Only equal lines lie between two hunks.
        let hunk = Hunk { old_start: old + skipped, new_start: new + skipped, lines: script[start..end].to_vec() };
        old = hunk.old_start + hunk.lines.iter().filter(|line| !matches!(line, Line::New(_))).count();
        new = hunk.new_start + hunk.lines.iter().filter(|line| !matches!(line, Line::Old(_))).count();
        at = end;
        hunks.push(hunk);
    }
    hunks
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Line, hunks};

    fn shown(old: &str, new: &str, context: usize) -> Vec<String> {
        hunks(old, new, context)
            .iter()
            .flat_map(|hunk| {
                let lines = hunk.lines.iter().map(|line| match line {
                    Line::Both(text) => format!(" {text}"),
                    Line::Old(text) => format!("-{text}"),
                    Line::New(text) => format!("+{text}"),
                });
                std::iter::once(hunk.header()).chain(lines).collect::<Vec<_>>()
            })
            .collect()
    }

    #[test]
    fn shows_what_differs_and_what_is_around_it() {
        assert_eq!(shown("a\nb\nc\nd\n", "a\nb\nx\nd\n", 1), ["@@ -2,3 +2,3 @@", " b", "-c", "+x", " d"]);
        assert_eq!(shown("a\n", "a\nb\n", 0), ["@@ -1,0 +2,1 @@", "+b"]);
        assert!(shown("a\nb\n", "a\nb\n", 3).is_empty());
    }

    #[test]
    fn a_missing_line_break_is_a_difference() {
        assert_eq!(shown("a\n", "a", 0).last().map(String::as_str), Some("+\\ no line break at the end"));
    }

    #[test]
    fn far_changes_are_hunks_of_their_own() {
        let old: String = (0..100).map(|n| format!("{n}\n")).collect();
        let new = old.replace("10\n", "ten\n").replace("90\n", "ninety\n");
        assert_eq!(hunks(&old, &new, 3).len(), 2);
        assert_eq!(hunks(&old, &new, 50).len(), 1);
    }

    /// A value of a mebibyte must not cost more than reading it: a person who breaks a ConfigMap must not stop the report.
    #[test]
    fn two_large_texts_without_a_common_line_end_at_once() {
        let old: String = (0..200_000).map(|n| format!("old {n}\n")).collect();
        let new: String = (0..200_000).map(|n| format!("new {n}\n")).collect();
        assert_eq!(hunks(&old, &new, 3)[0].lines.len(), 400_000);
        let moved: String = (0..200_000).rev().map(|n| format!("old {n}\n")).collect();
        assert!(!hunks(&old, &moved, 3).is_empty());
        let same = "x\n".repeat(200_000);
        assert_eq!(hunks(&same, &format!("{same}y\n"), 0)[0].lines, [Line::New("y")]);
    }

    proptest! {
        /// Whatever the texts, the lines of the script are exactly those of both texts.
        #[test]
        fn nothing_is_lost(old in "([abc]\n){0,12}", new in "([abcd]\n){0,12}") {
            let hunks = hunks(&old, &new, usize::MAX / 4);
            let side = |skip: fn(&Line<'_>) -> bool| -> String {
                let lines = hunks.iter().flat_map(|hunk| &hunk.lines).filter(|line| !skip(line));
                lines.map(|line| match line { Line::Both(t) | Line::Old(t) | Line::New(t) => format!("{t}\n") }).collect()
            };
            if old == new {
                prop_assert!(hunks.is_empty());
            } else {
                prop_assert_eq!(side(|line| matches!(line, Line::New(_))), old.clone());
                prop_assert_eq!(side(|line| matches!(line, Line::Old(_))), new.clone());
            }
        }
    }
}
