//! Standard output: the result of a run and nothing else.

use std::io::{self, ErrorKind, Write};

use super::exit::Exit;
use crate::problem::{Code, FieldPath, Problem};

/// Why writing stopped.
#[derive(Debug)]
pub(super) enum Stopped {
    /// Whoever reads has enough, as `head` does. That is no fault.
    Closed,
    /// The rest could not be written.
    Failed(Problem),
}

impl From<io::Error> for Stopped {
    fn from(error: io::Error) -> Stopped {
        if error.kind() == ErrorKind::BrokenPipe {
            return Stopped::Closed;
        }
        let message = format!("cannot write the result to stdout: {}", crate::io::reason(&error));
        Stopped::Failed(
            Problem::new(Code::Unwritable, FieldPath::root(), message).with_hint("check the space where stdout goes"),
        )
    }
}

/// Writes a result in large pieces. Everything has arrived when this returns well.
pub(super) fn print(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), Stopped> {
    // What is larger goes to the system as it is, without a copy.
    let mut out = io::BufWriter::with_capacity(1 << 16, io::stdout().lock());
    write(&mut out)?;
    // A writer that is dropped hides what it could not write.
    out.flush()?;
    Ok(())
}

/// Writes a text and says how the run ended.
pub(super) fn print_text(text: &str, tell: &super::tell::Tell) -> Exit {
    finish(print(|out| out.write_all(text.as_bytes())), tell)
}

/// How a run ended whose only work was to print.
pub(super) fn finish(printed: Result<(), Stopped>, tell: &super::tell::Tell) -> Exit {
    match printed {
        Ok(()) | Err(Stopped::Closed) => Exit::Done,
        Err(Stopped::Failed(problem)) => tell.problems(&[problem].into_iter().collect(), &[]),
    }
}
