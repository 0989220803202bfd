#!/bin/bash
# One container of the backup's pod, in namespaces of its own. In: TASK (directory with backup, base, tmp, config, credentials, termination), IMAGE, KIND
# (server or rclone); the command as arguments.
set -euo pipefail
root=$TASK/root-$KIND
mkdir -p "$TASK/layer-$KIND"/{upper,work} "$root"
mount -t overlay overlay -o "lowerdir=$IMAGE,upperdir=$TASK/layer-$KIND/upper,workdir=$TASK/layer-$KIND/work" "$root"
mkdir -p "$root"/{backup,etc/dbrender/config,etc/dbrender/credentials,etc/dbrender/scripts,tmp,proc,dev}
mount -t proc proc "$root/proc"
mount -t tmpfs -o mode=755 dev "$root/dev"
for each in null zero random urandom; do
  : > "$root/dev/$each"
  mount --bind "/dev/$each" "$root/dev/$each"
done
ln -s /proc/self/fd "$root/dev/fd"
: > "$root/dev/termination-log"
mount --bind "$TASK/termination" "$root/dev/termination-log"
mount --bind "$TASK/backup" "$root/backup"
mkdir -p "$root/backup/base"
mount --bind "$TASK/base" "$root/backup/base"
mount --bind "$TASK/config" "$root/etc/dbrender/config"
mount --bind "$WORLD/scripts" "$root/etc/dbrender/scripts"
mount --bind "$TASK/tmp" "$root/tmp"
variables=()
if [[ $KIND == server ]]; then
  mount --bind "$TASK/credentials" "$root/etc/dbrender/credentials"
else
  mapfile -t variables < "$RCLONE_VARIABLES"
fi
: > "$root/etc/hosts"
mount --bind "$WORLD/hosts" "$root/etc/hosts"
mount -o remount,ro "$root"
exec setpriv --no-new-privs --inh-caps=-all chroot --userspec=+999:+999 --groups=999 "$root" \
  env -i PATH="/usr/lib/postgresql/$MAJOR/bin:/usr/local/bin:/usr/bin:/bin" HOME=/tmp "${variables[@]}" "$@"
