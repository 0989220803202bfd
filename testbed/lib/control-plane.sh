# shellcheck shell=bash
# The control plane of one run: etcd, API server, controller-manager, scheduler, as plain processes of this machine.
# Needs messages.sh, processes.sh, ports.sh, certificates.sh; in: $run.

# kubectl_as_admin ARGUMENT…
kubectl_as_admin() { "$kubectl" --kubeconfig "$run/admin.kubeconfig" "$@"; }

answers() { curl --silent --fail --max-time 2 --cacert "$pki/ca.crt" --cert "$pki/admin.crt" --key "$pki/admin.key" "$@"; }

# start_control_plane STORE-PROGRAMS PROGRAMS ADDRESS NODE-NAME NODE-ADDRESS REACHABLE
# STORE-PROGRAMS holds etcd, PROGRAMS the rest of the minor. ADDRESS is the API server's, for the node and its pods;
# REACHABLE is `yes` when it listens there too.
start_control_plane() {
  local store=$1 programs=$2 address=$3 node=$4 node_address=$5 listen=127.0.0.1
  local api client peer manager scheduler
  pki=$run/pki
  kubectl=$(program kubectl "$programs")
  choose_ports 5 "$run/ports"
  { read -r api; read -r client; read -r peer; read -r manager; read -r scheduler; } <"$run/ports"
  if [[ $6 == yes ]]; then listen=0.0.0.0; fi
  certificates "$pki" "$api" "$address" "$node" "$node_address"
  ln -s pki/admin.kubeconfig "$run/admin.kubeconfig"
  cat >"$run/audit-policy.yaml" <<'EOF'
apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules: [{level: Metadata}]
EOF

  # a throw-away store need not wait for the disk
  start etcd "$(program etcd "$store")" --name testbed --data-dir "$run/etcd" --unsafe-no-fsync --log-level warn \
    --listen-client-urls "http://127.0.0.1:$client" --advertise-client-urls "http://127.0.0.1:$client" \
    --listen-peer-urls "http://127.0.0.1:$peer" --initial-advertise-peer-urls "http://127.0.0.1:$peer" \
    --initial-cluster "testbed=http://127.0.0.1:$peer"
  await_service etcd 30 curl --silent --fail --max-time 2 "http://127.0.0.1:$client/health"

  # the audit log is one file: with the default a new one begins after 100 MB, and whoever reads it loses what was before
  start kube-apiserver "$(program kube-apiserver "$programs")" --etcd-servers="http://127.0.0.1:$client" \
    --secure-port="$api" --bind-address="$listen" --advertise-address="$address" \
    --tls-cert-file="$pki/apiserver.crt" --tls-private-key-file="$pki/apiserver.key" --client-ca-file="$pki/ca.crt" \
    --service-account-issuer=https://kubernetes.default.svc.cluster.local \
    --service-account-key-file="$pki/service-account.pub" --service-account-signing-key-file="$pki/service-account.key" \
    --service-cluster-ip-range=10.96.0.0/16 --authorization-mode=Node,RBAC --enable-admission-plugins=NodeRestriction \
    --allow-privileged=true --audit-policy-file="$run/audit-policy.yaml" --audit-log-path="$run/audit.log" \
    --audit-log-maxsize=100000 \
    --kubelet-client-certificate="$pki/apiserver-kubelet-client.crt" --kubelet-client-key="$pki/apiserver-kubelet-client.key" \
    --kubelet-certificate-authority="$pki/ca.crt" --kubelet-preferred-address-types=InternalIP \
    --requestheader-client-ca-file="$pki/front-proxy-ca.crt" --requestheader-allowed-names=front-proxy-client \
    --requestheader-username-headers=X-Remote-User --requestheader-group-headers=X-Remote-Group \
    --requestheader-extra-headers-prefix=X-Remote-Extra- \
    --proxy-client-cert-file="$pki/front-proxy-client.crt" --proxy-client-key-file="$pki/front-proxy-client.key"
  await_service kube-apiserver 90 answers "https://127.0.0.1:$api/readyz"

  start_controllers "$programs" "$manager" "$scheduler"
}

# start_controllers PROGRAMS MANAGER-PORT SCHEDULER-PORT
start_controllers() {
  local programs=$1 manager=$2 scheduler=$3
  if [[ ! -x $(program kube-controller-manager "$programs") ]]; then
    say "this cluster has no controllers and no scheduler: KUBEBUILDER_ASSETS lacks them and there is no Go to build them with."
    return
  fi
  # more requests a second than the defaults: those throttle the controllers' start by five seconds
  start kube-controller-manager "$(program kube-controller-manager "$programs")" --leader-elect=false \
    --kubeconfig="$pki/controller-manager.kubeconfig" --authentication-kubeconfig="$pki/controller-manager.kubeconfig" \
    --authorization-kubeconfig="$pki/controller-manager.kubeconfig" --bind-address=127.0.0.1 --secure-port="$manager" \
    --service-account-private-key-file="$pki/service-account.key" --root-ca-file="$pki/ca.crt" \
    --cluster-signing-cert-file="$pki/ca.crt" --cluster-signing-key-file="$pki/ca.key" \
    --use-service-account-credentials=true --kube-api-qps=300 --kube-api-burst=600 \
    --allocate-node-cidrs=true --cluster-cidr=10.244.0.0/16 --service-cluster-ip-range=10.96.0.0/16
  start kube-scheduler "$(program kube-scheduler "$programs")" --leader-elect=false \
    --kubeconfig="$pki/scheduler.kubeconfig" --authentication-kubeconfig="$pki/scheduler.kubeconfig" \
    --authorization-kubeconfig="$pki/scheduler.kubeconfig" --bind-address=127.0.0.1 --secure-port="$scheduler"
  await_service kube-controller-manager 60 curl --silent --fail --insecure --max-time 2 "https://127.0.0.1:$manager/healthz"
  await_service kube-controller-manager 60 kubectl_as_admin --namespace default get serviceaccount default
  await_service kube-scheduler 60 curl --silent --fail --insecure --max-time 2 "https://127.0.0.1:$scheduler/healthz"
}

# program NAME DIRECTORY: the path of the program, from KUBEBUILDER_ASSETS when that has it
program() {
  if [[ -x ${KUBEBUILDER_ASSETS:-}/$1 ]]; then
    printf '%s\n' "$KUBEBUILDER_ASSETS/$1"
  else
    printf '%s\n' "$2/$1"
  fi
}

# assets_are MINOR: ends with a sentence when KUBEBUILDER_ASSETS holds another minor than the one asked for
assets_are() {
  local found
  [[ -x ${KUBEBUILDER_ASSETS:-}/kube-apiserver ]] || return 0
  found=$("$KUBEBUILDER_ASSETS/kube-apiserver" --version)
  [[ $found == *"v$1."* ]] ||
    wrong_usage "KUBEBUILDER_ASSETS holds $found, and $1 was asked for: unset it or point it at $1."
}
