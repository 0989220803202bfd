//! The live side: a dump, or the cluster.

use super::super::tell::Tell;
use super::desired::Wanted;
use super::{DiffArgs, Other, Stop};
use crate::diff::{LiveSet, Notice};
use crate::io;
use crate::problem::{Code, FieldPath, Problem};

/// Reads the live side.
pub(super) fn read(args: &DiffArgs, wanted: &mut Wanted, secrets: bool, tell: &Tell) -> Result<Other, Stop> {
    match &args.live {
        Some(file) => dump(file, wanted, secrets),
        #[cfg(feature = "cluster")]
        None => super::cluster::read(args, wanted, secrets, tell),
        #[cfg(not(feature = "cluster"))]
        None => {
            let _ = tell;
            Err(Stop::Usage("this build has no client of a cluster: give --live FILE or --base GITREF".to_owned()))
        }
    }
}

fn dump(file: &std::path::Path, wanted: &Wanted, secrets: bool) -> Result<Other, Stop> {
    let (source, read) = io::read_live_file(file)?;
    let identities = wanted.identities();
    let live = LiveSet::of_dump(source, read, &identities, secrets);
    let mut notices = Vec::new();
    let absent = if live.objects.is_empty() { Vec::new() } else { live.kinds_absent(&identities) };
    if !absent.is_empty() {
        let message = format!("{} holds not one {}, so they are called missing", live.source, absent.join(", "));
        let problem = Problem::new(Code::KindNotInDump, FieldPath::root(), message);
        notices.push(Notice::from(&problem));
    }
    Ok(Other { title: format!("live: {}", live.source), live, kubernetes: None, notices, ..Other::default() })
}
