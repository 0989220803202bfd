#!/bin/bash
# shellcheck source-path=SCRIPTDIR
# Manual, init container `bootstrap`: an empty volume gets its data here, and a primary makes sure that it still is one.
# Two losses are to be impossible: a second primary, and an empty primary that standbys with data follow.
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
# shellcheck source=standby.sh
. "$scripts/standby.sh"
end_on_signal
waits=${BOOTSTRAP_WAIT:-300}   # seconds before the container ends with what it waits for, so that the pod's status says it

write_passfile || refuse "$complaint"
work_resume

# patience SENTENCE: waits a second, and gives up with the sentence when it is enough.
patience() {
  say "$1"
  [ "$SECONDS" -lt "$waits" ] || refuse "$1"
  rest 1
}

# first_start: the only place where an empty database comes to be. Every member that exists must be there and be empty too: a server
# that listens has data, one that refuses is in its init container, one that is silent may have data.
first_start() {
  local i answer wanted quiet=0 reason
  while :; do
    [ "$(wanted_primary)" = "$me" ] || { clone_from_primary; return; }
    reason=''
    # Own name first: as long as that is unknown, an unknown peer means nothing.
    if ! known "$me"; then
      reason="The name $(member_host "$me") is not known yet, so it cannot be told which members exist."
    else
      wanted=$(fact replicas)
      for i in $(others); do
        if known "$i"; then
          answer=$(knock "$i")
          case $answer in
            open)
              refuse "The volume of $POD_NAME is empty, but $(member_name "$i") runs with data: an empty primary is not started. Set primary to $i (with force-primary if it has to be), and this member is copied from it; or restore a backup into a new database."
              ;;
            silent) reason="The volume is empty, and $(member_name "$i") exists but does not answer: it may hold the data." ;;
          esac
        elif [ "$i" -lt "${wanted:-1}" ]; then
          reason="The volume is empty, and $(member_name "$i") does not exist yet: it may hold the data. When it cannot come, set replicas to the members that can."
        fi
      done
    fi
    if [ -n "$reason" ]; then
      quiet=0
      patience "$reason"
    else
      # A member with data listens within seconds of having an address; look for a while before believing that there is none.
      quiet=$((quiet + 1))
      [ "$quiet" -lt "$settle" ] || break
      rest 1
    fi
  done
  attend "$scripts/initdb.sh"
}

clone_from_primary() {
  local to role
  while :; do
    to=$(wanted_primary)
    [ "$to" != "$me" ] || { first_start; return; }
    if read -r role _ < <(state_of "$to"); then
      [ "$role" = primary ] && break
      patience "The volume is empty, and $(member_name "$to") is a standby: waiting for it to be primary, to copy from it."
    else
      patience "The volume is empty: waiting for $(member_name "$to") to answer, to copy from it."
    fi
  done
  attend "$scripts/clone.sh" --primary "$to"
}

single=$(fact replicas)
settle=${BOOTSTRAP_SETTLE:-10}
[ "${single:-1}" -gt 1 ] || settle=${BOOTSTRAP_SETTLE:-3}
if ! has_data; then
  [ ! -e "$PGDATA" ] || refuse "The directory $PGDATA is in the way; nothing was changed."
  if [ "$(wanted_primary)" = "$me" ]; then first_start; else clone_from_primary; fi
elif [ "$(wanted_primary)" = "$me" ] && [ ! -e "$PGDATA/standby.signal" ]; then
  still_primary "$settle"
fi
: > "$run/looked"   # start.sh need not ask the others again
say "Data is in $PGDATA."
