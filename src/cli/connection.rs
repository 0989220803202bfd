//! Flags of every command that talks to a cluster: the same as kubectl's.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use crate::cluster::Connect;

/// Which cluster, as whom.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Cluster")]
pub(super) struct ClusterFlags {
    /// Kubeconfig. Without it: KUBECONFIG, ~/.kube/config, then the pod's own account.
    #[arg(long, value_name = "FILE")]
    pub(super) kubeconfig: Option<PathBuf>,
    /// Context of the kubeconfig.
    #[arg(long, value_name = "NAME")]
    pub(super) context: Option<String>,
    /// Cluster of the kubeconfig.
    #[arg(long, value_name = "NAME")]
    pub(super) cluster: Option<String>,
    /// User of the kubeconfig.
    #[arg(long, value_name = "NAME")]
    pub(super) user: Option<String>,
    /// User to act as.
    #[arg(long = "as", value_name = "USER")]
    pub(super) impersonate: Option<String>,
    /// Longest wait for one answer: 30s, 2m.
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub(super) request_timeout: Option<Duration>,
}

impl ClusterFlags {
    /// The same as a value. `patient`: whether a busy server is asked again for minutes.
    pub(super) fn connect(&self, patient: bool) -> Connect {
        let ClusterFlags { kubeconfig, context, cluster, user, impersonate, request_timeout } = self.clone();
        Connect { kubeconfig, context, cluster, user, impersonate, request_timeout, patient }
    }
}

/// Whole seconds, minutes or hours: `30`, `30s`, `2m`, `1h`.
pub(super) fn duration(text: &str) -> Result<Duration, String> {
    let (number, unit) = match text.strip_suffix(['s', 'm', 'h']) {
        Some(number) => (number, text.as_bytes().last()),
        None => (text, None),
    };
    let seconds: Option<u64> = number.parse().ok().and_then(|number: u64| match unit {
        Some(b'm') => number.checked_mul(60),
        Some(b'h') => number.checked_mul(3600),
        _ => Some(number),
    });
    seconds.map(Duration::from_secs).ok_or_else(|| "write it as 30s, 2m or 1h".to_owned())
}

#[cfg(test)]
mod tests {
    use super::duration;

    #[test]
    fn times_are_read() {
        for (text, seconds) in [("30", 30), ("30s", 30), ("2m", 120), ("1h", 3600), ("0s", 0)] {
            assert_eq!(duration(text).map(|d| d.as_secs()), Ok(seconds), "{text}");
        }
        for text in ["", "s", "-1s", "1.5m", "1d", "99999999999999999999", "99999999999999999h"] {
            assert!(duration(text).is_err(), "{text}");
        }
    }
}
