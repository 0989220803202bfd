#!/bin/bash
# shellcheck source-path=SCRIPTDIR
# shellcheck disable=SC2153  # REPLICATION is a fact
# preStop of container `postgresql`. Automatic: a leader hands over before it stops, and a replica lets the leader choose another
# synchronous standby, so that no commit waits for a server that is gone. Never fails the stop, and takes at most a minute.
# Manual: start.sh turns the signal into a clean stop, which sends everything to the standbys; nothing to do.
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
# shellcheck source=patroni.sh
. "$scripts/patroni.sh"
[ "$PROFILE" = automatic ] || exit 0
deadline=$((SECONDS + ${LEAVE_SECONDS:-55}))

mark_leaving "$patroni_files/leaving"
write_member 100 && post /reload

# sync_candidate: the member that Patroni may promote in synchronous mode, when the better one could not be made it in time.
sync_candidate() {
  members_table 2>/dev/null | while read -r name role _; do [ "$role" = sync_standby ] && echo "$name $role"; done | head -n 1
}

# candidate: the member to hand over to and its role: already updated before the others, then the lowest ordinal.
candidate() {
  members_table 2>/dev/null | while read -r name role state revision _; do
    [ "$name" != "$POD_NAME" ] && [[ $state == running || $state == streaming ]] || continue
    if [ "$revision" != "${REVISION:--}" ]; then echo "0 ${name##*-} $name $role"; else echo "1 ${name##*-} $name $role"; fi
  done | sort -n -k 1,1 -k 2,2 | head -n 1 | cut -d ' ' -f 3-
}
my_role() { members_table 2>/dev/null | while read -r name role _; do [ "$name" = "$POD_NAME" ] && echo "$role"; done; }

while [ "$SECONDS" -lt "$deadline" ]; do
  role=$(my_role)
  case $role in
    leader)
      read -r to role < <(candidate) || break   # nobody else: nothing to hand over
      if [ "$REPLICATION" = synchronous ] && [ "$role" != sync_standby ] && [ "$SECONDS" -gt $((deadline - 20)) ]; then
        read -r to role < <(sync_candidate) || break
      fi
      if [ "$REPLICATION" = asynchronous ] || [ "$role" = sync_standby ]; then
        http_timeout=30 post /switchover "{\"leader\": \"$POD_NAME\", \"candidate\": \"$to\"}" && { echo "Handed over to $to."; break; }
        echo "Patroni answered $http_status: ${http_body:0:200}"
      fi
      ;;
    sync_standby | quorum_standby) ;;   # until the leader has chosen another
    *) break ;;
  esac
  rest 1
done
exit 0
