# shellcheck shell=bash
# What happens to a database while somebody writes: a client that remembers what was acknowledged, and faults of all kinds.

# start_writer: inserts numbers one by one into whichever of the members takes them; acknowledged ones go to a file
start_writer() {
  for i in 0 1 2; do
    if [[ -e $(pod_of "$i") ]] && login "$i" 'order user' "$awkward_password" orders 'CREATE TABLE acked (n int PRIMARY KEY)' > /dev/null; then break; fi
  done
  : > "$WORLD/acked"
  rm -f "$WORLD/stop-writer"
  (
    n=0
    until [[ -e $WORLD/stop-writer ]]; do
      n=$((n + 1))
      for i in 0 1 2; do
        [[ -e $(pod_of "$i") ]] || continue
        if PGOPTIONS='-c statement_timeout=4s' login "$i" 'order user' "$awkward_password" orders "INSERT INTO acked VALUES ($n)" > /dev/null; then
          echo "$n" >> "$WORLD/acked"
          break
        fi
      done
    done
  ) &
  writer=$!
}
stop_writer() {
  : > "$WORLD/stop-writer"
  wait "$writer" "${sessions[@]}" || :
  sessions=()
}

# session_writer ORDINAL FIRST: numbers from FIRST on, over one session on that member's socket that stays open, without waiting for the
# answers: what a frozen server gets at once when it goes on
session_writer() {
  local process
  process=$(process_of "$1" postgresql)
  (
    n=$2
    until [[ -e $WORLD/stop-writer ]]; do
      printf 'INSERT INTO acked VALUES (%s) RETURNING n;\n' "$n"
      n=$((n + 1))
      sleep 0.02
    done | nsenter --target "$process" --mount --net --root --wd -- setpriv --reuid=999 --regid=999 --clear-groups \
      psql -XAtq -h /var/run/postgresql -U postgres -d orders >> "$WORLD/acked" 2> "$WORLD/session-writer.log" || :
  ) &
  sessions+=($!)
}
sessions=()
acknowledged() { wc -l < "$WORLD/acked"; }
more_than() { (($("${@:2}") > $1)); }

# missing_from ORDINAL: acknowledged numbers that are not there
missing_from() {
  query "$1" 'SELECT n FROM acked ORDER BY n' orders | sort > "$WORLD/there"
  sort "$WORLD/acked" | comm -23 - "$WORLD/there"
}
# nothing_lost ORDINAL: every acknowledged number is there
nothing_lost() {
  local missing
  missing=$(missing_from "$1")
  [[ -s $WORLD/acked && -z $missing ]] || { printf 'acknowledged and lost: %s\n' "$(tr '\n' ' ' <<< "$missing")"; return 1; }
}
# two_primaries: at this moment more than one member takes writes
two_primaries() {
  local i count=0
  for i in 0 1 2; do if is "$i" primary 2> /dev/null; then count=$((count + 1)); fi; done
  ((count > 1))
}
watch_primaries() {
  rm -f "$WORLD/two"
  (until [[ -e $WORLD/stop-writer ]]; do if two_primaries; then date +%T > "$WORLD/two"; fi; done) &
}

# cut_off ORDINAL, reconnect ORDINAL: its network
cut_off() { nsenter --net="/proc/$(cat "$(pod_of "$1")/sandbox")/ns/net" ip link set eth0 down; }
reconnect() {
  nsenter --net="/proc/$(cat "$(pod_of "$1")/sandbox")/ns/net" sh -c "ip link set eth0 up; ip route replace default via $subnet.1"
}

# freeze ORDINAL CONTAINER, thaw: all its processes
freeze() { pkill "-${signal:-STOP}" --ns "$(process_of "$1" "$2")" --nslist pid .; }
thaw() { signal=CONT freeze "$@"; }

# containers: directories and names of those that run now
containers() { compgen -G "$WORLD/pods/[0-3]/unshared-*"; }
# kill_container POD-DIRECTORY/unshared-NAME: its process 1, and with it all others of it
kill_container() { [[ -s $1 ]] && pkill -KILL --parent "$(< "$1")"; }

# choose_seed: what the seconds and the containers of a case are chosen with
choose_seed() {
  RANDOM=${SEED:=$((SRANDOM % 32768))}
  printf '   (SEED=%s)\n' "$SEED"
}

# kill_now_and_then SECONDS [NAME]: kills containers (of that name) for so long; counts them in $kills
kill_now_and_then() {
  local deadline=$((SECONDS + $1)) running victim
  while ((SECONDS < deadline)); do
    sleep "$((RANDOM % 2)).$((RANDOM % 10))"
    mapfile -t running < <(containers | grep "unshared-${2:-}")
    ((${#running[@]} > 0)) || continue
    victim=${running[RANDOM % ${#running[@]}]}
    if kill_container "$victim" 2> /dev/null; then
      kills=$((kills + 1))
      printf '%s %s\n' "$(date +%T.%N)" "${victim#"$WORLD"/pods/}" >> "$WORLD/kills"
    fi
  done
}
nothing_half_done() { [[ -z $(find "$WORLD"/volumes -maxdepth 3 \( -name '*.partial' -o -name replaced -o -name rewinding -o -name '*.new' \)) ]]; }

