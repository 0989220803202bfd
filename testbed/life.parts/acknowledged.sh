# shellcheck shell=bash
# The writers, and what they have recorded: lines `SENT ACKNOWLEDGED ROW`, times in microseconds. In: $work, $patience, $writers,
# and the engine's writer.sh, $row_bytes and bound.

# start_writing NAME: writers that go on in the client's pod until stop_writing
start_writing() {
  cp "$parts/$engine/writer.sh" "$work/client/writer.sh"
  # shellcheck disable=SC2016 # for the shell in the pod
  in_client "$1" bash -c 'for ((i = 1; i <= $1; i++)); do bash /rows/writer.sh "$i" "$1" </dev/null >/dev/null 2>>/rows/writers.log & done' writers "$writers"
}

# stop_writing: returns when no writer waits for an answer any more
stop_writing() {
  : >"$work/client/stop"
  await 60 "the end of the writers" writers_ended || give_up "the writers do not end: $(tail -n 3 "$work"/client/errors.* "$work/client/writers.log")"
}
writers_ended() {
  local ended=("$work"/client/ended.*)
  ((${#ended[@]} == writers))
}

now() { echo "${EPOCHREALTIME/[.,]/}"; }

# records: all lines; none before the first writer has begun
records() { cat "$work"/client/acknowledged.* 2>/dev/null || :; }

# count_since MICROSECONDS: how many rows were acknowledged that were sent after that
count_since() { records | awk -v since="$1" '$1 > since' | wc -l; }

# await_rows NUMBER MICROSECONDS WHAT
await_rows() {
  local deadline=$((SECONDS + patience))
  until (($(count_since "$2") >= $1)); do
    ((SECONDS < deadline)) || give_up "$3: $(count_since "$2") of $1 rows were acknowledged within $patience s. The clients say: $(tail -q -n 2 "$work"/client/errors.*)"
    sleep 0.3
  done
}

# seconds_to_first MICROSECONDS: from then to the first acknowledgement of a row that was sent after it
seconds_to_first() {
  records | awk -v since="$1" '$1 > since && (!first || $2 < first) { first = $2 } END { printf "%.1f", (first - since) / 1e6 }'
}

# longest_pause MICROSECONDS: the longest time since then in which nothing was acknowledged
longest_pause() {
  records | cut -d ' ' -f 2 | sort -n |
    awk -v last="$1" '$1 > last { if ($1 - last > pause) pause = $1 - last; last = $1 } END { printf "%.1f", pause / 1e6 }'
}

# look_for_rows NAME: compares what was acknowledged with what is there; sets acknowledged and lost
look_for_rows() {
  records | cut -d ' ' -f 3 | LC_ALL=C sort >"$work/acknowledged"
  rows "$1" | LC_ALL=C sort >"$work/rows" || give_up "the rows could not be read through the Service of $1."
  LC_ALL=C comm -23 "$work/acknowledged" "$work/rows" >"$work/lost"
  acknowledged=$(wc -l <"$work/acknowledged")
  lost=$(wc -l <"$work/lost")
  if ((lost > 0)) && [[ $replication == Asynchronous ]]; then
    lost_bytes=$((lost * row_bytes)) bound_bytes=$(bound)
    ((lost_bytes <= bound_bytes)) && return
    give_up "$lost rows were acknowledged and are not there: at least $lost_bytes bytes of the log, and the bound is $bound_bytes."
  fi
  if [[ $replication == Asynchronous ]]; then lost_bytes=0 bound_bytes=$(bound); fi
  ((lost == 0)) || give_up "$lost rows were acknowledged and are not there, for example $(head -n 5 "$work/lost" | tr '\n' ' ')"
}
