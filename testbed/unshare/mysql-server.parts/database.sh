# shellcheck shell=bash
# The Database under trial: its configuration, as rendered (a test of the engine keeps those files), and questions to its servers.

awkward_password=$'q\'u"o\\t:e #p%$`!&; {}[] ü'

# fresh_database: configuration and passwords of a Database with one member, no pods, no volumes
fresh_database() {
  local each
  profile=automatic
  rm -rf "$WORLD/config" "$WORLD/credentials" "$WORLD/tls"
  mkdir "$WORLD/config" "$WORLD/credentials"
  write_config
  printf '%s!' "$awkward_password" > "$WORLD/credentials/replication-password"   # the longest that replication takes has 32 bytes
  for each in backup monitor restore root; do printf '%s of %s' "$awkward_password" "$each" > "$WORLD/credentials/$each-password"; done
  printf '%s' "$awkward_password" > "$WORLD/credentials/app-password"
}

# write_config [NAME=VALUE…]: as rendered for three members; the facts with changes
write_config() {
  local each
  cp "$parts/$profile"/* "$WORLD/config/"
  echo "RETAIN_SECONDS='${retain:-300}'" >> "$WORLD/config/facts"
  for each; do printf "%s='%s'\n" "${each%%=*}" "${each#*=}" >> "$WORLD/config/facts"; done
  echo "${replicas:-1}" > "$WORLD/config/replicas"
  [[ $profile == automatic ]] || echo "${primary:-0}" > "$WORLD/config/primary"
}

# deliver [ORDINAL…]: the kubelets of those pods (default all) have seen the new configuration and Secrets
deliver() {
  local i
  (($# > 0)) || set -- 0 1 2 3
  for i; do
    [[ -e $(pod_of "$i")/config ]] || continue
    swap "$(pod_of "$i")/config" "$WORLD/config"
    swap "$(pod_of "$i")/credentials" "$WORLD/credentials"
    [[ ! -e $WORLD/tls ]] || swap "$(pod_of "$i")/tls" "$WORLD/tls"
  done
}
set_replicas() { echo "$1" > "$WORLD/config/replicas"; }
set_primary() { echo "$1" > "$WORLD/config/primary"; }
force() { if [[ -n $1 ]]; then echo "$1" > "$WORLD/config/force-primary"; else rm -f "$WORLD/config/force-primary"; fi; }

# start ORDINAL…: volumes when missing, and pods
start() {
  local i
  for i; do
    [[ -e $(volume_of "$i") ]] || make_volume "$i"
    start_pod "$i"
  done
}
remove_database() {
  local i
  for i in 0 1 2 3; do
    [[ ! -e $(pod_of "$i") ]] || kill_pod "$i"
    remove_volume "$i"
  done
}

log_of() { echo "$(pod_of "$1")/log-$2"; }
message_of() { echo "$(pod_of "$1")/last-message-$2"; }
# says_now ORDINAL: what the agent has to say
says_now() { echo "$(pod_of "$1")/run/agent-says"; }

# query ORDINAL SQL: as the administrator on the socket
query() { inside "$1" mysql mysql --no-defaults -S /var/run/mysqld/mysqld.sock -u mysql -N -B -e "$2" 2>&1; }
# login ORDINAL USER PASSWORD [SQL]: from another address, as a client
login() {
  local escaped=${3//\\/\\\\}
  (
    umask 077
    printf '[client]\nuser=%s\npassword="%s"\n' "$2" "${escaped//\"/\\\"}" > "$WORLD/client.cnf"
  )
  chroot_client mysql --defaults-file="$WORLD/client.cnf" --default-character-set=utf8mb4 --ssl-mode="${ssl_mode:-PREFERRED}" \
    -h "$(address_of "$1")" -N -B --connect-timeout=3 -e "${4:-SELECT 1}" 2>&1
}
# a client program of the image, with its libraries, in this network
chroot_client() {
  if [[ ! -e $WORLD/client ]]; then
    mkdir -p "$WORLD"/client "$WORLD"/client-layer/{upper,work}
    mount -t overlay overlay -o "lowerdir=$IMAGE,upperdir=$WORLD/client-layer/upper,workdir=$WORLD/client-layer/work" "$WORLD/client"
    mkdir -p "$WORLD/client$WORLD"
    mount --bind "$WORLD" "$WORLD/client$WORLD"
  fi
  chroot "$WORLD/client" "$@"
}

role_of() { cat "$(pod_of "$1")/patroni/role"; }
is() { [[ $(role_of "$1") == "$2" ]]; }
ready() { inside "$1" mysql /opt/dbrender/probe.sh readiness; }
# members ORDINAL: how many that member sees, and how many of them are ONLINE
members() { query "$1" "SELECT COUNT(*), SUM(member_state = 'ONLINE') FROM performance_schema.replication_group_members" | tr '\t' ' '; }
online() { [[ $(members "$1") == "$2 $2" ]]; }
primary_of() { query "$1" "SELECT REGEXP_SUBSTR(SUBSTRING_INDEX(member_host, '.', 1), '[0-9]+\$') FROM performance_schema.replication_group_members WHERE member_role = 'PRIMARY'"; }

# a table of numbers that stands for the data
insert() { query "$1" "CREATE TABLE IF NOT EXISTS app.numbers (n INT PRIMARY KEY); INSERT INTO app.numbers WITH RECURSIVE r (n) AS (SELECT $2 UNION ALL SELECT n + 1 FROM r WHERE n < $3) SELECT /*+ SET_VAR(cte_max_recursion_depth = 1000000) */ n FROM r"; }
numbers() { query "$1" 'SELECT COUNT(*), SUM(n) FROM app.numbers' | tr '\t' ' '; }
# up_to N: what numbers prints when 1 to N are all there
up_to() { echo "$1 $(($1 * ($1 + 1) / 2))"; }
holds() { [[ $(numbers "$1") == "$(up_to "$2")" ]]; }
checksum() { query "$1" 'CHECKSUM TABLE app.numbers' | cut -f 2; }

rows() { query "$1" 'SELECT COUNT(*) FROM app.numbers'; }
writable() { [[ $(query "$1" 'SELECT @@super_read_only') == 0 ]]; }
state_of_member() { query "$1" 'SELECT member_state FROM performance_schema.replication_group_members WHERE member_id = @@server_uuid'; }
