# shellcheck shell=bash disable=SC2154 # names are shared with the files that this one is sourced with
# The log on its way into the bucket: what fails there, and that nothing is lost meanwhile.

# no_gap: every segment from the newest base backup on is in the bucket once
no_gap() {
  local start
  start=$(base_value "$(bases | tail -n 1)" startWal)
  segments | cut -c 9-24 | awk -v start="${start:8}" '$1 >= start' | sort | python3 -c '
import sys
names = [line.strip() for line in sys.stdin]
numbers = [int(n[:8], 16) * 256 + int(n[8:], 16) for n in names]
assert numbers, "no segment"
missing = sorted(set(range(numbers[0], numbers[-1] + 1)) - set(numbers))
assert not missing, missing' || return 1
  [[ -z $(segments | uniq -d) ]]
}
fails() { [[ $(query "$1" 'SELECT last_failed_time > coalesce(last_archived_time, to_timestamp(0)) FROM pg_stat_archiver') == t ]]; }
waiting() { inside "$1" postgresql bash -c "ls /var/lib/postgresql/$MAJOR/docker/pg_wal/archive_status" | grep -c 'ready$'; }

# recovers_to N MOMENT: a lost source comes back with the numbers 1 to N
recovers_to() {
  lose_source
  recover "$2"
  within 120 'the recovered database is ready' ready 0
  check "with the $1 rows of that moment" holds 0 "$1"
}

# agent_says_anew TEXT: since the pod was started the last time
agent_says_anew() { tac "$(log_of 0 agent)" | sed '/^--- started/q' | grep -q -e "$1"; }

case_bucket_away_for_a_while() {
  local moment seconds i last
  begin_source
  stop_bucket
  for i in 1 2 3 4; do
    insert 0 $((i * 1000 + 1)) $(((i + 1) * 1000))
    last=$(switch 0)
  done
  within 60 'the server knows that it is not archived' fails 0
  check 'writes go on' holds 0 5000
  check 'the log is kept on the volume' test "$(waiting 0)" -ge 4
  within 60 'the agent says so' says 'The write-ahead log is not archived since .*it stays on the volume' "$(log_of 0 agent)"
  check 'the archiver says why' says 'the bucket cannot be read: ' "$(log_of 0 archiver)"
  seconds=$(stop_pod 0)
  check "the pod ends in seconds all the same ($seconds)" at_most 15 "$seconds"
  start 0
  within 60 'and starts' ready 0
  # Only an agent that has seen it fail tells that it works again.
  within 60 'and its new agent says so too' agent_says_anew 'The write-ahead log is not archived since'
  moment=$(moment 0)
  insert 0 5001 5100
  serve_bucket
  within 150 'when the bucket is back, the log arrives' archived "$last"
  check 'the log is in the bucket up to now' archive_all 0
  check 'without a gap' no_gap
  within 60 'the agent says that it is archived again' says 'The write-ahead log is archived again' "$(log_of 0 agent)"
  recovers_to 5000 "$moment"
}

case_log_fills_the_volume() {
  local i
  make_volume 0 size=300m
  begin_source
  stop_bucket
  for i in $(seq 1 40); do switch 0 > "$WORLD/full.out" 2>&1 || break; done
  check 'a volume that is full of log takes no writes any more' not insert 0 1001 200000
  within 60 'the agent says that it is full' says 'volume is [0-9]+ % full' "$(log_of 0 agent)"
  serve_bucket
  mount -o remount,size=700m "$(volume_of 0)"
  within 120 'ready once there is room' ready 0
  check 'what was committed is there' holds 0 1000
  within 150 'the log arrives' archive_all 0
  check 'without a gap' no_gap
}

case_archiver_killed_half_way() {
  local moment i
  begin_source
  for i in $(seq 1 12); do
    insert 0 $((i * 1000 + 1)) $(((i + 1) * 1000))
    switch 0 > /dev/null
    case $((i % 3)) in
      0) signal KILL 0 archiver || : ;;
      1) pkill -KILL -f 'rclone --config  .*(copyto|lsf|check)' || : ;;
      2) [[ $i != 8 ]] || { signal KILL 0 postgresql; within 60 'the server is back after kill -9' ready 0; } ;;
    esac
  done
  moment=$(moment 0)
  insert 0 13001 13100
  within 150 'the log arrives' archive_all 0
  check 'without a gap' no_gap
  recovers_to 13000 "$moment"
}

case_another_file_of_the_same_name() {
  local next system file
  begin_source
  system=$(query 0 'SELECT system_identifier FROM pg_control_system()')
  next=$(query 0 'SELECT pg_walfile_name(pg_current_wal_lsn())')
  file=$WORLD/bucket/$stored/wal/$system/${next:0:16}/$next-$(printf '%064d' 7).gz
  stop_bucket
  echo foreign > "$file"
  serve_bucket
  insert 0 1001 2000
  switch 0 > /dev/null
  within 60 'it is refused' fails 0
  check 'and told' says "the bucket holds another file of this name \($next-0*7.gz" "$(log_of 0 archiver)"
  within 60 'by the agent too' says "The write-ahead log is not archived since .*another file of this name" "$(log_of 0 agent)"
  check 'nothing was written over it or beside it' same "$next-$(printf '%064d' 7).gz" eval "in_bucket wal -name '$next-*' | sed 's|.*/||'"
  check 'the log is kept on the volume' test "$(waiting 0)" -ge 1
  check 'writes go on' holds 0 2000
  rm "$file"
  within 150 'without it the log goes on' archive_all 0
  check 'without a gap' no_gap
}

