# shellcheck shell=bash
# Fake nodes: objects that kwok keeps Ready, and whose pods it calls Running and Ready without running anything.
# Needs control-plane.sh, processes.sh; in: $run.

# start_fake_nodes PROGRAMS COUNT REAL: fake-0 …, with the label type=fake and, when REAL is `yes`, a taint that keeps
# what does not ask for them on the real node. They have room for every fixture at once: nothing runs on them.
start_fake_nodes() {
  local programs=$1 count=$2 number taints=''
  if [[ $3 == yes ]]; then taints='taints: [{key: fake, value: "true", effect: NoSchedule}]'; fi
  for ((number = 0; number < count; number++)); do
    cat <<EOF
---
apiVersion: v1
kind: Node
metadata:
  name: fake-$number
  annotations: {kwok.x-k8s.io/node: fake}
  labels: {type: fake, kubernetes.io/hostname: fake-$number, kubernetes.io/os: linux, kubernetes.io/arch: amd64}
spec: {$taints}
status:
  allocatable: {cpu: 1k, memory: 4Ti, pods: 1k}
  capacity: {cpu: 1k, memory: 4Ti, pods: 1k}
EOF
  done | kubectl_as_admin apply -f - >"$run/log/fake-nodes.log"
  start kwok "$programs/kwok" --kubeconfig="$run/admin.kubeconfig" --manage-all-nodes=false \
    --manage-nodes-with-annotation-selector=kwok.x-k8s.io/node=fake --cidr=10.99.0.0/16 --node-ip=10.98.0.1 \
    --node-lease-duration-seconds=40
  await_service kwok 60 kubectl_as_admin wait --for=condition=Ready nodes --selector=type=fake --timeout=1s
}
