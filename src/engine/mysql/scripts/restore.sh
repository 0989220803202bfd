#!/bin/bash
# Fills an empty server from one backup, over the network. BACKUP.md says how and when it refuses.
#
# The server has no way to make several databases visible at once, so the application is locked out while they are loaded. A row in
# dbrender.restore says that a restore has begun, and at its end that it is done. A run may die at any point: the next one drops what the
# former has loaded, which dbrender.restore_databases lists, and starts again. A former run may also live on where nobody sees it, on a
# node that was cut off: the row names the run that it belongs to, and what another one sends then fails.
set -euo pipefail
export LC_ALL=C
umask 077

SCRIPTS=${BASH_SOURCE[0]%/*}
CONFIG=/etc/dbrender/config
# shellcheck source-path=SCRIPTDIR source=archive.sh
. "$SCRIPTS/archive.sh"
# shellcheck source-path=SCRIPTDIR source=connection.sh
. "$SCRIPTS/connection.sh"

values() {
  read_values facts restore
  need_values SERIES APP_DATABASE APP_USERNAME PORT SERVICE RESTORE_ID SOURCE_PATH BACKUP
  : "${WAIT_SECONDS:=900}"
  BASE=/backup/$SOURCE_PATH
  ATTEMPT=$(< /proc/sys/kernel/random/uuid)
}

# take_over: from here on every session of this run fails as soon as the row belongs to another one.
take_over() {
  ask << SQL || fail_said "Could not write that the restore has begun"
CREATE DATABASE IF NOT EXISTS dbrender;
CREATE TABLE IF NOT EXISTS dbrender.restore (id VARCHAR(200) PRIMARY KEY, backup VARCHAR(20) NOT NULL, attempt CHAR(36) NOT NULL, finished_at TIMESTAMP(6) NULL);
CREATE TABLE IF NOT EXISTS dbrender.restore_databases (id VARCHAR(200), name VARCHAR(64), PRIMARY KEY (id, name));
INSERT INTO dbrender.restore (id, backup, attempt) VALUES ($(text "$RESTORE_ID"), '$ID', '$ATTEMPT') AS new
  ON DUPLICATE KEY UPDATE backup = new.backup, attempt = new.attempt;
SQL
  # Two rows where one is allowed is an error, and a session whose first statement fails is closed.
  MINE="@mine = (SELECT 1 UNION ALL SELECT 2 WHERE NOT EXISTS (SELECT * FROM dbrender.restore WHERE id = $(text "$RESTORE_ID") AND attempt = '$ATTEMPT'))"
  SESSION+=", $MINE"
  end_sessions restore
}

# end_sessions USER: all but this one's, until they are gone. A session whose client has died without a word lives for hours, with its locks.
end_sessions() {
  local deadline=$((SECONDS + 60)) sessions
  while :; do
    sessions=$(ask <<< "SELECT CONCAT('KILL ', id, ';') FROM information_schema.processlist WHERE user = $(text "$1") AND id <> CONNECTION_ID()") || fail_said "Could not list the sessions"
    [[ -n $sessions ]] || return 0
    ((SECONDS < deadline)) || fail "Sessions of $1 do not end; trying again."
    ask --force <<< "$sessions" || :
    pause 0.2
  done
}

# pick ID|latest: sets ID and DIR, after every byte of the backup was read.
pick() {
  local ids newest
  ids=$(list_ids "$BASE")
  newest=$(tail -n 1 <<< "$ids")
  [[ -n $newest ]] || fail "There is no finished backup in $BASE." 4
  ID=$newest
  [[ $1 == latest ]] || ID=$1
  is_id "$ID" && [[ -d $BASE/$ID ]] || fail "There is no backup $ID in $BASE; the newest is $newest." 4
  DIR=$BASE/$ID
  # Retention leaves a backup alone while somebody reads it.
  if command -v flock > /dev/null && [[ -r $DIR/SHA256SUMS ]]; then
    exec 8< "$DIR/SHA256SUMS"
    flock -s -n 8 || say "warning: could not lock backup $ID against pruning"
  fi
  verify_sums "$DIR" || fail "$(damaged_sentence "$ID" "$problem" <<< "$ids")" 4
  MANIFEST=$DIR/manifest.json
  say "backup $ID reads well"
}

# manifest_text KEY: a text of its first level.
manifest_text() {
  local found
  found=$(sed -n 's/^  "'"$1"'": "\(.*\)",\{0,1\}$/\1/p' "$MANIFEST")
  found=${found//\\\"/\"}
  printf '%s' "${found//\\\\/\\}"
}

# What the backup holds must fit this Database before the server is touched.
check_backup() {
  local engine format version file i
  engine=$(manifest_value "$MANIFEST" engine)
  format=$(manifest_value "$MANIFEST" format)
  version=$(manifest_value "$MANIFEST" serverVersion)
  [[ $engine == mysql ]] || fail "Backup $ID is of engine $engine, not mysql." 4
  [[ $format == 1 ]] || fail "Backup $ID has format $format; this version reads format 1." 4
  [[ $(printf '%s\n%s\n' "${version%.*}" "$SERIES" | sort -V | tail -n 1) == "$SERIES" ]] ||
    fail "Backup $ID comes from MySQL $version, and this Database is version $SERIES; a backup goes into the same or a newer series, never into an older one." 4
  mapfile -t FILES < <(manifest_files "$MANIFEST" | cut -d ' ' -f 3 | grep '^databases/')
  ((${#FILES[@]} > 0)) || fail "Backup $ID lists no database." 4
  SOURCE_DATABASE=$(manifest_text database)
  NAMES=()
  for file in "${FILES[@]}"; do
    file=${file#databases/}
    file=${file%.sql.zst}
    printf -v file '%b' "${file//%/\\x}"
    NAMES+=("$file")
  done
  [[ $SOURCE_DATABASE == "$APP_DATABASE" ]] || for ((i = 0; i < ${#NAMES[@]}; i++)); do
    [[ ${NAMES[i]} != "$APP_DATABASE" ]] ||
      fail "Backup $ID holds a database $APP_DATABASE beside the application's, which is $SOURCE_DATABASE there; set spec.database to $SOURCE_DATABASE or to a name that is free." 4
  done
}

# state: nothing, begun or done; what the row of this restore says.
state() {
  local there
  there=$(ask <<< "SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = 'dbrender' AND table_name = 'restore'") || return 1
  [[ $there == 1 ]] || { echo nothing; return; }
  there=$(ask <<< "SELECT IF(finished_at IS NULL, 'begun', 'done') FROM dbrender.restore WHERE id = $(text "$RESTORE_ID")") || return 1
  echo "${there:-nothing}"
}
done_already() {
  report "{\"id\": $(json_text "$RESTORE_ID"), \"alreadyRestored\": true}"
  exit 0
}

# The user restore exists only while the restore is not done. So a Job that is started again after that finds it gone; the user backup
# can still read the row.
connect() {
  local deadline=$((SECONDS + WAIT_SECONDS)) read_only
  while :; do
    login_as restore "$CREDENTIALS/restore-password"
    if read_only=$(ask <<< 'SELECT @@super_read_only'); then
      [[ $read_only == 1 ]] || break
      say "the server takes no writes; waiting for its primary"
    elif [[ -r $CREDENTIALS/backup-password ]]; then
      login_as backup "$CREDENTIALS/backup-password"
      [[ $(state 2> /dev/null) != 'done' ]] || done_already
    fi
    ((SECONDS < deadline)) ||
      fail "Could not log in to $SERVICE:$PORT as restore within $WAIT_SECONDS seconds; the agent of the primary makes this user while the restore $RESTORE_ID is awaited: $(cause "$WORK/said")"
    pause 3
  done
  SERVER=$(ask <<< 'SELECT @@server_uuid') || fail_said "Could not ask the server for its name"
}

# first_content [EXCEPT]: the first thing that a user made, or nothing.
first_content() {
  ask << SQL
SELECT thing FROM (
  SELECT CONCAT(LOWER(REPLACE(table_type, 'BASE ', '')), ' ', table_schema, '.', table_name) AS thing FROM information_schema.tables WHERE table_schema NOT IN ($OWN_DATABASES)
  UNION ALL SELECT CONCAT('routine ', routine_schema, '.', routine_name) FROM information_schema.routines WHERE routine_schema NOT IN ($OWN_DATABASES)
  UNION ALL SELECT CONCAT('event ', event_schema, '.', event_name) FROM information_schema.events WHERE event_schema NOT IN ($OWN_DATABASES)
) AS things ORDER BY thing LIMIT 1
SQL
}

# Refuses a server with anybody's data before the first write to it; drops what a former attempt has loaded.
prepare() {
  local seen begun databases each
  seen=$(state) || fail_said "Could not read the server's state"
  [[ $seen != 'done' ]] || done_already
  if [[ $seen == begun ]]; then
    begun=$(ask <<< "SELECT backup FROM dbrender.restore WHERE id = $(text "$RESTORE_ID")") || fail_said "Could not read the state of a former attempt"
    # What a former attempt chose stays chosen, though a newer backup may have come since.
    if [[ $begun != "$ID" && $BACKUP == latest && -d $BASE/$begun ]]; then
      say "a former attempt began with backup $begun; going on with that one"
      pick "$begun"
      check_backup
    fi
  fi
  # First out, then a look: after that nobody can have written.
  ask <<< "ALTER USER IF EXISTS $(text "$APP_USERNAME")@'%' ACCOUNT LOCK" || fail_said "Could not lock the application out"
  end_sessions "$APP_USERNAME"
  [[ $seen == begun ]] || refuse_content
  take_over
  databases=$(ask <<< "SELECT name FROM dbrender.restore_databases WHERE id = $(text "$RESTORE_ID")") || fail_said "Could not read what a former attempt has loaded"
  while IFS= read -r each; do
    [[ -n $each ]] || continue
    say "dropping $each, which a former attempt has loaded"
    ask <<< "DROP DATABASE IF EXISTS $(name "$each")" || fail_said "Could not drop $each"
  done <<< "$databases"
  ask <<< "DELETE FROM dbrender.restore_databases WHERE id = $(text "$RESTORE_ID")" || fail_said "Could not write what is dropped"
  refuse_content
}

refuse_content() {
  local found
  found=$(first_content) || fail_said "Could not look into the server"
  [[ -n $found ]] || return 0
  ask <<< "ALTER USER IF EXISTS $(text "$APP_USERNAME")@'%' ACCOUNT UNLOCK" || :
  fail "The server holds data already ($found). A restore fills an empty server only; nothing was changed. Use a Database with new volumes." 4
}

# shellcheck disable=SC2329 # called by run
load_from() { zstd --quiet -dc "$1" | mysql --defaults-file="$LOGIN" --init-command="SET $MINE" --binary-mode --max-allowed-packet=1G -- "$2"; }
load_database() {
  local name=$1 file=$2
  say "restoring $name"
  # Written down before it is made, so that the next attempt drops it.
  ask <<< "INSERT INTO dbrender.restore_databases VALUES ($(text "$RESTORE_ID"), $(text "$name")); CREATE DATABASE IF NOT EXISTS $(name "$name")" ||
    fail_said "Database $name could not be made"
  run load_from "$DIR/$file" "$name" || fail_said "Database $name could not be restored"
}

load_users() {
  [[ $(tail -n 1 "$DIR/globals.sql") == '-- Users completed' ]] || fail "The list of users in backup $ID is cut short." 4
  run load_plain "$DIR/globals.sql" || fail_said "The users could not be restored"
}
# shellcheck disable=SC2329 # called by run
load_plain() { mysql --defaults-file="$LOGIN" --init-command="SET $MINE" < "$1"; }

# A member that took over meanwhile may lack the end of what was loaded; and only the run that the row names may say that it is done.
finish() {
  local rows
  rows=$(ask <<< "UPDATE dbrender.restore SET finished_at = NOW(6) WHERE id = $(text "$RESTORE_ID") AND attempt = '$ATTEMPT' AND @@server_uuid = '$SERVER'; SELECT ROW_COUNT()") ||
    fail_said "Could not write that the restore is done"
  [[ $rows == 1 ]] || fail "Another member became primary meanwhile, or another run of this restore has begun; starting over."
  # The agent does it, too, when it sees that row.
  ask <<< "ALTER USER IF EXISTS $(text "$APP_USERNAME")@'%' ACCOUNT UNLOCK" || say "warning: the application is let in by the agent"
}

main() {
  local i name
  begin
  values
  pick "$BACKUP"
  check_backup
  connect
  prepare
  for i in "${!FILES[@]}"; do
    name=${NAMES[i]}
    [[ $name != "$SOURCE_DATABASE" ]] || name=$APP_DATABASE
    load_database "$name" "${FILES[i]}"
  done
  load_users
  finish
  report "$(printf '{"id": %s, "backup": "%s", "version": "%s", "databases": %d, "seconds": %d}' \
    "$(json_text "$RESTORE_ID")" "$ID" "$(manifest_value "$MANIFEST" serverVersion)" "${#FILES[@]}" "$SECONDS")"
}

main "$@"
exit
