//! `dbrender` turns `Database` objects into the Kubernetes manifests that run them.
//!
//! The rooms above the I/O line are functions of their arguments: no clock, environment, file, network, randomness or
//! thread. `ARCHITECTURE.md` says which room uses which.

pub mod api;
pub mod problem;
pub mod yaml;
