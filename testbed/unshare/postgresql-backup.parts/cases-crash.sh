# shellcheck shell=bash
# Restores that die, overlap, or meet somebody else. Afterwards the server is empty for everybody or has everything.

# all_or_nothing: whether the target has nothing that a client could find, or everything. The database postgres is not
# looked at before the end: its part comes in one transaction of its own.
all_or_nothing() {
  local name things
  if [[ $(on target -c 'select count(*) from dbrender.restore') == 0 ]]; then
    while read -r name; do
      things=$(on target -d "dbname='${name//\'/\\\'}'" -c "select string_agg(relname, ' ') from pg_class where relnamespace >= 16384
        or (relnamespace = 'public'::regnamespace and relkind in ('r', 'S', 'v', 'm'))")
      [[ -z $things ]] || { printf '     %s holds %s\n' "$name" "$things"; return 1; }
    done < <(on target -c "select datname from pg_database where not datistemplate and datname <> 'postgres' and not starts_with(datname, 'dbrender-restore-')")
  else
    state target >"$WORLD/state-target"
    cmp -s "$WORLD/expected" "$WORLD/state-target"
  fi
}

cases_crash_anywhere() {
  take_backup
  local i began took killed=0 odd=0 finished=0
  empty_target
  began=$(date +%s%N)
  restore
  took=$((($(date +%s%N) - began) / 1000000))
  empty_target WAIT_SECONDS=30
  for i in {1..14}; do
    pod_readonly=yes begin_pod server target backups /etc/dbrender/scripts/restore.sh
    sleep "$(awk -v t="$took" -v i="$i" 'BEGIN { printf "%.3f", t / 1000 * (i / 14) }')"
    kill_pod KILL 2>/dev/null || :
    end_pod
    if ((code == 0)); then finished=1; break; fi
    killed=$((killed + 1))
    all_or_nothing || odd=$((odd + 1))
  done
  ok "$killed restores were killed at different moments of one server's restore" test "$killed" -ge 8
  is 'after each of them the server was empty or complete' 0 "$odd"
  restore
  ended_well 'the next one finishes'
  same 'and everything is there, once' "$WORLD/expected" target
  is 'nothing of the others is left' 0 "$(on target -c "select count(*) from pg_database where starts_with(datname, 'dbrender-')")"
}

# pause_at PROGRAM DATABASE-PATTERN: the pod waits when it comes to this program with such an argument; `paused` tells when
pause_at() {
  mkdir -p "$WORLD/stub"
  cat >"$WORLD/stub/$1" <<END
#!/bin/bash
if [[ "\$*" == $2 && -e /tmp/front/hold ]]; then
  while [[ -e /tmp/front/hold ]]; do sleep 0.1; done
fi
exec $POSTGRESQL/$1 "\$@"
END
  chmod -R a+rx "$WORLD/stub"
  touch "$WORLD/stub/hold"
}
go_on() { rm -f "$WORLD/stub/hold"; }
# The stub's own words go where the script puts those of its programs, so the process is what tells.
paused() { pgrep -f "^/bin/bash /tmp/front/$1" >/dev/null; }

cases_crash_server() {
  take_backup
  empty_target WAIT_SECONDS=30
  pause_at vacuumdb '*"dbname='\''postgres'\''"*'
  pod_path=$WORLD/stub begin_pod server target backups /etc/dbrender/scripts/restore.sh
  until_true 60 paused vacuumdb
  halt target
  boot target
  go_on
  end_pod
  ended_badly 'a server that was started anew after the load: this attempt gives up' 1 'started anew'
  ok 'and nobody sees what it loaded' all_or_nothing
  restore
  ended_well 'the next attempt finishes'
  same 'and everything is there, once' "$WORLD/expected" target
  rm -rf "$WORLD/stub"
}

cases_crash_two_pods() {
  take_backup
  empty_target WAIT_SECONDS=30
  pause_at vacuumdb "*dbrender-restore-*"
  pod_path=$WORLD/stub begin_pod server target backups /etc/dbrender/scripts/restore.sh
  local first=$pod first_id=$pod_id
  until_true 60 paused vacuumdb
  restore
  ended_well 'a second pod takes over from one that hangs'
  go_on
  pod=$first pod_id=$first_id
  end_pod
  no 'the first one does not succeed' test "$code" = 0
  same 'and everything is there, once' "$WORLD/expected" target
  rm -rf "$WORLD/stub"
}

# The agent makes the application's role and database when they are missing, and an application tries to log in.
cases_crash_company() {
  take_backup
  empty_target WAIT_SECONDS=30
  touch "$WORLD/company"
  while [[ -e $WORLD/company ]]; do
    on target <<<"select 'create role app login' where to_regrole('app') is null \\gexec
select 'create database app owner app' where not exists (select from pg_database where datname = 'app') \\gexec" || :
    sleep 0.2
  done >/dev/null 2>&1 &
  local agent=$!
  while [[ -e $WORLD/company ]]; do
    PGPASSWORD='app of target' timeout 5 "$client/psql" -w -Atq -h "${address[target]}" -U app -d app -c 'select pg_sleep(0.5)' || sleep 0.05
  done >/dev/null 2>&1 &
  local client=$!
  restore
  rm "$WORLD/company"
  wait "$agent" "$client" || :
  ended_well 'a restore succeeds beside an agent and an application that wants in'
  same 'and everything is there, once' "$WORLD/expected" target
}

# Somebody writes into the application's database between the first look and the last step.
cases_crash_intruder() {
  take_backup
  empty_target WAIT_SECONDS=30
  pause_at vacuumdb '*"dbname='\''postgres'\''"*'
  pod_path=$WORLD/stub begin_pod server target backups /etc/dbrender/scripts/restore.sh
  until_true 60 paused vacuumdb
  on target -c 'create database app owner app connection limit 7'
  on target -d app -c 'create table mine as select 1 as i'
  go_on
  end_pod
  ended_badly 'data that came in the meantime is not overwritten' 4 'holds data already \(table public.mine in database app'
  is 'it is as it was' 1 "$(on target -d app -c 'select i from mine')"
  is 'and its owner can reach it' 7 "$(on target -c "select datconnlimit from pg_database where datname = 'app'")"
  on target -c 'drop database app'
  restore
  ended_well 'without it the next attempt finishes'
  same 'and everything is there, once' "$WORLD/expected" target
  rm -rf "$WORLD/stub"
}

cases_crash_newer_backup() {
  take_backup
  empty_target WAIT_SECONDS=30
  pause_at vacuumdb '*"dbname='\''postgres'\''"*'
  pod_path=$WORLD/stub begin_pod server target backups /etc/dbrender/scripts/restore.sh
  until_true 60 paused vacuumdb
  kill_pod KILL
  end_pod
  configure source
  backup
  local newer
  newer=$(value id)
  no 'a newer backup came' test "$newer" = "$taken"
  restore
  ended_well 'the next attempt finishes'
  is 'with the backup that was begun' "$taken" "$(value backup)"
  same 'and everything is there, once' "$WORLD/expected" target
  rm -rf "${WORLD:?}/volumes/backups/$namespace/source/$newer" "$WORLD/stub"
}
