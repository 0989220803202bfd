# shellcheck shell=bash
# Backup and restore with stand-ins for the tools and the server. In: world.sh.

server() { node -e 'const fs = require("fs"); const file = process.argv[1]; const server = JSON.parse(fs.readFileSync(file)); (0, eval)(process.argv[2])(server); fs.writeFileSync(file, JSON.stringify(server));' "$root/server.json" "$1"; }
# shellcheck disable=SC2016 # JavaScript
make_server() {
  node -e 'const users = Object.fromEntries(["backup", "restore"].map((name) => [name, `secret-${name}-\u0027quoted\u0027`]));
    const rows = [...Array(250).keys()].map((n) => ({ _id: n, text: `row ${n}` }));
    console.log(JSON.stringify({ users, down: false, version: "8.0.29", fcv: "8.0", leads: true,
      databases: { admin: { "system.users": [{ _id: "x" }] }, app: { orders: rows, empty: [], viewOfOrders: [] }, second: { "with.dots": [{ _id: 1 }] }, local: { startup_log: [] } } }))' >"$root/server.json"
}
empty_server() { server '(s) => { s.databases = { admin: {}, local: {} }; }'; }
backup() { code_of /etc/dbrender/scripts/backup.sh; }
restore() { code_of /etc/dbrender/scripts/restore.sh; }
fault() { echo "$1" >"$root/fault"; }
backups() { find "$root/backup/production/order-db" -maxdepth 1 -name '2*Z' | wc -l; }
only() { find "$root/backup/production/order-db" -maxdepth 1 -name '2*Z'; }
partial() { find "$root/backup/production/order-db" -maxdepth 1 -name '.partial*' | wc -l; }
fingerprint() { node -e 'const s = JSON.parse(require("fs").readFileSync(process.argv[1])); delete s.databases.dbrender; delete s.databases.local; delete s.databases.admin; console.log(JSON.stringify(Object.entries(s.databases).map(([d, c]) => [d, Object.entries(c).filter(([n]) => !n.startsWith("view")).sort()]).sort()))' "$root/server.json"; }

case_a_backup() {
  make_server
  check "a backup" is "$(backup)" 0
  check "its last word has the compatibility version" says '"version": "8.0.29", "featureCompatibilityVersion": "8.0"'
  check "and counts databases" says '"databases": 2'
  check "one is there" is "$(backups)" 1
  check "its sums hold" sh -c "cd '$(only)' && sha256sum --quiet -c SHA256SUMS"
  check "by the set's name" recorded mongodump '--host=order-db/order-db.production.svc.cluster.local:27017'
  check "of one instant" recorded mongodump '"--oplog"'
  check "from a secondary that is not behind" recorded mongodump 'maxStalenessSeconds'
  check "the user is of admin" recorded mongodump '--authenticationDatabase=admin'
  check "no password in arguments or environment" not_recorded mongodump 'secret-'
  check "nothing of it is left in /tmp" is "$(find "$root/tmp" -name 'login*' | wc -l)" 0
  check "no TLS that was not asked for" not_recorded mongodump '--ssl'
  fact TLS on
  check "with TLS" is "$(backup)" 0
  check "it is asked for" recorded mongodump '"--ssl","--tlsInsecure"'
}

case_every_failure_leaves_the_former_backup() {
  make_server
  backup >/dev/null
  local each
  for each in 'source-fails|The dump failed' 'short|ends within' 'short-gzip|cannot be read to its end' 'lacks-collection|The dump lacks 1 collections' 'no-oplog|no list of changes'; do
    fault "${each%%|*}"
    check "${each%%|*}" is "$(backup)" 1
    check "… says why" says "${each#*|}"
    check "… leaves nothing half" is "$(partial)" 0
    check "… and the former one" is "$(backups)" 1
  done
  rm "$root/fault"
  server '(s) => { s.down = true; }'
  check "no server" is "$(backup)" 1
  check "… says where" says 'Could not log in to order-db/order-db.production.svc.cluster.local:27017 as backup'
  server '(s) => { s.down = false; s.users.backup = "another"; }'
  check "a wrong password" is "$(backup)" 1
  check "… says so" says 'Authentication failed'
  : >"$root/etc/dbrender/credentials/backup-password"
  check "an empty password" is "$(backup)" 1
  check "… names the key" says 'backup-password'
  printf 'two\nlines' >"$root/etc/dbrender/credentials/backup-password"
  check "a line break in it" is "$(backup)" 4
  fact RETENTION 0 backup
  check "retention 0" is "$(backup)" 4
  check "the former one is still there" is "$(backups)" 1
}

