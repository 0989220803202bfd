//! The platform file: one document, and one of its environments laid over it.

use serde_json::{Map, Value};

use super::reader::{Reader, quoted};
use super::trail::Trail;
use super::{Schemas, Source, place, report_read_errors};
use crate::api::{PLATFORM_KIND, PlatformSettings};
use crate::problem::{Code, FieldPath, Place, Problem, Problems, Step, nearest};
use crate::yaml::{self, Kind, Limits, Node};

/// Keys of the file that are no settings.
const NO_SETTINGS: [&str; 4] = ["apiVersion", "kind", "metadata", "environments"];

/// The settings of one environment and the text they were read from.
#[derive(Clone, Debug, PartialEq)]
pub struct DeclaredPlatform {
    /// The settings, the environment laid over them.
    pub settings: PlatformSettings,
    /// Index of the source.
    pub source: usize,
    /// Its tree, to find the place of a field.
    pub root: Node,
    /// The environment that was chosen.
    pub environment: Option<String>,
}

impl DeclaredPlatform {
    /// The same problem with the place of its field: in the environment's overlay where it stands there, otherwise in
    /// the settings of every environment.
    #[must_use]
    pub fn locate(&self, mut problem: Problem) -> Problem {
        if let Some(environment) = self.environment.as_deref().filter(|_| problem.place.is_none()) {
            let mut path = FieldPath::of("environments").key(environment);
            for step in problem.path.steps() {
                path = match step {
                    Step::Key(key) => path.key(key.as_str()),
                    Step::Index(index) => path.index(*index),
                };
            }
            let place = place::of(&self.root, self.source, &path, problem.on_key);
            if !place.absent {
                problem.place = Some(place);
            }
        }
        place::locate(&self.root, self.source, problem)
    }
}

/// Reads the platform file. The file and all of its environments are checked, whichever is chosen.
///
/// An overlay's mappings are merged into those of the file, its lists and values replace them, and a null takes a value
/// away. `None`: a problem has been reported.
pub fn parse_platform(
    index: usize,
    source: &Source,
    environment: Option<&str>,
    schemas: &Schemas,
    out: &mut Problems,
) -> Option<DeclaredPlatform> {
    let (documents, errors) = yaml::read_stream(&source.text, &Limits::default());
    let readable = errors.is_empty();
    report_read_errors(index, errors, out);
    if !readable {
        return None;
    }
    let count = documents.len();
    let mut documents = documents.into_iter();
    let (Some(document), 1) = (documents.next(), count) else {
        let message = format!("a platform file is one document, this one holds {count}");
        let place = documents.next().map_or(0..0, |second| second.root.span.start..second.root.span.start);
        let problem = Problem::new(Code::InvalidPlatform, FieldPath::root(), message)
            .with_hint("use environments for what differs");
        out.push(problem.at(Place { source: index, span: place, absent: true }));
        return None;
    };
    let root = document.root;
    let mut reader = Reader::new(index, &source.text, &root, &schemas.platform, "");
    let value = reader.value(&root, &schemas.platform, &Trail::Root);
    let clean = reader.finish(out);
    let chosen = choose(&root, index, environment, out);
    let (Some(Value::Object(mut settings)), true, Some(overlay)) = (value, clean, chosen) else { return None };
    settings.retain(|key, _| !NO_SETTINGS.contains(&key.as_str()));
    if let Some(overlay) = overlay {
        lay_over(&mut settings, overlay);
    }
    match serde_json::from_value(Value::Object(settings)) {
        Ok(settings) => {
            Some(DeclaredPlatform { settings, source: index, root, environment: environment.map(str::to_owned) })
        }
        // Beyond the schema only number types are narrower; told rather than hidden.
        Err(error) => {
            let problem = Problem::new(
                Code::InvalidPlatform,
                FieldPath::root(),
                format!("the platform file cannot be read: {error}"),
            );
            out.push(place::locate(&root, index, problem));
            None
        }
    }
}

/// The overlay of an environment; inside: none was asked for. `None`: there is none of that name, reported.
fn choose<'a>(root: &'a Node, index: usize, environment: Option<&str>, out: &mut Problems) -> Option<Option<&'a Node>> {
    let Some(name) = environment else { return Some(None) };
    let environments = root.get("environments");
    if let Some(overlay) = environments.and_then(|all| all.get(name)) {
        return Some(Some(overlay));
    }
    let names: Vec<&str> =
        environments.map(Node::entries).unwrap_or_default().iter().map(|e| e.key.text.as_str()).collect();
    let message = if names.is_empty() {
        format!("there is no environment {}; this {PLATFORM_KIND} has none", quoted(name))
    } else {
        format!("there is no environment {}; there are {}", quoted(name), names.join(", "))
    };
    let problem = Problem::new(Code::UnknownEnvironment, FieldPath::of("environments"), message);
    let problem = match nearest(name, names) {
        Some(near) => problem.with_hint(format!("did you mean --env {near}?")),
        None => problem,
    };
    out.push(place::locate(root, index, problem));
    None
}

fn lay_over(base: &mut Map<String, Value>, overlay: &Node) {
    for entry in overlay.entries() {
        let key = &entry.key.text;
        match (&entry.value.kind, base.get_mut(key)) {
            (Kind::Null, _) => {
                base.remove(key);
            }
            (Kind::Mapping(_), Some(Value::Object(below))) => lay_over(below, &entry.value),
            (Kind::Mapping(_), _) => {
                let mut below = Map::new();
                lay_over(&mut below, &entry.value);
                base.insert(key.clone(), Value::Object(below));
            }
            _ => {
                base.insert(key.clone(), entry.value.to_json());
            }
        }
    }
}
