# shellcheck shell=bash
# First start, second start, and ends of all kinds.

case_first_and_second_start() {
  start 0
  within 60 'the primary is ready' ready 0
  check 'it is the primary' is 0 primary
  check 'lost+found is still there' test -d "$(volume_of 0)/lost+found"
  check 'data checksums, C.UTF-8, UTF8' same 'on|C.UTF-8|UTF8' query 0 "SELECT current_setting('data_checksums'), datcollate, pg_encoding_to_char(encoding) FROM pg_database WHERE datname = 'orders'"
  check 'the owner logs in with an awkward password' same 1 login 0 'order user' "$awkward_password" orders
  check 'a wrong password is refused' not login 0 'order user' 'wrong' orders
  check 'the superuser has no way in from the network' not login 0 postgres "$awkward_password" postgres
  check 'the superuser has no password' same t query 0 "SELECT rolpassword IS NULL FROM pg_authid WHERE rolname = 'postgres'"
  check 'the owner owns the database' same 'order user' query 0 "SELECT pg_get_userbyid(datdba) FROM pg_database WHERE datname = 'orders'"
  check 'backup reads and cannot write' same 'f' query 0 "SELECT rolsuper FROM pg_roles WHERE rolname = 'backup'"
  check 'backup logs in' same on login 0 backup "$awkward_password of backup" orders 'SHOW default_transaction_read_only'
  check 'monitor logs in' same t login 0 monitor "$awkward_password of monitor" postgres "SELECT pg_has_role('pg_monitor', 'USAGE')"
  check 'no trust in pg_hba, here or left by initdb' not grep -Eq '^[^#]*trust' "$WORLD/config/pg_hba.conf" "$(volume_of 0)/$MAJOR/docker/pg_hba.conf"
  check 'no password in a log' not grep -rqF -e 'q'"'"'u"o' -e "q''u\"o" "$(pod_of 0)"/log-setup "$(pod_of 0)"/log-bootstrap "$(pod_of 0)"/log-postgresql "$(pod_of 0)"/log-agent
  check 'no verifier in a log' not grep -rqF 'SCRAM-SHA' "$(pod_of 0)"/log-bootstrap "$(pod_of 0)"/log-postgresql "$(pod_of 0)"/log-agent
  check 'the root file system is read-only' not inside 0 postgresql touch /etc/x
  insert 0 1 100
  local system seconds
  system=$(query 0 'SELECT system_identifier FROM pg_control_system()')
  seconds=$(stop_pod 0)
  check "the pod ends in seconds ($seconds)" at_most 5 "$seconds"
  check 'the server stopped cleanly' says 'database system is shut down' "$WORLD/ended/0/log-postgresql"
  start 0
  within 30 'the second start is ready' ready 0
  check 'it is the same database' same "$system" query 0 'SELECT system_identifier FROM pg_control_system()'
  check 'all rows are there' holds 0 100
  check 'initdb did not run again' not says 'Initialising' "$(log_of 0 bootstrap)"
  seconds=$(stop_pod 0 INT)
  check 'SIGINT, the official image'"'"'s stop signal, is a clean stop too' says 'database system is shut down' "$WORLD/ended/0/log-postgresql"
}

case_sessions_do_not_hold_the_stop() {
  start 0
  within 60 'the primary is ready' ready 0
  query 0 'SELECT pg_sleep(300)' > /dev/null 2>&1 &
  sleep 1
  local seconds
  seconds=$(stop_pod 0)
  check "a busy session does not hold the pod ($seconds s)" at_most 5 "$seconds"
  check 'the server stopped cleanly' says 'database system is shut down' "$WORLD/ended/0/log-postgresql"
}

case_server_killed() {
  start 0
  within 60 'the primary is ready' ready 0
  insert 0 1 1000
  kill -KILL "$(postmaster 0)"
  sleep 0.5
  within 30 'ready again after kill -9 of the postmaster' ready 0
  check 'all rows are there' holds 0 1000
  insert 0 1001 2000
  signal KILL 0 postgresql
  sleep 1
  within 30 'ready again after kill -9 of process 1' ready 0
  check 'all rows are there' holds 0 2000
  insert 0 2001 3000
  kill_pod 0
  start 0
  within 30 'ready again after the node was lost' ready 0
  check 'all rows are there' holds 0 3000
  check 'recovery was by WAL' says 'redo (starts|done)' "$(log_of 0 postgresql)"
}

# The lock file that a killed server leaves may name any process that the next container has.
case_lock_file_names_another_process() {
  local number offset
  start 0
  within 60 'the primary is ready' ready 0
  insert 0 1 10
  for offset in -1 1 2 3; do
    number=$(($(head -n 1 "$(volume_of 0)/$MAJOR/docker/postmaster.pid") + offset))
    kill_pod 0
    sed -i "1s/.*/$number/" "$(volume_of 0)/$MAJOR/docker/postmaster.pid"
    start 0
    within 30 "ready again, when process $number is to be the server" ready 0
    check 'at the first attempt' test ! -e "$(pod_of 0)/restarts-postgresql"
  done
  check 'all rows are there' holds 0 10
}

case_agent_killed() {
  start 0
  within 60 'the primary is ready' ready 0
  eventually 10 says 'Agent of' "$(log_of 0 agent)"
  signal STOP 0 agent
  check 'writes go on while the agent is frozen' insert 0 1 10
  check 'liveness does not ask the agent' inside 0 postgresql /opt/dbrender/probe.sh liveness
  signal CONT 0 agent
  signal KILL 0 agent
  check 'writes go on without the agent' insert 0 11 20
  within 10 'the agent is back' same 2 grep -c 'Agent of' "$(log_of 0 agent)"
  local began=$EPOCHREALTIME
  signal TERM 0 agent
  eventually 5 says 'ended with 0' "$(log_of 0 agent)"
  check 'it ends within two seconds of SIGTERM' at_most 2 "$(bc <<< "$EPOCHREALTIME - $began")"
}

case_first_start_killed() {
  local i delay
  for delay in 0.5 1.2 2 3; do
    make_volume 0
    start_pod 0
    eventually 10 test -e "$(pod_of 0)/log-bootstrap"
    sleep "$delay"
    kill_pod 0
    start_pod 0
    within 60 "killed $delay s into the first start: ready after the next" ready 0
    check 'the owner logs in' same 1 login 0 'order user' "$awkward_password" orders
    check 'nothing half done is left' test -z "$(find "$(volume_of 0)" -name '*.partial')"
    kill_pod 0
    remove_volume 0
  done
}

# always_alive SECONDS: whenever there is a container to ask, it says that it is alive
always_alive() {
  local deadline=$((SECONDS + $1))
  while ((SECONDS < deadline)); do
    if inside 0 postgresql true 2> /dev/null; then
      inside 0 postgresql /opt/dbrender/probe.sh liveness || not inside 0 postgresql true || return 1
    fi
  done
}

case_probes() {
  start 0
  within 60 'the primary is ready' ready 0
  check 'liveness' inside 0 postgresql /opt/dbrender/probe.sh liveness
  check 'startup' inside 0 postgresql /opt/dbrender/probe.sh startup
  local process
  process=$(postmaster 0)
  kill -STOP "$process"
  check 'a frozen postmaster is not ready' not ready 0
  check 'and not alive' not inside 0 postgresql /opt/dbrender/probe.sh liveness
  kill -CONT "$process"
  within 10 'ready again' ready 0
  insert 0 1 200000
  kill -KILL "$process"
  check 'a server that recovers or is started again is alive' always_alive 5
}
