# shellcheck shell=bash
# Backups that must not work, each with the sentence that a person reads at night; and what was there stays.

# before_failure: a lean source with one good backup
before_failure() {
  lean_source
  volume backups "${claim_options:-}"
  configure source
  backup
  good_id=$(value id)
}
# untouched WHAT: only the good backup is there, whole, and nothing partial
untouched() {
  is "$1" "$good_id 0" "$(ids backups | xargs) $(partials backups)"
}

cases_failing_server() {
  before_failure
  halt source
  backup
  ended_badly 'a server that is down' 1 'did not answer within 4 seconds'
  boot source
  on source -c 'alter role backup nologin'
  backup
  ended_badly 'a role that may not log in' 1 'Could not log in to source.production.svc.cluster.local:5432 as backup: .*not permitted to log in'
  on source -c 'alter role backup login' -c 'create database locked' -c 'revoke connect on database locked from public'
  backup
  ended_badly 'a database that the role may not enter' 1 'locked.*CONNECT'
  on source -c 'drop database locked' -c 'create database closed allow_connections false'
  backup
  ended_badly 'a database that nobody may enter' 4 'do not allow connections.*closed'
  on source -c 'drop database closed' -c 'revoke pg_read_all_data from backup'
  backup
  ended_badly 'a table that the role may not read' 1 'permission denied for table customer|permission denied for schema shop'
  on source -c 'grant pg_read_all_data to backup' -c 'alter role backup nobypassrls'
  on source -d app -c 'alter table shop.customer enable row level security' -c 'alter table shop.customer force row level security'
  backup
  ended_badly 'rows that a policy hides from the role' 1 'row-level security'
  on source -c 'alter role backup bypassrls' -c 'alter role backup reset lo_compat_privileges'
  on source -d app -c "select lo_from_bytea(7, 'x')" >/dev/null
  backup
  ended_badly 'large objects that the role may not read' 1 'permission denied for large object|large object'
  on source -c 'alter role backup set lo_compat_privileges = on'
  untouched 'none of these touched the backup that was there'
  backup
  ended_well 'put right, it works again'
}

# A server that goes away in the middle, with the connection open.
cases_failing_server_midway() {
  before_failure
  hold_lock 60
  begin_pod server source backups /etc/dbrender/scripts/backup.sh
  until_true 20 dumping
  halt source
  end_pod
  ended_badly 'a server that dies during the dump' 1 'pg_dump of app failed'
  untouched 'the partial backup is removed'
  boot source
}

# stub NAME <<SCRIPT: a program NAME in front of the real one, which it may call as $real
stub() {
  mkdir -p "$WORLD/stub"
  { printf '#!/bin/bash\nreal=%s/%s\n' "$POSTGRESQL" "$1"; cat; } >"$WORLD/stub/$1"
  chmod -R a+rx "$WORLD/stub"
}
with_stub() { # VERDICT-FUNCTION ARGUMENTS
  pod_path=$WORLD/stub backup
  "$@"
  rm -rf "$WORLD/stub"
}

