# shellcheck shell=bash
# The agent as it runs in a pod: its shell, agent.js and the server's parent, with stand-ins for mongosh, mongod and the servers of a set.
# In: world.sh.

domain=order-db-headless.production.svc.cluster.local
member() { echo "order-db-$1.$domain:27017"; }

# make_set ME OTHERS [CONFIG]: /set.json, and the names in /etc/hosts. Others listen on another address.
# shellcheck disable=SC2016 # JavaScript
make_set() {
  local each
  cp -L /etc/hosts "$root/etc/hosts"
  echo "127.0.0.1 order-db-$1.$domain" >>"$root/etc/hosts"
  for each in $2; do echo "127.0.0.$((each + 10)) order-db-$each.$domain" >>"$root/etc/hosts"; done
  node -e 'const [me, others, config, file] = process.argv.slice(1);
    const host = (i) => `order-db-${i}.order-db-headless.production.svc.cluster.local:27017`;
    const members = config ? config.split(" ").map(Number) : [];
    const shared = members.length ? { _id: "order-db", version: 3, members: members.map((i) => ({ _id: i, host: host(i), votes: 1, priority: 1 })), settings: { replicaSetId: "65a1b2c3d4e5f60718293a4b" } } : null;
    const hosts = Object.fromEntries([me, ...others.split(" ").filter(Boolean)].map((i) => [host(i), { config: members.includes(Number(i)) ? shared : null }]));
    const users = members.length ? Object.fromEntries(["root", "backup", "monitor", "app"].map((user) => [user, `secret-${user}-\u0027quoted\u0027`])) : {};
    require("fs").writeFileSync(file, JSON.stringify({ name: "order-db", own: host(me), key: "c2VjcmV0a2V5", hosts, primary: members.length ? host(members[0]) : null, users, parameters: { ttlMonitorSleepSecs: 60 } }));' \
    "$1" "$2" "${3:-}" "$root/set.json"
  echo '{"ttlMonitorSleepSecs": 30}' >"$root/etc/dbrender/config/dynamic.json"
  extra=(POD_NAME="order-db-$1" POD_IP=127.0.0.1 PACE=0.1)
}
set_has() { node -e 'const set = JSON.parse(require("fs").readFileSync(process.argv[1])); process.exit((0, eval)(process.argv[2])(set) ? 0 : 1);' "$root/set.json" "$1"; }
heartbeat_says() { grep -qF -- "$1" "$root/var/run/mongodb/heartbeat" 2>/dev/null; }
file_says() { grep -qF -- "$2" "$root$1" 2>/dev/null; }

# a peer's port, on its address
listens_as() { said=$WORLD/peer.$1 begin node -e 'require("net").createServer((socket) => socket.end()).listen(27017, process.argv[1])' "127.0.0.$(($1 + 10))"; }
pod() {
  setup >/dev/null
  said=$WORLD/server begin /opt/dbrender/start.sh
  said=$WORLD/agent begin /opt/dbrender/agent.sh
}