case_a_full_disk() {
  make_server
  mount -t tmpfs -o size=8m backup "$root/backup"
  check "the first fits" is "$(backup)" 0
  fault large
  check "the second does not" is "$(backup)" 1
  check "… says so" says 'no space left'
  check "… frees what it took" is "$(partial)" 0
  check "… and leaves the first" is "$(backups)" 1
  rm "$root/fault"
  check "and then it goes on" is "$(backup)" 0
}

case_killed_half_way_and_two_at_once() {
  make_server
  fault slow
  begin /etc/dbrender/scripts/backup.sh
  check "a dump that takes long" await 30 "the dump" test -e "$root/record/half-way"
  check "a second one does nothing" is "$(backup)" 75
  check "… says so" says 'Another backup is running'
  pkill -KILL -f '^node /stand-ins/tool.js' || :
  pkill -KILL -f '/etc/dbrender/scripts/backup.sh' || :
  wait "$began" 2>/dev/null || :
  check "a killed one leaves its half" is "$(partial)" 1
  rm "$root/fault"
  check "the next one removes it" is "$(backup)" 0
  check "… and there is one" is "$(partial) $(backups)" '0 1'
}

case_pruning() {
  make_server
  for _ in 1 2 3; do backup >/dev/null; done
  check "the newest two are kept" is "$(backups)" 2
  empty_server
  for _ in 1 2 3; do backup >/dev/null; done
  check "empty ones push out all but the last that holds something" is "$(backups)" 3
  check "… says so" grep -q 'it is the newest backup that holds collections' "$WORLD/said"
}

case_a_restore() {
  local before
  make_server
  before=$(fingerprint)
  backup >/dev/null
  empty_server
  check "a restore" is "$(restore)" 0
  check "everything is back" is "$(fingerprint)" "$before"
  check "its last word" says '"databases": 2'
  check "changes are played" recorded mongorestore '"--oplogReplay","--stopOnError"'
  check "the server's own is not" recorded mongorestore '"--nsExclude=admin.*","--nsExclude=config.*","--nsExclude=dbrender.*"'
  check "no password in arguments or environment" not_recorded mongorestore 'secret-'
  check "it says that it is done" grep -q finishedAt "$root/server.json"
  check "again: it ends well" is "$(restore)" 0
  check "… and does nothing" says alreadyRestored
}

case_what_a_restore_refuses() {
  make_server
  check "nothing to restore" is "$(restore)" 4
  check "… says where it looked" says 'There is no finished backup in /backup/production/order-db'
  backup >/dev/null
  check "a target that holds data" is "$(restore)" 4
  check "… names it" says 'app.orders'
  check "… and nothing was loaded" has_not /record/mongorestore
  empty_server
  fact APP_DATABASE other
  check "another name of the application's database" is "$(restore)" 4
  check "… says what to set" says 'set spec.database to app'
  fact APP_DATABASE app
  fact SERIES 7.0
  check "an older series" is "$(restore)" 4
  fact SERIES 8.0
  fact BACKUP 20200101T000000Z restore
  check "a backup that is not there" is "$(restore)" 4
  fact BACKUP latest restore
  server '(s) => { s.leads = false; }'
  check "nobody leads" is "$(restore)" 1
  server '(s) => { s.leads = true; delete s.users.restore; }'
  check "no user to restore with" is "$(restore)" 1
  check "… says who makes it" says 'the agent of the primary makes this user'
  server "(s) => { s.users.restore = \"secret-restore-'quoted'\"; }"
  printf 'x' >>"$(only)/dump.archive.gz"
  check "a damaged backup" is "$(restore)" 4
  check "… says which file" says 'dump.archive.gz has'
}

case_a_restore_that_dies() {
  local before
  make_server
  before=$(fingerprint)
  backup >/dev/null
  empty_server
  fault restore-fails-half-way
  check "it fails half-way" is "$(restore)" 1
  check "… says why" says 'operation was interrupted'
  check "something is loaded" grep -q '"row 1"' "$root/server.json"
  check "a backup now is refused" is "$(fact RESTORE_ID production/order-db/latest && backup)" 1
  check "… says why" says 'has not finished'
  rm "$root/fault"
  check "the next one starts again" is "$(restore)" 0
  check "and everything is there" is "$(fingerprint)" "$before"
  empty_server
  fault documents-fail
  check "documents that failed are a failure" is "$(restore)" 1
  check "… says the tool's words" says '3 document(s) failed'
}

