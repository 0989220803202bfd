#!/bin/sh
# Container `archiver`: uploads the files of the write-ahead log that archive-wal.sh hands over, compares them with the bucket, answers.
#
# Runs in the rclone image (busybox sh): POSIX sh only. Beside the server, without its volume and its passwords.
#
#   REMOTE/wal/SYSTEM/FIRST-16-DIGITS/NAME-SHA256.gz      one file of the log; the sum is that of the content
#
# SYSTEM is the identifier of the data directory, so that a new database of an old name never meets the old one's log. The sum in the name
# shows a second file of the same name whatever the store knows of checksums: it is never written over, and never beside it in silence.
set -eu
export LC_ALL=C
umask 027

SCRIPTS=${0%/*}
CONFIG=/etc/dbrender/config
# shellcheck source-path=SCRIPTDIR source=archive.sh
. "$SCRIPTS/archive.sh"
# shellcheck source-path=SCRIPTDIR source=bucket.sh
. "$SCRIPTS/bucket.sh"
# A try is short: the server tries again, and one that stops must not wait long.
flags='--cache-dir /tmp/rclone --retries 1 --low-level-retries 2 --contimeout 10s --timeout 30s'

MEETING=/tmp/wal-archive

# answer TOKEN TEXT
answer() {
    printf '%s %s\n' "$1" "$2" >"$MEETING/answer.new"
    mv "$MEETING/answer.new" "$MEETING/answer"
}

# attempt RCLONE-ARGUMENT...: output to $WORK/out, words to $WORK/said. In the background, so that SIGTERM is heard.
attempt() {
    attempt_code=0
    # shellcheck disable=SC2086 # several flags
    rclone --config "" $flags "$@" >"$WORK/out" 2>"$WORK/said" &
    CHILD=$!
    wait "$CHILD" || attempt_code=$?
    CHILD=
    return "$attempt_code"
}

# there DIRECTORY NAME: lists the files of that name in the bucket into $WORK/there. A directory that is not there is an empty one.
there() {
    : >"$WORK/there"
    if ! attempt lsf --files-only "$1"; then
        grep -q 'directory not found' "$WORK/said" && return 0
        return 1
    fi
    grep -F "$2-" "$WORK/out" | grep -E "^$2-[0-9a-f]{64}\.gz\$" >"$WORK/there" || :
}

# archive ROLE SYSTEM FILE: prints nothing; the answer is in $said.
archive() {
    name=${3%-*}
    # shellcheck source=/dev/null
    . "$CONFIG/backup"
    directory=$REMOTE/wal/$2/$(printf '%.16s' "$name")
    case $name in *.history) directory=$REMOTE/wal/$2/history ;; esac
    if ! there "$directory" "$name"; then
        said="the bucket cannot be read: $(cause "$WORK/said")"
        return
    fi
    if [ "$1" = standby ]; then
        said=later   # the primary has not archived it yet
        [ ! -s "$WORK/there" ] || said=ok
        return
    fi
    if [ ! -s "$WORK/there" ]; then
        if ! attempt copyto "$MEETING/$3" "$directory/$3"; then
            said="the bucket does not take it: $(cause "$WORK/said")"
            return
        fi
        if ! attempt check --one-way --include "/$3" "$MEETING" "$directory" || ! there "$directory" "$name"; then
            said="what the bucket holds cannot be compared: $(cause "$WORK/said")"
            return
        fi
    fi
    if [ "$(cat "$WORK/there")" = "$3" ]; then
        said=ok
    else
        said="the bucket holds another file of this name ($(grep -vxF "$3" "$WORK/there" | head -n 1) in $directory): two servers wrote this log. Nothing is written over; the log of this server stays on its volume"
    fi
}

main() {
    begin
    # A stop is no failure; whoever waits for an answer asks the next container.
    trap '[ -z "$CHILD" ] || kill "$CHILD" 2>/dev/null || :; rm -rf "$WORK"; trap - EXIT; exit 0' TERM INT
    mkdir -p "$MEETING"
    say 'Ready to archive.'
    last=
    while :; do
        if [ -e "$MEETING/request" ] && read -r token role system file <"$MEETING/request"; then
            rm -f "$MEETING/request"
            said=
            archive "$role" "$system" "$file"
            answer "$token" "$said"
            if [ "$role" = primary ] && [ "$said" != "$last" ]; then
                last=$said
                say "${file%-*}: $said"
                # The last word, which the kubelet shows when the container ends.
                { [ "$said" = ok ] && : || printf '%s: %s\n' "${file%-*}" "$said"; } >/dev/termination-log 2>/dev/null || :
            fi
        else
            sleep 0.2 &
            CHILD=$!
            wait "$CHILD" || :
            CHILD=
        fi
    done
}

main "$@"
exit
