//! Annotations of a Database that steer dbrender. All others below our group are misspelt.

/// Promotion at a price: `<ordinal>/<timeline>`.
pub const FORCE_PRIMARY: &str = "app.example.com/force-primary";
/// `true`: a Database goes although its last backup failed.
pub const SKIP_FINAL_BACKUP: &str = "app.example.com/skip-final-backup";
/// When members may restart because of a change; see [`super::Window`].
pub const MAINTENANCE_WINDOW: &str = "app.example.com/maintenance-window";
/// On a Database that did not become ready: the controller takes it away and lets others restart again.
pub const RESUME_ROLLOUTS: &str = "app.example.com/resume-rollouts";
/// Passwords to make anew, by their keys; the controller takes it away when that is done.
pub const ROTATE_CREDENTIALS: &str = "app.example.com/rotate-credentials";

/// All of them.
pub const STEERING: [&str; 5] =
    [FORCE_PRIMARY, MAINTENANCE_WINDOW, RESUME_ROLLOUTS, ROTATE_CREDENTIALS, SKIP_FINAL_BACKUP];
