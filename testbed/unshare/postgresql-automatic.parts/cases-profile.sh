# shellcheck shell=bash
# From Manual to Automatic and back, by the recipe of docs/postgresql.md: with one member, which keeps its volume; the volumes of the
# others are used again.

# manual_files, automatic_files: what is mounted, as it is rendered for that profile
manual_files() {
  local replicas
  replicas=$(< "$WORLD/config/replicas")
  rm -f "$WORLD"/config/*
  profile=manual write_facts
  echo "$replicas" > "$WORLD/config/replicas"
  echo 0 > "$WORLD/config/primary"
  # shellcheck disable=SC2119
  write_settings
}
automatic_files() {
  profile=automatic write_facts
  patroni_yml > "$WORLD/config/patroni.yml"
  rm -f "$WORLD"/config/{primary,postgresql.conf,pg_hba.conf}
}
start_manual() { init_containers=bootstrap start "$@"; }
ready_in_manual() { inside "$1" postgresql /opt/dbrender/probe.sh readiness; }
# standby_of PRIMARY ORDINAL
standby_of() { streams "$2" "$1"; }

case_manual_to_automatic_and_back() {
  local i seconds
  manual_files
  set_replicas 3
  start_manual 0 1 2
  within 90 'Manual: a primary' ready_in_manual 0
  within 90 'and two standbys' standby_of 0 1
  within 90 'and two standbys' standby_of 0 2
  insert 0 1 100
  for i in 1 2; do within 20 "rows on $i" holds "$i" 100; done

  set_replicas 1
  deliver
  stop 2 > /dev/null
  stop 1 > /dev/null
  within 60 'replicas 1: the primary takes writes alone' insert 0 101 110

  automatic_files
  seconds=$(stop 0)
  start 0
  within 120 "failover Automatic: Patroni leads with the data that is there ($seconds s for the stop)" leads 0
  check 'all rows are there' holds 0 110
  check 'on the same timeline or one later' test "$(timeline 0)" -le 2
  check 'the owner logs in' same 1 login 0 'order user' "$awkward_password" orders
  within 20 'the label of the leader' same primary label_of 0
  insert 0 111 120

  set_replicas 3
  deliver
  start 1 2
  within 180 'replicas 3: the others join on their former volumes' ready 1
  within 180 'both' ready 2
  for i in 1 2; do within 60 "with all rows on $i" holds "$i" 120; done
  within 90 'a synchronous standby' same sync_standby role_in_cluster 0 1
  check 'none has a slot of Manual' same '' query 0 "SELECT string_agg(slot_name, ' ') FROM pg_replication_slots WHERE slot_name LIKE 'member%'"
  signal KILL 0 postgresql
  within 60 'and one leads when it is killed' leads_somebody
  for i in 0 1 2; do within 90 "all are ready ($i)" ready "$i"; done

  # back
  for i in 0 1 2; do ! leads "$i" || insert "$i" 121 130; done
  set_replicas 1
  deliver
  stop 2 > /dev/null
  stop 1 > /dev/null
  within 60 'replicas 1: the lowest leads' leads 0
  within 20 'and takes writes' insert 0 131 140
  check 'with all rows' holds 0 140

  manual_files
  set_replicas 1
  stop 0 > /dev/null
  start_manual 0
  within 90 'failover Manual: a primary with the data that is there' ready_in_manual 0
  check 'all rows are there' holds 0 140
  within 20 'it takes writes' insert 0 141 150

  set_replicas 3
  deliver
  start_manual 1 2
  within 180 'replicas 3: the others follow on their former volumes' standby_of 0 1
  within 180 'both' standby_of 0 2
  for i in 1 2; do within 60 "with all rows on $i" holds "$i" 150; done
  within 60 'a commit waits for one of the two' same 'ANY 1 ("order-db-1", "order-db-2")' query 0 'SHOW synchronous_standby_names'
  within 60 'no slot is left that nobody reads' same '' query 0 "SELECT string_agg(slot_name, ' ') FROM pg_replication_slots WHERE NOT active"
}

# What DBR412 refuses: with several members the highest ordinal restarts first, beside a primary that Patroni does not know.
case_manual_to_automatic_at_once() {
  manual_files
  set_replicas 3
  start_manual 0 1 2
  within 90 'Manual: a primary' ready_in_manual 0
  within 90 'and two standbys' standby_of 0 2
  insert 0 1 10
  automatic_files
  stop 2 > /dev/null
  start 2
  within 60 'failover Automatic with three members: the first that restarts waits, and says what to do' \
    says 'order-db-[01] still runs with failover: Manual' "$(log_of 2 postgresql)"
  check 'it has no server' not postmaster 2
  check 'the primary stays' is 0 primary
  check 'and takes writes' insert 0 11 20
  manual_files
  set_replicas 3
  stop 2 > /dev/null
  start_manual 2
  within 90 'failover Manual again: it follows' standby_of 0 2
  within 20 'with all rows' holds 2 20
}
