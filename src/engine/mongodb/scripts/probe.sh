#!/bin/bash
# shellcheck source-path=SCRIPTDIR
# probe.sh startup|liveness|readiness. No client is started: mongosh takes a second of processor time, and a probe that does is what
# kills a busy server. Startup and liveness: the port answers. Readiness: what the agent wrote down last.
set -euo pipefail
# shellcheck source=/dev/null
. /etc/dbrender/config/facts
scripts=$(dirname "$0")
# shellcheck source=volume.sh
. "$scripts/volume.sh"

case ${1:-} in
  startup | liveness)
    for each in "$PORT" "$WAIT_PORT"; do
      # shellcheck disable=SC2016  # for the inner shell
      timeout 3 bash -c 'exec 3<> "/dev/tcp/127.0.0.1/$0"' "$each" 2>/dev/null && exit 0
    done
    echo "The server takes no connections."
    exit 1
    ;;
  readiness) ;;
  *) echo "usage: probe.sh startup|liveness|readiness"; exit 2 ;;
esac

state='' why=''
{ IFS= read -r state && IFS= read -r why; } 2>/dev/null < "$run/heartbeat" || true
if [ -z "$state" ]; then
  echo "The agent has not looked at the server yet."
  exit 1
fi
written=$(stat -c %Y "$run/heartbeat")
age=$(($(date +%s) - written))
if [ "$age" -gt 60 ]; then
  echo "The agent has not looked at the server for $age s; it last said: $state. $why"
  exit 1
fi
case $state in PRIMARY | SECONDARY) exit 0 ;; esac
echo "$state. $why"
exit 1
