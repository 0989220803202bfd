#!/bin/bash
# shellcheck source-path=SCRIPTDIR
# archive_command: gives one file of the write-ahead log to the container `archiver`, and succeeds only when that says that the bucket
# holds it. So the server itself keeps what is not archived yet, and pg_stat_archiver tells the truth.
#   archive-wal.sh PATH NAME        called by the server in PGDATA; also by Patroni before pg_rewind
# A standby (archive_mode is always) uploads nothing: it keeps each segment until the bucket has it, and uploads what is missing when it
# is promoted. So a primary that dies with its last segments leaves no gap.
set -euo pipefail
export LC_ALL=C
path=$1 name=$2
meeting=/tmp/wal-archive   # a volume of the pod that both containers have; not the data volume, which may be full
patience=${ARCHIVE_PATIENCE:-60}

# What recovery never asks for: the next timeline begins with the content of `.partial`, and a base backup has its own label. A former primary
# would wait for ever until the next one, which has no such file, archives its `.backup`.
case $name in *.partial | *.backup) exit 0 ;; esac

# The agent tells it.
refuse() {
  printf '%s\n' "$1" 2> /dev/null > "$meeting/why" || true
  printf 'archiving %s: %s\n' "$name" "$1" >&2
  exit 1
}
control=$(pg_controldata -D .)
field() { sed -n "s/^$1: *//p" <<< "$control"; }
system=$(field 'Database system identifier')
role=primary
[ ! -e standby.signal ] || role=standby

# left_behind: this server has gone on to a timeline that begins in this segment of a former one or before it. Recovery never asks for it: the later
# timeline has the same content up to there, and what is beyond nobody went on from. A standby marks such a half segment as ready when its primary
# changes, and the primary never archives it, so that the standby would wait for it for ever.
left_behind() {
  local own size id lsn
  [[ $name =~ ^[0-9A-F]{24}$ ]] || return 1
  # A standby's control file learns of it late; what it receives has the number in its name.
  own=$(find pg_wal -maxdepth 1 -type f -printf '%f\n' | grep -xE '[0-9A-F]{24}' | sort | tail -n 1)
  own=$((16#${own:0:8}))
  [ "$own" -gt $((16#${name:0:8})) ] || return 1
  [ -e "pg_wal/$(printf %08X "$own").history" ] || return 1
  size=$(field 'Bytes per WAL segment')
  while read -r id lsn _; do
    [ "$id" = $((16#${name:0:8})) ] || continue
    [ $(((16#${lsn%/*} << 32 | 16#${lsn#*/}) / size)) -le $((16#${name:8:8} * (0x100000000 / size) + 16#${name:16:8})) ]
    return
  done < "pg_wal/$(printf %08X "$own").history"
  return 1
}
if left_behind; then
  rm -f "$meeting/why"
  exit 0
fi

# A server that stops hands over all that waits before it ends, and the next primary waits for that end. What is left then is archived by the next primary,
# or by this one when it is back.
stops() {
  case $(pg_controldata -D . | sed -n 's/^Database cluster state: *//p') in 'shut down'* | 'shutting down'*) ;; *) return 1 ;; esac
}
if stops && [ $(($(printf '%(%s)T' -1) - $(stat -c %Y global/pg_control))) -gt 10 ]; then refuse 'the server stops'; fi

mkdir -p "$meeting"
rm -f "$meeting"/*.gz "$meeting/answer"
sum=$(sha256sum < "$path")
sum=${sum%% *}
file=$name-$sum.gz
# A standby asks only, so nobody needs the content.
if [ "$role" = primary ]; then
  # Under its name it is whole: the container may still work on a request of a script that was killed.
  gzip -1 -n < "$path" > "$meeting/packing" || refuse "there is no room in $meeting"
  [ "$(gzip -dc "$meeting/packing" | sha256sum)" = "$sum  -" ] || refuse 'the compressed copy does not read back as the segment'
  mv "$meeting/packing" "$meeting/$file"
fi

request() {
  token=$$-$RANDOM
  printf '%s %s %s %s\n' "$token" "$role" "$system" "$file" > "$meeting/request.new"
  mv "$meeting/request.new" "$meeting/request"
}
request

exec {rest_fd}<> <(:)
until=$((SECONDS + patience)) looked=$SECONDS again=''
while :; do
  read -r -t 0.1 -u "$rest_fd" _ || true
  if [ -e "$meeting/answer" ] && read -r whose said < "$meeting/answer" && [ "$whose" = "$token" ]; then
    case $said in
      ok)
        rm -f "$meeting/$file" "$meeting/why"
        exit 0
        ;;
      later) again=${again:-$((SECONDS + 3))} ;;
      *)
        rm -f "$meeting/$file"
        refuse "$said"
        ;;
    esac
  fi
  if [ -n "$again" ] && [ "$SECONDS" -ge "$again" ]; then
    again=''
    request
  fi
  if [ "$SECONDS" -ge $((looked + 2)) ]; then
    looked=$SECONDS
    ! stops || refuse 'the server stops'
  fi
  if [ "$SECONDS" -ge "$until" ]; then
    [ "$role" = primary ] || refuse "the primary has not archived it within $patience s"
    refuse "the container archiver has not finished it within $patience s"
  fi
done