# Programs that do half of their work and say that all is well.
cases_lying_tools() {
  before_failure
  stub pg_dump <<'END'
[[ $* == *--version* || $* == */dev/null* ]] && exec "$real" "$@"
"$real" "$@"; echo 'pg_dump: error: it broke' >&2; exit 1
END
  with_stub ended_badly 'pg_dump fails after it wrote everything' 1 'pg_dump of app failed: .*it broke'
  stub pg_dump <<'END'
[[ $* == *--version* || $* == */dev/null* ]] && exec "$real" "$@"
: >"${@: -1}"
END
  with_stub ended_badly 'pg_dump writes nothing and says it went well' 1 'dump of app cannot be read'
  stub pg_dump <<'END'
[[ $* == *--version* || $* == */dev/null* ]] && exec "$real" "$@"
"$real" "$@"; truncate -s -40 "${@: -1}"
END
  with_stub ended_badly 'the end of the dump is missing' 1 'cannot be read to its end'
  stub pg_dump <<'END'
[[ $* == *--version* || $* == */dev/null* ]] && exec "$real" "$@"
exec "$real" --exclude-table-data='*.customer' "$@"
END
  with_stub ended_badly 'one table is left out' 1 'lacks the rows of 1 tables'
  stub pg_dumpall <<'END'
"$real" "$@"; sed -i '$d' "${@: -1}"; truncate -s -60 "${@: -1}"
END
  with_stub ended_badly 'the list of roles is cut short' 1 'list of roles is cut short'
  stub sha256sum <<'END'
real=/usr/bin/sha256sum
[[ $* != *-c* && $1 == *app.dump ]] && { "$real" "$@"; printf X | dd of="$1" conv=notrunc bs=1 seek=100 status=none; exit; }
exec "$real" "$@"
END
  with_stub ended_badly 'a byte changes on disk after the dump' 1 'cannot be read|does not read back'
  on source -d app -c "select lo_from_bytea(0, 'x')" >/dev/null
  stub pg_dump <<'END'
[[ $* == *--version* || $* == */dev/null* ]] && exec "$real" "$@"
exec "$real" --no-blobs "$@"
END
  with_stub ended_badly 'large objects are left out' 1 'lacks the large objects'
  untouched 'none of these left anything behind, and the good backup stays'
}

cases_disk_full() {
  claim_options=size=3m before_failure
  on source -d app -c "create table shop.big as select i, sha256(i::text::bytea) || sha512(i::text::bytea) as b from generate_series(1, 60000) i"
  backup
  ended_badly 'a full volume' 1 'No space left on device'
  untouched 'the partial backup is removed, the old one stays'
  ok 'the old one still reads well' bash -c "cd '$WORLD/volumes/backups/$namespace/source/$good_id' && sha256sum -c SHA256SUMS"
  on source -d app -c 'drop table shop.big'
  backup
  ended_well 'with less data it works again'
  volume backups size=1m
  umount "$WORLD/volumes/backups"
}

cases_read_only_volume() {
  lean_source
  volume backups
  configure source
  pod_readonly=yes backup
  ended_badly 'a volume that cannot be written' 1 'must be writable for uid 999'
}

# Newer server, older client: the wrong image.
cases_older_client() {
  if [[ -z $NEWER ]]; then
    skip 'older client: no second PostgreSQL here'
    return
  fi
  fresh_server newer
  volume backups
  configure newer DESTINATION_PATH="$namespace/source"
  pod_tools=$POSTGRESQL backup newer
  ended_badly 'a client that is older than the server' 4 'PostgreSQL 18.* cannot dump a newer server'
  is 'nothing is left behind' '0 ' "$(partials backups) $(ids backups)"
  remove_server newer
}

cases_kill() {
  before_failure
  local began
  hold_lock 60
  begin_pod server source backups /etc/dbrender/scripts/backup.sh
  until_true 20 dumping
  kill_pod KILL
  end_pod
  is 'a pod that was killed leaves a partial backup and no other' "$good_id 1" "$(ids backups | xargs) $(partials backups)"
  release_lock
  backup
  ended_well 'the next run succeeds'
  is 'and removes the partial one' "$good_id $(value id) 0" "$(ids backups | xargs) $(partials backups)"
  good_id="$good_id $(value id)"

  hold_lock 60
  begin_pod server source backups /etc/dbrender/scripts/backup.sh
  until_true 20 dumping
  kill -9 "$(pgrep -x pg_dump)"
  end_pod
  ended_badly 'pg_dump alone is killed' 1 'pg_dump of app failed'
  untouched 'its partial backup is removed'

  begin_pod server source backups /etc/dbrender/scripts/backup.sh
  until_true 20 dumping
  began=$SECONDS
  kill_pod TERM
  end_pod
  ended_badly 'SIGTERM, as at the deadline' 1 'Stopped by SIGTERM'
  ok 'is answered at once, not when the dump ends' test $((SECONDS - began)) -le 3
  untouched 'and leaves nothing behind'
  release_lock
}

