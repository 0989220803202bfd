# shellcheck shell=bash
# What a trial has to know of PostgreSQL. Needs cluster.sh; in: $parts.

container=postgresql
default_version=16
marker_seconds=180 # how long the superuser of a restore may outlive it

# The least that one row and its commit take in the write-ahead log.
row_bytes=200
# bound: bytes of the write-ahead log that a member may lack and still take over
bound() { kube get configmap "$name-patroni-config" --output 'jsonpath={.metadata.annotations.config}' | grep -o '"maximum_lag_on_failover": *[0-9]*' | grep -o '[0-9]*$'; }

# images_for FAILOVER VERSION: names in images.txt
images_for() { if [[ $1 == Automatic ]]; then echo "patroni-$2"; else echo "postgresql-$2"; fi; }

# superuser MEMBER DATABASE [OPTION…]: psql on the member's socket, reads stdin
superuser() {
  kube exec --stdin "$1" --container "$container" -- \
    psql --no-psqlrc --no-align --tuples-only --quiet --set=ON_ERROR_STOP=1 --host=/var/run/postgresql --username=postgres "--dbname=$2" "${@:3}"
}

# application NAME [OPTION…]: psql through the Service with what is in the Secret, a new connection
# shellcheck disable=SC2016 # for the shell in the pod
application() {
  in_client "$1" bash -c 'exec psql --no-psqlrc --no-align --tuples-only --quiet --set=ON_ERROR_STOP=1 "$(</secret/uri)" "$@"' psql "${@:2}"
}

# ask MEMBER: t when it takes writes
ask() { superuser "$1" postgres --command 'SELECT NOT pg_is_in_recovery()' </dev/null; }

# streaming MEMBER: how many standbys it feeds
streaming() { superuser "$1" postgres --command "SELECT count(*) FROM pg_stat_replication WHERE state = 'streaming'" </dev/null; }

# heir NAME: whether a member may take over. In Synchronous that is who Patroni has written down as the synchronous standby, in its
# first turn after one streams. Until then nobody may, because nobody is known to have every row.
heir() { [[ $failover == Manual || $replication == Asynchronous || -n $(synchronous "$1") ]]; }
synchronous() { kube get configmap "$1-patroni-sync" --output 'jsonpath={.metadata.annotations.sync_standby}'; }

# fill NAME: something of everything
fill() {
  superuser "$(primaries "$1")" postgres <"$parts/$engine/superuser.sql" || give_up "the roles and the second database could not be made."
  quietly application "$1" --single-transaction --file - <"$parts/$engine/content.sql" || give_up "the tables could not be made through the Service of $1."
}

# rows NAME: numbers of the rows that are there and whole, by a new connection through the Service
rows() { application "$1" --command "COPY (SELECT n FROM numbered WHERE payload = md5(n::text)) TO STDOUT" </dev/null; }

# fingerprint MEMBER: what all databases of the server hold, sorted
fingerprint() {
  local each
  superuser "$1" postgres --command "SELECT datname FROM pg_database WHERE NOT datistemplate ORDER BY 1" </dev/null >"$work/databases"
  while IFS= read -r each <&3; do
    superuser "$1" "$each" <"$parts/$engine/fingerprint.sql" | sed "s/^/$each: /"
  done 3<"$work/databases" | LC_ALL=C sort
}

# restore_is_closed MEMBER: waits until the superuser that loaded the data is gone
restore_is_closed() {
  local deadline=$((SECONDS + marker_seconds))
  until [[ $(superuser "$1" postgres --command "SELECT to_regrole('restore') IS NULL" </dev/null || :) == t ]]; do
    ((SECONDS < deadline)) || give_up "the role restore, a superuser, is still there $marker_seconds s after the restore."
    sleep 1
  done
}

# plant_dropped_row NAME: the first row that was acknowledged disappears
plant_dropped_row() {
  superuser "$(primaries "$1")" app --command "DELETE FROM numbered WHERE n = $(head -n 1 "$work/client/acknowledged.1" | cut -d ' ' -f 3)" </dev/null
}

# plant_skipped_table NAME: a table is not in what was restored
plant_skipped_table() { superuser "$(primaries "$1")" app --command 'DROP TABLE shop.odd' </dev/null; }

# plant_second_primary NAME: a standby is promoted behind everybody's back and acknowledges rows
plant_second_primary() {
  local first other='' deadline=$((SECONDS + patience)) member
  first=$(primaries "$1")
  until [[ -n $other ]]; do # the member that was killed may not be back yet
    for member in $(members "$1"); do if [[ $(ask "$member" 2>/dev/null || :) == f ]]; then other=$member; fi; done
    ((SECONDS < deadline)) || give_up "no standby of $1 answers."
  done
  superuser "$other" app --command 'SELECT pg_promote()' --command \
    "INSERT INTO numbered SELECT n, md5(n::text) FROM generate_series(1000000001, 1000000009) n RETURNING format('0 0 %s', n)" </dev/null |
    grep '^0 0' >"$work/client/acknowledged.planted"
  say "planted: $other takes writes beside $first."
}

# lead MEMBER NAME: makes the member the primary, in order. Only the synchronous standby may take over, and Patroni prefers the
# lowest ordinal, so the member between has to be away for that moment, again whenever it is the synchronous one. What patronictl
# prints counts for nothing: it ends with 0.
lead() {
  local deadline=$((SECONDS + patience)) between
  between=$(members "$2" | grep -vx -e "$1" -e "$(primaries "$2")")
  until [[ $(primaries "$2") == "$1" ]]; do
    ((SECONDS < deadline)) || give_up "Patroni does not hand over to $1: $(tail -n 1 "$work/switchover.log")"
    if [[ $(synchronous "$2") == "$between" ]]; then quietly kube delete pod "$between" --wait=false --ignore-not-found; fi
    kube exec "$1" --container "$container" -- patronictl --config-file /etc/patroni switchover --force --candidate "$1" >"$work/switchover.log" 2>&1 || :
    sleep 1
  done
}
