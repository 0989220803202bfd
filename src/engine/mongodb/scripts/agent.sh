#!/bin/bash
# shellcheck source-path=SCRIPTDIR
# Container `agent`: bash around agent.js. It ends at once on a signal, and starts the client again when that ends: after an hour, so
# that nothing can pile up in it, or when it failed.
set -uo pipefail
scripts=$(dirname "$0")
# shellcheck source=message.sh
. "$scripts/message.sh"
umask 077
# mongosh keeps logs and history there
export HOME=/tmp/agent
mkdir -p "$HOME"
client=''
trap '[ -z "$client" ] || kill -KILL "$client" 2>/dev/null; exit 0' TERM INT

say "Agent of $POD_NAME."
while :; do
  rm -rf "$HOME/.mongodb/mongosh"
  mongosh --nodb --norc --quiet --eval "require('$scripts/agent.js').main({ Mongo })" < /dev/null &
  client=$!
  rc=0
  while :; do
    rc=0
    wait "$client" || rc=$?
    kill -0 "$client" 2>/dev/null || break
  done
  client=''
  [ "$rc" = 0 ] || { say "The client ended with $rc; starting it again."; rest 2; }
done
