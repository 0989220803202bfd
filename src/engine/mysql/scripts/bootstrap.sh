#!/bin/bash
# shellcheck source-path=SCRIPTDIR
# Init container `bootstrap`: an empty volume gets an empty data directory with the server's own users in it, made beside its place;
# the last step is one rename. Nothing of this is in a binary log, so the directory has no transaction of its own: it is no database
# until it has founded or joined a group, or been made the primary (the agent decides that), and any number of them can be made.
set -euo pipefail
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
end_on_signal
umask 077

if has_data; then
  # a first start may have been cut short before it wrote this down
  [ -e "$volume/initialised" ] || put "$volume/initialised" "$(date -u +%Y-%m-%dT%H:%M:%SZ)" || true
  say "Data is in $data."
  exit 0
fi
for each in group joining last-primary cloning; do
  [ ! -e "$volume/$each" ] ||
    refuse "The volume belongs to a member ($volume/$each is there), but $data is gone: an empty one is not made in its place. If the data is not wanted, or other members have it, delete the claim data-$POD_NAME and this pod."
done
partial=$volume/data.partial
if [ -e "$partial" ]; then
  [ -e "$partial/made-by-dbrender" ] ||
    refuse "The directory $partial is in the way and was not made by dbrender: look at it and move it away; nothing was changed."
  rm -rf "$partial"
fi
[ ! -e "$volume/initialised" ] ||
  refuse "The volume has held the data of server $(head -c 40 "$volume/initialised" | tr -d '\n'), but $data is gone: an empty one is not made in its place. If the data is not wanted, or other members have it, delete the claim data-$POD_NAME and this pod."
for each in replication backup monitor root; do read_password "$each-password" || refuse "$complaint"; done

mkdir "$partial"
: > "$partial/made-by-dbrender"
sync "$partial/made-by-dbrender" "$partial" "$volume"
say "Making an empty data directory."
sql=$run/first.sql
first_accounts > "$sql"
attend mysqld --no-defaults --initialize-insecure --datadir="$partial/data" --init-file="$sql" --innodb-buffer-pool-size=32M \
  --log-error-verbosity=1 > "$work/log" 2>&1 || {
  rm -f "$sql"
  # a statement that failed stands in the log, and holds a password
  refuse "The data directory could not be made: $(grep -v -i identified "$work/log" | grep ERROR | tail -n 1 | cut -c 1-300) The volume has $(df -h --output=avail "$volume" | tail -n 1 | tr -d ' ') free."
}
rm -f "$sql"
[ "$(grep -c '\[ERROR\]' "$work/log")" = 0 ] || refuse "The data directory could not be made: the users of the server are not all in it."
# Each server makes its own name at its first start.
rm -f "$partial/data/auto.cnf"
sync -f "$partial/data"
mv "$partial/data" "$data"
put "$volume/initialised" "$(date -u +%Y-%m-%dT%H:%M:%SZ)"
rm -rf "$partial"
say "An empty data directory is in $data."
