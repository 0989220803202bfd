//! Fills the passwords of rendered Secrets inside the cluster, once. Used by the rendered Job, the controller and people.
//!
//! Only keys that are missing are added, so a second run changes nothing and a lost race costs nothing. The connection
//! URI is the one key that is recomputed: it follows from the others.

use std::collections::BTreeMap;
use std::time::Duration;

use kube::api::{GetParams, Patch, PatchParams};
use kube::core::{ObjectMeta, Request};
use kube::{Client, Error};
use serde::{Deserialize, Serialize};
use tokio::time::{Instant, sleep};

use crate::engine::{Engine, StoredKey};

use super::Hidden;

/// Field manager of everything that is filled, so that an apply of the rendered Secret leaves it alone.
const FIELD_MANAGER: &str = "dbrender-credentials";
/// Characters of a password: none that a shell, a URI or a configuration file treats specially.
const ALPHABET: &[u8; 62] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
/// Characters in a password: 32 of 62 are 190 bits.
const LENGTH: usize = 32;
/// Between two looks at what is not there yet.
const PAUSE: Duration = Duration::from_secs(2);

/// Whose Secrets are filled.
#[derive(Clone, Debug)]
pub struct Owner {
    /// Namespace of both.
    pub namespace: String,
    /// Secret for applications.
    pub app: String,
    /// Secret for the server's own users.
    pub admin: String,
}

/// What was done to one Secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Filled {
    /// Name of the Secret.
    pub secret: String,
    /// Keys that were written, by name. Empty: it was complete.
    pub keys: Vec<String>,
}

/// Why the Secrets are not filled.
#[derive(Debug, thiserror::Error)]
pub enum FillError {
    /// A Secret is not there.
    #[error("Secret {namespace}/{name} does not exist; apply the rendered manifests first")]
    Missing {
        /// Namespace.
        namespace: String,
        /// Name.
        name: String,
    },
    /// The Role does not let us.
    #[error(
        "not allowed to {verb} Secret {namespace}/{name}; the Role and RoleBinding of the credentials may be missing"
    )]
    Forbidden {
        /// `get` or `patch`.
        verb: &'static str,
        /// Namespace.
        namespace: String,
        /// Name.
        name: String,
    },
    /// Something else went wrong; the server's words, which hold no value.
    #[error("{0}")]
    Server(String),
    /// The operating system has no random bytes.
    #[error("no random bytes: {0}")]
    Random(#[from] getrandom::Error),
}

impl FillError {
    /// Whether waiting may help: objects that are applied together arrive in any order.
    fn may_pass(&self) -> bool {
        !matches!(self, FillError::Random(_))
    }
}

/// A Secret as far as it concerns us. Kubernetes' own type would print its values.
#[derive(Debug, Deserialize)]
struct Stored {
    metadata: ObjectMeta,
    #[serde(default)]
    data: BTreeMap<String, Hidden>,
}

#[derive(Debug, Serialize)]
struct Change<'a> {
    metadata: Version<'a>,
    data: &'a BTreeMap<String, Hidden>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Version<'a> {
    /// The server refuses the patch when somebody else has written in between.
    resource_version: Option<&'a str>,
}

/// Fills both Secrets, waiting up to `wait` for them and for the right to write them.
///
/// # Errors
/// The last thing that stood in the way.
pub async fn fill(
    client: &Client,
    engine: &dyn Engine,
    owner: &Owner,
    wait: Duration,
) -> Result<Vec<Filled>, FillError> {
    let deadline = Instant::now() + wait;
    loop {
        match fill_once(client, engine, owner).await {
            Err(error) if error.may_pass() && Instant::now() < deadline => sleep(PAUSE).await,
            done => return done,
        }
    }
}

async fn fill_once(client: &Client, engine: &dyn Engine, owner: &Owner) -> Result<Vec<Filled>, FillError> {
    // The server's own passwords first: an application that sees its Secret complete may connect at once.
    let mut done = Vec::new();
    for (name, keys) in [(&owner.admin, engine.admin_keys()), (&owner.app, engine.app_keys())] {
        let stored = get(client, &owner.namespace, name).await?;
        let missing = missing(engine, keys, &stored.data)?;
        if !missing.is_empty() {
            patch(client, &owner.namespace, name, &stored, &missing).await?;
        }
        done.push(Filled { secret: name.clone(), keys: missing.into_keys().collect() });
    }
    Ok(done)
}

