# shellcheck shell=bash
# What the source holds: one of everything that a dump can lose. Needs world.sh.

# fill_source: a new source server with all of it, once; $WORLD/expected is its state
fill_source() {
  [[ ! -e $WORLD/servers/source/filled ]] || return 0
  fresh_server source
  configure source
  fill source app app
  state source >"$WORLD/expected"
  touch "$WORLD/servers/source/filled"
}

# lean_source: a source with one table, where only the runs matter
lean_source() {
  fresh_server source
  configure source
  on source -d app -c 'create schema shop; create table shop.customer as select i, md5(i::text) from generate_series(1, 1000) i; alter table shop.customer owner to app'
}

# fill SERVER DATABASE USER
fill() {
  on "$1" -v database="$2" -v app="$3" >/dev/null <<'SQL'
set client_min_messages = error;
create role reader;
create role "o'brien ""x""; --" login createdb;
comment on role "o'brien ""x""; --" is 'two
lines; ''quoted''
CREATE ROLE intruder;';
create role alice login connection limit 3 valid until '2030-01-01';
grant reader to alice with admin option;
grant :"app" to alice;
grant monitor to alice;
alter role monitor connection limit 9;
alter role monitor set work_mem to '1MB';
comment on role backup is 'of the source';
grant reader to backup;
alter role alice set search_path to "a b", 'c';
alter role :"app" set work_mem to '8MB';
alter role :"app" in database :"database" set statement_timeout to '10min';
grant set on parameter log_min_duration_statement to alice;

alter database :"database" set default_transaction_read_only to on;
alter database :"database" set search_path to shop, public;
alter database :"database" connection limit 50;
comment on database :"database" is 'the shop''s';
revoke connect on database :"database" from public;
grant connect on database :"database" to backup, reader;
create table public.in_postgres (i int primary key, t text);
insert into public.in_postgres select i, repeat('p', i) from generate_series(1, 50) i;
grant select on public.in_postgres to reader;
alter database postgres set log_lock_waits to on;

create database "order ""db"" x's" owner alice;
create database "a=b host=nowhere";
create database ".hid/den%41";
create database "ünï";
create database empty;
create database latin template template0 encoding 'LATIN1' lc_collate 'C' lc_ctype 'C';
SQL
  on "$1" -d "$2" -v app="$3" >/dev/null <<'SQL'
set client_min_messages = error;
set default_transaction_read_only = off;
create extension citext;
create extension hstore;
create extension postgres_fdw;
create extension pg_trgm;
create schema shop authorization :"app";
alter default privileges for role :"app" in schema shop grant select on tables to reader;
set role :"app";
set search_path = shop, public;
create type mood as enum ('sad', 'ok', 'happy');
create domain positive as int check (value > 0);
create type pair as (a int, b text);
create table customer (id bigint generated always as identity primary key, name citext not null unique, mood mood, tags text[],
  extra jsonb, h hstore, born date default current_date, secret text);
insert into customer (name, mood, tags, extra, h, born, secret)
  select 'name ' || i, (array['sad', 'ok', 'happy'])[1 + i % 3]::mood, array['a', null, i::text], jsonb_build_object('i', i, 'q', E'quote '' \\ \n\t'),
    hstore('k', i::text), '2020-01-01', case when i % 7 = 0 then null else md5(i::text) end from generate_series(1, 5000) i;
comment on table customer is 'people; with ''quotes''';
create table item (id serial primary key, customer bigint references customer on delete cascade, price numeric(12, 4), qty positive,
  total numeric generated always as (price * 2) stored, photo bytea, p pair);
insert into item (customer, price, qty, photo, p)
  select 1 + i % 5000, i / 7.0, 1 + i % 9, decode(repeat(md5(i::text), 40), 'hex'), row(i, 'x')::pair from generate_series(1, 3000) i;
select setval('item_id_seq', 99999);
create sequence lonely start 42 increment 7;
select nextval('lonely'), nextval('lonely');
create table event (at timestamptz not null, body text) partition by range (at);
create table event_1 partition of event for values from ('2026-01-01') to ('2026-02-01');
create table event_2 partition of event for values from ('2026-02-01') to ('2026-03-01');
insert into event select '2026-01-15'::timestamptz + i * interval '1 hour', 'e' || i from generate_series(1, 800) i;
create index on event (body);
create index item_trgm on customer using gin (secret gin_trgm_ops);
create unlogged table cache (k text, v text);
insert into cache values ('k', 'v');
create table nothing ();
create table none_yet (i int);
create view cheap as select id, price from item where price < 10 with check option;
create materialized view sums as select customer, sum(price) as s from item group by customer;
create unique index on sums (customer);
create materialized view later as select 1 as one with no data;
create function add_tax(n numeric) returns numeric language sql immutable as $$ select n * 1.19 $$;
create function touched() returns trigger language plpgsql as $$ begin new.secret := coalesce(new.secret, 'never'); return new; end $$;
create trigger touch before update on customer for each row execute function touched();
create table notes (who text, note text);
insert into notes values ('app', 'visible'), ('other', 'hidden by policy');
alter table notes enable row level security;
alter table notes force row level security;
create policy own on notes to reader using (who = current_user);
create rule nodel as on delete to none_yet do instead nothing;
create statistics stat (dependencies) on customer, price from item;
create publication pub for table customer;
grant select on customer to reader;
grant select (id, name), update (name) on customer to alice;
grant usage on sequence lonely to reader;
revoke execute on function add_tax(numeric) from public;
select lo_from_bytea(500001, decode(repeat('00ff27', 3000), 'hex')), lo_from_bytea(500002, 'two');
grant select on large object 500001 to reader;
comment on large object 500002 is 'second';
reset role;
select lo_from_bytea(500003, 'of postgres');
create server far foreign data wrapper postgres_fdw options (host 'far');
create foreign table abroad (i int) server far;
create function shop.watch() returns event_trigger language plpgsql as $$ begin end $$;
create event trigger watch on ddl_command_end execute function shop.watch();
SQL
  local name
  for name in "order \"db\" x's" 'a=b host=nowhere' '.hid/den%41' 'ünï'; do
    on "$1" -d "dbname='${name//\'/\\\'}'" <<'SQL'
create table "T able" (i int, "select" text);
insert into "T able" select i, current_database() from generate_series(1, 10) i;
SQL
  done
  on "$1" -d latin <<'SQL'
set client_encoding = 'UTF8';
create table "é" (t text);
insert into "é" values ('où'), ('à la');
SQL
}

# hold_lock SECONDS: nobody can read the table shop.customer of the source for so long, so that a dump waits in the middle
hold_lock() {
  on source -d app -c "set default_transaction_read_only = off; begin; lock table shop.customer; select pg_sleep($1); commit" >/dev/null 2>&1 &
  lock_job=$!
  until_true 10 lock_is_held
}
lock_is_held() {
  [[ $(on source -c "select count(*) from pg_locks where mode = 'AccessExclusiveLock' and granted and locktype = 'relation'") != 0 ]]
}
release_lock() {
  on source -c "select pg_terminate_backend(pid) from pg_stat_activity where query like '%pg_sleep%' and pid <> pg_backend_pid()" >/dev/null
  wait "$lock_job" 2>/dev/null || :
}
# dumping: a pg_dump runs and waits
dumping() { pgrep -x pg_dump >/dev/null && [[ $(on source -c "select count(*) from pg_locks where not granted") != 0 ]]; }
