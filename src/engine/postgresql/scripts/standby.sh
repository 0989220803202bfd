#!/bin/bash
# shellcheck disable=SC2154,SC2034  # names are shared with the files that this one is sourced with
# Manual: what makes a member a standby of the primary, and brings a former primary back. Sourced after members.sh.

member_conf=$run/member.conf   # included by postgresql.conf: what differs between members

last_primary() { local o=''; [ -r "$base/last-primary" ] && read -r o < "$base/last-primary"; echo "$o"; }
# A primary that stops for another keeps its name: nobody has led since, as long as that one was not seen to.
handed_to() { local o=''; [ -r "$base/handed-to" ] && read -r o < "$base/handed-to"; echo "$o"; }
saw_primary() {
  [ "$(last_primary)" = "$1" ] || put "$base/last-primary" "$1"
  [ ! -e "$base/handed-to" ] || rm -f "$base/handed-to"
}
# to_ask: the member that may have more than this one: the last primary, or whom this one, the last primary, handed over to.
to_ask() { if [ "$(last_primary)" = "$me" ]; then handed_to; else last_primary; fi; }

# upstream: the ordinal to stream from, or nothing. The wanted primary; while this member waits to become it, the member that
# may have what this one lacks.
upstream() {
  local to
  to=$(wanted_primary)
  [ "$to" = "$me" ] && to=$(to_ask)
  [ "$to" = "$me" ] || echo "$to"
}

# write_member_conf SYNCHRONOUS_STANDBY_NAMES: 0 when it changed.
write_member_conf() {
  local text from
  from=$(upstream)
  text="# written by dbrender's scripts for this member
cluster_name = '$POD_NAME'
synchronous_standby_names = '$1'
dbrender.primary = '$(wanted_primary)'
dbrender.last_primary = '$(last_primary)'"
  if [ -n "$from" ]; then
    text+="
primary_conninfo = 'host=$(member_host "$from") port=$PORT user=replication passfile=$run/passwords application_name=$POD_NAME connect_timeout=10 keepalives_idle=10 keepalives_interval=5 keepalives_count=3'
primary_slot_name = '$(slot_of "$me")'"
  fi
  [ "$(cat "$member_conf" 2>/dev/null)" = "$text" ] && return 1
  printf '%s\n' "$text" > "$member_conf.new"
  mv "$member_conf.new" "$member_conf"
}

# ensure_slot ORDINAL: this member's slot there.
ensure_slot() {
  local text
  text=$(replication_command "$1" "CREATE_REPLICATION_SLOT $(slot_of "$me") PHYSICAL RESERVE_WAL" 2>&1) && return 0
  [[ $text == *'already exists'* ]]
}

# fork_in TIMELINE: where a timeline history, on standard input, leaves that timeline.
fork_in() {
  local timeline position
  while read -r timeline position _; do
    [ "$timeline" = "$1" ] && { echo "$position"; break; }
  done
}
# fork_of ORDINAL TIMELINE MINE: where the history of TIMELINE on that member left timeline MINE; nothing when it never had it.
fork_of() {
  replication_command "$1" "TIMELINE_HISTORY $2" 2>/dev/null | sed 's/^[0-9A-F]*\.history //' | fork_in "$3"
}

# own_end: "POSITION TIMELINE certain" up to which a stopped server has WAL; "... at-least" when only a start can tell the end.
own_end() {
  local position timeline kind=certain
  position=$(control 'Latest checkpoint location')
  timeline=$(control "Latest checkpoint's TimeLineID")
  case $(control 'Database cluster state') in
    'shut down') ;;
    *)
      [ "$(control 'Database cluster state')" = 'shut down in recovery' ] || kind=at-least
      if [ "$(control "Min recovery ending loc's timeline")" -ge "$timeline" ]; then
        position=$(control 'Minimum recovery ending location')
        timeline=$(control "Min recovery ending loc's timeline")
      fi
      ;;
  esac
  echo "$position $timeline $kind"
}

