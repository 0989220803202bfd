#!/bin/bash
# shellcheck disable=SC2154,SC2034  # names are shared with the files that this one is sourced with
# Manual: the agent's turn. Settings, standbys, slots, synchronous commit, and promotion by the file `primary`. Sourced by agent.sh.
# shellcheck source-path=SCRIPTDIR source=standby.sh
. "$scripts/standby.sh"

pace=1
names=''            # synchronous_standby_names now in member.conf
idle_since='' slots_checked=0 compared=''

begin() { write_passfile || report "$complaint"; }

# request WHAT: start.sh stops the server, does it, and starts it again.
request() {
  [ -e "$run/request" ] && return 0
  printf '%s\n' "$1" > "$run/request.new"
  mv "$run/request.new" "$run/request"
}

# One question a turn: what state_of asks others, the member that this one streams from, and those that stream from this one.
turn_sql="SELECT state.*,
  coalesce((SELECT sender_host FROM pg_stat_wal_receiver WHERE status = 'streaming'), '-'),
  (SELECT string_agg(format('%I', application_name), ', ' ORDER BY application_name) FROM pg_stat_replication
    WHERE state = 'streaming' AND usename = 'replication' AND application_name ~ '^$DB_NAME-[0-6]\$')
  FROM ($state_sql) state"

turn() {
  local role timeline position sender streaming tls
  [ "$(cat "$run/state" 2>/dev/null)" = running ] && [ ! -e "$run/request" ] || return 0
  if [ "$(version_of "$credentials")" != "$credentials_seen" ]; then
    credentials_seen=$(version_of "$credentials")
    write_passfile || true
  fi
  read -r role timeline position own_system _ _ sender streaming < <(here "$turn_sql" 2>/dev/null) || return 0
  tls=$(version_of /etc/dbrender/tls)
  if [ "$(version_of "$config")" != "$config_seen" ] || [ "$tls" != "$tls_seen" ]; then
    config_seen=$(version_of "$config")
    tls_seen=$tls
    here 'SELECT pg_reload_conf()' > /dev/null && { rest 1; complain_of_settings; say "Settings were read again."; }
    [ -z "$(here "SELECT string_agg(name, ', ') FROM pg_settings WHERE pending_restart")" ] ||
      say "These settings wait for a restart: $(here "SELECT string_agg(name, ', ') FROM pg_settings WHERE pending_restart")."
  fi
  if [ "$role" = primary ]; then turn_primary "$timeline" "$streaming"; else turn_standby "$timeline" "$position" "$sender"; fi
}

follow_member_conf() { write_member_conf "$names" && here 'SELECT pg_reload_conf()' > /dev/null; }

turn_primary() {
  local to
  saw_primary "$me"
  idle_since='' waiting_since=''
  # a commit waits for one standby while one is there
  names=''
  [ "$REPLICATION" = synchronous ] && [ -n "$2" ] && names="ANY 1 ($2)"
  follow_member_conf && report "Primary; synchronous standbys: ${names:-none}."
  on_primary
  to=$(wanted_primary)
  if [ "$to" != "$me" ]; then
    hand_over "$to" "$2" "$1"
    return
  fi
  [ "$SECONDS" -ge "$slots_checked" ] && { slots_checked=$((SECONDS + 30)); tidy_slots; watch_for_second_primary "$1"; }
}

# hand_over ORDINAL STREAMING TIMELINE: the file names another primary. This server stops cleanly, which sends all it has to its
# standbys, and comes back as one. Not for a member that does not stream: then nobody could take over, and a mistake in Git would be an outage. Nor before
# that member has read the file too, so that the time without a primary does not depend on the kubelets.
hand_over() {
  local role view
  if [ "$(fact force-primary)" = "$1/$3" ]; then
    report "force-primary names $(member_name "$1"): this primary stops and comes back as its standby."
  elif read -r role _ < <(state_of "$1") && [ "$role" = primary ]; then
    report "$(member_name "$1") is primary: this server stops and comes back as its standby."
  elif [[ ", $2," == *", \"$(member_name "$1")\","* ]] &&
    read -r role _ _ _ view _ < <(state_of "$1"); then
    if [ "$view" != "$1" ]; then
      say "Handing over to $(member_name "$1") as soon as it has read that it is to be primary."
      return
    fi
    say "Handing over to $(member_name "$1")."
    here_timeout=600 here CHECKPOINT > /dev/null
  else
    report "The primary is to be $(member_name "$1"), but it does not stream from this server, which therefore goes on; set primary back to $me, or repair that member."
    return
  fi
  put "$base/handed-to" "$1"
  request restart
}

