#!/bin/sh
# Init container `fetch`, only for a restore to a point in time: fetches a base backup and the log after it onto an empty volume, for recover.sh.
#
# Runs in the rclone image (busybox sh): POSIX sh only. On a volume that has held a database it does nothing and asks nobody.
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
    # shellcheck source=/dev/null
    . "$CONFIG/facts"
    # shellcheck source=/dev/null
    . "$CONFIG/restore"
    for read_name in MAJOR APP_DATABASE APP_USERNAME POINT_IN_TIME REMOTE SOURCE_PATH; do
        eval "[ -n \"\${$read_name:-}\" ]" || fail "The value $read_name is missing in the mounted ConfigMap ($CONFIG)."
    done
    # shellcheck source=/dev/null
    OWN=$(. "$CONFIG/backup" && printf '%s' "$REMOTE")
    VOLUME=/var/lib/postgresql/$MAJOR
    TO=$VOLUME/fetch.partial
}

# A member that is not to be the primary is copied from it.
nothing_to_do() {
    [ ! -e "$VOLUME/docker" ] && [ ! -e "$VOLUME/initialised" ] || return 0
    [ "$(tr -d '[:space:]' <"$CONFIG/primary")" != "${POD_NAME##*-}" ]
}

# pick: the newest base backup that ended before the moment, on the way to the newest timeline. Times are texts of one form and in UTC, so they sort.
pick() {
    list_bases
    [ -s "$WORK/bases" ] ||
        fail "There is no base backup of $SOURCE_PATH in the bucket: its spec.backup.walArchive is off, or its first backup has not ended yet." 4
    if [ "$POINT_IN_TIME" = latest ]; then
        cp "$WORK/bases" "$WORK/before"
    else
        now=$(date -u +%Y-%m-%dT%H:%M:%S.999999Z)
        [ "$(printf '%s\n%s\n' "$POINT_IN_TIME" "$now" | sort | tail -n 1)" = "$now" ] ||
            fail "The moment $POINT_IN_TIME has not come yet (it is $now)." 4
        awk -v moment="$POINT_IN_TIME" '$1 <= moment' "$WORK/bases" >"$WORK/before"
    fi
    [ -s "$WORK/before" ] ||
        fail "The moment $POINT_IN_TIME is before the end of the oldest base backup, $(head -n 1 "$WORK/bases" | cut -d ' ' -f 1): choose that or a later one." 4
    read -r _ NAME _ STOP <<END
$(tail -n 1 "$WORK/before")
END
    SYSTEM=${NAME##*-}
    size=$(sed -n 's/^  "segmentBytes": \([0-9]*\),$/\1/p' "$WORK/described/$NAME/base.json")
    histories
    # What was left behind, by a promotion by force or by a restore under the old name, is on no way to the newest timeline.
    grep -e "-$SYSTEM " "$WORK/before" | awk -v newest="$timeline" -v size="$size" "$NUMBER"'
        FILENAME ~ /history$/ {
            if ($1 ~ /^[0-9]+$/) { split($2, lsn, "/"); left[$1] = int((number(lsn[1]) * 4294967296 + number(lsn[2])) / size) }
            next
        }
        {
            line = number(substr($4, 1, 8))
            if (line >= number(newest) || (line in left) && segment($4) < left[line]) way = $0
        }
        END { print way }' "$WORK/history" - >"$WORK/base"
    read -r _ NAME _ STOP <"$WORK/base" || :
    [ -n "$NAME" ] ||
        fail "No base backup before $POINT_IN_TIME is on the way to the newest timeline, $((0x$timeline)): that history was left behind. Choose a later moment." 4
    crossed
    description=$WORK/described/$NAME/base.json
    [ "$(manifest_value "$description" major)" = "$MAJOR" ] ||
        fail "The base backup $NAME is of PostgreSQL $(manifest_value "$description" major), and its files are of no use to $MAJOR: set spec.version to that." 4
    # A recovered server is the former one; names in it are not changed.
    # shellcheck disable=SC2015 # `fail` when either lacks
    grep -qxF "  \"database\": $(json_text "$APP_DATABASE")," "$description" && grep -qxF "  \"username\": $(json_text "$APP_USERNAME")," "$description" ||
        fail "The base backup $NAME is of the database $(sed -n 's/^  "database": "\(.*\)",$/\1/p' "$description") and the user $(sed -n 's/^  "username": "\(.*\)",$/\1/p' "$description"); a point in time brings them back as they were: set spec.database and spec.username to these." 4
}

# awk: hexadecimal numbers, and the number of a segment by its name
# shellcheck disable=SC2016 # of awk
NUMBER='
    function number(hex, i, n) { n = 0; for (i = 1; i <= length(hex); i++) n = n * 16 + index("0123456789ABCDEF", substr(hex, i, 1)) - 1; return n }
    function segment(name) { return number(substr(name, 9, 8)) * (4294967296 / size) + number(substr(name, 17, 8)) }
'

# histories: lists the log of this server ($WORK/log, $WORK/histories), and fetches the history of the newest timeline to $WORK/history.
histories() {
    listed "Could not list the log in the bucket" -R --files-only --format ps --separator ' ' "$REMOTE/wal/$SYSTEM" >"$WORK/log"
    sed -n 's|.*/\(0[0-9A-F]*\.history-.*\) [0-9]*$|\1|p' "$WORK/log" | sort >"$WORK/histories"
    timeline=$(printf '%.8s' "$STOP")
    : >"$WORK/history"
    [ -s "$WORK/histories" ] || return 0
    newest=$(tail -n 1 "$WORK/histories")
    # A base backup of a timeline whose history is not in the bucket yet.
    [ "$((0x$timeline))" -le "$((0x$(printf '%.8s' "$newest")))" ] || return 0
    timeline=$(printf '%.8s' "$newest")
    must "Could not fetch the history of the timelines" cat "$REMOTE/wal/$SYSTEM/history/$newest" >"$WORK/history.gz"
    gzip -dc "$WORK/history.gz" >"$WORK/history" 2>/dev/null && [ "$(sha256sum <"$WORK/history")" = "$(printf '%s' "${newest##*-}" | cut -c 1-64)  -" ] ||
        fail "The file $newest of the log in the bucket is damaged. Nothing was restored." 4
}

# crossed: refuses a moment after the one to which this server was brought back once, as long as no base backup was made after that. Two histories have such
# moments, and time does not tell which is meant. The history of a timeline says to which moment.
crossed() {
    [ "$POINT_IN_TIME" != latest ] || return 0
    back=$(awk -v base="$((0x$(printf '%.8s' "$STOP")))" '
        $1 ~ /^[0-9]+$/ && $1 >= base && $3 ~ /^(before|after)$/ && $4 ~ /^[0-9-]+$/ {
            time = $5; sub(/\+00$/, "", time); if (time !~ /\./) time = time "."
            printf "%sT%sZ\n", $4, substr(time "000000", 1, 15); exit
        }' "$WORK/history")
    [ -z "$back" ] || [ "$(printf '%s\n%s\n' "$POINT_IN_TIME" "$back" | sort | head -n 1)" = "$POINT_IN_TIME" ] ||
        fail "This database was brought back to $back once, and no base backup was made between that and $POINT_IN_TIME: whether the moment before or after that is meant is not known here. Choose one up to $back, one after the next base backup, or latest." 4
}

# path: the files of the log after the base backup, in the order in which a recovery asks for them, on the way to the newest timeline: $WORK/path,
# and in $remark where it ends. Nothing is guessed: where a file lacks, the way ends.
path() {
    awk -v stop="$STOP" -v newest="$timeline" -v size="$size" "$NUMBER"'
        function name_of(n) { return sprintf("%08X%08X%08X", line(n), int(n / per), n % per) }
        function line(n, i) { for (i = lines; i > 1; i--) if (n >= begins[i]) return id[i]; return id[1] }
        BEGIN { per = 4294967296 / size; lines = 0 }
        FILENAME ~ /history$/ {
            if ($1 ~ /^[0-9]+$/) {
                split($2, lsn, "/"); id[++lines] = $1
                begins[lines + 1] = int((number(lsn[1]) * 4294967296 + number(lsn[2])) / size)
            }
            next
        }
        {
            n = $1; sub(/.*\//, "", n); file = $1
            if (n !~ /^[0-9A-F]+-[0-9a-f]+\.gz$/) next
            sub(/-.*/, "", n)
            if (length(n) != 24) next
            if (n in there) twice[n] = 1
            there[n] = file; bytes[n] = $2
            if (segment(n) > last) last = segment(n)
        }
        END {
            id[++lines] = number(newest)
            sum = 0
            for (n = segment(stop); n <= last; n++) {
                name = name_of(n)
                if (name in twice) { print "twice " name; exit }
                if (!(name in there)) {
                    for (m = n + 1; m <= last; m++) if (name_of(m) in there) { print "gap " name " " name_of(m); exit }
                    break
                }
                print "file " there[name]
                sum += bytes[name]; end = name
            }
            print "end " end
        }' "$WORK/history" "$WORK/log" >"$WORK/way"
    sed -n 's/^file //p' "$WORK/way" >"$WORK/path"
    sed 's|^|history/|' "$WORK/histories" >>"$WORK/path"
    read -r how what also <<END
$(tail -n 1 "$WORK/way")
END
    case $how in
    twice) fail "The bucket holds two files named $what below $REMOTE/wal/$SYSTEM: two servers wrote this log, and which one is right is not known here. Nothing was restored." 4 ;;
    gap)
        remark="The log in the bucket has a gap: $what is missing, and $also is there."
        [ "$POINT_IN_TIME" != latest ] || fail "$remark Nothing was restored: choose a moment before it." 4
        ;;
    *) remark="The newest file of the log in the bucket is ${what:-none}." ;;
    esac
}

room() {
    needs=$(($(sed -n 's/^  "bytes": \([0-9]*\)$/\1/p' "$WORK/described/$NAME/base.json") * 2))
    needs=$((needs + $(awk 'NR == FNR { want[$1] = 1; next } $1 in want { n += $2 } END { printf "%.0f", n }' "$WORK/path" "$WORK/log")))
    free=$(($(df -Pk "$VOLUME" | awk 'END { print $4 }') * 1024))
    [ "$free" -gt "$needs" ] ||
        fail "The volume has $((free / 1048576)) MiB free, and the base backup with the log up to now needs up to $((needs / 1048576)) MiB: set a larger spec.storage.size." 4
}

main() {
    begin
    read_values
    if nothing_to_do; then
        say "Nothing to fetch on this volume."
        exit 0
    fi
    pick
    path
    room
    say "Fetching the base backup $NAME and $(wc -l <"$WORK/path") files of the log after it. $remark"
    # What a former attempt fetched is gone over by rclone, and all of it is read back below.
    mkdir -p "$TO/base" "$TO/wal"
    : >"$TO/made-by-dbrender"
    rm -f "$TO/fetched"
    must "Could not fetch the base backup $NAME" sync "$REMOTE/base/$NAME" "$TO/base"
    (cd "$TO/base" && sha256sum -c SHA256SUMS >/dev/null 2>&1) || fail "The base backup $NAME in the bucket is damaged: its sums do not match. Choose a moment before it, to start from an older one." 4
    must "Could not fetch the log" copy --files-from-raw "$WORK/path" "$REMOTE/wal/$SYSTEM" "$TO/wal"
    while read -r each; do
        sum=${each##*-}
        [ "$(gzip -dc "$TO/wal/$each" 2>/dev/null | sha256sum)" = "${sum%.gz}  -" ] ||
            fail "The file $each of the log in the bucket is missing or damaged. Nothing was restored." 4
    done <"$WORK/path"
    # Timelines that a former attempt under this name has begun in its own log: the next one gets another number, or the two would meet in the bucket.
    listed "Could not list the log of this Database in the bucket" -R --files-only "$OWN/wal/$SYSTEM" >"$WORK/own"
    rm -rf "$TO/own"
    ! grep -q '^history/' "$WORK/own" || must "Could not fetch the timelines of this Database" copy "$OWN/wal/$SYSTEM/history" "$TO/own"
    sync
    printf '%s\n%s\n%s\n%s\n' "$POINT_IN_TIME" "$NAME" "$remark" "$((0x$timeline))" >"$TO/fetched"
    say "Fetched."
}

main "$@"
exit
