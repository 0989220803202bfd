//! Stands in for kubectl in transcripts: a small model of a cluster that keeps what is applied, and knows whether the
//! objects, containers and labels that a page names are there.
//!
//! It does what the pages need and refuses every other verb, flag and name, so that no page tells a reader to type
//! something about an object that is not rendered.

use std::collections::BTreeSet;
use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use dbrender::diff::{KINDS, Kind, Minor, as_stored};
use serde_json::{Value, json};

use crate::happened::{self, APPLIED, HAPPENED, Writer};

/// Names the file that holds the model; when it is set, this program is kubectl.
pub(crate) const CLUSTER: &str = "STAND_IN_CLUSTER";

/// Flags that take a value, by every spelling.
const WITH_VALUE: [(&str, &str); 12] = [
    ("-n", "namespace"),
    ("--namespace", "namespace"),
    ("-f", "filename"),
    ("--filename", "filename"),
    ("-o", "output"),
    ("--output", "output"),
    ("-l", "selector"),
    ("--selector", "selector"),
    ("-c", "container"),
    ("--container", "container"),
    ("--replicas", "replicas"),
    ("--from", "from"),
];
/// Flags without one, and those whose value nobody here looks at.
const OTHER: [&str; 20] = [
    "-A",
    "-i",
    "-t",
    "-it",
    "-L",
    "-R",
    "-p",
    "--all-namespaces",
    "--for",
    "--force-conflicts",
    "--ignore-not-found",
    "--label-columns",
    "--overwrite",
    "--patch",
    "--previous",
    "--recursive",
    "--server-side",
    "--show-managed-fields",
    "--tail",
    "--timeout",
];
/// Of these, the ones with a value.
const OTHER_WITH_VALUE: [&str; 6] = ["-L", "--label-columns", "--for", "--patch", "--tail", "--timeout"];
const SHORT: [(&str, &str); 10] = [
    ("sa", "ServiceAccount"),
    ("cm", "ConfigMap"),
    ("pvc", "PersistentVolumeClaim"),
    ("svc", "Service"),
    ("netpol", "NetworkPolicy"),
    ("pdb", "PodDisruptionBudget"),
    ("sts", "StatefulSet"),
    ("po", "Pod"),
    ("ns", "Namespace"),
    ("db", "Database"),
];

/// What was typed behind `kubectl VERB`.
#[derive(Default)]
struct Typed {
    words: Vec<String>,
    flags: Vec<(&'static str, String)>,
    switches: BTreeSet<String>,
}

impl Typed {
    fn of(arguments: &[String]) -> Result<Typed, String> {
        let mut typed = Typed::default();
        let mut rest = arguments.iter();
        while let Some(word) = rest.next() {
            if word == "--" {
                break;
            }
            let (name, value) = word.split_once('=').map_or((word.as_str(), None), |(name, value)| (name, Some(value)));
            let mut value = || match value {
                Some(value) => Ok(value.to_owned()),
                None => rest.next().cloned().ok_or_else(|| format!("flag needs an argument: {name}")),
            };
            if !word.starts_with('-') || word == "-" {
                typed.words.push(word.clone());
            } else if let Some((_, known)) = WITH_VALUE.iter().find(|(spelling, _)| *spelling == name) {
                typed.flags.push((known, value()?));
            } else if OTHER.contains(&name) {
                if OTHER_WITH_VALUE.contains(&name) {
                    value()?;
                }
                typed.switches.insert(name.to_owned());
            } else {
                return Err(format!("unknown flag: {word}"));
            }
        }
        Ok(typed)
    }

    fn flag(&self, name: &str) -> Option<&str> {
        self.flags.iter().find(|(known, _)| *known == name).map(|(_, value)| value.as_str())
    }

    fn has(&self, switches: &[&str]) -> bool {
        switches.iter().any(|switch| self.switches.contains(*switch))
    }
}

/// The objects, in the order in which they were made.
struct Cluster {
    file: PathBuf,
    objects: Vec<Value>,
}

/// Carries out one command. The exit code is kubectl's: 0 or 1.
pub(crate) fn run(file: PathBuf) -> i32 {
    let text = fs::read_to_string(&file).unwrap_or_else(|_| "[]".to_owned());
    let mut cluster = Cluster { file, objects: serde_json::from_str(&text).unwrap() };
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match cluster.command(&arguments) {
        Ok(said) => {
            print!("{said}");
            fs::write(&cluster.file, serde_json::to_string(&cluster.objects).unwrap()).unwrap();
            0
        }
        Err(why) => {
            eprintln!("error: {why}");
            1
        }
    }
}

impl Cluster {
    fn command(&mut self, arguments: &[String]) -> Result<String, String> {
        let (verb, rest) = arguments.split_first().ok_or("which command?")?;
        let typed = Typed::of(rest)?;
        match verb.as_str() {
            "apply" => self.apply(&typed),
            "get" if typed.flag("output") == Some("json") => self.dump(&typed),
            "scale" => self.scale(&typed),
            "delete" => self.delete(&typed),
            "get" | "describe" | "annotate" | "patch" | "rollout" | "exec" | "logs" | "create" | "wait" => {
                self.named(verb, &typed).map(|()| String::new())
            }
            _ => Err(format!("the stand-in knows no command {verb:?}")),
        }
    }

