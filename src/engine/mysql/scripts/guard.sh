#!/bin/bash
# shellcheck source-path=SCRIPTDIR
# Refuses a volume that this server must not touch, with one sentence. Changes nothing.
set -euo pipefail
scripts=$(dirname "$0")
# shellcheck source=/dev/null
. /etc/dbrender/config/facts
# shellcheck source=message.sh
. "$scripts/message.sh"
# shellcheck source=volume.sh
. "$scripts/volume.sh"

program=$(mysqld --no-defaults --version 2>/dev/null | sed -n 's/.* Ver \([0-9]*\.[0-9]*\)\..*/\1/p')
[ "$program" = "$SERIES" ] ||
  refuse "The image holds MySQL ${program:-nothing that runs}, but this database is of series $SERIES: the image of this version in the catalog or in images of the platform file is wrong."

[ -d "$volume" ] && [ -w "$volume" ] ||
  refuse "The volume at $volume cannot be written by uid $(id -u): it is read-only, or fsGroup was not applied; check the claim data-$POD_NAME and its storage class."

# The official image's own layout: data is there, and a server that looks elsewhere would start empty.
for file in ibdata1 mysql.ibd; do
  [ ! -e "$volume/$file" ] ||
    refuse "The volume has a data directory of MySQL in its root ($volume/$file): with no pod running, move its files to $data, or restore a backup into a new database; nothing was changed."
done

if [ -e "$data" ] && ! has_data; then
  [ -z "$(ls -A "$data")" ] ||
    refuse "The directory $data is not empty and has no mysql.ibd and ibdata1: it is half of an initialisation or copy that was not made by dbrender, or it is damaged; look at it and move it away; nothing was changed."
  rmdir "$data"
fi

# history: the version of the server that last changed the data directory, as the server itself wrote it down.
history() { grep -o '"version":"[0-9.]*' "$data/mysql_upgrade_history" 2>/dev/null | tail -n 1 | cut -d '"' -f 4; }

if has_data; then
  found=$(history) || found=''
  [ -n "$found" ] ||
    refuse "The data directory $data has no mysql_upgrade_history: a server older than MySQL 8.4 made it, and $SERIES cannot read it. Upgrade it to 8.4 with the server that made it first, or restore a backup into a new database; nothing was changed."
  IFS=. read -r major minor _ <<< "$found"
  case "$major.$minor to $SERIES" in
    "$SERIES to $SERIES" | '8.4 to 9.7') ;;
    *)
      if [ "$((major * 100 + minor))" -gt "$((${SERIES%%.*} * 100 + ${SERIES#*.}))" ]; then
        refuse "The file $data/mysql_upgrade_history says $found, which is newer than series $SERIES: no older server reads it. Set version back to ${major}.${minor}, or restore a backup into a new database; nothing was changed."
      fi
      refuse "The file $data/mysql_upgrade_history says $found, and a server of series $SERIES reads that of the series before it alone: go through that one first, or restore a backup into a new database; nothing was changed."
      ;;
  esac
fi
printf 'Ready to start %s, MySQL %s.\n' "$POD_NAME" "$VERSION"
