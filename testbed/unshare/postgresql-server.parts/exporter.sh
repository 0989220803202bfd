# shellcheck shell=bash
# The exporter beside a server: the environment that is rendered, the user and the files that a kubelet gives it. Sourced inside of
# the namespaces. In: $EXPORTER_IMAGE; EXPORTER, another program than the image's; RECORD, a folder that the series go to.

rendered=$(cd "$testbed/../fixtures/render/postgresql-monitoring/expected/production/order-db" && pwd)/statefulset-order-db.yaml

# exporter_environment: NAME=VALUE lines of the container `exporter` in what is rendered
exporter_environment() {
  awk '/^      - name: / { inside = $3 == "exporter" }
    inside && /^        - name: [A-Z]/ { name = $3 }
    inside && /^          value: / { sub(/^ *value: /, ""); print name "=" $0 }' "$rendered"
}
exporter_user() { awk '/^      - name: / { inside = $3 == "exporter" } inside && $1 == "runAsUser:" { print $2 }' "$rendered"; }

# start_exporter ORDINAL: in the pod's network; ends with the pod
start_exporter() {
  local pod environment
  pod=$(pod_of "$1")
  mapfile -t environment < <(exporter_environment)
  (
    POD=$pod USER_ID=$(exporter_user) IMAGE=$EXPORTER_IMAGE PROGRAM=${EXPORTER:-} \
      nsenter --net="/proc/$(cat "$pod/sandbox")/ns/net" \
      unshare --mount --pid --fork --kill-child bash "$parts/exporter-container.sh" "${environment[@]}" \
      > "$pod/log-exporter" 2>&1 < /dev/null &
    echo $! > "$pod/unshared-exporter"
    wait $! || :
    rm -f "$pod/unshared-exporter"
  ) 2> /dev/null &
}

# metrics ORDINAL: what the exporter gives
metrics() { curl --silent --fail --max-time 20 "http://$(address_of "$1"):9187/metrics"; }
# value_is ORDINAL SERIES NUMBER
value_is() { [[ $(metrics "$1" | sed -n "s/^$2 //p") == "$3" ]]; }

# series ORDINAL: of each series of the database its name and its labels, once, sorted
series() {
  metrics "$1" | grep '^pg_' | grep -v '^pg_settings_' | sed -E 's/"([^"\\]|\\.)*"//g; s/ [^ ]*$//; s/=//g; s/[{},]+/ /g; s/ +$//' | LC_ALL=C sort -u
  # settings are hundreds of one form
  metrics "$1" | sed -nE 's/^(pg_settings_max_connections)[ {].*/\1/p'
}
# record ORDINAL…: writes what these members give to the folder RECORD
record() {
  local i
  [[ -n ${RECORD:-} ]] || return 0
  { for i; do series "$i"; done; } | LC_ALL=C sort -u > "$RECORD/postgresql-$MAJOR.txt"
}

# asked_for: names of series that the alerts and panels of the chart ask for
asked_for() {
  local files=$testbed/../charts/dbrender/files
  grep -ohE '\bpg_[a-z_]+' "$files/postgresql-rules.yaml" "$files/postgresql-dashboard.json" | sort -u
}
# given ORDINAL…: what alerts and panels ask for comes from one of these members
given() {
  local i
  comm -23 <(asked_for) <(for i; do metrics "$i" | sed -nE 's/^(pg_[a-z_]+).*/\1/p'; done | sort -u) > "$WORLD/not-given"
  [[ ! -s $WORLD/not-given ]] || { cat "$WORLD/not-given"; return 1; }
}
# no_failed_collector ORDINAL
no_failed_collector() { not says '^pg_scrape_collector_success.* 0$' <(metrics "$1"); }

# exporter_of PRIMARY STANDBY: what is true of the exporter in both profiles
exporter_of() {
  local i unusual=${awkward_password// /}
  printf '%s' "$unusual" > "$WORLD/credentials/monitor-password"
  deliver
  within 60 'its password is the one that is mounted' same 1 login "$1" monitor "$unusual" postgres
  start_exporter "$1"
  start_exporter "$2"
  for i; do
    within 30 "the exporter of $i reaches its server" value_is "$i" pg_up 1
    check 'its queries are allowed and known' value_is "$i" pg_exporter_last_scrape_error 0
    check 'and its collectors' no_failed_collector "$i"
  done
  check 'the primary is told from the standby' value_is "$1" pg_replication_is_replica 0
  check 'and the standby' value_is "$2" pg_replication_is_replica 1
  record "$@"
  check 'what alerts and panels ask for is given' given "$@"
  check 'its user is no superuser and nobody else' same 'f|f|f|f|f' query "$1" \
    "SELECT rolsuper, rolcreaterole, rolcreatedb, rolreplication, rolbypassrls FROM pg_roles WHERE rolname = 'monitor'"
  check 'is in one group alone' same pg_monitor query "$1" "SELECT string_agg(r.rolname, ' ') FROM pg_auth_members m JOIN pg_roles r ON r.oid = m.roleid WHERE m.member = 'monitor'::regrole"
  insert "$1" 1 10
  check 'and reads no rows' same denied reads_rows "$1"
  printf another-password > "$WORLD/credentials/monitor-password"
  deliver
  within 60 'its password is changed' same 1 login "$1" monitor another-password postgres
  check 'which it has read once: half of its series are gone' not says '^pg_replication_is_replica' <(metrics "$1")
  signal TERM "$1" exporter
  within 10 'the signal of the runbook ends it' test ! -e "$(pod_of "$1")/unshared-exporter"
  start_exporter "$1"
  within 30 'and its next start uses the new one' value_is "$1" pg_up 1
  check 'for all' no_failed_collector "$1"
  : > "$(pod_of "$1")/stopping"   # so that its container is not started again
  signal KILL "$1" postgresql
  within 30 'without its server it says so, and answers all the same' value_is "$1" pg_up 0
}
# reads_rows ORDINAL: as the exporter's user, from within its pod
reads_rows() {
  local said
  chroot_client psql --version > /dev/null
  said=$(PGPASSWORD=$(< "$WORLD/credentials/monitor-password") nsenter --net="/proc/$(cat "$(pod_of "$1")/sandbox")/ns/net" \
    chroot "$WORLD/client" "/usr/lib/postgresql/$MAJOR/bin/psql" -XAtq -h 127.0.0.1 -U monitor -d orders -c 'SELECT count(*) FROM numbers' 2>&1) && { echo "$said"; return; }
  if [[ $said == *'permission denied for table numbers'* ]]; then echo denied; else echo "$said"; fi
}
