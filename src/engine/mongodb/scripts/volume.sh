#!/bin/bash
# shellcheck disable=SC2154,SC2034  # names are shared with the files that this one is sourced with
# The layout of the volume. Sourced after facts and message.sh. README.md says what the small files mean; the agent writes them.

volume=/data/db
data=$volume/data
run=/var/run/mongodb
credentials=/etc/dbrender/credentials
export LC_ALL=C.UTF-8

# has_data: the storage engine's own files.
has_data() { [ -s "$data/WiredTiger" ] && [ -e "$data/_mdb_catalog.wt" ]; }

# let_in: this member may speak on the port that a set counts.
let_in() { [ -e "$volume/member" ] || [ -e "$volume/joining" ] || [ -e "$volume/founding" ]; }

# value FILE NAME: of a small file of ours.
value() { sed -n "s/^$2=//p" "$volume/$1" 2>/dev/null | head -n 1; }
