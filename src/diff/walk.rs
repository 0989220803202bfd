//! Two trees side by side, by the table of fields. Time grows with the size of the trees and no faster.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde_json::{Map, Value};

use crate::api::Quantity;

use super::defaults::{Extra, Field, Fill, Key, Kind};
use super::path::Step;
use super::rule::{Ignored, Rule};
use super::{Bucket, Minor, Op};

/// A difference, before anybody has said what it means.
#[derive(Clone, Debug)]
pub(super) struct Found<'a> {
    pub(super) steps: Vec<Step<'a>>,
    pub(super) bucket: Bucket,
    pub(super) op: Op,
    pub(super) desired: Value,
    pub(super) live: Value,
    /// More than the class says, where there is more.
    pub(super) note: &'static str,
}

/// A comparison of one object.
pub(super) struct Walk<'a> {
    kind: &'a str,
    minor: Minor,
    steps: Vec<Step<'a>>,
    pub(super) found: Vec<Found<'a>>,
    pub(super) ignored: Ignored,
}

/// What stands in for an object that one side lacks.
pub(super) static EMPTY: LazyLock<Map<String, Value>> = LazyLock::new(Map::new);

impl<'a> Walk<'a> {
    pub(super) fn new(kind: &'a str, minor: Minor) -> Walk<'a> {
        Walk { kind, minor, steps: Vec::new(), found: Vec::new(), ignored: Ignored::default() }
    }

    /// Goes down one step for the length of a call.
    pub(super) fn at(&mut self, step: Step<'a>, inside: impl FnOnce(&mut Walk<'a>)) {
        self.steps.push(step);
        inside(self);
        self.steps.pop();
    }

    pub(super) fn report(&mut self, bucket: Bucket, op: Op, desired: Value, live: Value, note: &'static str) {
        self.found.push(Found { steps: self.steps.clone(), bucket, op, desired, live, note });
    }

    pub(super) fn ignore(&mut self, rule: Rule) {
        self.ignored.count(rule, &self.steps);
    }

    /// Only live has it.
    pub(super) fn addition(&mut self, extra: Extra, live: &Value) {
        match Rule::of_addition(self.kind, &self.steps, live) {
            Some(rule) => self.ignore(rule),
            None => {
                let bucket = match extra {
                    Extra::Drift => Bucket::Drift,
                    Extra::Foreign => Bucket::Foreign,
                };
                self.report(bucket, Op::Remove, Value::Null, live.clone(), "");
            }
        }
    }

    fn replace(&mut self, desired: &Value, live: &Value) {
        self.report(Bucket::Drift, Op::Replace, desired.clone(), live.clone(), "");
    }

    /// Both have it.
    pub(super) fn value(&mut self, kind: &'static Kind, desired: &'a Value, live: &'a Value) {
        match (kind, desired, live) {
            (Kind::Fields(table) | Kind::Presence(table), Value::Object(desired), Value::Object(live)) => {
                self.fields(table, desired, live);
            }
            (Kind::Map(item, extra), Value::Object(desired), Value::Object(live)) => {
                self.map(item, *extra, desired, live);
            }
            (Kind::Keyed(keys, item, extra), Value::Array(desired), Value::Array(live)) => {
                self.keyed(keys, item, *extra, desired, live);
            }
            (Kind::Items(item, extra), Value::Array(desired), Value::Array(live)) => {
                self.items(item, *extra, desired, live);
            }
            (Kind::Json, Value::Object(desired), Value::Object(live)) => self.map(kind, Extra::Drift, desired, live),
            (Kind::Json, Value::Array(wanted), Value::Array(have)) if wanted.len() == have.len() => {
                for (index, (wanted, have)) in wanted.iter().zip(have).enumerate() {
                    self.at(Step::Index(index), |walk| walk.value(kind, wanted, have));
                }
            }
            (Kind::Words, Value::Array(wanted), Value::Array(have)) => {
                if wanted.len() == have.len() {
                    for (index, (wanted, have)) in wanted.iter().zip(have).enumerate() {
                        if !same(wanted, have) {
                            self.at(Step::Index(index), |walk| walk.replace(wanted, have));
                        }
                    }
                } else {
                    self.replace(desired, live);
                }
            }
            (Kind::Set, Value::Array(wanted), Value::Array(have)) => {
                // A word that stands twice means the same, but somebody wrote it.
                let sorted = |list: &[Value]| {
                    let mut words: Vec<String> = list.iter().map(text_of).collect();
                    words.sort_unstable();
                    words
                };
                if sorted(wanted) != sorted(have) {
                    self.replace(desired, live);
                }
            }
            (Kind::Quantity, desired, live) => match (amount(desired), amount(live)) {
                (Some(wanted), Some(have)) if wanted == have => {
                    if desired != live {
                        self.ignore(Rule::Spelling);
                    }
                }
                _ if desired == live => {}
                _ => self.replace(desired, live),
            },
            (_, desired, live) => {
                if !same(desired, live) {
                    self.replace(desired, live);
                }
            }
        }
    }

