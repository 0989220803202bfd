//! From paths to Plans: what every command does before its own work.

use std::convert::Infallible;
use std::path::{Path, PathBuf};

use super::args::InputFlags;
use super::exit::Exit;
use super::in_order::{in_order, threads};
use super::tell::Tell;
use crate::api::PlatformSettings;
use crate::check::{self, Ground, Written};
use crate::input::{self, Declared, Schemas, Source};
use crate::io;
use crate::io::tree::Owner;
use crate::plan::Plan;
use crate::problem::{Code, FieldPath, Problem, Problems};
use crate::render;

/// Everything that a run knows about its input.
#[derive(Debug, Default)]
pub(super) struct Loaded {
    /// The texts that problems point into.
    pub(super) sources: Vec<Source>,
    /// Plans by namespace and name, whatever the order of files: complete only if no problem is an error.
    pub(super) plans: Vec<Plan>,
    /// What each plan was made from, in the same order. Empty unless it was asked for.
    pub(super) declared: Vec<Declared>,
    /// Databases that the selector leaves out.
    pub(super) left_out: Vec<Owner>,
    /// Errors and warnings, by place.
    pub(super) problems: Problems,
    /// Databases found, with or without problems of their own.
    pub(super) found: usize,
    /// The problem that there is nothing to work on, for commands where that is one.
    pub(super) nothing: Option<Problem>,
}

/// Which files a run reads.
#[derive(Clone, Debug, Default)]
pub(super) struct Files {
    /// The folder where the search for the platform file begins; the current one when absent.
    pub(super) here: Option<PathBuf>,
    /// Files and folders.
    pub(super) paths: Vec<PathBuf>,
    /// Platform file, when it is named.
    pub(super) platform: Option<PathBuf>,
    /// A folder that is no input.
    pub(super) output: Option<PathBuf>,
    /// Whether [`Loaded::declared`] is kept.
    pub(super) keep_declared: bool,
}

impl Files {
    /// Those that the flags name.
    pub(super) fn of(flags: &InputFlags) -> Files {
        Files { paths: flags.paths.clone(), platform: flags.platform.clone(), ..Files::default() }
    }
}

/// Reads, parses and checks. `output` is a folder that is no input.
pub(super) fn load(flags: &InputFlags, output: Option<&Path>, tell: &Tell) -> Loaded {
    load_files(flags, &Files { output: output.map(Path::to_owned), ..Files::of(flags) }, tell)
}

/// The same for other files than those that the flags name.
pub(super) fn load_files(flags: &InputFlags, files: &Files, tell: &Tell) -> Loaded {
    let mut loaded = Loaded::default();
    let schemas = Schemas::new();
    let platform_file = files.platform.clone().or_else(|| nearest_platform_file(files.here.as_deref()));
    let ground = loaded.ground(platform_file.as_deref(), flags.env.as_deref(), &schemas, tell);

    let leave_out: Vec<&Path> = files.output.as_deref().into_iter().chain(platform_file.as_deref()).collect();
    let inputs = io::read(&files.paths, &leave_out, loaded.sources.len(), &mut loaded.problems);
    let first = loaded.sources.len();
    loaded.sources.extend(inputs.sources);

    let mut databases = Vec::new();
    let mut skipped = 0;
    let before = loaded.problems.len();
    // Of a file that is not text only a part is there, and what that part lacks is no problem of the user's.
    let unread: Vec<usize> = loaded.problems.iter().filter_map(|p| Some(p.place.as_ref()?.source)).collect();
    let parse = |(): &mut (), position: &usize| {
        let mut problems = Problems::new();
        let parsed = input::parse(*position, &loaded.sources[*position], &schemas, &mut problems);
        (parsed, problems)
    };
    let positions: Vec<usize> = (first..loaded.sources.len()).filter(|position| !unread.contains(position)).collect();
    let Ok(()) = in_order::<_, _, _, Infallible>(
        &positions,
        threads(),
        || (),
        parse,
        |(parsed, problems)| {
            loaded.problems.extend(problems);
            skipped += parsed.skipped;
            databases.extend(parsed.databases);
            Ok(())
        },
    );
    tell.detail(|| {
        let read = loaded.sources.len() - first;
        let others = count(skipped, "document");
        format!("read {read} of {}, {others} of other kinds", count(inputs.files, "file"))
    });
    loaded.found = databases.len();
    let unread = loaded.problems.len() > before || loaded.problems.has_errors();
    loaded.select_and_check(databases, flags, ground.as_ref(), files.keep_declared);
    if loaded.found == 0 && !unread {
        let mut message = format!("no Database was found in {}", count(inputs.files, "file"));
        if skipped > 0 {
            message += &format!(", only {} of other kinds", count(skipped, "document"));
        }
        loaded.nothing = Some(Problem::new(Code::NothingFound, FieldPath::root(), message));
    }
    loaded.problems.sort();
    loaded
}

/// The same for texts that are at hand. Without a platform file everything is as it is by default.
pub(super) fn load_texts(flags: &InputFlags, platform: Option<Source>, sources: Vec<Source>) -> Loaded {
    let mut loaded = Loaded::default();
    let schemas = Schemas::new();
    let ground = match platform {
        Some(source) => {
            loaded.sources.push(source);
            loaded.ground_of(0, flags.env.as_deref(), &schemas)
        }
        None => loaded.default_ground(flags.env.as_deref()),
    };
    let mut databases = Vec::new();
    for source in sources {
        let index = loaded.sources.len();
        databases.extend(input::parse(index, &source, &schemas, &mut loaded.problems).databases);
        loaded.sources.push(source);
    }
    loaded.found = databases.len();
    loaded.select_and_check(databases, flags, ground.as_ref(), false);
    loaded.problems.sort();
    loaded
}

