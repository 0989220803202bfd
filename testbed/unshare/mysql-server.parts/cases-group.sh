# shellcheck shell=bash
# Three members: the group is formed once, and loses nothing.

three() {
  replicas=3 write_config
  start 0 1 2
  within 120 "three members are in one group" online 0 3
  within 30 "with the application's database" same '' query 0 'USE app'
}
groups() { local i; for i in 0 1 2; do query "$i" 'SELECT @@group_replication_group_name'; done | sort -u | wc -l; }

none_lost() {
  local i
  eventually 30 online "${1:-0}" 3
  for i in 0 1 2; do eventually 20 same 0 lost "$i" || { echo "member $i lacks $(lost "$i") rows"; return 1; }; done
  [[ $(checksum 0) == "$(checksum 1)" && $(checksum 1) == "$(checksum 2)" ]]
}

case_three_members() {
  local first=0 how primary
  three
  check "one group" same 1 groups
  check "ordinal 0 leads" is 0 primary
  check "the others follow" is 1 replica
  within 20 "all are ready" ready 2
  check "a standby takes no writes" says 'super-read-only' <(query 1 'CREATE DATABASE x')
  start_writer 0
  sleep 3
  for how in kill freeze cut; do
    primary=$(primary_of "$first" | head -n 1)
    case $how in
      kill) kill -KILL "$(process_of "$primary" mysql)" ;;
      freeze) freeze "$primary" ;;
      cut) cut_off "$primary" ;;
    esac
    first=$(((primary + 1) % 3))
    within 30 "$how: another leads" moved "$first" "$primary"
    if [[ $how == cut ]]; then
      within 20 "cut: the one that was cut off is called primary no more" not is "$primary" primary
      check "cut: and is not ready" not ready "$primary"
    fi
    sleep 8
    case $how in
      freeze) thaw "$primary" ;;
      cut) mend "$primary" ;;
    esac
    within 90 "$how: all three are back in the group" online "$first" 3
    within 10 "$how: one of them alone is called primary" same 1 primaries
    echo "   ($how: longest gap so far $(gap) s)"
  done
  stop_writer
  check "no acknowledged row is lost: $(wc -l < "$WORLD/acknowledged") rows" none_lost "$first"
}
moved() { local now; now=$(primary_of "$1"); [[ -n $now && $now != "$2" ]] && is "$now" primary; }
primaries() { local i; for i in 0 1 2; do role_of "$i"; done | grep -c primary; }

case_rolling_restart() {
  local i
  three
  start_writer 0
  sleep 2
  for i in 2 1 0; do
    stop_pod "$i" > "$WORLD/out"
    start "$i"
    within 60 "member $i is back" online "$(((i + 1) % 3))" 3
    within 20 "and ready" ready "$i"
  done
  stop_writer
  check "no acknowledged row is lost: $(wc -l < "$WORLD/acknowledged") rows, longest gap $(gap) s" none_lost
}

case_founded_once() {
  replicas=3 write_config
  start 1 2
  within 40 "empty members with other ordinals wait" says 'empty: waiting for a group' "$(says_now 2)"
  sleep 5
  check "and found nothing" same OFFLINE state_of_member 1
  stop_pod 2 > "$WORLD/out"
  start 0
  within 40 "the first waits for one that is to exist" says 'do not exist yet: order-db-2' "$(says_now 0)"
  start 2
  within 90 "and then forms the group" online 0 3
  check "one" same 1 groups
  within 30 "with the application's database" same '' query 0 'USE app'
  insert 0 1 50
  within 10 "the rows are on all" holds 2 50
  kill_pod 0
  remove_volume 0
  within 40 "without the first, another leads" moved 1 0
  start 0
  within 120 "the first, emptied, joins" online 0 3
  check "and has the rows" holds 0 50
  check "no second group" same 1 groups

  kill_pod 0
  kill_pod 1
  kill_pod 2
  remove_volume 0
  start 0
  within 60 "alone and emptied, it founds nothing" says 'do not exist yet' "$(says_now 0)"
  start 1 2
  within 120 "when the others come, one of them leads and all are in one group" online 1 3
  within 20 "with the rows" holds 0 50
}

