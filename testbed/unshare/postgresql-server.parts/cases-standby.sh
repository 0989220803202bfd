# shellcheck shell=bash
# Standbys: made, lost, stale, foreign; and the primary without data that nobody may follow.

# three: a primary and two standbys that stream
three() {
  set_replicas 3
  start 0 1 2
  eventually 90 ready 0 && eventually 60 streams 1 0 && eventually 60 streams 2 0
}

case_standbys() {
  check 'a primary and two standbys from nothing' three
  insert 0 1 500
  within 10 'rows are on the standby' holds 1 500
  check 'a standby is ready, and says that it streams' says streaming <(ready 1)
  within 10 'a commit waits for one of the two' same 'ANY 1 ("order-db-1", "order-db-2")' query 0 'SHOW synchronous_standby_names'
  check 'each has a slot' same 'member_1,member_2' query 0 "SELECT string_agg(slot_name, ',' ORDER BY slot_name) FROM pg_replication_slots WHERE active"
  check 'a standby refuses writes' not insert 1 501 502
  check 'initdb ran on one member only' not says Initialising "$(log_of 1 bootstrap)"
  kill_pod 2
  check 'with one standby writes go on' insert 0 501 600
  kill_pod 1
  within 20 'without a standby writes go on' insert 0 601 700
  within 10 'and no commit waits' same '' query 0 'SHOW synchronous_standby_names'
  start 1 2
  within 30 'the standbys are back' streams 1 0
  within 30 'the other too' streams 2 0
  within 10 'with all rows' holds 2 700
  signal KILL 1 postgresql
  sleep 1
  within 30 'a standby killed by -9 is back' streams 1 0
  check 'nothing was copied anew' not says Copying "$(log_of 1 postgresql)" 
  check 'liveness of a standby' inside 1 postgresql /opt/dbrender/probe.sh liveness
}

case_one_three_one_three() {
  start 0
  within 60 'one member' ready 0
  insert 0 1 100
  set_replicas 3
  deliver
  start 1 2
  within 60 'three members' streams 2 0
  within 10 'all rows on the third' holds 2 100
  stop_pod 2 > /dev/null
  stop_pod 1 > /dev/null
  set_replicas 1
  deliver
  insert 0 101 200
  within 60 'one member again: the slots of the others go' same 0 query 0 'SELECT count(*) FROM pg_replication_slots'
  query 0 "SELECT pg_switch_wal(); CHECKPOINT" > /dev/null
  set_replicas 3
  deliver
  start 1 2
  within 60 'three again, on the old volumes' streams 1 0
  within 60 'the third too' streams 2 0
  within 10 'all rows' holds 1 200
  within 10 'all rows' holds 2 200
}

# make_wal ORDINAL: enough to recycle what no slot holds
make_wal() {
  local i
  for i in 1 2 3 4 5 6 7 8; do
    query "$1" 'CREATE TABLE IF NOT EXISTS filler (t text)' orders > /dev/null
    query "$1" 'SELECT pg_switch_wal()' > /dev/null
    query "$1" "INSERT INTO filler SELECT repeat(md5(i::text), 20) FROM generate_series(1, 3000) i" orders > /dev/null
  done
  query "$1" 'CHECKPOINT' > /dev/null
  query "$1" 'SELECT pg_switch_wal(); CHECKPOINT' > /dev/null
}

case_stale_standby() {
  set_replicas 2
  start 0 1
  within 90 'a standby streams' streams 1 0
  insert 0 1 100
  stop_pod 1 > /dev/null
  query 0 "SELECT pg_drop_replication_slot('member_1')" > /dev/null
  make_wal 0
  insert 0 101 200
  start 1
  within 90 'a standby whose WAL is gone is copied anew' says 'no longer has the WAL' "$(log_of 1 agent)"
  within 60 'and streams' streams 1 0
  within 10 'with all rows' holds 1 200
  check 'nothing is left of the old copy' same docker ls "$(volume_of 1)/$MAJOR" --hide=initialised --hide=last-primary
  stop_pod 1 > /dev/null
  query 0 "SELECT pg_drop_replication_slot('member_1')" > /dev/null
  make_wal 0
  # no room for two copies: the old one stays
  local used
  used=$(du -sm "$(volume_of 1)" | cut -f 1)
  mv "$(volume_of 1)" "$WORLD/volumes/old"
  make_volume 1 "size=$((used + 30))m"
  cp -a "$WORLD/volumes/old/$MAJOR" "$(volume_of 1)/"
  rm -rf "$WORLD/volumes/old"
  start_pod 1
  within 60 'no room for a second copy: said so' says 'no room for a second copy' "$(log_of 1 postgresql)"
  check 'the old copy is still there' test -s "$(volume_of 1)/$MAJOR/docker/global/pg_control"
}

