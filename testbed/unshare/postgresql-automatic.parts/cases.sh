# shellcheck shell=bash
# A database under Patroni: its first start, changes, leaving, and what stands in its way.

three() {
  start 0
  eventually 90 leads 0 || return 1
  set_replicas 3
  deliver
  start 1 2
  eventually 90 ready 1 && eventually 90 ready 2 && eventually 60 same sync_standby role_in_cluster 0 1
}

case_first_start() {
  check 'three members' three
  check 'the label of the leader' same primary label_of 0
  within 20 'the label of a replica' same replica label_of 2
  check 'the lowest ordinal is the synchronous standby' same sync_standby role_in_cluster 0 1
  check 'data checksums, C.UTF-8, UTF8' same 'on|C.UTF-8|UTF8' query 0 "SELECT current_setting('data_checksums'), datcollate, pg_encoding_to_char(encoding) FROM pg_database WHERE datname = 'orders'"
  check 'the owner logs in with an awkward password' same 1 login 0 'order user' "$awkward_password" orders
  check 'monitor logs in' same 1 login 0 monitor "$admin_password of monitor" postgres
  check 'the superuser has no way in from the network' not login 0 postgres "$awkward_password" postgres
  check 'the superuser has no password' same t query 0 "SELECT rolpassword IS NULL FROM pg_authid WHERE rolname = 'postgres'"
  check 'no trust in pg_hba' not grep -Eq '^[^#]*trust' "$(volume_of 0)/$MAJOR/docker/pg_hba.conf"
  check 'files with passwords are readable by their owner only' same 400 stat -c %a "$(pod_of 0)/patroni/auth.yml"
  check 'no password in a log' not grep -rqF -e 'q'"'"'u"o' "$(pod_of 0)"/log-setup "$(pod_of 0)"/log-postgresql "$(pod_of 0)"/log-agent
  insert 0 1 100
  within 10 'rows on a replica' holds 2 100
  check 'a change of the settings needs a password' not curl --silent --fail --request POST "http://$(address_of 0):8008/reload"
  local i
  for i in 0 1 2; do check "the pod $i ends in seconds" at_most 40 "$(stop "$i")"; done
  start 0 1 2
  within 90 'all again' ready 2
  within 60 'with all rows' holds 0 100
}

# Members that have an address, and of which nothing listens yet: the order in which pods come up is nobody's promise.
case_first_start_before_the_others_listen() {
  local i
  for i in 1 2; do
    mkdir "$WORLD/pods/unheard-$i"
    : > "$WORLD/pods/unheard-$i/published"
    ln -sfn "$WORLD/pods/unheard-$i" "$WORLD/pods/$i"
  done
  set_replicas 3
  deliver
  start 0
  within 60 'it says for whom it waits' says 'does not answer: it may hold the data' "$(log_of 0 postgresql)"
  check 'and its container was not started again' test ! -e "$(pod_of 0)/restarts-postgresql"
  start 1 2
  within 120 'a leader, as soon as they answer' leads 0
  within 90 'all three' ready 2
  check 'at the first attempt' test ! -e "$(pod_of 0)/restarts-postgresql"
}

# Patroni reads its modules for a second or more before it has a handler for signals.
case_stopped_while_it_starts() {
  local signal
  check 'three members' three
  stop 2 > /dev/null
  for signal in TERM INT TERM INT; do # what an image asks for
    start 2
    within 60 'Patroni starts' patroni_process 2
    check "a member that is stopped then ends in seconds, by $signal" at_most 20 "$(stop 2 "$signal")"
    check 'and need not be killed' test ! -e "$WORLD/ended/2/killed"
  done
  start 2
  within 90 'and the next one is ready' ready 2
  check 'which no mark of another container holds back' not grep -q nosync "$(pod_of 2)/patroni/member.yml"
  signal KILL 2 postgresql
  within 90 'ready after its container was killed' ready 2
  inside 2 postgresql /opt/dbrender/leave.sh > /dev/null
  check 'who leaves is marked' grep -q nosync "$(pod_of 2)/patroni/member.yml"
  signal KILL 2 postgresql
  within 90 'another container of the pod takes part again' not grep -q nosync "$(pod_of 2)/patroni/member.yml"
}
# patroni_process ORDINAL: whether its container has begun with Patroni
patroni_process() {
  local first process
  first=$(process_of "$1" postgresql) || return 1
  for process in "$first" $(pgrep --parent "$first"); do
    if grep -qza 'bin/patroni$' "/proc/$process/cmdline"; then return; fi
  done
  return 1
}