case_errant_transaction() {
  three
  insert 0 1 20
  within 10 "rows" holds 2 20
  stop_pod 2 > "$WORLD/out"
  no_agent=yes start 2
  within 30 "the server is back, without its agent" same 1 query 2 'SELECT 1'
  query 2 'SET GLOBAL super_read_only = OFF; CREATE DATABASE stray' > "$WORLD/out"
  keep_running "$(pod_of 2)" agent /opt/dbrender/agent.sh 2> "$WORLD/out" &
  within 40 "what was written outside of the group is found and named" says 'holds transactions that the group of order-db-0 lacks' "$(says_now 2)"
  check "the group goes on without it" online 0 2
  check "it takes no writes" not writable 2
}

case_majority_lost() {
  three
  insert 0 1 20
  within 10 "rows" holds 2 20
  freeze 1
  freeze 2
  within 30 "a person is told that writes have stopped" says 'NO MAJORITY' "$(says_now 0)"
  check "the one that is left is called primary no more" not is 0 primary
  check "it is not ready" not ready 0
  sleep 10
  check "nothing is forced" same ONLINE state_of_member 0
  thaw 1
  thaw 2
  within 120 "when the others are back, the group goes on" online 0 3
  within 30 "with a primary" same 1 primaries
  check "and its rows" holds 1 20
  kill -KILL "$(process_of 1 mysql)"
  kill -KILL "$(process_of 2 mysql)"
  within 180 "two that were killed and came back empty-handed are taken in again" online 0 3
  check "with the rows" holds 2 20
}

case_scale() {
  replicas=1 write_config
  start 0
  within 60 "one member" is 0 primary
  within 30 "with the application's database" same '' query 0 'USE app'
  insert 0 1 30
  set_replicas 3
  deliver
  start 1 2
  within 120 "three" online 0 3
  query 0 "SELECT group_replication_set_as_primary((SELECT member_id FROM performance_schema.replication_group_members WHERE member_host LIKE '$name-2.%'))" > "$WORLD/out"
  within 20 "the highest leads" is 2 primary
  insert 2 31 40
  set_replicas 1
  deliver
  stop_pod 2 > "$WORLD/out" &
  stop_pod 1 > "$WORLD/out"
  wait %% 2> /dev/null || :
  within 30 "back to one, the lowest leads alone" online 0 1
  within 10 "and takes writes" is 0 primary
  check "with all rows" holds 0 40
  insert 0 41 50
  signal TERM 0 mysql
  within 60 "it comes back alone" eventually 30 holds 0 50
  within 30 "as primary" is 0 primary
  set_replicas 2
  deliver
  start 1
  within 120 "a former member joins again, with its old volume" online 0 2
  within 20 "and has what it missed" holds 1 50
  query 0 "SELECT group_replication_set_as_primary((SELECT member_id FROM performance_schema.replication_group_members WHERE member_host LIKE '$name-1.%'))" > "$WORLD/out"
  within 20 "the second leads" is 1 primary
  set_replicas 1
  deliver
  stop_pod 1 > "$WORLD/out"
  within 30 "two to one: the first leads" is 0 primary
  check "with all rows" holds 0 50
}

case_join_by_clone() {
  replicas=2 write_config
  echo 'loose_group_replication_clone_threshold = 100' >> "$WORLD/config/my.cnf"
  start 0
  within 60 "the first waits for the second" says 'do not exist yet' "$(says_now 0)"
  start 1
  within 90 "two" online 0 2
  within 30 "with the application's database" same '' query 0 'USE app'
  single_rows 0 1 1000
  stop_pod 1 > "$WORLD/out"
  within 30 "one has left" online 0 1
  remove_volume 1
  start 1
  within 120 "an emptied member is cloned and comes back" online 0 2
  check "with the rows" holds 1 1000
  check "its container was not restarted" test ! -e "$(pod_of 1)/restarts-mysql"
  check "by a clone" says 'asked to be started again' "$(log_of 1 mysql)"
}
