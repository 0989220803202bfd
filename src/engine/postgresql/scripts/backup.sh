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

read_values() {
    local file name
    for file in facts backup; do
        [[ -r $CONFIG/$file ]] || fail "The key $file is missing in the mounted ConfigMap ($CONFIG)."
        # shellcheck source=/dev/null
        . "$CONFIG/$file"
    done
    for name in DB_NAME NAMESPACE MAJOR VERSION APP_DATABASE APP_USERNAME PORT SERVICE \
        RETENTION DESTINATION DESTINATION_PATH; do
        [[ -n ${!name:-} ]] || fail "The value $name is missing in the mounted ConfigMap ($CONFIG)."
    done
    [[ $RETENTION =~ ^[1-9][0-9]{0,5}$ ]] ||
        fail "RETENTION is '$RETENTION', but it is a number of backups and at least 1." 4
    [[ $DESTINATION == volume || $DESTINATION == s3 ]] ||
        fail "DESTINATION is '$DESTINATION'; it is volume or s3." 4
    : "${RESTORE_ID:=}" "${WAIT_SECONDS:=300}"
}

# One run at a time on a volume. The kernel lets the lock go with its last holder, so a run
# that was killed leaves nothing to clean up, and a dump that outlives its script keeps it.
lock() {
    BASE=/backup/$DESTINATION_PATH
    mkdir -p "$BASE" || fail "Could not make $BASE; the backup volume must be writable for uid $(id -u)."
    exec 9>"/backup/.lock" || fail "Could not open /backup/.lock; the backup volume must be writable for uid $(id -u)."
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
        sleep 1
        ID=$(date -u +%Y%m%dT%H%M%SZ)
    done
    newest=$(list_ids "$BASE" | tail -n 1)
    if [[ $newest > $ID ]]; then
        say "warning: backup $newest is newer than the clock ($ID); the clock of a node was or is wrong"
    fi
    STARTED=$(date -u +%Y-%m-%dT%H:%M:%SZ)
    PARTIAL=$BASE/.partial-$ID
    mkdir -p "$PARTIAL/databases" || fail "Could not make $PARTIAL: $(df -P /backup | tail -n 1)"
}

