#!/bin/bash
# Inside new mount and process namespaces, in a pod's network: becomes the exporter's process 1. In: POD (directory), IMAGE (root file
# system), USER_ID, PROGRAM (perhaps); the environment as arguments, NAME=VALUE.
set -euo pipefail
root=$POD/roots/exporter
mkdir -p "$root" "$POD/layers/exporter"/{upper,work}
mount -t overlay overlay -o "lowerdir=$IMAGE,upperdir=$POD/layers/exporter/upper,workdir=$POD/layers/exporter/work" "$root"
mkdir -p "$root/etc/dbrender/credentials" "$root/proc"
mount -t proc proc "$root/proc"
mount --bind "$POD/credentials" "$root/etc/dbrender/credentials"
[ -z "$PROGRAM" ] || cp "$PROGRAM" "$root/usr/bin/postgres_exporter"
mount -o remount,ro "$root"
# the volume's fsGroup, 999, is a group of every process of the pod
exec chroot "$root" setpriv --reuid="$USER_ID" --regid="$USER_ID" --groups=999 --no-new-privs --bounding-set=-all \
  env -i PATH=/usr/bin:/bin "$@" /bin/postgres_exporter
