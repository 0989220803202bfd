#!/bin/bash
# shellcheck disable=SC2154,SC2034  # names are shared with the files that this one is sourced with
# Automatic: the agent's turn. Forms the group once, joins it, opens the primary for writes. Sourced by agent.sh.
#
# Two losses are to be impossible: a second founding beside data, and a primary without the data of the one before (Group Replication
# declares a joiner ONLINE when all others leave, and makes it primary). README.md has the rules; each has a name here.

marker=$volume/group
joining=$volume/joining
led_in_manual=$volume/last-primary   # what the other profile has left

# Says to the others that the file `joining` is here: a setting that nobody else uses, a statement that does nothing.
unfinished_mark='DO 1'

# Transactions that this member has or has received.
gtids_sql="REPLACE(CONCAT_WS(',', NULLIF(@@GLOBAL.gtid_executed, ''), NULLIF((SELECT received_transaction_set
  FROM performance_schema.replication_connection_status WHERE channel_name = 'group_replication_applier'), '')), '\n', '')"
# What a member says of itself: state, role, majority (1 or 0), group, transactions, ordinals of its view, offline_mode, super_read_only,
# others that are ONLINE, whether it never finished joining (1 or 0). One line, fields between bars, none of them NULL.
state_sql="SELECT CONCAT_WS('|',
  IFNULL((SELECT member_state FROM performance_schema.replication_group_members WHERE member_id = @@server_uuid), 'OFFLINE'),
  IFNULL((SELECT member_role FROM performance_schema.replication_group_members WHERE member_id = @@server_uuid), ''),
  (SELECT SUM(member_state IN ('ONLINE', 'RECOVERING')) * 2 > COUNT(*) FROM performance_schema.replication_group_members),
  IFNULL(@@group_replication_group_name, ''), $gtids_sql,
  IFNULL((SELECT GROUP_CONCAT(REGEXP_SUBSTR(SUBSTRING_INDEX(member_host, '.', 1), '[0-9]+\$') ORDER BY member_host SEPARATOR ' ')
    FROM performance_schema.replication_group_members WHERE member_host <> ''), ''),
  @@offline_mode, @@super_read_only,
  (SELECT COUNT(*) FROM performance_schema.replication_group_members WHERE member_state = 'ONLINE' AND member_id <> @@server_uuid),
  @@GLOBAL.init_replica = '$unfinished_mark')"

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

# mark GROUP MEMBERS: only while ONLINE with a majority. A member that was cut off or leaves keeps the view that it had, so no two
# members can ever each hold a view without the other.
mark() {
  local text="group=$1"$'\n'"members=$2"
  [ "$(cat "$marker" 2>/dev/null)" = "$text" ] && return 0
  put "$marker" "$text"
  say "Group $1, members $2."
}
marked() { sed -n "s/^$1=//p" "$marker" 2>/dev/null; }

# publish_joining PUBLISHED: tells the others whether this member never finished joining; PUBLISHED is what they read now.
publish_joining() {
  if [ -e "$joining" ]; then
    [ "$1" = 1 ] || here <<< "SET GLOBAL init_replica = '$unfinished_mark'"
  else
    [ "$1" = 0 ] || here <<< "SET GLOBAL init_replica = ''"
  fi
}

# start_group found|join GROUP SEEDS GTIDS: GTIDS is what a joiner has to have before it counts as one that has the data.
start_group() {
  local bootstrap=OFF before='' secret failed=''
  secret=$(secret_of replication-password) || { report "$complaint"; return 1; }
  if [ "$1" = found ]; then
    bootstrap=ON
    # A new primary stays read-only until its agent has looked at it. The group hands this on to those who join.
    before="SET GLOBAL super_read_only = OFF; DO group_replication_disable_member_action('mysql_disable_super_read_only_if_primary', 'AFTER_PRIMARY_ELECTION'); SET GLOBAL super_read_only = ON;"
  else
    put "$joining" "$4" || { report "Not joining: $joining cannot be written; the volume has $(df -h --output=avail "$volume" | tail -n 1 | tr -d ' ') free."; return 1; }
  fi
  here_timeout=150 here << SQL || failed=$(what_it_said)
$before
SET GLOBAL group_replication_group_name = '$2';
SET GLOBAL group_replication_group_seeds = '$3';
SET GLOBAL group_replication_bootstrap_group = $bootstrap;
START GROUP_REPLICATION USER = 'replication', PASSWORD = $secret;
SQL
  here <<< 'SET GLOBAL group_replication_bootstrap_group = OFF'
  [ -n "$failed" ] || return 0
  report "To $1 the group failed: $failed. The server's log: $(here << 'SQL' | tr '\n' ' '
SELECT LEFT(data, 300) FROM performance_schema.error_log WHERE subsystem = 'Repl' AND prio = 'Error' ORDER BY logged DESC LIMIT 2
SQL
  )"
  return 1
}

