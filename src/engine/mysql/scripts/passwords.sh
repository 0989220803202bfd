#!/bin/bash
# shellcheck disable=SC2154,SC2034  # names are shared with the files that this one is sourced with
# Passwords: read from the mounted files, checked, and written only into memory volumes. Sourced after facts, message.sh, volume.sh.
# They are shell variables that are never exported and arguments of builtins only, so no process list or environment shows them.

credentials=/etc/dbrender/credentials

# read_password FILE: sets `password`, or sets `complaint` and fails. An option file cannot carry a line break.
read_password() {
  local file=$credentials/$1 size
  password=''
  complaint=''
  if [ ! -r "$file" ]; then
    complaint="The file $file is missing or cannot be read."
    return 1
  fi
  IFS= read -r -d '' password < "$file" || true
  size=$(stat -Lc %s "$file")
  if [ "$size" = 0 ]; then
    complaint="The password in $file is empty."
  elif [[ $password == *$'\n'* || $password == *$'\r'* ]]; then
    complaint="The password in $file has a line break (perhaps at its end, from the editor or from echo): store it without one."
  elif ! iconv -f UTF-8 -t UTF-8 < "$file" > /dev/null 2>&1 || [ "$(LC_ALL=C; echo "${#password}")" != "$size" ]; then
    complaint="The password in $file is not UTF-8 text."
  elif [ "$1" = replication-password ] && [ "$size" -gt 32 ]; then
    complaint="The password in $file has $size bytes, and replication takes 32 at most: store a shorter one."
  elif [[ $password == *[[:cntrl:]]* ]]; then
    complaint="The password in $file has a control character: store it without one."
  fi
  [ -z "$complaint" ] || { password=''; return 1; }
}

# write_login USER FILE TARGET [LINE...]: an option file of a client, mode 0600, with the password of FILE.
write_login() {
  local user=$1 target=$3 escaped new
  read_password "$2" || return 1
  escaped=${password//\\/\\\\}
  escaped=${escaped//\"/\\\"}
  shift 3
  new=$(mktemp "$target.XXXXXX") || return 1
  {
    printf '[client]\nuser=%s\npassword="%s"\n' "$user" "$escaped"
    [ $# = 0 ] || printf '%s\n' "$@"
  } > "$new"
  mv "$new" "$target"
}

# write_exporter_login USER FILE TARGET SOCKET: an option file for the exporter, whose group may read it. Its reader of such files knows no
# backslash: what stands between three quotes is taken as it is.
write_exporter_login() {
  local new
  read_password "$2" || return 1
  new=$(mktemp "$3.XXXXXX") || return 1
  printf '[client]\nuser=%s\npassword="""%s"""\nsocket=%s\n' "$1" "$password" "$4" > "$new"
  chmod 0640 "$new"
  mv "$new" "$3"
}
