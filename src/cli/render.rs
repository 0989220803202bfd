//! `dbrender render`: manifests as a stream or as a tree of files.

use std::collections::BTreeSet;
use std::convert::Infallible;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use serde::ser::{Serialize, SerializeMap as _, Serializer};

use super::args::{HELP, InputFlags, ObjectFormat};
use super::check::summary;
use super::exit::Exit;
use super::in_order::{in_order, threads};
use super::load::{Loaded, count, load};
use super::output::{finish, print, print_text};
use super::tell::Tell;
use crate::io::tree::{self, Actions, Options, Owner, Planned, Root, TakeObject, Texts, Wanted};
use crate::plan::Plan;
use crate::problem::{Problem, Problems};
use crate::render::{Printer, render};
use crate::yaml;

const EXAMPLES: &str = "\
Examples:
  dbrender render order-db.yaml | kubectl apply --server-side -f -
  dbrender render databases/ --output-dir tree --prune
  dbrender render databases/ --output-dir tree --prune --check
";

/// Renders Databases into the manifests that run them.
///
/// With --output-dir they become files, `<namespace>/<database>/<kind>-<name>.yaml`. Only files that dbrender wrote and
/// nobody changed since are overwritten or removed. When one Database has an error, nothing is written at all.
#[derive(Debug, Args)]
#[command(before_help = EXAMPLES, help_template = HELP)]
pub(super) struct RenderArgs {
    #[command(flatten)]
    input: InputFlags,
    /// Form of the stream on stdout; json is one v1 List.
    #[arg(short, long, value_enum, value_name = "FORMAT", default_value_t = ObjectFormat::Yaml)]
    output: ObjectFormat,
    /// Write files below DIR instead of a stream.
    #[arg(long, value_name = "DIR", conflicts_with = "output", help_heading = "Files")]
    output_dir: Option<PathBuf>,
    /// Write nothing; print as a diff what would change, and exit with 1 if anything would.
    #[arg(long, requires = "output_dir", help_heading = "Files")]
    check: bool,
    /// Remove the files of Databases that are no longer in the input.
    #[arg(long, requires = "output_dir", help_heading = "Files")]
    prune: bool,
    /// Let --prune remove the last Database, and let the input be empty.
    #[arg(long, requires = "output_dir", help_heading = "Files")]
    allow_empty: bool,
    /// Overwrite or remove FILE whatever is in it. Can be given more than once.
    #[arg(long, value_name = "FILE", requires = "output_dir", help_heading = "Files")]
    force_overwrite: Vec<PathBuf>,
    /// Keep a kustomization.yaml in each namespace.
    #[arg(long, requires = "output_dir", help_heading = "Files")]
    kustomization: bool,
}

pub(super) fn run(args: &RenderArgs, tell: &Tell) -> Exit {
    let mut loaded = load(&args.input, args.output_dir.as_deref(), tell);
    // With --prune the tree knows better what an empty input would do.
    if !args.allow_empty && !args.prune {
        loaded.problems.extend(loaded.nothing.take());
    }
    if loaded.problems.has_errors() {
        return refuse(&loaded, tell);
    }
    match &args.output_dir {
        None => {
            tell.problems(&loaded.problems, &loaded.sources);
            let printed = match args.output {
                ObjectFormat::Yaml => print(|out| write_stream(out, &loaded.plans, threads())),
                ObjectFormat::Json => print(|out| write_list(out, &loaded.plans)),
            };
            finish(printed, tell)
        }
        Some(dir) => files(args, dir, loaded, tell),
    }
}

fn refuse(loaded: &Loaded, tell: &Tell) -> Exit {
    let exit = tell.problems(&loaded.problems, &loaded.sources);
    tell.summary(&format!("{}; nothing was written", summary(loaded)));
    exit
}

/// Writes every object in the order of the Databases. A few of them are in memory at a time, however many there are.
fn write_stream(out: &mut dyn Write, plans: &[Plan], threads: usize) -> io::Result<()> {
    let text = |printer: &mut Printer, plan: &Plan| Text::of(printer, plan);
    let mut separator = SEPARATOR.len();
    in_order(plans, threads, Printer::default, text, |text| {
        // In front of the first there is none.
        let mut from = std::mem::take(&mut separator);
        for (to, tail) in &text.ends {
            out.write_all(&text.heads.as_bytes()[from..*to])?;
            out.write_all(tail.as_deref().unwrap_or_default().as_bytes())?;
            from = *to;
        }
        Ok(())
    })
}

const SEPARATOR: &str = "---\n";

