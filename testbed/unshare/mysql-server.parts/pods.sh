# shellcheck shell=bash
# What is different in a pod of this engine. Sourced after the pods of postgresql-server, whose functions it replaces.

# live POD: what a kubelet does from the init containers on
live() {
  local pod=$1 container command
  for container in setup bootstrap; do
    command=/opt/dbrender/$container.sh
    [[ $container != setup ]] || command='/bin/bash /etc/dbrender/scripts/setup.sh'
    # shellcheck disable=SC2086 # a command and its argument
    until run_container "$pod" "$container" $command; do
      [[ -e $pod/stopping ]] && return
      echo x >> "$pod/restarts-$container"
      sleep 0.5
    done
  done
  [[ -n ${no_agent:-} ]] || keep_running "$pod" agent /opt/dbrender/agent.sh &
  keep_running "$pod" mysql /opt/dbrender/start.sh &
  wait
}

# server ORDINAL: the server's own process, as seen from here
server() {
  local process
  process=$(process_of "$1" mysql) || return 1
  pgrep -P "$process" -x mysqld
}

# stop_pod ORDINAL [SIGNAL]: a deletion: preStop, the signal, the end; the volume stays. Prints the seconds it took.
stop_pod() {
  local pod i=$1 container began=$SECONDS
  pod=$(pod_of "$1")
  : > "$pod/stopping"
  # The kubelet tells the agent at once; only the server's container has a hook to run first.
  for container in setup bootstrap agent; do signal "${2:-TERM}" "$i" "$container" || :; done
  inside "$i" mysql /opt/dbrender/leave.sh >> "$pod/log-leave" 2>&1 || :
  signal "${2:-TERM}" "$i" mysql || :
  eventually "${grace:-60}" no_container "$pod" || : > "$pod/killed"
  end_pod "$i"
  echo $((SECONDS - began))
}

# inside ORDINAL CONTAINER COMMAND…: kubectl exec
inside() {
  local process i=$1
  process=$(process_of "$1" "$2") || return 1
  shift 2
  nsenter --target "$process" --mount --pid --net --uts --root --wd -- setpriv --reuid=999 --regid=999 --clear-groups \
    env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/tmp \
    POD_NAME="$name-$i" POD_NAMESPACE=production POD_IP="$(address_of "$i")" REVISION="$(cat "$(pod_of "$i")/revision")" "$@"
}

# cut ORDINAL / mend ORDINAL: no packet to or from the pod, and again
cut_off() { ip link set "veth$1" nomaster; }
mend() { ip link set "veth$1" master bridge0 up; }

# freeze ORDINAL / thaw ORDINAL: server and agent stop in the middle of what they do
freeze() { signal_all STOP "$1"; }
thaw() { signal_all CONT "$1"; }
signal_all() {
  local container process
  for container in mysql agent; do
    process=$(process_of "$2" "$container") || continue
    # shellcheck disable=SC2046 # numbers
    kill "-$1" "$process" $(pgrep -P "$process") 2> /dev/null || :
  done
}
