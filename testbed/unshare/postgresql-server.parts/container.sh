#!/bin/bash
# Inside new mount and process namespaces: mounts what a container of a database pod has, and becomes its process 1.
# In: POD (directory), CONTAINER, IMAGE (root file system), VOLUME, NAME, REVISION; the command as arguments.
set -euo pipefail
root=$POD/roots/$CONTAINER
mkdir -p "$POD/roots" "$POD/layers/$CONTAINER"/{upper,work} "$root"
mount -t overlay overlay -o "lowerdir=$IMAGE,upperdir=$POD/layers/$CONTAINER/upper,workdir=$POD/layers/$CONTAINER/work" "$root"
mkdir -p "$root"/{etc/dbrender/{config,credentials,scripts,tls},opt/dbrender,etc/patroni,var/lib/postgresql,run/postgresql,tmp,proc,dev,etc}
mount -t proc proc "$root/proc"
mount -t tmpfs -o mode=755 dev "$root/dev"
for each in null zero full random urandom tty; do
  : > "$root/dev/$each"
  mount --bind "/dev/$each" "$root/dev/$each"
done
ln -s /proc/self/fd "$root/dev/fd"
mkdir "$root/dev/shm"
mount -t tmpfs -o mode=1777,size=64m shm "$root/dev/shm"
: > "$root/dev/termination-log"
mount --bind "$POD/termination-$CONTAINER" "$root/dev/termination-log"
mount --bind "$VOLUME" "$root/var/lib/postgresql"
mount --bind "$POD/config" "$root/etc/dbrender/config"
mount --bind "$POD/credentials" "$root/etc/dbrender/credentials"
[ ! -e "$POD/tls" ] || mount --bind "$POD/tls" "$root/etc/dbrender/tls"
mount --bind "$POD/opt" "$root/opt/dbrender"
mount --bind "$POD/patroni" "$root/etc/patroni"
mount --bind "$POD/run" "$root/run/postgresql"
mount --bind "$POD/tmp" "$root/tmp"
[ "$CONTAINER" != setup ] || mount --bind "$WORLD/scripts" "$root/etc/dbrender/scripts"
: > "$root/etc/hosts"
mount --bind "$WORLD/hosts" "$root/etc/hosts"
echo 'hosts: files' > "$root/etc/nsswitch.conf"
if [ -e "$WORLD/serviceaccount" ]; then
  mkdir -p "$root/run/secrets/kubernetes.io/serviceaccount"
  mount --bind "$WORLD/serviceaccount" "$root/run/secrets/kubernetes.io/serviceaccount"
fi
mount -o remount,ro "$root"
hostname "$NAME"
# shellcheck disable=SC2086 # a list of variables
exec chroot "$root" setpriv --reuid=999 --regid=999 --clear-groups --no-new-privs --bounding-set=-all \
  env --default-signal=INT,QUIT -i PATH="/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/usr/lib/postgresql/$MAJOR/bin" LANG=C.UTF-8 HOME=/tmp \
  POD_NAME="$NAME" POD_NAMESPACE=production POD_IP="$ADDRESS" REVISION="$REVISION" PATRONI_NAME="$NAME" PYTHONDONTWRITEBYTECODE=1 \
  PATRONI_POSTGRESQL_CONNECT_ADDRESS="$ADDRESS:5432" PATRONI_RESTAPI_CONNECT_ADDRESS="$ADDRESS:8008" ${EXTRA:-} "$@"
