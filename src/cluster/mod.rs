//! The only room that talks to a cluster.
#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "below the I/O line: connections, time and randomness live here"
)]

mod connection;
mod credentials;

pub use connection::{Connect, ConnectError, connect};
pub use credentials::{FillError, Filled, Owner, fill};
pub use crate::diff::Hidden;
