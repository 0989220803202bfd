//! `dbrender` turns `Database` objects into the Kubernetes manifests that run them.
//!
//! The rooms above the I/O line are functions of their arguments: no clock, environment, file, network, randomness or
//! thread. `ARCHITECTURE.md` says which room uses which.

// The wall of clippy.toml is for what is shipped: tests beside the code may read files and run programs.
#![cfg_attr(
    test,
    allow(
        clippy::disallowed_methods,
        clippy::disallowed_types,
        clippy::panic,
        clippy::print_stderr,
        clippy::print_stdout,
        clippy::unwrap_used
    )
)]

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
