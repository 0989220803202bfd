//! Which cluster, as whom: the same choices as kubectl's.

use std::path::PathBuf;
use std::time::Duration;

use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};

/// kubectl's flags for a connection. Everything absent: `KUBECONFIG`, then `~/.kube/config`, then the pod's own account.
#[derive(Clone, Debug, Default)]
pub struct Connect {
    /// Path of a kubeconfig.
    pub kubeconfig: Option<PathBuf>,
    /// Context in it.
    pub context: Option<String>,
    /// Cluster in it.
    pub cluster: Option<String>,
    /// User in it.
    pub user: Option<String>,
    /// User to act as.
    pub impersonate: Option<String>,
    /// Longest wait for one answer.
    pub request_timeout: Option<Duration>,
    /// Whether the client itself asks a busy server again, for up to minutes. Right for what nobody waits for.
    pub patient: bool,
}

/// Why there is no connection.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    /// The kubeconfig cannot be read, or lacks what was named.
    #[error("cannot use the kubeconfig: {0}")]
    Kubeconfig(#[from] kube::config::KubeconfigError),
    /// There is neither a kubeconfig nor a pod's account.
    #[error("no cluster is configured: {0}")]
    Nowhere(#[from] kube::config::InferConfigError),
    /// The configuration cannot be turned into a client.
    #[error("cannot connect: {0}")]
    Client(#[from] kube::Error),
}

/// A client, with its default namespace. It has not spoken to the server yet.
///
/// # Errors
/// When the kubeconfig cannot be read or lacks what was named.
pub async fn connect(choice: &Connect) -> Result<Client, ConnectError> {
    Ok(Client::try_from(config(choice).await?)?)
}

/// The address of the server that [`connect`] speaks to, where it can be known.
pub async fn address(choice: &Connect) -> Option<String> {
    let address = config(choice).await.ok()?.cluster_url.to_string();
    Some(address.trim_end_matches('/').to_owned())
}

async fn config(choice: &Connect) -> Result<Config, ConnectError> {
    let options = KubeConfigOptions {
        context: choice.context.clone(),
        cluster: choice.cluster.clone(),
        user: choice.user.clone(),
    };
    let mut config = match &choice.kubeconfig {
        Some(path) => Config::from_custom_kubeconfig(Kubeconfig::read_from(path)?, &options).await?,
        None if choice.context.is_some() || choice.cluster.is_some() || choice.user.is_some() => {
            Config::from_kubeconfig(&options).await?
        }
        None => Config::infer().await?,
    };
    if let Some(user) = &choice.impersonate {
        config.auth_info.impersonate = Some(user.clone());
    }
    config.default_retry = choice.patient;
    config.read_timeout = choice.request_timeout.or(Some(Duration::from_secs(60)));
    Ok(config)
}

/// The name of the context that [`connect`] uses. `None`: the pod's own account, which has no name.
///
/// # Errors
/// When the kubeconfig cannot be read.
pub fn context_name(choice: &Connect) -> Result<Option<String>, ConnectError> {
    if let Some(name) = &choice.context {
        return Ok(Some(name.clone()));
    }
    match &choice.kubeconfig {
        Some(path) => Ok(Kubeconfig::read_from(path)?.current_context),
        // Without any kubeconfig there is still the pod's account, and `connect` says when that is missing too.
        None => Ok(Kubeconfig::read().ok().and_then(|config| config.current_context)),
    }
}
