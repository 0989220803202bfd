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

# must SENTENCE RCLONE-ARGUMENT...: runs rclone, its words to the log, and ends the run with the
# sentence and rclone's last word when it fails. In the background, so that the shell as
# process 1 hears SIGTERM while a long transfer runs.
must() {
    must_what=$1
    shift
    must_code=0
    # shellcheck disable=SC2086 # several flags
    rclone --config "" $flags "$@" 2>"$WORK/said" &
    CHILD=$!
    wait "$CHILD" || must_code=$?
    CHILD=
    cat "$WORK/said" >&2
    [ "$must_code" -eq 0 ] || fail "$must_what: $(cause "$WORK/said")"
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
    must "Could not list the backups in the bucket" lsf -R --files-only "$REMOTE" >"$WORK/files"
    sed -n 's|^\([0-9T]*Z\)/SHA256SUMS$|\1|p' "$WORK/files" | sort >"$WORK/whole"
    sed -n 's|^\([0-9T]*Z\)/.*|\1|p' "$WORK/files" | sort -u >"$WORK/all"
    : >"$WORK/partial"
    while read -r list_id; do
        grep -qx "$list_id" "$WORK/whole" || printf '%s\n' "$list_id" >>"$WORK/partial"
    done <"$WORK/all"
}
