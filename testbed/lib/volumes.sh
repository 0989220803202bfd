# shellcheck shell=bash
# Volumes: storage classes that a small program serves with directories of the run. A `local` volume is made when its first
# pod has a node, gets that pod's fsGroup, and is removed with its claim.
# Needs control-plane.sh, processes.sh; in: $run.

# start_volumes PROGRAMS CLASS…: the first class is the default one
start_volumes() {
  local programs=$1 class default=true
  shift
  for class; do
    cat <<EOF
---
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: "$class", annotations: {storageclass.kubernetes.io/is-default-class: "$default"}}
provisioner: dbrender.testbed/local
volumeBindingMode: WaitForFirstConsumer
reclaimPolicy: Delete
EOF
    default=false
  done | kubectl_as_admin apply -f - >>"$run/log/kubectl.log"
  start volume-provisioner "$programs/volume-provisioner" --kubeconfig="$run/admin.kubeconfig" --base="$run/volumes"
}
