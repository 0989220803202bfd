# shellcheck shell=bash
# What a trial has to know of MySQL. Needs cluster.sh; in: $parts.

container=mysql
default_version=9.7
memory=1Gi
marker_seconds=180 # how long the superuser of a restore may outlive it

# images_for FAILOVER VERSION: names in images.txt
images_for() { echo "mysql-$2"; }

# superuser MEMBER DATABASE [OPTION…]: a client on the member's socket, reads stdin
superuser() {
  kube exec --stdin "$1" --container "$container" -- \
    mysql --no-defaults --socket=/var/run/mysqld/mysqld.sock --user=mysql --default-character-set=utf8mb4 --skip-column-names --batch --raw "--database=$2" "${@:3}"
}

# application NAME [OPTION…]: a client through the Service with what is in the Secret, a new connection
application() {
  cp "$parts/mysql/client.sh" "$work/client/client.sh"
  in_client "$1" bash /rows/client.sh "${@:2}"
}

# ask MEMBER: t when it takes writes
ask() { superuser "$1" mysql --execute "SELECT IF(@@super_read_only, 'f', 't')" </dev/null; }

# streaming MEMBER: how many standbys it feeds
streaming() {
  local question="SELECT COUNT(*) - 1 FROM performance_schema.replication_group_members WHERE member_state = 'ONLINE'"
  [[ $failover == Automatic ]] || question="SELECT COUNT(*) FROM information_schema.processlist WHERE command = 'Binlog Dump GTID'"
  superuser "$1" mysql --execute "$question" </dev/null
}

# heir NAME: whether a member may take over: each one that follows
heir() { true; }

# fill NAME: something of everything. What runs inside of the server is made by the administrator: while there is a binary log the
# server takes functions and triggers from nobody else.
fill() {
  local first
  first=$(primaries "$1")
  superuser "$first" mysql <"$parts/$engine/superuser.sql" || give_up "the users and the second database could not be made."
  quietly application "$1" <"$parts/$engine/content.sql" || give_up "the tables could not be made through the Service of $1."
  superuser "$first" app <"$parts/$engine/routines.sql" || give_up "functions and triggers could not be made."
  application "$1" --execute "CALL note('äöü')" </dev/null || give_up "a procedure could not be called through the Service of $1."
}

# rows NAME: numbers of the rows that are there and whole, by a new connection through the Service
rows() { application "$1" --execute "SELECT n FROM numbered WHERE payload = SHA2(n, 256)" </dev/null; }

# fingerprint MEMBER: what all databases of the server hold, sorted
fingerprint() {
  superuser "$1" mysql <"$parts/$engine/fingerprint.sql" >"$work/described" || return
  superuser "$1" mysql --execute "SELECT CONCAT('SELECT ''rows of ', table_schema, '.', table_name, ''', COUNT(*) FROM \`', table_schema, '\`.\`', table_name, '\`; CHECKSUM TABLE \`', table_schema, '\`.\`', table_name, '\`;')
    FROM information_schema.tables WHERE table_type = 'BASE TABLE' AND table_schema NOT IN ('mysql', 'sys', 'performance_schema', 'information_schema', 'dbrender')" </dev/null >"$work/questions" || return
  superuser "$1" mysql <"$work/questions" >"$work/sums" || return
  LC_ALL=C sort "$work/described" "$work/sums"
}

# restore_is_closed MEMBER: waits until the user that loaded the data is gone
restore_is_closed() {
  local deadline=$((SECONDS + marker_seconds))
  until [[ $(superuser "$1" mysql --execute "SELECT COUNT(*) FROM user WHERE user = 'restore'" </dev/null || :) == 0 ]]; do
    ((SECONDS < deadline)) || give_up "the user restore, who may do everything, is still there $marker_seconds s after the restore."
    sleep 1
  done
}

# plant_dropped_row NAME: the first row that was acknowledged disappears
plant_dropped_row() {
  superuser "$(primaries "$1")" app --execute "DELETE FROM numbered WHERE n = $(head -n 1 "$work/client/acknowledged.1" | cut -d ' ' -f 3)" </dev/null
}

# plant_skipped_table NAME: a table is not in what was restored
plant_skipped_table() { superuser "$(primaries "$1")" app --execute 'DROP TABLE odd' </dev/null; }

# plant_second_primary NAME: a standby is opened behind everybody's back and acknowledges rows
plant_second_primary() {
  local first other leave='STOP GROUP_REPLICATION'
  [[ $failover == Automatic ]] || leave='STOP REPLICA'
  first=$(primaries "$1")
  other=$(members "$1" | grep -vx "$first" | tail -n 1)
  superuser "$other" app --execute "$leave; SET GLOBAL super_read_only = OFF; SET GLOBAL read_only = OFF;
    INSERT INTO numbered (n, payload) VALUES (1000000001, SHA2(1000000001, 256)); SELECT '0 0 1000000001'" </dev/null | grep '^0 0' >"$work/client/acknowledged.planted"
  say "planted: $other takes writes beside $first."
}

# lead MEMBER NAME: makes the member the primary, in order
lead() {
  local deadline=$((SECONDS + patience))
  until [[ $(primaries "$2") == "$1" ]]; do
    ((SECONDS < deadline)) || give_up "the group does not hand over to $1: $(tail -n 1 "$work/switchover.log")"
    superuser "$1" mysql --execute 'SELECT group_replication_set_as_primary(@@server_uuid)' </dev/null >"$work/switchover.log" 2>&1 || :
    sleep 1
  done
}
