//! `dbrender` turns `Database` objects into the Kubernetes manifests that run them.
//!
//! The rooms above the I/O line are functions of their arguments.

pub mod api;
pub mod yaml;