/// The text of a Database, whose largest part is that of others too.
#[derive(Default)]
struct Text {
    heads: String,
    /// Where the head of an object ends, and what comes behind it.
    ends: Vec<(usize, Option<Arc<str>>)>,
}

impl Text {
    fn of(printer: &mut Printer, plan: &Plan) -> Text {
        let mut text = Text::default();
        let Ok(()) = printer.print::<Infallible>(&render(plan), |object| {
            text.heads.push_str(SEPARATOR);
            text.heads.push_str(object.head);
            text.ends.push((text.heads.len(), object.tail.cloned()));
            Ok(())
        });
        text
    }
}

fn write_list(out: &mut dyn Write, plans: &[Plan]) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, &List(plans)).map_err(io::Error::from)?;
    out.write_all(b"\n")
}

/// A `v1` List whose items are rendered while they are written.
struct List<'a>(&'a [Plan]);

impl Serialize for List<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut list = serializer.serialize_map(Some(3))?;
        list.serialize_entry("apiVersion", "v1")?;
        list.serialize_entry("kind", "List")?;
        list.serialize_entry("items", &Items(self.0))?;
        list.end()
    }
}

struct Items<'a>(&'a [Plan]);

impl Serialize for Items<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.iter().flat_map(|plan| render(plan).objects()).map(|mut object| {
            yaml::sort_keys(&mut object.value);
            object.value
        }))
    }
}

fn files(args: &RenderArgs, dir: &Path, mut loaded: Loaded, tell: &Tell) -> Exit {
    let root = match open(args, dir, &mut loaded.problems) {
        Ok(root) => root,
        Err(problem) => {
            loaded.problems.push(problem);
            return refuse(&loaded, tell);
        }
    };
    let mut texts = Rendered::new(&loaded.plans);
    let planned = match plan(args, &root, &loaded) {
        Ok(planned) => planned,
        Err(Trouble::Usage(message)) => {
            root.abandon();
            return tell.usage(&message);
        }
        Err(Trouble::Problems(problems)) => {
            loaded.problems.extend(problems);
            root.abandon();
            return refuse(&loaded, tell);
        }
    };
    let Planned { actions, problems, .. } = planned;
    if problems.is_empty() && !args.allow_empty {
        // There was nothing to prune either.
        loaded.problems.extend(loaded.nothing.take());
    }
    loaded.problems.extend(problems);
    if args.check && loaded.nothing.is_none() {
        return compare(&root, &actions, &loaded, &mut texts, tell);
    }
    if loaded.problems.has_errors() {
        root.abandon();
        return refuse(&loaded, tell);
    }
    match tree::write(&root, &actions, &mut texts) {
        Ok(done) => {
            tell.problems(&loaded.problems, &loaded.sources);
            done.written.iter().for_each(|path| tell.detail(|| format!("wrote {}", root.shown(path))));
            done.removed.iter().for_each(|path| tell.summary(&format!("removed {}", root.shown(path))));
            let (written, removed) = (count(done.written.len(), "file"), done.removed.len());
            let databases = count(loaded.plans.len(), "Database");
            tell.summary(&format!(
                "{databases}: {written} written, {removed} removed, {} unchanged",
                actions.unchanged
            ));
            Exit::Done
        }
        Err(problem) => {
            loaded.problems.push(problem);
            let exit = tell.problems(&loaded.problems, &loaded.sources);
            tell.summary("every file is whole, old or new; run the command again when the cause is gone");
            exit
        }
    }
}

fn open(args: &RenderArgs, dir: &Path, problems: &mut Problems) -> Result<Root, Problem> {
    if args.check {
        return Root::to_read(dir);
    }
    let (root, warning) = Root::to_write(dir)?;
    problems.extend(warning);
    Ok(root)
}

enum Trouble {
    Usage(String),
    Problems(Problems),
}

