//! Labels and annotations: what the API server allows, what is ours, and the annotations that steer us.

use std::collections::BTreeMap;

use super::{Subject, kubernetes_name};
use crate::api::{FORCE_PRIMARY, Failover, GROUP, MAINTENANCE_WINDOW, ROTATE_CREDENTIALS, STEERING, Window};
use crate::engine;
use crate::plan::{Credentials, ForcePrimary};
use crate::problem::{Code, FieldPath, Problem, Problems, nearest};

/// Largest sum of all keys and values of annotations, in bytes.
const ANNOTATIONS_MAX: usize = 256 << 10;

/// Checks the labels and annotations of a Database.
pub(super) fn check(subject: &Subject<'_>, out: &mut Problems) {
    let metadata = &subject.database.metadata;
    let (labels, annotations) = (FieldPath::of("metadata.labels"), FieldPath::of("metadata.annotations"));
    if let Some(entries) = &metadata.labels {
        self::labels(entries, &labels, Code::InvalidLabel, out);
        for key in entries.keys().filter(|key| is_ours(key)) {
            let message = format!("the label {key} is dbrender's own, for the objects that it makes");
            out.push(Problem::new(Code::ReservedLabel, labels.key(key.as_str()), message).on_key());
        }
    }
    if let Some(entries) = &metadata.annotations {
        self::annotations(entries, &annotations, Code::InvalidLabel, out);
        for key in entries.keys().filter(|key| is_ours(key) && !STEERING.contains(&key.as_str())) {
            let problem = Problem::new(
                Code::InvalidAnnotation,
                annotations.key(key.as_str()),
                format!("dbrender knows no annotation {key}"),
            )
            .on_key();
            out.push(match nearest(key, STEERING) {
                Some(near) => problem.with_hint(format!("did you mean {near}?")),
                None => problem.with_hint(format!("remove it; there are {}", STEERING.join(", "))),
            });
        }
    }
}

/// Whether a key belongs to this project's API group.
pub(super) fn is_ours(key: &str) -> bool {
    key.split_once('/').is_some_and(|(prefix, _)| {
        prefix == GROUP || prefix.strip_suffix(GROUP).is_some_and(|rest| rest.ends_with('.'))
    })
}

/// Keys and values of labels.
pub(super) fn labels(entries: &BTreeMap<String, String>, path: &FieldPath, code: Code, out: &mut Problems) {
    for (key, value) in entries {
        let here = path.key(key.as_str());
        if let Err(reason) = kubernetes_name::qualified_name(key) {
            out.push(Problem::new(code, here.clone(), format!("the label key {key:?} must {reason}")).on_key());
        }
        if let Err(reason) = kubernetes_name::label_value(value) {
            out.report(code, here, format!("the value of label {key} must {reason}"));
        }
    }
}

/// Keys of annotations, and the size of all.
pub(super) fn annotations(entries: &BTreeMap<String, String>, path: &FieldPath, code: Code, out: &mut Problems) {
    for (key, value) in entries {
        let here = path.key(key.as_str());
        // The API server looks at the key in lower case.
        if let Err(reason) = kubernetes_name::qualified_name(&key.to_lowercase()) {
            out.push(Problem::new(code, here.clone(), format!("the annotation key {key:?} must {reason}")).on_key());
        }
        control_characters(value, &here, out);
    }
    let size: usize = entries.iter().map(|(key, value)| key.len() + value.len()).sum();
    if size > ANNOTATIONS_MAX {
        let message = format!("the annotations have {size} bytes, Kubernetes takes at most {ANNOTATIONS_MAX}");
        out.push(Problem::new(code, path.clone(), message).with_hint("shorten or remove some of them"));
    }
}

/// A warning for characters that other tools do not read back.
pub(super) fn control_characters(value: &str, path: &FieldPath, out: &mut Problems) {
    let odd = |c: char| (c.is_control() && !"\n\t".contains(c)) || "\u{2028}\u{2029}\u{feff}".contains(c);
    if let Some(character) = value.chars().find(|c| odd(*c)) {
        out.report(
            Code::ControlCharacter,
            path.clone(),
            format!("the value holds the character U+{:04X}", u32::from(character)),
        );
    }
}

