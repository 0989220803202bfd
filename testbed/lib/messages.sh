# shellcheck shell=bash
# What the test bed says to people, on stderr, and the exit codes it ends with.
# Sourced by every script of the test bed.

# 2: wrong arguments. 3: this machine cannot do it (make test counts that as "could not run"). 1: it failed.
say() { printf 'testbed: %s\n' "$*" >&2; }
fail() { say "$*"; exit 1; }
wrong_usage() { say "$*"; exit 2; }
cannot() { say "$*"; exit 3; }

# need PROGRAM SENTENCE: ends with the sentence when the program is not on the machine
need() { command -v "$1" >/dev/null || cannot "$2"; }

# await SECONDS WHAT COMMAND…: runs the command again and again until it succeeds; fails with WHAT after SECONDS
await() {
  local deadline=$((SECONDS + $1)) what=$2
  shift 2
  until "$@" >/dev/null 2>&1; do
    if ((SECONDS >= deadline)); then
      say "waited in vain for $what"
      return 1
    fi
    sleep 0.1
  done
}
