#!/bin/sh
# Fetches one backup from the bucket into /backup for restore.sh, and reads it back.
#
# Runs in the rclone image (busybox sh): POSIX sh only. See upload.sh for the layout.
set -eu
export LC_ALL=C
umask 027

SCRIPTS=${0%/*}
CONFIG=/etc/dbrender/config
# shellcheck source-path=SCRIPTDIR source=archive.sh
. "$SCRIPTS/archive.sh"
# shellcheck source-path=SCRIPTDIR source=bucket.sh
. "$SCRIPTS/bucket.sh"

read_values() {
    [ -r "$CONFIG/restore" ] || fail "The key restore is missing in the mounted ConfigMap ($CONFIG)."
    # shellcheck source=/dev/null
    . "$CONFIG/restore"
    : "${BACKUP:=}" "${SOURCE_PATH:=}" "${REMOTE:=}"
    if [ -z "$BACKUP" ] || [ -z "$SOURCE_PATH" ] || [ -z "$REMOTE" ]; then
        fail "One of BACKUP, SOURCE_PATH and REMOTE is missing in the mounted ConfigMap ($CONFIG)."
    fi
    BASE=/backup/$SOURCE_PATH
}

pick() {
    list_bucket
    newest=$(tail -n 1 "$WORK/whole")
    [ -n "$newest" ] || fail "The bucket holds no finished backup below $REMOTE." 4
    if [ "$BACKUP" = latest ]; then
        ID=$newest
        unfinished=$(tail -n 1 "$WORK/partial")
        [ -z "$unfinished" ] || say "ignoring $unfinished, whose upload did not finish"
        return
    fi
    ID=$BACKUP
    grep -qxF -e "$ID" "$WORK/whole" ||
        fail "The bucket holds no finished backup $ID below $REMOTE; the newest is $newest." 4
}

main() {
    begin
    read_values
    pick
    rm -rf "${BASE:?}/$ID"
    mkdir -p "$BASE/$ID" || fail "Could not make $BASE/$ID."
    must "Could not fetch backup $ID" copy "$REMOTE/$ID" "$BASE/$ID"
    verify_sums "$BASE/$ID" || fail "$(damaged_sentence "$ID" "$problem" <"$WORK/whole")" 4
    say "fetched backup $ID"
}

main "$@"
exit
