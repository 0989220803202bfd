//! Words of reports, statuses, events and metrics: what `explain` says of them. Every text stands where the word is
//! defined; nothing is written twice.

use schemars::{JsonSchema, SchemaGenerator};
use serde_json::Value;

use super::wrapped;
use crate::api::{self, DeletionPolicy, EngineName, Failover, Phase, Replication, ServiceType, StoreKind, Told};
use crate::diff::{Bucket, Impact, Status};

/// A word, what kind of word it is, and what it means.
pub(super) struct Word {
    pub(super) name: String,
    kind: String,
    text: String,
    more: Option<String>,
}

/// The words of a type and their comments.
fn words_of<T: JsonSchema>() -> Vec<(String, String)> {
    words_in(&SchemaGenerator::default().into_root_schema_for::<T>().to_value())
}

/// The words of a schema that lists them with their comments. A word that may be absent stands one level deeper.
pub(super) fn words_in(schema: &Value) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let word = |case: &Value| Some((text(&case["const"])?, text(&case["description"])?));
    let schema = schema.pointer("/anyOf/0").unwrap_or(schema);
    schema["oneOf"].as_array().into_iter().flatten().filter_map(word).collect()
}

/// What each of these words means, when a type has just these.
pub(super) fn meanings(words: &[&str]) -> Option<Vec<(String, String)>> {
    let types = [
        words_of::<EngineName>(),
        words_of::<Failover>(),
        words_of::<Replication>(),
        words_of::<DeletionPolicy>(),
        words_of::<ServiceType>(),
        words_of::<StoreKind>(),
        words_of::<Phase>(),
    ];
    types.into_iter().find(|of| of.iter().map(|(word, _)| word.as_str()).eq(words.iter().copied()))
}

/// Every word, by kind.
pub(super) fn all() -> Vec<Word> {
    let listed = |kind: &str, words: Vec<(String, String)>, more: Option<String>| {
        let word = |(name, text)| Word { name, kind: kind.to_owned(), text, more: more.clone() };
        words.into_iter().map(word).collect::<Vec<_>>()
    };
    let told = |kind: &str, words: &[Told]| {
        let pairs = words.iter().map(|word| (word.name.to_owned(), word.text.to_owned()));
        listed(kind, pairs.collect(), None)
    };
    let classes: Vec<&str> = Impact::ALL.iter().map(|class| class.as_str()).collect();
    let order = format!("From harmless to worst: {}.", classes.join(", "));
    let metrics = api::METRICS.iter().map(|metric| Word {
        name: metric.name.to_owned(),
        kind: format!("{} of the controller", metric.kind),
        text: metric.text.to_owned(),
        more: (!metric.labels.is_empty()).then(|| format!("Labels: {}.", metric.labels.join(", "))),
    });
    [
        listed("class of a difference: what putting it right does", words_of::<Impact>(), Some(order)),
        listed("status of an object in a report", words_of::<Status>(), None),
        listed("kind of difference in a report", words_of::<Bucket>(), None),
        listed("phase of a Database", words_of::<Phase>(), None),
        told("condition of a Database", api::CONDITIONS),
        told("reason of a condition and of its event", api::REASONS),
        told("event of a Database", api::EVENTS),
        metrics.collect(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// What a word means; a word of two kinds is explained twice. `None`: there is none.
pub(super) fn text_of(what: &str) -> Option<String> {
    let texts: Vec<String> = all().iter().filter(|word| word.name == what).map(described).collect();
    (!texts.is_empty()).then(|| texts.join("\n"))
}

fn described(word: &Word) -> String {
    let mut text = wrapped(&format!("{} ({})", word.name, word.kind), "", "  ");
    text.push('\n');
    text += &wrapped(&word.text, "", "");
    if let Some(more) = &word.more {
        text.push('\n');
        text += &wrapped(more, "", "");
    }
    text
}

/// All names, for whoever asks without one.
pub(super) fn names() -> String {
    let all = all();
    let mut kinds: Vec<&str> = all.iter().map(|word| word.kind.as_str()).collect();
    kinds.dedup();
    let line = |kind: &&str| {
        let names: Vec<&str> = all.iter().filter(|word| word.kind == *kind).map(|word| word.name.as_str()).collect();
        wrapped(&names.join(", "), &format!("{kind}: "), "  ")
    };
    kinds.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::{all, meanings, text_of};
    use crate::cli::explain::WIDTH;
    use crate::diff::Impact;

    #[test]
    fn every_word_has_a_text_that_fits_a_terminal() {
        let words = all();
        assert!(Impact::ALL.iter().all(|class| words.iter().any(|word| word.name == class.as_str())));
        assert!(words.len() > 50, "{}", words.len());
        for word in words {
            let text = text_of(&word.name).unwrap();
            assert!(word.text.len() > 7 && word.text.ends_with('.'), "{}: {}", word.name, word.text);
            assert!(text.lines().all(|line| line.chars().count() <= WIDTH), "{text}");
        }
    }

    #[test]
    fn a_word_of_two_kinds_is_explained_twice() {
        let text = text_of("Failed").unwrap();
        assert!(text.contains("phase of a Database") && text.contains("reason of a condition"), "{text}");
        assert!(text_of("Filed").is_none());
    }

    #[test]
    fn the_values_of_a_field_have_their_meaning() {
        assert!(meanings(&["Automatic", "Manual"]).unwrap()[1].1.contains("person"));
        assert!(meanings(&["Manual"]).is_none());
    }
}
