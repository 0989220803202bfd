#!/bin/bash
# Fills an empty set from one backup, over the network. BACKUP.md says how and when it refuses.
#
# A document in dbrender.restore says that a restore has begun and what it fills, and at its end that it is done; the agent makes the
# application's user only then. A run may die at any point: the next one drops what the former has loaded and starts again.
set -euo pipefail
export LC_ALL=C
umask 077

SCRIPTS=${BASH_SOURCE[0]%/*}
CONFIG=${CONFIG:-/etc/dbrender/config}
# shellcheck source-path=SCRIPTDIR source=archive.sh
. "$SCRIPTS/archive.sh"
# shellcheck source-path=SCRIPTDIR source=connection.sh
. "$SCRIPTS/connection.sh"

values() {
  read_values facts restore
  need_values DB_NAME SERIES APP_DATABASE APP_USERNAME PORT SERVICE RESTORE_ID SOURCE_PATH BACKUP
  : "${WAIT_SECONDS:=900}"
  BASE=${BACKUPS:-/backup}/$SOURCE_PATH
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
  local engine format version source
  engine=$(manifest_value "$MANIFEST" engine)
  format=$(manifest_value "$MANIFEST" format)
  version=$(manifest_value "$MANIFEST" serverVersion)
  source=$(manifest_text database)
  [[ $engine == mongodb ]] || fail "Backup $ID is of engine $engine, not mongodb." 4
  [[ $format == 1 ]] || fail "Backup $ID has format $format; this version reads format 1." 4
  [[ $(printf '%s\n%s\n' "${version%.*}" "$SERIES" | sort -V | tail -n 1) == "$SERIES" ]] ||
    fail "Backup $ID comes from MongoDB $version, and this Database is version $SERIES; a backup goes into the same or a newer series, never into an older one." 4
  # Changes of the time of the dump carry their database's name, so that nothing can be renamed.
  [[ $source == "$APP_DATABASE" ]] ||
    fail "The application's database is $source in backup $ID and $APP_DATABASE here, and it keeps its name: set spec.database to $source." 4
  FILE=$DIR/$(manifest_files "$MANIFEST" | cut -d ' ' -f 3 | head -n 1)
  NAMES=()
  mapfile -t NAMES < <(sed -n 's/^  "names": \[\(.*\)\],$/\1/p' "$MANIFEST" | tr ',' '\n' | sed 's/^ *"//; s/"$//' | grep . || :)
}

done_already() {
  report "{\"id\": $(json_text "$RESTORE_ID"), \"alreadyRestored\": true}"
  exit 0
}

# The user restore exists only while the restore is not done. So a Job that is started again after that finds it gone; the user backup
# can still read the row.
connect() {
  local deadline=$((SECONDS + WAIT_SECONDS)) said
  while :; do
    login_as restore "$CREDENTIALS/restore-password"
    if said=$(ask server); then
      [[ $said != *' leads' ]] || break
      say "no member leads; waiting for one"
    elif [[ -r $CREDENTIALS/backup-password ]]; then
      login_as backup "$CREDENTIALS/backup-password"
      said=$(ask state "$RESTORE_ID" 2> /dev/null) || said=''
      [[ $said != 'done '* ]] || done_already
    fi
    ((SECONDS < deadline)) ||
      fail "Could not log in to $DB_NAME/$SERVICE:$PORT as restore within $WAIT_SECONDS seconds; the agent of the primary makes this user while the restore $RESTORE_ID is awaited: $(cause "$WORK/said")"
    pause 3
  done
}

# Refuses a set with anybody's data before the first write to it; drops what a former attempt has loaded.
prepare() {
  local state begun dropped seen
  state=$(ask state "$RESTORE_ID") || fail_said "Could not read the state of the restore"
  read -r state begun <<< "$state"
  [[ $state != 'done' ]] || done_already
  if [[ $state == begun ]]; then
    # What a former attempt chose stays chosen, though a newer backup may have come since.
    if [[ $begun != "$ID" && $BACKUP == latest && -d $BASE/$begun ]]; then
      say "a former attempt began with backup $begun; going on with that one"
      pick "$begun"
      check_backup
    fi
    dropped=$(ask drop "$RESTORE_ID") || fail_said "Could not drop what a former attempt has loaded"
    [[ -z $dropped ]] || say "dropped $dropped, which a former attempt has loaded"
  fi
  seen=$(ask content) || fail_said "Could not look into the database"
  [[ -z $seen ]] ||
    fail "The database holds data already ($seen). A restore fills an empty one only; nothing was changed. Use a Database with new volumes." 4
  ask begin "$RESTORE_ID" "$ID" "${NAMES[@]}" || fail_said "Could not write down that the restore begins"
}

# load: everything but the server's own: users follow the Secrets. mongorestore may say that documents failed and end with 0.
load() {
  say "restoring $ID"
  run mongorestore "${TOOL_ARGUMENTS[@]}" --gzip --archive="$FILE" --oplogReplay --stopOnError \
    --nsExclude='admin.*' --nsExclude='config.*' --nsExclude='dbrender.*' || fail_said "The backup could not be loaded"
  grep -Eq '[^0-9]0 document\(s\) failed to restore' "$WORK/said" || fail "mongorestore did not say that no document failed: $(tail -n 1 "$WORK/said")"
}

main() {
  begin
  values
  pick "$BACKUP"
  check_backup
  connect
  prepare
  load
  ask finish "$RESTORE_ID" || fail_said "Could not write that the restore is done"
  report "$(printf '{"id": %s, "backup": "%s", "version": "%s", "databases": %d, "seconds": %d}' \
    "$(json_text "$RESTORE_ID")" "$ID" "$(manifest_value "$MANIFEST" serverVersion)" "${#NAMES[@]}" "$SECONDS")"
}

main "$@"
exit
