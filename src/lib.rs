//! `dbrender` turns `Database` objects into the Kubernetes manifests that run them.
//!
//! The rooms above the I/O line are functions of their arguments: no clock, environment, file, network, randomness or
//! thread. `ARCHITECTURE.md` says which room uses which.

pub mod api;
pub mod check;
pub mod diff;
pub mod engine;
pub mod input;
pub mod plan;
pub mod problem;
pub mod render;
pub mod report;
pub mod yaml;

// I/O begins below this line.

#[cfg(feature = "cli")]
pub mod cli;
#[cfg(feature = "cluster")]
pub mod cluster;
#[cfg(feature = "cluster")]
pub mod controller;
#[cfg(feature = "cli")]
pub mod io;
