# shellcheck shell=bash
# Processes that outlive the script which starts them, and are found again by pid and start time.
# In: $run, the directory of the run. Out: $run/pids/NAME ("PID STARTTIME") and $run/log/NAME.log. Needs messages.sh.

# start_time PID: when the process began, in ticks since boot; nothing when there is no such process
start_time() {
  local stat
  { stat=$(<"/proc/$1/stat"); } 2>/dev/null || return 0
  stat=${stat##*) }
  cut -d ' ' -f 20 <<<"$stat"
}

# remember FILE PID: writes the record of a process
remember() { printf '%s %s\n' "$2" "$(start_time "$2")" >"$1"; }

# alive FILE: whether the process of the record still runs (a zombie does not)
alive() {
  local pid started
  read -r pid started 2>/dev/null <"$1" || return 1
  [[ -n $started && $(start_time "$pid") == "$started" && $(sed 's/.*) //' "/proc/$pid/stat" 2>/dev/null) != Z* ]]
}

# start NAME COMMAND…: in a session of its own; the process writes its record itself, so that it is never without one
start() {
  local name=$1
  shift
  (
    remember "$run/pids/$name" "$BASHPID"
    exec setsid "$@"
  ) >"$run/log/$name.log" 2>&1 </dev/null &
  until [[ -s $run/pids/$name ]]; do sleep 0.01; done
  disown
}

# await_service NAME SECONDS COMMAND…: waits until the command succeeds; says why when the process ends before
await_service() {
  local name=$1 deadline=$((SECONDS + $2))
  shift 2
  until "$@" >/dev/null 2>&1; do
    if ! alive "$run/pids/$name"; then
      grep -v '^$' "$run/log/$name.log" | tail -n 5 >&2
      if grep -q 'address already in use' "$run/log/$name.log"; then
        fail "$name found its port taken by another program that came first: run again."
      elif grep -q 'no space left on device' "$run/log/$name.log"; then
        fail "$name ended because the disk is full: free some space and run again."
      fi
      fail "$name ended at once; its last lines are above."
    fi
    if ((SECONDS >= deadline)); then
      tail -n 5 "$run/log/$name.log" >&2
      fail "$name did not answer in time; its last lines are above."
    fi
    sleep 0.05
  done
}

# stop FILE [SIGNAL]: ends the process of the record (TERM, then KILL after ten seconds) and forgets it
stop() {
  local pid
  if alive "$1"; then
    read -r pid _ <"$1"
    kill "-${2:-TERM}" "$pid" 2>/dev/null || :
    if ! await 10 "the end of $(basename "$1")" not_alive "$1"; then
      kill -KILL "$pid" 2>/dev/null || :
      await 10 "the end of $(basename "$1")" not_alive "$1" || fail "process $pid ($(basename "$1")) does not end."
    fi
  fi
  rm -f "$1"
}
not_alive() { ! alive "$1"; }
