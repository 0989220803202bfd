# shellcheck shell=bash
# What a trial has to know of MongoDB. Needs cluster.sh; in: $parts. It has run on no server yet where this was written: there was none.

container=mongodb
default_version=8.0
memory=1Gi
marker_seconds=180 # how long the superuser of a restore may outlive it

# Elsewhere than on the test bed's own node, the images are the official ones.
if [[ -z ${DBRENDER_ON_NODE:-} ]]; then
  for each in mongod mongosh mongodump mongorestore; do
    need "$each" "a MongoDB Database lives on its own server and tools, which no registry that the test bed uses has, and there is no $each on PATH: install MongoDB $default_version and its tools, or see .github/workflows/e2e.yml, which has the official image."
  done
fi

# images_for FAILOVER VERSION: names in images.txt
images_for() {
  [[ $1 == Automatic ]] || wrong_usage "a replica set always elects: for mongodb --failover is Automatic."
  echo "mongodb-$2"
}

# superuser MEMBER SCRIPT [WORD…]: mongosh in the member's pod as root, whose password it reads itself; SCRIPT is one of life.parts/mongodb
superuser() {
  kube exec --stdin "$1" --container "$container" -- env WORDS="${*:3}" HOME=/tmp mongosh --nodb --norc --quiet --eval \
    "$(<"$parts/mongodb/login.js"); $(<"$parts/mongodb/$2.js")" </dev/null
}

# application NAME SCRIPT: mongosh in the client's pod with the URI of the Secret, a new connection
application() {
  cp "$parts"/mongodb/*.js "$work/client/"
  in_client "$1" bash -c "HOME=/tmp exec mongosh --nodb --norc --quiet --eval \"\$(cat /rows/uri.js); \$(cat /rows/$2.js)\"" </dev/null
}

# ask MEMBER: t when it takes writes
ask() { superuser "$1" ask; }

# streaming MEMBER: how many standbys it feeds
streaming() { superuser "$1" streaming; }

# heir NAME: whether a member may take over: each one that follows
heir() { true; }

# fill NAME: something of everything
fill() {
  superuser "$(primaries "$1")" users >/dev/null || give_up "the users and the second database could not be made."
  quietly application "$1" content || give_up "the collections could not be made through the Service of $1."
}

# rows NAME: numbers of the rows that are there and whole, by a new connection through the Service
rows() { application "$1" rows; }

# fingerprint MEMBER: what all databases of the server hold, sorted
fingerprint() { superuser "$1" fingerprint | LC_ALL=C sort; }

# restore_is_closed MEMBER: waits until the user that loaded the data is gone
restore_is_closed() {
  local deadline=$((SECONDS + marker_seconds))
  until [[ $(superuser "$1" restorers || :) == 0 ]]; do
    ((SECONDS < deadline)) || give_up "the user restore, who may do everything, is still there $marker_seconds s after the restore."
    sleep 1
  done
}

# plant_dropped_row NAME: the first row that was acknowledged disappears
plant_dropped_row() { superuser "$(primaries "$1")" drop-row "$(head -n 1 "$work/client/acknowledged.1" | cut -d ' ' -f 3)"; }

# plant_skipped_table NAME: a collection is not in what was restored
plant_skipped_table() { superuser "$(primaries "$1")" drop-collection; }

# plant_second_primary NAME: a row is said to be acknowledged that nobody has, as by a second primary
plant_second_primary() {
  echo '0 0 1000000001' >"$work/client/acknowledged.planted"
  say "planted: a row that only a second primary of $1 could have acknowledged."
}

# lead MEMBER NAME: makes the member the primary, in order: the others stand back for some seconds
lead() {
  local deadline=$((SECONDS + patience)) each
  until [[ $(primaries "$2") == "$1" ]]; do
    ((SECONDS < deadline)) || give_up "the set does not hand over to $1: $(tail -n 1 "$work/switchover.log")"
    for each in $(members "$2"); do
      if [[ $each != "$1" ]]; then superuser "$each" stand-back >"$work/switchover.log" 2>&1 || :; fi
    done
    sleep 3
  done
}
