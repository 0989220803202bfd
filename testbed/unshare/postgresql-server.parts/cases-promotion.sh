# shellcheck shell=bash
# Another primary: through `primary`, through `force-primary`, back again, and everything that must not happen on the way.

case_promotion() {
  check 'three members' three
  start_writer
  watch_primaries
  sleep 2
  set_primary 1
  deliver 1
  within 20 'the new one waits while the old one runs' says 'Waiting to be promoted: order-db-0 still runs as primary' "$(log_of 1 agent)"
  check 'it is still a standby' is 1 standby
  set_primary 2
  deliver 0
  within 20 'the old one waits until the one that it is told of knows' says 'Handing over to order-db-2 as soon as it has read' "$(log_of 0 agent)"
  check 'it is still primary' is 0 primary
  set_primary 1
  local began=$SECONDS
  deliver
  within 60 'it is promoted when the old one has become a standby' is 1 primary
  echo "   ($((SECONDS - began)) s from the delivery to the promotion)"
  within 60 'the old one follows it' streams 0 1
  within 60 'the third follows it' streams 2 1
  sleep 2
  set_primary 0
  deliver
  within 60 'and back: promoted' is 0 primary
  within 60 'the other two follow' streams 1 0
  within 60 'the other two follow' streams 2 0
  within 30 'ready' ready 0
  sleep 1
  stop_writer
  within 30 'no acknowledged row was lost' nothing_lost 0
  within 30 'nor on a standby' nothing_lost 2
  check 'at no time two primaries' test ! -e "$WORLD/two"
  check 'nothing was rewound or copied anew' not says 'rewind|Copying' "$(log_of 0 postgresql)" "$(log_of 1 postgresql)" "$(log_of 2 postgresql)"
  check 'each promotion is a new timeline' same 3 timeline 0
  check 'slots are on the primary only' same 'member_1,member_2' query 0 "SELECT string_agg(slot_name, ',' ORDER BY slot_name) FROM pg_replication_slots"
  within 60 'and gone from the former one' same 0 query 1 'SELECT count(*) FROM pg_replication_slots WHERE NOT active'
  check 'the pods did not restart' not ls "$(pod_of 0)/restarts-postgresql" "$(pod_of 1)/restarts-postgresql"
}

case_promotion_of_a_member_that_does_not_stream() {
  set_replicas 2
  start 0 1
  within 90 'two members' streams 1 0
  kill_pod 1
  set_primary 1
  deliver 0
  within 20 'the primary goes on, and says why' says 'is to be order-db-1, but it does not stream from this server, which therefore goes on' "$(log_of 0 agent)"
  check 'it takes writes' insert 0 1 10
  start 1
  within 60 'when the member is back, it is promoted' is 1 primary
  within 30 'with all rows' holds 1 10
  within 60 'the old one follows' streams 0 1
}

case_promotion_after_a_crash() {
  write_facts REPLICATION=asynchronous
  set_replicas 2
  start 0 1
  within 90 'two members' streams 1 0
  start_writer
  sleep 2
  # the standby lags, and then the primary dies with WAL that only it has
  cut_off 1
  sleep 3
  stop_writer
  kill_pod 0
  reconnect 1
  set_primary 1
  deliver 1
  within 30 'it waits for the dead one, and says how to do without' says 'order-db-0 was the last primary or was to be, and does not answer.* set force-primary to 1/1' "$(log_of 1 agent)"
  check 'still a standby' is 1 standby
  start 0
  within 60 'the dead one comes back as a standby and gives what it had; then the other is promoted' is 1 primary
  within 60 'and is followed' streams 0 1
  check 'no acknowledged row was lost' nothing_lost 1
}

# diverge: rows 1 to 100 are on both, 101 to 150 only on member 0, which is dead
diverge() {
  write_facts REPLICATION=asynchronous
  set_replicas 2
  start 0 1
  eventually 90 streams 1 0
  insert 0 1 100
  eventually 10 holds 1 100
  cut_off 1
  insert 0 101 150
  kill_pod 0
  reconnect 1
}