# The primary dies with segments that it could not archive; its standby has them, and archives them as the new primary.
case_primary_lost_with_log_that_is_not_archived() {
  local moment
  set_replicas 2
  start 0 1
  within 60 'the primary is ready' ready 0
  within 60 'the standby streams' streams 1 0
  insert 0 1 1000
  check 'a backup with a base backup' back_up
  check 'the log is in the bucket' archive_all 0
  check 'the standby gave nothing to the bucket' not says 'ok' "$(log_of 1 archiver)"
  stop_bucket
  insert 0 1001 2000
  switch 0 > /dev/null
  insert 0 2001 3000
  switch 0 > /dev/null
  insert 0 3001 4000
  within 30 'the standby has all rows' holds 1 4000
  kill_pod 0
  remove_volume 0
  set_primary 1
  force 1/1
  deliver 1
  within 60 'the standby is promoted' is 1 primary
  names_of_services 1
  force ''
  deliver 1
  insert 1 4001 5000
  serve_bucket
  within 200 'the new primary archives it all' archive_all 1
  check 'without a gap, over two timelines' no_gap
  check 'with the history of the timelines' same 1 eval "in_bucket wal -name '00000002.history-*' | wc -l"
  moment=$(moment 1)
  insert 1 5001 5100
  check 'the log is in the bucket up to now' archive_all 1
  kill_pod 1
  remove_volume 1
  recover "$moment"
  within 120 'the recovered database is ready' ready 0
  check 'with the rows of both timelines' holds 0 5000
  check 'on a third timeline' same 3 timeline 0
}

# settled ORDINAL…: nothing waits on these members any more for the bucket
settled() {
  local i
  for i; do [[ $(waiting "$i") == 0 ]] || { inside "$i" postgresql bash -c "ls /var/lib/postgresql/$MAJOR/docker/pg_wal/archive_status"; return 1; }; done
}

# The half segment in which a timeline ends is never archived; who waited for it would keep its log for ever.
case_primary_moved_and_moved_back() {
  local moment
  set_replicas 3
  start 0 1 2
  within 60 'the primary is ready' ready 0
  within 60 'the first standby streams' streams 1 0
  within 60 'the second standby streams' streams 2 0
  insert 0 1 1000
  check 'a backup with a base backup' back_up
  set_primary 1
  deliver
  within 60 'the first standby is primary' is 1 primary
  within 60 'the former primary streams' streams 0 1
  within 60 'the second standby streams' streams 2 1
  insert 1 1001 2000
  names_of_services 1
  within 60 'the log is in the bucket' archive_all 1
  insert 1 2001 2100
  within 60 'and more of it' archive_all 1
  within 150 'no member waits for the bucket' settled 0 1 2
  set_primary 0
  deliver
  within 60 'the former primary is primary again' is 0 primary
  within 60 'the first standby streams' streams 1 0
  within 60 'the second standby streams' streams 2 0
  names_of_services
  insert 0 2101 3000
  moment=$(moment 0)
  insert 0 3001 3100
  within 60 'the log is in the bucket' archive_all 0
  within 150 'no member waits for the bucket' settled 0 1 2
  check 'without a gap, over three timelines' no_gap
  recovers_to 3000 "$moment"
}

case_retention_of_base_backups_and_log() {
  local first second moment oldest
  sed -i "s/^RETENTION=.*/RETENTION='2'/" "$WORLD/config/backup"
  begin_source
  first=$(bases)
  switch 0 > /dev/null
  insert 0 1001 2000
  check 'a second backup' back_up
  second=$(bases | tail -n 1)
  oldest=$(base_value "$second" startWal)
  insert 0 2001 3000
  moment=$(moment 0)
  insert 0 3001 4000
  check 'the log is in the bucket' archive_all 0
  check 'with two, nothing goes' same "$first" eval 'bases | head -n 1'
  mkdir -p "$WORLD/bucket/$stored/base"/{20200101T000000Z,20990101T000000Z}-1
  tee "$WORLD/bucket/$stored/base"/{20200101T000000Z,20990101T000000Z}-1/base.tar.gz <<< half > /dev/null
  check 'a third backup' back_up
  check 'what never got whole is gone after two days' not test -e "$WORLD/bucket/$stored/base/20200101T000000Z-1/base.tar.gz"
  check 'and what may be at work is not' test -e "$WORLD/bucket/$stored/base/20990101T000000Z-1/base.tar.gz"
  check 'the oldest base backup is gone' same "$second" eval 'bases | head -n 1'
  check 'two are left' same 2 eval 'bases | wc -l'
  check 'the log begins where the older of them does' same "$oldest" eval 'segments | head -n 1'
  check 'and has no gap from there' no_gap
  check 'the log is in the bucket' archive_all 0
  recovers_to 3000 "$moment"
}
