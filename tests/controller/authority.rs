//! A certificate authority for the webhook of a test, made by openssl.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What `openssl ca` wants to be told.
const SETTINGS: &str = "[ca]\ndefault_ca = here\n[here]\ndatabase = index.txt\nserial = serial\nnew_certs_dir = .\n\
    default_md = sha256\npolicy = any\ncopy_extensions = copy\nunique_subject = no\n[any]\ncommonName = supplied\n";

/// An authority, and the folder that a Secret is mounted at.
pub(crate) struct Authority {
    folder: tempfile::TempDir,
    made: usize,
}

impl Authority {
    pub(crate) fn new() -> Authority {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("settings"), SETTINGS).unwrap();
        fs::write(folder.path().join("index.txt"), "").unwrap();
        fs::write(folder.path().join("serial"), "01\n").unwrap();
        openssl(
            folder.path(),
            &["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"],
            &["-subj", "/CN=authority", "-keyout", "ca.key", "-out", "ca.crt"],
        );
        Authority { folder, made: 0 }
    }

    /// The file of its own certificate, in PEM.
    pub(crate) fn certificate(&self) -> PathBuf {
        self.folder.path().join("ca.crt")
    }

    /// The folder.
    pub(crate) fn mounted(&self) -> PathBuf {
        self.folder.path().join("mounted")
    }

    /// Puts a certificate for 127.0.0.1 there that ends at this time (`YYYYMMDDHHMMSSZ`), as a kubelet does: both files
    /// at once, by a link.
    pub(crate) fn issue(&mut self, end: &str) {
        self.made += 1;
        let version = format!("version-{}", self.made);
        let folder = self.folder.path();
        fs::create_dir(folder.join(&version)).unwrap();
        let (key, certificate) = (format!("{version}/tls.key"), format!("{version}/tls.crt"));
        openssl(
            folder,
            &["req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-subj", "/CN=webhook"],
            &["-addext", "subjectAltName=IP:127.0.0.1", "-keyout", &key, "-out", "request"],
        );
        openssl(
            folder,
            &["ca", "-batch", "-config", "settings", "-cert", "ca.crt", "-keyfile", "ca.key", "-notext"],
            &["-startdate", "20200101000000Z", "-enddate", end, "-in", "request", "-out", &certificate],
        );
        let next = folder.join("next");
        std::os::unix::fs::symlink(&version, &next).unwrap();
        fs::rename(next, self.mounted()).unwrap();
    }
}

fn openssl(folder: &Path, first: &[&str], then: &[&str]) {
    let made = Command::new("openssl").args(first).args(then).current_dir(folder).output().unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
}
