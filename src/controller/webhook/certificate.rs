//! The webhook's certificate: read from a folder, and read again when the folder changes.

use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::time::sleep;
use tokio_rustls::rustls::client::verify_server_cert_signed_by_trust_anchor;
use tokio_rustls::rustls::crypto::{CryptoProvider, ring};
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer, UnixTime};
use tokio_rustls::rustls::server::{ClientHello, ParsedCertificate, ResolvesServerCert};
use tokio_rustls::rustls::sign::CertifiedKey;
use tokio_rustls::rustls::{CertificateError, Error, RootCertStore, ServerConfig};

use crate::controller::Shared;

/// How often the folder is looked at. A kubelet takes up to a minute to bring a changed Secret.
const PAUSE: Duration = Duration::from_secs(5);

/// The certificate that is in use.
#[derive(Debug, Default)]
pub(super) struct Certificate(Mutex<Option<Arc<CertifiedKey>>>);

impl ResolvesServerCert for Certificate {
    fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// How TLS is spoken: by whoever has a certificate, to everybody.
pub(super) fn config(certificate: Arc<Certificate>) -> Result<ServerConfig, Error> {
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()));
    Ok(config.with_safe_default_protocol_versions()?.with_no_client_auth().with_cert_resolver(certificate))
}

/// Reads the folder for ever. What was read before stays in use until there is something better.
pub(super) async fn follow(folder: PathBuf, certificate: Arc<Certificate>, shared: Shared) {
    let provider = ring::default_provider();
    let (mut in_use, mut told) = ((Vec::new(), Vec::new()), String::new());
    let mut end = 0;
    loop {
        let news = match read(&folder) {
            Ok(files) if files == in_use => None,
            Ok(files) => Some(certified(&files, &provider).map(|certified| (files, certified))),
            Err(why) => Some(Err(why)),
        };
        let mut trouble = String::new();
        match news {
            None => {}
            Some(Ok((files, (key, ends)))) => {
                *certificate.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(key);
                (in_use, end) = (files, ends);
                shared.progress.counted.certificate_end.store(end, Ordering::Relaxed);
                shared.progress.say(&format!("the webhook has a certificate that ends at {}", time(end)));
            }
            Some(Err(why)) => trouble = format!("the webhook's certificate in {}: {why}", folder.display()),
        }
        if trouble.is_empty() && UnixTime::now().as_secs() > end {
            trouble = format!(
                "the webhook's certificate has ended at {}: the API server refuses every change of a Database until {} has a new one",
                time(end),
                folder.display()
            );
        }
        if trouble != told {
            if !trouble.is_empty() {
                shared.progress.say(&trouble);
            }
            told = trouble;
        }
        sleep(PAUSE).await;
    }
}

/// A chain and its key, as text.
type Files = (Vec<u8>, Vec<u8>);

/// A Secret is mounted so that all of it changes at once, but two reads may still fall on both sides of that: then the two
/// do not fit, and the next look has both.
fn read(folder: &Path) -> Result<Files, String> {
    let file = |name: &str| std::fs::read(folder.join(name)).map_err(|error| format!("{name}: {error}"));
    Ok((file("tls.crt")?, file("tls.key")?))
}

/// Chain and key, when they belong together, and when the first of the chain ends.
fn certified((chain, key): &Files, provider: &CryptoProvider) -> Result<(Arc<CertifiedKey>, u64), String> {
    let chain: Vec<CertificateDer<'static>> =
        CertificateDer::pem_slice_iter(chain).collect::<Result<_, _>>().map_err(|error| format!("tls.crt: {error}"))?;
    let first = chain.first().cloned().ok_or("tls.crt holds no certificate")?;
    // The words of a reader of keys could say what it read.
    let key = PrivateKeyDer::from_pem_slice(key).map_err(|_| "tls.key holds no private key")?;
    let end = end(&first, provider).map_err(|error| format!("tls.crt: {error}"))?;
    let certified = CertifiedKey::from_der(chain, key, provider)
        .map_err(|error| format!("tls.crt and tls.key do not go together: {error}"))?;
    Ok((Arc::new(certified), end))
}

/// When a certificate ends, in seconds since 1970: asked of the library that checks them, which says so of one that has
/// ended. At the end of all time, each has.
fn end(certificate: &CertificateDer<'_>, provider: &CryptoProvider) -> Result<u64, String> {
    let parsed = ParsedCertificate::try_from(certificate).map_err(|error| error.to_string())?;
    let last = UnixTime::since_unix_epoch(Duration::from_secs(u64::MAX));
    let algorithms = provider.signature_verification_algorithms.all;
    match verify_server_cert_signed_by_trust_anchor(&parsed, &RootCertStore::empty(), &[], last, algorithms) {
        Err(Error::InvalidCertificate(CertificateError::ExpiredContext { not_after, .. })) => Ok(not_after.as_secs()),
        Err(error) => Err(error.to_string()),
        Ok(()) => Err("it never ends".to_owned()),
    }
}

fn time(seconds: u64) -> String {
    let time = i64::try_from(seconds).ok().and_then(|seconds| jiff::Timestamp::from_second(seconds).ok());
    time.map_or_else(|| "an unknown time".to_owned(), |time| time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string())
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use tokio_rustls::rustls::crypto::ring;

    use super::{certified, read, time};

    fn made(days: &str) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        let status = Command::new("openssl")
            .args(["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"])
            .args(["-days", days, "-subj", "/CN=x", "-keyout", "tls.key", "-out", "tls.crt"])
            .current_dir(folder.path())
            .output()
            .unwrap();
        assert!(status.status.success(), "{}", String::from_utf8_lossy(&status.stderr));
        folder
    }

    #[test]
    fn a_certificate_is_known_with_its_end_and_only_with_its_own_key() {
        let provider = ring::default_provider();
        let (one, other) = (made("2"), made("2"));
        let files = read(one.path()).unwrap();
        let (_, end) = certified(&files, &provider).unwrap();
        let shown = Command::new("openssl")
            .args(["x509", "-noout", "-enddate", "-dateopt", "iso_8601", "-in", "tls.crt"])
            .current_dir(one.path())
            .output()
            .unwrap();
        let shown = String::from_utf8(shown.stdout).unwrap().replace(' ', "T");
        assert_eq!(shown.trim(), format!("notAfter={}", time(end)));

        let mixed = (files.0.clone(), read(other.path()).unwrap().1);
        assert!(certified(&mixed, &provider).unwrap_err().contains("do not go together"));
        for (chain, key, said) in [
            (Vec::new(), files.1.clone(), "no certificate"),
            (files.1.clone(), files.1.clone(), "no certificate"),
            (files.0.clone(), files.0.clone(), "no private key"),
            (files.0.clone(), Vec::new(), "no private key"),
        ] {
            assert!(certified(&(chain, key), &provider).unwrap_err().contains(said), "{said}");
        }
        assert!(read(&one.path().join("absent")).unwrap_err().starts_with("tls.crt: "));
    }
}
