#!/bin/bash
# shellcheck disable=SC2154,SC2034  # names are shared with the files that this one is sourced with
# Automatic: the files that Patroni reads, and its REST interface. Sourced after members.sh and passwords.sh.
# Patroni reads every .yml of the directory in order of name: auth.yml, member.yml, patroni.yml.

patroni_files=/etc/patroni
patroni_port=8008

# write_yml NAME TEXT: 0 when it changed. Mode 0400 for all, since one of them holds passwords. The agent, start.sh and leave.sh may
# write at the same time, and any of them may be killed, so each has a file of its own, which Patroni does not read by that name.
write_yml() {
  local file=$patroni_files/$1 new
  [ "$(cat "$file" 2>/dev/null)" = "$2" ] && return 1
  new=$(mktemp "$file.XXXXXX") && printf '%s\n' "$2" > "$new" && chmod 0400 "$new" && mv -f "$new" "$file"
}

# read_plain_password FILE: Patroni quotes with a driver that fails at characters outside of ASCII.
read_plain_password() {
  read_password "$1" || return 1
  [[ ! $password =~ [^[:print:]] && ${#password} = "$(LC_ALL=C; echo "${#password}")" ]] && return 0
  password=''
  complaint="The password in $credentials/$1 has a character that Patroni cannot use: letters, digits and signs of ASCII only."
  return 1
}

# write_auth: passwords of Patroni's own three users. Fails with `complaint` and keeps the former file when one is unusable.
write_auth() {
  local replication rewind rest_api
  read_plain_password replication-password || return 1
  replication=$(yaml_quoted "$password")
  read_plain_password rewind-password || return 1
  rewind=$(yaml_quoted "$password")
  read_plain_password patroni-password || return 1
  rest_api=$(yaml_quoted "$password")
  password=''
  write_yml auth.yml "postgresql:
  authentication:
    superuser:
      username: postgres
    replication:
      username: replication
      password: $replication
    rewind:
      username: rewind
      password: $rewind
restapi:
  authentication:
    username: patroni
    password: $rest_api" || true
}

write_patroni() { write_yml patroni.yml "$(cat "$config/patroni.yml")"; }

# write_member BASE: what differs between members. The lowest ordinal is preferred as synchronous standby and in a failover;
# BASE is 100, or 200 for a member whose pod is of another revision than the leader's: it is already updated, and the leader
# hands over to it. While this pod leaves it takes no part.
write_member() {
  local tags
  tags="tags:
  revision: $(yaml_quoted "${REVISION:-}")
  failover_priority: $((100 - me))
  sync_priority: $(($1 - me))"
  [ ! -e "$patroni_files/leaving" ] || tags="tags:
  revision: $(yaml_quoted "${REVISION:-}")
  nosync: true"
  write_yml member.yml "$tags"
}

# http METHOD PATH [BODY]: sets http_status and http_body. The password is sent with everything but GET.
http() {
  local line fd header='' body=${3:-}
  http_status=0
  http_body=''
  if [ "$1" != GET ]; then
    header="Authorization: Basic $(printf 'patroni:%s' "$rest_password" | base64 -w 0)"$'\r\n'
  fi
  { exec {fd}<> "/dev/tcp/127.0.0.1/$patroni_port"; } 2>/dev/null || return 1
  printf '%s %s HTTP/1.0\r\n%sContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s' "$1" "$2" "$header" "${#body}" "$body" >&"$fd" || true
  if IFS=' ' read -r -t "${http_timeout:-10}" _ http_status _ <&"$fd"; then
    while IFS= read -r -t 5 line <&"$fd" && [ -n "${line%$'\r'}" ]; do :; done
    IFS= read -r -d '' -t 5 http_body <&"$fd" || true
  fi
  exec {fd}>&-
  [[ $http_status == 2* ]]
}

# post PATH [BODY]: with the password that Patroni runs with. It takes a new one only at a reload, so the former is tried too.
rest_password='' former_rest_password=''
post() {
  local keep
  if ! read_password patroni-password; then rest_password=$former_rest_password; else rest_password=$password; fi
  password=''
  http POST "$@" && { former_rest_password=$rest_password; return 0; }
  [ "$http_status" = 401 ] && [ -n "$former_rest_password" ] && [ "$former_rest_password" != "$rest_password" ] || return 1
  keep=$rest_password
  rest_password=$former_rest_password
  http POST "$@" || { rest_password=$keep; return 1; }
}

# members_table: a line per member from GET /cluster: name role state revision pending raised host.
# `raised` is t when a setting that waits for a restart grows (or is not a number). PostgreSQL itself reads the JSON.
members_table() {
  http GET /cluster || return 1
  local file
  file=$(mktemp -p "$run" cluster.XXXXXX)
  printf '%s' "$http_body" > "$file"
  PGOPTIONS=$quiet timeout 10 psql -XAtqw -F ' ' -v ON_ERROR_STOP=1 -v VERBOSITY=terse -h "$run" -p "$PORT" -U postgres -d postgres -f - <<SQL
\\set cluster \`cat "$file"\`
SELECT m->>'name', m->>'role', replace(m->>'state', ' ', '_'), coalesce(nullif(m->'tags'->>'revision', ''), '-'),
  coalesce(m->>'pending_restart', 'false') = 'true',
  EXISTS (SELECT FROM jsonb_each(coalesce(m->'pending_restart_reason', '{}')) r
    WHERE NOT (r.value->>'old_value' ~ '^[0-9]+\$' AND r.value->>'new_value' ~ '^[0-9]+\$'
      AND (r.value->>'new_value')::numeric < (r.value->>'old_value')::numeric)),
  coalesce(m->>'host', '-')
FROM jsonb_array_elements(:'cluster'::jsonb->'members') m;
SQL
  local rc=$?
  rm -f "$file"
  return "$rc"
}

# role_at ORDINAL: what Patroni there says: `uninitialized` means that the member has no data. Nothing when it does not answer.
role_at() {
  # shellcheck disable=SC2016 # for the inner shell
  timeout 5 bash -c 'exec 3<>"/dev/tcp/$0/$1" && printf "GET /patroni HTTP/1.0\r\n\r\n" >&3 && cat <&3' "$(member_host "$1")" "$patroni_port" 2>/dev/null |
    sed -n 's/.*"role": "\([a-z_]*\)".*/\1/p' | head -n 1 || :   # no answer is an answer, and no end of the script
}

# wait_for_empty_members DIRECTORY: an empty database may only come to be when no member has data. Patroni's own guard is the annotation
# `initialize`, and that is gone when the objects were made anew over volumes that were kept. Removes the directory when it refuses.
wait_for_empty_members() {
  local i role wanted doubt
  while :; do
    doubt=''
    wanted=$(fact replicas)
    for i in $(others); do
      if known "$i"; then
        role=$(role_at "$i")
        case $role in
          uninitialized) ;;
          '') doubt="$(member_name "$i") exists but does not answer: it may hold the data." ;;
          *)
            work_remove "$1"
            refuse "The volume of $POD_NAME is empty, but $(member_name "$i") has data: an empty database is not made beside it. This member is copied as soon as one leads."
            ;;
        esac
      elif [ "$i" -lt "${wanted:-1}" ]; then
        doubt="$(member_name "$i") does not exist yet: it may hold the data. When it cannot come, set replicas to the members that can."
      fi
    done
    [ -n "$doubt" ] || return 0
    say "The volume is empty, and $doubt"
    rest 1
  done
}

# wait_for_manual_members: a server that still runs as in Manual publishes whom it was told to follow. It may take writes, and Patroni
# knows nothing of it and would lead beside it.
wait_for_manual_members() {
  local i told doubt
  has_data || return 0
  write_passfile || true
  while :; do
    doubt=''
    for i in $(others); do
      if [ "$i" -lt "$(fact replicas)" ] && known "$i" && read -r _ _ _ _ told _ < <(state_of "$i") && [ "$told" != - ]; then
        doubt=$(member_name "$i")
      fi
    done
    [ -n "$doubt" ] || return 0
    say "$doubt still runs with failover: Manual and may take writes, so this member does not start beside it. Set failover back to Manual; then replicas to 1; then failover to Automatic."
    rest 1
  done
}

# resume_bootstrap: Patroni marks a database as being initialised before it is, and waits for ever when that was interrupted. The
# member that was initialising is known by what it left on its volume: it finishes, unless the others have a leader by now.
resume_bootstrap() {
  local i
  [ -d "$base/initdb.partial" ] || return 0
  if ! has_data; then
    for i in $(others); do
      # shellcheck disable=SC2016  # for the inner shell
      if known "$i" && timeout 5 bash -c 'exec 3<>"/dev/tcp/$0/$1" && printf "GET /leader HTTP/1.0\r\n\r\n" >&3 && read -r line <&3 && [[ $line == *" 200 "* ]]' "$(member_host "$i")" "$patroni_port" 2>/dev/null; then
        say "$(member_name "$i") leads by now; what is left of the interrupted initialisation is removed."
        work_remove "$base/initdb.partial"
        return 0
      fi
    done
    say "The initialisation was interrupted; it is made anew."
    attend "$scripts/initdb.sh"
  fi
  [ ! -d "$base/initdb.partial" ] || work_remove "$base/initdb.partial"
}
