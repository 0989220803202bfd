# shellcheck shell=bash
# What the exporter's own program says of a member, with what the agent writes for it.

# exporter ORDINAL: in the pod's network and with the volumes that its container has; ends with the pod
exporter() {
  local pod root
  pod=$(pod_of "$1")
  root=$pod/roots/exporter
  mkdir -p "$pod/layers/exporter"/{upper,work} "$root"
  mount -t overlay overlay -o "lowerdir=$EXPORTER,upperdir=$pod/layers/exporter/upper,workdir=$pod/layers/exporter/work" "$root"
  mkdir -p "$root/run/mysqld" "$root/run/dbrender"   # /var/run leads there
  mount --bind "$pod/run" "$root/run/mysqld"
  mount --bind "$pod/patroni" "$root/run/dbrender"
  nsenter --net="/proc/$(cat "$pod/sandbox")/ns/net" chroot --userspec=65534:999 --groups=999 "$root" /bin/mysqld_exporter \
    --config.my-cnf=/var/run/dbrender/exporter.cnf --collect.perf_schema.replication_group_members > "$pod/log-exporter" 2>&1 &
}
# scrape ORDINAL: what it says, in $WORLD/series
scrape() { nsenter --net="/proc/$(cat "$(pod_of "$1")/sandbox")/ns/net" curl --silent --fail http://127.0.0.1:9104/metrics > "$WORLD/series"; }
# series PATTERN: a line of it
series() { grep -Eq -- "$1" "$WORLD/series" || { grep -E '^mysql_(up|version|perf_schema_replication)' "$WORLD/series"; return 1; }; }
scraped() { scrape "$1" && series "$2"; }

case_exporter() {
  replicas=2 write_config
  start 0 1
  within 120 "two members" online 0 2
  exporter 0
  within 30 "the exporter logs in as monitor, over the socket" scraped 0 '^mysql_up 1$'
  check "it shows both members of the group, ONLINE" same 2 grep -c '^mysql_perf_schema_replication_group_member_info{.*member_state="ONLINE".*} 1$' "$WORLD/series"
  check "connections, and how many there may be" series '^mysql_global_status_threads_connected [1-9]'
  check "as rendered" series '^mysql_global_variables_max_connections 100$'
  check "whether it takes writes" series '^mysql_global_variables_read_only 0$'
  check "no password is among the series" not grep -qF "q'u" "$WORLD/series"
  grep -o '^mysql_[a-z0-9_]*' "$WORLD/series" | sort -u | wc -l
  kill -KILL "$(process_of 1 mysql)"
  within 60 "a member that is gone is seen" scraped 0 'member_info\{.*member_state="(UNREACHABLE|RECOVERING)"'
  within 120 "and back" online 0 2
}