case_force_primary() {
  diverge
  set_primary 1
  force 1/7
  deliver 1
  within 30 'force-primary of another timeline is not honoured' says 'Waiting to be promoted: order-db-0 was the last primary' "$(log_of 1 agent)"
  check 'still a standby' is 1 standby
  force 0/1
  deliver 1
  sleep 4
  check 'nor of another ordinal' is 1 standby
  force 1/1
  deliver 1
  within 30 'with the right one it is promoted' is 1 primary
  check 'and says that it lost the rest' says 'force-primary is 1/1: promoted on timeline 1 at .* remove the annotation now' "$(log_of 1 agent)"
  check 'what it had is there' holds 1 100
  insert 1 101 120
  start 0
  within 90 'the former primary comes back as a standby' streams 0 1
  check 'by pg_rewind' says 'order-db-1 left that timeline at .*What is beyond is dropped by pg_rewind' "$(log_of 0 postgresql)"
  within 10 'with the rows of the new primary' holds 0 120
  sleep 4
  check 'force-primary, still set, does nothing more' same 2 timeline 1
  set_primary 0
  deliver
  within 60 'an ordinary promotion back works' is 0 primary
  within 30 'with all rows' holds 0 120
  within 60 'and is followed' streams 1 0
}

case_diverged_primary_stopped_cleanly_and_standby_ahead() {
  write_facts REPLICATION=asynchronous
  check 'three members' three
  insert 0 1 100
  within 10 'rows everywhere' holds 2 100
  cut_off 1
  insert 0 101 150
  within 10 'the third has more than the one that will be promoted' holds 2 150
  local seconds
  seconds=$(stop_pod 0)
  check "the primary stops within its time although a standby is cut off ($seconds s)" at_most 20 "$seconds"
  reconnect 1
  set_primary 1
  force 1/1
  deliver
  within 30 'promoted by force' is 1 primary
  insert 1 101 120
  within 120 'the standby that was ahead is rewound and follows' streams 2 1
  within 10 'with the rows of the new primary' holds 2 120
  start 0
  within 90 'the former primary too' streams 0 1
  within 10 'with the rows of the new primary' holds 0 120
}

case_two_promoted_by_force() {
  # 0 is cut off; 1 is promoted by force; 1 dies; 0, never told of it, is demoted and promoted by force as well
  write_facts REPLICATION=asynchronous
  set_replicas 2
  start 0 1
  eventually 90 streams 1 0
  insert 0 1 100
  eventually 10 holds 1 100
  kill_pod 0
  set_primary 1
  force 1/1
  deliver 1
  within 30 'the first is promoted by force' is 1 primary
  insert 1 101 110
  kill_pod 1
  : > "$(volume_of 0)/$MAJOR/docker/standby.signal"
  chown 999:999 "$(volume_of 0)/$MAJOR/docker/standby.signal"
  set_primary 0
  force 0/1
  start 0
  within 60 'the second too, on a timeline of the same number' is 0 primary
  insert 0 101 120
  check 'both are on timeline 2' same 2 timeline 0
  start 1
  within 60 'the other is told apart and left alone' says 'both on timeline 2, but their WAL differs' "$(pod_of 1)/last-message-postgresql"
  check 'its data is untouched' test -s "$(volume_of 1)/$MAJOR/docker/global/pg_control"
  kill_pod 1
  remove_volume 1
  start 1
  within 90 'the way out of the sentence: emptied, it is copied' streams 1 0
  within 10 'with the rows of the primary' holds 1 120
}

case_rewind_killed() {
  diverge
  set_primary 1
  force 1/1
  deliver 1
  within 30 'promoted by force' is 1 primary
  insert 1 101 120
  # as if the pod had been killed in the middle of pg_rewind
  echo 'order-db-1, timeline 2' > "$(volume_of 0)/$MAJOR/rewinding"
  chown 999:999 "$(volume_of 0)/$MAJOR/rewinding"
  kill_pod 1
  start 0
  within 60 'without a primary to copy from it waits' says 'A rewind of .* was interrupted, and order-db-1 does not answer as primary yet' "$(log_of 0 postgresql)"
  start 1
  within 90 'then it is copied anew' streams 0 1
  within 10 'with the rows of the new primary' holds 0 120
  check 'no mark is left' test ! -e "$(volume_of 0)/$MAJOR/rewinding"
}