# Slots of members that are no more, or whose WAL is lost, only hold the disk; a member makes its own slot again. So do those that Patroni
# made while the profile was Automatic, by the member's name.
tidy_slots() {
  local slot wanted
  wanted=$(fact replicas)
  here "SELECT slot_name FROM pg_replication_slots WHERE slot_type = 'physical' AND NOT active AND CASE WHEN slot_name ~ '^member_[0-6]\$'
    THEN substr(slot_name, 8)::int >= ${wanted:-7} OR wal_status = 'lost' ELSE slot_name ~ '^${DB_NAME//[-.]/_}_[0-6]\$' END" |
    while IFS= read -r slot; do here "SELECT pg_drop_replication_slot('$slot')" > /dev/null && say "Dropped the slot $slot."; done
}

watch_for_second_primary() {
  local i role timeline
  for i in $(others); do
    known "$i" && read -r role timeline _ < <(state_of "$i") && [ "$role" = primary ] || continue
    report "TWO PRIMARIES: $(member_name "$i") also takes writes (timeline $timeline, this one $1). What is written there will be lost when it follows this member."
  done
}

turn_standby() {
  local to from
  to=$(wanted_primary)
  names=''
  from=$(upstream)
  follow_member_conf && say "Standby on timeline $1, streams from $(if [ -n "$from" ]; then member_name "$from"; else echo nobody; fi)."
  if [ "$to" = "$me" ]; then
    consider_promotion "$1" "$2" && return
  else
    waiting_since=''
  fi
  [ -n "$from" ] || return
  if [ "$3" != "$(member_host "$from")" ]; then
    mend "$from" "$1" "$2"
    return
  fi
  idle_since='' compared=''
  if [ "$SECONDS" -ge "$slots_checked" ] || [ "$(last_primary)" != "$from" ]; then
    slots_checked=$((SECONDS + 30))
    local role
    if read -r role _ < <(state_of "$from") && [ "$role" = primary ]; then
      saw_primary "$from"
      here "SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots WHERE slot_type = 'physical' AND NOT active AND slot_name ~ '^member_[0-6]\$'" > /dev/null
      [ "$to" = "$me" ] || report "Standby on timeline $1, streaming from $(member_name "$from")."
    fi
  fi
}

# mend ORDINAL TIMELINE POSITION: this standby does not stream from that member. Why, and what helps?
mend() {
  local role timeline system fork
  : "${idle_since:=$SECONDS}"
  if ! read -r role timeline _ system _ < <(state_of "$1"); then
    report "Standby on timeline $2: $(member_name "$1") does not answer."
    return
  fi
  if [ "$role" != primary ]; then
    ensure_slot "$1" || true
    [ "$(wanted_primary)" = "$me" ] || report "Standby on timeline $2: $(member_name "$1") is a standby too; waiting for it to be promoted."
    return
  fi
  if [ "$system" != "$own_system" ]; then
    report "This volume holds another database than $(member_name "$1"): nothing is streamed and nothing is changed; one of the two volumes was replaced."
    return
  fi
  if [ "$timeline" -lt "$2" ]; then
    report "This volume is on timeline $2, but $(member_name "$1") is primary on the older timeline $timeline and lacks what was written since. Nothing is changed: set primary to the member with the newest timeline."
    return
  fi
  if wal_is_gone "$(member_host "$1")" "$3"; then
    report "$(member_name "$1") no longer has the WAL from $3 on, which this standby needs: it is copied anew, and the old data stays until the copy is whole."
    request clone
    return
  fi
  ensure_slot "$1" || report "The slot $(slot_of "$me") could not be made on $(member_name "$1")."
  if [ "$timeline" -gt "$2" ]; then
    fork=$(fork_of "$1" "$timeline" "$2")
    if [ -n "$fork" ] && [ "$(lsn_number "$3")" -gt "$(lsn_number "$fork")" ]; then
      report "This standby replayed up to $3, but $(member_name "$1") left timeline $2 at $fork: it has to be rewound."
      request restart
      return
    fi
  fi
  [ $((SECONDS - idle_since)) -ge 30 ] || return
  # start.sh compares the two histories before a start
  if [ "$timeline" = "$2" ] && [ -z "$compared" ]; then
    compared=yes
    say "This standby has not streamed from $(member_name "$1") for half a minute: it is started again, and its WAL compared first."
    request restart
    return
  fi
  report "This standby has not streamed from $(member_name "$1") for half a minute, though that is primary; the server's log says why."
}

