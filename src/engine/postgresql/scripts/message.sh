#!/bin/bash
# shellcheck disable=SC2154,SC2034  # names are shared with the files that this one is sourced with
# What a script has to say. Sourced.
# There is no other channel than the log and the container's last word (the termination message), so both get whole sentences.

last_said=''

# last_word TEXT: becomes the termination message of this container. The kubelet reads it when the container ends.
last_word() {
  { printf '%s\n' "$1" > /dev/termination-log; } 2>/dev/null || true
}

# say TEXT: a line in the log, once until another text comes.
say() {
  [ "$1" = "$last_said" ] && return 0
  last_said=$1
  printf '%s %s\n' "$(date -u +%H:%M:%S)" "$1"
}

# report TEXT: say, and keep it as the last word.
report() {
  [ "$1" = "$last_said" ] && return 0
  say "$1"
  last_word "$1"
}

# refuse SENTENCE: the end of the script. The sentence is its last line.
refuse() {
  last_word "$1"
  printf '%s\n' "$1" >&2
  exit 1
}

# rest SECONDS: sleeps without a child, and lets a trap run at once.
rest() {
  [ -n "${rest_fd:-}" ] || exec {rest_fd}<> <(:)
  read -r -t "$1" -u "$rest_fd" _ || true
}

# attend COMMAND...: runs a long command so that a signal to this script is answered while it runs.
attend() {
  local rc=0
  "$@" &
  attended=$!
  while :; do
    rc=0
    wait "$attended" || rc=$?
    kill -0 "$attended" 2>/dev/null || break
  done
  attended=''
  return "$rc"
}
attended=''

# A shell that is process 1 ignores SIGTERM unless it has a trap, and would hold the pod for its whole grace period.
end_on_signal() {
  trap '[ -z "$attended" ] || kill -TERM "$attended" 2>/dev/null; exit 143' TERM INT
}

# mark_leaving FILE, marked_leaving FILE: whether this container is about to be stopped. preStop may run before the container's first script has removed what a container before it left
# there, so the mark says whose it is: when process 1 began, in clock ticks since the node did.
container_start() {
  local stat
  stat=$(< /proc/1/stat)
  # shellcheck disable=SC2086 # fields
  set -- ${stat##*) }
  echo "${20}"
}
mark_leaving() { container_start >> "$1"; }
marked_leaving() { container_start | grep -qxFf "$1" 2>/dev/null; }
