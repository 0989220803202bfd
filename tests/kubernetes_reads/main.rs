//! What we write is read by Kubernetes as the same value, and what we read is what Kubernetes reads.
//!
//! The other side is `testbed/yaml-oracle`: the readers of Kubernetes themselves, pinned as Go modules. The files under
//! `cases` hold what is known to go wrong; random input finds what is not known. Each test says in numbers what it
//! compared (`-- --nocapture`). `DBRENDER_SEED` and `DBRENDER_ROUNDS` make it look elsewhere and further,
//! `DBRENDER_SHOW_STRICT=1` prints what we refuse on purpose, `DBRENDER_BLESS=1` writes `cases/answers.jsonl` again.

#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::panic,
    clippy::print_stderr,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a test may use files and programs, and ends where it fails"
)]
#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a test says what it compared, or fails")]

mod documents;
mod oracle;
mod values;
