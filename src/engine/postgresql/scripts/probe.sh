#!/bin/bash
# shellcheck source-path=SCRIPTDIR
# Manual: probe.sh startup|liveness|readiness. Automatic asks Patroni over HTTP.
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

answer=0
# a role that may log in from here, so that the server has nothing to log
pg_isready -q -h 127.0.0.1 -p "$PORT" -U monitor -d postgres -t 3 || answer=$?

case $1 in
  startup | liveness)
    # 1 is a server that starts, recovers or stops: killing it would begin that work anew. While start.sh rewinds or copies there is none.
    [ "$answer" -le 1 ] && exit 0
    [ "$(cat "$run/state" 2>/dev/null)" != running ] && exit 0
    echo "The server does not answer on 127.0.0.1:$PORT."
    exit 1
    ;;
  readiness)
    [ "$answer" = 0 ] || { echo "The server does not take connections yet ($(cat "$run/state" 2>/dev/null))."; exit 1; }
    read -r standby receiving < <(here_timeout=4 here "SELECT pg_is_in_recovery(), EXISTS (SELECT FROM pg_stat_wal_receiver WHERE status = 'streaming')") ||
      { echo "The server takes connections but does not answer a query."; exit 1; }
    to=$(wanted_primary)
    if [ "$to" = "$me" ]; then
      [ "$standby" = f ] && { echo "primary"; exit 0; }
      echo "This member is to be the primary and is still a standby; the agent's log says what it waits for."
      exit 1
    fi
    [ "$standby" = t ] || { echo "This member is still primary, but $(member_name "$to") is to be it."; exit 1; }
    [ "$receiving" = t ] && { echo "standby, streaming"; exit 0; }
    # Without a primary there is nothing to stream, and a rollout that repairs the primary must get past this member.
    [ "$(knock "$to")" = open ] || { echo "standby, not streaming: $(member_name "$to") does not answer"; exit 0; }
    echo "This standby does not stream from $(member_name "$to"), which answers; the agent's log says more."
    exit 1
    ;;
  *) echo "usage: probe.sh startup|liveness|readiness"; exit 2 ;;
esac
