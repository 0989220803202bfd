//! Where passwords come from, and Secrets that the user names.

use super::{Subject, kubernetes_name, spec};
use crate::api::{CredentialsMode, Generator};
use crate::plan::Credentials;
use crate::problem::{Code, Problem, Problems};

/// Fits `spec.credentials` to the platform's mode.
pub(super) fn check(subject: &Subject<'_>, out: &mut Problems) -> Option<Credentials> {
    let ground = subject.ground;
    let named = subject.spec.credentials.as_ref();
    match (ground.credentials, named) {
        (CredentialsMode::Existing, None) => {
            let message = "the platform's credentials mode is existing, so every Database names its Secrets";
            out.push(
                Problem::new(Code::CredentialsNotAllowed, spec("credentials"), message)
                    .with_hint("add spec.credentials with appSecretName and adminSecretName"),
            );
            None
        }
        (CredentialsMode::External, Some(_)) => {
            let message = "the platform's credentials mode is external, so no Database names Secrets of its own";
            out.push(
                Problem::new(Code::CredentialsNotAllowed, spec("credentials"), message)
                    .with_hint("remove spec.credentials"),
            );
            None
        }
        (CredentialsMode::Generated | CredentialsMode::Existing, Some(named)) => {
            let (app, admin) = (&named.app_secret_name, &named.admin_secret_name);
            let mut good = true;
            for (field, name) in [("credentials.appSecretName", app), ("credentials.adminSecretName", admin)] {
                good &= secret(field, name, out);
            }
            if app == admin {
                let message = "the Secret for applications must not be the one that holds the server's own passwords";
                out.push(
                    Problem::new(Code::InvalidReference, spec("credentials.adminSecretName"), message)
                        .with_hint("name two Secrets"),
                );
                good = false;
            }
            good.then(|| Credentials::Existing { app: app.clone(), admin: admin.clone() })
        }
        (CredentialsMode::Generated, None) => Some(Credentials::Generated { job: ground.generator == Generator::Job }),
        (CredentialsMode::External, None) => ground.store.clone(),
    }
}

/// The Secret with the server's certificate.
pub(super) fn tls_secret(subject: &Subject<'_>, out: &mut Problems) -> Option<String> {
    let name = &subject.spec.tls.as_ref()?.secret_name;
    secret("tls.secretName", name, out).then(|| name.clone())
}

fn secret(field: &str, name: &str, out: &mut Problems) -> bool {
    let valid = kubernetes_name::object_name(name);
    if let Err(reason) = &valid {
        out.report(Code::InvalidReference, spec(field), format!("the name of the Secret {name:?} must {reason}"));
    }
    valid.is_ok()
}
