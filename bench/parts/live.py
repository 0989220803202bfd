"""What a cluster would answer: rendered objects with the bookkeeping of a server."""

import base64
import json


def fields(value):
    """The tree of fields that a server writes into managedFields."""
    if isinstance(value, dict):
        return {f"f:{key}": fields(below) for key, below in value.items()}
    if isinstance(value, list) and value and all(isinstance(item, dict) and "name" in item for item in value):
        return {"k:" + json.dumps({"name": item["name"]}): {".": {}, **fields(item)} for item in value}
    return {}


def as_listed(item):
    """An object with the bookkeeping that a server adds."""
    owned = {key: value for key, value in item.items() if key not in ("apiVersion", "kind")}
    item = json.loads(json.dumps(item))
    metadata = item["metadata"]
    metadata.update(uid="7b6d6b4a-2f0a-4e0c-9a50-5f4b3a2c1d00", resourceVersion="123456",
                    creationTimestamp="2026-11-30T10:00:00Z", generation=1)
    metadata["managedFields"] = [{"manager": "dbrender", "operation": "Apply", "apiVersion": item["apiVersion"],
                                  "time": "2026-11-30T10:00:00Z", "fieldsType": "FieldsV1", "fieldsV1": fields(owned)}]
    if item["kind"] == "StatefulSet":
        item["status"] = {"replicas": item["spec"]["replicas"], "readyReplicas": item["spec"]["replicas"]}
    if item["kind"] == "Secret":
        for key in ("password", "uri", "backup-password", "monitor-password", "patroni-password",
                    "replication-password", "restore-password", "rewind-password", "root-password"):
            item.setdefault("data", {})[key] = base64.b64encode(b"a password of 32 letters is here").decode()
    return item


def listing(objects):
    """As `kubectl get -o json` prints them."""
    return json.dumps({"apiVersion": "v1", "items": objects, "kind": "List", "metadata": {}}, indent=4)


def drifted(objects):
    """A fifth of the Databases is changed by hand."""
    changed = json.loads(json.dumps(objects))
    sets = [item for item in changed if item["kind"] == "StatefulSet"]
    for item in sets[::5]:
        item["spec"]["replicas"] = 2
        item["spec"]["template"]["spec"]["terminationGracePeriodSeconds"] = 5
    return changed
