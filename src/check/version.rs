//! Engine and version: which release of the image catalog a Database means.

use super::{Ground, members, spec};
use crate::api::DatabaseSpec;
use crate::engine::{Engine, Release, Trial};
use crate::plan::{Profile, Version};
use crate::problem::{Code, Problem, Problems, nearest};

/// The release of the catalog, when engine and version are known.
pub(super) fn release(
    wanted: &DatabaseSpec,
    ground: &Ground,
    engine: Option<&'static dyn Engine>,
    out: &mut Problems,
) -> Option<&'static Release> {
    let Some(engine) = engine else {
        let message = format!(
            "this dbrender cannot render {} yet; it renders {}",
            wanted.engine.as_str(),
            rendered(ground.catalog)
        );
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
    let profile = members::profile(wanted.failover);
    let release = found?;
    match engine.trial(release.series, profile) {
        Trial::Whole => {}
        Trial::Parts(instead) => {
            let message = format!("what runs in the pods of {} has not run on its server: {instead}", engine.title());
            out.report(Code::TriedInParts, spec("engine"), message);
        }
        Trial::None => {
            let message = format!(
                "this dbrender cannot render {} {} with failover: {:?} yet; it renders {}",
                engine.title(),
                release.series,
                wanted.failover,
                rendered(ground.catalog)
            );
            out.report(Code::EngineNotRendered, spec("engine"), message);
            return None;
        }
    }
    Some(release)
}

/// What is rendered: an engine's name alone where that is all of it.
fn rendered(catalog: u32) -> String {
    let mut known = Vec::new();
    for engine in crate::engine::ALL {
        let has = |profile| profile == Profile::Automatic || engine.name().has_manual_failover();
        let of = |profile| {
            let tried = move |r: &&Release| has(profile) && engine.trial(r.series, profile) != Trial::None;
            engine.releases(catalog).iter().filter(tried)
        };
        let (automatic, manual) = (of(Profile::Automatic).count(), of(Profile::Manual).count());
        let all = engine.releases(catalog).len();
        if automatic == all && (manual == all || !has(Profile::Manual)) {
            known.push(engine.name().as_str().to_owned());
            continue;
        }
        for (word, profile) in [("Automatic", Profile::Automatic), ("Manual", Profile::Manual)] {
            let series: Vec<&str> = of(profile).map(|release| release.series).collect();
            if !series.is_empty() {
                known.push(format!("{} {} with failover: {word}", engine.name().as_str(), series.join(" and ")));
            }
        }
    }
    known.join(", ")
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