    /// The fields of an object.
    fn fields(&mut self, table: &'static [Field], desired: &'a Map<String, Value>, live: &'a Map<String, Value>) {
        self.fields_but(&[], table, desired, live);
    }

    /// The fields of an object, without some that are compared in another way.
    pub(super) fn fields_but(
        &mut self,
        others: &[&str],
        table: &'static [Field],
        desired: &'a Map<String, Value>,
        live: &'a Map<String, Value>,
    ) {
        for (name, wanted) in desired.iter().filter(|(name, _)| !others.contains(&name.as_str())) {
            let field = table.iter().find(|field| field.name == name);
            if is_absent(wanted, field) {
                continue;
            }
            let have = live.get(name).filter(|have| !is_absent(have, field));
            self.at(Step::Field(name), |walk| match (have, field) {
                (Some(have), Some(field)) => walk.value(field.kind, wanted, have),
                (Some(have), None) => {
                    if wanted != have {
                        walk.replace(wanted, have);
                    }
                }
                (None, field) => walk.gone(field, wanted, desired),
            });
        }
        for (name, have) in live.iter().filter(|(name, _)| !others.contains(&name.as_str())) {
            let field = table.iter().find(|field| field.name == name);
            if is_absent(have, field) || desired.get(name).is_some_and(|wanted| !is_absent(wanted, field)) {
                continue;
            }
            self.at(Step::Field(name), |walk| walk.extra(field, have, desired, live));
        }
    }

    /// Live lacks a field that we render. What the server would fill in anyway is no difference.
    fn gone(&mut self, field: Option<&'static Field>, wanted: &'a Value, siblings: &Map<String, Value>) {
        let Some(field) = field else { return self.report(Bucket::Drift, Op::Add, wanted.clone(), Value::Null, "") };
        match field.fill.at(self.minor) {
            Fill::Zero if is_zero(wanted) => {}
            Fill::Object => {
                if let (Kind::Fields(table), Value::Object(wanted)) = (field.kind, wanted) {
                    self.fields(table, wanted, &EMPTY);
                }
            }
            fill if is_filled(fill, wanted, siblings) => self.ignore(Rule::RenderedDefault),
            _ => self.report(Bucket::Drift, Op::Add, wanted.clone(), Value::Null, ""),
        }
    }

    /// Live has a field that we do not render.
    fn extra(
        &mut self,
        field: Option<&'static Field>,
        have: &'a Value,
        desired: &Map<String, Value>,
        live: &Map<String, Value>,
    ) {
        let Some(field) = field else { return self.addition(Extra::Foreign, have) };
        match field.fill.at(self.minor) {
            Fill::Zero if is_zero(have) => {}
            Fill::Assigned(test) if test(have) => self.ignore(Rule::Assigned),
            Fill::Object => match (field.kind, have) {
                (Kind::Fields(table), Value::Object(have)) => self.fields(table, &EMPTY, have),
                _ => self.addition(field.alone, have),
            },
            fill if is_filled(fill, have, desired) || is_filled(fill, have, live) => self.ignore(Rule::ServerDefault),
            _ => self.addition(field.alone, have),
        }
    }

