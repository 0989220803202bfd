# shellcheck shell=bash
# The file system that a container has, from this machine's own programs, and what a trial asks of it. In: $WORLD, $testbed, $parts.

passed=0 failed=0
scripts=$testbed/../src/engine/mongodb/scripts
root=$WORLD/root

# check WHAT COMMAND…: counts
check() {
  local what=$1
  shift
  if "$@"; then passed=$((passed + 1)); else
    failed=$((failed + 1))
    printf 'FAILED %s\n' "$what"
  fi
}
# says WORDS: the last word of the last container has them
says() { grep -qF -- "$1" "$root/dev/termination-log" || { printf '  it said: %s\n' "$(tail -n 1 "$root/dev/termination-log")"; return 1; }; }
is() { [[ $1 == "$2" ]] || { printf '  %.200s instead of %.200s\n' "$1" "$2"; return 1; }; }
has() { [[ -e $root$1 ]] || { printf '  there is no %s\n' "$1"; return 1; }; }
has_not() { [[ ! -e $root$1 ]] || { printf '  there is still %s\n' "$1"; return 1; }; }
recorded() { grep -qF -- "$2" "$root/record/$1" 2>/dev/null || { printf '  not in the record of %s: %s\n' "$1" "$2"; return 1; }; }
not_recorded() { ! grep -qF -- "$2" "$root/record/$1" 2>/dev/null || { printf '  in the record of %s: %s\n' "$1" "$2"; return 1; }; }

# make_world: a root of bind mounts, with the paths of a container that are not on this machine
make_world() {
  ip link set lo up
  local each
  mkdir "$root"
  mount -t tmpfs -o mode=755 root "$root"
  for each in usr bin sbin lib lib64; do
    if [[ -L /$each ]]; then ln -s "$(readlink "/$each")" "$root/$each"; elif [[ -d /$each ]]; then mkdir "$root/$each"; mount --rbind "/$each" "$root/$each"; fi
  done
  mkdir -p "$root"/{proc,dev,tmp,record,stand-ins,source,etc/dbrender/{config,credentials,scripts,tls},opt/dbrender,data/db,var/run/mongodb,backup,server}
  mount --bind "$parts/stand-ins" "$root/stand-ins"
  mount --rbind /proc "$root/proc"
  for each in null zero random urandom; do
    : >"$root/dev/$each"
    mount --bind "/dev/$each" "$root/dev/$each"
  done
  ln -s /proc/self/fd "$root/dev/fd"
  ln -s /proc/self/fd/0 "$root/dev/stdin"
  for each in passwd group hosts ld.so.cache alternatives; do if [[ -e /etc/$each ]]; then cp -rL "/etc/$each" "$root/etc/"; fi; done
  # a name that is not in the file does not exist
  echo 'hosts: files' >"$root/etc/nsswitch.conf"
  chmod 1777 "$root/tmp"
}

# fresh: as a new pod finds it
fresh() {
  local name
  rm -rf "$root"/{etc/dbrender/*,opt/dbrender,data/db,var/run/mongodb,record,tmp,fault,server.json,set.json}
  mountpoint -q "$root/backup" && umount "$root/backup"
  mkdir -p "$root"/{etc/dbrender/{config,credentials,tls},opt/dbrender,data/db,var/run/mongodb,record,tmp}
  rm -rf "${root:?}"/backup/* "$root"/backup/.[a-z]*
  chmod 1777 "$root/tmp"
  cp -rL "$scripts" "$root/etc/dbrender/scripts"
  : >"$root/dev/termination-log"
  cat >"$root/etc/dbrender/config/facts" <<'END'
APP_DATABASE='app'
APP_USERNAME='app'
DB_NAME='order-db'
HEADLESS='order-db-headless.production.svc.cluster.local'
MEMBERS_MAX='7'
NAMESPACE='production'
PORT='27017'
REPLICATION='synchronous'
RESTORE_ID=''
SERIES='8.0'
SERVICE='order-db.production.svc.cluster.local'
TLS='off'
VERSION='8.0.29'
WAIT_PORT='27018'
END
  for name in root backup monitor restore app; do printf "secret-%s-'quoted'" "$name" >"$root/etc/dbrender/credentials/$name-password"; done
  printf 'c2VjcmV0a2V5\n' >"$root/etc/dbrender/credentials/keyfile"
  printf "RETENTION='2'\nDESTINATION_PATH='production/order-db'\nDESTINATION='volume'\n" >"$root/etc/dbrender/config/backup"
  printf "RESTORE_ID='production/order-db/latest'\nSOURCE_PATH='production/order-db'\nBACKUP='latest'\nDESTINATION='volume'\n" >"$root/etc/dbrender/config/restore"
  echo 1 >"$root/etc/dbrender/config/replicas"
}

fact() { sed -i "s|^$1=.*|$1='$2'|" "$root/etc/dbrender/config/${3:-facts}"; }

# inside COMMAND…: as a container's process; its words in $WORLD/said, or where $said says
inside() {
  chroot "$root" env -i PATH=/stand-ins:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/tmp POD_NAME=order-db-0 POD_NAMESPACE=production \
    POD_IP=10.0.0.1 WAIT_SECONDS=2 "${extra[@]}" "$@" >"${said:-$WORLD/said}" 2>&1
}
extra=()
code_of() {
  local code=0
  : >"$root/dev/termination-log"
  inside "$@" || code=$?
  echo "$code"
}
# begin COMMAND…: in the background; its number in $began
begin() {
  inside "$@" &
  began=$!
}
# ends_all: every process of this case; the trial is the first process of a namespace of its own
ends_all() {
  if (($$ == 1)); then kill -KILL -1 2>/dev/null || :; fi
  wait 2>/dev/null || :
  rm -rf "$root/fault"
  extra=()
}
