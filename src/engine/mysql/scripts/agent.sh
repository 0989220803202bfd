#!/bin/bash
# shellcheck source-path=SCRIPTDIR
# Container `agent`: makes the server follow what is mounted, and members find each other. It never ends on an error of the server, and
# ends at once on a signal. No Kubernetes API: files, the socket, and the other members' servers.
set -uo pipefail
scripts=$(dirname "$0")
# shellcheck source=/dev/null
. /etc/dbrender/config/facts
# shellcheck source=message.sh
. "$scripts/message.sh"
# shellcheck source=volume.sh
. "$scripts/volume.sh"
# shellcheck source=passwords.sh
. "$scripts/passwords.sh"
# shellcheck source=members.sh
. "$scripts/members.sh"
# shellcheck source=accounts.sh
. "$scripts/accounts.sh"
umask 077

# What an operator has to know goes to the log, to the last word, and to the readiness probe, which shows it at once.
report() {
  printf '%s\n' "$1" > "$run/agent-says" || true
  [ "$1" = "$last_said" ] && return 0
  say "$1"
  last_word "$1"
}

# version_of DIRECTORY: changes when the kubelet swaps the mounted files.
version_of() { readlink "$1/..data" 2>/dev/null || echo none; }

# tell_role primary|replica|none: for whoever labels the pod. Written at each turn, so that its age shows whether this agent lives.
tell_role() {
  printf '%s\n' "$1" > "$told/role.new" && chmod 0644 "$told/role.new" && mv "$told/role.new" "$told/role"
}

# follow_settings: gives the running server what it takes without a restart. A setting that is gone becomes the server's own default.
config_seen='' tls_seen=$(version_of /etc/dbrender/tls)
follow_settings() {
  local seen name line failed='' first=''
  # The server has read its file a moment ago; what is set at the first look is told only when it fails.
  [ -e "$run/dynamic.sql" ] || first=yes
  seen=$(version_of /etc/dbrender/tls)
  if [ "$seen" != "$tls_seen" ] && here <<< 'ALTER INSTANCE RELOAD TLS'; then
    tls_seen=$seen
    say "The certificate was read again."
  fi
  seen=$(version_of "$config")
  [ "$seen" != "$config_seen" ] || return 0
  while IFS= read -r line; do
    [ -n "$line" ] || continue
    grep -qxF "$line" "$run/dynamic.sql" 2>/dev/null && continue
    if here <<< "$line"; then [ -n "$first" ] || say "Set in the running server: ${line#SET GLOBAL }"; else failed+="${failed:+; }$(what_it_said)"; fi
  done < "$config/dynamic.sql"
  while IFS= read -r name; do
    grep -q "^SET GLOBAL $name = " "$config/dynamic.sql" && continue
    if here <<< "SET GLOBAL $name = DEFAULT"; then say "Back to the server's default: $name."; else failed+="${failed:+; }$(what_it_said)"; fi
  done < <(sed -n 's/^SET GLOBAL \([a-z0-9_]*\) = .*/\1/p' "$run/dynamic.sql" 2>/dev/null)
  cat "$config/dynamic.sql" > "$run/dynamic.sql"
  config_seen=$seen
  [ -z "$failed" ] || report "The server does not take these settings: $failed"
}

credentials_seen=''
follow_credentials() {
  local seen
  seen=$(version_of "$credentials")
  [ "$seen" != "$credentials_seen" ] || return 0
  write_login replication replication-password "$run/replication.cnf" || { report "$complaint Members cannot be asked with it."; return 1; }
  write_exporter_login monitor monitor-password "$told/exporter.cnf" "$run/mysqld.sock"
  password=''
  credentials_seen=$seen
}

space_checked=0 space_said=''
watch_space() {
  local used
  [ "$SECONDS" -ge "$space_checked" ] || return 0
  space_checked=$((SECONDS + 15))
  used=$(df --output=pcent "$volume" | tail -n 1 | tr -dc 0-9)
  if [ "${used:-0}" -lt 95 ]; then space_said=''; return 0; fi
  [ "$used" != "$space_said" ] || return 0
  space_said=$used
  report "The volume is ${used} % full ($(df -h --output=avail "$volume" | tail -n 1 | tr -d ' ') free): enlarge it before the server has to stop."
}

# on_primary: duties of the member that takes writes, in both profiles.
accounts_settled='' accounts_again=0 restore_checked=0
on_primary() {
  local seen
  seen="$(version_of "$credentials") primary"
  if [ "$seen" != "$accounts_settled" ] && [ "$SECONDS" -ge "$accounts_again" ]; then
    if create_accounts && follow_passwords; then accounts_settled=$seen; else accounts_again=$((SECONDS + 15)); fi
  fi
  discard_passwords
  if [ "$SECONDS" -ge "$restore_checked" ]; then
    follow_restore
    restore_checked=$((SECONDS + 10))
  fi
}

# shellcheck source=agent-automatic.sh disable=SC1090
. "$scripts/agent-$PROFILE.sh"

main() {
  say "Agent of $POD_NAME."
  tell_role none
  while :; do
    # shellcheck source=/dev/null
    . "$config/facts"
    if [ -e "$run/leaving" ]; then
      tell_role none
      say "This member is leaving."
    elif follow_credentials; then
      turn
    fi
    watch_space
    rest "${PACE:-0.5}"
  done
}

# The work runs as a child, so that a signal ends this script while a command of the child still waits for the server.
main &
child=$!
trap 'kill -TERM "$child" 2>/dev/null; exit 0' TERM INT
while kill -0 "$child" 2>/dev/null; do wait "$child"; done
exit 1
