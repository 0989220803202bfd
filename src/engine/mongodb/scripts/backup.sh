#!/bin/bash
# One backup of the whole set: dump, verify, rename, prune. BACKUP.md says what is in it.
#
# Runs in the server's own image, so that the tools are those of the server.
# Destination volume: the whole job. Destination s3: the dump alone; upload.sh follows.
set -euo pipefail
export LC_ALL=C
umask 027

SCRIPTS=${BASH_SOURCE[0]%/*}
CONFIG=${CONFIG:-/etc/dbrender/config}
# shellcheck source-path=SCRIPTDIR source=archive.sh
. "$SCRIPTS/archive.sh"
# shellcheck source-path=SCRIPTDIR source=connection.sh
. "$SCRIPTS/connection.sh"

values() {
  read_values facts backup
  need_values DB_NAME NAMESPACE SERIES VERSION APP_DATABASE APP_USERNAME PORT SERVICE RETENTION DESTINATION DESTINATION_PATH
  [[ $RETENTION =~ ^[1-9][0-9]{0,5}$ ]] || fail "RETENTION is '$RETENTION', but it is a number of backups and at least 1." 4
  [[ $DESTINATION == volume || $DESTINATION == s3 ]] || fail "DESTINATION is '$DESTINATION'; it is volume or s3." 4
  : "${RESTORE_ID:=}" "${WAIT_SECONDS:=300}"
}

# One run at a time on a volume. The kernel lets the lock go with its last holder, so a run that was killed leaves nothing to clean up.
lock() {
  BACKUPS=${BACKUPS:-/backup}
  BASE=$BACKUPS/$DESTINATION_PATH
  mkdir -p "$BASE" || fail "Could not make $BASE; the backup volume must be writable for uid $(id -u)."
  exec 9> "$BACKUPS/.lock" || fail "Could not open $BACKUPS/.lock; the backup volume must be writable for uid $(id -u)."
  if ! command -v flock > /dev/null; then
    say "warning: there is no flock in this image; the CronJob alone keeps two runs apart"
    return
  fi
  flock -n 9 || fail "Another backup is running on this volume; this one did nothing." 75
}

# With the lock in hand whatever is partial belongs to a run that died.
sweep() {
  local each
  for each in "$BASE"/.partial-*; do
    [[ -e $each ]] || continue
    say "removing ${each##*/}, left by a run that did not finish"
    rm -rf "$each"
  done
}

choose_id() {
  local newest
  ID=$(date -u +%Y%m%dT%H%M%SZ)
  while [[ -e $BASE/$ID ]]; do
    pause 1
    ID=$(date -u +%Y%m%dT%H%M%SZ)
  done
  newest=$(list_ids "$BASE" | tail -n 1)
  [[ ! $newest > $ID ]] || say "warning: backup $newest is newer than the clock ($ID); the clock of a node was or is wrong"
  STARTED=$(date -u +%Y-%m-%dT%H:%M:%SZ)
  PARTIAL=$BASE/.partial-$ID
  mkdir -p "$PARTIAL" || fail "Could not make $PARTIAL: $(df -P "$BACKUPS" | tail -n 1)"
}

connect() {
  local deadline=$((SECONDS + WAIT_SECONDS)) client
  login_as backup "$CREDENTIALS/backup-password"
  until said=$(ask server); do
    ((SECONDS < deadline)) ||
      fail "Could not log in to $DB_NAME/$SERVICE:$PORT as backup within $WAIT_SECONDS seconds; is the database up, and does its NetworkPolicy let backup pods in? $(cause "$WORK/said")"
    pause 2
  done
  read -r SERVER_VERSION COMPATIBILITY _ <<< "$said"
  client=$(mongodump --version) || fail "mongodump is not in this image."
  CLIENT_VERSION=$(sed -n 's/^mongodump version: //p' <<< "$client")
}

# A server that waits for its restore, or is in the middle of it, is empty or half full: its "backup" would push a real one out.
refuse_unrestored() {
  local state
  [[ -n $RESTORE_ID ]] || return 0
  state=$(ask state "$RESTORE_ID") || fail_said "Could not read the state of the restore"
  [[ $state == 'done '* ]] || fail "The restore $RESTORE_ID of this database has not finished; nothing was backed up and nothing was pruned."
}

# dump_all: all databases as they are at one instant, the end of the run: --oplog holds what happened while it ran. From a secondary,
# when there is one that is not two minutes behind.
dump_all() {
  ask collections > "$WORK/before" || fail_said "Could not list the collections"
  say "dumping all databases"
  run mongodump "${TOOL_ARGUMENTS[@]}" --readPreference='{"mode": "secondaryPreferred", "maxStalenessSeconds": 120}' \
    --oplog --gzip --archive="$PARTIAL/$ARCHIVE" || fail_said "The dump failed"
  ask collections > "$WORK/after" || fail_said "Could not list the collections"
  verify_archive
}

# The exit code is one witness. These are the others: the file unpacks to its last byte, it is an archive with the end of every collection
# in it, every collection that was there before and after the dump is one of them, and so is the list of changes.
verify_archive() {
  local missing
  run read_archive "$PARTIAL/$ARCHIVE" "$WORK/dumped" || fail_said "The dump cannot be read to its end"
  cut -f 1 "$WORK/dumped" | LC_ALL=C sort > "$WORK/names"
  missing=$(comm -23 <(comm -12 <(LC_ALL=C sort "$WORK/before") <(LC_ALL=C sort "$WORK/after")) "$WORK/names")
  [[ -z $missing ]] || fail "The dump lacks $(wc -l <<< "$missing") collections that are in the database; the first is $(head -n 1 <<< "$missing")."
  grep -qx oplog "$WORK/names" || fail "The dump has no list of changes (--oplog), so it is not of one instant."
  DATABASES=$(grep -E '^[^.]+\.' "$WORK/names" | cut -d . -f 1 | grep -vxE 'admin|config|local|dbrender' | LC_ALL=C sort -u || :)
  TABLES=$(grep -E '^[^.]+\.' "$WORK/names" | grep -cvE '^(admin|config|local|dbrender)\.' || :)
}
# shellcheck disable=SC2329 # called by run
read_archive() {
  gzip -dc "$1" | HOME=$WORK mongosh --nodb --norc --quiet --eval "require('$(cd "$SCRIPTS" && pwd)/verify.js').main()" > "$2"
}

