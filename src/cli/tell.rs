//! Standard error: problems, and what was done.

use std::collections::BTreeMap;
use std::io::Write;

use anstream::{AutoStream, ColorChoice};

use super::args::{Color, OutputFlags};
use super::exit::Exit;
use crate::input::Source;
use crate::problem::{Problem, Problems, Severity};
use crate::report::problems as report;

/// Warnings of one code that are shown; a fleet may have the same one a thousand times.
const WARNINGS: usize = 5;

/// How much is said, and in which colours.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tell {
    flags: Level,
    color: Color,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Level {
    Quiet,
    Normal,
    Verbose,
}

impl Tell {
    pub(super) fn new(flags: &OutputFlags) -> Tell {
        let level = match (flags.quiet, flags.verbose) {
            (true, _) => Level::Quiet,
            (false, true) => Level::Verbose,
            (false, false) => Level::Normal,
        };
        Tell { flags: level, color: flags.color }
    }

    /// Prints problems with the text around them and says which exit fits them: every error, and of many warnings with the
    /// same code the first few and how many more there are.
    pub(super) fn problems(&self, problems: &Problems, sources: &[Source]) -> Exit {
        let mut warnings: BTreeMap<&str, usize> = BTreeMap::new();
        let is_shown = |problem: &&Problem| {
            if problem.severity == Severity::Error {
                return true;
            }
            let count = warnings.entry(problem.code.id()).or_default();
            *count += 1;
            self.flags > Level::Normal || *count <= WARNINGS
        };
        let shown: Problems = problems.iter().filter(is_shown).cloned().collect();
        self.every_problem(&shown, sources);
        if self.flags == Level::Normal {
            for (code, count) in warnings.into_iter().filter(|(_, count)| *count > WARNINGS) {
                self.say(&format!("warning: {} more of {code}; -v shows them all\n\n", count - WARNINGS));
            }
        }
        Exit::of(problems)
    }

    /// The same, without leaving any out: where problems are what was asked for.
    pub(super) fn every_problem(&self, problems: &Problems, sources: &[Source]) -> Exit {
        let shown: Problems =
            problems.iter().filter(|p| self.flags > Level::Quiet || p.severity == Severity::Error).cloned().collect();
        self.say(&report::text(&shown, sources, self.is_colored()));
        Exit::of(problems)
    }

    /// Prints a line about what was done.
    pub(super) fn summary(&self, line: &str) {
        if self.flags > Level::Quiet {
            self.say(&format!("{line}\n"));
        }
    }

    /// Prints a line for who wants to know more.
    pub(super) fn detail(&self, line: impl FnOnce() -> String) {
        if self.flags == Level::Verbose {
            self.say(&format!("{}\n", line()));
        }
    }

    /// Prints what is wrong with the command line itself.
    pub(super) fn usage(&self, message: &str) -> Exit {
        self.say(&format!("error: {message}\n\nFor more information, try '--help'.\n"));
        Exit::Invalid
    }

    /// Prints why something could not be reached or done.
    pub(super) fn unreached(&self, reason: &str) -> Exit {
        self.say(&format!("error: {reason}\n"));
        Exit::Incomplete
    }

    /// Prints what a guard has to say.
    pub(super) fn problem_line(&self, message: &str) {
        self.say(&format!("error: {message}\n"));
    }

    /// Whether more than usual is asked for.
    pub(super) fn is_verbose(&self) -> bool {
        self.flags == Level::Verbose
    }

    /// Whether a result on stdout has colours.
    pub(super) fn colors_stdout(&self) -> bool {
        match self.color {
            Color::Always => true,
            Color::Never => false,
            Color::Auto => AutoStream::choice(&std::io::stdout()) != ColorChoice::Never,
        }
    }

    fn is_colored(&self) -> bool {
        match self.color {
            Color::Always => true,
            Color::Never => false,
            // Knows terminals, NO_COLOR, CLICOLOR and CLICOLOR_FORCE.
            Color::Auto => AutoStream::choice(&std::io::stderr()) != ColorChoice::Never,
        }
    }

    fn say(&self, text: &str) {
        // There is nobody left to tell when this fails.
        let _ = std::io::stderr().lock().write_all(text.as_bytes());
    }
}
