#!/bin/bash
# shellcheck source-path=SCRIPTDIR
# Container `mongodb`: the server. A member that was not let in yet waits on a port that no set counts; as soon as its agent has let it
# in, the server comes back on the port of members.
set -euo pipefail
scripts=$(dirname "$0")
# shellcheck source=/dev/null
. /etc/dbrender/config/facts
# shellcheck source=message.sh
. "$scripts/message.sh"
# shellcheck source=volume.sh
. "$scripts/volume.sh"

server='' ending=''
trap 'ending=yes; [ -z "$server" ] || kill -TERM "$server" 2>/dev/null; [ -n "$server" ] || exit 143' TERM INT
umask 027
marked_leaving "$run/leaving" || rm -f "$run/leaving" "$run/left"

# stop_server: ends it and waits, however often a signal interrupts the wait.
stop_server() {
  kill -TERM "$server" 2>/dev/null || true
  while kill -0 "$server" 2>/dev/null; do wait "$server" || true; done
  server=''
}

if ! let_in; then
  say "Waiting on port $WAIT_PORT to be let in."
  mongod --config /etc/dbrender/config/mongod.conf --port "$WAIT_PORT" &
  server=$!
  until let_in || [ -n "$ending" ]; do
    if ! kill -0 "$server" 2>/dev/null; then
      rc=0
      wait "$server" || rc=$?
      exit "$rc"
    fi
    rest 0.5
  done
  stop_server
  [ -z "$ending" ] || exit 143
  say "This member is let in."
fi
# Whoever restarts only this container must not make an empty server of a member: the data may have gone meanwhile.
[ ! -e "$volume/member" ] || has_data || refuse "The data directory $data is gone or not whole. Delete this pod: its init container says what can be done."
# Not as process 1: the kernel drops a signal for which that one has no handler yet, and the pod would stay for its whole grace period.
mongod --config /etc/dbrender/config/mongod.conf --port "$PORT" &
server=$!
while :; do
  rc=0
  wait "$server" || rc=$?
  kill -0 "$server" 2>/dev/null || exit "$rc"
done