    /// A map with free keys.
    pub(super) fn map(
        &mut self,
        item: &'static Kind,
        extra: Extra,
        desired: &'a Map<String, Value>,
        live: &'a Map<String, Value>,
    ) {
        for (key, wanted) in desired.iter().filter(|(_, wanted)| !wanted.is_null()) {
            self.at(Step::Field(key), |walk| match live.get(key).filter(|have| !have.is_null()) {
                Some(have) => walk.value(item, wanted, have),
                None => walk.report(Bucket::Drift, Op::Add, wanted.clone(), Value::Null, ""),
            });
        }
        for (key, have) in live.iter().filter(|(_, have)| !have.is_null()) {
            if desired.get(key).is_none_or(Value::is_null) {
                self.at(Step::Field(key), |walk| walk.addition(extra, have));
            }
        }
    }

    fn keyed(
        &mut self,
        keys: &'static [Key],
        item: &'static Kind,
        extra: Extra,
        desired: &'a [Value],
        live: &'a [Value],
    ) {
        let mut places: BTreeMap<String, usize> = BTreeMap::new();
        let mut twice = Vec::new();
        for (index, have) in live.iter().enumerate() {
            let mut first = true;
            places.entry(key_text(keys, have)).and_modify(|_| first = false).or_insert(index);
            if !first {
                twice.push(index);
            }
        }
        let mut paired = Vec::with_capacity(desired.len());
        for wanted in desired {
            let place = places.remove(&key_text(keys, wanted));
            self.at(step_of(keys, wanted), |walk| match place.and_then(|index| live.get(index)) {
                Some(have) => walk.value(item, wanted, have),
                None => walk.report(Bucket::Drift, Op::Add, wanted.clone(), Value::Null, ""),
            });
            paired.extend(place);
        }
        // What is left is in the order of its keys; a reader expects the order of the list.
        let mut rest: Vec<usize> = places.into_values().collect();
        rest.sort_unstable();
        for have in rest.into_iter().filter_map(|index| live.get(index)) {
            self.at(step_of(keys, have), |walk| walk.addition(extra, have));
        }
        for have in twice.into_iter().filter_map(|index| live.get(index)) {
            self.at(step_of(keys, have), |walk| {
                walk.report(Bucket::Drift, Op::Remove, Value::Null, have.clone(), "it stands twice in the list");
            });
        }
        if !paired.is_sorted() && self.in_template() {
            let wanted = desired.iter().map(|item| Value::from(name_of(keys, item))).collect();
            paired.sort_unstable();
            let have = paired.iter().filter_map(|&index| live.get(index)).map(|item| Value::from(name_of(keys, item)));
            let have = have.collect();
            self.report(Bucket::Drift, Op::Replace, wanted, have, "the order differs");
        }
    }

    fn in_template(&self) -> bool {
        self.steps.contains(&Step::Field("template"))
    }

    /// Items that are equal are paired wherever they stand, the rest in their order.
    fn items(&mut self, item: &'static Kind, extra: Extra, desired: &'a [Value], live: &'a [Value]) {
        let (mut wanted, mut have): (Vec<usize>, Vec<usize>) =
            ((0..desired.len()).collect(), (0..live.len()).collect());
        if desired != live {
            let mut places: BTreeMap<String, Vec<usize>> = BTreeMap::new();
            for (index, value) in live.iter().enumerate().rev() {
                places.entry(canonical(value)).or_default().push(index);
            }
            let mut taken = vec![false; live.len()];
            wanted.retain(|&index| {
                match desired.get(index).and_then(|value| places.get_mut(&canonical(value))).and_then(Vec::pop) {
                    Some(place) => {
                        taken[place] = true;
                        false
                    }
                    None => true,
                }
            });
            have.retain(|&index| !taken[index]);
        }
        for (place, &index) in wanted.iter().enumerate() {
            let Some(wanted) = desired.get(index) else { continue };
            let have = have.get(place).and_then(|&index| live.get(index));
            self.at(Step::Index(index), |walk| match have {
                Some(have) => walk.value(item, wanted, have),
                None => walk.report(Bucket::Drift, Op::Add, wanted.clone(), Value::Null, ""),
            });
        }
        for &index in have.iter().skip(wanted.len()) {
            if let Some(have) = live.get(index) {
                self.at(Step::Index(index), |walk| walk.addition(extra, have));
            }
        }
    }
}

