#!/bin/bash
# restore_command of a recovery to a point in time: one file of the log, from what fetch.sh has fetched.
#   restore-wal.sh DIRECTORY NAME PATH
# Not there is an answer (1): the log ends here. A damaged file ends the recovery (above 125), since the server takes any other failure for the end of the log.
set -euo pipefail
# Timelines that only a former attempt began are there to be counted; nothing descends from them.
file=$(compgen -G "$1/wal/*/$2-*.gz" || compgen -G "$1/own/$2-*.gz") || exit 1
sum=${file##*-}
gzip -dc "$file" > "$3.new" || exit 200
[ "$(sha256sum < "$3.new")" = "${sum%.gz}  -" ] || exit 200
mv "$3.new" "$3"
