# shellcheck shell=bash
# Volumes that must not be touched, and volumes that are full.

# refused [CONTAINER]: member 0 has said why it does not go on
refused() {
  eventually 30 test -s "$(message_of 0 "${1:-setup}")"
}
tree() { (cd "$(volume_of 0)" && find . -path ./lost+found -prune -o -printf '%p %s %y\n' | sort | sha256sum); }

case_other_major() {
  start 0
  within 60 'the primary is ready' ready 0
  insert 0 1 50
  stop_pod 0 > /dev/null
  local before
  before=$(tree)
  facts_major=$OTHER write_facts
  image=$OTHER_IMAGE major=$OTHER start_pod 0
  within 20 'another major is refused' refused
  check 'with a sentence that names the file and the way out' says "PostgreSQL $MAJOR \(.*/$MAJOR/docker/PG_VERSION\), but this database is now of version $OTHER: set the version back" "$(message_of 0 setup)"
  check 'in one line' same 1 sh -c "wc -l < '$(message_of 0 setup)'"
  kill_pod 0
  rmdir "$(volume_of 0)/$OTHER" 2> /dev/null || :
  check 'nothing was changed' test "$(tree)" = "$before"
  write_facts
  facts_major=$OTHER write_facts
  start_pod 0
  within 20 'an image of another major than the facts is refused' refused
  check 'with a sentence' says "image holds PostgreSQL $MAJOR, but this database is of major version $OTHER" "$(message_of 0 setup)"
  kill_pod 0
  write_facts
  start_pod 0
  within 30 'the version set back starts' ready 0
  check 'all rows are there' holds 0 50
}

case_former_layouts() {
  start 0
  within 60 'the primary is ready' ready 0
  stop_pod 0 > /dev/null
  local v
  v=$(volume_of 0)
  mv "$v/$MAJOR/docker" "$v/data"
  rm -rf "${v:?}/$MAJOR"
  start_pod 0
  within 20 'data in VOLUME/data is refused' refused
  check 'with a sentence' says "layout of former images \(/var/lib/postgresql/data/PG_VERSION\): with no pod running, move" "$(message_of 0 setup)"
  kill_pod 0
  rmdir "$v/$MAJOR" 2> /dev/null || :
  mkdir "$v/keep"
  mv "$v/data"/* "$v/keep/"
  rmdir "$v/data"
  mv "$v/keep"/* "$v/"
  rmdir "$v/keep"
  start_pod 0
  within 20 'data in the volume'"'"'s root is refused' refused
  check 'with a sentence' says 'in its root \(/var/lib/postgresql/PG_VERSION\)' "$(message_of 0 setup)"
  kill_pod 0
}

case_half_done_by_others() {
  make_volume 0
  mkdir -p "$(volume_of 0)/$MAJOR/docker/base"
  chown -R 999:999 "$(volume_of 0)/$MAJOR"
  start_pod 0
  within 20 'a data directory without PG_VERSION is refused' refused
  check 'with a sentence' says 'has no PG_VERSION: it is half of an initialisation' "$(message_of 0 setup)"
  kill_pod 0
  echo "$MAJOR" > "$(volume_of 0)/$MAJOR/docker/PG_VERSION"
  start_pod 0
  within 20 'a data directory without pg_control is refused' refused
  check 'with a sentence' says 'has no global/pg_control' "$(message_of 0 setup)"
  kill_pod 0
  rm -rf "$(volume_of 0)/$MAJOR/docker"
  mkdir -p "$(volume_of 0)/$MAJOR/initdb.partial/data"
  start_pod 0
  within 20 'a working directory without our mark is refused' refused bootstrap
  check 'with a sentence' says 'was not made by dbrender' "$(message_of 0 bootstrap)"
  kill_pod 0
}

case_data_gone() {
  start 0
  within 60 'the primary is ready' ready 0
  stop_pod 0 > /dev/null
  mv "$(volume_of 0)/$MAJOR/docker" "$(volume_of 0)/../moved"
  start_pod 0
  within 20 'a volume that has held data is not initialised again' refused bootstrap
  check 'with a sentence' says 'has held a database \(system identifier [0-9]+\)' "$(message_of 0 bootstrap)"
  kill_pod 0
  mv "$(volume_of 0)/../moved" "$(volume_of 0)/$MAJOR/docker"
  start_pod 0
  within 30 'the data put back starts' ready 0
}

case_group_writable_directory() {
  start 0
  within 60 'the primary is ready' ready 0
  stop_pod 0 > /dev/null
  chmod 2770 "$(volume_of 0)/$MAJOR/docker"
  start_pod 0
  within 30 'a data directory that fsGroup opened starts' ready 0
}

case_read_only_volume() {
  make_volume 0
  mount --bind "$(volume_of 0)" "$(volume_of 0)"
  mount -o remount,ro,bind "$(volume_of 0)"
  start_pod 0
  within 20 'a read-only volume is refused' refused
  check 'with a sentence' says 'cannot be written by uid 999' "$(message_of 0 setup)"
  kill_pod 0
  umount "$(volume_of 0)"
}

case_disk_full() {
  make_volume 0 size=220m
  start_pod 0
  within 60 'the primary is ready' ready 0
  insert 0 1 1000
  query 0 'CREATE TABLE big (t text); ALTER TABLE big ALTER t SET STORAGE EXTERNAL' orders > /dev/null
  query 0 "INSERT INTO big SELECT repeat(md5(i::text), 100) FROM generate_series(1, 100000) i" orders > "$WORLD/full.out" || :
  check 'the write fails by lack of space' says 'No space left' "$WORLD/full.out"
  within 30 'the agent says that the volume is full' says 'volume is [0-9]+ % full' "$(log_of 0 agent)"
  mount -o remount,size=600m "$(volume_of 0)"
  within 60 'ready once there is room' ready 0
  check 'what was committed is there' holds 0 1000
  check 'writes go on' insert 0 1001 1100
}

case_unusable_passwords() {
  printf 'line\n' > "$WORLD/credentials/app-password"
  start 0
  within 20 'a password with a line break is refused at the first start' refused bootstrap
  check 'with a sentence that names the file' says 'app-password has a line break' "$(message_of 0 bootstrap)"
  check 'nothing was initialised' test ! -e "$(volume_of 0)/$MAJOR/docker"
  printf '' > "$WORLD/credentials/app-password"
  deliver 0
  within 20 'an empty one too' says 'app-password is empty' "$(message_of 0 bootstrap)"
  printf '%s' "$awkward_password" > "$WORLD/credentials/app-password"
  deliver 0
  within 60 'ready as soon as it is good' ready 0
}
