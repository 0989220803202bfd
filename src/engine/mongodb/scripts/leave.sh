#!/bin/bash
# shellcheck source-path=SCRIPTDIR
# preStop of the containers `mongodb` and `agent`: asks the agent to leave, and holds both until it has. Never fails the stop, and
# takes at most a minute. The agent does the work because its client runs already.
set -uo pipefail
scripts=$(dirname "$0")
# shellcheck source=volume.sh
. "$scripts/volume.sh"
# shellcheck source=message.sh
. "$scripts/message.sh"
mark_leaving "$run/leaving"   # start.sh of the next container removes both
for ((i = 0; i < ${LEAVE_WAIT:-60} * 5; i++)); do
  [ ! -e "$run/left" ] || exit 0
  rest 0.2
done
say "The agent did not finish leaving; the server stops as a member."
exit 0