/// The checked platform alone, for commands that read no Databases. Its problems are printed.
pub(super) fn ground(file: Option<&Path>, env: Option<&str>, tell: &Tell) -> Result<Ground, Exit> {
    let mut loaded = Loaded::default();
    let file = file.map(Path::to_owned).or_else(|| nearest_platform_file(None));
    let ground = loaded.ground(file.as_deref(), env, &Schemas::new(), tell);
    let exit = tell.problems(&loaded.problems, &loaded.sources);
    ground.filter(|_| exit == Exit::Done).ok_or(exit)
}

fn nearest_platform_file(here: Option<&Path>) -> Option<PathBuf> {
    let here = here.map_or_else(|| std::env::current_dir().ok(), |here| Some(here.to_owned()))?;
    let file = io::find_platform_file(&here)?;
    // Shown as short as it can be: problems name it.
    Some(file.strip_prefix(std::env::current_dir().unwrap_or_default()).map(Path::to_owned).unwrap_or(file))
}

impl Loaded {
    /// The checked platform. `None`: there are problems with it.
    fn ground(&mut self, file: Option<&Path>, env: Option<&str>, schemas: &Schemas, tell: &Tell) -> Option<Ground> {
        let Some(file) = file else {
            tell.detail(|| "no platform file".to_owned());
            return self.default_ground(env);
        };
        tell.detail(|| format!("platform file {}", file.display()));
        let index = self.sources.len();
        match io::read_file(file, index) {
            Ok(source) => self.sources.push(source),
            Err(problem) => {
                self.problems.push(problem);
                return None;
            }
        }
        self.ground_of(index, env, schemas)
    }

    /// The ground without a platform file, which has no environments.
    fn default_ground(&mut self, env: Option<&str>) -> Option<Ground> {
        if let Some(name) = env {
            let message = format!("there is no platform file, so there is no environment {name:?}");
            let problem = Problem::new(Code::UnknownEnvironment, FieldPath::root(), message);
            self.problems.push(problem.with_hint("name the platform file with --platform"));
            return None;
        }
        check::ground(&PlatformSettings::default(), &mut self.problems)
    }

    /// The ground of the platform file that is the source of this number.
    fn ground_of(&mut self, index: usize, env: Option<&str>, schemas: &Schemas) -> Option<Ground> {
        let declared = input::parse_platform(index, &self.sources[index], env, schemas, &mut self.problems)?;
        let mut problems = Problems::new();
        let ground = check::ground(&declared.settings, &mut problems);
        self.problems.extend(problems.into_iter().map(|problem| declared.locate(problem)));
        ground
    }

    fn select_and_check(&mut self, databases: Vec<Declared>, flags: &InputFlags, ground: Option<&Ground>, keep: bool) {
        let namespace = flags.namespace.as_deref();
        let mut selected: Vec<Declared> = Vec::new();
        for declared in databases {
            let metadata = &declared.database.metadata;
            let labels = metadata.labels.as_ref();
            if let Some(selector) = &flags.selector
                && !selector.selects(labels.unwrap_or(&Default::default()))
            {
                let name = metadata.name.as_deref().unwrap_or_default();
                let namespace = metadata.namespace.as_deref().or(namespace).unwrap_or_default();
                // Without usable names it owns no folder that could be kept.
                self.left_out.extend(Owner::new(namespace, name).ok());
                continue;
            }
            selected.push(declared);
        }
        if selected.is_empty() && self.found > 0 {
            let message = format!("none of {} has the labels that -l asks for", count(self.found, "Database"));
            self.nothing =
                Some(Problem::new(Code::NothingFound, FieldPath::root(), message).with_hint("check the selector"));
        }
        let mut plans = Vec::new();
        if let Some(ground) = ground {
            let check = |(): &mut (), declared: &Declared| {
                let checked = check::check(&declared.database, ground, namespace);
                let located = checked.problems.into_iter().map(|problem| declared.locate(problem));
                (checked.plan, located.collect::<Problems>())
            };
            let Ok(()) = in_order::<_, _, _, Infallible>(
                &selected,
                threads(),
                || (),
                check,
                |(plan, problems)| {
                    self.problems.extend(problems);
                    plans.push(plan);
                    Ok(())
                },
            );
        }
        let mut ready: Vec<(Plan, Declared)> =
            plans.into_iter().zip(selected).filter_map(|(plan, declared)| Some((plan?, declared))).collect();
        let written: Vec<Written<'_>> = ready.iter().map(|(plan, declared)| written(plan, declared)).collect();
        self.problems.extend(check::together(&written));
        drop(written);
        ready.sort_by(|(a, _), (b, _)| (&a.namespace, &a.name).cmp(&(&b.namespace, &b.name)));
        for (plan, declared) in ready {
            self.plans.push(plan);
            if keep {
                self.declared.push(declared);
            }
        }
    }
}

fn written<'a>(plan: &'a Plan, declared: &Declared) -> Written<'a> {
    Written {
        plan,
        objects: render::names_of(&plan.name, plan.engine),
        place: Some(declared.place(&FieldPath::of("metadata.name"))),
    }
}

/// `1 file`, `2 files`.
pub(super) fn count(number: usize, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}
