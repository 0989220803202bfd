#!/bin/bash
# A container of the rclone image in a database pod, in namespaces of its own: it mounts what is rendered for it and nothing else.
# In: as container.sh; RCLONE_VARIABLES, a file with the rendered variables.
set -euo pipefail
root=$POD/roots/$CONTAINER
mkdir -p "$POD/roots" "$POD/layers/$CONTAINER"/{upper,work} "$root"
mount -t overlay overlay -o "lowerdir=$IMAGE,upperdir=$POD/layers/$CONTAINER/upper,workdir=$POD/layers/$CONTAINER/work" "$root"
mkdir -p "$root"/{etc/dbrender/config,opt/dbrender,tmp,proc,dev,etc}
mount -t proc proc "$root/proc"
mount -t tmpfs -o mode=755 dev "$root/dev"
for each in null zero random urandom; do
  : > "$root/dev/$each"
  mount --bind "/dev/$each" "$root/dev/$each"
done
: > "$root/dev/termination-log"
mount --bind "$POD/termination-$CONTAINER" "$root/dev/termination-log"
read_only() {
  mount --bind "$1" "$root$2"
  mount -o remount,ro,bind "$root$2"
}
read_only "$POD/config" /etc/dbrender/config
read_only "$POD/opt" /opt/dbrender
mount --bind "$POD/tmp" "$root/tmp"
if [ "$CONTAINER" = fetch ]; then
  mkdir -p "$root/var/lib/postgresql"
  mount --bind "$VOLUME" "$root/var/lib/postgresql"
fi
: > "$root/etc/hosts"
mount --bind "$WORLD/hosts" "$root/etc/hosts"
[ ! -d "$WORLD/stub" ] || read_only "$WORLD/stub" /usr/local/sbin
mount -o remount,ro "$root"
mapfile -t variables < "$RCLONE_VARIABLES"
exec setpriv --no-new-privs --inh-caps=-all chroot --userspec=+999:+999 --groups=999 "$root" \
  env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/bin:/bin POD_NAME="$NAME" "${variables[@]}" "$@"
