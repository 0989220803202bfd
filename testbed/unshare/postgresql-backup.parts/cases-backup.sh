# shellcheck shell=bash
# A backup that works: what is in it, who may read it, how many are kept.

cases_backup() {
  fill_source
  volume backups
  configure source
  backup
  ended_well 'a backup of everything succeeds'
  is 'its message names id, version, bytes, sha256, databases, seconds' \
    "id version bytes sha256 databases seconds" "$(python3 -c 'import json, sys; print(*json.loads(sys.argv[1]))' "$message")"
  is 'all eight databases are in it' 8 "$(value databases)"
  local id dir=$WORLD/volumes/backups/$namespace/source
  id=$(value id)
  is 'it stands under its id, nothing partial beside it' "$id 0" "$(ids backups) $(partials backups)"
  dir+=/$id
  ok 'the sums fit' bash -c "cd '$dir' && sha256sum --strict -c SHA256SUMS"
  is 'the message carries the sum of the list' "$(sha256sum "$dir/SHA256SUMS" | cut -d ' ' -f 1)" "$(value sha256)"
  ok 'the manifest is JSON and names databases as they are' python3 - "$dir/manifest.json" <<'PY'
import json, os, sys, hashlib
m = json.load(open(sys.argv[1]))
names = {d["name"] for d in m["databases"]}
want = {"app", "postgres", "order \"db\" x's", "a=b host=nowhere", ".hid/den%41", "ünï", "empty", "latin"}
assert want == names, names
base = os.path.dirname(sys.argv[1])
for d in m["databases"] + m["globals"]:
    data = open(os.path.join(base, d["file"]), "rb").read()
    assert len(data) == d["bytes"] and hashlib.sha256(data).hexdigest() == d["sha256"], d
for key in "engine id namespace name version serverVersion serverVersionNum database username startedAt finishedAt tables bytes".split():
    assert key in m, key
assert m["tables"] == sum(d["tables"] for d in m["databases"])
PY
  is 'others than the group have no access' '' "$(find "$dir" -perm /007)"
  no 'no password hash is in the roles' grep -qiE 'password|SCRAM' "$dir/globals.sql"
  ok 'tables hidden by row security are in it with all rows' bash -c \
    "'$client/pg_restore' -f - '$dir/databases/app.dump' | grep -q 'hidden by policy'"
  is 'the marker of a restore is not in it' 0 "$("$client/pg_restore" --list "$dir/databases/postgres.dump" | grep -c dbrender || :)"
}

cases_backup_secrets() {
  fill_source
  volume backups
  configure source
  local seen=0 looked=0 each word='n0t in:any\place'
  set_backup_password "$word"
  # A lock makes the dump wait, so that there is time to look around.
  hold_lock 60
  begin_pod server source backups /etc/dbrender/scripts/backup.sh
  until_true 20 dumping
  for each in $(pod_init) $(pgrep -x pg_dump); do
    looked=$((looked + 1))
    if tr '\0' '\n' <"/proc/$each/cmdline" | grep -qF "$word"; then seen=$((seen + 1)); fi
    if tr '\0' '\n' <"/proc/$each/environ" | grep -qF "$word"; then seen=$((seen + 1)); fi
  done
  release_lock
  end_pod
  ok 'the script and pg_dump were looked at' test "$looked" -ge 2
  ended_well 'a backup with colon and backslash in the password succeeds'
  is 'no process shows the password in arguments or environment' 0 "$seen"
  no 'neither does the log' grep -qF "$word" "$pod/log"
  set_backup_password 'backup of source'
}

# The torture set of reference cases, as far as a password can be set at all.
cases_backup_passwords() {
  lean_source
  volume backups
  configure source RETENTION=1
  local word
  # shellcheck disable=SC2016,SC1003 # passwords, not expressions
  for word in "a'b" 'a"b' 'a\b' "a\\'b" 'p@ss:w/rd?#[]%' '$HOME' '$$x' '$(HOSTNAME)' '`id`' 'a b' '#lead' 'mid#dle' ';x' '!bang' '-dash' \
    'ünï' ' lead and trail ' '*' '\' ':' '::\\::' "$(printf 'long%.0s' {1..50})"; do
    set_backup_password "$word"
    backup
    ended_well "password ${word:0:30}"
  done
  no 'a wrong password is refused by this server' bash -c "PGPASSWORD=wrong '$client/psql' -w -h ${address[source]} -U backup -d postgres -c 'select 1'"
  local before
  before=$(ids backups)
  printf 'one\ntwo' >"$WORLD/credentials/source/backup-password"
  backup
  ended_badly 'a password with a line break is refused' 4 'line break'
  printf 'tail\n' >"$WORLD/credentials/source/backup-password"
  backup
  ended_badly 'a line break at the end as well, as the agent does' 4 'line break'
  : >"$WORLD/credentials/source/backup-password"
  backup
  ended_badly 'an empty password is refused' 1 'is empty'
  rm "$WORLD/credentials/source/backup-password"
  backup
  ended_badly 'a missing password file is refused' 1 'missing or unreadable'
  is 'and the backup that was there is still there' "$before" "$(ids backups)"
  set_backup_password 'backup of source'
}

