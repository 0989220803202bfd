//! Engine and version: which release of the image catalog a Database means.

use super::{Ground, spec};
use crate::api::DatabaseSpec;
use crate::engine::{Engine, Release};
use crate::plan::Version;
use crate::problem::{Code, Problem, Problems, nearest};

/// The release of the catalog, when engine and version are known.
pub(super) fn release(
    wanted: &DatabaseSpec,
    ground: &Ground,
    engine: Option<&'static dyn Engine>,
    out: &mut Problems,
) -> Option<&'static Release> {
    let Some(engine) = engine else {
        let known: Vec<&str> = crate::engine::ALL.iter().map(|engine| engine.name().as_str()).collect();
        let message =
            format!("this dbrender cannot render {} yet; it renders {}", wanted.engine.as_str(), known.join(", "));
        out.report(Code::EngineNotRendered, spec("engine"), message);
        return None;
    };
    let releases = engine.releases(ground.catalog);
    let found = find(releases, &wanted.version);
    match found {
        None => unknown(wanted, ground, engine, releases, out),
        Some(release) if release.ends_soon => {
            let message =
                format!("{} {} gets no more fixes after {}", engine.title(), release.series, release.end_of_life);
            out.report(Code::VersionNearItsEnd, spec("version"), message);
        }
        Some(_) => {}
    }
    found
}

/// By series, otherwise by exact version. Of a series the newest release.
pub(super) fn find(releases: &'static [Release], version: &str) -> Option<&'static Release> {
    releases.iter().rev().find(|release| release.series == version || release.exact == version)
}

fn unknown(wanted: &DatabaseSpec, ground: &Ground, engine: &dyn Engine, releases: &[Release], out: &mut Problems) {
    let version = wanted.version.as_str();
    let known: Vec<String> = releases.iter().map(|r| format!("{} ({})", r.series, r.exact)).collect();
    let message = format!(
        "edition {} of the catalog has no {} {version:?}; it has {}",
        ground.catalog,
        engine.title(),
        known.join(", ")
    );
    let problem = Problem::new(Code::UnknownEngineVersion, spec("version"), message);
    // Another minor of a known series is the commonest case: somebody copied a tag.
    let series =
        releases.iter().find(|r| version.strip_prefix(r.series).is_some_and(|rest| rest.starts_with(['.', '-'])));
    let near = nearest(version, releases.iter().flat_map(|r| [r.series, r.exact]));
    out.push(match (series, near) {
        (Some(release), _) => problem
            .with_hint(format!("write version: \"{}\"; the catalog's edition decides on the minor", release.series)),
        (None, Some(near)) => problem.with_hint(format!("did you mean \"{near}\"?")),
        (None, None) => problem,
    });
}

/// The version in the plan.
pub(super) fn plan(release: &Release) -> Version {
    Version { series: release.series.to_owned(), exact: release.exact.to_owned() }
}
