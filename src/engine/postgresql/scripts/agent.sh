#!/bin/bash
# shellcheck source-path=SCRIPTDIR
# Container `agent`: makes the server follow what is mounted. It never ends on an error of the server, and ends at once on a signal.
# No Kubernetes API: files, the socket, the other members, and Patroni's REST interface on 127.0.0.1.
set -uo pipefail
scripts=$(dirname "$0")
# shellcheck source=/dev/null
. /etc/dbrender/config/facts
# shellcheck source=message.sh
. "$scripts/message.sh"
# shellcheck source=volume.sh
. "$scripts/volume.sh"
# shellcheck source=members.sh
. "$scripts/members.sh"
# shellcheck source=passwords.sh
. "$scripts/passwords.sh"
# shellcheck source=roles.sh
. "$scripts/roles.sh"

# version_of DIRECTORY: changes when the kubelet swaps the mounted files.
version_of() { readlink "$1/..data" 2>/dev/null || echo none; }

# The server's own opinion of its files, after a reload.
complain_of_settings() {
  local text
  text=$(here "SELECT string_agg(format('%s: %s', coalesce(name, sourcefile), error), '; ') FROM pg_file_settings WHERE error IS NOT NULL AND error NOT LIKE '%without restarting%'")
  [ -z "$text" ] || report "The server does not take these settings: $text."
  text=$(here "SELECT string_agg(format('line %s: %s', line_number, error), '; ') FROM pg_hba_file_rules WHERE error IS NOT NULL")
  [ -z "$text" ] || report "The server does not take these lines of pg_hba: $text."
}

space_checked=0 space_said=''
watch_space() {
  local free
  [ "$SECONDS" -ge "$space_checked" ] || return 0
  space_checked=$((SECONDS + 15))
  free=$(df --output=pcent "$volume" | tail -n 1 | tr -dc 0-9)
  if [ "${free:-0}" -lt 95 ]; then space_said=''; return 0; fi
  [ "$free" != "$space_said" ] || return 0
  space_said=$free
  report "The volume is ${free} % full ($(df -h --output=avail "$volume" | tail -n 1 | tr -d ' ') free): enlarge it before the server has to stop."
}

# watch_archive: what is not in the bucket stays on the volume, which fills. The container archiver knows why; its last word is for the
# kubelet alone, so the server's own view and the answer that it got are told here.
archive_checked=0 archive_said=''
watch_archive() {
  local state since why
  [ "$SECONDS" -ge "$archive_checked" ] || return 0
  archive_checked=$((SECONDS + 15))
  read -r state since < <(here "SELECT CASE WHEN last_failed_time > coalesce(last_archived_time, '-infinity') THEN 'fails' ELSE 'works' END,
    to_char(coalesce(last_archived_time, stats_reset) AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"')
    FROM pg_stat_archiver WHERE current_setting('archive_mode') <> 'off'") || return 0
  if [ "$state" = fails ]; then
    why=''
    read -r why 2> /dev/null < /tmp/wal-archive/why || true
    archive_said=yes
    report "The write-ahead log is not archived since $since: ${why:-the container archiver does not answer}. No restore can go beyond that; the log is kept, it stays on the volume, which fills."
  elif [ -n "$archive_said" ] && [ "$state" = works ]; then
    archive_said=''
    report "The write-ahead log is archived again."
  fi
}

# on_primary: duties of the member that takes writes, in both profiles.
roles_settled='' restore_checked=0
on_primary() {
  local seen
  seen="$(version_of "$credentials") primary"
  if [ "$seen" != "$roles_settled" ] && [ "$SECONDS" -ge "${roles_again:-0}" ]; then
    if write_passfile && create_roles "$run" && follow_passwords; then
      roles_settled=$seen
    else
      [ -z "$complaint" ] || report "$complaint The server keeps the former password."
      roles_again=$((SECONDS + 15))
    fi
  fi
  watch_archive
  if [ "$SECONDS" -ge "$restore_checked" ]; then
    follow_restore
    restore_checked=$((SECONDS + 10))
  fi
}

config_seen=$(version_of "$config")
tls_seen=$(version_of /etc/dbrender/tls)
credentials_seen=''

# shellcheck source=agent-manual.sh disable=SC1090
. "$scripts/agent-$PROFILE.sh"

main() {
  say "Agent of $POD_NAME."
  begin
  while :; do
    # shellcheck source=/dev/null
    . "$config/facts"
    turn
    watch_space
    rest "$pace"
  done
}

# The work runs as a child, so that a signal ends this script while a command of the child still waits for the server.
main &
child=$!
trap 'kill -TERM "$child" 2>/dev/null; exit 0' TERM INT
while kill -0 "$child" 2>/dev/null; do wait "$child"; done
exit 1
