# shellcheck shell=bash
# Counting, asking, and comparing two servers by what is in them. Needs world.sh.

passed=0
failed=0
not_run=0

# ok WHAT COMMAND...: the command must succeed
ok() {
  local what=$1
  shift
  if "$@" >/dev/null 2>&1; then good "$what"; else bad "$what"; fi
}
# no WHAT COMMAND...: the command must fail
no() {
  local what=$1
  shift
  if "$@" >/dev/null 2>&1; then bad "$what"; else good "$what"; fi
}
# is WHAT EXPECTED ACTUAL
is() {
  if [[ $2 == "$3" ]]; then good "$1"; else
    bad "$1"
    printf '     expected: %s\n     actual:   %s\n' "$2" "$3"
  fi
}
# ended_well WHAT: the last pod succeeded and said so in one line of JSON
ended_well() {
  if ((code == 0)) && json_of_one_line && [[ $message != *'"error"'* ]]; then good "$1"; else
    bad "$1"
    tell_pod
  fi
}
# ended_badly WHAT CODE REGULAR-EXPRESSION: the last pod failed with this code and a sentence that matches
ended_badly() {
  if ((code == $2)) && json_of_one_line && [[ $(value error) =~ $3 ]]; then good "$1"; else
    bad "$1"
    tell_pod
  fi
}
json_of_one_line() { (($(wc -l <"$pod/termination") == 1 && $(wc -c <"$pod/termination") < 4096)) && value >/dev/null; }
# value [KEY...]: of the last pod's message
value() { python3 -c 'import json, sys; d = json.loads(sys.argv[1]); [print(d.get(k, "")) for k in sys.argv[2:]]' "$message" "$@"; }

good() {
  passed=$((passed + 1))
  printf '  ok   %s\n' "$1"
}
bad() {
  failed=$((failed + 1))
  printf '  FAIL %s\n' "$1"
}
tell_pod() {
  printf '     code %s, message: %s\n' "$code" "$message"
  tail -n 15 "$pod/log" | sed 's/^/     | /'
}
skip() {
  not_run=$((not_run + 1))
  printf '  not run: %s\n' "$1"
}
summary() {
  printf '%s passed, %s failed, %s not run\n' "$passed" "$failed" "$not_run"
  ((failed == 0))
}

# ids VOLUME [PATH]: backups with a final name, one a line
ids() { find "$WORLD/volumes/$1/${2:-$namespace/source}" -maxdepth 1 -name '2*Z' -printf '%f\n' 2>/dev/null | sort; }
count() { wc -l | tr -d ' '; }
partials() { find "$WORLD/volumes/$1" -name '.partial-*' | count; }

# state SERVER: everything in the server as sorted lines: roles, databases with their settings and privileges, schemas,
# every row, large objects. Two servers with the same lines hold the same. Leaves out what a server has for itself.
state() {
  local socket=$WORLD/servers/$1 tools=$client name
  [[ $1 != newer ]] || tools=$newer_client
  {
    "$tools/pg_dumpall" -h "$socket" -U postgres --globals-only --no-role-passwords --quote-all-identifiers |
      grep -vE '^((CREATE|ALTER) ROLE|COMMENT ON ROLE) "(postgres|replication|rewind|backup|monitor|restore)"| TO "(backup|monitor)"'
    while read -r name; do
      printf 'DATABASE %s\n' "$name"
      "$tools/pg_dump" -h "$socket" -U postgres --create --inserts --encoding=UTF8 --quote-all-identifiers --exclude-schema=dbrender \
        -d "$(dbname "$name")" | sed "s/^\\(INSERT\\|SELECT pg_catalog.setval\\|COMMENT\\|GRANT\\)/$(tr -dc 'a-z0-9' <<<"$name"): &/"
    done < <(on "$1" -c 'select datname from pg_database where not datistemplate order by 1')
  } | grep -avE '^(--|\\(un)?restrict |$)' | LC_ALL=C sort
}
# dbname DATABASE: as libpq wants a name that may hold anything
dbname() {
  local name=${1//\\/\\\\}
  printf "dbname='%s'" "${name//\'/\\\'}"
}
# same WHAT FILE SERVER: the server holds what FILE says
same() {
  state "$3" >"$WORLD/state-$3"
  if cmp -s "$2" "$WORLD/state-$3"; then good "$1"; else
    bad "$1"
    diff "$2" "$WORLD/state-$3" | head -n 12 | sed 's/^/     /' || :
  fi
}
