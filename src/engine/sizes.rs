//! Least sizes: a rule that every engine has, with its own numbers.

use crate::api::{DatabaseSpec, Quantity};
use crate::problem::{Code, FieldPath, Problem, Problems};

/// Least sizes of an engine's server.
pub(super) struct Least {
    /// The engine's name, as its makers write it.
    pub(super) title: &'static str,
    /// Thousandths of a core.
    pub(super) millicores: u64,
    /// Bytes, a whole number of MiB.
    pub(super) memory: u64,
}

/// Reports sizes below the least.
pub(super) fn check(spec: &DatabaseSpec, least: &Least, out: &mut Problems) {
    let mut few = |field: &str, what: String| {
        let message = format!("{} needs {what} or more", least.title);
        let problem = Problem::new(Code::TooFewResources, FieldPath::of("spec.resources").key(field), message);
        out.push(problem.with_hint(format!("use {field}: {what}")));
    };
    // Fractions of a byte and of a millicore have a problem of their own.
    let cpu = Quantity::parse(&spec.resources.cpu).ok();
    let millicores = cpu.and_then(|cpu| cpu.millicores()).filter(|m| Quantity::parse(&format!("{m}m")).ok() == cpu);
    let memory = Quantity::parse(&spec.resources.memory).ok();
    let bytes = memory.and_then(|memory| memory.bytes()).filter(|bytes| Some(Quantity::of_bytes(*bytes)) == memory);
    if millicores.is_some_and(|m| (1..least.millicores).contains(&m)) {
        few("cpu", format!("{}m", least.millicores));
    }
    if bytes.is_some_and(|bytes| (1..least.memory).contains(&bytes)) {
        few("memory", format!("{}Mi", least.memory >> 20));
    }
}