case_clone_killed() {
  start 0
  within 60 'a primary' ready 0
  set_replicas 2
  insert 0 1 200000
  local delay
  for delay in 0.5 1.0 1.5; do
    make_volume 1
    start_pod 1
    eventually 20 says Copying "$(log_of 1 bootstrap)"
    sleep "$delay"
    kill_pod 1
    start_pod 1
    within 60 "killed $delay s into the copy: the next start makes it whole" streams 1 0
    within 10 'with all rows' holds 1 200000
    check 'nothing half done is left' test -z "$(find "$(volume_of 1)" -name '*.partial')"
    kill_pod 1
    remove_volume 1
  done
  check 'a pod that waits for its primary ends in seconds' waits_and_ends
}
waits_and_ends() {
  local seconds
  kill_pod 0
  make_volume 1
  start_pod 1
  eventually 20 says 'waiting for order-db-0 to answer' "$(log_of 1 bootstrap)" || return 1
  seconds=$(stop_pod 1)
  at_most 5 "$seconds"
}

case_empty_primary_with_full_standbys() {
  check 'three members' three
  insert 0 1 300
  within 10 'rows are on both standbys' holds 2 300
  kill_pod 0
  remove_volume 0
  start 0
  within 30 'the empty primary is refused' test -s "$(message_of 0 bootstrap)"
  check 'with a sentence that says what to do' says 'order-db-0 is empty, but order-db-[12] runs with data: an empty primary is not started. Set primary to [12]' "$(message_of 0 bootstrap)"
  check 'no data directory was made' test ! -e "$(volume_of 0)/$MAJOR/docker"
  check 'the standbys hold all' holds 1 300
  # the same with every pod gone, and the empty one back first
  kill_pod 0; kill_pod 1; kill_pod 2
  start 0
  within 30 'alone, it waits for the others' says 'order-db-[12] does not exist yet: it may hold the data' "$(log_of 0 bootstrap)"
  sleep 5
  check 'still nothing was made' test ! -e "$(volume_of 0)/$MAJOR/docker"
  start 1 2
  within 60 'and is refused when they come' says 'runs with data' "$(message_of 0 bootstrap)"
  # a member that does not answer, because its node hangs
  kill_pod 0
  signal STOP 1 postgresql
  kill_pod 2
  kill -STOP "$(postmaster 1)"
  cut_off 1
  start 0
  within 30 'a silent member keeps it waiting' says 'order-db-1 exists but does not answer: it may hold the data|order-db-2 does not exist yet' "$(log_of 0 bootstrap)"
  reconnect 1
  kill -CONT "$(postmaster 1)"
  signal CONT 1 postgresql
  start 2
  # the way out
  set_primary 1
  force 1/1
  deliver
  within 60 'the way out: primary and force-primary name a standby' is 1 primary
  within 90 'the empty member is copied from it' streams 0 1
  within 10 'with all rows' holds 0 300
  within 30 'the third follows' streams 2 1
}

case_foreign_volume() {
  set_replicas 2
  start 0 1
  within 90 'two members' streams 1 0
  insert 0 1 10
  kill_pod 0
  kill_pod 1
  # another database on the volume of the primary
  mv "$(volume_of 0)" "$WORLD/volumes/aside"
  set_replicas 1
  start 0
  within 60 'another database in the place of the primary' ready 0
  set_replicas 2
  start 1
  within 30 'its former standby does not follow' says 'This volume holds .*database|holds another database' "$(log_of 1 postgresql)" "$(log_of 1 agent)"
  sleep 5
  check 'its data is untouched' test -s "$(volume_of 1)/$MAJOR/docker/global/pg_control"
  kill_pod 0
  kill_pod 1
  rm -rf "$(volume_of 0)"
  mv "$WORLD/volumes/aside" "$(volume_of 0)"
  start 0 1
  within 60 'with the right volume it streams again' streams 1 0
  within 10 'with all rows' holds 1 10
}
