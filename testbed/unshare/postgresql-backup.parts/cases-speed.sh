# shellcheck shell=bash
# How long the scripts take beside plain pg_dump and pg_restore on the same data. Prints ratios and judges nothing but the rows.

# seconds COMMAND...: sets $took
seconds() {
  local from
  from=$(date +%s%N)
  "$@" >/dev/null 2>&1
  took=$(awk -v a="$from" -v b="$(date +%s%N)" 'BEGIN { printf "%.1f", (b - a) / 1e9 }')
}
plain_restore() {
  on target -c 'drop database if exists plain' -c 'create database plain'
  "$client/pg_restore" -h "$WORLD/servers/target" -U postgres --no-owner -d plain "$WORLD/plain.dump"
  on target -d plain -c analyze
}

# SPEED_SCALE is pgbench's: 1 is about 15 MB.
cases_speed() {
  local dump restored ours_dump ours_restore size took
  fresh_server source
  volume backups
  configure source
  "$client/pgbench" -q -i -s "${SPEED_SCALE:-10}" --foreign-keys -h "$WORLD/servers/source" -U app app >/dev/null 2>&1
  size=$(on source -c "select pg_database_size('app') / 1000000")
  seconds "$client/pg_dump" -h "$WORLD/servers/source" -U postgres -Fc -f "$WORLD/plain.dump" app
  dump=$took
  seconds backup
  ours_dump=$took
  ended_well "a database of $size MB is backed up"
  fresh_server target
  seconds plain_restore
  restored=$took
  empty_target
  seconds restore
  ours_restore=$took
  is 'and restored' "$(on source -d app -c 'select count(*) from pgbench_accounts')" "$(on target -d app -c 'select count(*) from pgbench_accounts')"
  awk -v a="$dump" -v b="$ours_dump" -v c="$restored" -v d="$ours_restore" 'BEGIN {
    printf "     backup %s s, pg_dump %s s: %.2f times; restore %s s, pg_restore and analyze %s s: %.2f times\n", b, a, b / a, d, c, d / c }'
  remove_server source
  remove_server target
}
