# shellcheck shell=bash
# Manual: a primary by its ordinal, standbys by GTID, and promotion by the file `primary`.

manual() {
  profile=manual
  replicas=$1 primary=0 write_config
}
follows() { [[ $(query "$1" "SELECT CONCAT(SUBSTRING_INDEX(c.host, '.', 1), ' ', s.service_state) FROM performance_schema.replication_connection_configuration c JOIN performance_schema.replication_connection_status s USING (channel_name) WHERE channel_name = ''") == "$name-$2 ON" ]]; }
leads() { writable "$1" && is "$1" primary; }

three_standbys() {
  manual 3
  start 0 1 2
  within 120 "the first begins an empty database" leads 0
  within 60 "the others follow it" follows 1 0
  within 60 "both of them" follows 2 0
  within 30 "with the application's database" same '' query 0 'USE app'
}

case_manual_one_member() {
  local each
  manual 1
  start 0
  within 90 "an empty volume becomes a primary that takes writes" leads 0
  within 20 "it is ready" ready 0
  within 10 "the application logs in" same 1 login 0 app "$awkward_password"
  insert 0 1 100
  for each in 1 2; do
    kill -KILL "$(process_of 0 mysql)"
    sleep 1
    within 60 "killed ($each), it leads again" leads 0
    check "with its data" holds 0 100
  done
  kill_pod 0
  start 0
  within 90 "on another pod too" leads 0
  check "a deletion takes less than 20 s" test "$(stop_pod 0)" -lt 20
}

case_manual_three_members() {
  three_standbys
  insert 0 1 100
  within 20 "rows reach a standby" holds 1 100
  within 20 "and the other" holds 2 100
  check "a standby takes no writes" says 'super-read-only' <(query 1 'CREATE DATABASE x')
  within 20 "standbys are ready" ready 2
  check "a commit waits for a standby" same ON query 0 "SELECT VARIABLE_VALUE FROM performance_schema.global_status WHERE VARIABLE_NAME = 'Rpl_semi_sync_source_status'"
  stop_pod 1 > "$WORLD/out"
  stop_pod 2 > "$WORLD/out"
  insert 0 101 200
  within 30 "without standbys writes go on" holds 0 200
  start 1 2
  within 60 "a standby comes back" follows 1 0
  within 20 "and has what it missed" holds 1 200
  kill -KILL "$(process_of 0 mysql)"
  within 60 "a killed primary leads again" leads 0
  within 60 "and is followed" follows 1 0
  within 60 "by both" follows 2 0
  check "two never led" not leads 1
  query 0 'FLUSH LOGS' > "$WORLD/out"
  kill_pod 2
  remove_volume 2
  sleep 1
  query 0 "PURGE BINARY LOGS BEFORE NOW() + INTERVAL 1 DAY" > "$WORLD/out"
  start 2
  within 120 "an emptied standby is copied from the primary" follows 2 0
  within 20 "with all rows" holds 2 200
}

case_manual_promotion() {
  local mine
  three_standbys
  insert 0 1 100
  start_writer 0
  sleep 2
  set_primary 1
  deliver 1
  sleep 3
  check "a primary that has not read it goes on" leads 0
  deliver 0
  sleep 3
  check "nor does it stop before all who are asked have read it" not leads 1
  deliver 2
  within 60 "the new one leads" leads 1
  within 30 "the former one follows it" follows 0 1
  within 30 "and the third" follows 2 1
  sleep 1
  stop_writer
  for i in 0 1 2; do within 20 "no acknowledged row is lost on $i: $(wc -l < "$WORLD/acknowledged") rows, longest gap $(gap) s" same 0 lost "$i"; done
  check "the same rows on all" test "$(checksum 0)$(checksum 1)" == "$(checksum 1)$(checksum 2)"

  insert 1 101 200
  kill_pod 1
  set_primary 2
  deliver
  within 40 "after the loss of the primary the next one waits, and says what it takes" says 'To lose them, set force-primary to 2/2' "$(says_now 2)"
  sleep 3
  check "it does not lead" not leads 2
  start 1
  within 90 "when the former primary is back, as a standby, the next one leads" leads 2
  within 60 "with its last rows" same 200 small_rows 2
  within 60 "the former one follows" follows 1 2

  kill_pod 2
  remove_volume 2
  set_primary 0
  force 0/7
  deliver
  within 40 "another term's force-primary does nothing" says 'set force-primary to 0/3' "$(says_now 0)"
  force 0/3
  deliver
  within 40 "with the right one it leads" leads 0
  force ''
  deliver
  within 40 "and is followed" follows 1 0
  start 2
  within 120 "the lost one is copied anew" follows 2 0
  within 20 "with its rows" same 200 small_rows 2
}
# small_rows ORDINAL: those that the writer has not written
small_rows() { query "$1" 'SELECT COUNT(*) FROM app.numbers WHERE n <= 1000'; }
