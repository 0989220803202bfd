//! The checked platform file: what every Database of a repository stands on.

use std::collections::BTreeMap;

use super::{backup::VOLUME, kubernetes_name, label};
use crate::api::{
    BackupDestination, CredentialsMode, EngineName, Generator, PlatformSettings, Quantity, S3, SizedVolume, StoreKind,
};
use crate::engine::{self, NEWEST_EDITION, helper_image, rclone_image};
use crate::plan::{Bucket, Credentials, Destination, Monitoring, Volume};
use crate::problem::{Code, FieldPath, Problem, Problems, nearest};

/// Logical class of backup claims that nobody chose one for.
const STANDARD: &str = "standard";
/// Size of backup claims that nobody chose one for, in bytes: 100 GiB. It never changes: a claim cannot shrink.
const VOLUME_SIZE: u64 = 100 << 30;
/// How often an external store is asked again, where the platform file does not say.
const REFRESH_INTERVAL: &str = "1h0m0s";

/// The platform file, checked, with every default filled in.
#[derive(Clone, Debug, PartialEq)]
pub struct Ground {
    /// Edition of the image catalog; it exists.
    pub(super) catalog: u32,
    pub(super) images: BTreeMap<String, String>,
    pub(super) registry_mirror: BTreeMap<String, String>,
    pub(super) image_pull_secrets: Vec<String>,
    pub(super) storage_classes: BTreeMap<String, String>,
    /// By name; `volume` is always there.
    pub(super) destinations: BTreeMap<String, GroundDestination>,
    pub(super) credentials: CredentialsMode,
    pub(super) generator: Generator,
    /// There when the mode is external.
    pub(super) store: Option<Credentials>,
    monitoring: bool,
    monitoring_details: Monitoring,
    pub(super) network_policy: bool,
    pub(super) cluster_domain: String,
    pub(super) labels: BTreeMap<String, String>,
    pub(super) annotations: BTreeMap<String, String>,
    pub(super) limits: GroundLimits,
}

/// A destination and the namespaces that may read backups of others there.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct GroundDestination {
    pub(super) destination: Destination,
    pub(super) shared_with: Vec<String>,
}

/// Limits as values.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct GroundLimits {
    pub(super) max_replicas: Option<i32>,
    pub(super) max_storage: Option<Quantity>,
    pub(super) engines: Option<Vec<EngineName>>,
    pub(super) namespaces: Option<Vec<String>>,
}

impl Ground {
    /// The storage class of a logical name.
    pub(super) fn storage_class<'a>(&'a self, logical: &'a str) -> &'a str {
        self.storage_classes.get(logical).map_or(logical, String::as_str)
    }

    /// The exporter, when the Database or else the platform wants one.
    pub(super) fn monitoring(&self, wanted: Option<bool>) -> Option<Monitoring> {
        wanted.unwrap_or(self.monitoring).then(|| self.monitoring_details.clone())
    }

    /// Who fills generated Secrets.
    #[must_use]
    pub const fn generator(&self) -> Generator {
        self.generator
    }

    /// Number of the edition of the image catalog.
    #[must_use]
    pub const fn catalog(&self) -> u32 {
        self.catalog
    }
}

impl Default for Ground {
    /// The ground of a repository without a platform file.
    fn default() -> Self {
        let volume = Destination::Volume(Volume { size: Quantity::of_bytes(VOLUME_SIZE), class: STANDARD.to_owned() });
        Ground {
            catalog: 1,
            images: BTreeMap::new(),
            registry_mirror: BTreeMap::new(),
            image_pull_secrets: Vec::new(),
            storage_classes: BTreeMap::new(),
            destinations: BTreeMap::from([(
                VOLUME.to_owned(),
                GroundDestination { destination: volume, shared_with: Vec::new() },
            )]),
            credentials: CredentialsMode::default(),
            generator: Generator::default(),
            store: None,
            monitoring: false,
            monitoring_details: Monitoring::default(),
            network_policy: true,
            cluster_domain: "cluster.local".to_owned(),
            labels: BTreeMap::new(),
            annotations: BTreeMap::new(),
            limits: GroundLimits::default(),
        }
    }
}

