//! Data of Secrets: facts that are rendered, and keys that are filled inside the cluster.

use std::borrow::Cow;
use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

use crate::engine::StoredKey;

use super::around::Around;
use super::attribution::Managers;
use super::live::HIDDEN;
use super::live::Raw;
use super::path::Step;
use super::rule::Rule;
use super::walk::Walk;
use super::{Bucket, LiveObject, Op};

/// Field manager of whatever fills passwords.
const FILLER: &str = "dbrender-credentials";

/// Note on a key that was filled once and is gone.
pub(super) const VANISHED: &str = "was filled inside the cluster and is gone";

/// What is to be said about the Secret as a whole.
pub(super) enum Filled {
    /// Nothing.
    Whole,
    /// Nobody has filled it so far, as in the first minutes of a Database.
    NotYet,
}

/// Values of a rendered Secret by key. `stringData` wins over `data`.
pub(super) fn rendered_data(object: &Value) -> BTreeMap<&str, Vec<u8>> {
    let entries = |field: &str| object.get(field).and_then(Value::as_object).into_iter().flatten();
    let mut all = BTreeMap::new();
    for (key, value) in entries("data") {
        // A key that is no base64 is refused by every API server; it is compared as the text that it is.
        let text = value.as_str().unwrap_or_default();
        all.insert(key.as_str(), STANDARD.decode(text).unwrap_or_else(|_| text.as_bytes().to_vec()));
    }
    for (key, value) in entries("stringData") {
        all.insert(key.as_str(), value.as_str().unwrap_or_default().as_bytes().to_vec());
    }
    all
}

/// Compares the data. Values leave this function only as a token.
pub(super) fn compare<'a>(
    walk: &mut Walk<'a>,
    desired: &'a Value,
    live: &'a LiveObject,
    around: &Around<'_>,
) -> Filled {
    let wanted = rendered_data(desired);
    let filled = filled_keys(around, &live.name);
    let mut missing = Vec::new();
    walk.at(Step::Field("data"), |walk| {
        for (&key, value) in &wanted {
            walk.at(Step::Field(key), |walk| match live.secret.get(key) {
                Some(have) if have.reveal() == value.as_slice() => {}
                Some(_) => walk.report(Bucket::Drift, Op::Replace, HIDDEN.into(), HIDDEN.into(), ""),
                None => walk.report(Bucket::Drift, Op::Add, HIDDEN.into(), Value::Null, ""),
            });
        }
        for (key, value) in &live.secret {
            if wanted.contains_key(key.as_str()) {
                continue;
            }
            let is_filled = filled.contains(&key.as_str());
            walk.at(Step::Field(key), |walk| match (is_filled, value.reveal().is_empty()) {
                // An empty value counts as missing for whoever fills, too.
                (true, true) => {}
                (true, false) => walk.ignore(Rule::Filled),
                (false, _) => walk.report(Bucket::Foreign, Op::Remove, Value::Null, HIDDEN.into(), ""),
            });
        }
        missing
            .extend(filled.iter().filter(|key| live.secret.get(**key).is_none_or(|value| value.reveal().is_empty())));
    });
    if missing.is_empty() {
        return Filled::Whole;
    }
    let was_filled = around.was_filled() || Managers::read(live.managed_fields.as_ref().map(Raw::bytes)).has(FILLER);
    if !was_filled {
        return Filled::NotYet;
    }
    walk.at(Step::Field("data"), |walk| {
        for key in missing {
            walk.at(Step::Field(key), |walk| walk.report(Bucket::Drift, Op::Add, HIDDEN.into(), Value::Null, VANISHED));
        }
    });
    Filled::Whole
}

/// Keys that are filled inside the cluster, for a rendered Secret.
fn filled_keys(around: &Around<'_>, secret: &str) -> Vec<&'static str> {
    let Some(engine) = around.engine else { return Vec::new() };
    let keys = if secret == around.app_secret() {
        engine.app_keys()
    } else if secret == around.admin_secret() {
        engine.admin_keys()
    } else {
        &[]
    };
    keys.iter().map(|key| key.key()).collect()
}

/// Keys that a Secret of `spec.credentials` has to have: the URI follows from the others and is the owner's own affair.
pub(super) fn required_keys(around: &Around<'_>, secret: &str) -> Vec<&'static str> {
    let Some(engine) = around.engine else { return Vec::new() };
    let app = (secret == around.app_secret()).then(|| engine.app_keys());
    let admin = (secret == around.admin_secret()).then(|| engine.admin_keys());
    let keys = app.into_iter().chain(admin).flatten();
    keys.filter(|key| !matches!(key, StoredKey::Uri(_))).map(|key| key.key()).collect()
}

/// The command that fills what is missing.
pub(super) fn fill_command(around: &Around<'_>) -> String {
    format!(
        "dbrender credentials fill --namespace {} --engine {} --app-secret {} --admin-secret {}",
        around.namespace,
        around.engine_word,
        around.app_secret(),
        around.admin_secret(),
    )
}

/// What the Secret is in sync but for.
pub(super) const fn reason(filled: &Filled) -> Cow<'static, str> {
    Cow::Borrowed(match filled {
        Filled::Whole => "",
        Filled::NotYet => "not filled yet",
    })
}
