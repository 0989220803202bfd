# shellcheck shell=bash
# Assertions. Each prints a line; the end counts them.

passed=0 failed=0

# check TEXT COMMAND…
check() {
  local text=$1
  shift
  if "$@" > "$WORLD/check.out" 2>&1; then
    passed=$((passed + 1))
    printf '   ok    %s\n' "$text"
  else
    failed=$((failed + 1))
    printf '   FAIL  %s\n' "$text"
    sed 's/^/         | /' "$WORLD/check.out" | tail -n 5
    [[ -z ${FAIL_LOGS:-} ]] || show_logs
  fi
}

# within SECONDS TEXT COMMAND…: true some time before the end
within() {
  local seconds=$1 text=$2
  shift 2
  check "$text" eventually "$seconds" "$@"
}
# Seconds are those of a machine that does nothing else.
eventually() {
  local deadline=$((SECONDS + $(stretched "$1")))
  shift
  until "$@" > "$WORLD/eventually.out" 2>&1; do
    ((SECONDS < deadline)) || { cat "$WORLD/eventually.out"; return 1; }
    sleep 0.2
  done
}

# stretched SECONDS: what they become on this machine at this moment, by its load
stretched() { awk -v seconds="$1" -v processors="$(nproc)" '{ f = $1 / processors; print int(seconds * (f > 1 ? f : 1) + 0.5) }' /proc/loadavg; }
# at_most SECONDS TAKEN
at_most() { awk -v most="$(stretched "$1")" -v taken="$2" 'BEGIN { exit taken > most }' || { printf 'it took %s s\n' "$2"; return 1; }; }

# same WANTED COMMAND…: what the command prints
same() {
  local wanted=$1 got
  shift
  got=$("$@") || :
  [[ $got == "$wanted" ]] || { printf 'wanted %q, got %q\n' "$wanted" "$got"; return 1; }
}
# says PATTERN FILE: an extended regular expression in a file
says() { grep -Eq -- "$1" "$2" || { tail -n 4 "$2"; return 1; }; }
not() { ! "$@"; }

summary() {
  printf '%s passed, %s failed\n' "$passed" "$failed"
  ((failed == 0))
}