/// Checks the platform file. Problems carry paths of that file. `None`: one of them is an error.
pub fn ground(settings: &PlatformSettings, out: &mut Problems) -> Option<Ground> {
    let mut problems = Problems::new();
    let mut ground = Ground::default();
    let check = &mut Check { settings, out: &mut problems };
    ground.catalog = check.catalog();
    check.images(&mut ground);
    check.names(&mut ground);
    check.destinations(&mut ground);
    check.credentials(&mut ground);
    check.labels(&mut ground);
    check.limits(&mut ground);
    let good = !problems.has_errors();
    out.extend(problems);
    good.then_some(ground)
}

struct Check<'a> {
    settings: &'a PlatformSettings,
    out: &'a mut Problems,
}

impl Check<'_> {
    fn fail(&mut self, path: FieldPath, message: String, hint: &str) {
        self.out.push(Problem::new(Code::InvalidPlatform, path, message).with_hint(hint));
    }

    fn must(&mut self, path: FieldPath, what: &str, value: &str, valid: Result<(), String>) {
        if let Err(reason) = valid {
            self.fail(path, format!("{what} {value:?} must {reason}"), Code::InvalidPlatform.hint());
        }
    }

    fn catalog(&mut self) -> u32 {
        let path = FieldPath::of("catalog");
        let edition = self.settings.catalog.unwrap_or(1);
        if !(1..=NEWEST_EDITION).contains(&edition) {
            self.out.report(
                Code::UnknownCatalog,
                path,
                format!("the catalog has editions 1 to {NEWEST_EDITION}, found {edition}"),
            );
            return 1;
        }
        if edition < NEWEST_EDITION {
            self.out.report(
                Code::NewerCatalog,
                path,
                format!("edition {edition} of the catalog is in use; the newest is {NEWEST_EDITION}"),
            );
        }
        edition
    }

    fn images(&mut self, ground: &mut Ground) {
        let path = FieldPath::of("images");
        let known = references();
        for (reference, own) in &self.settings.images {
            if !known.contains(&reference.as_str()) {
                let near = nearest(reference, known.iter().copied());
                let hint = near.map_or_else(
                    || "write an image of the catalog in full, as the rendered objects name it".to_owned(),
                    |near| format!("did you mean {near}?"),
                );
                let problem = Problem::new(
                    Code::InvalidPlatform,
                    path.key(reference.as_str()),
                    format!("no edition of the catalog has the image {reference}"),
                );
                self.out.push(problem.with_hint(hint).on_key());
            }
            if !is_pinned(own) {
                let message = format!("{own:?} is no image with a tag or digest of its own");
                self.fail(
                    path.key(reference.as_str()),
                    message,
                    "write registry/name:tag or registry/name@sha256:…; latest changes under a running database",
                );
            }
        }
        let path = FieldPath::of("registryMirror");
        for (registry, mirror) in &self.settings.registry_mirror {
            if !is_registry(registry) {
                let problem = Problem::new(
                    Code::InvalidPlatform,
                    path.key(registry.as_str()),
                    format!("{registry:?} is no registry"),
                );
                self.out.push(problem.with_hint("write the host alone, for example docker.io").on_key());
            }
            let (host, rest) = mirror.split_once('/').unwrap_or((mirror, "x"));
            if !is_registry(host) || !is_image_path(rest) {
                self.fail(
                    path.key(registry.as_str()),
                    format!("{mirror:?} is no place of a registry"),
                    "write a host, and a path if there is one, without a scheme and without a slash at the end",
                );
            }
        }
        ground.images.clone_from(&self.settings.images);
        ground.registry_mirror.clone_from(&self.settings.registry_mirror);
    }

    /// Names of other objects, and the cluster's domain.
    fn names(&mut self, ground: &mut Ground) {
        for (index, name) in self.settings.image_pull_secrets.iter().enumerate() {
            self.must(
                FieldPath::of("imagePullSecrets").index(index),
                "the Secret",
                name,
                kubernetes_name::object_name(name),
            );
        }
        for (logical, class) in &self.settings.storage_classes {
            self.must(
                FieldPath::of("storageClasses").key(logical.as_str()),
                "the storage class",
                class,
                kubernetes_name::object_name(class),
            );
        }
        if let Some(domain) = &self.settings.cluster_domain {
            self.must(FieldPath::of("clusterDomain"), "the domain", domain, kubernetes_name::object_name(domain));
            ground.cluster_domain.clone_from(domain);
        }
        ground.image_pull_secrets.clone_from(&self.settings.image_pull_secrets);
        ground.storage_classes.clone_from(&self.settings.storage_classes);
        ground.network_policy = self.settings.network_policy.as_ref().and_then(|policy| policy.enabled).unwrap_or(true);
    }

    fn destinations(&mut self, ground: &mut Ground) {
        let class = ground.storage_class(STANDARD).to_owned();
        if let Some(GroundDestination { destination: Destination::Volume(volume), .. }) =
            ground.destinations.get_mut(VOLUME)
        {
            volume.class = class;
        }
        for (name, wanted) in &self.settings.backup_destinations {
            let path = FieldPath::of("backupDestinations").key(name.as_str());
            let destination = match (&wanted.volume, &wanted.s3) {
                (Some(volume), None) => self.volume(volume, wanted, &path.key("volume"), ground),
                (None, Some(s3)) if name != VOLUME => self.bucket(s3, &path.key("s3")),
                (None, Some(_)) => {
                    self.fail(
                        path.clone(),
                        format!("the destination {VOLUME} is a volume; Databases count on it"),
                        "give the bucket another name",
                    );
                    None
                }
                _ => {
                    self.fail(
                        path.clone(),
                        format!("destination {name} needs exactly one of volume and s3"),
                        "keep one of the two",
                    );
                    None
                }
            };
            for (index, namespace) in wanted.shared_with.iter().enumerate() {
                self.must(
                    path.key("sharedWith").index(index),
                    "the namespace",
                    namespace,
                    kubernetes_name::dns_label(namespace),
                );
            }
            if let Some(destination) = destination {
                ground
                    .destinations
                    .insert(name.clone(), GroundDestination { destination, shared_with: wanted.shared_with.clone() });
            }
        }
    }

    fn volume(
        &mut self,
        wanted: &SizedVolume,
        whole: &BackupDestination,
        path: &FieldPath,
        ground: &Ground,
    ) -> Option<Destination> {
        if !whole.shared_with.is_empty() {
            self.fail(
                path.clone(),
                "a volume cannot be shared with other namespaces".to_owned(),
                "remove sharedWith, or use an S3-compatible store",
            );
        }
        let class = ground.storage_class(&wanted.storage_class).to_owned();
        self.must(path.key("storageClass"), "the storage class", &class, kubernetes_name::object_name(&class));
        let size = self.bytes(&wanted.size, path.key("size"))?;
        Some(Destination::Volume(Volume { size, class }))
    }

    /// A size of whole bytes above zero.
    fn bytes(&mut self, written: &str, path: FieldPath) -> Option<Quantity> {
        let whole = |size: &Quantity| {
            let bytes = size.bytes().filter(|bytes| *bytes < i64::MAX.unsigned_abs());
            size.is_positive() && bytes.is_some_and(|bytes| Quantity::of_bytes(bytes) == *size)
        };
        let size = Quantity::parse(written).ok().filter(whole);
        if size.is_none() {
            self.fail(path, format!("{written:?} is no size of a volume"), "write a size such as 100Gi");
        }
        size
    }

    fn bucket(&mut self, wanted: &S3, path: &FieldPath) -> Option<Destination> {
        let word =
            |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_alphanumeric() || b"-._".contains(&b));
        if !word(&wanted.bucket) {
            self.fail(
                path.key("bucket"),
                format!("{:?} is no name of a bucket", wanted.bucket),
                "write letters, digits, dashes and dots only",
            );
        }
        let parts = |text: &str| text.split('/').all(|part| word(part) && part != "." && part != "..");
        if !wanted.prefix.is_empty() && !parts(&wanted.prefix) {
            self.fail(
                path.key("prefix"),
                format!("{:?} is no path in a bucket", wanted.prefix),
                "write names joined by slashes, without a slash at either end",
            );
        }
        if let Some(endpoint) = &wanted.endpoint
            && !is_url(endpoint)
        {
            self.fail(
                path.key("endpoint"),
                format!("{endpoint:?} is no URL"),
                "write https://host or https://host:port",
            );
        }
        for (field, value) in [("region", &wanted.region), ("provider", &wanted.provider)] {
            if let Some(value) = value
                && !word(value)
            {
                self.fail(path.key(field), format!("{value:?} is no {field}"), "write one word, without blanks");
            }
        }
        self.must(
            path.key("secretName"),
            "the Secret",
            &wanted.secret_name,
            kubernetes_name::object_name(&wanted.secret_name),
        );
        let provider = wanted
            .provider
            .clone()
            .unwrap_or_else(|| if wanted.endpoint.is_some() { "Other" } else { "AWS" }.to_owned());
        Some(Destination::S3(Bucket {
            bucket: wanted.bucket.clone(),
            prefix: wanted.prefix.clone(),
            endpoint: wanted.endpoint.clone(),
            region: wanted.region.clone(),
            provider,
            secret: wanted.secret_name.clone(),
        }))
    }

    fn credentials(&mut self, ground: &mut Ground) {
        let Some(wanted) = &self.settings.credentials else { return };
        ground.credentials = wanted.mode.unwrap_or_default();
        ground.generator = wanted.generator.unwrap_or_default();
        let path = FieldPath::of("credentials");
        match (&wanted.store, ground.credentials) {
            (None, CredentialsMode::External) => self.fail(
                path.key("store"),
                "credentials mode external needs a store".to_owned(),
                "add store with the name of a ClusterSecretStore",
            ),
            (Some(_), CredentialsMode::Generated | CredentialsMode::Existing) => {
                self.fail(
                    path.key("store"),
                    "a store is of use with credentials mode external only".to_owned(),
                    "remove store, or set mode: external",
                );
            }
            _ => {}
        }
        if wanted.generator.is_some() && ground.credentials != CredentialsMode::Generated {
            self.fail(
                path.key("generator"),
                "a generator is of use with credentials mode generated only".to_owned(),
                "remove generator, or set mode: generated",
            );
        }
        let Some(store) = &wanted.store else { return };
        let path = path.key("store");
        self.must(path.key("name"), "the store", &store.name, kubernetes_name::object_name(&store.name));
        let refresh_interval = store.refresh_interval.clone().unwrap_or_else(|| REFRESH_INTERVAL.to_owned());
        if !is_go_duration(&refresh_interval) {
            self.fail(
                path.key("refreshInterval"),
                format!("{refresh_interval:?} is no duration"),
                "write hours, minutes and seconds, for example 1h0m0s",
            );
        }
        label::control_characters(&store.prefix, &path.key("prefix"), self.out);
        let prefix = store.prefix.trim_end_matches('/');
        ground.store = Some(Credentials::External {
            store: store.name.clone(),
            kind: match store.kind {
                StoreKind::ClusterSecretStore => "ClusterSecretStore",
                StoreKind::SecretStore => "SecretStore",
            }
            .to_owned(),
            prefix: if prefix.is_empty() { String::new() } else { format!("{prefix}/") },
            refresh_interval,
        });
    }

    fn labels(&mut self, ground: &mut Ground) {
        let settings = self.settings;
        let (labels, annotations) = (FieldPath::of("labels"), FieldPath::of("annotations"));
        label::labels(&settings.labels, &labels, Code::InvalidPlatform, self.out);
        label::reserved(&settings.labels, &labels, self.out);
        label::annotations(&settings.annotations, &annotations, Code::InvalidPlatform, self.out);
        label::reserved(&settings.annotations, &annotations, self.out);
        ground.labels.clone_from(&settings.labels);
        ground.annotations.clone_from(&settings.annotations);
        let Some(wanted) = &settings.monitoring else { return };
        let path = FieldPath::of("monitoring");
        label::labels(&wanted.labels, &path.key("labels"), Code::InvalidPlatform, self.out);
        label::reserved(&wanted.labels, &path.key("labels"), self.out);
        if let Some(selector) = &wanted.namespace_selector {
            label::labels(
                &selector.match_labels,
                &path.join("namespaceSelector.matchLabels"),
                Code::InvalidPlatform,
                self.out,
            );
        }
        ground.monitoring = wanted.enabled.unwrap_or(false);
        ground.monitoring_details =
            Monitoring { namespace_selector: wanted.namespace_selector.clone(), labels: wanted.labels.clone() };
    }

    fn limits(&mut self, ground: &mut Ground) {
        let Some(wanted) = &self.settings.limits else { return };
        let path = FieldPath::of("limits");
        if let Some(largest) = wanted.max_replicas
            && !(1..=7).contains(&largest)
        {
            self.fail(
                path.key("maxReplicas"),
                format!("maxReplicas must be between 1 and 7, found {largest}"),
                "use a number within the bounds",
            );
        }
        let max_storage = wanted.max_storage.as_ref().and_then(|size| self.bytes(size, path.key("maxStorage")));
        for (index, namespace) in wanted.namespaces.iter().flatten().enumerate() {
            self.must(
                path.key("namespaces").index(index),
                "the namespace",
                namespace,
                kubernetes_name::dns_label(namespace),
            );
        }
        ground.limits = GroundLimits {
            max_replicas: wanted.max_replicas,
            max_storage,
            engines: wanted.engines.clone(),
            namespaces: wanted.namespaces.clone(),
        };
    }
}