    fn apply(&mut self, typed: &Typed) -> Result<String, String> {
        if !typed.has(&["--server-side"]) {
            return Err("the pages apply on the server's side".to_owned());
        }
        let mut said = String::new();
        for object in read(Path::new(typed.flag("filename").ok_or("must specify --filename")?))? {
            let mut stored = as_stored(&object, Minor::NEWEST);
            let fields = happened::fields_of(&stored);
            happened::own(&mut stored, &Writer::of("kubectl", "Apply", APPLIED), fields);
            let (kind, name) = (text(&object["kind"]), text(&object["metadata"]["name"]));
            let group =
                text(&object["apiVersion"]).rsplit_once('/').map_or_else(String::new, |(of, _)| format!(".{of}"));
            said += &format!("{}{group}/{name} serverside-applied\n", kind.to_lowercase());
            let namespace = object["metadata"]["namespace"].clone();
            self.objects.retain(|old| !(happened::is(old, kind, name) && old["metadata"]["namespace"] == namespace));
            if kind == "StatefulSet" {
                for claim in happened::claims(&stored, 0) {
                    let there =
                        |old: &Value| happened::is(old, "PersistentVolumeClaim", text(&claim["metadata"]["name"]));
                    if !self.objects.iter().any(there) {
                        self.objects.push(claim);
                    }
                }
            }
            self.objects.push(stored);
        }
        Ok(said)
    }

    /// What `get -o json` prints: of the kinds, in one namespace or in all.
    fn dump(&self, typed: &Typed) -> Result<String, String> {
        let kinds: Vec<&str> =
            typed.words.first().ok_or("which kinds?")?.split(',').map(kind).collect::<Result<_, _>>()?;
        let namespace = typed.flag("namespace");
        if namespace.is_none() && !typed.has(&["-A", "--all-namespaces"]) {
            return Err("in which namespace?".to_owned());
        }
        let mut items: Vec<Value> = self
            .objects
            .iter()
            .filter(|object| kinds.contains(&text(&object["kind"])))
            .filter(|object| namespace.is_none_or(|name| object["metadata"]["namespace"] == name))
            .cloned()
            .collect();
        if !typed.has(&["--show-managed-fields"]) {
            for item in &mut items {
                item["metadata"].as_object_mut().map(|metadata| metadata.shift_remove("managedFields"));
            }
        }
        Ok(format!(
            "{:#}\n",
            json!({"apiVersion": "v1", "kind": "List", "metadata": {"resourceVersion": ""}, "items": items})
        ))
    }

    fn scale(&mut self, typed: &Typed) -> Result<String, String> {
        self.named("scale", typed)?;
        let [kind_word, name] = typed.words.as_slice() else { return Err("which StatefulSet?".to_owned()) };
        let replicas: u64 = typed.flag("replicas").and_then(|n| n.parse().ok()).ok_or("how many replicas?")?;
        let kind = kind(kind_word)?;
        let set = self.objects.iter_mut().find(|object| happened::is(object, kind, name)).ok_or("there is none")?;
        set["spec"]["replicas"] = json!(replicas);
        let fields = happened::fields_at(set, "/spec/replicas");
        happened::disown(set, &fields);
        let by = Writer { subresource: Some("scale".to_owned()), ..Writer::of("kubectl", "Update", HAPPENED) };
        happened::own(set, &by, fields);
        // A real server notes no time for the subresource.
        for entry in set["metadata"]["managedFields"].as_array_mut().into_iter().flatten() {
            if entry["subresource"] == "scale" {
                entry.as_object_mut().map(|entry| entry.shift_remove("time"));
            }
        }
        Ok(format!("{}.apps/{name} scaled\n", kind.to_lowercase()))
    }

    fn delete(&mut self, typed: &Typed) -> Result<String, String> {
        self.named("delete", typed)?;
        let [kind_word, names @ ..] = typed.words.as_slice() else { return Err("what?".to_owned()) };
        let kind = kind(kind_word)?;
        self.objects.retain(|object| !names.iter().any(|name| happened::is(object, kind, name)));
        Ok(String::new())
    }

