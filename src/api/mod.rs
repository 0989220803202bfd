//! The `Database` object, its status, and the value types that its fields hold.
//!
//! Nothing here knows an engine, a file or a cluster. Everything else reads these types and none of them is changed
//! after it has been read.

mod annotation;
mod calendar;
mod crd;
mod database;
mod platform;
mod quantity;
mod schedule;
mod status;
mod time_zone;
mod told;
mod window;

pub use annotation::{
    FORCE_PRIMARY, MAINTENANCE_WINDOW, RESUME_ROLLOUTS, ROTATE_CREDENTIALS, SKIP_FINAL_BACKUP, STEERING,
};
pub use crd::{NAME_MAX, crd, database_schema, platform_schema};
pub use database::{
    API_VERSION, Access, AccessNamespaces, Backup, BackupSource, Bootstrap, Credentials, Database, DatabaseSpec,
    DeletionPolicy, EngineName, Failover, GROUP, KIND, LabelSelector, Monitoring, Replication, Resources, Scheduling,
    Service, ServiceType, Storage, Tls, Toleration,
};
pub use platform::{
    BackupDestination, CredentialsMode, ExternalStore, Generator, Limits, NetworkPolicy, PLATFORM_API_VERSION,
    PLATFORM_KIND, Platform, PlatformCredentials, PlatformMetadata, PlatformMonitoring, PlatformSettings, S3,
    SizedVolume, StoreKind,
};
pub use quantity::{Quantity, QuantityError};
pub use schedule::{CronField, Intervals, Schedule, ScheduleError};
pub use status::{Condition, DatabaseStatus, Phase};
pub use time_zone::{is_time_zone, time_zones};
pub use told::{CONDITIONS, EVENTS, METRICS, Metric, REASONS, Told, is_condition, is_event, metric_of};
pub use window::Window;
