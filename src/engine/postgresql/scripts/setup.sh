#!/bin/bash
# shellcheck source-path=SCRIPTDIR
# Init container `setup`: copies the scripts, so that a pod runs what it started with, looks at the volume, and prepares Patroni's files.
# A restarted init container repeats all of it.
set -euo pipefail
from=$(cd "$(dirname "$0")" && pwd)
to=/opt/dbrender
trap 'exit 143' TERM INT

if [ "$from" != "$to" ]; then
  rm -rf "$to/.new"
  mkdir "$to/.new"
  cp -L "$from"/*.sh "$to/.new/"
  chmod 0555 "$to"/.new/*.sh
  mv -f "$to"/.new/*.sh "$to/"
  rmdir "$to/.new"
fi

"$to/guard.sh"

# shellcheck source=/dev/null
. /etc/dbrender/config/facts
# shellcheck source=message.sh
. "$to/message.sh"
if [ "$PROFILE" = automatic ]; then
  # shellcheck source=volume.sh
  . "$to/volume.sh"
  # shellcheck source=members.sh
  . "$to/members.sh"
  # shellcheck source=passwords.sh
  . "$to/passwords.sh"
  # shellcheck source=patroni.sh
  . "$to/patroni.sh"
  write_auth || refuse "$complaint"
  write_patroni || true
  write_member 100 || true
fi
say "Ready to start $POD_NAME, PostgreSQL $VERSION."
