#!/bin/bash
# shellcheck disable=SC2154,SC2034  # names are shared with the files that this one is sourced with
# Manual: the agent's turn. GTID replication from the member that the file `primary` names, and promotion by that file. Sourced by agent.sh.
#
# Who takes writes is written down in the data itself: table dbrender.terms has a row for each time that somebody began to lead, and it
# reaches the others with what was written since. The highest term of a member is its timeline.

last=$volume/last-primary   # "ORDINAL TERM": who led last, as far as this member knows; what that one has is what a new one must have
cloning=$volume/cloning

# What a member says of itself: writable (1 or 0), host, transactions, purged, and what it has published; one line.
# Not super_read_only: a member that is being copied to has to be without that one.
state_sql="SELECT CONCAT_WS('|', NOT @@read_only, @@GLOBAL.report_host,
  REPLACE(@@GLOBAL.gtid_executed, '\n', ''), REPLACE(@@GLOBAL.gtid_purged, '\n', ''), @@GLOBAL.init_replica)"

last_primary() { local o=''; [ -r "$last" ] && read -r o _ < "$last"; echo "$o"; }
last_term() { local t=''; [ -r "$last" ] && read -r _ t < "$last"; echo "${t:-0}"; }

# led: "TERM ORDINAL" of the highest term in this member's data, `0 -` when there is none.
led() {
  local there
  there=$(here <<< "SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = 'dbrender' AND table_name = 'terms'") || return
  [ "$there" = 1 ] || { echo '0 -'; return; }
  there=$(here <<< "SELECT CONCAT(term, ' ', ordinal) FROM dbrender.terms ORDER BY term DESC LIMIT 1") || return
  echo "${there:-0 -}"
}
# term: the highest that this member has.
term() { local t; t=$(led) && echo "${t% *}"; }

# saw_primary ORDINAL: it takes writes. The row of its term may not have come yet, so its number is what it has to be at least.
saw_primary() {
  local term ordinal known_ordinal known_term
  read -r term ordinal < <(led) && [ -n "$ordinal" ] || return 1
  known_ordinal=$(last_primary) known_term=$(last_term)
  if [ "$ordinal" != "$1" ] || [ "$term" -lt "$known_term" ]; then
    [ "$known_ordinal" != "$1" ] || [ "$known_term" -le "$term" ] || return 0
    term=$(((term > known_term ? term : known_term) + 1))
  fi
  [ "$known_ordinal $known_term" = "$1 $term" ] || put "$last" "$1 $term"
}

# look ORDINAL: its state line, or `absent` (no such pod), or `silent`.
look() {
  known "$1" || { echo absent; return; }
  ask "$1" <<< "$state_sql" || echo silent
}
# look_at_all: the answers of all others, in $work/look.ORDINAL.
look_at_all() {
  local o
  for o in $(others); do look "$o" > "$work/look.$o" & done
  wait
}

# publish ORDINAL: what this member reads as primary, and who led last, for the others. In a setting that nobody else uses, because a
# member that follows cannot write rows: a statement that its applier runs when it starts, and that does nothing.
publish() {
  local text
  text="primary $1 last $(last_primary)/$(last_term)"
  [ "$published" = "$text" ] || { here <<< "SET GLOBAL init_replica = 'DO \\'$text\\''" && published=$text; }
}
# reads ANSWER: the ordinal that a member reads as primary, out of its state line.
reads() { sed -n "s/.*|DO 'primary \([0-9]\) last .*'\$/\1/p" <<< "$1"; }
# knows ANSWER: "ORDINAL TERM" of whom a member knows as the last to lead; nothing when it knows nobody.
knows() { sed -n "s,.*|DO 'primary [0-9] last \([0-9]\)/\([0-9]*\)'\$,\1 \2,p" <<< "$1"; }
published=''

# open_for_writes TERM: from here on this member takes writes; TERM is the highest that anybody knows. Its own is written down before
# anybody else can write.
open_for_writes() {
  here << SQL || { report "This member could not be opened for writes: $(what_it_said)"; return 1; }
STOP REPLICA;
RESET REPLICA ALL;
SET GLOBAL super_read_only = OFF;
CREATE DATABASE IF NOT EXISTS dbrender;
CREATE TABLE IF NOT EXISTS dbrender.terms (term INT UNSIGNED PRIMARY KEY, ordinal TINYINT UNSIGNED NOT NULL, began TIMESTAMP(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6));
INSERT INTO dbrender.terms (term, ordinal) SELECT GREATEST(IFNULL(MAX(term), 0), $1) + 1, $me FROM dbrender.terms;
SET GLOBAL read_only = OFF;
SQL
  saw_primary "$me"
  say "Opened for writes."
}

