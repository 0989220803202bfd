#!/bin/sh
# How upload.sh and download.sh speak to the bucket. Sourced after archive.sh; POSIX sh.
#
# rclone gets its remote `dest` from environment variables of a Secret (RCLONE_CONFIG_DEST_*),
# never from an argument. A bucket has no rename: a backup is whole when it has SHA256SUMS,
# which is uploaded last and removed first.

CHILD=

# A bucket that stops answering must not hold a run until its deadline.
flags='--cache-dir /tmp/rclone --retries 3 --low-level-retries 5 --contimeout 15s --timeout 1m'

# shellcheck disable=SC2086 # several flags
clone() {
    rclone --config "" $flags "$@"
}

# try RCLONE-ARGUMENT...: runs rclone, its words to the log and to $WORK/said. In the background, so that
# the shell as process 1 hears SIGTERM while a long transfer runs.
try() {
    try_code=0
    # shellcheck disable=SC2086 # several flags
    rclone --config "" $flags "$@" 2>"$WORK/said" &
    CHILD=$!
    wait "$CHILD" || try_code=$?
    CHILD=
    cat "$WORK/said" >&2
    return "$try_code"
}

# must SENTENCE RCLONE-ARGUMENT...: ends the run with the sentence and rclone's last word when it fails.
must() {
    must_what=$1
    shift
    try "$@" || fail "$must_what: $(cause "$WORK/said")"
}

# listed SENTENCE LSF-ARGUMENT...: must, for a directory that may not be there yet.
listed() {
    listed_what=$1
    shift
    try lsf "$@" || grep -q 'directory not found' "$WORK/said" || fail "$listed_what: $(cause "$WORK/said")"
}

begin() {
    WORK=$(mktemp -d /tmp/bucket.XXXXXX) || fail "Could not make a directory below /tmp."
    trap 'ended $?' EXIT
    trap stopped TERM INT
}

stopped() {
    trap '' TERM INT
    [ -z "$CHILD" ] || kill "$CHILD" 2>/dev/null || :
    fail "Stopped by a signal before it was done; the pod was deleted or ran into its deadline."
}

ended() {
    trap - EXIT
    if [ "$1" -ne 0 ] && [ ! -e "$WORK/reported" ]; then
        report "{\"error\": \"${0##*/} stopped with exit code $1; see the log of this container.\"}"
    fi
    rm -rf "$WORK"
    exit "$1"
}

# Writes the ids in the bucket, oldest first: $WORK/whole those that have their list,
# $WORK/partial the others.
list_bucket() {
    # Beside the backups are base backups and the log, which may be tens of thousands of files.
    must "Could not list the backups in the bucket" \
        lsf -R --files-only --exclude '/base/**' --exclude '/wal/**' "$REMOTE" >"$WORK/files"
    sed -n 's|^\([0-9T]*Z\)/SHA256SUMS$|\1|p' "$WORK/files" | sort >"$WORK/whole"
    sed -n 's|^\([0-9T]*Z\)/.*|\1|p' "$WORK/files" | sort -u >"$WORK/all"
    : >"$WORK/partial"
    while read -r list_id; do
        grep -qx "$list_id" "$WORK/whole" || printf '%s\n' "$list_id" >>"$WORK/partial"
    done <"$WORK/all"
}

# Writes the base backups in the bucket that are whole, oldest first, to $WORK/bases: "FINISHED NAME START STOP" a line,
# and keeps their descriptions in $WORK/described. One is whole when it has its list.
list_bases() {
    mkdir -p "$WORK/described"
    listed "Could not list the base backups in the bucket" -R --files-only --include '/*/SHA256SUMS' "$REMOTE/base" >"$WORK/lists"
    sed -n 's|^\([0-9T]*Z-[0-9]*\)/SHA256SUMS$|\1|p' "$WORK/lists" | sort >"$WORK/whole-bases"
    : >"$WORK/bases"
    [ -s "$WORK/whole-bases" ] || return 0
    must "Could not read the descriptions of the base backups" copy --include '/*/base.json' "$REMOTE/base" "$WORK/described"
    while read -r base_each; do
        base_file=$WORK/described/$base_each/base.json
        base_start=$(manifest_value "$base_file" startWal)
        base_stop=$(manifest_value "$base_file" stopWal)
        base_end=$(manifest_value "$base_file" finishedAt)
        case $base_start$base_stop in
        *[!0-9A-F]* | '') fail "The description of the base backup $base_each in the bucket cannot be read." ;;
        esac
        printf '%s %s %s %s\n' "$base_end" "$base_each" "$base_start" "$base_stop" >>"$WORK/bases.new"
    done <"$WORK/whole-bases"
    sort "$WORK/bases.new" >"$WORK/bases"
    rm -f "$WORK/bases.new"
}
