//! The only room that talks to a cluster.
#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "below the I/O line: connections, time and randomness live here"
)]

mod backups;
mod connection;
mod credentials;
mod dry_run;
mod live;
mod role;

pub use crate::diff::Hidden;
pub use backups::{BackupError, Outcome, Run, Subject, await_backup, backups, start_backup};
pub use connection::{Connect, ConnectError, address, connect, context_name};
pub use credentials::{FillError, Filled, Owner, fill, rotate};
pub use dry_run::{Opinion, dry_run};
pub use live::{Seen, Wanted, read_live};
pub use role::{Member, keep_role_label};
