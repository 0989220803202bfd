#!/bin/bash
# shellcheck source-path=SCRIPTDIR
# Container `mysql`: the server, with this script as its parent. After a clone the server ends with 16 and wants to be started again.
set -euo pipefail
scripts=$(dirname "$0")
# shellcheck source=/dev/null
. /etc/dbrender/config/facts
# shellcheck source=message.sh
. "$scripts/message.sh"
# shellcheck source=volume.sh
. "$scripts/volume.sh"

me=${POD_NAME##*-}
server='' ending=''
trap 'ending=yes; [ -z "$server" ] || kill -TERM "$server" 2>/dev/null; [ -n "$server" ] || exit 143' TERM INT
umask 027
export MYSQLD_PARENT_PID=$$

# What differs between members; my.cnf includes it. The server's own id must differ and is never 0.
cat > "$run/member.cnf.new" << CNF
[mysqld]
server_id = $((me + 1))
report_host = $POD_NAME.$HEADLESS
report_port = $PORT
loose_group_replication_local_address = $POD_NAME.$HEADLESS:$GROUP_PORT
CNF
mv "$run/member.cnf.new" "$run/member.cnf"
marked_leaving "$run/leaving" || rm -f "$run/leaving"

while :; do
  has_data || refuse "The data directory $data is gone or not whole. Delete this pod: its init containers say what can be done."
  # A server that was killed leaves these in the memory volume, which outlives the container. They name a process of a container that
  # is no more; its number may belong to another one now, and the server would take that for itself and not start.
  rm -f "$run/mysqld.sock" "$run/mysqld.sock.lock" "$run/mysqld.pid"
  mysqld --defaults-file=/etc/dbrender/config/my.cnf &
  server=$!
  rc=0
  while :; do
    rc=0
    wait "$server" || rc=$?
    kill -0 "$server" 2>/dev/null || break
  done
  server=''
  [ "$rc" = 16 ] && [ -z "$ending" ] || exit "$rc"
  say "The server asked to be started again."
done
