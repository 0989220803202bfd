#!/bin/bash
# Runs in the client's pod: the client program with what is in the Secret; OPTION… are its own, statements come from stdin.
set -euo pipefail
file=$(mktemp)
trap 'rm -f "$file"' EXIT
{
  printf '[client]\n'
  for each in username:user password:password host:host port:port; do printf '%s="%s"\n' "${each#*:}" "$(</secret/"${each%:*}")"; done
} >"$file"
mysql --defaults-file="$file" --connect-timeout=3 --default-character-set=utf8mb4 --skip-column-names --batch --unbuffered --database="$(</secret/database)" "$@"
