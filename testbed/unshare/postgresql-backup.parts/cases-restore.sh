# shellcheck shell=bash
# shellcheck disable=SC2119,SC2120 # empty_target gets its arguments in other files
# A restore that works, a second one, and every restore that must be refused.

# take_backup: one backup of the full source on volume `backups`; $taken is its id. Made once.
take_backup() {
  fill_source
  if [[ ! -e $WORLD/volumes/backups/.taken ]]; then
    volume backups
    configure source
    backup
    value id >"$WORLD/volumes/backups/.taken"
  fi
  taken=$(<"$WORLD/volumes/backups/.taken")
}
# empty_target [NAME=VALUE]...: a new server that waits for the restore
empty_target() {
  fresh_server target
  configure target RESTORE_ID="$namespace/source/latest" "$@"
}
# unharmed WHAT: no database of ours, no progress, no marker
unharmed() {
  is "$1" '0 0' "$(on target -c "select count(*) from pg_database where datname like 'dbrender-%'") $(on target -c 'select count(*) from dbrender.restore')"
}

cases_restore() {
  take_backup
  empty_target
  restore
  ended_well 'a restore into an empty server succeeds'
  is 'it says which backup it was' "$taken" "$(value backup)"
  same 'every role, setting, privilege, row and large object is as in the source' "$WORLD/expected" target
  is 'the application user owns the database' app "$(on target -c "select pg_get_userbyid(datdba) from pg_database where datname = 'app'")"
  is 'the roles that the server made for itself are as it made them' '-1||0' "$(on target -c "select rolconnlimit || '|' || coalesce(array_to_string(rolconfig, ','), '') || '|' ||
    (select count(*) from pg_auth_members where member = 'backup'::regrole and roleid = 'reader'::regrole) from pg_roles where rolname = 'monitor'")"
  is 'and its password is still the one of the new Database' app "$(PGPASSWORD='app of target' "$client/psql" -w -Atq -h "${address[target]}" -U app -d app -c 'select current_user')"
  is 'the marker is written' "$namespace/source/latest $taken t" "$(on target -F ' ' -c 'select id, backup, finished_at is not null from dbrender.restore')"
  is 'nothing of the restore is left' 't 0' "$(on target -c "select to_regclass('dbrender.restore_progress') is null") $(on target -c "select count(*) from pg_database where datname like 'dbrender-%'")"
  is 'the role restore owns nothing' 0 "$(on target -c "select count(*) from pg_shdepend where refobjid = 'restore'::regrole")"
  ok 'it can be dropped' on target -c 'drop role restore'
  is 'the planner has statistics' t "$(on target -d app -c "select count(*) > 0 from pg_stats where schemaname = 'shop' and tablename = 'customer'")"
  ok 'indexes hold' writing target app -c 'create extension amcheck' -c "select bt_index_check(c.oid, true) from pg_class c
    join pg_am a on a.oid = relam where amname = 'btree' and relpersistence <> 't' and relkind = 'i' and relnamespace = 'shop'::regnamespace"
  writing target app -c 'drop extension amcheck'

  restore
  ended_well 'the same restore again ends well, though the role restore is gone'
  is 'and says that there was nothing to do' True "$(value alreadyRestored)"
  on target -c "create role restore login superuser password 'restore of target'"
  restore
  ended_well 'with the role there as well'
  same 'and nothing was touched' "$WORLD/expected" target
}

# The comparison itself: what it must notice.
cases_restore_comparison() {
  take_backup
  empty_target
  restore
  local sql
  while read -r sql; do
    writing target app -c "$sql" >/dev/null
    state target >"$WORLD/state-target"
    no "the comparison notices: $sql" cmp -s "$WORLD/expected" "$WORLD/state-target"
    # Back to what it was, by a new restore only when it has to be.
    on target -c "drop database app with (force)" -c "delete from dbrender.restore" -c "drop table if exists public.in_postgres"
    for sql in "order \"db\" x's" 'a=b host=nowhere' '.hid/den%41' 'ünï' empty latin; do
      on target -v n="$sql" <<<"drop database :\"n\" with (force)"
    done
    restore
  done <<'SQL'
delete from shop.customer where id = 17
drop table shop.none_yet
revoke select on shop.customer from reader
select lo_put(500001, 5, 'x')
select setval('shop.lonely', 43)
refresh materialized view shop.later
SQL
  ended_well 'after which a restore puts it right'
  same 'and the comparison is content' "$WORLD/expected" target
}

