# shellcheck shell=bash
# The objects of the Database that Patroni works with, as the renderer makes them, and the way to the API server.

namespace=unshare-automatic
api=10.96.0.1
kubectl() { "$KUBECTL" --server="https://$api" --namespace="$namespace" "$@"; }

reach_the_api_server() {
  local server
  server=$("$KUBECTL" config view --minify --output='jsonpath={.clusters[0].cluster.server}')
  server=${server#https://}
  ip addr add "$api/32" dev bridge0
  api_server=$server
  open_api
  eventually 20 kubectl version > /dev/null 2>&1
  kubectl delete namespace "$namespace" --ignore-not-found > /dev/null
  kubectl create namespace "$namespace" > /dev/null
  permissions
  mkdir "$WORLD/serviceaccount"
  kubectl create token "$name" --duration=24h > "$WORLD/serviceaccount/token"
  kubectl get configmap kube-root-ca.crt --output='jsonpath={.data.ca\.crt}' > "$WORLD/serviceaccount/ca.crt" 2> /dev/null || :
  [[ -s $WORLD/serviceaccount/ca.crt ]] ||
    "$KUBECTL" config view --raw --minify --output='jsonpath={.clusters[0].cluster.certificate-authority-data}' | base64 -d > "$WORLD/serviceaccount/ca.crt"
  printf '%s' "$namespace" > "$WORLD/serviceaccount/namespace"
  chown -R 0:999 "$WORLD/serviceaccount"
  chmod 0755 "$WORLD/serviceaccount"
  chmod 0440 "$WORLD"/serviceaccount/*
}

# open_api, close_api: whether the API server can be reached; connections that are open break
open_api() {
  python3 "$here/postgresql-automatic.parts/forward.py" "$api" 443 "${api_server%:*}" "${api_server##*:}" "$OUTSIDE" &
  forwarder=$!
}
close_api() {
  kill "$forwarder"
  wait "$forwarder" 2> /dev/null || :
}

# the exact rights of a database pod
permissions() {
  kubectl apply --filename=- > /dev/null << END
apiVersion: v1
kind: ServiceAccount
metadata: {name: $name}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: $name}
rules:
- {apiGroups: [""], resources: [configmaps, pods], verbs: [list, watch]}
- {apiGroups: [""], resources: [configmaps], verbs: [patch], resourceNames: [$name-patroni-config, $name-patroni-leader, $name-patroni-sync, $name-patroni-failover]}
- {apiGroups: [""], resources: [configmaps], verbs: [get], resourceNames: [$name-patroni-leader]}
- {apiGroups: [""], resources: [pods], verbs: [patch], resourceNames: [$name-0, $name-1, $name-2, $name-3, $name-4, $name-5, $name-6]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: $name}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: $name}
subjects: [{kind: ServiceAccount, name: $name}]
END
}

labels="{app.example.com/database: $name, app.example.com/patroni-scope: $name-patroni}"

# dynamic [JSON-MEMBERS]: the dynamic configuration, as an apply from Git would bring it. Parameters that are set: $parameters.
dynamic() {
  kubectl apply --server-side --force-conflicts --field-manager=trial --filename=- > /dev/null << END
apiVersion: v1
kind: ConfigMap
metadata:
  name: $name-patroni-config
  labels: $labels
  annotations:
    config: '{"ttl":30,"loop_wait":10,"retry_timeout":10,"maximum_lag_on_failover":1048576,"failsafe_mode":true,"synchronous_mode":${synchronous:-true},
      "postgresql":{"use_pg_rewind":true,"use_slots":true,
      "parameters":{"max_connections":${connections:-60},"shared_buffers":"32MB","work_mem":"${work_mem:-4MB}","wal_level":"replica","max_wal_senders":10,
        "max_replication_slots":10,"wal_keep_size":"16MB","max_slot_wal_keep_size":"64MB","min_wal_size":"32MB","max_wal_size":"64MB","wal_log_hints":"on","log_timezone":"UTC",
        "wal_sender_timeout":"5s","wal_receiver_timeout":"5s"},
      "pg_hba":["local all postgres peer","host replication replication all scram-sha-256","host postgres rewind all scram-sha-256",
        "host all postgres,replication,rewind all reject","host all all all scram-sha-256"]}}'
END
}

# fresh_objects: what there is before the first start, and pods that only exist as objects
fresh_objects() {
  local i
  kubectl delete configmap,pod --selector="app.example.com/database=$name" --grace-period=0 --force > /dev/null 2>&1
  dynamic
  {
    for i in leader sync failover; do
      printf -- '---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: %s-patroni-%s, labels: %s}\n' "$name" "$i" "$labels"
    done
  } | kubectl apply --filename=- > /dev/null
  patroni_yml > "$WORLD/config/patroni.yml"
  cp "$WORLD/config/facts" "$WORLD/config/facts.all"
  rm -f "$WORLD"/config/{facts.all,primary,postgresql.conf,pg_hba.conf}
}
pod_object() {
  printf 'apiVersion: v1\nkind: Pod\nmetadata: {name: %s-%s, labels: %s}\nspec: {containers: [{name: postgresql, image: none}], schedulerName: nobody}\n' "$name" "$1" "$labels" |
    kubectl apply --filename=- > /dev/null
}
label_of() { kubectl get pod "$name-$1" --output='jsonpath={.metadata.labels.app\.example\.com/role}'; }

# patroni.yml, as from the template
patroni_yml() {
  sed -e '/^{#-/,/-#}$/d' -e "s/{{ scope }}/$name-patroni/; s/{{ namespace }}/$namespace/; s/{{ database }}/$name/; s/{{ major }}/$MAJOR/" \
    "$scripts/../patroni.yml.j2"
}

init_containers=''
export EXTRA="KUBERNETES_SERVICE_HOST=$api KUBERNETES_SERVICE_PORT=443"

# start ORDINAL…: as in database.sh, with a Pod object
start() {
  local i
  for i; do
    [[ -e $(volume_of "$i") ]] || make_volume "$i"
    pod_object "$i"
    start_pod "$i"
  done
}
# stop ORDINAL [SIGNAL], lose ORDINAL: the object goes with the pod
stop() {
  stop_pod "$@"
  kubectl delete pod "$name-$1" --grace-period=0 --force > /dev/null 2>&1
}
lose() {
  kill_pod "$1"
  kubectl delete pod "$name-$1" --grace-period=0 --force > /dev/null 2>&1
}

# patroni ORDINAL PATH: an answer of its REST interface
patroni() { curl --silent --max-time 5 "http://$(address_of "$1"):8008$2"; }
ready() { curl --silent --fail --max-time 2 --output /dev/null "http://$(address_of "$1"):8008/readiness"; }
leads() { curl --silent --fail --max-time 2 --output /dev/null "http://$(address_of "$1"):8008/primary"; }
role_in_cluster() { patroni "$1" /cluster | python3 -c 'import json, sys; print(next((m["role"] for m in json.load(sys.stdin)["members"] if m["name"] == sys.argv[1]), "none"))' "$name-$2"; }
