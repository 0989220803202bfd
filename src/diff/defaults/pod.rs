//! Pod templates.

use serde_json::{Map, Value};

use super::{
    CLOSED, Extra, Field, Fill, Key, Kind, NAME, OPEN, QUANTITY, SCALAR, SELECTOR, SET, WORDS, d, f, key, ours,
};

/// The same in a StatefulSet, a Job and a CronJob.
pub(super) const TEMPLATE: Field = f(
    "template",
    &Kind::Fields(&[
        f("metadata", &Kind::Fields(&[f("annotations", OPEN), f("labels", OPEN)])),
        f("spec", &Kind::Fields(POD_SPEC)),
    ]),
);

const POD_SPEC: &[Field] = &[
    f("affinity", AFFINITY),
    f("automountServiceAccountToken", SCALAR),
    // A container that is injected is somebody else's; inside our own only we may add.
    f("containers", CONTAINERS),
    d("dnsPolicy", SCALAR, Fill::Text("ClusterFirst")),
    d("enableServiceLinks", SCALAR, Fill::Bool(true)),
    // What lets a pod out of its own namespaces is nobody's to add.
    ours("hostIPC", SCALAR),
    Field { alone: Extra::Drift, ..d("hostNetwork", SCALAR, Fill::Zero) },
    ours("hostPID", SCALAR),
    f("imagePullSecrets", &Kind::Keyed(NAME, &Kind::Fields(&[f("name", SCALAR)]), Extra::Foreign)),
    f("initContainers", CONTAINERS),
    f("nodeSelector", OPEN),
    f("priorityClassName", SCALAR),
    d("restartPolicy", SCALAR, Fill::Text("Always")),
    d("schedulerName", SCALAR, Fill::Text("default-scheduler")),
    d(
        "securityContext",
        &Kind::Fields(&[
            f("fsGroup", SCALAR),
            f("fsGroupChangePolicy", SCALAR),
            f("runAsGroup", SCALAR),
            f("runAsNonRoot", SCALAR),
            f("runAsUser", SCALAR),
            f("seccompProfile", SECCOMP),
        ]),
        Fill::Object,
    ),
    d("serviceAccount", SCALAR, Fill::Same("serviceAccountName")),
    d("serviceAccountName", SCALAR, Fill::Same("serviceAccount")),
    d("terminationGracePeriodSeconds", SCALAR, Fill::Int(30)),
    f(
        "tolerations",
        &Kind::Items(
            &Kind::Fields(&[
                f("effect", SCALAR),
                f("key", SCALAR),
                f("operator", SCALAR),
                f("tolerationSeconds", SCALAR),
                d("value", SCALAR, Fill::Zero),
            ]),
            Extra::Foreign,
        ),
    ),
    f(
        "topologySpreadConstraints",
        &Kind::Keyed(
            &[key("topologyKey"), key("whenUnsatisfiable")],
            &Kind::Fields(&[
                f("labelSelector", SELECTOR),
                f("maxSkew", SCALAR),
                f("topologyKey", SCALAR),
                f("whenUnsatisfiable", SCALAR),
            ]),
            Extra::Foreign,
        ),
    ),
    f("volumes", VOLUMES),
];

fn pull_policy(container: &Map<String, Value>) -> Value {
    let image = container.get("image").and_then(Value::as_str).unwrap_or_default();
    let tag = image.rsplit_once('/').map_or(image, |(_, last)| last).split_once(':').map(|(_, tag)| tag);
    let is_fixed = image.contains('@') || tag.is_some_and(|tag| tag != "latest");
    Value::from(if is_fixed { "IfNotPresent" } else { "Always" })
}

const SECCOMP: &Kind = &Kind::Fields(&[f("localhostProfile", SCALAR), f("type", SCALAR)]);

const POD_TERM: &[Field] =
    &[f("labelSelector", SELECTOR), f("namespaceSelector", SELECTOR), f("namespaces", SET), f("topologyKey", SCALAR)];

const POD_AFFINITY: &Kind = &Kind::Fields(&[
    f(
        "preferredDuringSchedulingIgnoredDuringExecution",
        &Kind::Items(
            &Kind::Fields(&[f("podAffinityTerm", &Kind::Fields(POD_TERM)), f("weight", SCALAR)]),
            Extra::Foreign,
        ),
    ),
    f("requiredDuringSchedulingIgnoredDuringExecution", &Kind::Items(&Kind::Fields(POD_TERM), Extra::Foreign)),
]);

const AFFINITY: &Kind = &Kind::Fields(&[f("podAffinity", POD_AFFINITY), f("podAntiAffinity", POD_AFFINITY)]);