case_the_agent_founds_a_set_and_makes_its_users() {
  make_set 0 ''
  pod
  check "it leads" await 90 "the primary" heartbeat_says PRIMARY
  check "the probe says ready" is "$(code_of /opt/dbrender/probe.sh readiness)" 0
  check "the volume is marked" await 30 "the mark" file_says /data/db/member 'set=65a1b2c3d4e5f60718293a4b'
  check "and founds no more" has_not /data/db/founding
  check "the application's user" await 60 "the user" set_has '(s) => s.users.app === "secret-app-\u0027quoted\u0027"'
  check "root, backup and monitor" set_has '(s) => s.users.root && s.users.backup && s.users.monitor && !s.users.restore'
  check "the first user by nobody: the localhost exception" grep -q '"user":"","database":"admin","createUser":"root"' "$root/record/commands"
  check "the others by the key file" grep -q '"user":"__system","database":"admin","createUser":"backup"' "$root/record/commands"
  check "a setting of the running server" set_has '(s) => s.parameters.ttlMonitorSleepSecs === 30'
  check "writes wait for a majority" await 30 "the default" set_has '(s) => s.writes && s.writes.w === "majority"'
  check "what the guard reads" file_says /data/db/server 'version=8.0.29'
  check "and the compatibility" file_says /data/db/server 'fcv=8.0'
  printf 'another' >"$root/etc/dbrender/credentials/app-password"
  ln -sfn two "$root/etc/dbrender/credentials/..data"
  check "a new password is followed" await 60 "the password" set_has '(s) => s.users.app === "another"'
  fact REPLICATION asynchronous
  fact RESTORE_ID production/order-db/latest
  check "a restore is let in" await 60 "the user restore" set_has '(s) => s.users.restore'
  check "writes wait for the primary alone" await 30 "the default" set_has '(s) => s.writes.w === 1'
  node -e 'const fs = require("fs"); const set = JSON.parse(fs.readFileSync(process.argv[1])); set.restored = true; fs.writeFileSync(process.argv[1], JSON.stringify(set));' "$root/set.json"
  check "and shut out when it is done" await 60 "the end of restore" set_has '(s) => !s.users.restore'
  extra+=(LEAVE_WAIT=60)
  check "the only member leaves at once" is "$(code_of /opt/dbrender/leave.sh)" 0
  check "… by itself" has /var/run/mongodb/left
  check "and stays a member" set_has '(s) => s.hosts[s.own].config.members.length === 1'
  check "no password in the log" not_in_log
}
not_in_log() { ! grep -qE 'secret-|another|c2VjcmV0' "$WORLD/agent"; }

case_the_agent_joins_and_leaves_a_set() {
  make_set 2 '0 1' '0 1'
  listens_as 0
  listens_as 1
  echo 3 >"$root/etc/dbrender/config/replicas"
  pod
  check "it gets its vote" await 90 "the vote" set_has '(s) => (s.hosts[s.own].config || { members: [] }).members.some((m) => m._id === 2 && m.votes === 1)'
  check "it had none before" grep -q '"_id":2,"host":"order-db-2[^}]*"votes":0' "$root/record/commands"
  check "two changes, one after the other" is "$(grep -c replSetReconfig "$root/record/commands")" 2
  check "… and no force" not_recorded commands force
  check "on the primary" grep -q '"host":"order-db-0[^}]*"replSetReconfig"' "$root/record/commands"
  check "marked before its vote" file_says /data/db/member set=
  check "it is ready" await 30 "the heartbeat" heartbeat_says SECONDARY
  check "no user is made by it" not_recorded commands createUser
  extra+=(LEAVE_WAIT=60)
  check "it leaves" is "$(code_of /opt/dbrender/leave.sh)" 0
  check "and is counted no more" set_has '(s) => s.hosts[s.primary].config.members.length === 2'
}

case_the_agent_of_a_lost_volume() {
  make_set 0 '1 2' '1 0 2'
  # its own server has nothing, though the set counts it
  node -e 'const fs = require("fs"); const set = JSON.parse(fs.readFileSync(process.argv[1])); set.hosts[set.own].config = null; fs.writeFileSync(process.argv[1], JSON.stringify(set));' "$root/set.json"
  listens_as 1
  listens_as 2
  echo 3 >"$root/etc/dbrender/config/replicas"
  pod
  check "it founds nothing and comes back with a vote" await 90 "the vote" set_has '(s) => s.hosts[s.own].config && s.hosts[s.primary].config.version >= 6'
  check "it was taken out first" is "$(grep replSetReconfig "$root/record/commands" | head -n 1 | grep -c '"_id":0,')" 0
  check "nothing was founded" not_recorded commands replSetInitiate
  check "its server waited meanwhile" recorded mongod '"--port","27018"'
}

case_the_agent_that_may_not_ask() {
  make_set 0 '1' '1'
  node -e 'const fs = require("fs"); const set = JSON.parse(fs.readFileSync(process.argv[1])); set.key = "anotherkey"; fs.writeFileSync(process.argv[1], JSON.stringify(set));' "$root/set.json"
  listens_as 1
  pod
  check "a refused key is told" await 60 "the word" heartbeat_says 'it refuses the key file'
  check "and is a last word" await 30 "the last word" says 'it refuses the key file'
  check "nothing was founded" not_recorded commands replSetInitiate
}