cases_restore_refused() {
  take_backup
  local what dir=$WORLD/volumes/backups/$namespace/source
  empty_target
  on target -d app -c 'create table mine (i int)' -c 'insert into mine values (1)'
  restore
  ended_badly 'a server with a table in the application database' 4 'holds data already \(table public.mine in database app\)'
  is 'the table is as it was' 1 "$(on target -d app -c 'select i from mine')"
  unharmed 'and nothing else happened'
  on target -d app -c 'drop table mine' -c "select lo_from_bytea(9, 'x')" >/dev/null
  restore
  ended_badly 'a server with a large object' 4 'holds data already \(large object 9 in database app\)'
  on target -d app -c 'select lo_unlink(9)' -c 'create function f() returns int language sql return 1' >/dev/null
  restore
  ended_badly 'a server with a function' 4 'holds data already \(function public.f'
  on target -d app -c 'drop function f()'
  on target -c 'create database other'
  on target -d other -c 'create view v as select 1'
  restore
  ended_badly 'a server with a view in another database' 4 'holds data already \(view public.v in database other\)'
  on target -c 'drop database other' -c 'create table t (i int)'
  restore
  ended_badly 'a server with a table in postgres' 4 'holds data already \(table public.t in database postgres\)'
  on target -c 'drop table t'
  unharmed 'none of these changed the server'

  configure target RESTORE_ID=x BACKUP=20200101T000000Z
  restore
  ended_badly 'a backup that is not there' 4 "no backup 20200101T000000Z in .*the newest is $taken"
  configure target RESTORE_ID=x BACKUP=../../../etc
  restore
  ended_badly 'a backup that is no id' 4 'There is no backup'
  configure target RESTORE_ID=x SOURCE_PATH=production/nobody
  restore
  ended_badly 'an empty backup directory' 4 'no finished backup in /backup/production/nobody'

  # The newest is damaged: no silent fall back to the older one.
  configure source
  backup
  local newest
  newest=$(value id)
  what=$dir/$newest/databases/app.dump
  truncate -s -1000 "$what"
  configure target RESTORE_ID="$namespace/source/latest"
  restore
  ended_badly 'a newest backup that is cut short' 4 "Backup $newest is damaged \(databases/app.dump has .* bytes instead of .*next older one is $taken"
  truncate -s +1000 "$what"
  restore
  ended_badly 'a newest backup with other bytes' 4 "Backup $newest is damaged \(the checksum of databases/app.dump does not match"
  rm "$what"
  restore
  ended_badly 'a newest backup that lacks a file' 4 "Backup $newest is damaged \(databases/app.dump is missing"
  sed -i '/app.dump/d' "$dir/$newest/manifest.json"
  (cd "$dir/$newest" && sha256sum manifest.json globals.sql databases/* >SHA256SUMS)
  sed -i '/empty/d' "$dir/$newest/SHA256SUMS"
  restore
  ended_badly 'a list of sums that lacks a file' 4 "Backup $newest is damaged \(SHA256SUMS and manifest.json differ on databases/empty.dump"
  rm "$dir/$newest/manifest.json"
  restore
  ended_badly 'a backup without a manifest' 4 "Backup $newest is damaged \(manifest.json is missing"
  unharmed 'none of these reached the server'
  configure target RESTORE_ID="$namespace/source/latest" BACKUP="$taken"
  rm -rf "${dir:?}/$newest"

  restore
  ended_well 'named by its id the older one is restored'
  same 'as it was' "$WORLD/expected" target
}

cases_restore_waits() {
  take_backup
  empty_target
  on target -c 'drop role restore'
  restore
  ended_badly 'without the role restore it waits and then says what is missing' 1 'as restore within 6 seconds; the agent'
  begin_pod server target backups /etc/dbrender/scripts/restore.sh
  sleep 2
  on target -c "create role restore login superuser password 'restore of target'"
  end_pod
  ended_well 'a role that comes late is taken'
  halt target
  restore
  ended_badly 'a server that is down' 1 'did not answer within 6 seconds'
}

cases_restore_versions() {
  take_backup
  if [[ -z $NEWER ]]; then
    skip 'two majors: no second PostgreSQL here'
    return
  fi
  fresh_server newer
  configure newer RESTORE_ID="$namespace/source/latest" WAIT_SECONDS=10
  restore newer
  ended_well "a backup of $major goes into $newer_major"
  local each
  for each in source newer; do
    on "$each" -d app >"$WORLD/rows-$each" <<'SQL'
select count(*), sum(hashtext(c::text)) from shop.customer c;
select count(*), sum(hashtext(i::text)) from shop.item i;
select count(*), sum(hashtext(e::text)) from shop.event e;
select loid, pageno, md5(data) from pg_largeobject order by 1, 2;
select last_value, is_called from shop.lonely;
select string_agg(r.rolname || ' ' || m.rolname, ',' order by r.rolname, m.rolname)
from pg_auth_members a join pg_roles r on r.oid = roleid join pg_roles m on m.oid = member where m.rolname not in ('backup', 'monitor');
SQL
  done
  is 'with its rows, large objects, sequences and memberships' "$(<"$WORLD/rows-source")" "$(<"$WORLD/rows-newer")"

  # Its own backup, and from there into the older major: refused.
  volume newer
  configure newer DESTINATION_PATH="$namespace/source"
  backup newer newer
  ended_well "$newer_major can be backed up as well"
  empty_target
  restore target newer
  ended_badly 'a newer major into an older one is refused' 4 "comes from PostgreSQL 18.*and this Database is version $major"
  unharmed 'before the server was touched'
  state newer >"$WORLD/expected-newer"
  fresh_server newer
  configure newer RESTORE_ID=again WAIT_SECONDS=10
  restore newer newer
  ended_well "a backup of $newer_major goes into $newer_major"
  same 'and everything is as it was' "$WORLD/expected-newer" newer
  remove_server newer
}
