# shellcheck shell=bash
# What must not lose an acknowledged row under Patroni. Each case prints what it measured.

leader() { for i in 0 1 2; do if leads "$i"; then echo "$i"; fi; done; }
# another_leads ORDINAL…: somebody else does
another_leads() { [[ -n $(leader) && $(leader) != "$1" ]]; }
# alone ORDINAL: it is the only one that takes writes
alone() { is "$1" primary && ! two_primaries; }
# goes_on: rows are acknowledged that were not a moment ago
goes_on() { eventually "${1:-30}" more_than "$(acknowledged)" acknowledged; }
measured() { printf '   (%s)\n' "$*"; }

# after_the_fault OLD: that one has come back as a replica, nothing is lost anywhere
after_the_fault() {
  local new i
  new=$(leader)
  within 120 'the former primary is back as a replica' ready "$1"
  within 60 'and is a standby' is "$1" standby
  check 'one member takes writes' alone "$new"
  sleep 2
  stop_writer
  within 60 'no acknowledged row is lost' nothing_lost "$new"
  for i in 0 1 2; do within 60 "nor on $i" nothing_lost "$i"; done
  measured "$(acknowledged) rows were acknowledged, lost 0"
}

case_frozen_primary() {
  check 'three members' three
  start_writer
  session_writer 0 1000000
  check 'rows are written' goes_on
  local began=$SECONDS
  freeze 0 postgresql
  within 90 'while the primary is frozen, another leads' another_leads 0
  check 'rows are written' goes_on 60
  measured "$((SECONDS - began)) s from the freeze to the next acknowledged row"
  within 20 'the label follows' same primary label_of "$(leader)"
  sleep 3
  thaw 0 postgresql
  after_the_fault 0
}

case_partitioned_primary() {
  check 'three members' three
  start_writer
  session_writer 0 1000000
  check 'rows are written' goes_on
  local began=$SECONDS
  cut_off 0
  within 90 'while the primary is cut off, another leads' another_leads 0
  check 'rows are written' goes_on 60
  measured "$((SECONDS - began)) s from the cut to the next acknowledged row"
  within 60 'the one that is cut off takes no writes any more' not is 0 primary
  reconnect 0
  after_the_fault 0
}

case_api_server_away() {
  check 'three members' three
  start_writer
  check 'rows are written' goes_on
  local pause=0 last began=$SECONDS seconds=0
  last=$EPOCHREALTIME
  close_api
  while ((SECONDS - began < ${AWAY:-120})); do
    last=$SECONDS
    goes_on 60 || break
    ((SECONDS - last <= pause)) || pause=$((SECONDS - last))
  done
  seconds=$((SECONDS - began))
  check 'the primary stays while the API server is away' is 0 primary
  check 'and rows are written all the time' at_most 5 "$pause"
  measured "$seconds s away, the longest pause was $pause s"
  open_api
  within 60 'it is there again' kubectl version
  sleep 15
  check 'the primary is still the same' leads 0
  check 'on the same timeline' same 1 timeline 0
  check 'rows are written' goes_on
  stop_writer
  local i
  for i in 0 1 2; do within 60 "no acknowledged row is lost on $i" nothing_lost "$i"; done
  measured "$(acknowledged) rows were acknowledged, lost 0"
}

case_all_members_at_once() {
  check 'three members' three
  start_writer
  check 'rows are written' goes_on
  lose 0; lose 1; lose 2
  start 0 1 2
  check 'rows are written again' goes_on 120
  local i
  for i in 0 1 2; do within 90 "$i is ready" ready "$i"; done
  stop_writer
  for i in 0 1 2; do within 60 "no acknowledged row is lost on $i" nothing_lost "$i"; done
  measured "$(acknowledged) rows were acknowledged, lost 0"
}

case_emptied_volumes() {
  check 'three members' three
  start_writer
  check 'rows are written' goes_on
  rm -rf "$(volume_of 2)/$MAJOR/docker"
  within 120 'the data of a running replica is gone: it is copied anew' says 'Copying from' <(cat "$(log_of 2 postgresql)")
  within 90 'and ready' ready 2
  lose 0
  remove_volume 0
  within 60 'the primary is gone with its volume: another leads' another_leads 0
  check 'rows are written' goes_on 60
  start 0
  after_the_fault 0
}

case_asynchronous_primary_lost() {
  synchronous=false dynamic
  profile=automatic write_facts REPLICATION=asynchronous
  check 'three members' three_asynchronous
  start_writer
  session_writer 0 1000000
  check 'rows are written' goes_on
  lose 0
  within 90 'another leads' another_leads 0
  check 'rows are written' goes_on 60
  stop_writer
  local new lost
  new=$(leader)
  lost=$(missing_from "$new" | wc -l)
  measured "asynchronous: $(acknowledged) rows were acknowledged, lost $lost; the bound is maximum_lag_on_failover, 1048576 bytes of WAL"
  check 'what is lost is within the bound' test "$((lost * 200))" -lt 1048576
}
three_asynchronous() {
  start 0
  eventually 90 leads 0 || return 1
  set_replicas 3
  deliver
  start 1 2
  eventually 90 ready 1 && eventually 90 ready 2
}

case_containers_killed_at_random() {
  local kills=0 i
  choose_seed
  set_replicas 3
  start 0 1 2
  kill_now_and_then 20
  within 240 "a first start with $kills kills: somebody leads" leads_somebody
  for i in 0 1 2; do within 120 "$i is ready" ready "$i"; done
  check 'nothing half done is left' nothing_half_done
  start_writer
  check 'rows are written' goes_on
  kills=0
  kill_now_and_then 45
  within 120 "then $kills: somebody leads" leads_somebody
  for i in 0 1 2; do within 120 "$i is ready" ready "$i"; done
  check 'rows are written' goes_on 60
  stop_writer
  for i in 0 1 2; do within 60 "no acknowledged row is lost on $i" nothing_lost "$i"; done
  check 'one member takes writes' alone "$(leader)"
}
