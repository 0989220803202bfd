//! `--base GITREF`: what the Databases and the platform file of a commit render is the other side.

use std::path::{Path, PathBuf};

use super::super::load::{Files, Loaded, load_files};
use super::super::tell::Tell;
use super::desired::Wanted;
use super::{DiffArgs, Other, Stop};
use crate::check;
use crate::diff::{LiveObject, LiveSet, Notice};
use crate::io::Commit;
use crate::plan::Plan;
use crate::problem::{Problems, Severity};
use crate::render::render;

/// The commit, loaded.
pub(super) struct Base {
    reference: String,
    id: String,
    loaded: Loaded,
    /// Problems of the commit, with its name before their files.
    problems: Vec<Notice>,
}

/// Loads the commit.
pub(super) fn load(reference: &str, args: &DiffArgs, tell: &Tell) -> Result<Base, Stop> {
    if args.input.paths.iter().any(|path| path == Path::new("-")) {
        return Err(Stop::Usage("--base needs files: stdin is in no commit".to_owned()));
    }
    let commit = Commit::check_out(reference)?;
    let inside = |path: &PathBuf| {
        commit.path(path).ok_or_else(|| Stop::Usage(format!("{} is outside of the repository", path.display())))
    };
    let paths = args.input.paths.iter().map(inside).collect::<Result<Vec<_>, _>>()?;
    let platform = args.input.platform.as_ref().map(inside).transpose()?;
    let files = Files {
        here: Some(commit.here()),
        // What came later is not there, and so everything in it is new.
        paths: paths.into_iter().filter(|path| path.exists()).collect(),
        platform: platform.filter(|path| path.exists()),
        output: None,
        keep_declared: true,
    };
    let loaded = load_files(&args.input, &files, tell);
    let problems = loaded
        .problems
        .iter()
        .filter(|problem| problem.severity == Severity::Error)
        .map(|problem| {
            let mut notice = Notice::from(problem);
            let file = problem.place.as_ref().and_then(|place| loaded.sources.get(place.source));
            let file = file.map(|source| format!("{}: ", source.name)).unwrap_or_default();
            notice.message = commit.in_words(&format!("{file}{}", problem.message), reference);
            notice.hint = commit.in_words(&notice.hint, reference);
            notice
        })
        .collect();
    Ok(Base { reference: reference.to_owned(), id: commit.id.clone(), loaded, problems })
}

impl Base {
    /// The manifests of the commit as the other side.
    pub(super) fn other(&self) -> Other {
        let mut live =
            LiveSet { source: format!("commit {}", self.reference), is_rendered: true, ..LiveSet::default() };
        for plan in &self.loaded.plans {
            for object in render(plan).objects() {
                match LiveObject::from_value(object.value) {
                    Ok(object) => live.objects.push(object.into()),
                    // The renderer gives whole objects.
                    Err(error) => live.broken.push(error),
                }
            }
        }
        let title = format!("base: {} ({})", self.reference, self.id);
        Other { live, title, notices: self.problems.clone(), ..Other::default() }
    }

    /// The plan of a Database in the commit.
    pub(super) fn plan(&self, namespace: &str, name: &str) -> Option<&Plan> {
        self.index(namespace, name).map(|index| &self.loaded.plans[index])
    }

    fn index(&self, namespace: &str, name: &str) -> Option<usize> {
        let key = |plan: &Plan| (plan.namespace.clone(), plan.name.clone());
        self.loaded.plans.binary_search_by_key(&(namespace.to_owned(), name.to_owned()), key).ok()
    }

    /// What may not change, and did.
    pub(super) fn refused(&self, wanted: &Wanted) -> Problems {
        wanted.judge(|declared, plan| {
            let index = self.index(&plan.namespace, &plan.name)?;
            Some(check::update(&self.loaded.declared[index].database, &declared.database))
        })
    }
}
