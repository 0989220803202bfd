# shellcheck shell=bash disable=SC2154 # names are shared with the files that this one is sourced with
# The way back to a moment, and what is refused.

# begin_source: a running order-db with rows, archived, and its first base backup
begin_source() {
  start 0
  within 60 'the source is ready' ready 0
  insert 0 1 1000
  check 'a backup with a base backup' back_up
}
# lose_source: all of its pods and volumes
lose_source() { remove_database; }
# recover MOMENT [NAME=VALUE…]: the pods of order-db-again
recover() {
  recovered_database "$@"
  start 0
}
# refused WHAT PATTERN CONTAINER: the init container says so again and again, and no data directory comes to be
refused() {
  within 60 "$1" says "$2" "$(pod_of 0)/last-message-$3"
  check 'and nothing is on the volume but what was fetched' not test -e "$(volume_of 0)/$MAJOR/docker"
  kill_pod 0
  remove_volume 0
}

case_restored_to_just_before_the_drop() {
  begin_source
  query 0 "CREATE TABLE orders (id bigserial PRIMARY KEY, at timestamptz DEFAULT clock_timestamp(), what text);
    ALTER TABLE orders OWNER TO \"order user\"; INSERT INTO orders (what) SELECT md5(i::text) FROM generate_series(1, 5000) i" orders > /dev/null
  query 0 'CREATE DATABASE reports' > /dev/null
  query 0 'CREATE TABLE sums AS SELECT i AS month, i * 7 AS total FROM generate_series(1, 12) i' reports > /dev/null
  switch 0 > /dev/null
  query 0 "INSERT INTO orders (what) SELECT 'after a segment' FROM generate_series(1, 100); SELECT lo_from_bytea(4711, 'a large object')" orders > /dev/null
  content 0 > "$WORLD/before"
  local moment system
  moment=$(moment 0)
  system=$(query 0 'SELECT system_identifier FROM pg_control_system()')
  query 0 'DROP TABLE orders' orders > /dev/null
  query 0 "INSERT INTO numbers SELECT generate_series(100001, 100100)" orders > /dev/null
  check 'the log is in the bucket' archive_all 0
  check 'the server says that nothing failed' same 0 query 0 'SELECT failed_count FROM pg_stat_archiver'
  check 'the bucket holds what the server says' archived "$(query 0 'SELECT left(last_archived_wal, 24) FROM pg_stat_archiver')"
  check 'no key of the bucket in the pod of the server' not grep -rq SECRET "$(pod_of 0)"/log-* "$(pod_of 0)/opt" "$(pod_of 0)/config"
  check 'no password in a log of the backup' not grep -qF 'q'"'"'u"o' "$task_directory/log"
  lose_source

  recover "$moment"
  within 120 'the recovered database is ready' ready 0
  content 0 > "$WORLD/after"
  check "all $(wc -l < "$WORLD/before") tables are as they were, by checksum" cmp "$WORLD/before" "$WORLD/after"
  check 'with the table that was dropped' same 5100 query 0 'SELECT count(*) FROM orders' orders
  check 'and the large object' same 'a large object' query 0 "SELECT convert_from(lo_get(4711), 'UTF8')" orders
  check 'the database is the former one' same "$system" query 0 'SELECT system_identifier FROM pg_control_system()'
  check 'on a timeline of its own' same 2 timeline 0
  check 'it takes writes' query 0 'INSERT INTO numbers VALUES (0)' orders
  within 30 'the owner logs in with the new password' login 0 'order user' "$awkward_password of app in target" orders
  check 'and not with the former one' not login 0 'order user' "$awkward_password of app in source" orders
  stored=${stored}-again
  check 'its own log is archived, in a place of its own' archive_all 0
  check 'a backup of it, with a base backup' back_up
  check 'on its timeline' same 00000002 eval 'base_value "$(bases)" startWal | cut -c 1-8'
  stored=${stored%-again}
  check 'what was fetched is gone' not test -e "$(volume_of 0)/$MAJOR/fetch.partial"
  query 0 'DELETE FROM numbers WHERE n > 500' orders > /dev/null
  stop_pod 0 > /dev/null
  start 0
  within 30 'it starts again' ready 0
  check 'as it was, and is not recovered a second time' same 501 query 0 'SELECT count(*) FROM numbers' orders
  check 'nothing was fetched' says 'Nothing to fetch' "$(log_of 0 fetch)"
}