/// Absent, null and empty are one, except where being there means something (API conventions).
fn is_absent(value: &Value, field: Option<&Field>) -> bool {
    match value {
        Value::Null => true,
        Value::Array(items) => items.is_empty(),
        Value::Object(map) => {
            map.values().all(Value::is_null) && !matches!(field.map(|field| field.kind), Some(Kind::Presence(_)))
        }
        _ => false,
    }
}

fn is_zero(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Bool(value) => !value,
        Value::Number(number) => number.as_f64() == Some(0.0),
        Value::String(text) => text.is_empty(),
        Value::Array(_) | Value::Object(_) => false,
    }
}

/// Whether it is what the server fills in.
fn is_filled(fill: Fill, value: &Value, siblings: &Map<String, Value>) -> bool {
    match fill {
        Fill::Int(number) => value.as_i64() == Some(number),
        Fill::Text(text) => value.as_str() == Some(text),
        Fill::Bool(flag) => value.as_bool() == Some(flag),
        Fill::List(words) => value
            .as_array()
            .is_some_and(|items| items.iter().map(Value::as_str).eq(words.iter().map(|&word| Some(word)))),
        Fill::Same(other) => siblings.get(other).is_some_and(|other| same(other, value)),
        Fill::Computed(computed, _) => computed(siblings) == *value,
        Fill::Zero => is_zero(value),
        Fill::Nothing | Fill::Object | Fill::Assigned(_) | Fill::Until(..) => false,
    }
}

/// Numbers by amount, texts by their letters.
fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => match (a.as_i64(), b.as_i64()) {
            (Some(a), Some(b)) => a == b,
            _ => a.as_f64() == b.as_f64(),
        },
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(key, value)| b.get(key).is_some_and(|other| same(value, other)))
        }
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b)),
        _ => a == b,
    }
}

/// A quantity, which JSON may also write as a number.
pub(super) fn amount(value: &Value) -> Option<Quantity> {
    match value {
        Value::String(text) => Quantity::parse(text).ok(),
        Value::Number(number) => Quantity::parse(&number.to_string()).ok(),
        _ => None,
    }
}

fn text_of(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// As text, with the keys of every object in order.
fn canonical(value: &Value) -> String {
    let mut text = String::new();
    write_canonical(value, &mut text);
    text
}

fn write_canonical(value: &Value, text: &mut String) {
    match value {
        Value::Array(items) => {
            text.push('[');
            for item in items {
                write_canonical(item, text);
                text.push(',');
            }
            text.push(']');
        }
        Value::Object(map) => {
            text.push('{');
            let mut entries: Vec<(&String, &Value)> = map.iter().filter(|(_, value)| !value.is_null()).collect();
            entries.sort_unstable_by_key(|(key, _)| *key);
            for (key, value) in entries {
                text.push_str(&Value::from(key.as_str()).to_string());
                text.push(':');
                write_canonical(value, text);
                text.push(',');
            }
            text.push('}');
        }
        scalar => text.push_str(&scalar.to_string()),
    }
}

/// The value of a key, which may lie one level deeper: `metadata.name`.
fn key_of<'a>(key: &Key, item: &'a Value) -> Cow<'a, str> {
    let mut value = Some(item);
    for part in key.name.split('.') {
        value = value.and_then(|value| value.get(part));
    }
    match value {
        None | Some(Value::Null) => Cow::Borrowed(key.absent),
        Some(Value::String(text)) => Cow::Borrowed(text),
        Some(other) => Cow::Owned(other.to_string()),
    }
}

/// All keys of an item as one text. No key holds a zero byte that would make two of them one: not a name, number or path.
fn key_text(keys: &[Key], item: &Value) -> String {
    keys.iter().map(|key| key_of(key, item)).collect::<Vec<_>>().join("\0")
}

fn step_of<'a>(keys: &'static [Key], item: &'a Value) -> Step<'a> {
    let last = |name: &'static str| name.rsplit('.').next().unwrap_or(name);
    Step::Item(keys.iter().map(|key| (last(key.name), key_of(key, item))).collect())
}

fn name_of(keys: &[Key], item: &Value) -> String {
    keys.iter().map(|key| key_of(key, item)).collect::<Vec<_>>().join("/")
}
