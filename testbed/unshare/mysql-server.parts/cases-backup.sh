# shellcheck shell=bash
# Backup and restore against real servers, and what they hold compared line by line.

life=$testbed/life.parts/mysql

# task NAME ORDINAL: runs NAME.sh as a Job's pod would, with the claim $WORLD/claim; its last word is in $WORLD/word. The pod is called
# after an ordinal that no member has.
task() {
  local pod=$WORLD/pods/task-$1.$((++lives)) code=0
  mkdir -p "$pod"/{config,credentials,opt,patroni,run,tmp} "$WORLD/claim"
  chown 999:999 "$WORLD/claim"
  ln -sfn "$WORLD/claim" "$pod/backup"
  chmod 1777 "$pod/tmp"
  echo 9 > "$pod/ordinal"
  echo r1 > "$pod/revision"
  echo "$IMAGE" > "$pod/image"
  echo "$MAJOR" > "$pod/major"
  swap "$pod/config" "$WORLD/config"
  swap "$pod/credentials" "$WORLD/credentials"
  mkdir -p "$(volume_of 9)"
  unshare --net --ipc sleep infinity &
  echo $! > "$pod/sandbox"
  eventually 5 test ! "/proc/self/ns/ipc" -ef "/proc/$(cat "$pod/sandbox")/ns/ipc"
  ip link del veth9 2> /dev/null || :
  ip link add veth9 type veth peer name eth0 netns "$(cat "$pod/sandbox")"
  ip link set veth9 master bridge0 up
  nsenter --net="/proc/$(cat "$pod/sandbox")/ns/net" bash -c "ip link set lo up; ip addr add $(address_of 9)/24 dev eth0; ip link set eth0 up"
  ln -sfn "$pod" "$WORLD/task"
  run_container "$pod" "$1" "/etc/dbrender/scripts/$1.sh" || code=$?
  cat "$pod/termination-$1" > "$WORLD/word"
  cp "$pod/log-$1" "$WORLD/task-log"
  kill "$(cat "$pod/sandbox")"
  return "$code"
}
word() { cat "$WORLD/word"; }

with_backup() {
  write_config SERVICE="$name-0.$name-headless.production.svc.cluster.local" "$@"
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

case_backup_and_restore() {
  local newest damaged
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

  remove_volume 0
  restore_id=production/order-db/latest with_backup RESTORE_ID=production/order-db/latest
  start 0
  within 90 "a new, empty server" is 0 primary
  within 30 "lets the restore in" login 0 restore "$awkward_password of restore"
  check "it is not backed up before it is restored" not task backup
  check "and says so" says 'has not finished; nothing was backed up' "$WORLD/word"
  # killed in the middle
  (task restore > "$WORLD/out" 2>&1) &
  eventually 60 same 1 query 0 "SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = 'app' AND table_name = 'customer'"
  pkill -KILL --parent "$(cat "$WORLD/task/unshared-restore")" 2> /dev/null || :
  sleep 1
  check "a restore that was killed has let nobody in" says 'locked|3118' <(login 0 app "$awkward_password")
  check "the next one ends well" task restore
  check "and says what it restored" says '"databases": 2' "$WORLD/word"
  check "everything is the same, table by table" same_content
  within 20 "the application is let in" same 1 login 0 app "$awkward_password"
  within 30 "the restore's user is gone" says 'Access denied' <(sleep 12; login 0 restore "$awkward_password of restore")
  check "a second run changes nothing" task restore
  check "and says so" says 'alreadyRestored' "$WORLD/word"
  check "it is backed up again" task backup

  restore_id=other/one with_backup RESTORE_ID=other/one
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
