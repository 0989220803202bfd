//! YAML as Kubernetes reads it and as we write it.
//!
//! The reader gives the value that `kubectl apply` would send, with the byte range of every node: the text is cut into
//! documents by lines (`k8s.io/apimachinery/pkg/util/yaml`), each document is parsed by `granit-parser`, and scalars
//! are resolved by the YAML 1.1 rules of `go.yaml.in/yaml/v2`. Where Kubernetes drops text or guesses in silence, the
//! reader refuses. The writer makes one canonical text of a value, which Kubernetes reads back unchanged.
//!
//! Both are functions of their arguments, and hostile text ends with an error within the given [`Limits`].

mod budget;
mod json;
mod merge;
mod node;
mod read;
mod scalar;
mod strict;
mod syntax;
mod tag;
mod text;
mod tree;
mod walk;
mod write;

#[cfg(test)]
mod tests;

pub use node::{Entry, Key, Kind, Node, Step};
pub use read::{Document, Limits, ReadError, ReadErrorKind, decode, read_stream};
pub use walk::{Unwritable, sort_keys};
pub use write::{write_document, write_object, write_stream};