/// The annotation that promotes a member which may lack the last writes.
pub(super) fn force_primary(subject: &Subject<'_>, out: &mut Problems) -> Option<ForcePrimary> {
    let value = subject.database.metadata.annotations.as_ref()?.get(FORCE_PRIMARY)?;
    let path = FieldPath::of("metadata.annotations").key(FORCE_PRIMARY);
    let spec = subject.spec;
    let Some(forced) = read_force_primary(value) else {
        let message = format!("{FORCE_PRIMARY} must be <ordinal>/<timeline>, found {value:?}");
        out.push(Problem::new(Code::InvalidAnnotation, path, message).with_hint(
            "write the ordinal of the new primary, a slash and the timeline of its volume, for example \"1/3\"",
        ));
        return None;
    };
    let primary = spec.primary.unwrap_or(0);
    if spec.failover != Failover::Manual {
        let message = format!("{FORCE_PRIMARY} is set and the members elect their primary themselves");
        out.push(
            Problem::new(Code::InvalidAnnotation, path, message)
                .with_hint("remove the annotation, or set failover: Manual"),
        );
        None
    } else if i32::from(forced.ordinal) != primary {
        let message =
            format!("{FORCE_PRIMARY} names member {} and the primary is {primary}: it does nothing", forced.ordinal);
        out.report(Code::AnnotationLeftBehind, path, message);
        None
    } else {
        let message = format!(
            "member {} is promoted even if it lacks the last writes, while its volume is on timeline {}",
            forced.ordinal, forced.timeline
        );
        out.push(
            Problem::new(Code::AnnotationLeftBehind, path, message)
                .with_hint("remove the annotation as soon as the member is the primary"),
        );
        Some(forced)
    }
}

/// When members may restart because of a change.
pub(super) fn maintenance(subject: &Subject<'_>, out: &mut Problems) -> Option<Window> {
    let value = subject.database.metadata.annotations.as_ref()?.get(MAINTENANCE_WINDOW)?;
    Window::parse(value)
        .map_err(|reason| {
            let path = FieldPath::of("metadata.annotations").key(MAINTENANCE_WINDOW);
            let message = format!("{MAINTENANCE_WINDOW} must {reason}; found {value:?}");
            out.push(
                Problem::new(Code::InvalidAnnotation, path, message).with_hint("write days, a space and two times"),
            );
        })
        .ok()
}

/// Passwords that are to be made anew: keys of the two Secrets, or `all`.
pub(super) fn rotation(
    subject: &Subject<'_>,
    credentials: Option<&Credentials>,
    out: &mut Problems,
) -> Vec<&'static str> {
    let annotations = subject.database.metadata.annotations.as_ref();
    let Some(value) = annotations.and_then(|all| all.get(ROTATE_CREDENTIALS)) else { return Vec::new() };
    let (Some(engine), Some(credentials)) = (subject.engine, credentials) else { return Vec::new() };
    let path = FieldPath::of("metadata.annotations").key(ROTATE_CREDENTIALS);
    if !matches!(credentials, Credentials::Generated { .. }) {
        let message = format!("{ROTATE_CREDENTIALS} is set and others make the passwords of this Database");
        out.push(
            Problem::new(Code::InvalidAnnotation, path, message)
                .with_hint("change them where they are made, and remove the annotation"),
        );
        return Vec::new();
    }
    let passwords = engine::passwords(engine);
    let wanted: Vec<&str> = value.split(',').map(str::trim).collect();
    if wanted == ["all"] {
        return passwords;
    }
    if let Some(unknown) = wanted.iter().find(|name| !passwords.contains(name)) {
        let message = format!("{ROTATE_CREDENTIALS} names {unknown:?}, which is no password of this Database");
        let hint = format!("name some of {}, with commas between, or all", passwords.join(", "));
        out.push(Problem::new(Code::InvalidAnnotation, path, message).with_hint(hint));
        return Vec::new();
    }
    passwords.into_iter().filter(|name| wanted.contains(name)).collect()
}

/// `<ordinal>/<timeline>`: plain digits; timelines count from 1.
fn read_force_primary(text: &str) -> Option<ForcePrimary> {
    let (ordinal, timeline) = text.split_once('/')?;
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    if !digits(ordinal) || !digits(timeline) {
        return None;
    }
    let forced = ForcePrimary { ordinal: ordinal.parse().ok()?, timeline: timeline.parse().ok()? };
    (forced.ordinal < 7 && forced.timeline > 0).then_some(forced)
}

/// Labels and annotations that the renderer writes, or that steer the tools which apply our objects.
const RENDERED: [&str; 8] = [
    "app.kubernetes.io/component",
    "app.kubernetes.io/instance",
    "app.kubernetes.io/managed-by",
    "app.kubernetes.io/name",
    "argocd.argoproj.io/ignore-healthcheck",
    "argocd.argoproj.io/sync-options",
    "helm.sh/resource-policy",
    "kustomize.toolkit.fluxcd.io/prune",
];

/// Refuses what the renderer writes itself, where a user or the platform adds labels or annotations to its objects.
pub(super) fn reserved(entries: &BTreeMap<String, String>, path: &FieldPath, out: &mut Problems) {
    for key in entries.keys().filter(|key| is_ours(key) || RENDERED.contains(&key.as_str())) {
        out.push(
            Problem::new(Code::ReservedLabel, path.key(key.as_str()), format!("{key} is written by dbrender itself"))
                .on_key(),
        );
    }
}
