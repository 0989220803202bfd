# shellcheck shell=bash
# What the exporter's own program says of a member, with what the agent writes for it.
# In: $EXPORTER_IMAGE; EXPORTER, another program than the image's; RECORD, a folder that the series of both profiles go to, as mysql-9.7.txt.

# exporter_arguments: those of the container `exporter` in what is rendered for this profile
exporter_arguments() {
  local rendered=$testbed/../fixtures/render/mysql-$profile-monitoring/expected/production/order-db/statefulset-order-db.yaml
  awk '/^      - name: / { inside = $3 == "exporter" } inside && /^        - --/ { print $2 }' "$rendered"
}

# exporter ORDINAL: in the pod's network and with the volumes that its container has; ends with the pod
exporter() {
  local pod root arguments
  pod=$(pod_of "$1")
  root=$pod/roots/exporter
  mkdir -p "$pod/layers/exporter"/{upper,work} "$root"
  mount -t overlay overlay -o "lowerdir=$EXPORTER_IMAGE,upperdir=$pod/layers/exporter/upper,workdir=$pod/layers/exporter/work" "$root"
  mkdir -p "$root/run/mysqld" "$root/run/dbrender"   # /var/run leads there
  mount --bind "$pod/run" "$root/run/mysqld"
  mount --bind "$pod/patroni" "$root/run/dbrender"
  [[ -z ${EXPORTER:-} ]] || cp "$EXPORTER" "$root/usr/bin/mysqld_exporter"
  mapfile -t arguments < <(exporter_arguments)
  nsenter --net="/proc/$(cat "$pod/sandbox")/ns/net" chroot --userspec=65534:999 --groups=999 "$root" /bin/mysqld_exporter \
    "${arguments[@]}" > "$pod/log-exporter" 2>&1 &
}
# scrape ORDINAL: what it says, in $WORLD/series
scrape() { nsenter --net="/proc/$(cat "$(pod_of "$1")/sandbox")/ns/net" curl --silent --fail http://127.0.0.1:9104/metrics > "$WORLD/series"; }
# series PATTERN: a line of it
series() { grep -Eq -- "$1" "$WORLD/series" || { grep -E '^mysql_(up|version|perf_schema_replication|slave)' "$WORLD/series"; return 1; }; }
scraped() { scrape "$1" && series "$2"; }

# record ORDINAL…: of each series of these members its name and its labels, once, sorted, beside those of the cases before
record() {
  local i
  for i; do
    scrape "$i"
    grep '^mysql_' "$WORLD/series" | sed -E 's/"([^"\\]|\\.)*"//g; s/ [^ ]*$//; s/=//g; s/[{},]+/ /g; s/ +$//' >> "$WORLD/recorded"
  done
  [[ -z ${RECORD:-} ]] || LC_ALL=C sort -u "$WORLD/recorded" > "$RECORD/mysql-$MAJOR.txt"
}
# asked_for: names of series that the alerts and panels of the chart ask for. An exporter that does not know how this server is asked for
# its replication gives none of that.
asked_for() {
  local files=$testbed/../charts/dbrender/files unknown='^$'
  grep -q '^mysql_exporter_collector_success{collector="collect.slave_status"} 1$' "$WORLD/series" || unknown='^mysql_slave_status_'
  grep -ohE '\bmysql_[a-z_]+' "$files/mysql-rules.yaml" "$files/mysql-dashboard.json" | sort -u | grep -vE "$unknown"
}
# given: what alerts and panels ask for comes from one of the members that were recorded
given() {
  comm -23 <(asked_for) <(cut -d ' ' -f 1 "$WORLD/recorded" | sort -u) > "$WORLD/not-given"
  [[ ! -s $WORLD/not-given ]] || { cat "$WORLD/not-given"; return 1; }
  [[ $(asked_for | wc -l) -gt 10 ]]
}

case_exporter() {
  replicas=2 write_config
  start 0 1
  within 120 "two members" online 0 2
  exporter 0
  exporter 1
  within 30 "the exporter logs in as monitor, over the socket" scraped 1 '^mysql_up 1$'
  within 30 "on the primary too" scraped 0 '^mysql_up 1$'
  check "it shows both members of the group, ONLINE" same 2 grep -c '^mysql_perf_schema_replication_group_member_info{.*member_state="ONLINE".*} 1$' "$WORLD/series"
  check "connections, and how many there may be" series '^mysql_global_status_threads_connected [1-9]'
  check "as rendered" series '^mysql_global_variables_max_connections 100$'
  within 30 "whether it takes writes" scraped 0 '^mysql_global_variables_read_only 0$'
  check "no password is among the series" not grep -qF "q'u" "$WORLD/series"
  record 0 1
  kill -KILL "$(process_of 1 mysql)"
  within 60 "a member that is gone is seen" scraped 0 'member_info\{.*member_state="(UNREACHABLE|RECOVERING)"'
  within 120 "and back" online 0 2
  remove_database
  fresh_database
  in_manual
}

in_manual() {
  manual 2
  start 0 1
  within 120 "the first begins an empty database" leads 0
  within 60 "the other follows it" follows 1 0
  exporter 0
  exporter 1
  within 30 "the exporter of the primary logs in" scraped 0 '^mysql_up 1$'
  check "it takes writes" series '^mysql_global_variables_read_only 0$'
  within 30 "that of the standby" scraped 1 '^mysql_up 1$'
  check "it takes none" series '^mysql_global_variables_read_only 1$'
  check "there is no group" not series '^mysql_perf_schema_replication_group_member_info'
  record 0 1
  check "what alerts and panels ask for is given" given
  if [[ -n ${EXPORTER:-} ]]; then
    check "replication runs" series '^mysql_slave_status_replica_io_running\{.*channel_name="",.*\} 1$'
    query 1 'STOP REPLICA IO_THREAD' > "$WORLD/out"
    check "stopped, it says so" scraped 1 '^mysql_slave_status_replica_io_running\{.*channel_name="",.*\} 0$'
  fi
}