# prepare_standby: before each start of a server that is not to be the primary.
prepare_standby() {
  local to role timeline system
  to=$(upstream)
  if [ -n "$to" ] && read -r role timeline _ system _ < <(state_of "$to") && [ "$role" = primary ]; then
    [ "$system" = "$(control 'Database system identifier')" ] ||
      refuse "This volume holds the database with system identifier $(control 'Database system identifier'), but $(member_name "$to") runs $system: one of the two volumes was replaced. Nothing was changed: set primary to a member that holds the right data, or empty this volume if its data is not wanted."
    if [ -e "$base/rewinding" ]; then
      say "A rewind was interrupted; copying anew."
      attend "$scripts/clone.sh" --primary "$to"
    else
      rejoin "$to" "$timeline"
    fi
  elif [ -e "$base/rewinding" ]; then
    refuse "A rewind of $PGDATA was interrupted, and ${to:+$(member_name "$to")}${to:-no member} does not answer as primary yet: this member waits to be copied anew."
  fi
  if [ ! -e "$PGDATA/standby.signal" ]; then
    say "This member was the primary; it comes back as a standby."
    [ "$(wanted_primary)" = "$me" ] || [ -e "$base/handed-to" ] || put "$base/handed-to" "$(wanted_primary)"
    : > "$PGDATA/standby.signal"
    sync "$PGDATA/standby.signal" "$PGDATA"
  fi
}

# rejoin ORDINAL TIMELINE: the wanted primary runs on that timeline. A member that went on after the primary had left its own
# timeline is rewound. That happens only after force-primary, which is the order to lose what the new primary did not have.
rejoin() {
  local position mine kind fork
  read -r position mine kind <<< "$(own_end)"
  [ "$2" -ge "$mine" ] ||
    refuse "This volume is on timeline $mine, but $(member_name "$1") is primary on the older timeline $2 and lacks what was written since. Nothing was changed: set primary to the member with the newest timeline."
  if [ "$2" = "$mine" ]; then
    same_history "$1" "$2" && return 0
    say "This volume and $(member_name "$1") are both on timeline $2, but left the one before at different points: two members were promoted by force. Copying anew."
    attend "$scripts/clone.sh" --primary "$1"
    return
  fi
  fork=$(fork_of "$1" "$2" "$mine")
  [ -n "$fork" ] ||
    refuse "This volume is on timeline $mine, and timeline $2 of $(member_name "$1") does not descend from it. Nothing was changed: empty this volume if its data is not wanted."
  if [ "$(lsn_number "$position")" -lt "$(lsn_number "$fork")" ]; then
    # A standby that was killed may have more; it is started, and the agent looks again. A primary that was killed is settled now:
    # pg_rewind ends its recovery first, and does nothing else when nothing diverged.
    [ "$kind" = at-least ] && [ ! -e "$PGDATA/standby.signal" ] || return 0
  fi
  say "This member has WAL of timeline $mine up to $position or more; $(member_name "$1") left that timeline at $fork. What is beyond is dropped by pg_rewind."
  if [ "$kind" = at-least ] && [ -e "$PGDATA/standby.signal" ]; then
    say "pg_rewind cannot use a standby that was killed; copying anew."
    attend "$scripts/clone.sh" --primary "$1"
    return
  fi
  rewind "$1" "$2"
}

# same_history ORDINAL TIMELINE: the timeline there began where this volume's did. True when one of the two cannot be read.
same_history() {
  local file theirs own
  printf -v file '%s/pg_wal/%08X.history' "$PGDATA" "$2"
  [ -s "$file" ] || return 0
  own=$(fork_in "$(($2 - 1))" < "$file")
  theirs=$(fork_of "$1" "$2" "$(($2 - 1))")
  [ -z "$own" ] || [ -z "$theirs" ] || [ "$own" = "$theirs" ]
}

rewind() {
  local i
  # Until its first checkpoint after a promotion the primary's control file tells pg_rewind the old timeline.
  for ((i = 0; i < 60; i++)); do
    [ "$(ask "$1" 'SELECT timeline_id FROM pg_control_checkpoint()')" = "$2" ] && break
    rest 1
  done
  put "$base/rewinding" "$(member_name "$1"), timeline $2"
  rm -f "$PGDATA/standby.signal"
  if attend pg_rewind --target-pgdata="$PGDATA" \
    --source-server="host=$(member_host "$1") port=$PORT dbname=postgres user=rewind passfile=$run/passwords connect_timeout=10"; then
    : > "$PGDATA/standby.signal"
    sync "$PGDATA/standby.signal" "$PGDATA"
    rm -f "$base/rewinding"
    sync "$base"
  else
    say "pg_rewind failed; copying anew."
    attend "$scripts/clone.sh" --primary "$1"
  fi
}
