# shellcheck shell=bash
# The Database under trial: its configuration, written here by hand as the renderer would, and questions to its servers.

awkward_password=$'q\'u"o\\t:e #p%$`!&; {}[] ü'

# fresh_database: configuration and passwords of a Database with one member, no pods, no volumes
fresh_database() {
  rm -rf "$WORLD/config" "$WORLD/credentials" "$WORLD/tls"
  mkdir "$WORLD/config" "$WORLD/credentials"
  write_facts
  echo 1 > "$WORLD/config/replicas"
  echo 0 > "$WORLD/config/primary"
  # shellcheck disable=SC2119
  write_settings
  local each
  for each in replication rewind backup monitor patroni restore; do printf '%s of %s' "${admin_password:-$awkward_password}" "$each" > "$WORLD/credentials/$each-password"; done
  printf '%s' "$awkward_password" > "$WORLD/credentials/app-password"
}

# write_facts [NAME=VALUE…]
write_facts() {
  local each
  cat > "$WORLD/config/facts" << END
DB_NAME='$name'
NAMESPACE='${namespace:-production}'
PROFILE='${profile:-manual}'
MAJOR='${facts_major:-$MAJOR}'
VERSION='$MAJOR.0'
APP_DATABASE='orders'
APP_USERNAME='order user'
PORT='5432'
HEADLESS='$name-headless.production.svc.cluster.local'
REPLICATION='synchronous'
TLS='off'
RESTORE_ID=''
MEMBERS_MAX='7'
END
  for each; do printf "%s='%s'\n" "${each%%=*}" "${each#*=}" >> "$WORLD/config/facts"; done
}

# write_settings [LINE…]: postgresql.conf and pg_hba.conf, as from the templates
# shellcheck disable=SC2120 # lines are given in cases
write_settings() {
  cat > "$WORLD/config/postgresql.conf" << END
listen_addresses = '*'
port = '5432'
unix_socket_directories = '/var/run/postgresql'
max_connections = '60'
shared_buffers = '32MB'
wal_level = 'replica'
max_wal_senders = '10'
max_replication_slots = '10'
wal_keep_size = '0'
max_slot_wal_keep_size = '64MB'
min_wal_size = '32MB'
max_wal_size = '64MB'
wal_log_hints = 'on'
hot_standby = 'on'
wal_sender_timeout = '5s'
wal_receiver_timeout = '5s'
wal_retrieve_retry_interval = '1s'
password_encryption = 'scram-sha-256'
log_timezone = 'UTC'
log_statement = '${log_statement:-all}'
$(printf '%s\n' "$@")
include_if_exists = '/var/run/postgresql/member.conf'
END
  cat > "$WORLD/config/pg_hba.conf" << 'END'
local all postgres peer
local all all scram-sha-256
host all monitor 127.0.0.1/32 scram-sha-256
host all monitor ::1/128 scram-sha-256
host replication replication all scram-sha-256
host postgres rewind all scram-sha-256
host all postgres,replication,rewind all reject
host all all all scram-sha-256
END
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
set_primary() { echo "$1" > "$WORLD/config/primary"; }
set_replicas() { echo "$1" > "$WORLD/config/replicas"; }
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

# query ORDINAL SQL [DATABASE]: as the superuser on the socket
query() { inside "$1" postgresql psql -XAtq -v ON_ERROR_STOP=1 -h /var/run/postgresql -U postgres -d "${3:-postgres}" -c "$2" 2>&1; }
# login ORDINAL USER PASSWORD DATABASE [SQL]: from another address, as a client
login() {
  (
    umask 077
    local escaped=${3//\\/\\\\}
    printf '*:*:*:*:%s\n' "${escaped//:/\\:}" > "$WORLD/client.pgpass"
  )
  PGPASSFILE=$WORLD/client.pgpass PGCONNECT_TIMEOUT=3 chroot_client psql -XAtqw -h "$(address_of "$1")" -U "$2" -d "$4" -c "${5:-SELECT 1}" 2>&1
}
# a client program of the image, with its libraries, in this network
chroot_client() {
  if [[ ! -e $WORLD/client ]]; then
    mkdir -p "$WORLD"/client "$WORLD"/client-layer/{upper,work}
    mount -t overlay overlay -o "lowerdir=$IMAGE,upperdir=$WORLD/client-layer/upper,workdir=$WORLD/client-layer/work" "$WORLD/client"
    mkdir -p "$WORLD/client$WORLD"
    mount --bind "$WORLD" "$WORLD/client$WORLD"
  fi
  chroot "$WORLD/client" "/usr/lib/postgresql/$MAJOR/bin/$1" "${@:2}"
}

role_of() { query "$1" "SELECT CASE WHEN pg_is_in_recovery() THEN 'standby' ELSE 'primary' END"; }
is() { [[ $(role_of "$1") == "$2" ]]; }
streams() { [[ $(query "$1" "SELECT sender_host FROM pg_stat_wal_receiver WHERE status = 'streaming'") == "$name-$2."* ]]; }
ready() { inside "$1" postgresql /opt/dbrender/probe.sh readiness; }
timeline() { query "$1" 'CHECKPOINT; SELECT timeline_id FROM pg_control_checkpoint()'; }

# a table of numbers that stands for the data
insert() { query "$1" "CREATE TABLE IF NOT EXISTS numbers (n int PRIMARY KEY); INSERT INTO numbers SELECT generate_series($2, $3)" orders > "$WORLD/insert.out"; }
numbers() { query "$1" 'SELECT count(*), sum(n) FROM numbers' orders; }
# up_to N: what numbers prints when 1 to N are all there
up_to() { echo "$1|$(($1 * ($1 + 1) / 2))"; }
holds() { [[ $(numbers "$1") == "$(up_to "$2")" ]]; }
