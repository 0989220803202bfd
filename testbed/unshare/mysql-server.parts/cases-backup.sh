# shellcheck shell=bash
# Backup and restore against real servers, and what they hold compared line by line.

life=$testbed/life.parts/mysql

# task NAME [ORDINAL]: runs NAME.sh as a Job's pod would, with the claim $WORLD/claim and the passwords that the Job has; its last word is
# in $WORLD/word. The pod is called after an ordinal that no member has. With a directory $WORLD/front its programs come before others.
task() {
  local pod ordinal=${2:-9} code=0 sandbox
  pod=$(mktemp -d "$WORLD/pods/task-$1.XXXXXX")
  chmod 0755 "$pod"
  mkdir -p "$pod"/{config,credentials,opt,patroni,run,tmp,passwords} "$WORLD/claim"
  chown 999:999 "$WORLD/claim"
  ln -sfn "$WORLD/claim" "$pod/backup"
  chmod 1777 "$pod/tmp"
  [[ ! -e $WORLD/front ]] || cp -a "$WORLD/front" "$pod/front"
  echo "$ordinal" > "$pod/ordinal"
  echo r1 > "$pod/revision"
  echo "$IMAGE" > "$pod/image"
  echo "$MAJOR" > "$pod/major"
  swap "$pod/config" "$WORLD/config"
  cp "$WORLD/credentials/backup-password" "$pod/passwords/"
  [[ $1 == backup ]] || cp "$WORLD/credentials/restore-password" "$pod/passwords/"
  swap "$pod/credentials" "$pod/passwords"
  mkdir -p "$(volume_of "$ordinal")"
  unshare --net --ipc sleep infinity &
  sandbox=$!
  echo "$sandbox" > "$pod/sandbox"
  eventually 5 test ! "/proc/self/ns/ipc" -ef "/proc/$sandbox/ns/ipc"
  ip link del "veth$ordinal" 2> /dev/null || :
  ip link add "veth$ordinal" type veth peer name eth0 netns "$sandbox"
  ip link set "veth$ordinal" master bridge0 up
  nsenter --net="/proc/$sandbox/ns/net" bash -c "ip link set lo up; ip addr add $(address_of "$ordinal")/24 dev eth0; ip link set eth0 up"
  ln -sfn "$pod" "$WORLD/task-$ordinal"
  run_container "$pod" "$1" "/etc/dbrender/scripts/$1.sh" || code=$?
  cat "$pod/termination-$1" > "$WORLD/word"
  cp "$pod/log-$1" "$WORLD/task-log"
  kill "$sandbox"
  return "$code"
}
word() { cat "$WORLD/word"; }

with_backup() {
  write_config RESTORE_ID="${restore_id:-}" SERVICE="$name-0.$name-headless.production.svc.cluster.local"
  printf "RETENTION='%s'\nDESTINATION_PATH='production/order-db'\nDESTINATION='volume'\n" "${retention:-2}" > "$WORLD/config/backup"
  printf "RESTORE_ID='%s'\nSOURCE_PATH='production/order-db'\nBACKUP='%s'\nDESTINATION='volume'\n" "${restore_id:-}" "${backup:-latest}" > "$WORLD/config/restore"
}
admin() { inside 0 mysql mysql --no-defaults -S /var/run/mysqld/mysqld.sock -u mysql --default-character-set=utf8mb4 -N -B --raw "$@"; }
fingerprint() {
  admin mysql < "$life/fingerprint.sql"
  admin mysql -e "SELECT CONCAT('SELECT ''rows of ', table_schema, '.', table_name, ''', COUNT(*) FROM \`', table_schema, '\`.\`', table_name, '\`; CHECKSUM TABLE \`', table_schema, '\`.\`', table_name, '\`;')
    FROM information_schema.tables WHERE table_type = 'BASE TABLE' AND table_schema NOT IN ('mysql', 'sys', 'performance_schema', 'information_schema', 'dbrender')" > "$WORLD/questions"
  admin mysql < "$WORLD/questions"
}
same_content() { fingerprint | LC_ALL=C sort > "$WORLD/after"; diff "$WORLD/before" "$WORLD/after" && [[ $(grep -c 'rows of' "$WORLD/after") -gt 7 ]]; }
backups() { find "$WORLD/claim/production/order-db" -mindepth 1 -maxdepth 1 -name '2*Z' | wc -l; }

