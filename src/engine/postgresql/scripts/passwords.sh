#!/bin/bash
# shellcheck disable=SC2154,SC2034  # names are shared with the files that this one is sourced with
# Passwords: read from the mounted files, checked, and written only into memory volumes. Sourced after facts, message.sh, volume.sh.
# They are shell variables that are never exported and arguments of builtins only, so no process list or environment shows them.

credentials=/etc/dbrender/credentials

# role:file of every password that the server knows.
password_roles() {
  printf '%s\n' replication:replication-password rewind:rewind-password backup:backup-password monitor:monitor-password "$APP_USERNAME:app-password"
}

# read_password FILE: sets `password`, or sets `complaint` and fails. A line break cannot be carried by .pgpass, YAML and clients alike.
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
  fi
  [ -z "$complaint" ] || { password=''; return 1; }
}

# pgpass_escaped TEXT
pgpass_escaped() {
  local text=${1//\\/\\\\}
  printf '%s' "${text//:/\\:}"
}

# write_passfile: the file that psql, pg_basebackup, pg_rewind and the server's own receiver read. Fails with `complaint`
# when a password is unusable; the others are written all the same.
write_passfile() {
  local line role complaints='' new
  new=$(mktemp "$run/passwords.XXXXXX")   # mode 0600; the agent and start.sh may write at the same time
  while IFS= read -r line; do
    role=${line%:*}
    if read_password "${line##*:}"; then
      printf '*:*:*:%s:%s\n' "$(pgpass_escaped "$role")" "$(pgpass_escaped "$password")" >> "$new"
    else
      complaints+="${complaints:+ }$complaint"
    fi
  done < <(password_roles)
  mv "$new" "$run/passwords"
  complaint=$complaints
  [ -z "$complaints" ]
}

# yaml_quoted TEXT: a YAML double-quoted scalar in printable ASCII.
yaml_quoted() {
  local out='"' c i
  for ((i = 0; i < ${#1}; i++)); do
    c=${1:i:1}
    case $c in
      '"' | \\) out+="\\$c" ;;
      [\ -~]) out+=$c ;;
      *) printf -v c '\\U%08x' "'$c"; out+=$c ;;
    esac
  done
  printf '%s"' "$out"
}
