#!/bin/bash
# shellcheck disable=SC2154,SC2034  # names are shared with the files that this one is sourced with
# The members of this database: their names, and how they are asked. Sourced after facts, message.sh, volume.sh and passwords.sh.

me=${POD_NAME##*-}
config=/etc/dbrender/config
work=/tmp/dbrender-${0##*/}${1:+-$1}
mkdir -p "$work"

member_name() { echo "$DB_NAME-$1"; }
member_host() { echo "$DB_NAME-$1.$HEADLESS"; }
others() {
  local i
  for ((i = 0; i < MEMBERS_MAX; i++)); do [ "$i" = "$me" ] || echo "$i"; done
}

# fact FILE: a one-line file of the configuration, without blanks; empty when there is none.
fact() {
  local text=''
  [ -r "$config/$1" ] && read -r text < "$config/$1"
  echo "${text//[[:space:]]/}"
}

# known ORDINAL: the pod exists and has an address (the headless Service publishes pods that are not ready).
known() { timeout 5 getent ahosts "$(member_host "$1")" > /dev/null; }

# own_name_is_known: this pod's name leads to this pod. As long as it does not, an unknown name of another means nothing.
own_name_is_known() { timeout 5 getent ahosts "$(member_host "$me")" | grep -q "^$POD_IP "; }

# here: statements from standard input to this member's server, as its own administrator over the socket. Fails with
# the server's words in $work/said. The mode of SQL is set, so that a user's setting cannot change what a quote means.
here() {
  timeout "${here_timeout:-10}" mysql --no-defaults --default-character-set=utf8mb4 -S "$run/mysqld.sock" -u mysql -N -B \
    --connect-timeout=3 --init-command="SET SESSION sql_mode = 'STRICT_TRANS_TABLES', SESSION lock_wait_timeout = 30" 2> "$work/said"
}
# what_it_said: the last line of the server's words, without a statement that could hold a password.
what_it_said() { grep -v -i 'identified\|password *=' "$work/said" | tail -n 1; }

# ask ORDINAL: statements from standard input to another member, as the user replication.
ask() {
  timeout 5 mysql --defaults-file="$run/replication.cnf" --default-character-set=utf8mb4 -h "$(member_host "$1")" -P "$PORT" -N -B \
    --connect-timeout=2 --ssl-mode=REQUIRED 2> "$work/said.$1"
}

# text TEXT: as a literal of SQL.
text() {
  local s=${1//\\/\\\\}
  printf "'%s'" "${s//\'/\\\'}"
}

# subset GTIDS GTIDS: 0 the second set has all of the first, 1 it has not, 2 the server does not answer.
subset() {
  case $(here <<< "SELECT GTID_SUBSET('$1', '$2')") in
    1) return 0 ;;
    0) return 1 ;;
    *) return 2 ;;
  esac
}
# less GTIDS GTIDS: what the first has and the second has not; `unknown` when the server does not answer, which is not nothing.
less() { here <<< "SELECT REPLACE(GTID_SUBTRACT('$1', '$2'), '\n', '')" || echo unknown; }
