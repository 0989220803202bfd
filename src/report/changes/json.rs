//! The report as JSON: the value itself.

use crate::diff::Report;

/// The report in the published schema `dbrender.report/v1`, indented, with a line break at the end.
#[must_use]
pub fn json(report: &Report) -> String {
    // The type holds nothing that JSON cannot: no maps with other keys than text, no NaN.
    let mut out = serde_json::to_string_pretty(report).unwrap_or_default();
    out.push('\n');
    out
}
