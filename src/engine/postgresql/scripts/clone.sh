#!/bin/bash
# shellcheck source-path=SCRIPTDIR
# Copies the primary's data directory beside PGDATA and puts it in place when it is whole. A PGDATA that is there stays until then.
#   clone.sh --primary ORDINAL        Manual; the caller has made sure that the ordinal is a running primary
#   clone.sh --connstring=TEXT ...    Automatic: called by Patroni, with PGPASSFILE set
set -euo pipefail
scripts=$(dirname "$0")
# shellcheck source=/dev/null
. /etc/dbrender/config/facts
# shellcheck source=message.sh
. "$scripts/message.sh"
# shellcheck source=volume.sh
. "$scripts/volume.sh"
# shellcheck source=members.sh
. "$scripts/members.sh"
# shellcheck source=standby.sh
. "$scripts/standby.sh"
end_on_signal

connection="" primary="" source_name="the leader" slot=()
while [ $# -gt 0 ]; do
  case $1 in
    --primary)
      primary=$2 source_name=$(member_name "$2")
      connection="host=$(member_host "$2") port=$PORT user=replication passfile=$run/passwords application_name=$POD_NAME-clone connect_timeout=10"
      ensure_slot "$2" || refuse "The slot $(slot_of "$me") could not be made on $source_name."
      slot=(--slot "$(slot_of "$me")")
      shift
      ;;
    --connstring=*) connection=${1#*=} ;;
  esac
  shift
done
[ -n "$connection" ] || refuse "clone.sh was called without a server to copy from."

# What is there may be the only copy of something: it goes only for a copy of the same database.
if has_data; then
  mine=$(control 'Database system identifier')
  theirs=$(timeout 20 psql -XAtqw -F ' ' -c IDENTIFY_SYSTEM "$connection dbname=postgres replication=true" | cut -d ' ' -f 1)
  [ "$mine" = "$theirs" ] ||
    refuse "The data directory $PGDATA belongs to another database (system identifier $mine) than the server to copy from (${theirs:-unknown}); it is not replaced."
  used=$(du -sk "$PGDATA" | cut -f 1)
  free=$(df -k --output=avail "$volume" | tail -n 1)
  [ "$free" -gt "$used" ] ||
    refuse "The volume has no room for a second copy beside $PGDATA ($((used / 1024)) MiB used, $((free / 1024)) MiB free), and the old one is kept until the new one is whole: enlarge the volume, or delete the claim data-$POD_NAME and this pod, since the primary has all of its data."
fi

dir=$(work_begin clone)
say "Copying from ${source_name}."
if ! attend pg_basebackup --dbname="$connection" --pgdata="$dir/data" --wal-method=stream --checkpoint=fast --no-password "${slot[@]}"; then
  work_remove "$dir"
  refuse "The copy failed, as the lines above say; the volume has $(df -h --output=avail "$volume" | tail -n 1 | tr -d ' ') free. It is tried again."
fi
if [ -n "$primary" ]; then
  : > "$dir/data/standby.signal"
  put "$base/last-primary" "$primary"
fi
work_end clone
say "The copy is in $PGDATA."