# consider_promotion TIMELINE POSITION: the file names this member, which is a standby. It becomes primary only when it has all that
# the last primary had, so that nothing is lost, or when force-primary says to do without. 0 when it was promoted.
waiting_since=''
consider_promotion() {
  local last role timeline position system view claims i force
  : "${waiting_since:=$SECONDS}"
  # the control file learns of a timeline at a restart point only
  here 'CHECKPOINT' > /dev/null 2>&1
  force=$(fact force-primary)
  if [ "$force" = "$me/$1" ]; then
    for i in $(others); do
      known "$i" && read -r role timeline _ < <(state_of "$i") && [ "$timeline" -gt "$1" ] || continue
      report "force-primary is $force, but $(member_name "$i") is on timeline $timeline: promoting this member would begin a second history. Set primary to $i."
      return 1
    done
    report "force-primary is $force: promoted on timeline $1 at $2 without asking the last primary; remove the annotation now."
    promote
    return
  fi
  for i in $(others); do
    known "$i" || continue
    read -r role timeline position system view claims < <(state_of "$i") || continue
    if [ "$role" = primary ]; then
      # It leads now, so it is the one whose end this member has to reach, and the one to stream from.
      [ "$timeline" -ge "$1" ] && [ "$system" = "$own_system" ] && saw_primary "$i"
      report "Waiting to be promoted: $(member_name "$i") still runs as primary."
      return 1
    fi
    [ "$claims" = "$i" ] && [ -z "$(last_primary)" ] && put "$base/last-primary" "$i"
    # Another that believes to be called, or the one to ask: neither may act on an older file while this one is promoted.
    if [ "$view" = "$i" ] || { [ "$i" = "$(to_ask)" ] && [ "$view" != "$me" ]; }; then
      report "Waiting to be promoted: $(member_name "$i") has not read yet that primary is $me."
      waiting_since=$SECONDS
      return 1
    fi
  done
  last=$(to_ask)
  if [ -z "$(last_primary)" ]; then
    report "Waiting to be promoted: nobody knows which member was the last primary. To promote this one as it is, set force-primary to $me/$1."
    return 1
  fi
  # Another that was told a moment ago that it is to lead had this long to finish.
  [ "$(last_primary)" != "$me" ] || [ $((SECONDS - waiting_since)) -ge 5 ] || return 1
  if [ -n "$last" ]; then
    if ! read -r role timeline position _ < <(state_of "$last"); then
      report "Waiting to be promoted: $(member_name "$last") was the last primary or was to be, and does not answer, so it may have commits that this member lacks (it is at $2 of timeline $1). To lose them, set force-primary to $me/$1."
      return 1
    fi
    if [ "$timeline" -gt "$1" ] || [ "$(lsn_number "$position")" -gt "$(lsn_number "$2")" ]; then
      report "Waiting to be promoted: this member is at $2 of timeline $1, and $(member_name "$last") at $position of timeline $timeline."
      return 1
    fi
  fi
  say "This member has all that $(member_name "${last:-$me}") had ($2 of timeline $1)."
  promote
}

promote() {
  if [ "$(here_timeout=90 here 'SELECT pg_promote(true, 60)')" = t ]; then
    saw_primary "$me"
    here_timeout=600 here CHECKPOINT > /dev/null   # pg_rewind of others reads the timeline from the control file
    report "Promoted; on timeline $(here "$state_sql" | cut -d ' ' -f 2) now."
  else
    report "The promotion did not end within 60 s; it is looked at again."
    return 1
  fi
}
