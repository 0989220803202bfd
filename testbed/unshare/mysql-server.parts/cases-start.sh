# shellcheck shell=bash
# One member: what it makes of a volume, and that it comes back.

case_one_member() {
  local each before
  start 0
  within 60 "an empty volume becomes a group of one that takes writes" is 0 primary
  check "and is ready" ready 0
  within 10 "the application logs in over the network with its password" same 1 login 0 app "$awkward_password" 'SELECT 1'
  check "it owns its database" same '' login 0 app "$awkward_password" 'CREATE TABLE app.t (a INT); INSERT INTO app.t VALUES (1); DROP TABLE app.t'
  check "it may not look at others" says 'denied' <(login 0 app "$awkward_password" 'SELECT * FROM mysql.user')
  check "the administrator has no way in from the network" says 'Access denied' <(login 0 mysql '')
  check "root neither" says 'Access denied' <(login 0 root "$awkward_password of root")
  check "the backup's user logs in" same 1 login 0 backup "$awkward_password of backup"
  check "the restore's user does not exist" says 'Access denied' <(login 0 restore "$awkward_password of restore")
  check "transactions have global identifiers" same ON query 0 'SELECT @@gtid_mode'
  insert 0 1 100
  check "lost+found was not touched" test -d "$(volume_of 0)/lost+found"
  check "no password stands in a log or on the volume" not grep -rqF -e "q'u\"o" -e "q\\'u\"o" "$(pod_of 0)"/log-* "$(volume_of 0)"
  check "nor in an argument or the environment" not grep -qlaF "q'u\"o" /proc/[0-9]*/cmdline /proc/[0-9]*/environ

  before=$(query 0 'SELECT @@server_uuid')
  signal TERM 0 mysql
  within 30 "stopped and started again, it leads again" eventually 1 is 0 primary
  within 20 "with its data" holds 0 100
  check "as the same server" same "$before" query 0 'SELECT @@server_uuid'
  for each in 1 2 3; do
    kill -KILL "$(process_of 0 mysql)"
    sleep 1
    within 40 "killed ($each), it leads again" holds 0 100
    within 30 "and is ready" ready 0
  done
  signal TERM 0 agent
  within 10 "an agent that ends is back" says 'Primary of group' "$(says_now 0)"
  kill_pod 0
  start 0
  within 60 "on another pod, after the loss of the node, it leads again" is 0 primary
  check "with its data" holds 0 100
  check "a deletion takes less than 20 s" test "$(stop_pod 0)" -lt 20
}

# The memory volume outlives the container, and in the next one another process has the number.
case_stale_files() {
  start 0
  within 60 "a group of one" is 0 primary
  kill -KILL "$(process_of 0 mysql)"
  # whatever number the files name, a process of the next container has it
  echo 1 > "$(pod_of 0)/run/mysqld.sock.lock"
  echo 1 > "$(pod_of 0)/run/mysqld.pid"
  within 60 "a socket's lock and a pid file that name a living process do not stop the start" ready 0
  within 10 "and it leads" is 0 primary
}

case_first_start_cut_short() {
  local each
  for each in 0.3 1 2 4; do
    make_volume 0
    start_pod 0
    sleep "$each"
    kill_pod 0
    start_pod 0
    within 90 "cut after $each s, the next start makes a whole one" is 0 primary
    within 10 "with the application's user" same 1 login 0 app "$awkward_password"
    check "and nothing half is left" test ! -e "$(volume_of 0)/data.partial"
    kill_pod 0
    remove_volume 0
  done
}

case_volumes_that_are_refused() {
  local volume
  volume=$(volume_of 0)
  start 0
  within 60 "a group of one" is 0 primary
  insert 0 1 10
  stop_pod 0
  rm -rf "$WORLD/good"
  cp -a "$volume" "$WORLD/good"

  sed -i 's/"version":"9[0-9.]*/"version":"10.3.1/g' "$volume/data/mysql_upgrade_history"
  start_pod 0
  within 20 "data of a newer server is refused, with the file" says 'mysql_upgrade_history says 10.3.1, which is newer' "$(message_of 0 setup)"
  kill_pod 0
  sed -i 's/"version":"10[0-9.]*/"version":"8.4.3/g' "$volume/data/mysql_upgrade_history"
  start_pod 0
  within 60 "the series before is let in" is 0 primary
  kill_pod 0
  rm "$volume/data/mysql_upgrade_history"
  start_pod 0
  within 20 "data of a server before 8.4 is refused" says 'no mysql_upgrade_history' "$(message_of 0 setup)"
  kill_pod 0

  mv "$volume/data" "$volume/elsewhere"
  start_pod 0
  within 20 "a volume that has lost its data directory is not made anew" says 'has held the data' "$(message_of 0 bootstrap)"
  kill_pod 0
  mkdir "$volume/data"
  echo x > "$volume/data/ibdata1"
  start_pod 0
  within 20 "half a data directory is refused" says 'has no mysql.ibd and ibdata1' "$(message_of 0 setup)"
  kill_pod 0
  rm -rf "$volume"
  cp -a "$WORLD/good" "$volume"
  mv "$volume"/data/* "$volume/"
  start_pod 0
  within 20 "the layout of the official image is refused, with the way out" says 'data directory of MySQL in its root' "$(message_of 0 setup)"
  check "nothing was changed" test -e "$volume/ibdata1"
  kill_pod 0
  remove_volume 0

  make_volume 0 size=512m,mode=2775,gid=999,ro
  start_pod 0
  within 20 "a volume that cannot be written is refused" says 'cannot be written' "$(message_of 0 setup)"
  kill_pod 0
  remove_volume 0
  make_volume 0 size=60m
  start_pod 0
  within 40 "a volume without room says so" says 'could not be made' "$(message_of 0 bootstrap)"
  kill_pod 0
  remove_volume 0
  rm -rf "$WORLD/good"
}

case_passwords_that_are_refused() {
  printf 'line\nbreak' > "$WORLD/credentials/replication-password"
  start 0
  within 20 "a password with a line break is refused, by its file" says 'replication-password has a line break' "$(message_of 0 bootstrap)"
  : > "$WORLD/credentials/replication-password"
  deliver 0
  within 20 "an empty one too" says 'replication-password is empty' "$(message_of 0 bootstrap)"
  printf '%033d' 0 > "$WORLD/credentials/replication-password"
  deliver 0
  within 20 "one that is too long for replication too" says 'replication takes 32 at most' "$(message_of 0 bootstrap)"
  printf '%032d' 0 > "$WORLD/credentials/replication-password"
  deliver 0
  within 60 "a good one is taken without a new pod" is 0 primary
}
