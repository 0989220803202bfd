#!/bin/bash
# shellcheck disable=SC2154,SC2034  # names are shared with the files that this one is sourced with
# The layout of the volume, and the only code that moves or removes a data directory. Sourced after facts and message.sh.
#
#   /var/lib/mysql/data            the data directory
#   /var/lib/mysql/data.partial    one in the making: made-by-dbrender (marker), data
#   /var/lib/mysql/initialised     this volume has held data: the server_uuid it was made with
#   /var/lib/mysql/group           Automatic: the last group and its members, as of the last look with a majority
#   /var/lib/mysql/joining         Automatic: this member has begun to join and was not yet ONLINE beside another one; what it has to have then
#   /var/lib/mysql/last-primary    Manual: ordinal of the member that was last seen as primary
#   /var/lib/mysql/cloning         Manual: this member's data is being replaced by a copy

volume=/var/lib/mysql
data=$volume/data
run=/var/run/mysqld
told=/var/run/dbrender
export LC_ALL=C.UTF-8

has_data() { [ -s "$data/mysql.ibd" ] && [ -s "$data/ibdata1" ]; }

# put FILE TEXT: a small file of ours on the volume, whole or not at all. Fails when the volume takes no more.
put() {
  { printf '%s\n' "$2" > "$1.new" && sync "$1.new" && mv "$1.new" "$1" && sync "$(dirname "$1")"; } 2>/dev/null && return 0
  rm -f "$1.new"
  return 1
}

# forget FILE: gone, also after a loss of power.
forget() {
  [ -e "$1" ] || return 0
  rm -f "$1"
  sync "$(dirname "$1")"
}

# server_uuid: what the data directory calls itself; nothing when it has no name yet.
server_uuid() { sed -n 's/^server-uuid=//p' "$data/auto.cnf" 2>/dev/null; }