settled=0 turns_waited=0 errant=0 stuck=0
# decide GTIDS: this member is in no group. Join one, found one, or wait and say for what.
decide() {
  local mine=$1 o answer state role majority group gtids view members replicas
  local seeds='' donor='' busy='' silent='' missing='' with_data='' ahead='' lower='' before='' unborn='' unfinished='' led
  look_at_all
  members=$(marked members)
  replicas=$(fact replicas)
  for o in $(others); do
    answer=$(< "$work/look.$o")
    case $answer in
      absent)
        case " $members " in *" $o "*) missing+=" $(member_name "$o")" ;; esac
        [ "$o" -ge "${replicas:-$MEMBERS_MAX}" ] || unborn+=" $(member_name "$o")"
        continue
        ;;
      silent | '') silent+=" $(member_name "$o")"; continue ;;
    esac
    IFS='|' read -r state role majority group gtids view _ _ _ unfinished <<< "$answer"
    case $state in
      ONLINE | RECOVERING)
        # To join a group that still counts this member's former self only hangs.
        if [[ " $view " == *" $me "* ]]; then busy+=" $(member_name "$o") (still counts this member as it was before)"
        elif [ "$majority" != 1 ]; then busy+=" $(member_name "$o") (without a majority)"
        else
          seeds+=",$(member_host "$o"):$GROUP_PORT"
          if [ "$state" = RECOVERING ]; then busy+=" $(member_name "$o") (recovering)"
          elif [ -z "$donor" ] || [ "$role" = PRIMARY ]; then donor="$o|$group|$gtids"; fi
        fi
        ;;
      *)
        [ "$o" -gt "$me" ] || before+=" $(member_name "$o")"
        [ -z "$gtids" ] || with_data+=" $(member_name "$o")"
        if ! subset "$gtids" "$mine"; then ahead+=" $(member_name "$o")"
        elif [ "$o" -lt "$me" ] && [ "$unfinished" != 1 ]; then
          # a server that does not answer now leaves the lead to the other
          subset "$mine" "$gtids"
          [ $? = 1 ] || lower+=" $(member_name "$o")"
        fi
        ;;
    esac
  done

  # There is a group: join it, when it has all that this member has.
  if [ -n "$donor" ]; then
    settled=0
    IFS='|' read -r o group gtids <<< "$donor"
    if ! subset "$mine" "$gtids"; then
      # A transaction may be on its way; after some looks it is not.
      errant=$((errant + 1))
      [ "$errant" -lt 5 ] || report "Not joining: this member holds transactions that the group of $(member_name "$o") lacks: $(less "$mine" "$gtids"). They are kept. If they are not wanted, delete the claim data-$POD_NAME and this pod."
      return
    fi
    errant=0
    # In turns: two that join a group of one at once take its majority for many seconds.
    if [ -n "$before" ] && [ "$turns_waited" -lt 20 ]; then
      turns_waited=$((turns_waited + 1))
      say "Lower ordinals join first:$before."
      return
    fi
    turns_waited=0
    report "Joining group $group through $(member_name "$o")."
    start_group join "$group" "${seeds#,}" "$gtids"
    return
  fi
  errant=0
  if [ -n "$busy" ]; then settled=0; report "Waiting: there is a group, but it cannot take this member now:$busy."; return; fi

  # Nobody is in a group. A volume that never held anything: one member alone may found one, and only beside empty ones.
  if [ -z "$mine" ] && [ ! -e "$marker" ] && [ ! -e "$joining" ]; then
    if [ "$me" != 0 ]; then settled=0; report "This member is empty: waiting for a group to join."; return; fi
    if [ -n "$with_data" ]; then settled=0; report "Waiting: this member is empty, but data is on:$with_data. It joins when one of them leads."; return; fi
    if [ -n "$silent" ]; then settled=0; report "Waiting: this member is empty, and these exist but do not answer:$silent. They may hold the data."; return; fi
    if [ -n "$unborn" ]; then settled=0; report "Waiting: this member is empty, and these do not exist yet:$unborn. They may hold the data; when they cannot come, set replicas to the members that can."; return; fi
    settled=$((settled + 1))
    [ "$settled" -ge 4 ] || return
  else
    # A full outage. The member that has all that anybody has leads, and only when everybody of the last view was heard.
    if [ -e "$joining" ]; then settled=0; report "Waiting: this member never finished joining, so its data may be incomplete; another one has to lead.${mine:+ If no other has the data any more, remove $joining in this pod: then it counts as one that has them.}"; return; fi
    led=''
    [ ! -r "$led_in_manual" ] || read -r led _ < "$led_in_manual"
    if [ -n "$led" ] && [ "$led" != "$me" ]; then settled=0; report "Waiting: $(member_name "$led") led last, with failover: Manual, and may have more than this member. Set failover back to Manual, let this member lead, and then change it again."; return; fi
    [ -n "$members" ] || missing+=$unborn   # it was in no view yet, so it does not know who else was
    if [ -n "$missing$silent" ]; then settled=0; report "Waiting: nobody is in a group, and somebody may have more than this member. Missing:${missing:- nobody}; not answering:${silent:- nobody}. If the data of one is lost for good, delete its claim and its pod: it comes back empty, and is not waited for any more."; return; fi
    if [ -n "$ahead" ]; then settled=0; report "Waiting: nobody is in a group, and these have transactions that this member lacks:$ahead."; return; fi
    if [ -n "$lower" ]; then settled=0; report "Waiting: nobody is in a group, and a lower ordinal has the same transactions:$lower."; return; fi
    settled=$((settled + 1))
    [ "$settled" -ge 2 ] || return
  fi
  settled=0
  # Another name each time: transactions of two histories must never have the same number.
  group=$(< /proc/sys/kernel/random/uuid)
  report "Founding group $group, with the transactions: ${mine:-none}."
  start_group found "$group" ''
}

