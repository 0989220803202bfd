#!/bin/bash
# shellcheck disable=SC2154,SC2034  # names are shared with the files that this one is sourced with
# The layout of the volume, and the only code that moves or removes a data directory. Sourced after facts and message.sh.
#
#   /var/lib/postgresql/MAJOR/docker         PGDATA
#   /var/lib/postgresql/MAJOR/NAME.partial   work in progress: made-by-dbrender (marker), data, complete (flag)
#   /var/lib/postgresql/MAJOR/replaced       the former PGDATA, while a finished clone takes its place
#   /var/lib/postgresql/MAJOR/initialised    this volume has held data; the system identifier
#   /var/lib/postgresql/MAJOR/last-primary   Manual: ordinal of the member that was last seen as primary
#   /var/lib/postgresql/MAJOR/handed-to      Manual: ordinal of the member for which this one, the last primary, stopped
#   /var/lib/postgresql/MAJOR/rewinding      pg_rewind has begun and not ended
#
# Steps are ordered so that a kill between any two of them leaves the old state or the new one, never less than one copy of the data.

volume=/var/lib/postgresql
base=$volume/$MAJOR
export PGDATA=$base/docker
run=/var/run/postgresql
bin=/usr/lib/postgresql/$MAJOR/bin
[ -d "$bin" ] && PATH=$bin:$PATH
export LC_ALL=C.UTF-8 PGCLIENTENCODING=UTF8 PGCONNECT_TIMEOUT=5

has_data() { [ -s "$PGDATA/PG_VERSION" ] && [ -s "$PGDATA/global/pg_control" ]; }

# control NAME [DIR]: one line of pg_controldata, by its name in English.
control() {
  LC_ALL=C pg_controldata -D "${2:-$PGDATA}" | sed -n "s/^$1: *//p"
}

# ignore_stale_lock: a server that was killed leaves postmaster.pid, and the process that has its number in this container now may be
# another one, at each restart again. PostgreSQL takes that for a running server and does not start; the one that this variable
# names it does not count (Patroni does the same). The file stays, so that a server that does run is still noticed.
ignore_stale_lock() {
  local number
  unset PG_GRANDPARENT_PID
  { read -r number < "$PGDATA/postmaster.pid"; } 2>/dev/null || return 0
  number=${number#-}   # single-user mode writes it as a negative number
  [ "$(cat "/proc/$number/comm" 2>/dev/null)" = postgres ] || export PG_GRANDPARENT_PID=$number
}

# put FILE TEXT: a small file of ours on the volume, whole or not at all.
put() {
  printf '%s\n' "$2" > "$1.new"
  sync "$1.new"
  mv "$1.new" "$1"
  sync "$(dirname "$1")"
}

# work_begin NAME: an empty place beside PGDATA; prints the directory in which `data` is to be made. A kill may leave it without the mark
# while it is empty, and only then.
work_begin() {
  local dir=$base/$1.partial
  [ ! -e "$dir" ] || [ -e "$dir/made-by-dbrender" ] || [ -z "$(ls -A "$dir")" ] ||
    refuse "The directory $dir is in the way and was not made by dbrender: look at it and move it away; nothing was changed."
  mkdir -p "$dir"
  work_clear "$dir"
  : > "$dir/made-by-dbrender"
  sync "$dir/made-by-dbrender" "$dir" "$base"
  echo "$dir"
}

# work_end NAME: NAME.partial/data is complete; it becomes PGDATA. A PGDATA that is there is removed last of all.
work_end() {
  local dir=$base/$1.partial
  chmod 0700 "$dir/data"
  sync -f "$dir/data"
  : > "$dir/complete"
  sync "$dir/complete" "$dir"
  work_install "$dir"
}

# work_clear DIRECTORY: all but its mark, and first of all the flag that it is complete.
work_clear() {
  rm -f "$1/complete"
  find "$1" -mindepth 1 -maxdepth 1 ! -name made-by-dbrender -exec rm -rf {} +
}
work_remove() {
  work_clear "$1"
  rm -f "$1/made-by-dbrender"
  rmdir "$1"
}

# work_install DIRECTORY: puts what is complete in place, or goes on with that where it was interrupted.
work_install() {
  if [ -d "$1/data" ]; then
    put "$base/initialised" "$(control 'Database system identifier' "$1/data")"
    if [ -e "$PGDATA" ]; then
      rm -rf "$base/replaced"
      mv "$PGDATA" "$base/replaced"
      sync "$base"
    fi
    mv "$1/data" "$PGDATA"
    sync "$base"
  fi
  rm -f "$base/rewinding"
  work_remove "$1"
  rm -rf "$base/replaced"
}

# work_resume: finishes what a kill interrupted after the work was complete. Work that was not complete is left for work_begin, or
# removed when there is data, since nobody needs to begin it again then.
work_resume() {
  local dir
  for dir in "$base"/*.partial; do
    [ -e "$dir/made-by-dbrender" ] || continue
    if [ ! -e "$dir/complete" ]; then
      ! has_data || work_remove "$dir"
      continue
    fi
    say "A finished $(basename "$dir" .partial) had not been put in place yet; doing it now."
    work_install "$dir"
  done
  if [ -e "$base/replaced" ]; then
    if has_data; then
      rm -rf "$base/replaced"
    elif [ ! -e "$PGDATA" ]; then
      mv "$base/replaced" "$PGDATA"
      sync "$base"
    fi
  fi
}
