#!/bin/bash
# shellcheck source-path=SCRIPTDIR
# Refuses a volume that this server must not touch, with one sentence, and copies the key file and the certificate to where the server
# takes them. Changes nothing on the volume but an empty directory of data.
set -euo pipefail
scripts=$(dirname "$0")
# shellcheck source=/dev/null
. /etc/dbrender/config/facts
# shellcheck source=message.sh
. "$scripts/message.sh"
# shellcheck source=volume.sh
. "$scripts/volume.sh"

# Series, oldest first. A server reads the data of its own series and of the one before it.
known='6.0 7.0 8.0 8.2 8.3'
# place SERIES: its number in the list; nothing when it is not there.
place() { tr ' ' '\n' <<< "$known" | grep -nxF "$1" | cut -d : -f 1; }

program=$(mongod --version 2>/dev/null | sed -n 's/^db version v\([0-9]*\.[0-9]*\)\..*/\1/p') || program=''
[ "$program" = "$SERIES" ] ||
  refuse "The image holds MongoDB ${program:-nothing that runs (from 5.0 on the server needs a processor with AVX)}, but this database is of series $SERIES: the image of this version in the catalog or in images of the platform file is wrong, or the node is too old for it."

[ -d "$volume" ] && [ -w "$volume" ] ||
  refuse "The volume at $volume cannot be written by uid $(id -u): it is read-only, or fsGroup was not applied; check the claim data-$POD_NAME and its storage class."

# The official image's own layout: data is there, and a server that looks elsewhere would start empty.
for file in WiredTiger storage.bson; do
  [ ! -e "$volume/$file" ] ||
    refuse "The volume has a data directory of MongoDB in its root ($volume/$file): with no pod running, move its files to $data, or restore a backup into a new database; nothing was changed."
done

if [ -e "$volume/member" ] && ! has_data; then
  refuse "The volume belongs to a member of set $(value member set) ($volume/member is there), but its data in $data is gone: an empty one is not made in its place. If another member has the data, or it is not wanted, delete the claim data-$POD_NAME and this pod."
fi

if [ -e "$volume/server" ] && has_data; then
  found=$(value server version)
  fcv=$(value server fcv)
  major=$(cut -d . -f 1,2 <<< "$found")
  then=$(place "$major")
  now=$(place "$SERIES")
  [ -n "$now" ] || refuse "This version of the scripts does not know the series $SERIES; it knows: $known."
  [ -n "$then" ] || refuse "The file $volume/server says version '$found', which is of no series that is known here ($known): look at the volume; nothing was changed."
  [ "$then" -le "$now" ] ||
    refuse "The file $volume/server says $found, which is newer than series $SERIES: no older server may open its data. Set version back to $major, or restore a backup into a new database; nothing was changed."
  [ "$((now - then))" -le 1 ] ||
    refuse "The file $volume/server says $found, and a server of series $SERIES reads that of the series before it alone: go through $(cut -d ' ' -f "$((then + 1))" <<< "$known") first; nothing was changed."
  [ "$then" = "$now" ] || [ "$fcv" = "$major" ] ||
    refuse "The data is of $found with feature compatibility version ${fcv:-unknown}, and a server of series $SERIES wants $major: set version back to $major, run db.adminCommand({setFeatureCompatibilityVersion: \"$major\", confirm: true}) as root on the primary, and upgrade then. It is never raised for you, because that is the way back; nothing was changed."
fi
# Without that file only the server itself knows; it refuses what it cannot read.

# keyfile_problem: why the server would not take the mounted key; nothing when it would.
keyfile_problem() {
  local text
  [ -r "$credentials/keyfile" ] || { echo "is missing or cannot be read"; return; }
  text=$(tr -d '[:space:]' < "$credentials/keyfile")
  if [ "${#text}" -lt 6 ] || [ "${#text}" -gt 1024 ]; then echo "has ${#text} characters, and the server takes 6 to 1024"
  elif [[ ! $text =~ ^[A-Za-z0-9+/=]+$ ]]; then echo "has characters that are not of base64"; fi
}
problem=$(keyfile_problem)
[ -z "$problem" ] || refuse "The key file $credentials/keyfile $problem: put back the one that all members share into the key keyfile of the Database's admin Secret."

# own_copy TO FILE…: a Secret's files can be read by their group, and the server refuses such a key. A file that lacks the end of its last
# line gets it: nothing can read a certificate and a key that share a line.
umask 077
own_copy() {
  local to=$1
  shift
  awk 1 "$@" > "$to.new"
  chmod 0400 "$to.new"
  mv -f "$to.new" "$to"
}
own_copy "$run/keyfile" "$credentials/keyfile"
if [ "$TLS" = on ]; then
  for file in tls.crt tls.key ca.crt; do
    [ -s "/etc/dbrender/tls/$file" ] || refuse "The file /etc/dbrender/tls/$file is missing or empty: complete the Secret that spec.tls.secretName names."
  done
  own_copy "$run/server.pem" /etc/dbrender/tls/tls.crt /etc/dbrender/tls/tls.key
fi
[ -d "$data" ] || mkdir "$data"
printf 'Ready to start %s, MongoDB %s.\n' "$POD_NAME" "$VERSION"
