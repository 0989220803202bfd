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

# own_timeline: of a stopped server that was the primary. Its control file learns of a promotion with the checkpoint after it, which
# a kill may have prevented; the history file was there before.
own_timeline() {
  local timeline file
  timeline=$(control "Latest checkpoint's TimeLineID")
  for file in "$PGDATA"/pg_wal/????????.history; do
    file=${file##*/}
    [[ $file =~ ^[0-9A-F]{8}\. ]] || continue
    [ $((0x${file%.*})) -le "$timeline" ] || timeline=$((0x${file%.*}))
  done
  echo "$timeline"
}

# still_primary SECONDS: this member was the primary when it stopped, and is to be it. Meanwhile another may have been promoted, and
# primary set back, or this pod's file is not new yet: then the others know better. Waits so long for those that do not answer.
still_primary() {
  local i role timeline mine unanswered until=$((SECONDS + $1))
  mine=$(own_timeline)
  while :; do
    unanswered=''
    for i in $(others); do
      known "$i" || continue
      if read -r role timeline _ < <(state_of "$i"); then
        [ "$timeline" -le "$mine" ] ||
          refuse "This volume is on timeline $mine, but $(member_name "$i") is on timeline $timeline: it was promoted since, and this member would start without what was written there. Set primary to $i."
        [ "$role" != primary ] ||
          refuse "$(member_name "$i") runs as primary, so $POD_NAME does not start as a second one. Set primary to $i, or let that member become a standby first."
      else
        unanswered+=" $(member_name "$i")"
      fi
    done
    [ -n "$unanswered" ] && [ "$SECONDS" -lt "$until" ] || break
    say "Waiting for an answer of$unanswered for a moment, before starting as primary."
    rest 1
  done
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
    refuse "A rewind of $PGDATA was interrupted, and $(if [ -n "$to" ]; then member_name "$to"; else echo nobody; fi) does not answer as primary yet: this member waits to be copied anew."
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
  local position mine fork
  recover_former_primary
  read -r position mine <<< "$(own_end)"
  [ "$2" -ge "$mine" ] ||
    refuse "This volume is on timeline $mine, but $(member_name "$1") is primary on the older timeline $2 and lacks what was written since. Nothing was changed: set primary to the member with the newest timeline."
  if [ "$2" = "$mine" ]; then
    # A promotion begins a new timeline, so two that were primary on the same one wrote two histories.
    { [ -e "$PGDATA/standby.signal" ] && same_wal "$1" "$position" "$mine"; } ||
      refuse "This volume and $(member_name "$1") are both on timeline $2, but their WAL differs: two members took writes. Nothing was changed: set primary to the member with the right data, and empty the volume of the other (delete its claim and its pod), which is then copied anew."
    return 0
  fi
  fork=$(fork_of "$1" "$2" "$mine")
  [ -n "$fork" ] ||
    refuse "This volume is on timeline $mine, and timeline $2 of $(member_name "$1") does not descend from it. Nothing was changed: empty this volume if its data is not wanted."
  # A standby that was killed may have more than its control file tells; it is started, and the agent looks again.
  [ "$(lsn_number "$position")" -ge "$(lsn_number "$fork")" ] || return 0
  say "This member has WAL of timeline $mine up to $position or more; $(member_name "$1") left that timeline at $fork. What is beyond is dropped by pg_rewind."
  case $(control 'Database cluster state') in
    'shut down' | 'shut down in recovery') rewind "$1" "$2" ;;
    *)
      say "pg_rewind cannot use a standby that was killed; copying anew."
      attend "$scripts/clone.sh" --primary "$1"
      ;;
  esac
}

# own_end: "POSITION TIMELINE" up to which a stopped server has WAL at least; exact when it stopped cleanly.
own_end() {
  local position timeline
  position=$(control 'Latest checkpoint location')
  timeline=$(control "Latest checkpoint's TimeLineID")
  if [ "$(control 'Database cluster state')" != 'shut down' ] && [ "$(control "Min recovery ending loc's timeline")" -ge "$timeline" ]; then
    position=$(control 'Minimum recovery ending location')
    timeline=$(control "Min recovery ending loc's timeline")
  fi
  echo "$position $timeline"
}

# recover_former_primary: a primary that was killed tells its timeline and its end only after recovery. In single-user mode, so that
# nobody can write; what it has is the same afterwards.
recover_former_primary() {
  case $(control 'Database cluster state') in
    'in production' | 'in crash recovery' | 'shutting down') ;;
    *) return 0 ;;
  esac
  [ ! -e "$PGDATA/backup_label" ] || return 0   # a copy that never ran has the control file of the primary that it was made of
  rm -f "$PGDATA/standby.signal"   # made by this script, but no standby ran since
  say "This member was primary and was killed: its recovery comes first."
  attend postgres --single -D "$PGDATA" -c "config_file=$config/postgresql.conf" template1 < /dev/null > "$run/recovery.log" 2>&1 ||
    refuse "The recovery of this member, which was primary, failed: $(tail -n 2 "$run/recovery.log" | tr '\n' ' ')"
}

# same_wal ORDINAL POSITION TIMELINE: the 8 KiB of WAL before that position are the same there. True when one side does not have the file.
same_wal() {
  local position size segment offset length file own theirs
  position=$(lsn_number "$2")
  size=$(control 'Bytes per WAL segment')
  segment=$(((position - 1) / size))
  length=$(((position - 1) % size + 1))
  offset=0
  [ "$length" -le 8192 ] || { offset=$((length - 8192)); length=8192; }
  printf -v file '%08X%08X%08X' "$3" $((segment / (0x100000000 / size))) $((segment % (0x100000000 / size)))
  [ -s "$PGDATA/pg_wal/$file" ] || return 0
  own=$(od -An -v -tx1 -j "$offset" -N "$length" "$PGDATA/pg_wal/$file" | tr -d ' \n')
  theirs=$(ask "$1" "SELECT encode(pg_read_binary_file('pg_wal/$file', $offset, $length, true), 'hex')")
  [ -z "$theirs" ] || [ "$own" = "$theirs" ]
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
