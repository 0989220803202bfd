#!/bin/bash
# One backup of all databases: dump, verify, rename, prune. BACKUP.md says what is in it.
#
# Runs in the server's own image, so that the client is never older than the server.
# Destination volume: the whole job. Destination s3: the dump alone; upload.sh follows.
set -euo pipefail
export LC_ALL=C
umask 027

SCRIPTS=${BASH_SOURCE[0]%/*}
CONFIG=/etc/dbrender/config
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
  BASE=/backup/$DESTINATION_PATH
  mkdir -p "$BASE" || fail "Could not make $BASE; the backup volume must be writable for uid $(id -u)."
  exec 9> /backup/.lock || fail "Could not open /backup/.lock; the backup volume must be writable for uid $(id -u)."
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
  mkdir -p "$PARTIAL/databases" || fail "Could not make $PARTIAL: $(df -P /backup | tail -n 1)"
}

connect() {
  local deadline=$((SECONDS + WAIT_SECONDS)) client
  login_as backup "$CREDENTIALS/backup-password"
  until SERVER_VERSION=$(ask <<< 'SELECT @@version'); do
    ((SECONDS < deadline)) ||
      fail "Could not log in to $SERVICE:$PORT as backup within $WAIT_SECONDS seconds; is the database up, and does its NetworkPolicy let backup pods in? $(cause "$WORK/said")"
    pause 2
  done
  SERVER_VERSION=${SERVER_VERSION%%-*}
  client=$(mysqldump --no-defaults --version) || fail "mysqldump is not in this image."
  CLIENT_VERSION=$(sed -n 's/.* Ver \([0-9.]*\).*/\1/p' <<< "$client")
  [[ ${CLIENT_VERSION%.*} == "${SERVER_VERSION%.*}" ]] ||
    fail "The server is MySQL $SERVER_VERSION and mysqldump here is $CLIENT_VERSION; the backup must use the server's image." 4
}

# A server that waits for its restore, or is in the middle of it, is empty or half full: its "backup" would push a real one out.
refuse_unrestored() {
  local done=0
  [[ -n $RESTORE_ID ]] || return 0
  if [[ $(ask <<< "SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = 'dbrender' AND table_name = 'restore'") == 1 ]]; then
    done=$(ask <<< "SELECT COUNT(*) FROM dbrender.restore WHERE id = $(text "$RESTORE_ID") AND finished_at IS NOT NULL") || fail_said "Could not read the restore marker"
  fi
  [[ $done != 0 ]] || fail "The restore $RESTORE_ID of this database has not finished; nothing was backed up and nothing was pruned."
}

