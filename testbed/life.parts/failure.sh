# shellcheck shell=bash
# The end of a primary, by signal 9 from the node. Needs cluster.sh, and the engine's $container.

# kill_primary MEMBER [held]: kills the first process of its server's container, with which the kernel ends all others of it, and
# the server with them. `held`: and whatever the kubelet starts in its place, until release_primary. Sets killed_at, in
# microseconds, to a moment when the server was gone.
kill_primary() {
  local uid filter
  uid=$(kube get pod "$1" --output 'jsonpath={.metadata.uid}')
  filter="labels.\"io.kubernetes.pod.uid\"==$uid,labels.\"io.kubernetes.container.name\"==$container"
  rm -f "$work/released" "$work/killed"
  # shellcheck disable=SC2016 # for the shell on the node
  on_node bash -c '
    filter=$1 work=$2 held=$3 dead=
    while :; do
      for id in $(ctr --namespace k8s.io containers list --quiet "$filter"); do
        [[ $id != "$dead" ]] || continue
        ctr --namespace k8s.io tasks kill --signal SIGKILL "$id" 2>/dev/null || continue
        while ctr --namespace k8s.io tasks list | grep -q "^$id .*RUNNING"; do sleep 0.05; done
        dead=$id
        [[ -e $work/killed ]] || echo "${EPOCHREALTIME/./}" >"$work/killed"
      done
      [[ -n $dead && $held != held || -e $work/released ]] && break
      sleep 0.3
    done' kill "$filter" "$work" "${2:-}" </dev/null >"$work/kill.log" 2>&1 &
  killer=$!
  until [[ -s $work/killed ]]; do
    kill -0 "$killer" 2>/dev/null || { cat "$work/kill.log" >&2; give_up "the server of $1 was not found on the node, so it was not killed."; }
    sleep 0.05
  done
  killed_at=$(<"$work/killed")
}

# restarts MEMBER: how often the kubelet has started its server's container again
restarts() { kube get pod "$1" --output "jsonpath={.status.containerStatuses[?(@.name=='$container')].restartCount}"; }

# release_primary: lets the kubelet start it again
release_primary() {
  : >"$work/released"
  wait "$killer" || :
}

# fail_over: writes, kills the primary in the middle, and looks for every acknowledged row. Sets acknowledged, lost, failover_seconds.
fail_over() {
  local first now_first kill_after
  first=$(primaries "$name")
  RANDOM=$seed
  kill_after=$((1000 + RANDOM % 2500))
  start_writing "$name"
  await_rows "$kill_after" 0 "before the kill"
  sleep "0.$((RANDOM % 1000))"
  if [[ $failover == Automatic ]]; then kill_primary "$first" held; else kill_primary "$first"; fi
  say "killed $first after some $kill_after rows"
  await_rows 1 "$killed_at" "after the kill of $first"
  failover_seconds=$(seconds_to_first "$killed_at")
  release_primary
  await_rows 1000 "$killed_at" "after the kill of $first"
  now_first=$(primaries "$name")
  say "$now_first takes writes; the first row was acknowledged $failover_seconds s after the kill (server containers of $first started again: $(restarts "$first"))"
  if [[ $failover == Manual ]]; then switch_over; elif [[ $now_first == "$first" ]]; then give_up "$first was held down and still leads."; fi
  await_rows "$enough" 0 "in all"
  if [[ $plant == second-primary ]]; then plant_second_primary "$name"; fi
  stop_writing
  if [[ $plant == dropped-row ]]; then plant_dropped_row "$name"; fi
  look_for_rows "$name"
  if ((lost > 0)); then
    say "$acknowledged rows were acknowledged, $lost of them are lost: $lost_bytes bytes of the log, and the bound is $bound_bytes"
  else
    say "$acknowledged rows were acknowledged, and all are there"
  fi
  whole "$name" 3
  look_for_rows "$name"
  say "three members again: $(primaries "$name") leads, the others follow"
}

# switch_over: what a person does in Manual. Sets switch_seconds.
switch_over() {
  local began deadline=$((SECONDS + patience)) to=$name-1
  whole "$name" 3
  database "$name" 3 "primary: 1"
  began=$(now)
  apply "$name"
  until [[ $(primaries "$name") == "$to" ]]; do
    ((SECONDS < deadline)) || give_up "$to is to be the primary and is not."
    sleep 0.5
  done
  await_rows 500 "$(now)" "after $to became the primary"
  switch_seconds=$(longest_pause "$began")
  say "$to takes writes; the longest pause was $switch_seconds s"
}