# blocked VIEW: ONLINE without a majority. Writes have stopped. Nothing is forced: only when every other member of the view says that it
# is in no group does this one leave too, and then the rule for a full outage decides, by what each has.
blocked() {
  local o state why=''
  look_at_all
  for o in $1; do
    [ "$o" != "$me" ] || continue
    IFS='|' read -r state _ < "$work/look.$o"
    case $state in
      OFFLINE | ERROR) ;;
      *) why+=" $(member_name "$o") is ${state:-silent}." ;;
    esac
  done
  if [ -n "$why" ]; then
    report "NO MAJORITY: writes have stopped until most of the members $1 are back.$why"
    return
  fi
  report "No majority, and all others of $1 are in no group any more: leaving too, to form it anew by what each has."
  here_timeout=60 here <<< 'STOP GROUP_REPLICATION'
}

turn() {
  local line state role majority group gtids view offline read_only online unfinished
  line=$(here <<< "$state_sql") || { tell_role none; report "The server does not answer: $(what_it_said)"; return; }
  follow_settings
  IFS='|' read -r state role majority group gtids view offline read_only online unfinished <<< "$line"
  [ "$state $majority" = 'ONLINE 1' ] || tell_role none
  [ "$state" = RECOVERING ] || stuck=0
  publish_joining "$unfinished"
  case $state in
    ONLINE)
      if [ "$majority" != 1 ]; then blocked "$view"; return; fi
      if [ -e "$joining" ]; then
        # Its donors may all have left: then it is ONLINE, alone, without their transactions.
        if [ "$online" -lt 1 ]; then
          tell_role none
          report "Joined, but no other member is ONLINE: the data may be incomplete, and this member leaves again."
          here_timeout=60 here <<< 'STOP GROUP_REPLICATION'
          return
        fi
        if ! subset "$(< "$joining")" "$gtids"; then
          tell_role none
          report "Joined, but this member still lacks transactions that the group had before: it leaves again."
          here_timeout=60 here <<< 'STOP GROUP_REPLICATION'
          return
        fi
      fi
      # In this order: a member that has data and no marker would not know whom to wait for.
      if mark "$group" "$view"; then
        forget "$joining"
        forget "$led_in_manual"
      elif [ "$read_only" = 1 ]; then
        tell_role none
        report "The view of the group cannot be written to $marker, so this member is not used: the volume has $(df -h --output=avail "$volume" | tail -n 1 | tr -d ' ') free."
        return
      fi
      [ "$offline" = 0 ] || here <<< 'SET GLOBAL offline_mode = OFF'
      if [ "$role" = PRIMARY ]; then
        if [ "$read_only" = 1 ]; then
          here <<< 'SET GLOBAL super_read_only = OFF; SET GLOBAL read_only = OFF' || return
          say "Opened for writes."
        fi
        tell_role primary
        report "Primary of group $group, members $view."
        on_primary
      else
        tell_role replica
        report "Secondary of group $group, members $view."
      fi
      ;;
    RECOVERING)
      if [ "$majority" = 1 ] && [ "$online" -ge 1 ]; then stuck=0; report "Recovering in group $group."; return; fi
      # Its only full member is gone: this group can never go on, and stands in the way of those that have the data.
      stuck=$((stuck + 1))
      report "Recovering, but the members that have the data are gone."
      [ "$stuck" -lt 20 ] || { stuck=0; here_timeout=60 here <<< 'STOP GROUP_REPLICATION'; }
      ;;
    ERROR)
      report "This member was put out of the group: $(here <<< "SELECT LEFT(data, 200) FROM performance_schema.error_log WHERE subsystem = 'Repl' AND prio = 'Error' ORDER BY logged DESC LIMIT 1")"
      here_timeout=60 here <<< 'STOP GROUP_REPLICATION'
      ;;
    *)
      own_name_is_known || { report "Waiting: the name $(member_host "$me") does not lead to this pod yet."; return; }
      # Somebody may have opened it by hand; what is written outside of a group can never join one.
      [ "$read_only" = 1 ] || here <<< 'SET GLOBAL super_read_only = ON'
      decide "$gtids"
      ;;
  esac
}