list_databases() {
  ask <<< "SELECT schema_name FROM information_schema.schemata WHERE schema_name NOT IN ($OWN_DATABASES) ORDER BY schema_name" > "$WORK/databases" ||
    fail_said "Could not list the databases"
  mapfile -t DATABASES < "$WORK/databases"
  local loose
  loose=$(ask <<< "SELECT GROUP_CONCAT(CONCAT(table_schema, '.', table_name) SEPARATOR ', ') FROM information_schema.tables
    WHERE table_type = 'BASE TABLE' AND engine NOT IN ('InnoDB', 'BLACKHOLE', 'MEMORY') AND table_schema NOT IN ($OWN_DATABASES)") || fail_said "Could not list the tables"
  [[ $loose == NULL ]] || say "warning: these tables take no part in transactions, so their rows may be of different instants: $loose"
}

# A file name for a database's name: percent encoding, and no name starts with a dot.
file_name() {
  local name=$1 out='' char i
  for ((i = 0; i < ${#name}; i++)); do
    char=${name:i:1}
    case $char in
      [A-Za-z0-9_-]) out+=$char ;;
      .) if ((i == 0)); then out+=%2E; else out+=.; fi ;;
      *)
        printf -v char '%d' "'$char"
        printf -v char '%%%02X' "$((char & 255))"
        out+=$char
        ;;
    esac
  done
  printf '%s' "$out"
}

# tables_of DATABASE: a line for each table that must be in a dump, as mysqldump begins it.
tables_of() {
  ask --raw <<< "SELECT CONCAT('CREATE TABLE \`', REPLACE(table_name, '\`', '\`\`'), '\` (') FROM information_schema.tables
    WHERE table_schema = $(text "$1") AND table_type = 'BASE TABLE'" | LC_ALL=C sort
}

# dump_to NAME FILE FIRST: FIRST is the dump's first statement. mysqldump says some errors on stderr and ends with 0, so any word there
# is one.
# shellcheck disable=SC2329 # called by run
dump_to() {
  { printf '%s\n' "$3"; dump "$1"; } | zstd --quiet -3 -o "$2"
}
# shellcheck disable=SC2329 # called by dump_to
dump() {
  mysqldump --defaults-file="$LOGIN" --single-transaction --quick --routines --events --triggers --no-tablespaces --hex-blob \
    --set-gtid-purged=OFF --default-character-set=utf8mb4 --skip-dump-date -- "$1"
}
dump_database() {
  local name=$1 file=$PARTIAL/databases/$2.sql.zst before after first
  # What its new tables get. Without a name, so that it can be loaded under another one.
  first=$(ask <<< "SELECT CONCAT('ALTER DATABASE CHARACTER SET ', default_character_set_name, ' COLLATE ', default_collation_name, ';')
    FROM information_schema.schemata WHERE schema_name = $(text "$name")") || fail_said "Could not read the character set of $name"
  before=$(tables_of "$name") || fail_said "Could not list the tables of $name"
  say "dumping $name"
  run dump_to "$name" "$file" "$first" || fail_said "The dump of $name failed"
  [[ ! -s $WORK/said ]] || fail_said "The dump of $name is not whole"
  after=$(tables_of "$name") || fail_said "Could not list the tables of $name"
  verify_dump "$name" "$file" "$before" "$after"
}

# The exit code is one witness. These are the others: the file can be read to its last byte, it ends with the line that mysqldump writes
# last, and every table that was there before and after the dump is in it.
verify_dump() {
  local missing last
  run zstd --quiet --test "$2" || fail_said "The dump of $1 cannot be read to its end"
  last=$(zstd --quiet -dc "$2" | tail -n 1)
  [[ $last == '-- Dump completed'* ]] || fail "The dump of $1 is cut short."
  zstd --quiet -dc "$2" | { grep -a '^CREATE TABLE `' || :; } | LC_ALL=C sort > "$WORK/dumped"
  missing=$(comm -23 <(comm -12 <(printf '%s\n' "$3") <(printf '%s\n' "$4") | sed '/^$/d') "$WORK/dumped" | wc -l)
  ((missing == 0)) || fail "The dump of $1 lacks $missing tables that are in the database."
  TABLES=$(wc -l < "$WORK/dumped")
}

# Users of others and what they may do. No passwords: they come back locked.
dump_users() {
  local user host
  : > "$WORK/users.sql"
  ask <<< "SELECT user, host FROM mysql.user WHERE user NOT IN ($(own_users)) ORDER BY user, host" > "$WORK/users" || fail_said "Could not list the users"
  # All users before any right: a role is a user, and a right names it.
  while IFS=$'\t' read -r user host; do
    printf 'CREATE USER IF NOT EXISTS %s@%s ACCOUNT LOCK;\n' "$(text "$user")" "$(text "$host")"
  done < "$WORK/users" >> "$WORK/users.sql"
  while IFS=$'\t' read -r user host; do
    ask --raw <<< "SHOW GRANTS FOR $(text "$user")@$(text "$host")" | sed 's/$/;/' >> "$WORK/users.sql" || fail_said "Could not read what $user may do"
  done < "$WORK/users"
  echo '-- Users completed' >> "$WORK/users.sql"
  cp "$WORK/users.sql" "$PARTIAL/globals.sql" || fail "Could not write the users: $(df -P /backup | tail -n 1)"
}

# file_entry FILE: file, bytes and sha256 below the backup, as JSON.
file_entry() {
  local sum
  sum=$(sha256sum "$PARTIAL/$1") || fail "Could not read back $PARTIAL/$1."
  printf '"file": "%s", "bytes": %d, "sha256": "%s"' "$1" "$(stat -c %s "$PARTIAL/$1")" "${sum%% *}"
}

dump_all() {
  local name file entry there
  dump_users
  : > "$WORK/entries"
  DUMPED=0 ALL_TABLES=0
  for name in "${DATABASES[@]}"; do
    there=$(ask <<< "SELECT COUNT(*) FROM information_schema.schemata WHERE schema_name = $(text "$name")") || fail_said "Could not look for database $name"
    if [[ $there == 0 ]]; then
      say "database $name was dropped since this run began"
      continue
    fi
    DUMPED=$((DUMPED + 1))
    file=$(file_name "$name")
    dump_database "$name" "$file"
    ALL_TABLES=$((ALL_TABLES + TABLES))
    entry=$(file_entry "databases/$file.sql.zst")
    printf '    {%s, "tables": %d, "name": %s},\n' "$entry" "$TABLES" "$(json_text "$name")" >> "$WORK/entries"
  done
  ((DUMPED > 0)) || fail "The server lists no database at all; that cannot be right."
}

write_manifest() {
  BYTES=$(find "$PARTIAL" -type f -printf '%s\n' | awk '{ n += $1 } END { printf "%d", n }')
  {
    printf '{\n  "format": 1,\n  "engine": "mysql",\n  "id": "%s",\n' "$ID"
    printf '  "namespace": %s,\n  "name": %s,\n  "version": %s,\n' "$(json_text "$NAMESPACE")" "$(json_text "$DB_NAME")" "$(json_text "$VERSION")"
    printf '  "serverVersion": "%s",\n  "clientVersion": "%s",\n  "compression": "zstd:3",\n' "$SERVER_VERSION" "$CLIENT_VERSION"
    printf '  "database": %s,\n  "username": %s,\n' "$(json_text "$APP_DATABASE")" "$(json_text "$APP_USERNAME")"
    printf '  "startedAt": "%s",\n  "finishedAt": "%s",\n' "$STARTED" "$(date -u +%Y-%m-%dT%H:%M:%SZ)"
    printf '  "tables": %d,\n  "bytes": %d,\n' "$ALL_TABLES" "$BYTES"
    printf '  "globals": [\n    {%s}\n  ],\n  "databases": [\n%s\n  ]\n}\n' "$(file_entry globals.sql)" "$(sed '$ s/,$//' "$WORK/entries")"
  } > "$PARTIAL/manifest.json" || fail "Could not write the manifest: $(df -P /backup | tail -n 1)"
  (cd "$PARTIAL" && sha256sum manifest.json globals.sql databases/*.sql.zst > SHA256SUMS) || fail "Could not write the checksums: $(df -P /backup | tail -n 1)"
}

# Everything reaches the disk before the name says that it is whole.
publish() {
  verify_sums "$PARTIAL" || fail "The backup does not read back as it was written: $problem."
  sync "$PARTIAL"/* "$PARTIAL"/databases/* "$PARTIAL" || fail "The backup could not be written to disk: $(df -P /backup | tail -n 1)"
  mv -T "$PARTIAL" "$BASE/$ID" || fail "Could not rename $PARTIAL to $BASE/$ID."
  PARTIAL=
  sync "$BASE"
}

# Keeps the newest RETENTION backups that are whole, never removes the one just made, and never lets backups without a single table push
# out the last one that has some: an emptied server is exactly the day on which the old backups are needed.
prune() {
  local id kept=0 keep_tables=$ALL_TABLES tables doomed=()
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
      say "keeping $id: it is the newest backup that holds tables"
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
  begin
  values
  lock
  connect
  list_databases
  refuse_unrestored
  sweep
  choose_id
  dump_all
  write_manifest
  publish
  sum=$(sha256sum "$BASE/$ID/SHA256SUMS")
  result=$(printf '{"id": "%s", "version": "%s", "bytes": %d, "sha256": "%s", "databases": %d, "seconds": %d}' \
    "$ID" "$SERVER_VERSION" "$BYTES" "${sum%% *}" "$DUMPED" "$SECONDS")
  if [[ $DESTINATION == volume ]]; then prune; else printf '%s\n' "$result" > /backup/result.json; fi
  report "$result"
}

main "$@"
exit
