//! What a text may still ask for.

use std::ops::Range;

use super::read::{Limits, ReadError, ReadErrorKind};

/// What is left of the [`Limits`] while a text is read.
#[derive(Debug, Clone, Copy)]
pub(super) struct Budget {
    pub(super) limits: Limits,
    nodes: usize,
    alias_nodes: usize,
}

impl Budget {
    pub(super) fn new(limits: &Limits) -> Self {
        Budget { limits: *limits, nodes: limits.nodes, alias_nodes: limits.alias_nodes }
    }

    /// Counts `count` values at `span`.
    pub(super) fn spend(&mut self, count: usize, span: &Range<usize>) -> Result<(), ReadError> {
        match self.nodes.checked_sub(count) {
            Some(left) => {
                self.nodes = left;
                Ok(())
            }
            None => Err(limit(span, format!("the text holds more than {} values", self.limits.nodes))),
        }
    }

    /// Counts `count` values that an alias at `span` brings.
    pub(super) fn spend_alias(&mut self, count: usize, span: &Range<usize>) -> Result<(), ReadError> {
        self.spend(count, span)?;
        match self.alias_nodes.checked_sub(count) {
            Some(left) => {
                self.alias_nodes = left;
                Ok(())
            }
            None => Err(limit(span, format!("aliases expand to more than {} values", self.limits.alias_nodes))),
        }
    }

    /// Refuses a collection at `depth`, the outermost having depth 1.
    pub(super) fn check_depth(&self, depth: usize, span: &Range<usize>) -> Result<(), ReadError> {
        if depth > self.limits.depth {
            return Err(limit(span, format!("lists and mappings are nested more than {} deep", self.limits.depth)));
        }
        Ok(())
    }
}

fn limit(span: &Range<usize>, message: String) -> ReadError {
    ReadError { span: span.clone(), kind: ReadErrorKind::Limit, message, hint: None }
}
