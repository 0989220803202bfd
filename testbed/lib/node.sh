# shellcheck shell=bash
# The node of a run: containerd, kubelet, kube-proxy and DNS in namespaces of their own (processes, mounts, network).
# Ending the first process of the namespaces ends everything that runs in them, and their mounts, bridges and rules go too.
# Needs messages.sh, cache.sh, processes.sh; in: $run, $testbed, the variables that choose_link sets.

node_packages=(containerd runc containernetworking-plugins iptables iproute2 procps)
node_programs=(containerd ctr runc iptables ip nsenter unshare pgrep)

# can_run_a_node: ends with a sentence when this machine cannot, after installing what can be installed
can_run_a_node() {
  local program missing=()
  [[ $EUID == 0 ]] || cannot "a node mounts file systems and makes networks, so it needs root: run this with sudo. Without it tier 3 cannot run; a control plane (without --node) can."
  for program in "${node_programs[@]}"; do
    if ! command -v "$program" >/dev/null; then missing+=("$program"); fi
  done
  if [[ -z $(cni_plugins) ]]; then missing+=("the CNI plugins"); fi
  if ((${#missing[@]} > 0)); then install_node_packages "${missing[*]}"; fi
  unshare --mount --pid --net --fork true 2>/dev/null ||
    cannot "this machine does not let root make namespaces (a container without privileges?), so there is no node and tier 3 cannot run."
  if ! flock --nonblock "$cache/locks/node" true; then
    cannot "one node at a time, and a run has it: end that one with 'testbed/down $(holder_of_the_node)', or leave --node out."
  fi
}

# holder_of_the_node: the kubeconfig of the run whose node is alive
holder_of_the_node() {
  local record
  for record in "$cache"/runs/*/node/first-process; do
    if alive "$record"; then echo "${record%/node/*}/admin.kubeconfig"; fi
  done
}

cni_plugins() {
  local directory
  for directory in /usr/lib/cni /opt/cni/bin; do
    if [[ -x $directory/bridge ]]; then
      echo "$directory"
      return
    fi
  done
}

install_node_packages() {
  local log=$cache/logs/apt.log
  command -v apt-get >/dev/null || cannot "a node needs $1: install containerd, runc, the CNI plugins and iptables. Without them tier 3 cannot run."
  say "installing ${node_packages[*]}; the log is $log"
  { apt-get update && apt-get install --yes --no-install-recommends -o DPkg::Lock::Timeout=180 "${node_packages[@]}"; } >"$log" 2>&1 ||
    { tail -n 3 "$log" >&2; cannot "a node needs $1, and apt-get could not install it; the log is $log"; }
}

# choose_link: $host and $node_address, the two ends of the wire between this machine and the node
choose_link() {
  local number
  for ((number = 0; number < 64; number++)); do
    host=198.18.$number.1 node_address=198.18.$number.2 link=dbrender$number
    if ! ip -oneline address show | grep -qE "inet $host/| $link(@|:)"; then return; fi
  done
  fail "no address is free between 198.18.0.1 and 198.18.63.1."
}

# start_node PROGRAMS ARCHIVE…: the node named testbed with the images of the archives; waits until it is Ready
start_node() {
  local programs=$1 first group
  shift
  group=dbrender-$(basename "$run")
  mkdir -p "$run/node" "$cache/node"
  printf '%s\n' "$@" >"$run/node/images"
  {
    printf 'run=%q\nprograms=%q\nnode_address=%q\nhost=%q\n' "$run" "$programs" "$node_address" "$host"
    printf 'store=%q\ncni=%q\ngroup=%q\npause_image=%q\n' "$cache/node" "$(cni_plugins)" "$group" "$pause_image"
  } >"$run/node/facts"

  # The lock is held by the node's processes, and so for as long as any of them lives.
  local held
  exec {held}>"$cache/locks/node"
  flock --nonblock "$held" || cannot "one node at a time: another run took it just now."
  start node unshare --mount --pid --net --fork --kill-child=KILL bash "$testbed/node/first-process" "$run/node/facts"
  exec {held}>&-
  await_service node 10 first_process
  first=$(first_process)
  remember "$run/node/first-process" "$first"
  ip link add "$link" type veth peer name eth0 netns "$first"
  ip address add "$host/30" dev "$link"
  ip link set "$link" up
  await_service node 600 test -e "$run/node/started"
  await_service node 60 kubectl_as_admin wait --for=condition=Ready node/testbed --timeout=1s
  sed "s/NODE_ADDRESS/$node_address/" "$testbed/node/dns.yaml" | kubectl_as_admin apply -f - >>"$run/log/kubectl.log"
  await_service node 30 answers_dns
}

# first_process: the pid, on this machine, of the node's process 1
first_process() {
  local starter
  read -r starter _ <"$run/pids/node"
  pgrep --parent "$starter"
}

answers_dns() { curl --silent --fail --max-time 2 "http://$node_address:8181/ready"; }

# end_node DIRECTORY: ends every process of its namespaces and removes its control groups
end_node() {
  local run=$1 group
  # its starter takes it along, should it have no record yet
  if [[ -e $run/node/first-process ]]; then stop "$run/node/first-process" KILL; fi
  stop "$run/pids/node" KILL
  for group in /sys/fs/cgroup/dbrender-"$(basename "$run")" /sys/fs/cgroup/*/dbrender-"$(basename "$run")"; do
    if [[ -d $group ]]; then
      await 10 "the end of $group" remove_group "$group" || say "$group is left: something still runs in it."
    fi
  done
}
remove_group() { find "$1" -depth -type d -exec rmdir {} + ; }
