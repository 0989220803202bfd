#!/bin/sh
# What a backup is, on a volume and in a bucket, and how a run says its last word.
#
# Sourced by backup.sh and restore.sh (bash, the server's image) and by upload.sh and
# download.sh (busybox sh, the rclone image, which has no bash, zstd or openssl). So this
# file is POSIX sh and uses nothing that busybox lacks. BACKUP.md describes the layout.
#
# Every script here ends with one line of JSON in the termination message: facts on
# success, {"error": "<sentence>"} on failure. Exit codes:
#   1   failed; a retry may succeed
#   4   refused; a retry cannot succeed, somebody has to change something first
#   75  another run has the lock
#
# $problem is read by the scripts that source this file.
# shellcheck disable=SC2034

TERMINATION_LOG=/dev/termination-log
# Set by a script that has a directory of its own; `report` leaves a trace there, since a
# variable would be lost when the last word is said inside $(...).
WORK=
# Why looks_complete or verify_sums said no.
problem=

say() {
    printf '%s %s\n' "$(date -u +%Y-%m-%dT%H:%M:%SZ)" "$*" >&2
}

# Prints TEXT as a JSON string, quotes included. Bytes above 127 pass through.
json_text() {
    printf '%s\n' "$1" | LC_ALL=C awk '
        BEGIN { for (i = 1; i < 32; i++) code[sprintf("%c", i)] = sprintf("\\u%04x", i); printf "\"" }
        {
            if (NR > 1) printf "\\n"
            for (i = 1; i <= length($0); i++) {
                c = substr($0, i, 1)
                if (c == "\\" || c == "\"") printf "\\%s", c
                else if (c in code) printf "%s", code[c]
                else printf "%s", c
            }
        }
        END { printf "\"" }'
}

# The last word of a run: to the log, and to the file that the kubelet puts in the pod's status.
report() {
    if [ -n "$WORK" ]; then : >"$WORK/reported"; fi
    printf '%s\n' "$1"
    { printf '%s\n' "$1" >"$TERMINATION_LOG"; } 2>/dev/null || :
}

# fail SENTENCE [EXIT CODE]. The kubelet keeps 4096 bytes and wants whole UTF-8 characters,
# so a long sentence is cut, and a character that the cut went through is dropped.
fail() {
    fail_text=$(printf '%s' "$1" | LC_ALL=C tr '\n\t' '  ')
    if [ "${#fail_text}" -gt 1500 ]; then
        fail_text=$(printf '%s' "$fail_text" | LC_ALL=C cut -b 1-1500 | LC_ALL=C sed 's/[^ -~]*$//')...
    fi
    report "{\"error\": $(json_text "$fail_text")}"
    exit "${2:-1}"
}

# What a client said in FILE about why it gave up: its first line with an error in it, since
# hints and statements follow; else its last line.
cause() {
    cause_text=$(LC_ALL=C grep -m 1 -E 'error:|ERROR|FATAL|CRITICAL' "$1" 2>/dev/null) ||
        cause_text=$(LC_ALL=C sed -n '/[^[:space:]]/h; ${ x; p; }' "$1" 2>/dev/null) || :
    printf '%s' "$cause_text"
}

is_id() {
    case $1 in
    [0-9][0-9][0-9][0-9][01][0-9][0-3][0-9]T[0-2][0-9][0-5][0-9][0-6][0-9]Z) return 0 ;;
    esac
    return 1
}

# The ids of directories below DIR that carry a final name, oldest first. Names sort as times do.
list_ids() {
    for list_each in "$1"/*Z; do
        if [ -d "$list_each" ] && is_id "${list_each##*/}"; then
            printf '%s\n' "${list_each##*/}"
        fi
    done | LC_ALL=C sort
}

# A number of a manifest's first level, or a text in it that has neither quotes nor commas.
manifest_value() {
    sed -n 's/^  "'"$2"'": "\{0,1\}\([^",]*\)"\{0,1\},\{0,1\}$/\1/p' "$1"
}

# The data files of a manifest, one "<bytes> <sha256> <file>" a line. The writer puts one file on
# a line and "file" first; a database's name cannot imitate it, since its quotes stand escaped.
manifest_files() {
    sed -n 's/^ *{"file": "\([^"]*\)", "bytes": \([0-9]*\), "sha256": "\([0-9a-f]*\)".*/\2 \3 \1/p' "$1"
}

# Is the backup in DIR whole by the look of it: list, manifest, every file with its size?
# Cheap, so that retention can ask it of every backup. Leaves the reason in $problem.
looks_complete() {
    problem=
    for looks_name in manifest.json SHA256SUMS; do
        if [ ! -s "$1/$looks_name" ]; then
            problem="$looks_name is missing"
            return 1
        fi
    done
    looks_list=$(manifest_files "$1/manifest.json")
    if [ -z "$looks_list" ]; then
        problem="manifest.json lists no file"
        return 1
    fi
    # A here-document, not a pipe: $problem must survive the loop.
    while read -r looks_bytes looks_sum looks_name; do
        looks_now=$(wc -c <"$1/$looks_name" 2>/dev/null) || looks_now=-1
        if [ "$((looks_now))" -lt 0 ]; then
            problem="$looks_name is missing"
            return 1
        elif [ "$((looks_now))" -ne "$looks_bytes" ]; then
            problem="$looks_name has $((looks_now)) bytes instead of $looks_bytes"
            return 1
        fi
    done <<END
$looks_list
END
}

# Reads every byte of the backup in DIR and compares it with SHA256SUMS. Reason in $problem.
verify_sums() {
    looks_complete "$1" || return 1
    # The manifest has its own sums, so that the two lists guard each other.
    if ! grep -q '^[0-9a-f]\{64\}  manifest.json$' "$1/SHA256SUMS"; then
        problem="SHA256SUMS does not list manifest.json"
        return 1
    fi
    verify_list=$(manifest_files "$1/manifest.json")
    while read -r verify_bytes verify_sum verify_name; do
        if ! grep -qxF "$verify_sum  $verify_name" "$1/SHA256SUMS"; then
            problem="SHA256SUMS and manifest.json differ on $verify_name"
            return 1
        fi
    done <<END
$verify_list
END
    if ! verify_out=$(cd "$1" && sha256sum -c SHA256SUMS 2>&1); then
        verify_bad=$(printf '%s\n' "$verify_out" | sed -n 's/: FAILED.*//p' | head -n 1)
        problem="the checksum of ${verify_bad:-a file} does not match"
        return 1
    fi
}

# The sentence for a backup that is damaged. Never falls back by itself: a restore that
# silently takes an older backup loses what came after it. Ids on standard input, oldest first.
damaged_sentence() {
    damaged_older=$(awk -v id="$1" '$0 < id' | tail -n 1)
    if [ -n "$damaged_older" ]; then
        damaged_way="The next older one is $damaged_older; name it in spec.bootstrap.fromBackup.backup to restore from it."
    else
        damaged_way="There is no older one."
    fi
    printf 'Backup %s is damaged (%s). Nothing was restored. %s' "$1" "$2" "$damaged_way"
}
