//! `Database` to `Plan`, or every problem at once.
//!
//! Input: a Database, the checked platform. Output: the Plan and warnings, or all problems. It has never heard of files:
//! a problem names a field, and whoever has the text adds the place. The same function serves the command line, the
//! webhook and the controller. One file per topic; nothing else makes a `Plan`.

mod access;
mod backup;
mod credentials;
mod ground;
mod identity;
mod image;
mod kubernetes_name;
mod label;
mod members;
mod policy;
mod resources;
mod restore;
mod scheduling;
mod storage;
#[cfg(test)]
mod tests;
mod together;
mod update;
mod version;

use crate::api::{Database, DatabaseSpec};
use crate::engine::{self, Engine, Release};
use crate::plan::Plan;
use crate::problem::{FieldPath, Problem, Problems, Severity};

pub use ground::{Ground, ground};
pub use policy::admission_policies;
pub use together::{Written, together};
pub use update::update;

/// What became of a Database.
#[derive(Clone, Debug, Default)]
pub struct Checked {
    /// The Plan, when no problem stops it.
    pub plan: Option<Plan>,
    /// Errors and warnings, each at a field of the Database.
    pub problems: Problems,
}

/// What every topic looks at.
struct Subject<'a> {
    database: &'a Database,
    spec: &'a DatabaseSpec,
    ground: &'a Ground,
    /// Name, once it is known to be there.
    name: &'a str,
    /// Namespace, given or chosen; empty when there is none.
    namespace: &'a str,
    /// The engine, when this build renders it.
    engine: Option<&'static dyn Engine>,
    /// The release of the catalog that the version means.
    release: Option<&'static Release>,
}

/// Checks a Database against every rule, and makes its Plan.
///
/// `namespace` is what `--namespace` says: it stands in for an absent one and must not contradict one that is there.
#[must_use]
pub fn check(database: &Database, ground: &Ground, namespace: Option<&str>) -> Checked {
    let mut out = Problems::new();
    let engine = engine::by_name(database.spec.engine);
    let release = version::release(&database.spec, ground, engine, &mut out);
    let subject = Subject {
        database,
        spec: &database.spec,
        ground,
        name: database.metadata.name.as_deref().unwrap_or_default(),
        namespace: database.metadata.namespace.as_deref().or(namespace).unwrap_or_default(),
        engine,
        release,
    };
    let plan = plan(&subject, namespace, &mut out).filter(|_| !out.has_errors());
    let name = if subject.namespace.is_empty() {
        subject.name.to_owned()
    } else {
        format!("{}/{}", subject.namespace, subject.name)
    };
    let stops = out.has_errors();
    let untold = out.len().saturating_sub(TOLD);
    let mut problems: Problems = out.into_iter().take(TOLD).collect();
    if let Some(last) = problems.iter().last().filter(|_| untold > 0).cloned() {
        let message = format!("{untold} more problems of this Database are not shown");
        // Errors among those that are not shown still stop the run.
        let severity = if stops { Severity::Error } else { Severity::Warning };
        problems.push(Problem { severity, message, hint: "mend the ones above first".to_owned(), ..last });
    }
    problems.iter_mut().for_each(|problem| problem.subject = Some(name.clone()));
    Checked { plan, problems }
}

/// Problems of one Database that are told. A hostile one would make a million, of parameters alone.
const TOLD: usize = 200;

/// Every topic is asked before any answer is used, so that all problems are told in one run.
fn plan(subject: &Subject<'_>, flag: Option<&str>, out: &mut Problems) -> Option<Plan> {
    let Subject { spec, ground, .. } = subject;
    identity::check(subject, flag, out);
    label::check(subject, out);
    let storage = storage::volume(subject, out);
    let cpu = resources::cpu(subject, out);
    let memory = resources::memory(subject, out);
    let members = members::check(subject, out);
    let force_primary = label::force_primary(subject, out);
    let maintenance = label::maintenance(subject, out);
    let credentials = credentials::check(subject, out);
    let rotation = label::rotation(subject, credentials.as_ref(), out);
    let tls_secret = credentials::tls_secret(subject, out);
    let backup = backup::check(subject, members.profile, out);
    let restore = restore::check(subject, members.profile, out);
    let access = access::check(subject, out);
    let service = access::service(subject, out);
    let scheduling = scheduling::check(subject, out);
    let engine = subject.engine?;
    engine.check(spec, out);
    let release = subject.release?;
    let parameters = engine.parameters(spec, release.series, out);
    Some(Plan {
        name: subject.name.to_owned(),
        namespace: subject.namespace.to_owned(),
        engine: spec.engine,
        profile: members.profile,
        version: version::plan(release),
        images: image::plan(ground, engine, release, members.profile),
        replicas: members.replicas,
        hibernate: spec.hibernate,
        storage: storage?,
        cpu: cpu?,
        memory: memory?,
        replication: spec.replication,
        primary: members.primary,
        force_primary,
        maintenance,
        rotation,
        database: spec.database.clone(),
        username: spec.username.clone(),
        parameters,
        credentials: credentials?,
        backup: backup?,
        restore,
        deletion_policy: spec.deletion_policy,
        access,
        service,
        tls_secret,
        monitoring: ground.monitoring(spec.monitoring.map(|m| m.enabled)),
        scheduling,
        cluster_domain: ground.cluster_domain.clone(),
        labels: ground.labels.clone(),
        annotations: ground.annotations.clone(),
        image_pull_secrets: ground.image_pull_secrets.clone(),
    })
}

/// A path below `spec`.
fn spec(dotted: &str) -> FieldPath {
    FieldPath::of("spec").join(dotted)
}
