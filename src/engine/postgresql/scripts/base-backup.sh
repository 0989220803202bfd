#!/bin/bash
# One base backup of the whole server, from which the log in the bucket goes on to any moment: copy, verify, pack. Container `base` of the
# backup's pod, between backup.sh and upload.sh, where spec.backup.walArchive is on.
#
#   /backup/base/base.tar.gz   the data directory, with the log that it needs to be consistent
#   /backup/base/base.json     what fetch.sh and upload.sh have to know of it
#   /backup/base/SHA256SUMS
set -euo pipefail
export LC_ALL=C
umask 027

SCRIPTS=${BASH_SOURCE[0]%/*}
CONFIG=/etc/dbrender/config
# shellcheck source-path=SCRIPTDIR source=archive.sh
. "$SCRIPTS/archive.sh"
# shellcheck source-path=SCRIPTDIR source=connection.sh
. "$SCRIPTS/connection.sh"

fail_said() {
    fail "$1: $(cause "$WORK/said")"
}

read_values() {
    local file
    for file in facts backup; do
        [[ -r $CONFIG/$file ]] || fail "The key $file is missing in the mounted ConfigMap ($CONFIG)."
        # shellcheck source=/dev/null
        . "$CONFIG/$file"
    done
    : "${WAIT_SECONDS:=300}"
    ID=$(list_ids "/backup/$DESTINATION_PATH" | tail -n 1)
    [[ -n $ID ]] || fail "There is no dump in /backup/$DESTINATION_PATH for the base backup to go with."
}

# The moment, by the server's clock: the target of a recovery is compared with the times that the server wrote into its log.
server_time() {
    ask postgres <<<"select to_char(clock_timestamp() at time zone 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.US\"Z\"')"
}

copy() {
    connect_as backup "$CREDENTIALS/backup-password"
    await_server $((SECONDS + WAIT_SECONDS)) || fail "The server $SERVICE:$PORT did not answer within $WAIT_SECONDS seconds: $(cause "$WORK/said")"
    # Without the log after it nobody could go on from the copy.
    [[ $(ask postgres <<<'show archive_mode') == always ]] ||
        fail "The server does not archive its log yet: it has to be restarted with the settings of spec.backup.walArchive first."
    connect_as replication "$CREDENTIALS/replication-password"
    PARTIAL=/backup/base/data
    rm -rf /backup/base/*
    say 'copying the data directory'
    run pg_basebackup --pgdata="$PARTIAL" --format=plain --wal-method=stream --checkpoint=fast --no-password \
        --manifest-checksums=SHA256 --label="dbrender $ID" || fail_said 'pg_basebackup failed'
    # As backup, whom the server lets in for a question.
    connect_as backup "$CREDENTIALS/backup-password"
    FINISHED=$(server_time) || fail_said 'Could not ask the server for its time'
}

control() { pg_controldata -D "$PARTIAL" | sed -n "s/^$1: *//p"; }

# The segment in which the copy becomes consistent; what comes after it is asked of the bucket.
stop_segment() {
    local range=$1 timeline end size segment
    [[ $range =~ \"Timeline\":\ *([0-9]+),.*\"End-LSN\":\ *\"([0-9A-F]+)/([0-9A-F]+)\" ]] || return 1
    timeline=${BASH_REMATCH[1]} end=$((0x${BASH_REMATCH[2]} << 32 | 0x${BASH_REMATCH[3]}))
    size=$(control 'Bytes per WAL segment')
    segment=$(((end - 1) / size))
    printf '%08X%08X%08X' "$timeline" $((segment / (0x100000000 / size))) $((segment % (0x100000000 / size)))
}

# shellcheck disable=SC2329 # by `run`
packed() { tar -C "$PARTIAL" -c . | gzip -1 -n >/backup/base/base.tar.gz; }

pack() {
    local start stop system bytes
    run pg_verifybackup --quiet "$PARTIAL" || fail_said 'The copy is not what the server sent'
    start=$(sed -n 's/^START WAL LOCATION: .* (file \([0-9A-F]\{24\}\))$/\1/p' "$PARTIAL/backup_label")
    stop=$(stop_segment "$(sed -n '/"WAL-Ranges"/,$p' "$PARTIAL/backup_manifest" | tr -d '\n' | sed 's/.*{\("Timeline"\)/\1/')") ||
        fail 'The manifest of the copy does not say where its log ends.'
    system=$(control 'Database system identifier')
    [[ -n $start && -n $system ]] || fail 'The copy does not say where its log begins.'
    bytes=$(du -sb "$PARTIAL" | cut -f 1)
    say 'packing it'
    run packed || fail_said 'Could not pack the copy'
    rm -rf "$PARTIAL"
    PARTIAL=
    printf '{\n  "format": 1,\n  "engine": "postgresql",\n  "id": "%s",\n  "system": "%s",\n  "version": "%s",\n  "major": "%s",\n  "database": %s,\n  "username": %s,\n  "segmentBytes": %d,\n  "startWal": "%s",\n  "stopWal": "%s",\n  "finishedAt": "%s",\n  "bytes": %d\n}\n' \
        "$ID" "$system" "$VERSION" "$MAJOR" "$(json_text "$APP_DATABASE")" "$(json_text "$APP_USERNAME")" "$SEGMENT_BYTES" "$start" "$stop" "$FINISHED" "$bytes" \
        >/backup/base/base.json || fail "Could not write the description: $(df -P /backup/base | tail -n 1)"
    (cd /backup/base && sha256sum base.json base.tar.gz >SHA256SUMS && gzip -t base.tar.gz) || fail 'The packed copy does not read back.'
    say "base backup $ID of $system: $bytes bytes, log from $start to $stop, finished at $FINISHED"
}

main() {
    begin
    read_values
    copy
    SEGMENT_BYTES=$(control 'Bytes per WAL segment')
    pack
}

main "$@"
exit
