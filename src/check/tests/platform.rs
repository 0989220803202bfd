//! The platform file: what it decides, what it allows, and rules of its own.

use serde_json::json;

use super::*;

#[test]
fn the_platform_decides_images_classes_destinations_and_credentials() {
    let settings = json!({
        "registryMirror": {"ghcr.io": "mirror.example.com/ghcr", "docker.io": "mirror.example.com:5000"},
        "images": {"docker.io/rclone/rclone:1.75.0": "own.example.com/rclone:1"},
        "storageClasses": {"fast-ssd": "io2", "standard": "gp3"},
        "backupDestinations": {
            "volume": {"volume": {"size": "50Gi"}},
            "offsite": {"s3": {"bucket": "b", "prefix": "p/q", "secretName": "s"}, "sharedWith": ["demo"]},
        },
        "credentials": {"mode": "external", "store": {"name": "vault", "prefix": "db/"}},
        "monitoring": {"enabled": true, "labels": {"release": "prometheus"}},
        "networkPolicy": {"enabled": false},
        "clusterDomain": "k8s.example.com",
        "labels": {"team": "x"},
    });
    let ground = ground_of(&settings);
    let changes = json!({"spec": {"storage": {"storageClass": "fast-ssd"}, "backup": {"destination": "offsite"}, "bootstrap": {"fromBackup": {"name": "shop", "namespace": "other"}}}});
    let plan = check(&database(&changes), &ground, None).plan.expect("a plan");
    assert!(
        plan.images.server.starts_with("mirror.example.com/ghcr/dbrender/postgresql:16."),
        "{}",
        plan.images.server
    );
    assert_eq!(plan.images.rclone, "own.example.com/rclone:1");
    assert!(plan.images.exporter.starts_with("quay.io/"), "{}", plan.images.exporter);
    assert_eq!(plan.storage.class, "io2");
    assert_eq!(
        plan.credentials,
        Credentials::External {
            store: "vault".into(),
            kind: "ClusterSecretStore".into(),
            prefix: "db/".into(),
            refresh_interval: "1h0m0s".into()
        }
    );
    assert!(matches!(&plan.restore.expect("a restore").source, Destination::S3(bucket) if bucket.provider == "AWS"));
    assert!(plan.access.is_none());
    assert_eq!(
        plan.monitoring.expect("monitoring").labels,
        BTreeMap::from([("release".to_owned(), "prometheus".to_owned())])
    );
    let plan =
        check(&database(&json!({"spec": {"monitoring": {"enabled": false}}})), &ground, None).plan.expect("a plan");
    assert!(plan.monitoring.is_none());
    assert!(
        matches!(&plan.backup.destination, Destination::Volume(volume) if volume.size.canonical() == "50Gi" && volume.class == "gp3")
    );
}

#[test]
fn a_database_keeps_to_the_platform() {
    for (settings, changes, expected) in [
        (
            json!({"limits": {"maxReplicas": 1}}),
            json!({"spec": {"replicas": 3}}),
            &["DBR505 spec.replicas 3 replicas are more than the platform's limit of 1"][..],
        ),
        (json!({"limits": {"maxStorage": "5Gi"}}), json!({}), &["DBR505 spec.storage.size"]),
        (json!({"limits": {"maxStorage": "10Gi"}}), json!({}), &[]),
        (
            json!({"limits": {"engines": ["mysql"]}}),
            json!({}),
            &["DBR505 spec.engine the platform allows no postgresql; it allows mysql"],
        ),
        (json!({"limits": {"namespaces": ["prod"]}}), json!({}), &["DBR505 metadata.namespace"]),
        (json!({"credentials": {"mode": "existing"}}), json!({}), &["DBR372 spec.credentials"]),
        (
            json!({"credentials": {"mode": "external", "store": {"name": "x"}}}),
            json!({"spec": {"credentials": {"appSecretName": "a", "adminSecretName": "b"}}}),
            &["DBR372 spec.credentials"],
        ),
        (
            json!({"credentials": {"mode": "existing"}}),
            json!({"spec": {"credentials": {"appSecretName": "a", "adminSecretName": "b"}}}),
            &[],
        ),
        (
            json!({"backupDestinations": {"s": {"s3": {"bucket": "b", "secretName": "s"}}}}),
            json!({"spec": {"backup": {"destination": "s"}, "bootstrap": {"fromBackup": {"name": "a", "namespace": "other"}}}}),
            &["DBR373 spec.bootstrap.fromBackup.namespace destination s is not shared with namespace demo"],
        ),
    ] {
        let checked = check(&database(&changes), &ground_of(&settings), None);
        expect(&lines(&checked.problems), expected, &settings);
    }
}