/// Every image of every edition.
fn references() -> Vec<&'static str> {
    let mut all = Vec::new();
    for edition in 1..=NEWEST_EDITION {
        all.extend([helper_image(edition), rclone_image(edition)].into_iter().flatten());
        for engine in engine::ALL {
            all.push(engine.exporter_image(edition));
            all.extend(engine.releases(edition).iter().flat_map(|r| [r.automatic.reference, r.manual.reference]));
        }
    }
    all
}

/// A host, and a port if there is one.
fn is_registry(text: &str) -> bool {
    let (host, port) = text.split_once(':').unwrap_or((text, "1"));
    kubernetes_name::object_name(host).is_ok() && port.parse::<u16>().is_ok_and(|port| port > 0)
}

/// Names joined by slashes.
fn is_image_path(text: &str) -> bool {
    let good = |part: &str| {
        let bytes = part.as_bytes();
        let ends = |byte: Option<&u8>| byte.is_some_and(|b| b.is_ascii_lowercase() || b.is_ascii_digit());
        ends(bytes.first())
            && ends(bytes.last())
            && bytes.iter().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b"-_.".contains(b))
    };
    text.split('/').all(good)
}

/// An image reference with a tag other than `latest`, or a digest.
fn is_pinned(text: &str) -> bool {
    let (named, digest) = match text.split_once('@') {
        Some((named, digest)) => (named, Some(digest)),
        None => (text, None),
    };
    let hexadecimal =
        |text: &str| text.len() == 64 && text.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b));
    if digest.is_some_and(|digest| !digest.strip_prefix("sha256:").is_some_and(hexadecimal)) {
        return false;
    }
    let after_slash = named.rfind('/').map_or(0, |at| at + 1);
    let (path, tag) = match named[after_slash..].split_once(':') {
        Some((name, tag)) => (&named[..after_slash + name.len()], Some(tag)),
        None => (named, None),
    };
    let good_tag = |tag: &str| {
        tag.len() <= 128
            && tag != "latest"
            && tag.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.".contains(&b))
            && tag.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_')
    };
    let good_path = match path.split_once('/') {
        Some((registry, rest)) => (is_registry(registry) && is_image_path(rest)) || is_image_path(path),
        None => is_image_path(path),
    };
    good_path && tag.is_none_or(good_tag) && (tag.is_some() || digest.is_some())
}

/// `http` or `https`, a host, a port if there is one.
fn is_url(text: &str) -> bool {
    let rest = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
    rest.is_some_and(|rest| is_registry(rest.strip_suffix('/').unwrap_or(rest)))
}

/// A duration above zero as Go prints and reads it, in hours, minutes and seconds.
fn is_go_duration(text: &str) -> bool {
    let mut rest = text;
    let mut any = false;
    for unit in ['h', 'm', 's'] {
        if let Some((number, after)) = rest.split_once(unit) {
            if number.is_empty() || !number.bytes().all(|b| b.is_ascii_digit()) || number.len() > 9 {
                return false;
            }
            any |= number.bytes().any(|b| b != b'0');
            rest = after;
        }
    }
    rest.is_empty() && any
}

#[cfg(test)]
mod tests;
