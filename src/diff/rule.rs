//! What is ignored, and why.

use serde_json::Value;

use super::path::{Step, pointer};
use super::{Bucket, Change, Impact, Op};

/// A rule by which a difference is not reported as one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Rule {
    ServerMetadata,
    Status,
    ServerDefault,
    RenderedDefault,
    Assigned,
    Spelling,
    LastApplied,
    DeliveryTool,
    TrackingLabel,
    OwnerReference,
    JobLabels,
    Members,
    Filled,
}

impl Rule {
    const COUNT: usize = Rule::Filled as usize + 1;

    /// Why.
    pub(super) const fn reason(self) -> &'static str {
        match self {
            Rule::ServerMetadata => "bookkeeping of the API server",
            Rule::Status => "what Kubernetes observes, and nobody wants",
            Rule::ServerDefault => "filled in by the API server where nothing is rendered",
            Rule::RenderedDefault => "rendered with the value that the API server fills in by itself",
            Rule::Assigned => "assigned by Kubernetes",
            Rule::Spelling => "the same amount in another spelling",
            Rule::LastApplied => "kubectl's copy of what it applied",
            Rule::DeliveryTool => "put there by the tool that delivers the manifests, for itself",
            Rule::TrackingLabel => "Argo CD tracks its objects by this label; no selector of ours uses it",
            Rule::OwnerReference => "set by the controller after rendering",
            Rule::JobLabels => "made up by the API server for every Job",
            Rule::Members => "kept by the members at run time",
            Rule::Filled => "filled inside the cluster",
        }
    }

    /// The rule for something that only live has.
    pub(super) fn of_addition(kind: &str, steps: &[Step<'_>], live: &Value) -> Option<Rule> {
        match steps {
            [Step::Field("metadata"), Step::Field(what @ ("annotations" | "labels")), Step::Field(key)] => {
                of_metadata(kind, what, key)
            }
            [Step::Field("metadata"), Step::Field("finalizers")] => {
                let known = |name: &Value| name.as_str().is_some_and(|name| KUBERNETES_FINALIZERS.contains(&name));
                live.as_array().is_some_and(|names| names.iter().all(known)).then_some(Rule::Assigned)
            }
            [.., Step::Field("template"), Step::Field("metadata"), Step::Field("labels"), Step::Field(key)] => {
                (kind == "Job" && JOB_LABELS.contains(key)).then_some(Rule::JobLabels)
            }
            _ => None,
        }
    }
}

/// Finalizers that Kubernetes itself sets and takes away.
const KUBERNETES_FINALIZERS: [&str; 6] = [
    "batch.kubernetes.io/job-tracking",
    "foregroundDeletion",
    "kubernetes.io/pv-protection",
    "kubernetes.io/pvc-protection",
    "orphan",
    "service.kubernetes.io/load-balancer-cleanup",
];

/// Labels by which a Job finds its pods.
const JOB_LABELS: [&str; 4] =
    ["batch.kubernetes.io/controller-uid", "batch.kubernetes.io/job-name", "controller-uid", "job-name"];

fn of_metadata(kind: &str, what: &str, key: &str) -> Option<Rule> {
    if key == super::live::LAST_APPLIED {
        return Some(Rule::LastApplied);
    }
    if kind == "Job" && what == "labels" && JOB_LABELS.contains(&key) {
        return Some(Rule::JobLabels);
    }
    let domain = key.split_once('/').map_or("", |(domain, _)| domain);
    let by_kubernetes = matches!(
        domain,
        "pv.kubernetes.io" | "volume.kubernetes.io" | "volume.beta.kubernetes.io" | "batch.kubernetes.io"
    );
    let by_a_tool = matches!(
        key,
        "argocd.argoproj.io/tracking-id" | "argocd.argoproj.io/installation-id" | "argocd.argoproj.io/instance"
    ) || matches!(domain, "kustomize.toolkit.fluxcd.io" | "helm.toolkit.fluxcd.io" | "meta.helm.sh");
    match (by_kubernetes, by_a_tool) {
        (true, _) => Some(Rule::Assigned),
        (_, true) => Some(Rule::DeliveryTool),
        _ => None,
    }
}

/// Ignored differences, counted by rule.
#[derive(Debug, Default)]
pub(super) struct Ignored([Option<(Rule, u64, String)>; Rule::COUNT]);

impl Ignored {
    pub(super) fn count(&mut self, rule: Rule, steps: &[Step<'_>]) {
        if let Some(slot) = self.0.get_mut(rule as usize) {
            match slot {
                Some((_, count, _)) => *count += 1,
                None => *slot = Some((rule, 1, pointer(steps))),
            }
        }
    }

    /// One change for each rule, at the first place where it held.
    pub(super) fn into_changes(self) -> impl Iterator<Item = Change> {
        self.0.into_iter().flatten().map(|(rule, count, path)| Change {
            path,
            bucket: Bucket::Ignored,
            op: if rule == Rule::RenderedDefault { Op::Add } else { Op::Remove },
            desired: Value::Null,
            live: Value::Null,
            impact: Impact::None,
            reason: rule.reason().into(),
            field: None,
            changed_by: None,
            count,
        })
    }
}
