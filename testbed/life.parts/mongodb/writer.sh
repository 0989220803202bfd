#!/bin/bash
# Runs in the client's pod: writes the rows NUMBER, NUMBER+STEP, NUMBER+2*STEP … through the URI of the Secret, each acknowledged by a
# majority, until the file `stop` is there. When the client ends it starts another one, as an application does.
# In: NUMBER STEP; /rows/uri.js, /rows/write.js.
# Out: /rows/acknowledged.NUMBER, a line `SENT ACKNOWLEDGED ROW` for each row that the server said to have committed, the times
#      in microseconds. A row whose answer did not come is not in it, and its number is not used again.
set -uo pipefail
export NUMBER=$1 STEP=$2 HOME=/tmp/writer.$1
mkdir -p "$HOME"
: >>"/rows/acknowledged.$NUMBER"
while [[ ! -e /rows/stop ]]; do
  mongosh --nodb --norc --quiet --eval "$(cat /rows/uri.js); $(cat /rows/write.js)" </dev/null >>"/rows/errors.$NUMBER" 2>&1
  sleep 0.1
done
: >"/rows/ended.$NUMBER"