/// Makes passwords anew, by their keys. The rest stays, but for the URI that follows from them.
///
/// # Errors
/// What stood in the way. A Secret that was changed at the same time is one: try again.
pub async fn rotate(
    client: &Client,
    engine: &dyn Engine,
    owner: &Owner,
    passwords: &[&str],
) -> Result<Vec<Filled>, FillError> {
    let mut done = Vec::new();
    for (name, keys) in [(&owner.admin, engine.admin_keys()), (&owner.app, engine.app_keys())] {
        let is_asked = |key: &StoredKey| matches!(key, StoredKey::Password(key) if passwords.contains(key));
        if !keys.iter().any(is_asked) {
            continue;
        }
        let stored = get(client, &owner.namespace, name).await?;
        // Without the old value, it is one that is missing.
        let rest: BTreeMap<String, Hidden> = stored
            .data
            .iter()
            .filter(|(key, _)| !passwords.contains(&key.as_str()))
            .map(|(key, value)| (key.clone(), value.clone()))
            .collect();
        let change = missing(engine, keys, &rest)?;
        patch(client, &owner.namespace, name, &stored, &change).await?;
        done.push(Filled { secret: name.clone(), keys: change.into_keys().collect() });
    }
    Ok(done)
}

/// What has to be written: keys that are absent or empty, and a URI that is not what the others say.
fn missing(
    engine: &dyn Engine,
    keys: &[StoredKey],
    stored: &BTreeMap<String, Hidden>,
) -> Result<BTreeMap<String, Hidden>, FillError> {
    let mut missing = BTreeMap::new();
    let is_there = |key: &str| stored.get(key).is_some_and(|value| !value.reveal().is_empty());
    for key in keys {
        match key {
            StoredKey::Password(name) if !is_there(name) => {
                missing.insert((*name).to_owned(), Hidden::new(password()?));
            }
            StoredKey::KeyFile(name, bytes) if !is_there(name) => {
                missing.insert((*name).to_owned(), Hidden::new(key_file(*bytes)?));
            }
            StoredKey::Password(_) | StoredKey::KeyFile(..) | StoredKey::Uri(_) => {}
        }
    }
    for key in keys {
        let StoredKey::Uri(name) = key else { continue };
        let text = |key: &str| {
            let value = missing.get(key).or_else(|| stored.get(key))?;
            String::from_utf8(value.reveal().to_vec()).ok()
        };
        if let Some(uri) = engine.uri(&text).map(|uri| Hidden::new(uri.into_bytes()))
            && stored.get(*name) != Some(&uri)
        {
            missing.insert((*name).to_owned(), uri);
        }
    }
    Ok(missing)
}

fn password() -> Result<Vec<u8>, FillError> {
    let mut password = Vec::with_capacity(LENGTH);
    let mut bytes = [0u8; 64];
    while password.len() < LENGTH {
        getrandom::fill(&mut bytes)?;
        // A byte of 248 and above would make the first letters likelier than the last.
        let fair = bytes.iter().filter(|&&byte| byte < 248).map(|&byte| ALPHABET[usize::from(byte % 62)]);
        password.extend(fair.take(LENGTH - password.len()));
    }
    Ok(password)
}

fn key_file(length: usize) -> Result<Vec<u8>, FillError> {
    use base64::Engine as _;
    let mut bytes = vec![0u8; length];
    getrandom::fill(&mut bytes)?;
    Ok(base64::engine::general_purpose::STANDARD.encode(bytes).into_bytes())
}

async fn get(client: &Client, namespace: &str, name: &str) -> Result<Stored, FillError> {
    let request = Request::new(path(namespace))
        .get(name, &GetParams::default())
        .map_err(|error| FillError::Server(error.to_string()))?;
    client.request::<Stored>(request).await.map_err(|error| refused(error, "get", namespace, name))
}

