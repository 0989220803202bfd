//! Puts desired and live side by side, one Database at a time.

use std::borrow::Cow;
use std::collections::BTreeMap;

use crate::render::Object;

use super::{DatabaseReport, Desired, GapReason, Impact, LiveSet, Notice, ObjectReport, Policy, Report, Status, Summary};

/// A comparison under way. Databases are added one by one, so that their manifests need not all be kept.
#[derive(Debug)]
pub struct Comparison<'a> {
    live: &'a LiveSet,
    policy: &'a Policy,
    databases: BTreeMap<(String, String), DatabaseReport>,
}

impl<'a> Comparison<'a> {
    /// Begins.
    #[must_use]
    pub fn new(live: &'a LiveSet, policy: &'a Policy) -> Comparison<'a> {
        Comparison { live, policy, databases: BTreeMap::new() }
    }

    /// Compares one Database.
    pub fn add(&mut self, desired: &Desired<'_>) {
        let objects: Vec<ObjectReport> = desired.objects.iter().map(|object| self.one(object)).collect();
        let key = (desired.namespace.to_owned(), desired.name.to_owned());
        let report = DatabaseReport {
            namespace: desired.namespace.to_owned(),
            name: desired.name.to_owned(),
            engine: desired.plan.map(|plan| plan.engine.as_str().to_owned()).unwrap_or_default(),
            impact: objects.iter().map(|object| object.impact).max().unwrap_or_default(),
            origin: desired.origin.cloned(),
            objects,
        };
        self.databases.insert(key, report);
    }

    fn one(&self, object: &Object) -> ObjectReport {
        let is = |kind: &str, namespace: &str, name: &str| {
            kind == object.kind && namespace == object.namespace && name == object.name
        };
        let found = self.live.objects.iter().any(|live| is(&live.kind, &live.namespace, &live.name));
        let gap = self.live.gaps.iter().find(|gap| {
            gap.kind == object.kind && gap.namespace.as_ref().is_none_or(|namespace| *namespace == object.namespace)
        });
        let (status, reason) = match (found, gap) {
            (true, _) => (Status::Error, "fields are not compared yet".to_owned()),
            (false, Some(gap)) => match gap.reason {
                GapReason::Forbidden => (Status::Forbidden, gap.message.clone()),
                GapReason::Error => (Status::Error, gap.message.clone()),
                GapReason::NotFound => (Status::Missing, gap.message.clone()),
                GapReason::Skipped => (Status::Skipped, gap.message.clone()),
            },
            (false, None) if object.kind == "Secret" && !self.policy.secrets_read => (Status::Skipped, String::new()),
            (false, None) => (Status::Missing, String::new()),
        };
        ObjectReport {
            api_version: object.api_version.clone(),
            kind: object.kind.clone(),
            namespace: object.namespace.clone(),
            name: object.name.clone(),
            status,
            reason: Cow::Owned(reason),
            impact: Impact::None,
            procedure: Vec::new(),
            changes: Vec::new(),
        }
    }

    /// The report, with notices of the caller's: what was wrong with the input, and what it has to say about the source.
    #[must_use]
    pub fn finish(self, notices: Vec<Notice>) -> Report {
        let databases: Vec<DatabaseReport> = self.databases.into_values().collect();
        let mut summary = Summary::default();
        databases.iter().flat_map(|database| &database.objects).for_each(|object| summary.count(object.status));
        Report {
            schema_version: super::SCHEMA_VERSION,
            complete: summary.unknown == 0 && !notices.iter().any(Notice::is_error),
            impact: databases.iter().map(|database| database.impact).max().unwrap_or_default(),
            summary,
            problems: notices,
            databases,
        }
    }
}
