//! dbrender as a plugin of kubectl, which finds it as `kubectl-dbrender` and asks `kubectl_complete-dbrender` for
//! completions. Both are other names of the one program: links are enough.

use std::ffi::{OsStr, OsString};
use std::fmt::Write as _;
use std::path::Path;

use clap::builder::PossibleValue;
use clap::{Arg, Command};

/// By which name the program was called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Called {
    Itself,
    /// As `kubectl dbrender`.
    Plugin,
    /// By kubectl, for the words that may come next.
    Completer,
}

impl Called {
    /// From the first argument.
    pub(super) fn by(name: Option<&OsString>) -> Called {
        match name.and_then(|name| Path::new(name).file_stem()).and_then(OsStr::to_str) {
            Some("kubectl-dbrender") => Called::Plugin,
            Some("kubectl_complete-dbrender") => Called::Completer,
            _ => Called::Itself,
        }
    }
}

/// The last line of an answer: the shell completes names of files as well.
const FILES: &str = ":0\n";
/// The shell completes nothing else.
const NOTHING_ELSE: &str = ":4\n";

/// What may stand in place of the last word, one a line with its description, in the form that kubectl reads.
pub(super) fn complete(mut all: Command, words: &[OsString]) -> String {
    all.build();
    let words: Vec<String> = words.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    let (last, before) = words.split_last().map_or(("", &[][..]), |(last, before)| (last.as_str(), before));
    let mut command = &all;
    let mut waiting: Option<&Arg> = None;
    for word in before {
        if waiting.take().is_some() {
            continue;
        }
        if word.starts_with('-') {
            waiting = flag(command, word).filter(|arg| arg.get_action().takes_values() && !word.contains('='));
        } else if let Some(next) = command.find_subcommand(word) {
            command = next;
        }
    }
    if let Some(arg) = waiting {
        return answer("", &arg.get_possible_values(), last);
    }
    if let Some((name, value)) = last.split_once('=').filter(|(name, _)| name.starts_with("--")) {
        return match flag(command, name) {
            Some(arg) => answer(&format!("{name}="), &arg.get_possible_values(), value),
            None => NOTHING_ELSE.to_owned(),
        };
    }
    let mut out = String::new();
    if last.starts_with('-') {
        for arg in command.get_arguments().filter(|arg| !arg.is_hide_set()) {
            let Some(long) = arg.get_long().map(|long| format!("--{long}")) else { continue };
            if long.starts_with(last) {
                line(&mut out, &long, arg.get_help().map(ToString::to_string));
            }
        }
        return out + NOTHING_ELSE;
    }
    for next in command.get_subcommands().filter(|next| !next.is_hide_set()) {
        if next.get_name().starts_with(last) {
            line(&mut out, next.get_name(), next.get_about().map(ToString::to_string));
        }
    }
    if command.has_subcommands() {
        return out + NOTHING_ELSE;
    }
    let values: Vec<PossibleValue> = command.get_positionals().flat_map(Arg::get_possible_values).collect();
    answer("", &values, last)
}

/// The argument that a word such as `-n`, `--namespace` or `--namespace=x` names.
fn flag<'c>(command: &'c Command, word: &str) -> Option<&'c Arg> {
    let name = word.split('=').next().unwrap_or(word);
    command.get_arguments().find(|arg| match name.strip_prefix("--") {
        Some(long) => arg.get_long() == Some(long),
        None => arg.get_short().is_some_and(|short| name.strip_prefix('-') == Some(short.to_string().as_str())),
    })
}

/// The values that begin with what is typed. Where there are none to choose from, it may be the name of a file.
fn answer(prefix: &str, values: &[PossibleValue], typed: &str) -> String {
    if values.is_empty() {
        return FILES.to_owned();
    }
    let mut out = String::new();
    for value in values.iter().filter(|value| !value.is_hide_set() && value.get_name().starts_with(typed)) {
        line(&mut out, &format!("{prefix}{}", value.get_name()), value.get_help().map(ToString::to_string));
    }
    out + NOTHING_ELSE
}

fn line(out: &mut String, word: &str, help: Option<String>) {
    let help = help.unwrap_or_default();
    let first = help.lines().next().unwrap_or_default();
    let _ = if first.is_empty() { writeln!(out, "{word}") } else { writeln!(out, "{word}\t{first}") };
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::{Called, complete};
    use crate::cli::args::Cli;

    fn of(words: &[&str]) -> String {
        let words: Vec<_> = words.iter().map(Into::into).collect();
        let text = complete(Cli::command(), &words);
        text.lines().map(|line| line.split('\t').next().unwrap_or_default()).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn what_may_come_next() {
        assert_eq!(of(&["ren"]), "render :4");
        assert_eq!(of(&["rbac", ""]), "viewer controller :4");
        assert_eq!(of(&["render", "-o", ""]), "yaml json :4");
        assert_eq!(of(&["render", "--output", "j"]), "json :4");
        assert_eq!(of(&["render", "--output=j"]), "--output=json :4");
        assert_eq!(of(&["render", "--pru"]), "--prune :4");
        assert_eq!(of(&["render", "--color", "n", "databases/", "--output-d"]), "--output-dir :4");
        // Files and folders.
        assert_eq!(of(&["render", ""]), ":0");
        assert_eq!(of(&["render", "--output-dir", ""]), ":0");
        assert_eq!(of(&["render", "--nothing=x"]), ":4");
        assert!(of(&[]).contains("render check diff"));
    }

    #[test]
    fn a_name_decides() {
        let by = |name: &str| Called::by(Some(&name.into()));
        assert_eq!(by("/opt/bin/kubectl-dbrender"), Called::Plugin);
        assert_eq!(by("kubectl_complete-dbrender"), Called::Completer);
        assert_eq!(by("dbrender"), Called::Itself);
        assert_eq!(Called::by(None), Called::Itself);
    }
}