const CONTAINERS: &Kind = &Kind::Keyed(
    NAME,
    &Kind::Fields(&[
        ours("args", WORDS),
        ours("command", WORDS),
        ours("env", ENVIRONMENT),
        ours("envFrom", &Kind::Items(OPEN, Extra::Drift)),
        f("image", SCALAR),
        d("imagePullPolicy", SCALAR, Fill::Computed(pull_policy, "IfNotPresent, or Always for a tag `latest` or none")),
        f("lifecycle", &Kind::Fields(&[f("postStart", HANDLER), f("preStop", HANDLER)])),
        f("livenessProbe", PROBE),
        f("name", SCALAR),
        ours(
            "ports",
            &Kind::Keyed(
                &[key("containerPort"), Key { name: "protocol", absent: "TCP" }],
                &Kind::Fields(&[
                    f("containerPort", SCALAR),
                    f("name", SCALAR),
                    d("protocol", SCALAR, Fill::Text("TCP")),
                ]),
                Extra::Drift,
            ),
        ),
        f("readinessProbe", PROBE),
        d(
            "resources",
            &Kind::Fields(&[f("limits", AMOUNTS), d("requests", AMOUNTS, Fill::Same("limits"))]),
            Fill::Object,
        ),
        f(
            "securityContext",
            &Kind::Fields(&[
                f("allowPrivilegeEscalation", SCALAR),
                f("capabilities", &Kind::Fields(&[ours("add", SET), f("drop", SET)])),
                ours("privileged", SCALAR),
                f("readOnlyRootFilesystem", SCALAR),
                f("runAsUser", SCALAR),
            ]),
        ),
        f("startupProbe", PROBE),
        d("terminationMessagePath", SCALAR, Fill::Text("/dev/termination-log")),
        d("terminationMessagePolicy", SCALAR, Fill::Text("File")),
        ours("volumeDevices", &Kind::Items(OPEN, Extra::Drift)),
        ours(
            "volumeMounts",
            &Kind::Keyed(
                &[key("mountPath")],
                &Kind::Fields(&[
                    f("mountPath", SCALAR),
                    f("name", SCALAR),
                    d("readOnly", SCALAR, Fill::Zero),
                    d("subPath", SCALAR, Fill::Zero),
                ]),
                Extra::Drift,
            ),
        ),
    ]),
    Extra::Foreign,
);

const AMOUNTS: &Kind = &Kind::Map(QUANTITY, Extra::Foreign);

const ENVIRONMENT: &Kind = &Kind::Keyed(
    NAME,
    &Kind::Fields(&[
        f("name", SCALAR),
        d("value", SCALAR, Fill::Zero),
        ours(
            "valueFrom",
            &Kind::Fields(&[
                f("configMapKeyRef", &Kind::Fields(&[f("key", SCALAR), f("name", SCALAR), f("optional", SCALAR)])),
                f("fieldRef", &Kind::Fields(&[d("apiVersion", SCALAR, Fill::Text("v1")), f("fieldPath", SCALAR)])),
                f(
                    "resourceFieldRef",
                    &Kind::Fields(&[
                        d("containerName", SCALAR, Fill::Zero),
                        d("divisor", QUANTITY, Fill::Text("0")),
                        f("resource", SCALAR),
                    ]),
                ),
                f("secretKeyRef", &Kind::Fields(&[f("key", SCALAR), f("name", SCALAR), f("optional", SCALAR)])),
            ]),
        ),
    ]),
    Extra::Drift,
);

const EXEC: Field = f("exec", &Kind::Presence(&[ours("command", WORDS)]));
const HTTP_GET: Field = f(
    "httpGet",
    &Kind::Fields(&[
        f("host", SCALAR),
        f("httpHeaders", &Kind::Items(OPEN, Extra::Foreign)),
        d("path", SCALAR, Fill::Text("/")),
        f("port", SCALAR),
        d("scheme", SCALAR, Fill::Text("HTTP")),
    ]),
);
const TCP: Field = f("tcpSocket", &Kind::Fields(&[f("host", SCALAR), f("port", SCALAR)]));

const HANDLER: &Kind = &Kind::Fields(&[EXEC, HTTP_GET, TCP]);

const PROBE: &Kind = &Kind::Fields(&[
    EXEC,
    d("failureThreshold", SCALAR, Fill::Int(3)),
    HTTP_GET,
    d("initialDelaySeconds", SCALAR, Fill::Zero),
    d("periodSeconds", SCALAR, Fill::Int(10)),
    d("successThreshold", SCALAR, Fill::Int(1)),
    TCP,
    f("terminationGracePeriodSeconds", SCALAR),
    d("timeoutSeconds", SCALAR, Fill::Int(1)),
]);

const FILES: &Kind = &Kind::Keyed(
    &[key("path")],
    &Kind::Fields(&[f("key", SCALAR), f("mode", SCALAR), f("path", SCALAR)]),
    Extra::Drift,
);
/// Permission bits 0644.
const MODE: Field = d("defaultMode", SCALAR, Fill::Int(420));

const VOLUMES: &Kind = &Kind::Keyed(
    NAME,
    &Kind::Fields(&[
        f("configMap", &Kind::Fields(&[MODE, ours("items", FILES), f("name", SCALAR), f("optional", SCALAR)])),
        // Other sources in place of the rendered one.
        ours("csi", &Kind::Json),
        f("emptyDir", &Kind::Presence(&[d("medium", SCALAR, Fill::Zero), f("sizeLimit", QUANTITY)])),
        ours("ephemeral", &Kind::Json),
        ours("hostPath", &Kind::Json),
        f("name", SCALAR),
        ours("nfs", &Kind::Json),
        f("persistentVolumeClaim", &Kind::Fields(&[f("claimName", SCALAR), d("readOnly", SCALAR, Fill::Zero)])),
        f("projected", &Kind::Fields(&[MODE, ours("sources", &Kind::Items(SOURCE, Extra::Drift))])),
        f("secret", &Kind::Fields(&[MODE, ours("items", FILES), f("optional", SCALAR), f("secretName", SCALAR)])),
    ]),
    Extra::Foreign,
);

const REFERENCE: &Kind = &Kind::Fields(&[ours("items", FILES), f("name", SCALAR), f("optional", SCALAR)]);
const SOURCE: &Kind = &Kind::Fields(&[
    f("configMap", REFERENCE),
    f("downwardAPI", CLOSED),
    f("secret", REFERENCE),
    f(
        "serviceAccountToken",
        &Kind::Fields(&[f("audience", SCALAR), d("expirationSeconds", SCALAR, Fill::Int(3600)), f("path", SCALAR)]),
    ),
]);
