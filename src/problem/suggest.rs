//! The nearest known word to a misspelt one.

/// The candidate that differs least from `word`, when it differs little enough to be what was meant.
///
/// Letter case does not count. A third of the word's letters may be wrong, one at least.
#[must_use]
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // A key of a mebibyte has no near neighbour, and the comparison is quadratic.
    if word.len() > 64 {
        return None;
    }
    let word: Vec<char> = word.to_lowercase().chars().collect();
    let limit = (word.len() / 3).max(1);
    candidates
        .into_iter()
        .map(|candidate| (distance(&word, &candidate.to_lowercase().chars().collect::<Vec<_>>()), candidate))
        .filter(|(distance, _)| *distance <= limit)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// Damerau-Levenshtein distance of neighbours: insert, delete, replace, swap two.
fn distance(a: &[char], b: &[char]) -> usize {
    let mut before_last: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, y) in b.iter().enumerate() {
            let mut best = (last[j] + usize::from(x != y)).min(last[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && *x == b[j - 1] && a[i - 1] == *y {
                best = best.min(before_last[j - 1] + 1);
            }
            row.push(best);
        }
        before_last = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn finds_what_was_meant() {
        let fields = ["engine", "version", "replicas", "storage", "storageClass"];
        assert_eq!(nearest("replica", fields), Some("replicas"));
        assert_eq!(nearest("verison", fields), Some("version"));
        assert_eq!(nearest("storageclass", fields), Some("storageClass"));
        assert_eq!(nearest("colour", fields), None);
        assert_eq!(nearest(&"x".repeat(1 << 20), fields), None);
    }
}
