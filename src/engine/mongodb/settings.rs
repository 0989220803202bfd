//! The server's settings: ours, those that follow from size and memory, and the user's on top.

use std::collections::BTreeMap;

use super::parameters::{self, Change};
use super::{PORT, rules, value};
use crate::plan::Plan;

const GIB: u64 = 1 << 30;

/// Options that follow from nothing. The key file and the joined certificate are made by `setup.sh`.
const FIXED: [(&str, &str); 6] = [
    ("net.bindIpAll", "true"),
    ("net.unixDomainSocket.pathPrefix", "/var/run/mongodb"),
    ("security.authorization", "enabled"),
    ("security.keyFile", "/var/run/mongodb/keyfile"),
    // A directory in the volume: its root has what a file system puts there.
    ("storage.dbPath", "/data/db/data"),
    ("storage.engine", "wiredTiger"),
];

/// With a certificate. Not `requireTLS`: a member that restarts with it could not be heard by those that have not
/// restarted yet. The agent raises the running server.
const TLS: [(&str, &str); 4] = [
    ("net.tls.CAFile", "/etc/dbrender/tls/ca.crt"),
    // Clients have passwords.
    ("net.tls.allowConnectionsWithoutCertificates", "true"),
    ("net.tls.certificateKeyFile", "/var/run/mongodb/server.pem"),
    ("net.tls.mode", "allowTLS"),
];

/// Every setting that is rendered, by name; the user's value wins.
fn all(plan: &Plan) -> BTreeMap<String, String> {
    let memory = plan.memory.bytes().unwrap_or(0);
    let tls = plan.tls_secret.as_ref().map(|_| TLS).into_iter().flatten();
    let mut all: BTreeMap<String, String> =
        FIXED.into_iter().chain(tls).map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
    all.insert("net.port".to_owned(), PORT.to_string());
    all.insert("replication.replSetName".to_owned(), plan.name.clone());
    all.insert(rules::CACHE.to_owned(), cache(memory));
    all.extend(plan.parameters.iter().map(|(name, value)| (name.clone(), value.clone())));
    all
}

/// Half of the memory above 1 GiB, in GiB with two digits, and 0.25 at least: the server's own rule, which it would
/// apply to the node's memory where it does not see the limit.
fn cache(memory: u64) -> String {
    let hundredths = (u128::from(memory.saturating_sub(GIB)) * 50 / u128::from(GIB)).max(25);
    format!("{}.{:02}", hundredths / 100, hundredths % 100)
}

/// Settings whose change restarts the pods: those that a running server does not take.
pub(super) fn needing_restart(plan: &Plan) -> BTreeMap<String, String> {
    let is_static = |name: &str| parameters::known(name).is_none_or(|parameter| parameter.change == Change::Static);
    all(plan).into_iter().filter(|(name, _)| is_static(name)).collect()
}

/// A mapping of the configuration file, or what stands behind a key, as YAML writes it.
pub(super) enum Node {
    Leaf(String),
    Branch(BTreeMap<String, Node>),
}

/// The configuration file as a tree: `a.b` is `b` below `a`, and a parameter is below `setParameter`.
pub(super) fn tree(plan: &Plan) -> Node {
    let mut root = BTreeMap::new();
    for (name, text) in &all(plan) {
        // `check` lets no unknown one through; what it would be is for the server to say.
        let known = parameters::known(name);
        let leaf = known.map_or_else(|| value::quoted(text), |parameter| value::literal(parameter, text));
        let is_option = known.is_some_and(parameters::Parameter::is_option);
        put(&mut root, &if is_option { name.clone() } else { format!("setParameter.{name}") }, leaf);
    }
    Node::Branch(root)
}

fn put(at: &mut BTreeMap<String, Node>, path: &str, leaf: String) {
    match path.split_once('.') {
        None => {
            at.insert(path.to_owned(), Node::Leaf(leaf));
        }
        Some((head, rest)) => {
            if let Node::Branch(below) = at.entry(head.to_owned()).or_insert_with(|| Node::Branch(BTreeMap::new())) {
                put(below, rest, leaf);
            }
        }
    }
}

/// Parameters that a running server takes, as one JSON object.
pub(super) fn dynamic(plan: &Plan) -> String {
    let all = all(plan);
    let open = all.iter().filter_map(|(name, text)| {
        let parameter = parameters::known(name).filter(|parameter| parameter.change == Change::Dynamic)?;
        Some(format!("{}: {}", value::quoted(name), value::literal(parameter, text)))
    });
    format!("{{{}}}\n", open.collect::<Vec<_>>().join(", "))
}

#[cfg(test)]
mod tests {
    use super::cache;

    /// The worked numbers of the server's manual: half of what is above 1 GiB, and never below 256 MiB.
    #[test]
    fn the_cache_follows_the_limit() {
        for (memory, gigabytes) in [
            (768u64 << 20, "0.25"),
            (1 << 30, "0.25"),
            (1536 << 20, "0.25"),
            (2 << 30, "0.50"),
            (4 << 30, "1.50"),
            (1_000_000_000, "0.25"),
            (512_000_000, "0.25"),
            (64 << 30, "31.50"),
        ] {
            assert_eq!(cache(memory), gigabytes, "{memory}");
        }
    }
}
