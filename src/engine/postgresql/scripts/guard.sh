#!/bin/bash
# shellcheck source-path=SCRIPTDIR
# Refuses a volume that this server must not touch, with one sentence. Changes nothing but the mode of PGDATA.
set -euo pipefail
scripts=$(dirname "$0")
# shellcheck source=/dev/null
. /etc/dbrender/config/facts
# shellcheck source=message.sh
. "$scripts/message.sh"
# shellcheck source=volume.sh
. "$scripts/volume.sh"

program=$(postgres --version 2>/dev/null | sed -n 's/^postgres (PostgreSQL) \([0-9]*\).*/\1/p')
[ "$program" = "$MAJOR" ] ||
  refuse "The image holds PostgreSQL ${program:-nothing that runs}, but this database is of major version $MAJOR: the image of this version in the catalog or in images of the platform file is wrong."

[ -d "$volume" ] && [ -w "$volume" ] ||
  refuse "The volume at $volume cannot be written by uid $(id -u): it is read-only, or fsGroup was not applied; check the claim data-$POD_NAME and its storage class."

# An image's former layout: data is there, and a server that looks elsewhere would start empty.
[ ! -e "$volume/PG_VERSION" ] ||
  refuse "The volume has a data directory of PostgreSQL $(head -c 8 "$volume/PG_VERSION" | tr -d '\n') in its root ($volume/PG_VERSION): with no pod running, move its files to $PGDATA, or restore a backup into a new database; nothing was changed."
[ -e "$PGDATA/PG_VERSION" ] || [ ! -e "$volume/data/PG_VERSION" ] ||
  refuse "The volume has a data directory of PostgreSQL $(head -c 8 "$volume/data/PG_VERSION" | tr -d '\n') in the layout of former images ($volume/data/PG_VERSION): with no pod running, move $volume/data to $PGDATA, or restore a backup into a new database; nothing was changed."

if [ ! -e "$PGDATA/PG_VERSION" ]; then
  for file in "$volume"/*/PG_VERSION "$volume"/*/*/PG_VERSION; do
    [ -e "$file" ] || continue
    case $file in "$base"/*) continue ;; esac
    refuse "The volume holds PostgreSQL $(head -c 8 "$file" | tr -d '\n') ($file), but this database is now of version $MAJOR: set the version back, and move to $MAJOR by a backup or a logical copy into a new database; nothing was changed."
  done
fi

[ -d "$base" ] || mkdir -p "$base"
work_resume

if [ -e "$PGDATA" ]; then
  found=$(head -c 8 "$PGDATA/PG_VERSION" 2>/dev/null | tr -d '\n') || found=''
  if [ -z "$found" ]; then
    [ -n "$(ls -A "$PGDATA")" ] &&
      refuse "The directory $PGDATA is not empty and has no PG_VERSION: it is half of an initialisation or copy that was not made by dbrender; look at it and move it away; nothing was changed."
    rmdir "$PGDATA"
  elif [ "$found" != "$MAJOR" ]; then
    refuse "The file $PGDATA/PG_VERSION says $found, but this database is of version $MAJOR: the directory was made by another server; nothing was changed."
  else
    [ -s "$PGDATA/global/pg_control" ] ||
      refuse "The data directory $PGDATA has no global/pg_control: it is half of an initialisation or copy that was not made by dbrender, or it is damaged; restore a backup, or move it away so that this member is cloned again; nothing was changed."
    # fsGroup may have opened it to the group; the server refuses to start then
    chmod 0700 "$PGDATA"
  fi
fi
