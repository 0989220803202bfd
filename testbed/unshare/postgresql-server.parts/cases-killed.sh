# shellcheck shell=bash
# kill -9 of every container, at many moments: each has to come back by itself, in the same pod, with what the former one left in it.

# kill_when CONTAINER PATTERN…: as soon as one of the files is there, and the container runs
kill_when() {
  local container=$1 deadline=$((SECONDS + $(stretched 30)))
  shift
  until compgen -G "$1" > /dev/null && kill_container "$(pod_of 0)/unshared-$container" 2> /dev/null; do ((SECONDS < deadline)) || return 1; done
}

# The first start, killed as soon as it has made a step, twice, so that the second run finds what the first one left.
case_bootstrap_container_killed() {
  local step
  for step in 'volumes/0/*/initdb.partial' 'volumes/0/*/initdb.partial/data/PG_VERSION' 'volumes/0/*/initdb.partial/data/global/pg_control' \
    'pods/0/run/initdb.*' 'pods/0/run/initdb.*/.s.PGSQL.5432' 'volumes/0/*/last-primary' 'volumes/0/*/initdb.partial/complete' 'volumes/0/*/docker'; do
    start 0
    check "killed when there is ${step##*/}" kill_when bootstrap "$WORLD/$step"
    sleep 0.5
    kill_when bootstrap "$WORLD/$step" || :
    within 60 'the same pod becomes ready' ready 0
    check 'the owner logs in' same 1 login 0 'order user' "$awkward_password" orders
    check 'nothing half done is left' nothing_half_done
    kill_pod 0
    remove_volume 0
  done
}

case_containers_killed_at_random() {
  local kills=0 round
  choose_seed
  set_replicas 3
  start 0 1 2
  kill_now_and_then 20
  within 90 "a first start with $kills kills: ready" ready 0
  within 60 'the second streams' streams 1 0
  within 60 'the third streams' streams 2 0
  check 'nothing half done is left' nothing_half_done
  start_writer
  watch_primaries
  kill_now_and_then 20
  within 60 "then $kills: ready" ready 0
  within 60 'the second streams' streams 1 0
  within 60 'the third streams' streams 2 0
  for round in 1 0; do
    set_primary "$round"
    deliver
    kill_now_and_then 15
    within 90 "$kills kills, while $round becomes the primary" is "$round" primary
    within 60 'the second follows' streams $((1 - round)) "$round"
    within 60 'the third follows' streams 2 "$round"
  done
  stop_writer
  within 30 'no acknowledged row was lost' nothing_lost 0
  check 'at no time two primaries' test ! -e "$WORLD/two"
  check 'nothing half done is left' nothing_half_done
}

# Copies and rewinds with each of their steps interrupted.
case_clone_and_rewind_containers_killed() {
  local step delay
  choose_seed
  write_facts REPLICATION=asynchronous
  start 0
  within 60 'a primary' ready 0
  set_replicas 2
  deliver
  insert 0 1 100000
  for ((step = 1; step <= 6; step++)); do
    delay=$(bc <<< "scale=2; $step * 0.25")
    start 1
    eventually 20 says Copying "$(log_of 1 bootstrap)"
    sleep "$delay"
    kill_container "$(pod_of 1)/unshared-bootstrap" 2> /dev/null || :
    within 60 "a copy killed after $delay s, in the same pod: it streams" streams 1 0
    within 10 'with all rows' holds 1 100000
    check 'nothing half done is left' nothing_half_done
    kill_pod 1
    remove_volume 1
  done
  start 1
  eventually 60 streams 1 0
  local from=0 to=1 n=100000
  for ((step = 1; step <= 6; step++)); do
    within 30 'the standby has all' holds "$to" "$n"
    cut_off "$to"
    insert "$from" $((n + 1)) $((n + 50))
    kill_pod "$from"
    reconnect "$to"
    set_primary "$to"
    force "$to/$(timeline "$to")"
    deliver "$to"
    within 60 'promoted by force' is "$to" primary
    insert "$to" $((n + 1)) $((n + 20))
    n=$((n + 20))
    start "$from"
    eventually 20 says 'pg_rewind|its recovery comes first' "$(log_of "$from" postgresql)"
    sleep "$(bc <<< "scale=2; ($step - 1) * 0.3")"
    kill_container "$(pod_of "$from")/unshared-postgresql" 2> /dev/null || :
    within 90 "killed $(bc <<< "scale=2; ($step - 1) * 0.3") s into its way back: it follows" streams "$from" "$to"
    within 20 'with the rows of the new primary' holds "$from" "$n"
    check 'nothing half done is left' nothing_half_done
    force ''
    deliver
    ((from = to, to = 1 - to))
  done
}
