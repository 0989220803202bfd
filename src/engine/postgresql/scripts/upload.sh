#!/bin/sh
# Copies the backup that backup.sh left in /backup to the bucket, checks it there, prunes.
#
# Runs in the rclone image (busybox sh): POSIX sh only. rclone gets its remote `dest` from
# environment variables of a Secret (RCLONE_CONFIG_DEST_*), never from an argument.
#
# A bucket has no rename, so SHA256SUMS goes last: what lacks it is not a backup.
set -eu
export LC_ALL=C
umask 027

SCRIPTS=${0%/*}
CONFIG=/etc/dbrender/config
# shellcheck source-path=SCRIPTDIR source=archive.sh
. "$SCRIPTS/archive.sh"
# shellcheck source-path=SCRIPTDIR source=bucket.sh
. "$SCRIPTS/bucket.sh"

# What died half-way in the bucket goes after this many seconds; no run lasts longer.
STALE=172800

read_values() {
    for read_file in facts backup; do
        [ -r "$CONFIG/$read_file" ] || fail "The key $read_file is missing in the mounted ConfigMap ($CONFIG)."
        # shellcheck source=/dev/null
        . "$CONFIG/$read_file"
    done
    : "${RETENTION:=}" "${DESTINATION_PATH:=}" "${REMOTE:=}"
    [ -n "$RETENTION" ] && [ -n "$DESTINATION_PATH" ] && [ -n "$REMOTE" ] ||
        fail "One of RETENTION, DESTINATION_PATH and REMOTE is missing in the mounted ConfigMap ($CONFIG)."
    case $RETENTION in
    0* | *[!0-9]*) fail "RETENTION is '$RETENTION', but it is a number of backups and at least 1." 4 ;;
    esac
    BASE=/backup/$DESTINATION_PATH
}

tables_in() {
    clone cat "$REMOTE/$1/manifest.json" >"$WORK/manifest.json" 2>>"$WORK/said" || return 1
    manifest_value "$WORK/manifest.json" tables
}

# is_stale ID: no run that began then is at work any more
is_stale() {
    stale=$(date -u -d "@$(($(date +%s) - STALE))" +%Y%m%dT%H%M%SZ)
    [ "$(printf '%s\n%s\n' "$1" "$stale" | sort | head -n 1)" = "$1" ]
}

# The rules of `prune` in backup.sh: newest RETENTION whole ones, never the one just made, and
# never the last one that holds tables because of newer ones that hold none.
prune() {
    list_bucket
    kept=0
    keep_tables=$(manifest_value "$BASE/$ID/manifest.json" tables)
    : >"$WORK/doomed"
    sort -r "$WORK/whole" >"$WORK/newest"
    while read -r prune_id; do
        [ "$prune_id" != "$ID" ] || continue
        kept=$((kept + 1))
        # Only a backup without tables makes the others' contents a question.
        if [ "$keep_tables" -eq 0 ]; then
            prune_tables=$(tables_in "$prune_id") || prune_tables=
            if [ "${prune_tables:-1}" -gt 0 ]; then
                say "keeping $prune_id: it is the newest backup that holds tables"
                keep_tables=${prune_tables:-1}
                continue
            fi
        fi
        [ "$kept" -lt "$RETENTION" ] || printf '%s\n' "$prune_id" >>"$WORK/doomed"
    done <"$WORK/newest"
    sort "$WORK/doomed" >"$WORK/oldest"
    while read -r prune_id; do
        # First its list: a removal that dies half-way leaves no backup that looks whole.
        clone deletefile "$REMOTE/$prune_id/SHA256SUMS" && clone purge "$REMOTE/$prune_id" || return 1
        say "pruned $prune_id"
    done <"$WORK/oldest"
    while read -r prune_id; do
        if is_stale "$prune_id"; then
            clone purge "$REMOTE/$prune_id" || return 1
            say "removed $prune_id, which never got whole"
        fi
    done <"$WORK/partial"
}

# upload_base: what base-backup.sh left, as REMOTE/base/ID-SYSTEM. Its list goes last, as ever.
upload_base() {
    BASE_NAME=$ID-$(manifest_value /backup/base/base.json system)
    (cd /backup/base && sha256sum -c SHA256SUMS >/dev/null 2>&1) || fail "The base backup $ID is damaged before its upload."
    must "Could not upload the base backup $ID" copy --exclude /SHA256SUMS /backup/base "$REMOTE/base/$BASE_NAME"
    must "The bucket does not hold what was uploaded as base backup $ID" \
        check --one-way --exclude /SHA256SUMS /backup/base "$REMOTE/base/$BASE_NAME"
    must "Could not upload the list of base backup $ID" copyto /backup/base/SHA256SUMS "$REMOTE/base/$BASE_NAME/SHA256SUMS"
}

# prune_log: base backups beyond the newest RETENTION, and then the files of the log that are older than all that the kept ones begin with. Only of the
# server that was just backed up: what a former server of this name left is not ours to judge, and is told.
prune_log() {
    list_bases
    prune_system=${BASE_NAME##*-}
    grep -e "-$prune_system " "$WORK/bases" >"$WORK/ours" || :
    grep -v -e "-$prune_system " "$WORK/bases" >"$WORK/former" || :
    [ ! -s "$WORK/former" ] ||
        say "warning: base backups and log of former servers of this name stay in the bucket: $(cut -d ' ' -f 2 "$WORK/former" | tr '\n' ' ')"
    sort -r "$WORK/ours" | awk -v most="$RETENTION" -v newest="$BASE_NAME" 'NR <= most || $2 == newest' >"$WORK/kept-bases"
    sort -r "$WORK/ours" | awk -v most="$RETENTION" -v newest="$BASE_NAME" 'NR > most && $2 != newest { print $2 }' >"$WORK/doomed-bases"
    while read -r prune_id; do
        clone deletefile "$REMOTE/base/$prune_id/SHA256SUMS" && clone purge "$REMOTE/base/$prune_id" || return 1
        say "pruned base backup $prune_id"
    done <"$WORK/doomed-bases"
    clone lsf --dirs-only --dir-slash=false "$REMOTE/base" >"$WORK/some-bases" 2>"$WORK/said" || return 1
    while read -r prune_id; do
        grep -qxF "$prune_id" "$WORK/whole-bases" || ! is_stale "${prune_id%%-*}" || {
            clone purge "$REMOTE/base/$prune_id" || return 1
            say "removed the base backup $prune_id, which never got whole"
        }
    done <"$WORK/some-bases"
    # Names of files are compared without their timeline, as pg_archivecleanup does: what is kept is never less than what is needed.
    prune_first=$(cut -d ' ' -f 3 "$WORK/kept-bases" | cut -c 9-24 | sort | head -n 1)
    [ -n "$prune_first" ] || return 1
    clone lsf -R --files-only "$REMOTE/wal/$prune_system" >"$WORK/log" 2>"$WORK/said" || return 1
    awk -v first="$prune_first" '{ n = $0; sub(/.*\//, "", n) }
        n ~ /^[0-9A-F]+[-.]/ && n !~ /\.history-/ && length(substr(n, 1, match(n, /[-.]/) - 1)) == 24 && substr(n, 9, 16) < first' \
        "$WORK/log" >"$WORK/doomed-log"
    [ -s "$WORK/doomed-log" ] || return 0
    clone delete --files-from-raw "$WORK/doomed-log" "$REMOTE/wal/$prune_system" || return 1
    say "pruned $(wc -l <"$WORK/doomed-log") files of the log before $prune_first"
}

main() {
    begin
    read_values
    ID=$(list_ids "$BASE" | tail -n 1)
    [ -n "$ID" ] || fail "There is no backup in $BASE to upload."
    verify_sums "$BASE/$ID" || fail "The backup $ID is damaged before its upload: $problem."
    # A listing first: what it says about wrong keys or a missing bucket can be understood.
    list_bucket
    must "Could not upload $ID" copy --exclude /SHA256SUMS "$BASE/$ID" "$REMOTE/$ID"
    must "The bucket does not hold what was uploaded as $ID" \
        check --one-way --exclude /SHA256SUMS "$BASE/$ID" "$REMOTE/$ID"
    must "Could not upload the list of $ID" copyto "$BASE/$ID/SHA256SUMS" "$REMOTE/$ID/SHA256SUMS"
    must "The bucket does not hold what was uploaded as $ID" check --one-way "$BASE/$ID" "$REMOTE/$ID"
    [ ! -e /backup/base/SHA256SUMS ] || upload_base
    # The backup is safe from here on. A second dump would not help a bucket that refuses to
    # delete, so a failed pruning is told and does not fail the run.
    if ! (prune); then
        say "warning: old backups could not be removed from the bucket"
        rm -f "$WORK/reported"
    fi
    if [ -e /backup/base/SHA256SUMS ] && ! (prune_log); then
        say "warning: old base backups or old files of the log could not be removed from the bucket"
        rm -f "$WORK/reported"
    fi
    report "$(cat /backup/result.json)"
}

main "$@"
exit