async fn patch(
    client: &Client,
    namespace: &str,
    name: &str,
    stored: &Stored,
    data: &BTreeMap<String, Hidden>,
) -> Result<(), FillError> {
    let version = Version { resource_version: stored.metadata.resource_version.as_deref() };
    let change = Patch::Merge(Change { metadata: version, data });
    let params = PatchParams { field_manager: Some(FIELD_MANAGER.to_owned()), ..PatchParams::default() };
    let request = Request::new(path(namespace))
        .patch(name, &params, &change)
        .map_err(|error| FillError::Server(error.to_string()))?;
    client.request::<Stored>(request).await.map(drop).map_err(|error| refused(error, "patch", namespace, name))
}

fn path(namespace: &str) -> String {
    format!("/api/v1/namespaces/{namespace}/secrets")
}

fn refused(error: Error, verb: &'static str, namespace: &str, name: &str) -> FillError {
    let (namespace, name) = (namespace.to_owned(), name.to_owned());
    match error {
        Error::Api(status) if status.code == 404 => FillError::Missing { namespace, name },
        Error::Api(status) if status.code == 403 => FillError::Forbidden { verb, namespace, name },
        // The server's words may quote what it was sent, and this stands in the log of a Job.
        Error::Api(status) => FillError::Server(format!(
            "cannot {verb} Secret {namespace}/{name}: the server answers {} {}",
            status.code, status.reason
        )),
        // A decoding error could quote the body.
        Error::SerdeError(_) => {
            FillError::Server(format!("the server's answer for Secret {namespace}/{name} is not understood"))
        }
        other => FillError::Server(format!("cannot {verb} Secret {namespace}/{name}: {other}")),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::{Hidden, missing, password};
    use crate::api::EngineName;
    use crate::engine::{self, Engine};

    fn postgresql() -> &'static dyn Engine {
        engine::by_name(EngineName::Postgresql).unwrap()
    }

    fn stored(pairs: &[(&str, &str)]) -> BTreeMap<String, Hidden> {
        pairs.iter().map(|(key, value)| ((*key).to_owned(), Hidden::new(value.as_bytes().to_vec()))).collect()
    }

    const FACTS: [(&str, &str); 4] =
        [("host", "db.ns.svc.cluster.local"), ("port", "5432"), ("database", "app"), ("username", "app")];

    #[test]
    fn what_is_there_is_never_replaced() {
        let mut have = stored(&FACTS);
        have.insert("password".to_owned(), Hidden::new(b"mine".to_vec()));
        let written = missing(postgresql(), postgresql().app_keys(), &have).unwrap();
        assert_eq!(written.keys().collect::<Vec<_>>(), ["uri"]);
        have.extend(written);
        assert!(
            missing(postgresql(), postgresql().app_keys(), &have).unwrap().is_empty(),
            "a second run writes nothing"
        );
    }

    #[test]
    fn the_uri_escapes_what_a_uri_has_to() {
        let mut have = stored(&FACTS);
        have.insert("password".to_owned(), Hidden::new(b"a@b/c:d%e f?g#h".to_vec()));
        let written = missing(postgresql(), postgresql().app_keys(), &have).unwrap();
        assert_eq!(
            String::from_utf8(written["uri"].reveal().to_vec()).unwrap(),
            "postgresql://app:a%40b%2Fc%3Ad%25e%20f%3Fg%23h@db.ns.svc.cluster.local:5432/app"
        );
    }

    #[test]
    fn an_empty_value_counts_as_missing() {
        let have = stored(&[("backup-password", "")]);
        let written = missing(postgresql(), postgresql().admin_keys(), &have).unwrap();
        assert_eq!(written.len(), postgresql().admin_keys().len());
    }

    #[test]
    fn passwords_differ_and_need_no_quoting() {
        let (a, b) = (password().unwrap(), password().unwrap());
        assert_eq!(a.len(), 32);
        assert_ne!(a, b);
        assert!(a.iter().all(u8::is_ascii_alphanumeric));
    }
}
