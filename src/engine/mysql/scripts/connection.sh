#!/bin/bash
# shellcheck disable=SC2154,SC2034  # names are shared with the files that this one is sourced with
# How backup.sh and restore.sh reach the server: password, waiting, asking. Sourced after archive.sh and message-free: a run has one last
# word, which archive.sh says.

CREDENTIALS=${CREDENTIALS:-/etc/dbrender/credentials}
CERTIFICATE=/etc/dbrender/tls/ca.crt

# read_values FILE…: files of the mounted configuration.
read_values() {
  local file
  for file; do
    [[ -r $CONFIG/$file ]] || fail "The key $file is missing in the mounted ConfigMap ($CONFIG)."
    # shellcheck source=/dev/null
    . "$CONFIG/$file"
  done
}
# need_values NAME…
need_values() {
  local name
  for name; do [[ -n ${!name:-} ]] || fail "The value $name is missing in the mounted ConfigMap ($CONFIG)."; done
}

# login_as USER PASSWORD_FILE: the password goes from the file into an option file below /tmp, never into an argument or the environment.
login_as() {
  local password
  [[ -r $2 ]] || fail "The password file $2 is missing or unreadable; the Secret of the Database has no key ${2##*/} yet."
  IFS= read -r -d '' password < "$2" || :
  [[ -n $password ]] || fail "The password file $2 is empty; fill the key ${2##*/} of the Database's admin Secret."
  [[ $password != *$'\n'* && $password != *$'\r'* ]] ||
    fail "The password in $2 has a line break in it, perhaps at its end; an option file cannot hold it. Store it without one." 4
  password=${password//\\/\\\\}
  LOGIN=$WORK/login.cnf
  (
    umask 077
    printf '[client]\nuser=%s\npassword="%s"\nhost=%s\nport=%s\ndefault-character-set=utf8mb4\n' "$1" "${password//\"/\\\"}" "$SERVICE" "$PORT" > "$LOGIN"
    if [[ ${TLS:-off} != on ]]; then echo 'ssl-mode=PREFERRED'
    elif [[ -r $CERTIFICATE ]]; then printf 'ssl-mode=VERIFY_CA\nssl-ca=%s\n' "$CERTIFICATE"
    else echo 'ssl-mode=REQUIRED'; fi >> "$LOGIN"
  ) || fail "Could not write $LOGIN; /tmp must be writable."
}

# What each session begins with: quotes mean what they mean here, names of many tables fit, and a lock that somebody holds is told.
SESSION="SESSION sql_mode = 'STRICT_TRANS_TABLES', SESSION group_concat_max_len = 1000000, SESSION lock_wait_timeout = 60"

# ask [OPTION…] <<< SQL: plain rows, tabs between. Any error is an exit code; the server's words go to the log and to $WORK/said.
ask() {
  local code=0
  mysql --defaults-file="$LOGIN" --connect-timeout=10 -N -B --init-command="SET $SESSION" "$@" 2> "$WORK/said" || code=$?
  cat "$WORK/said" >&2
  return "$code"
}
fail_said() { fail "$1: $(cause "$WORK/said")"; }

# run COMMAND…: in the background, so that bash as process 1 hears SIGTERM at once. Its words go to the log and to $WORK/said.
run() {
  local code=0
  "$@" 2> "$WORK/said" &
  CHILD=$!
  wait "$CHILD" || code=$?
  CHILD=
  cat "$WORK/said" >&2
  return "$code"
}

pause() {
  sleep "$1" &
  CHILD=$!
  wait "$CHILD" || :
  CHILD=
}

# text TEXT, name TEXT: as a literal and as an identifier of SQL.
text() {
  local s=${1//\\/\\\\}
  printf "'%s'" "${s//\'/\\\'}"
}
# shellcheck disable=SC2016 # backquotes of SQL
name() { printf '`%s`' "${1//\`/\`\`}"; }

# Databases that no backup holds: the server's, and ours.
OWN_DATABASES="'mysql', 'sys', 'information_schema', 'performance_schema', 'dbrender'"
# Users that every server of ours has; the application's follows its Secret.
own_users() { printf "'mysql', 'root', 'replication', 'backup', 'monitor', 'restore', 'mysql.sys', 'mysql.session', 'mysql.infoschema', %s" "$(text "$APP_USERNAME")"; }

begin() {
  CHILD=
  PARTIAL=
  WORK=$(mktemp -d /tmp/"${0##*/}".XXXXXX) || fail "Could not make a directory below /tmp."
  trap 'ended $?' EXIT
  trap 'stopped TERM' TERM
  trap 'stopped INT' INT
}
stopped() {
  trap '' TERM INT
  if [[ -n $CHILD ]]; then
    kill "$CHILD" 2> /dev/null || :
    wait "$CHILD" 2> /dev/null || :
  fi
  fail "Stopped by SIG$1 before it was done; the pod was deleted or ran into its deadline."
}
ended() {
  trap - EXIT
  [[ -z $PARTIAL ]] || rm -rf "$PARTIAL" || :
  if (($1 != 0)) && [[ ! -e $WORK/reported ]]; then
    report "{\"error\": \"${0##*/} stopped with exit code $1; see the log of this container.\"}"
  fi
  rm -rf "$WORK"
  exit "$1"
}
