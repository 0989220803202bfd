#!/bin/bash
# shellcheck disable=SC2154  # names are shared with the files that this one is sourced with
# Makes a data directory of a base backup and the log, as it was at POINT_IN_TIME; `latest` is the end of the log. Sourced by initdb.sh; fetch.sh has
# fetched both.

# promoted DIRECTORY: waits until the server in it is promoted; fails when it has ended.
promoted() {
  until [ "$(psql -XAtqw -h "$run/initdb.$$" -p "$PORT" -U postgres -d postgres -c 'SELECT pg_is_in_recovery()' 2>/dev/null)" = f ]; do
    pg_ctl -D "$1/data" status > /dev/null || return 1
    rest 0.5
  done
}

# recover DIRECTORY: DIRECTORY/data holds the database as it was, cleanly stopped, at the end. Leaves by a refusal otherwise, and nothing is kept.
recover() {
  local from=$base/fetch.partial dir=$1 line last gap
  [ -e "$from/fetched" ] && [ "$(head -n 1 "$from/fetched")" = "$POINT_IN_TIME" ] ||
    refuse "The base backup and the log for $POINT_IN_TIME are not on the volume: the init container fetch says why."
  say "Unpacking the base backup of $(sed -n 2p "$from/fetched")."
  mkdir -m 0700 "$dir/data"
  attend tar -C "$dir/data" -xzf "$from/base/base.tar.gz" ||
    refuse "The base backup could not be unpacked: the volume has $(df -h --output=avail "$volume" | tail -n 1 | tr -d ' ') free."
  chmod 0700 "$dir/data"
  attend pg_verifybackup --quiet "$dir/data" > "$dir/log" 2>&1 ||
    refuse "The base backup is damaged: $(tail -n 1 "$dir/log")"
  # What the server that wrote the log had, since recovery needs no less. Its own files are not used: they may name what is not here.
  {
    echo "listen_addresses = ''"
    echo "port = $PORT"
    echo "unix_socket_directories = '$run/initdb.$$'"
    echo "hba_file = '$dir/hba'"
    echo "fsync = off"   # work_end writes all of it to the disk
    echo "hot_standby = off"
    # Without a command: what is of the new timeline, and above all its history, waits for the server to be started with one. Without that history
    # in the bucket a second recovery would begin the same timeline again.
    echo "archive_mode = on"
    echo "max_connections = $(control 'max_connections setting' "$dir/data")"
    echo "max_worker_processes = $(control 'max_worker_processes setting' "$dir/data")"
    echo "max_wal_senders = $(control 'max_wal_senders setting' "$dir/data")"
    echo "max_prepared_transactions = $(control 'max_prepared_xacts setting' "$dir/data")"
    echo "max_locks_per_transaction = $(control 'max_locks_per_xact setting' "$dir/data")"
    echo "restore_command = '$scripts/restore-wal.sh \"$from\" \"%f\" \"%p\"'"
    if [ "$POINT_IN_TIME" != latest ]; then
      echo "recovery_target_time = '${POINT_IN_TIME%Z}+00'"   # the server knows no letters of zones at this point
      echo "recovery_target_action = promote"
    fi
    echo "recovery_target_timeline = $(sed -n 4p "$from/fetched")"
    echo "log_timezone = 'Etc/UTC'"
    echo "timezone = 'Etc/UTC'"
  } > "$dir/conf"
  echo 'local all postgres peer' > "$dir/hba"
  : > "$dir/data/recovery.signal"
  rm -rf "$run"/initdb.*
  mkdir -m 0700 "$run/initdb.$$"
  stop_server() { pg_ctl -D "$dir/data" -m fast -w -t 600 stop >> "$dir/log" 2>&1 || true; rm -rf "$run/initdb.$$"; }
  trap 'stop_server' EXIT
  say "Recovering to $POINT_IN_TIME."
  : > "$dir/log"
  # It is started when it is consistent, and takes connections when it is promoted at the moment; it ends by itself when it cannot get there.
  if ! attend pg_ctl -D "$dir/data" -w -t 86400 -l "$dir/log" -o "-c config_file=$dir/conf" start > /dev/null || ! promoted "$dir"; then
    cat "$dir/log" >&2
    if grep -q 'recovery ended before configured recovery target was reached' "$dir/log"; then
      last=$(sed -n 's/.*last completed transaction was at log time //p' "$dir/log" | tail -n 1)
      gap=$(sed -n 3p "$from/fetched")
      refuse "The log ends before $POINT_IN_TIME: its last transaction is of ${last:-a time before the base backup ended}. $gap Nothing was restored: choose a moment before that transaction, or latest for all of the log."
    fi
    line=$(grep -m 1 -E 'FATAL|PANIC' "$dir/log") || line=$(tail -n 1 "$dir/log")
    refuse "The recovery failed: $line"
  fi
  if [ "$POINT_IN_TIME" = latest ]; then
    last=$(sed -n 's/.*last completed transaction was at log time //p' "$dir/log" | tail -n 1)
    say "All of the log was replayed; its last transaction is of ${last:-a time before the base backup ended}. $(sed -n 3p "$from/fetched")"
  else
    line=$(grep -m 1 -E 'recovery stopping (before|after)' "$dir/log") || refuse "The recovery did not stop at $POINT_IN_TIME: $(tail -n 1 "$dir/log")"
    say "${line#*LOG:  }"
  fi
  stop_server
  trap - EXIT
  rm -f "$dir/data/backup_manifest" "$dir/data/backup_label.old" "$dir/data/tablespace_map.old"
}