case_primary_set_back_to_an_old_volume() {
  diverge
  set_primary 1
  force 1/1
  deliver 1
  within 30 'promoted by force' is 1 primary
  insert 1 101 120
  force ''
  set_primary 0
  deliver 1
  start 0
  within 30 'the dead one, named primary again, does not start beside the new one' says 'This volume is on timeline 1, but order-db-1 is on timeline 2|order-db-1 runs as primary' "$(message_of 0 bootstrap)"
  check 'the new one goes on' is 1 primary
  within 15 'and says why' says 'does not stream from this server' "$(log_of 1 agent)"
  check 'and takes writes' insert 1 121 130
  set_primary 1
  deliver
  within 90 'set right, the old one comes back as a standby' streams 0 1
  within 10 'with all rows' holds 0 130
}

case_primary_flipped() {
  check 'three members' three
  start_writer
  watch_primaries
  sleep 1
  local i
  for i in 1 2 3; do
    set_primary 1
    deliver
    sleep $((i - 1))
    set_primary 0
    deliver 0
    sleep "$i"
    deliver
    sleep 1
  done
  within 60 'after flips the named one is primary' is 0 primary
  within 60 'and followed' streams 1 0
  within 60 'and followed' streams 2 0
  stop_writer
  check 'no acknowledged row was lost' nothing_lost 0
  check 'at no time two primaries' test ! -e "$WORLD/two"
}

# A primary that has just been promoted knows its timeline by the history file alone.
case_killed_right_after_the_promotion() {
  check 'three members' three
  insert 0 1 200000
  within 20 'rows everywhere' holds 1 200000
  within 20 'rows everywhere' holds 2 200000
  kill_pod 0
  set_primary 1
  deliver 1 2
  signal STOP 1 agent
  query 1 'SELECT pg_promote()' > /dev/null
  within 60 'the third follows' streams 2 1
  insert 1 200001 200100
  within 20 'with the rows of the new timeline' holds 2 200100
  signal KILL 1 postgresql
  check 'its control file does not know the new timeline' says "^Latest checkpoint's TimeLineID: +1\$" <(control_of 1)
  signal CONT 1 agent
  within 60 'it is primary again' is 1 primary
  within 60 'ready' ready 1
  check 'with all rows' holds 1 200100
  within 60 'and the third follows' streams 2 1
}
# control_of ORDINAL: what pg_controldata says of the data there
control_of() { chroot_client pg_controldata -D "$(volume_of "$1")/$MAJOR/docker"; }

# The kubelet of a frozen primary is late: the others know better than its file.
case_killed_with_an_old_file() {
  write_facts REPLICATION=asynchronous
  set_replicas 2
  start 0 1
  within 90 'two members' streams 1 0
  insert 0 1 100
  within 10 'rows on both' holds 1 100
  kill -STOP "$(postmaster 0)"
  signal STOP 0 postgresql
  signal STOP 0 agent
  set_primary 1
  force 1/1
  deliver 1
  within 60 'while 0 is frozen, 1 is promoted by force' is 1 primary
  insert 1 101 120
  signal KILL 0 postgresql
  signal CONT 0 agent
  within 30 'killed and started again, 0 does not lead beside it' says 'order-db-1 is on timeline 2|order-db-1 runs as primary' "$(message_of 0 postgresql)"
  check 'it never did' not says 'database system is ready to accept connections' <(sed '1,/--- ended/d' "$(log_of 0 postgresql)")
  deliver 0
  within 90 'told, it follows' streams 0 1
  within 10 'with the rows of the primary' holds 0 120
}
