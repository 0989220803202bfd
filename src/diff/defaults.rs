//! The closed set of fields that we render: how each is compared, and what the API server fills in where nothing is said.
//!
//! The tables are data, so that the documentation and the tests can list them. A fill that holds only from some minor of
//! Kubernetes on says so. `tests/drift_on_servers.rs` holds them against real API servers.

mod objects;
mod pod;
mod small;
mod stored;
mod workload;

pub use stored::as_stored;

use serde_json::{Map, Value};

use super::Minor;

/// How a value is compared.
#[derive(Clone, Copy, Debug)]
pub(super) enum Kind {
    /// A text, number or boolean.
    Scalar,
    /// An amount: `1000m` is `1`.
    Quantity,
    /// An object with fields of its own.
    Fields(&'static [Field]),
    /// An object whose being there means something even when it is empty, such as `emptyDir: {}`.
    Presence(&'static [Field]),
    /// Keys that anybody may choose.
    Map(&'static Kind, Extra),
    /// A list of objects that Kubernetes tells apart by these fields. Their order changes the object and nothing else, but
    /// in a pod template that is a restart.
    Keyed(&'static [Key], &'static Kind, Extra),
    /// A list whose items are told apart by their whole content.
    Items(&'static Kind, Extra),
    /// A list of words in which order counts.
    Words,
    /// A list of words in which order does not count.
    Set,
    /// Anything; only we may add.
    Json,
}

/// Whose an addition is that only the cluster has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Extra {
    /// Ours to remove: only we may add here.
    Drift,
    /// Somebody else's.
    Foreign,
}

/// A field by which Kubernetes tells the items of a list apart, with the value that stands for an absent one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Key {
    pub(super) name: &'static str,
    pub(super) absent: &'static str,
}

/// A field of an object.
#[derive(Clone, Copy, Debug)]
pub(super) struct Field {
    pub(super) name: &'static str,
    pub(super) kind: &'static Kind,
    pub(super) fill: Fill,
    /// Whose it is when we do not render it and it is not what the server fills in.
    pub(super) alone: Extra,
}

/// What the API server makes of an absent field.
#[derive(Clone, Copy, Debug)]
pub(super) enum Fill {
    /// Nothing.
    Nothing,
    /// The zero of its type, which it does not even print: absent, `""`, `0` and `false` are one value.
    Zero,
    /// A number.
    Int(i64),
    /// A text.
    Text(&'static str),
    /// A boolean.
    Bool(bool),
    /// Words.
    List(&'static [&'static str]),
    /// The value of the field beside it.
    Same(&'static str),
    /// What follows from the fields beside it, and that in words.
    Computed(fn(&Map<String, Value>) -> Value, &'static str),
    /// An object of filled fields.
    Object,
    /// Whatever the server, or a controller of Kubernetes, puts there, as far as the test holds.
    Assigned(fn(&Value) -> bool),
    /// The first up to and with this minor, the second from there on.
    Until(Minor, &'static Fill, &'static Fill),
}

impl Fill {
    /// What it is in a minor.
    pub(super) fn at(self, minor: Minor) -> Fill {
        match self {
            Fill::Until(last, &old, &new) => {
                if minor <= last {
                    old
                } else {
                    new
                }
            }
            fill => fill,
        }
    }
}

/// The fields of a kind beside metadata, which is the same for all.
pub(super) fn fields_of(kind: &str) -> &'static [Field] {
    match kind {
        "ConfigMap" => small::CONFIG_MAP,
        "CronJob" => workload::CRON_JOB,
        "ExternalSecret" => objects::EXTERNAL_SECRET,
        "Job" => workload::JOB,
        "NetworkPolicy" => objects::NETWORK_POLICY,
        "PersistentVolumeClaim" => small::CLAIM,
        "PodDisruptionBudget" => objects::POD_DISRUPTION_BUDGET,
        "PodMonitor" => objects::POD_MONITOR,
        "Role" => small::ROLE,
        "RoleBinding" => small::ROLE_BINDING,
        "Secret" => small::SECRET,
        "Service" => objects::SERVICE,
        "ServiceAccount" => small::SERVICE_ACCOUNT,
        "StatefulSet" => workload::STATEFUL_SET,
        _ => &[],
    }
}

/// One line of the documentation: what the API server fills in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Default {
    /// `StatefulSet`.
    pub kind: &'static str,
    /// `/spec/podManagementPolicy`; `*` stands for the items of a list.
    pub path: String,
    /// As JSON.
    pub value: String,
}

/// What the API server fills in, for every field that we render. A field that is rendered with this value and gone in the
/// cluster is no drift: a server would fill it in again.
#[must_use]
pub fn defaults(minor: Minor) -> Vec<Default> {
    let mut list = Vec::new();
    for kind in super::KINDS.iter().map(|kind| kind.kind) {
        collect(kind, fields_of(kind), minor, &mut String::new(), &mut list);
    }
    list
}

fn collect(kind: &'static str, fields: &[Field], minor: Minor, path: &mut String, list: &mut Vec<Default>) {
    for field in fields {
        let length = path.len();
        path.push('/');
        path.push_str(field.name);
        let value = match field.fill.at(minor) {
            Fill::Int(number) => Some(number.to_string()),
            Fill::Text(text) => Some(format!("{text:?}")),
            Fill::Bool(value) => Some(value.to_string()),
            Fill::List(words) => Some(format!("{words:?}")),
            Fill::Same(other) => Some(format!("the value of {other}")),
            Fill::Computed(_, words) => Some(words.to_owned()),
            Fill::Zero => Some("zero".to_owned()),
            Fill::Nothing | Fill::Object | Fill::Assigned(_) | Fill::Until(..) => None,
        };
        list.extend(value.map(|value| Default { kind, path: path.clone(), value }));
        descend(kind, field.kind, minor, path, list);
        path.truncate(length);
    }
}

fn descend(kind: &'static str, what: &Kind, minor: Minor, path: &mut String, list: &mut Vec<Default>) {
    match what {
        Kind::Fields(fields) | Kind::Presence(fields) => collect(kind, fields, minor, path, list),
        Kind::Keyed(_, item, _) | Kind::Items(item, _) => {
            let length = path.len();
            path.push_str("/*");
            descend(kind, item, minor, path, list);
            path.truncate(length);
        }
        Kind::Scalar | Kind::Quantity | Kind::Map(..) | Kind::Words | Kind::Set | Kind::Json => {}
    }
}

// What the tables are written with.

const SCALAR: &Kind = &Kind::Scalar;
const QUANTITY: &Kind = &Kind::Quantity;
const WORDS: &Kind = &Kind::Words;
const SET: &Kind = &Kind::Set;
/// Labels, annotations and the like.
const OPEN: &Kind = &Kind::Map(SCALAR, Extra::Foreign);
/// Selectors and the like.
const CLOSED: &Kind = &Kind::Map(SCALAR, Extra::Drift);

/// A field that the server leaves alone.
const fn f(name: &'static str, kind: &'static Kind) -> Field {
    Field { name, kind, fill: Fill::Nothing, alone: Extra::Foreign }
}

/// A field in which only we may add.
const fn ours(name: &'static str, kind: &'static Kind) -> Field {
    Field { name, kind, fill: Fill::Nothing, alone: Extra::Drift }
}

/// A field that the server fills in.
const fn d(name: &'static str, kind: &'static Kind, fill: Fill) -> Field {
    Field { name, kind, fill, alone: Extra::Foreign }
}

const fn key(name: &'static str) -> Key {
    Key { name, absent: "" }
}

const NAME: &[Key] = &[key("name")];

const fn anything(_: &Value) -> bool {
    true
}

const LABEL_SELECTOR: &[Field] = &[ours("matchExpressions", MATCH_EXPRESSIONS), ours("matchLabels", CLOSED)];
const MATCH_EXPRESSIONS: &Kind =
    &Kind::Items(&Kind::Fields(&[f("key", SCALAR), f("operator", SCALAR), ours("values", SET)]), Extra::Drift);
const SELECTOR: &Kind = &Kind::Presence(LABEL_SELECTOR);
