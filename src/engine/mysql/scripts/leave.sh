#!/bin/bash
# shellcheck source-path=SCRIPTDIR
# preStop of container `mysql`. Automatic: a primary hands over to the lowest other ordinal, and the member leaves the group before its
# server stops. Never fails the stop, and takes at most a minute and a half.
# Manual: the server's own stop is clean; nothing to do.
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
mark_leaving "$run/leaving"   # the agent must not join again; start.sh of the next container removes it
[ "$PROFILE" = automatic ] || exit 0

# A joiner whose last full member leaves is declared ONLINE without that one's transactions, and becomes primary: wait for it. Its agent, too,
# has to see that it is ONLINE beside this one before it is alone, or it does not believe in its own data.
for ((i = 0; i < ${LEAVE_WAIT:-40}; i++)); do
  read -r recovering online mine < <(here_timeout=5 here << 'SQL'
SELECT SUM(member_state = 'RECOVERING'), SUM(member_state = 'ONLINE'), SUM(member_state = 'ONLINE' AND member_id = @@server_uuid)
  FROM performance_schema.replication_group_members
SQL
  ) || break
  [ "$mine" = 1 ] || break
  if [ "$recovering" = 0 ] || [ "$online" -gt 1 ]; then
    [ "$online" != 2 ] || rest 3
    break
  fi
  say "Waiting for a member that is joining: this one alone has all of the data."
  rest 1
done
to=$(here_timeout=5 here << 'SQL'
SELECT o.member_id FROM performance_schema.replication_group_members m
  JOIN performance_schema.replication_group_members o ON o.member_id <> m.member_id AND o.member_state = 'ONLINE'
  WHERE m.member_id = @@server_uuid AND m.member_role = 'PRIMARY' ORDER BY o.member_host LIMIT 1
SQL
)
if [ -n "$to" ]; then
  here_timeout=20 here <<< "SELECT group_replication_set_as_primary('$to', 10)" && say "Handed over to $to."
fi
here_timeout=45 here <<< 'STOP GROUP_REPLICATION' || true
exit 0
