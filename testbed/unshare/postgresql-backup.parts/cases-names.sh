# shellcheck shell=bash
# A new Database with another database and user name than the source had.

cases_names() {
  remove_server source
  databases[source]=bazaar users[source]="shop'per"
  fresh_server source
  configure source
  fill source bazaar "shop'per"
  on source -d bazaar -c 'set default_transaction_read_only = off' \
    -c "create policy mine on shop.notes to \"shop'per\" using (true)" >/dev/null
  state source | sed "s/shop'per/seller/g; s/bazaar/market/g" | LC_ALL=C sort >"$WORLD/expected-names"
  volume named
  backup source named
  ended_well 'a source with its own names is backed up'
  databases[target]=market users[target]=seller
  empty_target
  on target -d market -c 'alter schema public owner to seller' -c 'grant usage on schema public to seller'
  restore target named
  ended_well 'a restore under other names succeeds'
  same 'ownership, privileges, policies, memberships, settings follow the names' "$WORLD/expected-names" target
  is 'nothing of the restore is left' 0 "$(on target -c "select (select count(*) from pg_roles where rolname like 'dbrender%') + (select count(*) from pg_database where datname like 'dbrender%')")"
  is 'the old names are gone' '0 0' "$(on target -c "select count(*) from pg_roles where rolname = 'shop''per'") $(on target -c "select count(*) from pg_database where datname = 'bazaar'")"
  is 'the new user logs in with the password of the new Database' seller \
    "$(PGPASSWORD='app of target' "$client/psql" -w -Atq -h "${address[target]}" -U seller -d market -c 'select current_user')"
  no 'no password hash went to the log' grep -qE 'SCRAM-SHA-256\$|app of target' "$WORLD/servers/target/log"

  empty_target
  on target -c 'drop database market' -c 'drop role seller'
  restore target named
  ended_well 'also when the agent has made neither'
  same 'with the same result' "$WORLD/expected-names" target

  databases[target]=latin users[target]=seller
  empty_target
  restore target named
  ended_badly 'a database name that the backup uses for another one is refused' 4 'holds a database latin beside .* which is bazaar there'
  databases[target]=market users[target]=alice
  empty_target
  restore target named
  ended_badly 'a user name that the backup uses for another one is refused' 4 "holds a role alice beside .* which is shop'per there"
  is 'before anything was changed' 0 "$(on target -c "select count(*) from pg_roles where rolname = 'reader'")"
  databases=() users=()
  remove_server source
  remove_server target
}
