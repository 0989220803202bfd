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

# login_as USER PASSWORD_FILE: for ask, and for the tools: the password goes from the file into a configuration file below /tmp, never into an
# argument or the environment.
login_as() {
  local password
  [[ -r $2 ]] || fail "The password file $2 is missing or unreadable; the Secret of the Database has no key ${2##*/} yet."
  IFS= read -r -d '' password < "$2" || :
  [[ -n $password ]] || fail "The password file $2 is empty; fill the key ${2##*/} of the Database's admin Secret."
  [[ $password != *$'\n'* && $password != *$'\r'* ]] ||
    fail "The password in $2 has a line break in it, perhaps at its end. Store it without one." 4
  LOGIN_USER=$1
  PASSWORD_FILE=$2
  LOGIN=$WORK/login.yaml
  # single quotes of YAML know one escape: themselves, twice
  (umask 077 && printf "password: '%s'\n" "${password//\'/\'\'}" > "$LOGIN") || fail "Could not write $LOGIN; /tmp must be writable."
  TOOL_ARGUMENTS=(--config="$LOGIN" --host="$DB_NAME/$SERVICE:$PORT" --username="$1" --authenticationDatabase=admin)
  TLS_MODE=''
  if [[ ${TLS:-off} == on && -r $CERTIFICATE ]]; then
    TLS_MODE=verify
    TOOL_ARGUMENTS+=(--ssl --sslCAFile="$CERTIFICATE")
  elif [[ ${TLS:-off} == on ]]; then
    TLS_MODE=insecure
    TOOL_ARGUMENTS+=(--ssl --tlsInsecure)
  fi
}

# ask ACTION [WORD…]: one question of tasks.js; its answer is stdout. Any error is an exit code; the words go to the log and to $WORK/said.
ask() {
  local code=0
  export HOME=$WORK
  LOGIN_USER=$LOGIN_USER PASSWORD_FILE=$PASSWORD_FILE TLS_MODE=$TLS_MODE DB_NAME=$DB_NAME SERVICE=$SERVICE PORT=$PORT WORDS=$(words "$@") \
    mongosh --nodb --norc --quiet --eval "require('$(cd "$SCRIPTS" && pwd)/tasks.js').main({ Mongo })" < /dev/null 2> "$WORK/said" || code=$?
  cat "$WORK/said" >&2
  return "$code"
}
# words WORD…: as a list of JSON.
words() {
  local word out=''
  for word; do out+=${out:+, }$(json_text "$word"); done
  printf '[%s]' "$out"
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
