//! What somebody has put among our own: a port of a Service, a key of a selector, an environment variable. An apply leaves
//! alone what another writer owns, so it is taken away by name, from the very object that was looked at.

use serde_json::{Value, json};

use crate::diff::{Bucket, ObjectReport, Op};

/// The patch (RFC 6902) that takes the additions away. `None`: there are none that an apply would leave.
pub(super) fn removal(report: &ObjectReport, live: &Value) -> Option<Value> {
    let added = report.changes.iter().filter(|change| change.bucket == Bucket::Drift && change.op == Op::Remove);
    let mut paths: Vec<Vec<String>> = added.filter_map(|change| resolved(&change.path, live)).collect();
    if paths.is_empty() {
        return None;
    }
    // From the end of each list, so that the places of the others stay what they are.
    paths.sort_by(|one, other| places(other).cmp(&places(one)));
    let version = &live["metadata"]["resourceVersion"];
    let test = json!({"op": "test", "path": "/metadata/resourceVersion", "value": version});
    let remove = |steps: Vec<String>| json!({"op": "remove", "path": format!("/{}", steps.join("/"))});
    Some(std::iter::once(test).chain(paths.into_iter().map(remove)).collect())
}

/// Numbers by their size, names behind them.
fn places(steps: &[String]) -> Vec<(usize, &str)> {
    steps.iter().map(|step| step.parse().map_or((usize::MAX, step.as_str()), |index| (index, ""))).collect()
}

/// The steps of a path of a report in the live object, items by their places. `None`: it is not there, or it stands in a list
/// that is applied as a whole.
fn resolved(path: &str, live: &Value) -> Option<Vec<String>> {
    let mut here = live;
    let mut steps = Vec::new();
    let mut last = "";
    for step in path.split('/').skip(1) {
        last = step;
        let found = match here {
            Value::Array(items) => match step.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
                Some(keys) => items.iter().position(|item| has(item, keys))?,
                None => step.parse().ok()?,
            }
            .to_string(),
            _ => step.to_owned(),
        };
        here = match here {
            Value::Array(items) => items.get(found.parse::<usize>().ok()?)?,
            other => other.get(found.replace("~1", "/").replace("~0", "~"))?,
        };
        steps.push(found);
    }
    (!last.bytes().all(|byte| byte.is_ascii_digit())).then_some(steps)
}

/// Whether an item has these values: `port=1,protocol=TCP`.
fn has(item: &Value, keys: &str) -> bool {
    keys.split(',').all(|key| {
        let Some((name, value)) = key.split_once('=') else { return false };
        let value = value.replace("~1", "/").replace("~0", "~");
        match &item[name] {
            Value::String(text) => *text == value,
            Value::Number(number) => number.to_string() == value,
            _ => false,
        }
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::resolved;

    #[test]
    fn an_item_is_found_by_its_keys_and_a_list_of_one_owner_is_left_to_the_apply() {
        let live = json!({"spec": {
            "ports": [{"port": 5432, "protocol": "TCP"}, {"port": 1, "protocol": "TCP"}],
            "selector": {"a/b": "x"}, "ingress": [{}]}});
        let of = |path: &str| resolved(path, &live).map(|steps| steps.join("/"));
        assert_eq!(of("/spec/ports/[port=1,protocol=TCP]").as_deref(), Some("spec/ports/1"));
        assert_eq!(of("/spec/selector/a~1b").as_deref(), Some("spec/selector/a~1b"));
        assert_eq!(of("/spec/ports/[port=2,protocol=TCP]"), None);
        assert_eq!(of("/spec/ingress/0"), None);
        assert_eq!(of("/spec/absent"), None);
    }
}
