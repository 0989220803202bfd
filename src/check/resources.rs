//! CPU and memory of the database container.

use super::{Subject, spec};
use crate::api::Quantity;
use crate::problem::{Code, Problem, Problems};

/// More cores than any machine has: `1G` and `1k` are slips.
const CORES_MAX: u64 = 4096;
/// More memory than any machine has, in bytes: 256 TiB.
const MEMORY_MAX: u64 = 256 << 40;

/// CPU, whole thousandths of a core.
pub(super) fn cpu(subject: &Subject<'_>, out: &mut Problems) -> Option<Quantity> {
    let written = subject.spec.resources.cpu.as_str();
    let cpu = quantity(written, "resources.cpu", out)?;
    let millicores = cpu.millicores().filter(|m| (1..=CORES_MAX * 1000).contains(m));
    let whole = millicores.is_some_and(|m| Quantity::parse(&format!("{m}m")) == Ok(cpu));
    if cpu.is_binary() || !whole {
        let message = format!("resources.cpu {written} is no number of cores");
        out.push(
            Problem::new(Code::OddQuantity, spec("resources.cpu"), message)
                .with_hint("write cores or millicores, for example 2 or 500m"),
        );
        return None;
    }
    Some(cpu)
}

/// Memory, whole bytes.
pub(super) fn memory(subject: &Subject<'_>, out: &mut Problems) -> Option<Quantity> {
    let written = subject.spec.resources.memory.as_str();
    let memory = quantity(written, "resources.memory", out)?;
    let bytes = memory.bytes().filter(|bytes| (1..=MEMORY_MAX).contains(bytes));
    if bytes.is_none_or(|bytes| Quantity::of_bytes(bytes) != memory) {
        let problem = Problem::new(
            Code::OddQuantity,
            spec("resources.memory"),
            format!("resources.memory {written} is no number of bytes that a machine has"),
        );
        // `400m` is the classic: four tenths of a byte.
        out.push(match written.strip_suffix('m').filter(|digits| digits.bytes().all(|b| b.is_ascii_digit())) {
            Some(digits) => problem.with_hint(format!("did you mean {digits}Mi? m is a thousandth")),
            None => problem.with_hint("write Mi or Gi, for example 512Mi or 4Gi"),
        });
        return None;
    }
    Some(memory)
}

fn quantity(written: &str, field: &str, out: &mut Problems) -> Option<Quantity> {
    match Quantity::parse(written) {
        Ok(quantity) => Some(quantity),
        Err(error) => {
            out.report(Code::InvalidQuantity, spec(field), format!("{field} {written:?} is {error}"));
            None
        }
    }
}