# file_entry FILE: file, bytes and sha256 below the backup, as JSON.
file_entry() {
  local sum
  sum=$(sha256sum "$PARTIAL/$1") || fail "Could not read back $PARTIAL/$1."
  printf '"file": "%s", "bytes": %d, "sha256": "%s"' "$1" "$(stat -c %s "$PARTIAL/$1")" "${sum%% *}"
}

write_manifest() {
  local name list=''
  BYTES=$(find "$PARTIAL" -type f -printf '%s\n' | awk '{ n += $1 } END { printf "%d", n }')
  while IFS= read -r name; do [[ -z $name ]] || list+=${list:+, }$(json_text "$name"); done <<< "$DATABASES"
  {
    printf '{\n  "format": 1,\n  "engine": "mongodb",\n  "id": "%s",\n' "$ID"
    printf '  "namespace": %s,\n  "name": %s,\n  "version": %s,\n' "$(json_text "$NAMESPACE")" "$(json_text "$DB_NAME")" "$(json_text "$VERSION")"
    printf '  "serverVersion": "%s",\n  "clientVersion": "%s",\n  "featureCompatibilityVersion": "%s",\n' "$SERVER_VERSION" "$CLIENT_VERSION" "$COMPATIBILITY"
    printf '  "database": %s,\n  "username": %s,\n' "$(json_text "$APP_DATABASE")" "$(json_text "$APP_USERNAME")"
    printf '  "startedAt": "%s",\n  "finishedAt": "%s",\n' "$STARTED" "$(date -u +%Y-%m-%dT%H:%M:%SZ)"
    printf '  "tables": %d,\n  "bytes": %d,\n  "names": [%s],\n' "$TABLES" "$BYTES" "$list"
    printf '  "databases": [\n    {%s}\n  ]\n}\n' "$(file_entry "$ARCHIVE")"
  } > "$PARTIAL/manifest.json" || fail "Could not write the manifest: $(df -P "$BACKUPS" | tail -n 1)"
  (cd "$PARTIAL" && sha256sum manifest.json "$ARCHIVE" > SHA256SUMS) || fail "Could not write the checksums: $(df -P "$BACKUPS" | tail -n 1)"
}

# Everything reaches the disk before the name says that it is whole.
publish() {
  verify_sums "$PARTIAL" || fail "The backup does not read back as it was written: $problem."
  sync "$PARTIAL"/* "$PARTIAL" || fail "The backup could not be written to disk: $(df -P "$BACKUPS" | tail -n 1)"
  mv -T "$PARTIAL" "$BASE/$ID" || fail "Could not rename $PARTIAL to $BASE/$ID."
  PARTIAL=
  sync "$BASE"
}

# Keeps the newest RETENTION backups that are whole, never removes the one just made, and never lets backups without a single collection push
# out the last one that has some: an emptied server is exactly the day on which the old backups are needed.
prune() {
  local id kept=0 keep_tables=$TABLES tables doomed=()
  while read -r id; do
    [[ $id != "$ID" ]] || continue
    if ! looks_complete "$BASE/$id"; then
      say "warning: backup $id is damaged ($problem); it does not count and stays where it is"
      continue
    fi
    tables=$(manifest_value "$BASE/$id/manifest.json" tables)
    kept=$((kept + 1))
    if ((kept < RETENTION)); then
      ((keep_tables > 0)) || keep_tables=$tables
    elif ((keep_tables == 0 && tables > 0)); then
      say "keeping $id: it is the newest backup that holds collections"
      keep_tables=$tables
    else
      doomed=("$id" "${doomed[@]}")
    fi
  done < <(list_ids "$BASE" | sort -r)
  for id in "${doomed[@]}"; do remove "$id" || say "warning: backup $id could not be removed"; done
}

# A restore that reads a backup holds a shared lock on its list; then it stays for another day.
remove() {
  if command -v flock > /dev/null; then
    exec 8<> "$BASE/$1/SHA256SUMS" || return 1
    if ! flock -n 8; then
      exec 8>&-
      say "backup $1 is being read; it stays until the next run"
      return 0
    fi
  fi
  # First out of its name, so that a removal that dies half-way leaves no half backup.
  mv -T "$BASE/$1" "$BASE/.partial-$1" && rm -rf "$BASE/.partial-$1" || return 1
  say "pruned $1"
}

main() {
  local sum result
  ARCHIVE=dump.archive.gz
  begin
  values
  lock
  connect
  refuse_unrestored
  sweep
  choose_id
  dump_all
  write_manifest
  publish
  sum=$(sha256sum "$BASE/$ID/SHA256SUMS")
  result=$(printf '{"id": "%s", "version": "%s", "featureCompatibilityVersion": "%s", "bytes": %d, "sha256": "%s", "databases": %d, "seconds": %d}' \
    "$ID" "$SERVER_VERSION" "$COMPATIBILITY" "$BYTES" "${sum%% *}" "$(grep -c . <<< "$DATABASES" || :)" "$SECONDS")
  if [[ $DESTINATION == volume ]]; then prune; else printf '%s\n' "$result" > "$BACKUPS/result.json"; fi
  report "$result"
}

main "$@"
exit
