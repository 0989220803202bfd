#!/bin/bash
# shellcheck disable=SC2154,SC2034  # names are shared with the files that this one is sourced with
# The other members of this database: their names, and what they answer. Sourced after facts, message.sh and volume.sh.

me=${POD_NAME##*-}
config=/etc/dbrender/config

member_name() { echo "$DB_NAME-$1"; }
member_host() { echo "$DB_NAME-$1.$HEADLESS"; }
slot_of() { echo "member_$1"; }
others() {
  local i
  for ((i = 0; i < MEMBERS_MAX; i++)); do [ "$i" = "$me" ] || echo "$i"; done
}

# fact FILE: a one-line file of the configuration, without blanks; empty when there is none.
fact() {
  local text=''
  [ -r "$config/$1" ] && read -r text < "$config/$1"
  echo "${text//[[:space:]]/}"
}
wanted_primary() { fact primary; }

# known ORDINAL: the pod exists and has an address (the headless Service publishes pods that are not ready).
known() { timeout 5 getent ahosts "$(member_host "$1")" > /dev/null; }

# knock ORDINAL: open, refused, or silent. A server that is recovering is open.
knock() {
  local rc=0 text
  # shellcheck disable=SC2016  # for the inner shell
  text=$(timeout 3 bash -c 'exec 3<>"/dev/tcp/$0/$1"' "$(member_host "$1")" "$PORT" 2>&1) || rc=$?
  if [ "$rc" = 0 ]; then echo open
  elif [[ $text == *refused* ]]; then echo refused
  else echo silent
  fi
}

# ask_host HOST SQL, ask ORDINAL SQL: as the role rewind, which every member lets in from the others.
ask_host() {
  timeout 10 psql -XAtqw -F ' ' -v ON_ERROR_STOP=1 -c "$2" \
    "host=$1 port=$PORT dbname=postgres user=rewind passfile=$run/passwords connect_timeout=3" 2>/dev/null
}
ask() { ask_host "$(member_host "$1")" "$2"; }

# replication_command ORDINAL COMMAND: over a replication connection.
replication_command() {
  timeout 20 psql -XAtqw -F ' ' -v ON_ERROR_STOP=1 -c "$2" \
    "host=$(member_host "$1") port=$PORT dbname=postgres replication=true user=replication passfile=$run/passwords connect_timeout=3"
}

# here SQL: on this member's server, over the socket, as the superuser. The questions of every second stay out of the server's log.
quiet='-c log_statement=none -c log_min_duration_statement=-1 -c log_duration=off'
here() {
  PGOPTIONS=$quiet PGAPPNAME=dbrender timeout "${here_timeout:-10}" psql -XAtqw -F ' ' -v ON_ERROR_STOP=1 -v VERBOSITY=terse -h "$run" -p "$PORT" -U postgres -d postgres -c "$1"
}

# What a member says of itself: role, timeline, position, system identifier, the primary it was told of, the last primary it saw.
# A standby's control file learns of a new timeline late, so the local question adds what the receiver knows.
state_sql="SELECT CASE WHEN pg_is_in_recovery() THEN 'standby' ELSE 'primary' END,
  CASE WHEN pg_is_in_recovery() THEN greatest(c.timeline_id, r.min_recovery_end_timeline)
       ELSE ('x' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8))::bit(32)::int END,
  CASE WHEN pg_is_in_recovery() THEN coalesce(pg_last_wal_replay_lsn(), '0/0') ELSE pg_current_wal_lsn() END,
  s.system_identifier,
  coalesce(nullif(current_setting('dbrender.primary', true), ''), '-'),
  coalesce(nullif(current_setting('dbrender.last_primary', true), ''), '-')
  FROM pg_control_checkpoint() c, pg_control_recovery() r, pg_control_system() s"
state_of() { ask "$1" "$state_sql"; }

# wal_is_gone HOST LSN: the primary there no longer has the WAL from that position on.
wal_is_gone() {
  [ "$(ask_host "$1" "SELECT '$2'::pg_lsn < pg_current_wal_lsn() AND NOT EXISTS (SELECT FROM pg_ls_dir('pg_wal', true, false) f
    WHERE f ~ '^[0-9A-F]{24}\$' AND substr(f, 9) = substr(pg_walfile_name('$2'), 9))")" = t ]
}

# lsn_number LSN: a position as a number.
lsn_number() { echo $((0x${1%/*} << 32 | 0x${1#*/})); }
