#!/bin/bash
# shellcheck source-path=SCRIPTDIR
# probe.sh startup|liveness|readiness. All ask the server over its socket, as its own administrator.
set -euo pipefail
scripts=$(dirname "$0")
# shellcheck source=/dev/null
. /etc/dbrender/config/facts
# shellcheck source=message.sh
. "$scripts/message.sh"
# shellcheck source=volume.sh
. "$scripts/volume.sh"
# shellcheck source=passwords.sh
. "$scripts/passwords.sh"
# shellcheck source=members.sh
. "$scripts/members.sh"
here_timeout=4

case $1 in
  startup | liveness)
    mysqladmin --no-defaults -S "$run/mysqld.sock" -u mysql --connect-timeout=4 ping > /dev/null 2> "$work/said" && exit 0
    # Too many connections, or a member that was cut off and lets nobody in, is no dead server.
    grep -Eq 'Too many connections|offline' "$work/said" && exit 0
    echo "The server does not answer on its socket: $(tail -n 1 "$work/said")"
    exit 1
    ;;
  readiness) ;;
  *) echo "usage: probe.sh startup|liveness|readiness"; exit 2 ;;
esac

said_by_agent=$(cat "$run/agent-says" 2>/dev/null || true)
if [ "$PROFILE" = automatic ]; then
  # A primary that was cut off calls itself ONLINE and PRIMARY as long as the cut lasts: only the majority tells.
  read -r state majority < <(here << 'SQL'
SELECT IFNULL((SELECT member_state FROM performance_schema.replication_group_members WHERE member_id = @@server_uuid), 'OFFLINE'),
  (SELECT IF(SUM(member_state IN ('ONLINE', 'RECOVERING')) * 2 > COUNT(*), 'yes', 'no') FROM performance_schema.replication_group_members)
SQL
  ) || { echo "The server takes connections but does not answer a query."; exit 1; }
  [ "$state $majority" = 'ONLINE yes' ] && exit 0
  echo "$state, majority: $majority. $said_by_agent"
  exit 1
fi

read -r read_only running < <(here << 'SQL'
SELECT @@super_read_only, (SELECT COUNT(*) FROM performance_schema.replication_connection_status WHERE channel_name = '' AND service_state = 'ON')
SQL
) || { echo "The server takes connections but does not answer a query."; exit 1; }
if [ "$(fact primary)" = "$me" ]; then
  [ "$read_only" = 0 ] && exit 0
  echo "This member is to be the primary and takes no writes yet. $said_by_agent"
  exit 1
fi
[ "$read_only" = 1 ] || { echo "This member still takes writes, but $(member_name "$(fact primary)") is to be the primary."; exit 1; }
[ "$running" = 1 ] && exit 0
# Without a primary there is nothing to follow, and a rollout that repairs the primary must get past this member.
# shellcheck disable=SC2016  # for the inner shell
known "$(fact primary)" && timeout 3 bash -c 'exec 3<>"/dev/tcp/$0/$1"' "$(member_host "$(fact primary)")" "$PORT" 2>/dev/null || exit 0
echo "This standby does not follow $(member_name "$(fact primary)"), which answers. $said_by_agent"
exit 1
