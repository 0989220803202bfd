#!/bin/bash
# shellcheck source-path=SCRIPTDIR
# Container `postgresql`. Automatic: Patroni. Manual: the server, with this script as its parent, because the agent is in another
# container and PostgreSQL has no SQL to stop it: a file of the agent asks for a restart, and SIGTERM becomes a fast shutdown.
set -euo pipefail
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

# The socket's lock file names a process of the container before this one, and that number may be another process here; nobody
# but this container runs a server on this socket. (The volume's lock file stays: see ignore_stale_lock.)
rm -f "$run"/.s.PGSQL.*

if [ "$PROFILE" = automatic ]; then
  # shellcheck source=patroni.sh
  . "$scripts/patroni.sh"
  end_on_signal
  marked_leaving "$patroni_files/leaving" || rm -f "$patroni_files/leaving"
  write_member 100 || true
  work_resume
  wait_for_manual_members
  resume_bootstrap
  # Not as process 1: the kernel drops a signal for which that one has no handler yet, and Patroni reads its modules for seconds before
  # it has. A member that was deleted then stayed for its whole grace period, and could be elected.
  patroni=''
  trap '[ -n "$patroni" ] || exit 143; kill -TERM "$patroni" 2>/dev/null' TERM INT
  patroni "$patroni_files" &
  patroni=$!
  while :; do
    rc=0
    wait "$patroni" || rc=$?
    kill -0 "$patroni" 2>/dev/null || exit "$rc"
  done
fi

# shellcheck source=standby.sh

. "$scripts/standby.sh"
server=''
ending=''
stop_server() { [ -z "$server" ] || kill -INT "$server" 2>/dev/null || true; }
# Whatever signal the kubelet or the image chose, sessions are ended and a checkpoint is written.
trap 'ending=yes; [ -z "$attended" ] || kill -TERM "$attended" 2>/dev/null; stop_server; [ -n "$server" ] || exit 143' TERM INT

rm -f "$run/request"
while :; do
  echo preparing > "$run/state"
  write_passfile || refuse "$complaint"
  work_resume
  has_data || refuse "The data directory $PGDATA is gone. Delete this pod: its init container says what can be done."
  if [ "$(cat "$run/request" 2>/dev/null)" = clone ]; then
    attend "$scripts/clone.sh" --primary "$(upstream)" || say "It is started as it is."
  fi
  rm -f "$run/request"
  ignore_stale_lock
  # a directory that is half rewound must not start, whoever is to be primary by now
  if [ "$(wanted_primary)" != "$me" ] || [ -e "$PGDATA/standby.signal" ] || [ -e "$base/rewinding" ]; then
    prepare_standby
  elif [ ! -e "$run/looked" ]; then
    still_primary 3
  fi
  rm -f "$run/looked"
  write_member_conf '' || true
  [ -z "$ending" ] || exit 143

  echo running > "$run/state"
  postgres -D "$PGDATA" -c "config_file=$config/postgresql.conf" -c "hba_file=$config/pg_hba.conf" &
  server=$!
  while kill -0 "$server" 2>/dev/null; do
    if [ -e "$run/request" ] && [ -z "$ending" ]; then
      echo stopping > "$run/state"
      say "Stopping the server, as the agent asks ($(cat "$run/request"))."
      stop_server
      while kill -0 "$server" 2>/dev/null; do rest 0.2; done
    fi
    rest 0.5
  done
  rc=0
  wait "$server" || rc=$?
  server=''
  [ -z "$ending" ] || exit "$rc"
  [ -e "$run/request" ] || exit "$rc"
done
