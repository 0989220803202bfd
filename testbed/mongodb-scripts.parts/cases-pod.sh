# shellcheck shell=bash
# setup, guard, start, probe, leave and the shell around the agent. In: world.sh.

setup() { code_of /bin/bash /etc/dbrender/scripts/setup.sh; }
with_data() {
  mkdir -p "$root/data/db/data"
  echo x >"$root/data/db/data/WiredTiger"
  echo x >"$root/data/db/data/_mdb_catalog.wt"
}

case_an_empty_volume_is_taken() {
  mkdir "$root/data/db/lost+found"
  check "an empty volume with lost+found" is "$(setup)" 0
  check "lost+found stays" has '/data/db/lost+found'
  check "the scripts are there" has /opt/dbrender/agent.js
  check "the key can be read by its owner alone" is "$(stat -c %a "$root/var/run/mongodb/keyfile")" 400
  check "and again, as a restarted init container" is "$(setup)" 0
  check "there is no file that lets it in" has_not /data/db/member
}

case_what_the_guard_refuses() {
  extra=(STAND_IN_VERSION=7.0.40)
  check "another image" is "$(setup)" 1
  check "… says so" says 'The image holds MongoDB 7.0, but this database is of series 8.0'
  extra=()
  echo x >"$root/data/db/WiredTiger"
  check "the official image's layout" is "$(setup)" 1
  check "… says the way out" says 'move its files to /data/db/data'
  rm "$root/data/db/WiredTiger"
  printf 'set=65a1b2\n' >"$root/data/db/member"
  check "data that vanished" is "$(setup)" 1
  check "… names the set and the claim" says 'set 65a1b2'
  check "… and makes nothing" has_not /data/db/data
  with_data
  check "data that is there" is "$(setup)" 0
  for each in '8.0.20 8.0 0' '7.0.40 7.0 0' '7.0.40 6.0 1' '6.0.28 6.0 1' '8.2.1 8.2 1' '5.0.3 5.0 1'; do
    read -r version fcv want <<<"$each"
    printf 'version=%s\nfcv=%s\n' "$version" "$fcv" >"$root/data/db/server"
    check "data of $version with $fcv under 8.0" is "$(setup)" "$want"
    case $version-$fcv in
      7.0.40-6.0) check "… says how, and that it is not done" says 'setFeatureCompatibilityVersion: "7.0"' ;;
      6.0.28-*) check "… says which series is between" says 'go through 7.0 first' ;;
      8.2.1-*) check "… says to go back" says 'Set version back to 8.2' ;;
    esac
  done
  rm "$root/data/db/server"
  : >"$root/etc/dbrender/credentials/keyfile"
  check "an empty key" is "$(setup)" 1
  check "… says the length" says 'has 0 characters'
  echo 'not base64!' >"$root/etc/dbrender/credentials/keyfile"
  check "a key of other characters" is "$(setup)" 1
  rm "$root/etc/dbrender/credentials/keyfile"
  check "no key" is "$(setup)" 1
  check "… names the file" says '/etc/dbrender/credentials/keyfile'
}

case_the_certificate_is_joined() {
  fact TLS on
  check "TLS without files" is "$(setup)" 1
  check "… names one" says '/etc/dbrender/tls/tls.crt'
  # from an editor that leaves out the end of the last line
  for each in tls.crt tls.key ca.crt; do printf %s "$each" >"$root/etc/dbrender/tls/$each"; done
  check "TLS" is "$(setup)" 0
  check "certificate, then key" is "$(tr '\n' ' ' <"$root/var/run/mongodb/server.pem")" 'tls.crt tls.key '
  check "for its owner alone" is "$(stat -c %a "$root/var/run/mongodb/server.pem")" 400
}

listening_on() { [[ $(cat "$root/record/listening" 2>/dev/null) == "$1" ]]; }