cases_retention() {
  lean_source
  volume backups
  configure source RETENTION=3
  local made=() i kept
  for i in 1 2 3 4 5; do
    backup
    made+=("$(value id)")
  done
  is 'of five backups the newest three are kept' "${made[*]:2}" "$(ids backups | xargs)"
  kept=$(ids backups)

  printf 'wrong' >"$WORLD/credentials/source/backup-password"
  for i in 1 2 3 4; do
    backup
  done
  ended_badly 'a failing run says so' 1 'Could not log in'
  is 'four failing runs remove nothing' "$kept" "$(ids backups)"
  set_backup_password 'backup of source'

  truncate -s -1 "$WORLD/volumes/backups/$namespace/source/${made[4]}/databases/app.dump"
  backup
  ended_well 'a backup beside a damaged one succeeds'
  is 'the damaged one does not count and stays' "${made[2]} ${made[3]} ${made[4]} $(value id)" "$(ids backups | xargs)"

  # Somebody reads the oldest while retention wants it.
  exec 7<"$WORLD/volumes/backups/$namespace/source/${made[2]}/SHA256SUMS"
  flock -s 7
  configure source RETENTION=1
  backup
  is 'a backup that is being read is not pruned' "${made[2]} ${made[4]} $(value id)" "$(ids backups | xargs)"
  exec 7<&-
  backup
  is 'it goes with the next run' "${made[4]} $(value id)" "$(ids backups | xargs)"
  is 'retention leaves nothing partial' 0 "$(partials backups)"

  local value
  for value in 0 -1 abc '' 1.5 08; do
    configure source RETENTION="$value"
    backup
    ended_badly "retention '$value' is refused" "$(if [[ -z $value ]]; then echo 1; else echo 4; fi)" 'RETENTION'
  done
}

# The day after the volumes were lost: the server is new and empty, and the schedule goes on.
cases_retention_of_an_emptied_server() {
  lean_source
  volume backups
  configure source RETENTION=2
  local full
  backup
  backup
  full=$(value id)
  fresh_server source
  backup
  ended_well 'an empty server can be backed up'
  is 'its databases are counted' 2 "$(value databases)"
  backup
  backup
  backup
  ok 'empty backups do not push out the last one that holds tables' test -d "$WORLD/volumes/backups/$namespace/source/$full"
  is 'and do not pile up' 3 "$(ids backups | count)"
  on source -d app -c 'create table again (i int)'
  backup
  backup
  is 'with tables in newer ones it goes' 2 "$(ids backups | count)"
  no 'it went' test -d "$WORLD/volumes/backups/$namespace/source/$full"

  fresh_server source
  configure source RETENTION=2 RESTORE_ID=production/other/latest
  backup
  ended_badly 'a server that waits for its restore is not backed up' 1 'restore production/other/latest of this database has not finished'
  is 'and nothing is pruned' 2 "$(ids backups | count)"
  on source -d app -c 'create table again (i int)'
  backup
  ended_well 'a server that holds data of its own is backed up, though a restore is asked for in vain'
  on source -c "create table dbrender.restore_progress (id text)"
  backup
  ended_badly 'a server in the middle of a restore is not backed up' 1 'has not finished'
  on source -c "insert into dbrender.restore (id) values ('production/other/latest')"
  backup
  ended_well 'after the restore it is'
  remove_server source
}

set_backup_password() {
  printf '%s' "$1" >"$WORLD/credentials/source/backup-password"
  on source -v word="$1" <<<"set log_statement = none; set log_min_duration_statement = -1; alter role backup password :'word'"
}
