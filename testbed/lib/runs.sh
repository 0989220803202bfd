# shellcheck shell=bash
# The runs that `up` started: one directory each below $cache/runs, which holds all that `down` needs to end it.
# Needs messages.sh, cache.sh, processes.sh. A run's files: owner (the `up` that makes it), complete (made), pids/, ports,
# namespace (the first process of its node), cgroup, log/, audit.log, admin.kubeconfig.

# new_run MINOR: makes the directory; $run is its path
new_run() {
  run=$(mktemp -d "$cache/runs/$1-XXXXXX")
  mkdir "$run/pids" "$run/log"
  remember "$run/owner" $$
}

# end_run DIRECTORY: ends its processes, the node first and the store last, and removes it
end_run() {
  local run=$1 name
  [[ -d $run ]] || return 0
  if [[ -e $run/pids/node ]]; then end_node "$run"; fi
  for name in kwok volume-provisioner kube-scheduler kube-controller-manager kube-apiserver etcd; do
    if [[ -e $run/pids/$name ]]; then stop "$run/pids/$name"; fi
  done
  rm -rf "$run" || fail "$run cannot be removed: something still writes there or holds a mount."
}

# abandoned DIRECTORY: whether an `up` that no longer runs left it half made, or what it started has died
abandoned() {
  local record
  if [[ ! -e $1/complete ]]; then
    ! alive "$1/owner"
    return
  fi
  for record in "$1"/pids/*; do
    if alive "$record"; then return 1; fi
  done
}

# sweep: ends every abandoned run. The caller holds the lock `runs`: a run is made, and called abandoned, under it.
sweep() {
  local left
  for left in "$cache"/runs/*/; do
    left=${left%/}
    if [[ -d $left ]] && abandoned "$left"; then
      say "cleaning up after a run that was killed: $(basename "$left")"
      end_run "$left"
    fi
  done
}
