//! `dbrender init`: a repository from which a team runs its databases.

mod scaffold;

use std::path::{Path, PathBuf};

use clap::{Args, Parser as _, ValueEnum};

use super::args::{Cli, Command, HELP, ObjectFormat};
use super::exit::Exit;
use super::output::print_text;
use super::tell::Tell;
use super::{crd, load};
use crate::io::{self, Made};
use scaffold::{Choices, DATABASES, File, MANIFESTS, POLICIES, files};

const EXAMPLES: &str = "\
Examples:
  dbrender init                           Argo CD applies what is rendered
  dbrender init --controller apply        the controller applies
  dbrender init --with flux --repository https://git.example.com/databases
";

/// Where nothing is known, something that nobody can take for an address.
const NO_REPOSITORY: &str = "https://git.example.com/CHANGE-ME.git";

/// Makes a Git repository of databases.
///
/// It writes folders, a platform file, a workflow and the objects of Argo CD or Flux. It asks nothing, and changes no file
/// that is there: those are named.
#[derive(Debug, Args)]
#[command(before_help = EXAMPLES, help_template = HELP)]
pub(super) struct InitArgs {
    /// Folder of the repository.
    #[arg(value_name = "DIR", default_value = ".")]
    dir: PathBuf,
    /// What brings the repository into the cluster.
    #[arg(long, value_enum, value_name = "TOOL", default_value_t = With::ArgoCd)]
    with: With,
    /// What the controller does. `observe`: it writes the status of each Database, and what is rendered into the repository
    /// is applied from there. `apply`: it applies, and nothing is rendered into the repository.
    #[arg(long, value_enum, value_name = "MODE", default_value_t = Controller::Observe)]
    controller: Controller,
    /// What checks pull requests.
    #[arg(long, value_enum, value_name = "CI", default_value_t = Ci::Github)]
    ci: Ci,
    /// Address of the repository. Without it: the remote `origin`.
    #[arg(long, value_name = "URL", value_parser = one_line)]
    repository: Option<String>,
    /// Branch that is applied.
    #[arg(long, value_name = "BRANCH", default_value = "main", value_parser = branch)]
    revision: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum With {
    ArgoCd,
    Flux,
    /// Neither.
    None,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Controller {
    Observe,
    Apply,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Ci {
    Github,
    /// None.
    None,
}

/// An address that can stand in YAML as it is.
fn one_line(text: &str) -> Result<String, String> {
    let fine = |c: char| c.is_ascii_graphic() && !"\"'#{}[],&*!|>%`".contains(c);
    let is_address = text.contains(':') || text.contains('/');
    if is_address && text.chars().all(fine) && text.starts_with(|c: char| c.is_ascii_alphanumeric()) {
        Ok(text.to_owned())
    } else {
        Err("write it as https://… or git@host:path".to_owned())
    }
}

fn branch(text: &str) -> Result<String, String> {
    let fine = |c: char| c.is_ascii_alphanumeric() || "-_./".contains(c);
    if !text.is_empty() && text.chars().all(fine) && !text.starts_with('-') {
        Ok(text.to_owned())
    } else {
        Err("the name of a branch has letters, digits and -_./".to_owned())
    }
}

pub(super) fn run(args: &InitArgs, tell: &Tell) -> Exit {
    let known = args.repository.clone().or_else(|| io::origin(&args.dir).and_then(|url| one_line(&url).ok()));
    let choices = Choices {
        argo_cd: args.with == With::ArgoCd,
        flux: args.with == With::Flux,
        tree: args.controller == Controller::Observe,
        workflow: args.ci == Ci::Github,
        example: !io::has_files(&args.dir.join(DATABASES)),
        repository: known.as_deref().unwrap_or(NO_REPOSITORY),
        revision: &args.revision,
    };
    let printed = match write(&args.dir, files(&choices), tell) {
        Ok(printed) => printed,
        Err(exit) => return exit,
    };
    let printed = printed.or_worse(if choices.cluster() { policies(&args.dir, tell) } else { Exit::Done });
    let rendered = if choices.tree { render(&args.dir, tell) } else { Exit::Done };
    if known.is_none() && choices.cluster() {
        tell.summary(&format!("no remote `origin` is known here: put its address in place of {NO_REPOSITORY}"));
    }
    printed.or_worse(rendered)
}

/// Writes what is not there, and tells what became of each file.
fn write(dir: &Path, files: Vec<File>, tell: &Tell) -> Result<Exit, Exit> {
    let mut lines = String::new();
    for File { name, text } in files {
        match io::write_new(dir, &name, &text) {
            Ok(Made::Written) => lines += &format!("created  {name}\n"),
            Ok(Made::Same) => lines += &format!("as it is {name}\n"),
            Ok(Made::Left) => lines += &format!("left     {name}, which has another text\n"),
            Err(problem) => {
                // What was written before it is told too.
                print_text(&lines, tell);
                return Err(tell.problems(&[problem].into_iter().collect(), &[]));
            }
        }
    }
    Ok(print_text(&lines, tell))
}

/// Writes the policies of the platform file, which may have been there before.
fn policies(dir: &Path, tell: &Tell) -> Exit {
    let ground = match load::ground(Some(&at(dir, io::PLATFORM_FILE)), None, tell) {
        Ok(ground) => ground,
        Err(exit) => return exit,
    };
    let text = crd::policies(&ground, ObjectFormat::Yaml);
    write(dir, vec![File { name: POLICIES.to_owned(), text }], tell).unwrap_or_else(|exit| exit)
}

/// A path of the repository, as somebody who stands where we do writes it.
fn at(dir: &Path, name: &str) -> PathBuf {
    if dir == Path::new(".") { PathBuf::from(name) } else { dir.join(name) }
}

/// Writes the tree, as whoever changes a Database does.
fn render(dir: &Path, tell: &Tell) -> Exit {
    let platform = at(dir, io::PLATFORM_FILE);
    let words = ["dbrender", "render"].map(Into::into).into_iter().chain([
        at(dir, DATABASES).into_os_string(),
        "--output-dir".into(),
        at(dir, MANIFESTS).into_os_string(),
        "--platform".into(),
        platform.into_os_string(),
    ]);
    match Cli::try_parse_from(words) {
        Ok(Cli { command: Command::Render(args), .. }) => super::render::run(&args, tell),
        _ => tell.usage("the name of the folder cannot be written on a command line"),
    }
}
