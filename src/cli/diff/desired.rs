//! The desired side: Databases rendered one after the other, so that memory does not grow with their number.

use std::cell::RefCell;

use super::super::args::InputFlags;
use super::super::exit::Exit;
use super::super::load::{Files, Loaded, load_files};
use super::super::tell::Tell;
use crate::diff::{DatabaseReport, Identities, Notice, Origin};
use crate::input::Declared;
use crate::plan::{Credentials, Plan};
use crate::problem::{FieldPath, Problem, Problems};
use crate::render::{Object, render};
use crate::report::problems::Positions;

/// What is wanted.
pub(super) struct Wanted {
    loaded: Loaded,
    /// Objects that were read and not rendered, by namespace and name of their Database.
    rendered: Vec<(String, String, Vec<Object>)>,
    /// What the desired side is, in words.
    title: String,
    /// Whether the input is a choice out of more: then nothing that it lacks is called an orphan.
    part: bool,
}

/// One Database.
pub(super) struct Subject<'a> {
    pub(super) plan: Option<&'a Plan>,
    pub(super) namespace: &'a str,
    pub(super) name: &'a str,
    pub(super) objects: &'a [Object],
    pub(super) origin: Option<Origin>,
}

impl Wanted {
    /// From the Databases that the flags name.
    pub(super) fn load(flags: &InputFlags, tell: &Tell) -> Wanted {
        let loaded = load_files(flags, &Files { keep_declared: true, ..Files::of(flags) }, tell);
        let paths: Vec<String> = flags.paths.iter().map(|path| path.display().to_string()).collect();
        // A file that is named is one of several more often than not; a folder is read for all that is in it. And what
        // belongs to a Database with a typing error is no orphan.
        let part =
            flags.selector.is_some() || loaded.problems.has_errors() || !flags.paths.iter().all(|path| path.is_dir());
        let title = match paths.as_slice() {
            [path] if path == "." => "desired: the Databases of this folder".to_owned(),
            _ => format!("desired: {}", paths.join(" ")),
        };
        Wanted { loaded, rendered: Vec::new(), title, part }
    }

    /// From manifests that were rendered before.
    pub(super) fn of_manifests(
        rendered: Vec<(String, String, Vec<Object>)>,
        loaded: Loaded,
        title: String,
        part: bool,
    ) -> Wanted {
        Wanted { loaded, rendered, title, part }
    }

    pub(super) fn title(&self) -> String {
        self.title.clone()
    }

    pub(super) fn is_part(&self) -> bool {
        self.part
    }

    /// Whether there is nothing that could be compared.
    pub(super) fn is_nothing(&self) -> bool {
        self.loaded.plans.is_empty() && self.rendered.is_empty()
    }

    /// Says why there is nothing to compare.
    pub(super) fn refuse(mut self, tell: &Tell) -> Exit {
        let nothing = self.loaded.nothing.take();
        self.loaded.problems.extend(nothing);
        tell.problems(&self.loaded.problems, &self.loaded.sources)
    }

    /// Does something for each Database, in order of namespace and name.
    pub(super) fn each(&self, mut work: impl FnMut(&Subject<'_>)) {
        let mut positions = Positions::new(&self.loaded.sources);
        for (index, plan) in self.loaded.plans.iter().enumerate() {
            let place = self.loaded.declared.get(index).map(|declared| declared.place(&FieldPath::root()));
            let origin = place.and_then(|place| positions.origin(&place));
            let objects = render(plan).objects();
            let (namespace, name) = (plan.namespace.as_str(), plan.name.as_str());
            work(&Subject { plan: Some(plan), namespace, name, objects: &objects, origin });
        }
        for (namespace, name, objects) in &self.rendered {
            work(&Subject { plan: None, namespace, name, objects, origin: None });
        }
    }

    /// Kind, namespace and name of everything that is rendered, and of Secrets that Databases name.
    pub(super) fn identities(&self) -> Identities {
        let mut identities = Identities::new();
        for plan in &self.loaded.plans {
            identities.extend(render(plan).identities());
            if let Credentials::Existing { app, admin } = &plan.credentials {
                let secret = |name: &String| ("Secret".to_owned(), plan.namespace.clone(), name.clone());
                identities.extend([secret(app), secret(admin)]);
            }
        }
        let identity = |object: &Object| (object.kind.clone(), object.namespace.clone(), object.name.clone());
        identities.extend(self.rendered.iter().flat_map(|(_, _, objects)| objects.iter().map(identity)));
        identities
    }

    /// What was wrong with the input.
    pub(super) fn problems(&self) -> &Problems {
        &self.loaded.problems
    }

    /// Problems as a part of the report, with the lines where they are.
    pub(super) fn notices(&self, problems: &Problems) -> Vec<Notice> {
        let mut positions = Positions::new(&self.loaded.sources);
        let notice = |problem: &Problem| {
            let mut notice = Notice::from(problem);
            notice.origin = problem.place.as_ref().and_then(|place| positions.origin(place));
            notice
        };
        problems.iter().map(notice).collect()
    }

    /// The exit that fits the problems. They go to stderr unless a text report on stdout has them.
    pub(super) fn exit(&self, problems: &Problems, tell: &Tell, is_told: bool) -> Exit {
        if is_told { Exit::of(problems) } else { tell.problems(problems, &self.loaded.sources) }
    }

    /// What a rule says about each Database and its plan, at the places where it is about.
    pub(super) fn judge(&self, rule: impl Fn(&Declared, &Plan) -> Option<Problems>) -> Problems {
        let mut all = Problems::new();
        for (declared, plan) in self.loaded.declared.iter().zip(&self.loaded.plans) {
            let found = rule(declared, plan).unwrap_or_default();
            all.extend(found.into_iter().map(|problem| declared.locate(problem)));
        }
        all
    }

    /// Where fields are declared.
    pub(super) fn places(&self) -> Places<'_> {
        Places { loaded: &self.loaded, positions: RefCell::new(Positions::new(&self.loaded.sources)) }
    }
}

/// Finds the line of a field, when a view asks for it.
pub(super) struct Places<'a> {
    loaded: &'a Loaded,
    positions: RefCell<Positions<'a>>,
}

impl Places<'_> {
    pub(super) fn of(&self, database: &DatabaseReport, field: &str) -> Option<Origin> {
        let key = |plan: &Plan| (plan.namespace.clone(), plan.name.clone());
        let wanted = (database.namespace.clone(), database.name.clone());
        let index = self.loaded.plans.binary_search_by_key(&wanted, key).ok()?;
        let place = self.loaded.declared.get(index)?.place(&FieldPath::of(field));
        self.positions.borrow_mut().origin(&place)
    }
}