# close_for_writes: nobody writes from here on. It waits for commits that are on their way.
close_for_writes() { here_timeout=60 here <<< 'SET GLOBAL super_read_only = ON'; }   # and read_only with it

# synchronous: whether a commit waits for one standby. In the running server, because it is no reason to restart.
synchronous=''
follow_replication() {
  local wanted=OFF
  [ "$REPLICATION" != synchronous ] || wanted=ON
  [ "$synchronous" != "$wanted" ] || return 0
  here <<< "SET GLOBAL rpl_semi_sync_source_enabled = $wanted; SET GLOBAL rpl_semi_sync_replica_enabled = $wanted" && synchronous=$wanted
}

turn() {
  local line writable mine to
  line=$(here <<< "$state_sql") || { published='' synchronous=''; tell_role none; report "The server does not answer: $(what_it_said)"; return; }
  follow_settings
  follow_replication
  IFS='|' read -r writable _ mine _ _ <<< "$line"
  [ -n "$(reads "$line")" ] || published=''
  to=$(fact primary)
  publish "$to"
  if [ "$to" = "$me" ]; then
    if [ "$writable" = 1 ]; then lead; else consider_leading "$mine"; fi
  elif [ "$writable" = 1 ]; then
    hand_over "$to" "$mine"
  else
    tell_role replica
    follow "$to" "$mine"
  fi
}

watched=0
lead() {
  local o answer now followers
  tell_role primary
  saw_primary "$me"
  now=$(term) && followers=$(here <<< "SELECT IFNULL(GROUP_CONCAT(SUBSTRING_INDEX(host, ':', 1) ORDER BY host), 'none') FROM performance_schema.processlist WHERE command = 'Binlog Dump GTID'") || return
  report "Primary, of term $now; standbys that follow: $followers."
  on_primary
  [ "$SECONDS" -ge "$watched" ] || return 0
  watched=$((SECONDS + 30))
  for o in $(others); do
    answer=$(look "$o")
    [ "${answer%%|*}" != 1 ] || report "TWO PRIMARIES: $(member_name "$o") takes writes too. What is written there cannot come here; set primary to the member that has the data."
  done
}

# hand_over ORDINAL GTIDS: this member takes writes, and another is to lead. It closes only when that one follows it and has read the
# same, so that a mistake in Git is no outage and two never lead.
hand_over() {
  local answer writable gtids
  answer=$(look "$1")
  IFS='|' read -r writable _ gtids _ _ <<< "$answer"
  if [ "$writable" = 1 ]; then
    report "$(member_name "$1") takes writes already: this member closes and follows it."
  elif [ "$(fact force-primary)" = "$1/$(term)" ]; then
    report "force-primary names $(member_name "$1"): this member takes no more writes and follows it."
  elif [ "$writable" != 0 ]; then
    tell_role primary
    report "The primary is to be $(member_name "$1"), but it does not answer; this member goes on. Set primary back to $me, or repair that member."
    on_primary
    return
  elif [ "$(reads "$answer")" != "$1" ]; then
    say "Handing over to $(member_name "$1") as soon as it has read that it is to lead."
    return
  elif [ -n "$(less "$gtids" "$2")" ]; then
    # what it got since this member was asked is no such thing
    gtids=$(less "$gtids" "$(here <<< 'SELECT @@GLOBAL.gtid_executed')")
    [ -z "$gtids" ] || { report "The primary is to be $(member_name "$1"), but it holds transactions that this member lacks: $gtids. This member goes on."; return; }
  elif [ "$(here <<< "SELECT COUNT(*) FROM performance_schema.processlist WHERE command = 'Binlog Dump GTID'")" = 0 ]; then
    report "The primary is to be $(member_name "$1"), but nobody follows this member, which therefore goes on; set primary back to $me, or repair that member."
    on_primary
    return
  else
    say "Handing over to $(member_name "$1")."
  fi
  tell_role none
  close_for_writes
}