# with_content: a member that leads, and something of everything in it; what it holds is in $WORLD/before
with_content() {
  rm -rf "$WORLD/claim"
  with_backup
  start 0
  within 90 "a primary" is 0 primary
  within 30 "with the application's database" same '' query 0 'USE app'
  admin < "$life/superuser.sql"
  login 0 app "$awkward_password" "$(sed '1i USE app;' "$life/content.sql")" > "$WORLD/out"
  admin app < "$life/routines.sql"
  admin app -e "CALL note('äöü')"
  fingerprint | LC_ALL=C sort > "$WORLD/before"
  check "there is something of everything" test "$(wc -l < "$WORLD/before")" -gt 80
  check "a backup ends well" task backup
}

# empty_server: a new one, that awaits its restore
empty_server() {
  kill_pod 0
  remove_volume 0
  restore_id=production/order-db/latest with_backup
  start 0
  within 90 "a new, empty server" is 0 primary
  within 30 "lets the restore in" login 0 restore "$awkward_password of restore"
}

case_backup_and_restore() {
  local newest damaged
  with_content
  check "and says what it made" says '"id": "2.*"databases": 2' "$WORLD/word"
  check "no password is in it" not grep -rqF -e "q'u\"o" "$WORLD/claim"
  check "nothing half is left" test -z "$(find "$WORLD/claim" -name '.partial*')"
  for _ in 1 2; do
    sleep 1
    task backup > "$WORLD/out" || :
  done
  check "the newest are kept, as many as are to be" same 2 backups
  signal TERM 0 mysql
  sleep 1
  echo "WAIT_SECONDS='3'" >> "$WORLD/config/backup"
  rm -f "$WORLD/claim/production/order-db/x"
  kill_pod 0
  check "without a server it fails" not task backup
  check "and says where it asked" says 'Could not log in to order-db-0' "$WORLD/word"
  check "and nothing was pruned" same 2 backups

  start 0
  within 60 "a primary again" is 0 primary
  empty_server
  check "it is not backed up before it is restored" not task backup
  check "and says so" says 'has not finished; nothing was backed up' "$WORLD/word"
  check "the restore ends well" task restore
  check "and says what it restored" says '"databases": 2' "$WORLD/word"
  check "everything is the same, table by table" same_content
  within 20 "the application is let in" same 1 login 0 app "$awkward_password"
  within 30 "the restore's user is gone" says 'Access denied' <(sleep 12; login 0 restore "$awkward_password of restore")
  check "a second run changes nothing" task restore
  check "and says so" says 'alreadyRestored' "$WORLD/word"
  check "it is backed up again" task backup

  restore_id=other/one with_backup
  deliver
  within 40 "another restore is let in" login 0 restore "$awkward_password of restore"
  check "but not into data" not task restore
  check "it says what is there" says 'holds data already .base? ?table|holds data already' "$WORLD/word"
  check "nothing was changed" same_content
  within 20 "the application goes on" same 1 login 0 app "$awkward_password"

  newest=$(find "$WORLD/claim/production/order-db" -mindepth 1 -maxdepth 1 -name '2*Z' | sort | tail -n 1)
  damaged=$(find "$newest/databases" -name 'app*')
  printf x | dd of="$damaged" bs=1 seek=200 conv=notrunc 2> "$WORLD/out"
  check "a damaged backup is refused" not task restore
  check "with the next older one" says 'is damaged.*next older one is' "$WORLD/word"
  rm -rf "$WORLD/claim"
}