#[test]
fn the_platform_file_has_rules_of_its_own() {
    let s3 = |s3: Value| json!({"backupDestinations": {"x": {"s3": s3}}});
    for (settings, expected) in [
        (json!({"catalog": 99}), &["DBR503 catalog the catalog has editions 1 to"][..]),
        (
            json!({"images": {"docker.io/library/postgres:1": "a/b:1"}}),
            &["DBR501 images[docker.io/library/postgres:1] no edition of the catalog has the image"],
        ),
        (
            json!({"images": {"docker.io/rclone/rclone:1.75.0": "a/b"}}),
            &["DBR501 images[docker.io/rclone/rclone:1.75.0] \"a/b\" is no image with a tag"],
        ),
        (json!({"registryMirror": {"https://docker.io": "a"}}), &["DBR501 registryMirror"]),
        (json!({"registryMirror": {"docker.io": "https://a/"}}), &["DBR501 registryMirror[docker.io]"]),
        (json!({"imagePullSecrets": ["a", "B"]}), &["DBR501 imagePullSecrets[1]"]),
        (json!({"storageClasses": {"fast": "A"}}), &["DBR501 storageClasses.fast"]),
        (json!({"clusterDomain": "cluster.local."}), &["DBR501 clusterDomain"]),
        (
            json!({"backupDestinations": {"x": {}}}),
            &["DBR501 backupDestinations.x destination x needs exactly one of volume and s3"],
        ),
        (
            json!({"backupDestinations": {"volume": {"s3": {"bucket": "b", "secretName": "s"}}}}),
            &["DBR501 backupDestinations.volume the destination volume is a volume"],
        ),
        (json!({"backupDestinations": {"x": {"volume": {"size": "0"}}}}), &["DBR501 backupDestinations.x.volume.size"]),
        (
            json!({"backupDestinations": {"x": {"volume": {"size": "1Gi"}, "sharedWith": ["a"]}}}),
            &["DBR501 backupDestinations.x.volume a volume cannot be shared"],
        ),
        (s3(json!({"bucket": "a b", "secretName": "s"})), &["DBR501 backupDestinations.x.s3.bucket"]),
        (s3(json!({"bucket": "a", "prefix": "/a", "secretName": "s"})), &["DBR501 backupDestinations.x.s3.prefix"]),
        (s3(json!({"bucket": "a", "prefix": "a/../b", "secretName": "s"})), &["DBR501 backupDestinations.x.s3.prefix"]),
        (
            s3(json!({"bucket": "a", "endpoint": "minio:9000", "secretName": "s"})),
            &["DBR501 backupDestinations.x.s3.endpoint"],
        ),
        (s3(json!({"bucket": "a", "secretName": "S"})), &["DBR501 backupDestinations.x.s3.secretName"]),
        (
            json!({"credentials": {"mode": "external"}}),
            &["DBR501 credentials.store credentials mode external needs a store"],
        ),
        (json!({"credentials": {"store": {"name": "a"}}}), &["DBR501 credentials.store a store is of use"]),
        (json!({"credentials": {"mode": "existing", "generator": "job"}}), &["DBR501 credentials.generator"]),
        (
            json!({"credentials": {"mode": "external", "store": {"name": "a", "refreshInterval": "1d"}}}),
            &["DBR501 credentials.store.refreshInterval"],
        ),
        (json!({"labels": {"a": "b c"}}), &["DBR501 labels.a"]),
        (json!({"labels": {"app.kubernetes.io/instance": "x"}}), &["DBR305 labels[app.kubernetes.io/instance]"]),
        (
            json!({"annotations": {"argocd.argoproj.io/sync-options": "x"}}),
            &["DBR305 annotations[argocd.argoproj.io/sync-options]"],
        ),
        (json!({"limits": {"maxReplicas": 8}}), &["DBR501 limits.maxReplicas"]),
        (json!({"limits": {"maxStorage": "big"}}), &["DBR501 limits.maxStorage"]),
        (json!({"limits": {"maxStorage": "9999999Pi"}}), &["DBR501 limits.maxStorage"]),
        (json!({"limits": {"namespaces": ["A"]}}), &["DBR501 limits.namespaces[0]"]),
    ] {
        let (ground, found) = platform(&settings);
        expect(&found, expected, &settings);
        assert!(ground.is_none(), "{settings}");
    }
}
