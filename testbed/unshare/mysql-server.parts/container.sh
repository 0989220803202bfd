#!/bin/bash
# Inside new mount and process namespaces: mounts what a container of a database pod has, and becomes its process 1.
# In: POD (directory), CONTAINER, IMAGE (root file system), VOLUME, NAME, ADDRESS, REVISION; the command as arguments.
set -euo pipefail
root=$POD/roots/$CONTAINER
mkdir -p "$POD/roots" "$POD/layers/$CONTAINER"/{upper,work} "$root"
mount -t overlay overlay -o "lowerdir=$IMAGE,upperdir=$POD/layers/$CONTAINER/upper,workdir=$POD/layers/$CONTAINER/work" "$root"
mkdir -p "$root"/{etc/dbrender/{config,credentials,scripts,tls},opt/dbrender,var/lib/mysql,run/mysqld,run/dbrender,tmp,proc,dev}
mount -t proc proc "$root/proc"
mount -t tmpfs -o mode=755 dev "$root/dev"
for each in null zero full random urandom tty; do
  : > "$root/dev/$each"
  mount --bind "/dev/$each" "$root/dev/$each"
done
ln -s /proc/self/fd "$root/dev/fd"
: > "$root/dev/termination-log"
mount --bind "$POD/termination-$CONTAINER" "$root/dev/termination-log"
mount --bind "$VOLUME" "$root/var/lib/mysql"
mount --bind "$POD/config" "$root/etc/dbrender/config"
mount --bind "$POD/credentials" "$root/etc/dbrender/credentials"
[ ! -e "$POD/tls" ] || mount --bind "$POD/tls" "$root/etc/dbrender/tls"
mount --bind "$POD/opt" "$root/opt/dbrender"
mount --bind "$POD/run" "$root/run/mysqld"
if [ -e "$POD/front" ]; then
  mkdir -p "$root/usr/local/sbin"
  mount --bind "$POD/front" "$root/usr/local/sbin"
fi
[ "$CONTAINER" != agent ] || mount --bind "$POD/patroni" "$root/run/dbrender"
mount --bind "$POD/tmp" "$root/tmp"
case $CONTAINER in setup | backup | restore) mount --bind "$WORLD/scripts" "$root/etc/dbrender/scripts" ;; esac
if [ -e "$POD/backup" ]; then
  mkdir "$root/backup"
  mount --bind "$POD/backup" "$root/backup"
fi
: > "$root/etc/hosts"
mount --bind "$WORLD/hosts" "$root/etc/hosts"
echo 'hosts: files' > "$root/etc/nsswitch.conf"
mount -o remount,ro "$root"
hostname "$NAME"
exec chroot "$root" setpriv --reuid=999 --regid=999 --clear-groups --no-new-privs --bounding-set=-all \
  env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/tmp \
  POD_NAME="$NAME" POD_NAMESPACE=production POD_IP="$ADDRESS" REVISION="$REVISION" "$@"
