//! Asks `testbed/yaml-oracle`, which is built on first use, and makes random numbers that are the same in every run.

use std::io::{BufRead, BufReader, BufWriter, Write};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use dbrender::yaml::{Limits, read_stream};
use serde_json::Value;

/// What Kubernetes makes of a text.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Answer {
    Read(Value),
    Refused(String),
}

fn program() -> &'static PathBuf {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| {
        let program = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("yaml-oracle");
        let source = concat!(env!("CARGO_MANIFEST_DIR"), "/testbed/yaml-oracle");
        let status = Command::new("go").args(["build", "-o"]).arg(&program).arg(".").current_dir(source).status();
        assert!(status.as_ref().is_ok_and(std::process::ExitStatus::success), "go build in {source}: {status:?}");
        program
    })
}

/// Asks all requests, each a kind and a text, in one go. The answers come in the same order.
pub(crate) fn ask<'r>(requests: impl Iterator<Item = (&'r str, &'r [u8])> + Clone + Send) -> Vec<Answer> {
    let count = requests.clone().count();
    let mut child = Command::new(program()).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut input = BufWriter::new(child.stdin.take().unwrap());
    let output = BufReader::new(child.stdout.take().unwrap());
    let answers: Vec<Answer> = std::thread::scope(|scope| {
        scope.spawn(move || {
            for (kind, text) in requests {
                writeln!(input, "{kind} {}", text.len()).unwrap();
                input.write_all(text).unwrap();
            }
            input.flush().unwrap();
        });
        output.lines().map(|line| answer(&line.unwrap())).collect()
    });
    assert!(child.wait().unwrap().success(), "the oracle failed");
    assert_eq!(answers.len(), count, "one answer for each request");
    answers
}

fn answer(line: &str) -> Answer {
    // Not serde_json: it reads some floats wrong in the last digit.
    let limits = Limits { bytes: usize::MAX, ..Limits::default() };
    let (documents, errors) = read_stream(line, &limits);
    assert!(errors.is_empty(), "{errors:?}: {line}");
    let mut line = documents[0].root.to_json();
    match line.get("error").and_then(Value::as_str) {
        Some(error) => Answer::Refused(error.to_owned()),
        None => Answer::Read(line["ok"].take()),
    }
}

/// Numbers that look random (xorshift64*).
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    /// Below `end`, which is not 0.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        (self.next() >> 33) as usize % end
    }
}

/// A number from the environment, to look further than a test run has time for.
pub(crate) fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).map_or(default, |text| text.parse().unwrap())
}