# Killed at many moments: no backup with a final name may ever be less than whole.
cases_kill_anywhere() {
  fill_source
  volume backups
  configure source RETENTION=100
  local i whole=0 broken=0 killed=0 each took began
  began=$(date +%s%N)
  backup
  took=$((($(date +%s%N) - began) / 1000000))
  for i in 1 2 3 4 5 6 7 8 9 10 11 12; do
    begin_pod server source backups /etc/dbrender/scripts/backup.sh
    sleep "$(awk -v t="$took" -v i="$i" 'BEGIN { printf "%.3f", t / 1000 * (i / 12) }')"
    kill_pod KILL 2>/dev/null || :
    end_pod
    ((code == 0)) || killed=$((killed + 1))
  done
  for each in $(ids backups); do
    if (cd "$WORLD/volumes/backups/$namespace/source/$each" && sha256sum --quiet -c SHA256SUMS) >/dev/null 2>&1; then whole=$((whole + 1)); else broken=$((broken + 1)); fi
  done
  ok "of 12 runs $killed were killed in the middle" test "$killed" -ge 6
  is "$whole backups have a final name, and of these are broken" 0 "$broken"
  backup
  ended_well 'a run after all that succeeds'
  is 'and nothing partial is left' 0 "$(partials backups)"
}

cases_two_at_once() {
  before_failure
  hold_lock 60
  begin_pod server source backups /etc/dbrender/scripts/backup.sh
  local first=$pod first_id=$pod_id
  until_true 20 dumping
  backup
  ended_badly 'a second run on the same volume refuses' 75 'Another backup is running'
  release_lock
  pod=$first pod_id=$first_id
  end_pod
  ended_well 'the first one is not disturbed'
  is 'two backups are there, nothing partial' "$good_id $(value id) 0" "$(ids backups | xargs) $(partials backups)"

  # The script alone dies, as by the kernel for memory; its pg_dump goes on and still writes.
  hold_lock 60
  begin_pod server source backups /bin/bash -c '/etc/dbrender/scripts/backup.sh & wait; sleep 5'
  until_true 20 dumping
  kill -9 "$(pgrep -f '^/bin/bash /etc/dbrender/scripts/backup.sh' | head -n 1)"
  first=$pod first_id=$pod_id
  backup
  ended_badly 'a dump that outlived its script keeps the lock' 75 'Another backup is running'
  release_lock
  pod=$first pod_id=$first_id
  end_pod
  backup
  ended_well 'when it has ended the next run works'
}

cases_tls() {
  lean_source
  volume backups
  configure source TLS=on
  local data=$WORLD/servers/source/data
  mkdir -p "$WORLD"/tls "$WORLD"/other-tls
  for each in tls other-tls; do
    openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj "/CN=$each" -addext 'subjectAltName=DNS:source.production.svc.cluster.local' \
      -keyout "$WORLD/$each/tls.key" -out "$WORLD/$each/ca.crt" 2>/dev/null
    chmod 711 "$WORLD/$each"
    chmod 644 "$WORLD/$each/ca.crt"
  done
  install -m 600 -o 999 "$WORLD/tls/tls.key" "$data/server.key"
  install -m 644 -o 999 "$WORLD/tls/ca.crt" "$data/server.crt"
  printf 'ssl = on\n' >>"$data/postgresql.conf"
  printf 'local all all trust\nhostssl all all all scram-sha-256\n' >"$data/pg_hba.conf"
  halt source
  boot source
  backup
  ended_well 'a server that takes TLS only, without its authority mounted'
  pod_tls=$WORLD/tls backup
  ended_well 'with the authority mounted'
  pod_tls=$WORLD/other-tls backup
  ended_badly 'a certificate of another authority is refused' 1 'certificate verify failed'
}

# A database that goes between the list and its dump is no failure; it is not in the backup.
cases_dropped_meanwhile() {
  lean_source
  volume backups
  on source -c 'create database zzz'
  hold_lock 60
  begin_pod server source backups /etc/dbrender/scripts/backup.sh
  until_true 20 dumping
  on source -c 'drop database zzz'
  release_lock
  end_pod
  ended_well 'a database that is dropped during the run does not fail it'
  is 'and is not counted' 2 "$(value databases)"
}