# consider_leading GTIDS: the file names this member, and it takes no writes. It leads when it has all that the last primary had.
settled=0 waiting_since=''
consider_leading() {
  local mine=$1 o answer writable gtids silent='' unborn='' with_data='' heard='' former here_known now highest force_term ordinal term replicas force
  tell_role none
  : "${waiting_since:=$SECONDS}"
  if [ -e "$cloning" ]; then
    report "Waiting: this member was being copied from $(member_name "$(< "$cloning")") and the copy did not end; it cannot lead. Set primary to $(< "$cloning")."
    return
  fi
  own_name_is_known || { report "Waiting: the name $(member_host "$me") does not lead to this pod yet."; return; }
  replicas=$(fact replicas)
  force=$(fact force-primary)
  here_known=$(last_primary)
  read -r now ordinal < <(led) && [ -n "$ordinal" ] || return
  former=$here_known highest=$(last_term) force_term=1
  if [ "$now" -ge "$highest" ] && [ "$now" != 0 ]; then former=$ordinal highest=$now; fi
  look_at_all
  # Who led last is what the one says who knows the highest term: this member may have missed somebody.
  for o in $(others); do
    read -r ordinal term < <(knows "$(< "$work/look.$o")") || continue
    [ "$term" -le "$highest" ] || former=$ordinal highest=$term
  done
  # A volume that was a group alone, and never anything else, has led it.
  [ -n "$former" ] || [ "$(sed -n 's/^members=//p' "$volume/group" 2>/dev/null)" != "$me" ] || former=$me
  [ "$highest" = 0 ] || force_term=$highest   # the annotation counts from 1
  for o in $(others); do
    answer=$(< "$work/look.$o")
    case $answer in
      absent) [ "$o" -ge "${replicas:-1}" ] || unborn+=" $(member_name "$o")"; continue ;;
      silent | '') silent+=" $(member_name "$o")"; continue ;;
    esac
    IFS='|' read -r writable _ gtids _ _ <<< "$answer"
    # One that came back empty cannot say what it had.
    [ -z "$gtids" ] || heard+=" $o "
    if [ "$writable" = 1 ]; then
      saw_primary "$o"
      # it has to be followed to its last transaction
      follow "$o" "$mine"
      report "Waiting: $(member_name "$o") still takes writes."
      return
    fi
    if [ "$(reads "$answer")" != "$me" ]; then settled=0; report "Waiting: $(member_name "$o") has not read yet that primary is $me."; return; fi
    [ -z "$(less "$gtids" "$mine")" ] || with_data+=" $(member_name "$o")"
  done
  if [ -n "$force" ] && [ "$force" = "$me/$force_term" ]; then
    report "force-primary is $force: this member leads with what it has, ${mine:-nothing}; remove the annotation now."
    open_for_writes "$highest"
    return
  fi
  if [ -z "$mine" ] && [ -z "$here_known" ]; then
    # The only place where an empty database begins. Everybody who exists has to be there and be empty too.
    if [ -n "$with_data" ]; then settled=0; report "Waiting: this member is empty, and data is on:$with_data. An empty primary is not opened beside it; set primary to that member."; return; fi
    if [ -n "$silent" ]; then settled=0; report "Waiting: this member is empty, and these exist but do not answer:$silent. They may hold the data."; return; fi
    if [ -n "$unborn" ]; then settled=0; report "Waiting: this member is empty, and these do not exist yet:$unborn. They may hold the data; when they cannot come, set replicas to the members that can."; return; fi
    if [ -n "$former" ]; then settled=0; report "Waiting: this member is empty, and $(member_name "$former") has led this database, whose data nobody else has. To begin an empty one, set force-primary to $me/$force_term."; return; fi
    settled=$((settled + 1))
    [ "$settled" -lt 4 ] || { report "Beginning an empty database."; open_for_writes "$highest"; }
    return
  fi
  if [ -n "$with_data" ]; then
    settled=0
    o=${with_data##* }
    follow "${o##*-}" "$mine"
    report "Waiting: these have transactions that this member lacks:$with_data. It takes them first."
    return
  fi
  # Also when its ordinal is above the replicas by now: it may have gone with what nobody else has.
  if [ "$former" != "$me" ] && [[ -z $former || $heard != *" $former "* ]]; then
    settled=0
    o='an unknown member'
    [ -z "$former" ] || o=$(member_name "$former")
    report "Waiting: $o was the last primary and does not answer, or not with its data, so it may have had transactions that this member lacks. To lose them, set force-primary to $me/$force_term."
    return
  fi
  if [ "$former" = "$me" ] && [ -n "$silent" ] && [ $((SECONDS - waiting_since)) -lt "${SETTLE:-10}" ]; then
    say "Waiting for an answer of$silent for a moment, before this member leads again."
    return
  fi
  # Another look, since what they have may be on its way.
  settled=$((settled + 1))
  [ "$settled" -ge 2 ] || return
  settled=0 waiting_since=''
  open_for_writes "$highest"
}