fn plan(args: &RenderArgs, root: &Root, loaded: &Loaded) -> Result<Planned, Trouble> {
    let mut force = BTreeSet::new();
    for path in &args.force_overwrite {
        let Some(relative) = root.relative(path) else {
            return Err(Trouble::Usage(format!(
                "--force-overwrite {}: the file is not below the output folder",
                path.display()
            )));
        };
        force.insert(relative);
    }
    let mut wanted = Wanted::new(args.input.namespace.as_deref());
    loaded.left_out.iter().for_each(|owner| wanted.leave(owner));
    let worker = || (Rendered::new(&loaded.plans), Vec::new());
    let look = |(texts, buffer): &mut (Rendered<'_>, Vec<u8>), plan: &Plan| {
        let owner = Owner::new(&plan.namespace, &plan.name)?;
        tree::look(root, &owner, texts, buffer)
    };
    in_order(&loaded.plans, threads(), worker, look, |looked| looked.map(|looked| wanted.add(looked)))
        .map_err(|problem| Trouble::Problems(Problems::from_iter([problem])))?;
    let existing = tree::survey(root, &wanted, args.prune).map_err(Trouble::Problems)?;
    let options =
        Options { prune: args.prune, allow_empty: args.allow_empty, kustomization: args.kustomization, force };
    let planned = tree::plan(&existing, wanted, &options, &|path| root.shown(path));
    match planned.unused_force.first() {
        None => Ok(planned),
        Some(path) => {
            let path = root.shown(path);
            Err(Trouble::Usage(format!("--force-overwrite {path}: this run would neither write nor remove it")))
        }
    }
}

/// The texts of Plans, which are in the order of namespace and name.
struct Rendered<'a> {
    plans: &'a [Plan],
    printer: Printer,
}

impl<'a> Rendered<'a> {
    fn new(plans: &'a [Plan]) -> Rendered<'a> {
        Rendered { plans, printer: Printer::default() }
    }
}

impl Texts for Rendered<'_> {
    fn each(&mut self, database: &str, take: &mut TakeObject<'_>) -> Result<(), Problem> {
        let wanted = database.split_once('/').unwrap_or_default();
        let found = self.plans.binary_search_by(|plan| (plan.namespace.as_str(), plan.name.as_str()).cmp(&wanted));
        let Some(plan) = found.ok().and_then(|index| self.plans.get(index)) else { return Ok(()) };
        self.printer.print(&render(plan), |object| {
            take(object.kind, object.name, [object.head, object.tail.map_or("", |tail| tail)])
        })
    }
}

/// `--check`. A file that was edited by hand is a difference here and no reason to refuse: nothing is written.
fn compare(root: &Root, actions: &Actions, loaded: &Loaded, texts: &mut Rendered<'_>, tell: &Tell) -> Exit {
    let difference = match tree::difference(root, actions, texts) {
        Ok(difference) => difference,
        Err(problem) => return tell.problems(&Problems::from_iter([problem]), &loaded.sources),
    };
    tell.problems(&loaded.problems, &loaded.sources);
    match print_text(&difference, tell) {
        Exit::Done if actions.is_empty() => {
            tell.summary(&format!("{}: the files are up to date", count(loaded.plans.len(), "Database")));
            Exit::Done
        }
        Exit::Done => {
            tell.summary(match loaded.problems.has_errors() {
                true => "the files are out of date, and something above keeps them from being written",
                false => "the files are out of date; the same command without --check brings them up to date",
            });
            Exit::Differences
        }
        failed => failed,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::write_stream;
    use crate::api::PlatformSettings;
    use crate::check::{check, ground};
    use crate::plan::Plan;
    use crate::problem::Problems;
    use crate::render::{Printer, render};

    fn plans(count: usize) -> Vec<Plan> {
        let ground = ground(&PlatformSettings::default(), &mut Problems::new()).unwrap();
        let plan = |number| {
            let database = json!({
                "apiVersion": "app.example.com/v1alpha1",
                "kind": "Database",
                "metadata": {"name": format!("db-{number}"), "namespace": "production"},
                "spec": {
                    "engine": "postgresql", "version": "17", "storage": {"size": "1Gi"},
                    "failover": if number % 2 == 0 { "Automatic" } else { "Manual" },
                },
            });
            check(&serde_json::from_value(database).unwrap(), &ground, None).plan.unwrap()
        };
        (0..count).map(plan).collect()
    }

    /// The text of each object, with a line between two.
    #[test]
    fn the_number_of_threads_changes_no_byte() {
        let plans = plans(50);
        let mut texts = Vec::new();
        for plan in &plans {
            let done: Result<(), ()> = Printer::default().print(&render(plan), |object| {
                texts.push(object.head.to_owned() + object.tail.map_or("", |tail| tail));
                Ok(())
            });
            assert_eq!(done, Ok(()));
        }
        let expected = texts.join("---\n");
        for threads in [1, 2, 3, 8] {
            let mut out = Vec::new();
            write_stream(&mut out, &plans, threads).unwrap();
            assert!(out == expected.as_bytes(), "{threads} threads wrote something else");
        }
        let mut none = Vec::new();
        write_stream(&mut none, &[], 2).unwrap();
        assert_eq!(none, b"");
    }
}
