# shellcheck shell=bash
# The cache outside the tree: where built things are kept, found again by a hash, made by one run at a time.
# In: XDG_CACHE_HOME. Out: $cache. Needs messages.sh.

cache=${XDG_CACHE_HOME:-${HOME:?set HOME or XDG_CACHE_HOME: the test bed keeps what it builds there}/.cache}/dbrender-testbed
mkdir -p "$cache"/{built,building,locks,logs,runs} 2>/dev/null ||
  fail "cannot write to $cache: give it to this user, free space there, or set XDG_CACHE_HOME to another directory."

# lock NAME: waits for the lock and holds it until unlock or the end of this process and of the children it left behind
lock() {
  exec {lock_fd}>"$cache/locks/$1"
  if ! flock --nonblock "$lock_fd"; then
    say "another run is busy with $1; waiting for it."
    flock "$lock_fd"
  fi
}
unlock() { exec {lock_fd}>&-; }

# need_space MEGABYTES WHAT: fails when the disk of the cache has less
need_space() {
  local free
  free=$(df --output=avail --block-size=1M "$cache" | tail -n 1 | tr -d ' ')
  ((free >= $1)) || fail "$2 needs $1 MB below $cache, and $free MB are free: free some space or set XDG_CACHE_HOME."
}

# hash_of FILE…: 16 characters that name the content of the files and of stdin
hash_of() { cat -- "$@" - | sha256sum | cut -c 1-16; }

# cached NAME HASH COMMAND…: prints the directory that holds NAME as made from HASH. When there is none, COMMAND makes it:
# it is called with an empty directory as its last argument, which is renamed only after it has succeeded.
cached() {
  local name=$1 kept=$cache/built/$1-$2 temporary=$cache/building/$1
  shift 2
  if [[ ! -d $kept ]]; then
    lock "$name"
    if [[ ! -d $kept ]]; then
      rm -rf "$temporary"
      need_space 300 "$name"
      mkdir -p "$temporary"
      "$@" "$temporary" >&2
      mv -T "$temporary" "$kept"
      forget_old "$name" "$kept"
    fi
    unlock
  fi
  touch "$kept" 2>/dev/null || : # a cache that another user fills
  printf '%s\n' "$kept"
}

# forget_old NAME KEPT: removes what NAME was in earlier states of the tree, once it has not been asked for in two weeks
forget_old() {
  local old
  for old in "$cache/built/$1"-????????????????; do
    if [[ $old != "$2" && -n $(find "$old" -maxdepth 0 -mtime +14) ]]; then rm -rf "$old"; fi
  done
}