case_first_start_killed() {
  local delay
  for delay in 2 3 4 5; do
    start 0
    eventually 20 says 'Initialising' "$(log_of 0 postgresql)"
    sleep "$(bc <<< "($delay - 2) / 2.0")"
    lose 0
    start 0
    within 90 "killed in the first start ($delay): the next one ends it" leads 0
    check 'the owner logs in' same 1 login 0 'order user' "$awkward_password" orders
    check 'nothing half done is left' test -z "$(find "$(volume_of 0)" -name '*.partial')"
    lose 0
    remove_volume 0
    fresh_objects
  done
}

case_copy_killed() {
  start 0
  within 90 'a leader' leads 0
  insert 0 1 100000
  start 1
  eventually 60 says 'Copying from' "$(log_of 1 postgresql)"
  sleep 0.6
  lose 1
  start 1
  within 90 'a replica killed in its copy: the next start makes it whole' ready 1
  within 10 'with all rows' holds 1 100000
  check 'nothing half done is left' test -z "$(find "$(volume_of 1)" -name '*.partial')"
}

case_settings() {
  check 'three members' three
  work_mem=7MB dynamic
  within 20 'a reloadable setting arrives' same 7MB query 2 'SHOW work_mem'
  connections=80 dynamic
  within 120 'a raised max_connections is in force on the primary' same 80 query 0 'SHOW max_connections'
  check 'and on the replicas' same 80 query 2 'SHOW max_connections'
  check 'and on the replicas' same 80 query 1 'SHOW max_connections'
  check 'the replicas were first' first_restarted 2 0
  check 'the leader is still the same' leads 0
  connections=50 dynamic
  within 180 'a lowered one too' same 50 query 1 'SHOW max_connections'
  within 60 'everywhere' same 50 query 2 'SHOW max_connections'
  within 60 'everywhere' same 50 query 0 'SHOW max_connections'
  check 'the leader was first' first_restarted 0 2
  within 30 'nothing is pending' not says pending_restart <(patroni 0 /cluster)
  check 'the leader is still the same' leads 0
}
# first_restarted A B: A's server was started before B's
first_restarted() {
  [[ $(query "$1" 'SELECT extract(epoch FROM pg_postmaster_start_time())') < $(query "$2" 'SELECT extract(epoch FROM pg_postmaster_start_time())') ]]
}

case_passwords() {
  check 'three members' three
  local new=$'new:\\pass\'word"{' each
  printf '%s' "$new" > "$WORLD/credentials/app-password"
  for each in replication rewind patroni backup; do printf '%s' "new ' \" # \\ $each" > "$WORLD/credentials/$each-password"; done
  deliver
  within 30 'the new password works' same 1 login 0 'order user' "$new" orders
  check 'the former one does not' not login 0 'order user' "$awkward_password" orders
  within 40 'the REST interface takes the new password' curl --silent --fail --output /dev/null --user "patroni:new ' \" # \\ patroni" --request POST "http://$(address_of 0):8008/reload"
  within 40 'of all members' curl --silent --fail --output /dev/null --user "patroni:new ' \" # \\ patroni" --request POST "http://$(address_of 2):8008/reload"
  check 'replication goes on' insert 0 1 50
  within 10 'replication goes on' holds 2 50
  lose 2
  start 2
  within 90 'a member that starts later uses the new password' ready 2
  within 60 'a switchover with it' switched 0 1 "new ' \" # \\ patroni"
  within 60 'the former leader follows' ready 0
}

# switched FROM TO PASSWORD: TO leads, having been asked to
switched() {
  leads "$2" || { curl --silent --user "patroni:$3" --request POST --data "{\"leader\": \"$name-$1\", \"candidate\": \"$name-$2\"}" "http://$(address_of "$1"):8008/switchover" && false; }
}

case_leaving() {
  check 'three members' three
  insert 0 1 100
  local seconds
  seconds=$(stop 0)
  check "a leader that stops hands over ($seconds s)" says 'Handed over to order-db-1' "$WORLD/ended/0/log-leave"
  check 'in seconds' at_most 30 "$seconds"
  check 'to the lowest ordinal' leads 1
  check 'writes go on at once' insert 1 101 110
  start 0
  within 60 'it is back as a replica' ready 0
  within 40 'and becomes the synchronous standby, being the lowest' same sync_standby role_in_cluster 1 0
  # 3 to 1 with the highest ordinal leading
  eventually 60 switched 1 0 "$admin_password of patroni"
  seconds=$(stop 1)
  eventually 40 same sync_standby role_in_cluster 0 2
  stop 0 > /dev/null
  within 40 'the highest ordinal leads' leads 2
  start 0 1
  eventually 90 ready 0
  eventually 90 ready 1
  within 60 'the lowest is its synchronous standby' same sync_standby role_in_cluster 2 0
  insert 2 111 120
  stop 1 > /dev/null &
  stop 2 > /dev/null
  wait %% 2> /dev/null || :
  within 40 '3 to 1: the one that stays leads' leads 0
  within 20 'with all rows' holds 0 120
  within 40 'and takes writes without a standby' insert 0 121 130
  start 1 2
  within 90 'and 3 again, on the old volumes' ready 2
  within 10 'with all rows' holds 2 130
}