# follow ORDINAL GTIDS: replicate from that member.
follow() {
  local answer writable gtids purged errant gap secret source io sql error
  waiting_since=''
  read -r source io sql < <(here << 'SQL'
SELECT IFNULL((SELECT REGEXP_SUBSTR(SUBSTRING_INDEX(host, '.', 1), '[0-9]+$') FROM performance_schema.replication_connection_configuration WHERE channel_name = ''), '-'),
  IFNULL((SELECT service_state FROM performance_schema.replication_connection_status WHERE channel_name = ''), 'OFF'),
  IFNULL((SELECT service_state FROM performance_schema.replication_applier_status WHERE channel_name = ''), 'OFF')
SQL
  )
  if [ "$source $io $sql" = "$1 ON ON" ]; then
    forget "$cloning"
    [ "$(fact primary)" = "$me" ] || { saw_primary_if_leads "$1"; report "Standby, follows $(member_name "$1")."; }
    return
  fi
  answer=$(look "$1")
  case $answer in
    absent | silent | '') report "Standby: $(member_name "$1") does not answer."; return ;;
  esac
  IFS='|' read -r writable _ gtids purged _ <<< "$answer"
  if [ "$writable" != 1 ] && [ "$(fact primary)" != "$me" ]; then
    report "Standby: $(member_name "$1") does not lead yet."
    return
  fi
  errant=$(less "$2" "$gtids")
  if [ -n "$errant" ]; then
    report "Not following: this member holds transactions that $(member_name "$1") lacks: $errant. They are kept. If they are not wanted, delete the claim data-$POD_NAME and this pod."
    return
  fi
  secret=$(secret_of replication-password) || { report "$complaint"; return; }
  gap=$(less "$purged" "$2")
  [ "$gap" != unknown ] || return
  if [ -n "$gap" ]; then
    report "$(member_name "$1") no longer has the log from this member's last transaction on: this member is copied anew."
    put "$cloning" "$1"
    here_timeout=86400 here << SQL || [ "$(what_it_said)" = '' ] || say "The copy: $(what_it_said)"
STOP REPLICA;
RESET REPLICA ALL;
SET GLOBAL clone_valid_donor_list = '$(member_host "$1"):$PORT';
SET GLOBAL super_read_only = OFF;
CLONE INSTANCE FROM replication@'$(member_host "$1")':$PORT IDENTIFIED BY $secret REQUIRE SSL;
SQL
    return
  fi
  if [ "$source" != "$1" ]; then
    here << SQL || { report "Following $(member_name "$1") failed: $(what_it_said)"; return; }
STOP REPLICA;
RESET REPLICA ALL;
CHANGE REPLICATION SOURCE TO SOURCE_HOST = '$(member_host "$1")', SOURCE_PORT = $PORT, SOURCE_AUTO_POSITION = 1, SOURCE_SSL = 1,
  SOURCE_CONNECT_RETRY = 2, SOURCE_RETRY_COUNT = 10, SOURCE_HEARTBEAT_PERIOD = 2;
SQL
  else
    error=$(here <<< "SELECT CONCAT_WS(' ', NULLIF(c.last_error_message, ''), NULLIF(w.last_error_message, '')) FROM performance_schema.replication_connection_status c
      LEFT JOIN performance_schema.replication_applier_status_by_worker w ON w.channel_name = '' AND w.last_error_number <> 0 WHERE c.channel_name = '' LIMIT 1")
    [ -z "$error" ] || report "Standby: replication from $(member_name "$1") stopped: $error"
    here <<< 'STOP REPLICA'
  fi
  # Not stored anywhere: it is said again at each start.
  here <<< "START REPLICA USER = 'replication' PASSWORD = $secret" || { report "Following $(member_name "$1") failed: $(what_it_said)"; return; }
  say "Following $(member_name "$1")."
}

looked_at_primary=0
saw_primary_if_leads() {
  local answer
  [ "$SECONDS" -ge "$looked_at_primary" ] || [ "$(last_primary)" != "$1" ] || return 0
  looked_at_primary=$((SECONDS + 30))
  answer=$(look "$1")
  [ "${answer%%|*}" != 1 ] || saw_primary "$1"
}