case_a_member_waits_and_is_let_in() {
  setup >/dev/null
  begin /opt/dbrender/start.sh
  check "it waits on another port" await 30 "the waiting port" listening_on 27018
  check "startup is told by either port" is "$(code_of /opt/dbrender/probe.sh startup)" 0
  check "a member that is not let in is not ready" is "$(code_of /opt/dbrender/probe.sh readiness)" 1
  printf 'begun=x\n' >"$root/data/db/joining"
  check "let in, it comes back on the port of members" await 30 "the port of members" listening_on 27017
  check "the first server was ended in order" recorded mongod '"stopped 27018"'
  check "it has the rendered configuration" recorded mongod '"--config","/etc/dbrender/config/mongod.conf","--port","27017"'
  pkill -TERM -P "$began" 2>/dev/null || kill -TERM "$began"
  check "a signal ends it" await 30 "the end" grep -q '"stopped 27017"' "$root/record/mongod"
}

case_a_member_starts_at_once() {
  setup >/dev/null
  with_data
  printf 'set=x\n' >"$root/data/db/member"
  begin /opt/dbrender/start.sh
  check "it starts on the port of members" await 30 "the port of members" listening_on 27017
  check "and was on no other" not_recorded mongod 27018
  ends_all
  rm -r "$root/data/db/data"
  check "without its data it does not" is "$(code_of /opt/dbrender/start.sh)" 1
  check "… says what to do" says 'Delete this pod'
}

case_a_signal_while_it_waits() {
  setup >/dev/null
  begin /opt/dbrender/start.sh
  check "it waits" await 30 "the waiting port" listening_on 27018
  pkill -TERM -f "^/bin/bash /opt/dbrender/start.sh" --parent "$began" || kill -TERM "$began"
  check "it ends its server" await 30 "the end" grep -q '"stopped 27018"' "$root/record/mongod"
}

case_readiness_is_what_the_agent_wrote() {
  setup >/dev/null
  check "nothing written" is "$(code_of /opt/dbrender/probe.sh readiness)" 1
  check "… says so" grep -q 'has not looked' "$WORLD/said"
  for each in 'PRIMARY 0' 'SECONDARY 0' 'STARTUP2 1' 'RECOVERING 1' 'WAITING 1' 'LEAVING 1'; do
    printf '%s\nBecause of this.\n' "${each% *}" >"$root/var/run/mongodb/heartbeat"
    check "${each% *}" is "$(code_of /opt/dbrender/probe.sh readiness)" "${each#* }"
  done
  check "the reason is told" grep -q 'Because of this' "$WORLD/said"
  printf 'PRIMARY\nx\n' >"$root/var/run/mongodb/heartbeat"
  touch -d '-90 seconds' "$root/var/run/mongodb/heartbeat"
  check "an agent that is silent" is "$(code_of /opt/dbrender/probe.sh readiness)" 1
  check "no server" is "$(code_of /opt/dbrender/probe.sh liveness)" 1
  check "a wrong word" is "$(code_of /opt/dbrender/probe.sh other)" 2
}

case_leaving_is_bounded() {
  setup >/dev/null
  extra=(LEAVE_WAIT=1)
  check "without an agent the stop goes on" is "$(code_of /opt/dbrender/leave.sh)" 0
  check "the agent was asked" has /var/run/mongodb/leaving
  : >"$root/var/run/mongodb/left"
  extra=(LEAVE_WAIT=100000)
  check "it ends when the agent is done" is "$(code_of /opt/dbrender/leave.sh)" 0
}

case_the_agent_ends_on_a_signal() {
  setup >/dev/null
  rm "$root/opt/dbrender/agent.js"
  begin /opt/dbrender/agent.sh
  check "a client that fails is started again" await 30 "the second start" grep -q 'starting it again' "$WORLD/said"
  pkill -TERM -P "$began" 2>/dev/null || kill -TERM "$began"
  check "and a signal ends it" await 10 "the end" ended "$began"
}
ended() { ! kill -0 "$1" 2>/dev/null; }
