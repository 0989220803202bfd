#!/bin/bash
# shellcheck source-path=SCRIPTDIR
# Makes a new, complete database: initdb, roles, the application's database, beside PGDATA; the last step is one rename.
# So a kill at any point leaves either nothing or all of it. Manual: run by bootstrap.sh. Automatic: Patroni's bootstrap method,
# and start.sh, when the kill came in the middle.
set -euo pipefail
scripts=$(dirname "$0")
# shellcheck source=/dev/null
. /etc/dbrender/config/facts
# shellcheck source=message.sh
. "$scripts/message.sh"
# shellcheck source=volume.sh
. "$scripts/volume.sh"
# shellcheck source=members.sh
. "$scripts/members.sh"
# shellcheck source=passwords.sh
. "$scripts/passwords.sh"
# shellcheck source=roles.sh
. "$scripts/roles.sh"
end_on_signal

# new_database: an empty one in $dir/data, cleanly stopped.
new_database() {
  say "Initialising a new database in $dir."
  attend initdb --pgdata="$dir/data" --username=postgres --encoding=UTF8 --locale=C.UTF-8 --data-checksums \
    --auth-local=peer --auth-host=scram-sha-256 --no-instructions > "$dir/log" 2>&1 ||
    refuse "initdb failed: $(tail -n 3 "$dir/log" | tr '\n' ' ')"

  # Nobody else reaches this server: no TCP, and a socket directory of its own. A run that was killed left one, perhaps of this number.
  rm -rf "$run"/initdb.*
  mkdir -m 0700 "$run/initdb.$$"
  stop_server() { pg_ctl -D "$dir/data" -m fast -w -t 600 stop >> "$dir/log" 2>&1 || true; rm -rf "$run/initdb.$$"; }
  trap 'stop_server' EXIT
  pg_ctl -D "$dir/data" -w -t 600 -l "$dir/log" -o "-c listen_addresses='' -c port=$PORT -c unix_socket_directories='$run/initdb.$$' -c fsync=off" start > /dev/null ||
    refuse "The new server did not start: $(tail -n 3 "$dir/log" | tr '\n' ' ')"
  create_roles "$run/initdb.$$" || refuse "The roles and the database $APP_DATABASE could not be made in the new server."
  stop_server
  trap - EXIT
}

! has_data || refuse "The data directory $PGDATA is not empty; it is not initialised again."
[ ! -e "$base/initialised" ] ||
  refuse "The volume has held a database (system identifier $(head -c 40 "$base/initialised" | tr -d '\n')), but $PGDATA is gone: a new, empty one is not made in its place; restore a backup into a new database, or remove $base/initialised if the data is not wanted."
write_passfile || refuse "$complaint"

dir=$(work_begin initdb)
if [ "$PROFILE" = automatic ]; then
  # shellcheck source=patroni.sh
  . "$scripts/patroni.sh"
  wait_for_empty_members "$dir"
fi
POINT_IN_TIME=''
# shellcheck source=/dev/null
. "$config/restore"
if [ -n "$POINT_IN_TIME" ]; then
  # shellcheck source=recover.sh
  . "$scripts/recover.sh"
  recover "$dir"
else
  new_database
fi
[ "$(control 'Database cluster state' "$dir/data")" = 'shut down' ] || refuse "The new server did not stop cleanly."

put "$base/last-primary" "$me"
work_end initdb
[ ! -e "$base/fetch.partial" ] || work_remove "$base/fetch.partial"
say "A new database is in $PGDATA${POINT_IN_TIME:+, recovered to $POINT_IN_TIME}."