# hold_at CALL: the next restore waits before that call of the client, which is a number, or a text in what the call sends or is given;
# if that one loads a database, in the middle of it
hold_at() {
  mkdir -p "$WORLD/front"
  cat > "$WORLD/front/mysql" << END
#!/bin/bash
calls=\$((\$(cat /tmp/calls 2> /dev/null || echo 0) + 1))
echo "\$calls" > /tmp/calls
hold() { : > /tmp/held; while [[ ! -e /tmp/go-on ]]; do sleep 0.1; done; }
asked() { [[ ! -e /tmp/held && ( \$calls == '$1' || " \$1" == *' $1'* ) ]]; }
if [[ \$* == *--binary-mode* ]]; then
  asked "\$*" || exec /usr/bin/mysql "\$@"
  { dd bs=1 count=3000 status=none; hold; cat; } | /usr/bin/mysql "\$@"
  exit
fi
statements=\$(cat)
! asked "\$statements" || hold
exec /usr/bin/mysql "\$@" <<< "\$statements"
END
  chmod 0755 "$WORLD/front/mysql"
}
held() { [[ -e $WORLD/task-${1:-9}/tmp/held ]]; }
go_on() { : > "$WORLD/task-${1:-9}/tmp/go-on"; }
ended() { ! kill -0 "$1" 2> /dev/null; }
held_or_ended() { held "$1" || ended "$2"; }
# begin_task NAME ORDINAL: in the background; sets $task to its process
begin_task() {
  rm -f "$WORLD/task-$2"
  (set +e; task "$@" > "$WORLD/out-$2" 2>&1; echo $? > "$WORLD/code-$2") &
  task=$!
}
kill_task() { pkill -KILL --parent "$(cat "$WORLD/task-$1/unshared-restore")"; wait "$2" || :; }

# all_or_nothing: the application is locked out, or there is nothing, or there is everything
all_or_nothing() {
  says 'locked|3118' <(login 0 app "$awkward_password") && return
  [[ $(query 0 "SELECT COUNT(*) FROM information_schema.tables WHERE table_schema NOT IN ('mysql', 'sys', 'performance_schema', 'information_schema', 'dbrender')") == 0 ]] || same_content
}

# A restore that is killed before each of its statements, and in the middle of each database.
case_restore_killed_anywhere() {
  local call=0 killed=0 task
  with_content
  empty_server
  while :; do
    call=$((call + 1))
    hold_at "$call"
    begin_task restore 9
    eventually 60 held_or_ended 9 "$task" || break
    if ended "$task"; then break; fi
    kill_task 9 "$task"
    killed=$((killed + 1))
    all_or_nothing || check "killed before statement $call: everything or nothing" false
  done
  check "it was killed at $killed places" test "$killed" -ge 15
  check "the one that nobody killed ended well" same 0 cat "$WORLD/code-9"
  check "everything is the same, table by table" same_content
  within 20 "the application is let in" same 1 login 0 app "$awkward_password"
  within 30 "the restore's user is gone" says 'Access denied' <(sleep 12; login 0 restore "$awkward_password of restore")
  rm -rf "$WORLD/front"
  check "one that comes later changes nothing" task restore
  check "and says so" says 'alreadyRestored' "$WORLD/word"
  rm -rf "$WORLD/claim"
}

# A pod on a node that was cut off: nobody tells the server, and nobody ends it.
case_restore_left_behind() {
  local task
  with_content
  empty_server
  hold_at --binary-mode
  begin_task restore 9
  within 60 "a restore is in the middle of a database" held 9
  check "and holds a lock" test "$(query 0 "SELECT COUNT(*) FROM performance_schema.processlist WHERE user = 'restore'")" -ge 1
  ip link del veth9
  kill_task 9 "$task"
  rm -rf "$WORLD/front"
  check "its session lives on, though nobody is there" test "$(query 0 "SELECT COUNT(*) FROM performance_schema.processlist WHERE user = 'restore'")" -ge 1
  check "the next one ends well" task restore
  check "everything is the same, table by table" same_content
  within 20 "the application is let in" same 1 login 0 app "$awkward_password"

  empty_server
  hold_at --binary-mode
  begin_task restore 9
  within 60 "another is in the middle of a database" held 9
  rm -rf "$WORLD/front"
  check "a second one beside it ends well" task restore 8
  go_on 9
  wait "$task" || :
  check "the first one has failed" not same 0 cat "$WORLD/code-9"
  check "everything is the same, table by table" same_content

  empty_server
  hold_at 'finished_at = NOW'
  begin_task restore 9
  within 60 "another is about to write that it is done" held 9
  hold_at --binary-mode
  begin_task restore 8
  within 60 "a second one has begun" held 8
  go_on 9
  within 60 "the first one ends" test -s "$WORLD/code-9"
  check "and has failed" not same 0 cat "$WORLD/code-9"
  check "nobody is let in to a half" says 'locked|3118' <(login 0 app "$awkward_password")
  kill_task 8 "$task"
  rm -rf "$WORLD/front"
  check "the next one ends well" task restore
  check "everything is the same, table by table" same_content
  rm -rf "$WORLD/claim"
}
