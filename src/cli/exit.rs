//! The exit codes, in one place.

use std::process::ExitCode;

use crate::problem::{Code, Problems, Severity};

/// How a run ended. The numbers are part of the interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Exit {
    /// 0: done, or in sync.
    Done,
    /// 1: there are differences.
    Differences,
    /// 2: bad usage or invalid input; nothing was written.
    Invalid,
    /// 3: something could not be read, written or reached: the answer is incomplete.
    Incomplete,
    /// 4: a guard refused.
    Refused,
}

/// What `--help` says about them.
pub(super) const EXIT_CODES: &str = "\
Exit codes:
  0  done, or in sync
  1  differences (diff, --check)
  2  bad usage or invalid input; nothing was written
  3  something could not be read or written: the answer is incomplete
  4  refused, because something would be lost";

impl Exit {
    /// The exit that fits some problems. What could not be read outweighs the rest: the others may be incomplete.
    pub(super) fn of(problems: &Problems) -> Exit {
        let errors = problems.iter().filter(|problem| problem.severity == Severity::Error);
        errors.map(|problem| of_code(problem.code)).max_by_key(|exit| exit.weight()).unwrap_or(Exit::Done)
    }

    /// The one that weighs more.
    pub(super) fn or_worse(self, other: Exit) -> Exit {
        if other.weight() > self.weight() { other } else { self }
    }

    const fn weight(self) -> u8 {
        match self {
            Exit::Done => 0,
            Exit::Differences => 1,
            Exit::Refused => 2,
            Exit::Invalid => 3,
            Exit::Incomplete => 4,
        }
    }
}

fn of_code(code: Code) -> Exit {
    match code {
        Code::Unreadable | Code::Unwritable | Code::CannotRead | Code::NotAllowedToRead | Code::UnreadableObject => {
            Exit::Incomplete
        }
        Code::EditedFile | Code::ForeignFile | Code::ConflictMarker | Code::WouldBeEmpty | Code::BrokenLock => {
            Exit::Refused
        }
        _ => Exit::Invalid,
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(match exit {
            Exit::Done => 0,
            Exit::Differences => 1,
            Exit::Invalid => 2,
            Exit::Incomplete => 3,
            Exit::Refused => 4,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::Exit;
    use crate::problem::{Code, FieldPath, Problem, Problems};

    #[test]
    fn what_could_not_be_read_outweighs_the_rest_and_warnings_weigh_nothing() {
        let of = |codes: &[Code]| {
            let problems: Problems = codes.iter().map(|code| Problem::new(*code, FieldPath::root(), "")).collect();
            Exit::of(&problems)
        };
        assert_eq!(of(&[]), Exit::Done);
        assert_eq!(of(&[Code::LeftBehind, Code::EvenReplicas]), Exit::Done);
        assert_eq!(of(&[Code::OutOfRange, Code::LeftBehind]), Exit::Invalid);
        assert_eq!(of(&[Code::OutOfRange, Code::Unreadable]), Exit::Incomplete);
        assert_eq!(of(&[Code::EditedFile]), Exit::Refused);
        assert_eq!(of(&[Code::EditedFile, Code::Unwritable]), Exit::Incomplete);
    }
}