    /// Whether everything that is named is there.
    fn named(&self, verb: &str, typed: &Typed) -> Result<(), String> {
        if typed.flag("namespace").is_none() && !typed.has(&["-A", "--all-namespaces"]) {
            return Err("in which namespace?".to_owned());
        }
        if let Some(selector) = typed.flag("selector") {
            for part in selector.split(',') {
                let (key, value) = part.split_once('=').ok_or_else(|| format!("{part} is no label"))?;
                if !self.pods().any(|pod| pod["metadata"]["labels"][key] == value) {
                    return Err(format!("no pod has the label {part}"));
                }
            }
        }
        if let Some(container) = typed.flag("container") {
            let lists = ["containers", "initContainers"];
            let has = |pod: &Value| lists.iter().any(|list| names(&pod["spec"][*list]).any(|name| name == container));
            if !self.pods().any(has) {
                return Err(format!("no pod has a container {container}"));
            }
        }
        let mut words: Vec<&str> = typed.words.iter().map(String::as_str).collect();
        match verb {
            "exec" | "logs" => words = words.first().map(|name| vec!["pod", name]).unwrap_or_default(),
            "rollout" => {
                words.remove(0);
            }
            "create" => words = typed.flag("from").map(|from| vec![from]).ok_or("from what?")?,
            // What is written stands behind what it is written to.
            "annotate" => words.retain(|word| !word.contains('=') && !word.ends_with('-')),
            _ => {}
        }
        if let Some((kind, name)) = words.first().and_then(|word| word.split_once('/')) {
            words = vec![kind, name];
        }
        let Some((kinds, names)) = words.split_first() else { return Ok(()) };
        for kind in kinds.split(',').map(kind) {
            let kind = kind?;
            for name in names {
                let pod = || kind == "Pod" && self.member(name);
                if !pod() && !self.objects.iter().any(|object| happened::is(object, kind, name)) {
                    return Err(format!("there is no {kind} {name}"));
                }
            }
        }
        Ok(())
    }

    /// Pods as their StatefulSets, Jobs and CronJobs declare them.
    fn pods(&self) -> impl Iterator<Item = &Value> {
        self.objects.iter().filter_map(|object| {
            object.pointer("/spec/jobTemplate/spec/template").or_else(|| object.pointer("/spec/template"))
        })
    }

    fn member(&self, pod: &str) -> bool {
        let Some((set, ordinal)) = pod.rsplit_once('-') else { return false };
        let replicas = |object: &Value| object["spec"]["replicas"].as_u64().unwrap_or(1);
        let ordinal: Option<u64> = ordinal.parse().ok();
        self.objects
            .iter()
            .any(|object| happened::is(object, "StatefulSet", set) && ordinal.is_some_and(|n| n < replicas(object)))
    }
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn names(list: &Value) -> impl Iterator<Item = &str> {
    list.as_array().into_iter().flatten().map(|item| text(&item["name"]))
}

/// The kind of a word such as `sts`, `statefulset`, `statefulsets` or `statefulset.apps`.
fn kind(word: &str) -> Result<&'static str, String> {
    let word = word.split('.').next().unwrap_or(word);
    let of = |kind: &&Kind| kind.resource == word || kind.kind.to_lowercase() == word;
    if let Some(kind) = KINDS.iter().find(of) {
        return Ok(kind.kind);
    }
    let plain = word.strip_suffix('s').unwrap_or(word);
    let short = SHORT.iter().find(|(short, kind)| *short == word || kind.to_lowercase() == plain);
    short.map(|(_, kind)| *kind).ok_or_else(|| format!("the server doesn't have a resource type {word:?}"))
}

/// Every object of a file, of all files below a folder, or of stdin.
fn read(path: &Path) -> Result<Vec<Value>, String> {
    let fail = |error: std::io::Error| format!("{}: {error}", path.display());
    if path.is_dir() {
        let mut entries: Vec<PathBuf> = fs::read_dir(path)
            .map_err(fail)?
            .map(|entry| entry.map(|entry| entry.path()))
            .collect::<Result<_, _>>()
            .map_err(fail)?;
        entries.sort();
        let is_read = |path: &PathBuf| path.is_dir() || path.extension().is_some_and(|ending| ending == "yaml");
        let lists =
            entries.iter().filter(|path| is_read(path)).map(|path| read(path)).collect::<Result<Vec<_>, _>>()?;
        return Ok(lists.concat());
    }
    let mut text = String::new();
    if path == Path::new("-") {
        std::io::stdin().read_to_string(&mut text).map_err(fail)?;
    } else {
        text = fs::read_to_string(path).map_err(fail)?;
    }
    let (documents, problems) = dbrender::yaml::read_stream(&text, &dbrender::yaml::Limits::default());
    if !problems.is_empty() {
        return Err(format!("{}: {problems:?}", path.display()));
    }
    Ok(documents.iter().map(|document| document.root.to_json()).filter(|object| !object.is_null()).collect())
}