connect() {
    connect_as backup "$CREDENTIALS/backup-password"
    # A backup only reads; whatever it would write is a mistake of ours.
    export PGOPTIONS='-c default_transaction_read_only=on -c statement_timeout=0'
    local deadline=$((SECONDS + WAIT_SECONDS))
    await_server "$deadline" ||
        fail "The server $SERVICE:$PORT did not answer within $WAIT_SECONDS seconds; is the database up, and does its NetworkPolicy let backup pods in? $(cause "$WORK/said")"
    # pg_isready knows nothing of roles and passwords, so only a real session counts.
    until SERVER_NUMBER=$(ask postgres <<<"show server_version_num"); do
        ((SECONDS < deadline)) || fail "Could not log in to $SERVICE:$PORT as backup: $(cause "$WORK/said")"
        pause 2
    done
    SERVER_VERSION=$(ask postgres <<<"select split_part(current_setting('server_version'), ' ', 1)")
    local client
    client=$(pg_dump --version) || fail "pg_dump is not in this image."
    client=${client#*) }
    CLIENT_VERSION=${client%% *}
    ((${CLIENT_VERSION%%[!0-9]*} >= SERVER_NUMBER / 10000)) ||
        fail "The server is PostgreSQL $SERVER_VERSION and pg_dump here is $CLIENT_VERSION, which cannot dump a newer server; the backup must use the server's image." 4
}

# A server that waits for its restore, or is in the middle of it, is empty or half full. Its
# "backup" would be worthless, and with each run retention would remove one of the real ones.
# A server that holds data before a restore began is not restored, only refused: it is backed up.
refuse_unrestored() {
    local state name
    [[ -n $RESTORE_ID ]] || return 0
    state=$(ask postgres <<<"select to_regclass('dbrender.restore') is not null") || fail_said "Could not look for the restore marker"
    if [[ $state == t ]]; then
        state=$(ask postgres -v id="$RESTORE_ID" \
            <<<"select exists (select from dbrender.restore where id = :'id' and finished_at is not null)") ||
            fail_said "Could not read the restore marker"
    fi
    [[ $state != t ]] || return 0
    state=$(ask postgres <<<"select to_regclass('dbrender.restore_progress') is not null") || fail_said "Could not look for a restore"
    if [[ $state == f ]]; then
        for name in "${DATABASES[@]}"; do
            state=$(tables_of "$name") || fail_said "Could not list the tables of $name"
            if [[ -n $state ]]; then
                say "warning: the restore $RESTORE_ID is asked for, but this server holds data of its own"
                return 0
            fi
        done
    fi
    fail "The restore $RESTORE_ID of this database has not finished; nothing was backed up and nothing was pruned."
}

fail_said() {
    fail "$1: $(cause "$WORK/said")"
}

list_databases() {
    local closed
    closed=$(ask postgres <<<"select count(*) from pg_database where not datistemplate and not datallowconn and datconnlimit <> -2") ||
        fail_said "Could not list the databases"
    if [[ $closed != 0 ]]; then
        closed=$(ask postgres <<<"select string_agg(quote_ident(datname), ', ') from pg_database where not datistemplate and not datallowconn and datconnlimit <> -2")
        # A backup that leaves out a database would push complete ones out of retention.
        fail "These databases do not allow connections and cannot be dumped: $closed. Allow them (ALTER DATABASE ... ALLOW_CONNECTIONS true) or drop them." 4
    fi
    # -2 marks what an interrupted DROP DATABASE left; it can only be dropped again. The prefix
    # is that of a restore, which may have left an empty database in its very last moment.
    ask postgres -0 >"$WORK/databases" <<'SQL' ||
select datname from pg_database
where not datistemplate and datallowconn and datconnlimit <> -2 and not starts_with(datname, 'dbrender-restore-')
order by datname collate "C"
SQL
        fail_said "Could not list the databases"
    mapfile -d '' -t DATABASES <"$WORK/databases"
    ((${#DATABASES[@]} > 0)) || fail "The server lists no database at all; that cannot be right."
}

# A file name for a database's name, which may hold any byte but zero: percent encoding, and
# no name starts with a dot.
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

# The tables whose rows must be in a dump: ordinary ones that no extension owns.
tables_of() {
    ask "$1" <<'SQL'
select c.oid from pg_class c join pg_namespace n on n.oid = c.relnamespace
where c.relkind = 'r' and c.relpersistence <> 't'
  and n.nspname !~ '^pg_' and n.nspname <> 'information_schema'
  and not (n.nspname = 'dbrender' and current_database() = 'postgres')
  and not exists (select from pg_depend d
    where d.classid = 'pg_class'::regclass and d.objid = c.oid and d.deptype = 'e')
order by c.oid::text collate "C"
SQL
}

large_objects_of() {
    ask "$1" <<<"select count(*) from (select from pg_largeobject_metadata limit 1) as one"
}

# zstd where client and library have it (16 and later): smaller and several times faster.
choose_compression() {
    COMPRESS=6
    if pg_dump --schema-only --exclude-schema='*' -Fc --compress=zstd:3 --no-sync -w \
        -d "$(database postgres)" -f /dev/null >/dev/null 2>&1; then
        COMPRESS=zstd:3
    fi
}

dump_database() {
    local name=$1 file=$PARTIAL/databases/$2.dump
    local before after large options=()
    # Ours, not the user's: the marker of a restore belongs to one server.
    [[ $name != postgres ]] || options=(--exclude-schema=dbrender)
    before=$(tables_of "$name") || fail_said "Could not list the tables of $name (does the role backup have CONNECT on it?)"
    large=$(large_objects_of "$name") || fail_said "Could not list the large objects of $name"
    say "dumping $name"
    # --quote-all-identifiers: a newer major may have made a keyword of a name.
    run pg_dump -Fc --compress="$COMPRESS" --quote-all-identifiers --lock-wait-timeout=600s -w \
        "${options[@]}" -d "$(database "$name")" -f "$file" || fail_said "pg_dump of $name failed"
    after=$(tables_of "$name") || fail_said "Could not list the tables of $name"
    verify_dump "$name" "$file" "$before" "$after" "$large"
}

# The exit code of pg_dump is one witness. These are the others: the file has a table of
# contents, it can be read to its last byte (a list alone passes on a dump that was cut short),
# and every table that was there before and after the dump has its rows in it.
verify_dump() {
    local name=$1 file=$2 toc=$WORK/toc missing
    run pg_restore --list -f "$toc" "$file" || fail_said "The dump of $name cannot be read"
    run pg_restore -f /dev/null "$file" || fail_said "The dump of $name cannot be read to its end"
    sed -n 's/^[0-9]*; [0-9]* \([0-9]*\) TABLE DATA .*/\1/p' "$toc" | sort >"$WORK/dumped"
    comm -12 <(printf '%s\n' "$3" | sort) <(printf '%s\n' "$4" | sort) | sed '/^$/d' >"$WORK/expected"
    missing=$(comm -23 "$WORK/expected" "$WORK/dumped" | wc -l)
    ((missing == 0)) || fail "The dump of $name lacks the rows of $missing tables that are in the database."
    # Before 17 the data of all large objects is one entry, later one for each group.
    if [[ $5 != 0 ]] && ! grep -q '^[0-9]*; [0-9]* [0-9]* BLOBS ' "$toc"; then
        fail "The dump of $name lacks the large objects that are in the database."
    fi
    TABLES=$(wc -l <"$WORK/dumped")
}

# Roles, memberships and settings. No passwords: only a superuser may read them, and a backup
# that holds them is one more place from which they leak.
dump_globals() {
    run pg_dumpall --globals-only --no-role-passwords --no-tablespaces --quote-all-identifiers -w \
        -l postgres -f "$PARTIAL/globals.sql" || fail_said "pg_dumpall of the roles failed"
    if ! grep -q '^CREATE ROLE "backup";$' "$PARTIAL/globals.sql" ||
        ! grep -q '^-- PostgreSQL database cluster dump complete$' "$PARTIAL/globals.sql"; then
        fail "The list of roles is cut short."
    fi
}

# "<json fragment>": file, bytes and sha256 of FILE below the backup.
file_entry() {
    local sum
    sum=$(sha256sum "$PARTIAL/$1") || fail "Could not read back $PARTIAL/$1."
    printf '"file": "%s", "bytes": %d, "sha256": "%s"' "$1" "$(stat -c %s "$PARTIAL/$1")" "${sum%% *}"
}

dump_all() {
    local name file entry there total=0
    choose_compression
    dump_globals
    : >"$WORK/entries"
    DUMPED=0
    for name in "${DATABASES[@]}"; do
        there=$(ask postgres -v name="$name" <<<"select count(*) from pg_database where datname = :'name'") ||
            fail_said "Could not look for database $name"
        if [[ $there == 0 ]]; then
            say "database $name was dropped since this run began"
            continue
        fi
        DUMPED=$((DUMPED + 1))
        file=$(file_name "$name")
        dump_database "$name" "$file"
        total=$((total + TABLES))
        entry=$(file_entry "databases/$file.dump")
        printf '    {%s, "tables": %d, "name": %s},\n' "$entry" "$TABLES" "$(json_text "$name")" >>"$WORK/entries"
    done
    ALL_TABLES=$total
}

write_manifest() {
    local entry bytes
    bytes=$(find "$PARTIAL" -type f -printf '%s\n' | awk '{ n += $1 } END { printf "%d", n }')
    entry=$(file_entry globals.sql)
    {
        printf '{\n  "format": 1,\n  "engine": "postgresql",\n'
        printf '  "id": "%s",\n' "$ID"
        printf '  "namespace": %s,\n  "name": %s,\n' "$(json_text "$NAMESPACE")" "$(json_text "$DB_NAME")"
        printf '  "version": %s,\n' "$(json_text "$VERSION")"
        printf '  "serverVersion": "%s",\n  "serverVersionNum": %d,\n' "$SERVER_VERSION" "$SERVER_NUMBER"
        printf '  "clientVersion": "%s",\n  "compression": "%s",\n' "$CLIENT_VERSION" "$COMPRESS"
        printf '  "database": %s,\n  "username": %s,\n' "$(json_text "$APP_DATABASE")" "$(json_text "$APP_USERNAME")"
        printf '  "startedAt": "%s",\n  "finishedAt": "%s",\n' "$STARTED" "$(date -u +%Y-%m-%dT%H:%M:%SZ)"
        printf '  "tables": %d,\n  "bytes": %d,\n' "$ALL_TABLES" "$bytes"
        printf '  "globals": [\n    {%s}\n  ],\n' "$entry"
        printf '  "databases": [\n%s\n  ]\n}\n' "$(sed '$ s/,$//' "$WORK/entries")"
    } >"$PARTIAL/manifest.json" || fail "Could not write the manifest: $(df -P /backup | tail -n 1)"
    (cd "$PARTIAL" && sha256sum manifest.json globals.sql databases/*.dump >SHA256SUMS) ||
        fail "Could not write the checksums: $(df -P /backup | tail -n 1)"
    BYTES=$bytes
}

# Everything reaches the disk before the name says that it is whole.
publish() {
    verify_sums "$PARTIAL" || fail "The backup does not read back as it was written: $problem."
    sync "$PARTIAL"/* "$PARTIAL"/databases/* "$PARTIAL" ||
        fail "The backup could not be written to disk: $(df -P /backup | tail -n 1)"
    mv -T "$PARTIAL" "$BASE/$ID" || fail "Could not rename $PARTIAL to $BASE/$ID."
    PARTIAL=
    sync "$BASE"
}

# Keeps the newest RETENTION backups that are whole, never removes the one just made, and
# never lets backups without a single table push out the last one that has some: an emptied
# server is exactly the day on which the old backups are needed.
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
    for id in "${doomed[@]}"; do
        remove "$id" || say "warning: backup $id could not be removed"
    done
}

# A restore that reads a backup holds a shared lock on its list; then it stays for another day.
remove() {
    local list=$BASE/$1/SHA256SUMS
    exec 8<>"$list" || return 1
    if ! flock -n 8; then
        exec 8>&-
        say "backup $1 is being read; it stays until the next run"
        return 0
    fi
    # First out of its name, so that a removal that dies half-way leaves no half backup.
    mv -T "$BASE/$1" "$BASE/.partial-$1" && rm -rf "$BASE/.partial-$1" || return 1
    exec 8>&-
    say "pruned $1"
}

main() {
    begin
    read_values
    lock
    connect
    list_databases
    refuse_unrestored
    sweep
    choose_id
    dump_all
    write_manifest
    publish
    local sum result
    sum=$(sha256sum "$BASE/$ID/SHA256SUMS")
    result=$(printf '{"id": "%s", "version": "%s", "bytes": %d, "sha256": "%s", "databases": %d, "seconds": %d}' \
        "$ID" "$SERVER_VERSION" "$BYTES" "${sum%% *}" "$DUMPED" "$SECONDS")
    if [[ $DESTINATION == volume ]]; then
        prune
    else
        # upload.sh repeats it once the bucket has everything.
        printf '%s\n' "$result" >/backup/result.json
    fi
    report "$result"
}

main "$@"
exit
