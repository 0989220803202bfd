#!/bin/bash
# Init container `setup`: copies the scripts, so that a pod runs what it started with, and looks at the volume. A restarted init
# container repeats all of it.
set -euo pipefail
from=$(cd "$(dirname "$0")" && pwd)
to=/opt/dbrender
trap 'exit 143' TERM INT

if [ "$from" != "$to" ]; then
  rm -rf "$to/.new"
  mkdir "$to/.new"
  cp -L "$from"/*.sh "$from"/*.js "$to/.new/"
  chmod 0555 "$to"/.new/*.sh
  chmod 0444 "$to"/.new/*.js
  mv -f "$to"/.new/* "$to/"
  rmdir "$to/.new"
fi
exec "$to/guard.sh"