case_moments_that_are_refused() {
  local before first after
  start 0
  within 60 'the source is ready' ready 0
  insert 0 1 1000
  before=$(moment 0)
  recovered_database "$before"
  start_pod_elsewhere 'a bucket without a base backup' 'There is no base backup of production/order-db in the bucket'
  check 'a backup with a base backup' back_up
  first=$(moment 0)
  insert 0 1001 2000
  sleep 1
  after=$(moment 0)
  check 'the log is in the bucket' archive_all 0
  lose_source

  recover "$before"
  refused 'a moment before the oldest base backup' "is before the end of the oldest base backup, $(base_value "$(bases)" finishedAt)" fetch
  recover '2099-01-01T00:00:00.000000Z'
  refused 'a moment that has not come' '2099-01-01T00:00:00.000000Z has not come yet' fetch
  recover "$(date -u +%Y-%m-%dT%H:%M:%S.000000Z)"
  refused 'a moment after the last archived log' 'The log ends before .*: its last transaction is of .*Nothing was restored: choose a moment before that transaction' bootstrap
  recover "$first" 'APP_DATABASE=other'
  refused 'another name of the database' 'is of the database orders and the user order user;' fetch
  recover "$first" 'MAJOR=14'
  kill_pod 0
  remove_volume 0
  recover "$after"
  within 90 'and a moment that is there is gone to' ready 0
  check 'with all rows' holds 0 2000
}
# start_pod_elsewhere WHAT PATTERN: an attempt beside the running source, by the init container alone
start_pod_elsewhere() {
  local pod=$WORLD/elsewhere
  rm -rf "$pod"
  mkdir -p "$pod"/{config,opt,tmp} "$WORLD/elsewhere-volume/$MAJOR"
  cp "$WORLD/config"/* "$pod/config/"
  cp "$WORLD"/scripts/*.sh "$pod/opt/"
  chmod 1777 "$pod/tmp"
  chmod -R a+rX "$pod"
  chown -R 999:999 "$WORLD/elsewhere-volume"
  : > "$pod/termination-fetch"
  chmod 666 "$pod/termination-fetch"
  check "$1 ends the init container with 4" same 4 ended_with env POD="$pod" CONTAINER=fetch VOLUME="$WORLD/elsewhere-volume" NAME="$name-0" IMAGE="$RCLONE_IMAGE" \
    unshare --mount --pid --fork --kill-child bash "$WORLD/rclone-container.sh" /bin/sh /opt/dbrender/fetch.sh
  check "$1 is told" says "$2" "$pod/termination-fetch"
  rm -rf "$WORLD/elsewhere-volume"
  source_database
}
ended_with() {
  local code=0
  "$@" > "$WORLD/ended.out" 2>&1 < /dev/null || code=$?
  echo "$code"
}

# Somebody takes a wrong moment, removes the Database with its volumes, and takes another one.
case_second_attempt_under_the_same_name() {
  local early late system lost
  begin_source
  early=$(moment 0)
  system=$(query 0 'SELECT system_identifier FROM pg_control_system()')
  insert 0 1001 2000
  late=$(moment 0)
  insert 0 2001 3000
  check 'the log is in the bucket' archive_all 0
  lose_source

  recover "$early"
  within 90 'the first attempt is ready' ready 0
  check 'with the rows of its moment' holds 0 1000
  insert 0 5001 5100
  stored=${stored}-again
  within 60 'its log is archived' archive_all 0
  check 'with the history of its timeline' same 1 eval "in_bucket wal -name '00000002.history-*' | wc -l"
  check 'a backup of it' back_up
  lost=$(moment 0)
  lose_source

  recover "$late"
  within 90 'the second attempt is ready' ready 0
  check 'with the rows of its moment' holds 0 2000
  check 'on a timeline that the first one did not have' same 3 timeline 0
  insert 0 2001 4000
  within 60 'its log is archived beside that of the first' archive_all 0
  check 'the server says that nothing failed' same 0 query 0 'SELECT failed_count FROM pg_stat_archiver'
  cp -r "$WORLD/bucket/$stored/wal/$system" "$WORLD/both"
  check 'a backup of it' back_up
  late=$(moment 0)
  insert 0 4001 4100
  within 60 'its log is archived' archive_all 0
  lose_source

  # What is recovered now is the one that was recovered.
  recover "$lost" SOURCE_PATH=production/order-db-again "REMOTE=dest:$stored"
  refused 'a moment of the attempt that was given up' 'No base backup before .* is on the way to the newest timeline, 3' fetch
  recover "$late" SOURCE_PATH=production/order-db-again "REMOTE=dest:$stored"
  within 90 'a moment of the second attempt is gone to' ready 0
  check 'with the rows of that moment' holds 0 4000
  lose_source

  # A database that was brought back under its own name has both histories in one place.
  stored=${stored%-again}
  cp -r "$WORLD/both/." "$WORLD/bucket/$stored/wal/$system/"
  recover "$lost"
  refused 'a moment that two histories have' 'This database was brought back to .* once, and no base backup was made between' fetch
  recover "$early"
  within 90 'a moment before that is gone to' ready 0
  check 'with the rows of that moment' holds 0 1000
}

case_all_of_the_log() {
  local last file
  begin_source
  insert 0 1001 2000
  switch 0 > /dev/null
  insert 0 2001 3000
  last=$(switch 0)
  insert 0 3001 4000
  check 'the log is in the bucket' archive_all 0
  lose_source
  recover latest
  within 90 'the recovered database is ready' ready 0
  check 'with the last row' holds 0 4000
  check 'and says up to where' says 'All of the log was replayed; its last transaction is of 20' "$(log_of 0 bootstrap)"
  lose_source
  file=$(in_bucket wal -name "$last-*")
  rm "$WORLD/bucket/$stored/$file"
  recover latest
  refused 'all of a log with a gap' "The log in the bucket has a gap: $last is missing" fetch
}

case_damaged_and_missing_files() {
  local moment file third base
  begin_source
  insert 0 1001 2000
  switch 0 > /dev/null
  insert 0 2001 3000
  third=$(switch 0)
  insert 0 3001 4000
  moment=$(moment 0)
  insert 0 4001 5000
  check 'the log is in the bucket' archive_all 0
  lose_source
  file=$(in_bucket wal -name "$third-*")

  mv "$WORLD/bucket/$stored/$file" "$WORLD/taken"
  recover "$moment"
  refused 'a gap in the log' "The log ends before $moment.*The log in the bucket has a gap: $third is missing" bootstrap
  head -c 100 /dev/zero | gzip > "$WORLD/bucket/$stored/$file"
  recover "$moment"
  refused 'a file of the log with another content' "The file .*$third-.* of the log in the bucket is missing or damaged" fetch
  mv "$WORLD/taken" "$WORLD/bucket/$stored/$file"
  cp "$WORLD/bucket/$stored/$file" "$WORLD/bucket/$stored/${file%-*}-$(printf '%064d' 7).gz"
  recover "$moment"
  refused 'two files of one name' "two files named $third" fetch
  rm "$WORLD/bucket/$stored/${file%-*}-$(printf '%064d' 7).gz"
  base=$WORLD/bucket/$stored/base/$(bases)/base.tar.gz
  cp "$base" "$WORLD/taken"
  truncate -s -1000 "$base"
  recover "$moment"
  refused 'a base backup that is cut short' 'The base backup .* in the bucket is damaged' fetch
  cp "$WORLD/taken" "$base"
  recover "$moment"
  within 90 'and whole again it is gone to' ready 0
  check 'with the rows of that moment' holds 0 4000
}

case_recovery_killed_half_way() {
  local moment
  begin_source
  insert 0 1001 200000
  moment=$(moment 0)
  insert 0 200001 200100
  check 'the log is in the bucket' archive_all 0
  lose_source
  recover "$moment"
  local i
  for i in 1 2 3 4 5 6; do
    sleep "0.$((i * 3 % 10))"
    signal KILL 0 fetch || signal KILL 0 bootstrap || :
  done
  within 120 'the recovered database is ready' ready 0
  check 'with all rows of that moment' holds 0 200000
  check 'and nothing half done is left' not compgen -G "$(volume_of 0)/$MAJOR/*.partial"
}