case_rollout() {
  check 'three members' three
  local i
  insert 0 1 10
  # the order of a StatefulSet
  for i in 2 1 0; do
    stop "$i" > /dev/null
    revision=r2 start "$i"
    eventually 90 ready "$i" || check "$i is back" false
    sleep 12   # minReadySeconds
  done
  check 'the leader moved once' same 2 timeline "$(if leads 1; then echo 1; else echo 2; fi)"
  check 'to a member that was updated before' says 'Handed over to order-db-1' <(cat "$WORLD"/ended/0/log-leave)
  within 20 'all rows' holds 0 10
}

case_unusable_password() {
  printf 'pässword' > "$WORLD/credentials/rewind-password"
  start 0
  within 20 'a password that Patroni cannot use is refused' says 'rewind-password has a character that Patroni cannot use' "$(pod_of 0)/last-message-setup"
}

case_one_member() {
  start 0
  within 90 'a leader' leads 0
  local seconds
  seconds=$(stop 0)
  check "with one member there is nothing to hand over ($seconds s)" at_most 20 "$seconds"
  start 0
  within 60 'and it leads again' leads 0
}

case_leader_killed() {
  check 'three members' three
  insert 0 1 100
  signal KILL 0 postgresql
  within 60 'somebody leads' eventually 1 leads_somebody
  within 60 'all are ready' ready 0
  within 60 'all are ready' ready 1
  local i
  for i in 0 1 2; do within 30 "all rows on $i" holds "$i" 100; done
}
leads_somebody() { leads 0 || leads 1 || leads 2; }

case_stale_replica() {
  start 0
  eventually 90 leads 0
  set_replicas 2
  deliver
  start 1
  within 90 'two members' ready 1
  insert 0 1 10
  stop 1 > /dev/null
  # its slot is kept for a while; drop it as Patroni would in the end
  eventually 30 same t query 0 "SELECT pg_drop_replication_slot('order_db_1') IS NOT NULL" || :
  local i
  for i in 1 2 3 4 5 6 7 8; do
    query 0 "CREATE TABLE IF NOT EXISTS filler (t text); INSERT INTO filler SELECT repeat(md5(i::text), 20) FROM generate_series(1, 3000) i; " orders > /dev/null
    query 0 'SELECT pg_switch_wal()' > /dev/null
  done
  query 0 CHECKPOINT > /dev/null
  query 0 "SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots WHERE NOT active" > /dev/null
  query 0 CHECKPOINT > /dev/null
  insert 0 11 20
  start 1
  within 120 'a replica whose WAL is gone is copied anew' says 'no longer has the WAL' "$(log_of 1 agent)"
  within 90 'and is ready' ready 1
  within 20 'with all rows' holds 1 20
}

# The objects were made anew, over volumes of which one is new.
case_empty_member_with_full_ones() {
  check 'three members' three
  insert 0 1 100
  local i
  for i in 1 2; do within 20 "rows on $i" holds "$i" 100; done
  lose 0; lose 1; lose 2
  remove_volume 0
  fresh_objects
  start 0
  within 60 'alone, the empty one makes no database' says 'The volume is empty, and order-db-[12] does not exist yet: it may hold the data' "$(log_of 0 postgresql)"
  start 1 2
  within 120 'one that has data leads' one_of_the_full_leads
  within 120 'the empty one is copied' ready 0
  for i in 0 1 2; do within 30 "all rows on $i" holds "$i" 100; done
}

one_of_the_full_leads() { leads 1 || leads 2; }

case_all_volumes_lost() {
  start 0
  within 90 'a leader' leads 0
  lose 0
  remove_volume 0
  start 0
  within 150 'a name whose data is gone: the agent says what it waits for' says 'annotate configmap order-db-patroni-config initialize-' "$(log_of 0 agent)"
  kubectl annotate configmap "$name-patroni-config" initialize- > /dev/null
  within 180 'the command of the sentence works' leads 0
}

case_exporter() {
  check 'three members' three
  exporter_of 0 1
}