# Two FerretDB, and the real mongosh: documents of every kind go through backup.sh and restore.sh as raw BSON. FerretDB is no MongoDB: it
# has no oplog, so the list of changes in the archive is the stand-in's.
case_ferretdb_round_trip() {
  local each before after
  mkdir -p "$root/ferretdb" "$root/driver/node_modules"
  mount --rbind "$MONGOSH/node_modules" "$root/driver/node_modules"
  cp "$FERRETDB" "$root/ferretdb/ferretdb"
  # the real shell in front of the stand-in
  mkdir -p "$root/real"
  printf '#!/bin/sh\nexec node /driver/node_modules/mongosh/bin/mongosh.js "$@"\n' >"$root/real/mongosh"
  chmod 755 "$root/real/mongosh"
  extra=(PATH=/real:/stand-ins:/usr/local/bin:/usr/bin:/bin STAND_IN_DRIVER=/driver/node_modules/mongodb)
  local ports=(27317 27318)
  for each in 0 1; do
    mkdir -p "$root/ferretdb/$each/db" "$root/ferretdb/$each/state"
    said=$WORLD/ferretdb.$each begin /ferretdb/ferretdb --handler=sqlite --sqlite-url="file:/ferretdb/$each/db/" --state-dir="/ferretdb/$each/state" --listen-addr="127.0.0.1:${ports[each]}" \
      --debug-addr=- --telemetry=disable --repl-set-name=order-db --test-enable-new-auth --setup-database=admin --setup-username=root --setup-password=root
    check "FerretDB $each listens" await 30 "FerretDB" bash -c "exec 3<>/dev/tcp/127.0.0.1/${ports[each]}"
  done
  in_shell() { inside mongosh --norc --quiet "mongodb://root:root@127.0.0.1:$1/?authSource=admin&directConnection=true" --eval "$2"; }
  for each in 0 1; do
    in_shell "${ports[each]}" "const admin = db.getSiblingDB('admin'); for (const name of ['backup', 'restore']) admin.runCommand({ createUser: name, pwd: 'secret-' + name + '-\\'quoted\\'', roles: [] })"
  done
  in_shell 27317 "const app = db.getSiblingDB('app');
    app.kinds.insertMany([{ _id: 1, int: NumberInt(7), long: NumberLong('9007199254740993'), double: 1.5, text: 'äöü', yes: true, none: null, list: [1, null, { a: [] }], id: ObjectId('65a1b2c3d4e5f60718293a4b'),
      date: new Date(0), bytes: BinData(0, 'AAECAw=='), pattern: /a.b/i, stamp: Timestamp({ t: 1, i: 2 }) }, { _id: 'empty' }]);
    app.many.insertMany([...Array(2000).keys()].map((n) => ({ _id: n, payload: 'x'.repeat(n % 200) })));
    db.getSiblingDB('second').one.insertOne({ _id: 1 })"
  check "content is there" is "$(tail -n 1 "$WORLD/said" | tr -d ' ')" "{acknowledged:true,insertedId:1}"
  sum() {
    in_shell "$1" "const out = []; for (const [d, c] of [['app', 'kinds'], ['app', 'many'], ['second', 'one']]) for (const each of db.getSiblingDB(d)[c].find().sort({ _id: 1 }).toArray()) out.push(EJSON.stringify(each, { relaxed: false })); print(out.length, require('crypto').createHash('sha256').update(out.join()).digest('hex'))"
    tail -n 1 "$WORLD/said"
  }
  before=$(sum 27317)
  fact SERVICE 127.0.0.1
  fact PORT 27317
  fact SERIES 7.0
  check "a backup of it" is "$(backup)" 0
  check "… and its last word" says '"featureCompatibilityVersion": "7.0"'
  fact PORT 27318
  check "a restore into the other" is "$(restore)" 0
  after=$(sum 27318)
  check "2,003 documents" is "${before%% *}" 2003
  check "every value and type is the same" is "$after" "$before"
  check "a second one does nothing" is "$(restore)" 0
  check "… says so" says alreadyRestored
  in_shell 27318 "db.getSiblingDB('dbrender').restore.deleteMany({})"
  check "and data of others is refused" is "$(restore)" 4
  # the agent in the real shell: its loop, its files, and a server that does not know its key
  fact SERIES 8.0
  setup >/dev/null
  said=$WORLD/agent begin /opt/dbrender/agent.sh
  check "the agent turns in mongosh" await 90 "the heartbeat" heartbeat_says 'it refuses the key file'
}
