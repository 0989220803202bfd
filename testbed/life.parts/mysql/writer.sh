#!/bin/bash
# Runs in the client's pod: writes the rows NUMBER, NUMBER+STEP, NUMBER+2*STEP … through the Service, one commit each, until
# the file `stop` is there. When the connection breaks it makes another one, as an application does.
# In: NUMBER STEP; /rows/client.sh.
# Out: /rows/acknowledged.NUMBER, a line `SENT ACKNOWLEDGED ROW` for each row that the server said to have committed, the times
#      in microseconds. A row whose answer did not come is not in it, and its number is not used again.
set -uo pipefail
export LC_ALL=C
number=$1 step=$2
trap '' PIPE
mkfifo "/tmp/to.$number" "/tmp/from.$number"
exec {acknowledged}>>"/rows/acknowledged.$number"
row=$number
while [[ ! -e /rows/stop ]]; do
  bash /rows/client.sh <"/tmp/to.$number" >"/tmp/from.$number" 2>>"/rows/errors.$number" &
  client=$!
  exec {to}>"/tmp/to.$number" {from}<"/tmp/from.$number"
  while [[ ! -e /rows/stop ]]; do
    sent=$EPOCHREALTIME
    # the client ends at the first error, so the second statement answers only when the first was committed
    printf "INSERT INTO numbered (n, payload) VALUES (%s, SHA2(%s, 256));\nSELECT %s;\n" "$row" "$row" "$row" >&"$to" || break
    IFS= read -r -t 15 answer <&"$from" || break
    [[ $answer == "$row" ]] || break
    printf '%s %s %s\n' "${sent/./}" "${EPOCHREALTIME/./}" "$row" >&"$acknowledged"
    row=$((row + step))
  done
  row=$((row + step))
  exec {to}>&- {from}<&-
  kill -KILL "$client" 2>/dev/null
  wait "$client" 2>/dev/null
  sleep 0.1
done
: >"/rows/ended.$number"
