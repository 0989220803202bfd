# shellcheck shell=bash disable=SC2154,SC2034 # names are shared with the files that this one is sourced with
# The Database whose log is archived, its bucket, its backups, and the Database that is recovered. Sourced after database.sh.

bucket_address=10.77.0.1
rendered=$wal_parts/rendered

# take_rendered NAME: the mounted configuration of that Database, as rendered
take_rendered() {
  rm -rf "$WORLD/config"
  mkdir "$WORLD/config"
  cp "$rendered/$1"/* "$WORLD/config/"
  # The rendered version is one of the catalog; the trial has others.
  sed -i "s/^MAJOR=.*/MAJOR='$MAJOR'/; s/^VERSION=.*/VERSION='$MAJOR.0'/" "$WORLD/config/facts"
  sed "s/^\(RCLONE_CONFIG_DEST_ACCESS_KEY_ID\)=.*/\1=KEY/; s/^\(RCLONE_CONFIG_DEST_SECRET_ACCESS_KEY\)=.*/\1=SECRET/" "$rendered/variables" > "$WORLD/variables"
}
names_of_services() {
  printf '%s bucket.example.com\n%s %s.production.svc.cluster.local\n' "$bucket_address" "$(address_of "${1:-0}")" "$name" > "$WORLD/hosts.more"
  publish_names
}
make_credentials() {
  rm -rf "$WORLD/credentials"
  mkdir "$WORLD/credentials"
  local each
  for each in replication rewind backup monitor patroni restore app; do printf '%s of %s in %s' "$awkward_password" "$each" "$1" > "$WORLD/credentials/$each-password"; done
}

# source_database: order-db, whose log is archived; no pods, no volumes
source_database() {
  name=order-db init_containers=bootstrap
  take_rendered source
  make_credentials source
  names_of_services
}
# recovered_database MOMENT [NAME=VALUE…]: order-db-again, as it is to be at that moment, with passwords of its own
recovered_database() {
  name=order-db-again init_containers='fetch bootstrap'
  take_rendered target
  sed -i "s/^POINT_IN_TIME=.*/POINT_IN_TIME='$1'/" "$WORLD/config/restore"
  shift
  local each
  for each; do sed -i "s|^${each%%=*}=.*|${each%%=*}='${each#*=}'|" "$WORLD/config/facts" "$WORLD/config/restore"; done
  make_credentials target
  names_of_services
}

# The rclone image: busybox, rclone and nothing else.
make_rclone_image() {
  local each
  export RCLONE_IMAGE=$WORLD/rclone
  mkdir -p "$RCLONE_IMAGE"/{bin,usr/local/bin,usr/local/sbin}
  cp "$BUSYBOX" "$RCLONE_IMAGE/bin/busybox"
  for each in $("$BUSYBOX" --list | grep -vx busybox); do ln -sf busybox "$RCLONE_IMAGE/bin/$each"; done
  cp "$RCLONE" "$RCLONE_IMAGE/usr/local/bin/rclone"
}

# Cases change the files behind its back, so it may not remember a folder for long; with 0s it spins when several ask at once.
serve_bucket() {
  mkdir -p "$WORLD/bucket/backups"
  "$RCLONE" serve s3 --config /dev/null --addr "$bucket_address:9000" --auth-key KEY,SECRET --vfs-cache-mode off \
    --dir-cache-time 1s "$WORLD/bucket" > "$WORLD/bucket.log" 2>&1 &
  bucket_id=$!
  eventually 10 bash -c "echo > /dev/tcp/$bucket_address/9000"
}
stop_bucket() {
  [[ -n ${bucket_id:-} ]] || return 0
  kill "$bucket_id"
  wait "$bucket_id" 2> /dev/null || :
  bucket_id=
}
stored=backups/db/production/order-db
in_bucket() { (cd "$WORLD/bucket/$stored" && find "$@" | sort); }
segments() { in_bucket wal -type f -name '*.gz' | sed -n 's|.*/\([0-9A-F]\{24\}\)-.*|\1|p'; }

# task CONTAINER KIND COMMAND: one container of the backup's pod
task() {
  : > "$task_directory/termination"
  chmod 666 "$task_directory/termination"
  TASK=$task_directory KIND=$2 IMAGE=$([[ $2 == server ]] && echo "$IMAGE" || echo "$RCLONE_IMAGE") \
    unshare --mount --pid --fork --kill-child bash "$WORLD/task.sh" "${@:3}" >> "$task_directory/log" 2>&1 < /dev/null
}
# back_up: what the CronJob's pod does: dump, base, upload. $task_directory holds its log and last word.
back_up() {
  task_directory=$(mktemp -d "$WORLD/task.XXXXXX")
  chmod 755 "$task_directory"
  mkdir "$task_directory"/{backup,base,tmp}
  chown 0:999 "$task_directory"/{backup,base}
  chmod 2777 "$task_directory"/{backup,base}
  chmod 1777 "$task_directory/tmp"
  cp -r "$WORLD/config" "$WORLD/credentials" "$task_directory/"
  chmod -R a+rX "$task_directory"/{config,credentials}
  task dump server /etc/dbrender/scripts/backup.sh &&
    task base server /etc/dbrender/scripts/base-backup.sh &&
    task upload rclone /bin/sh /etc/dbrender/scripts/upload.sh || { tail -n 15 "$task_directory/log"; return 1; }
  rm -rf "$task_directory"/{backup,base}
}
bases() { in_bucket base -name SHA256SUMS | sed 's|base/\(.*\)/SHA256SUMS|\1|'; }
base_value() { sed -n "s/^  \"$2\": \"\{0,1\}\([^\",]*\).*/\1/p" "$WORLD/bucket/$stored/base/$1/base.json"; }

# moment ORDINAL: the server's time now, as it is written in spec.bootstrap.fromBackup.pointInTime and rendered
moment() { query "$1" "SELECT to_char(clock_timestamp() AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.US\"Z\"')"; }

# switch ORDINAL: ends the segment; the commit before it makes sure that there is something in it
switch() { query "$1" 'SELECT pg_logical_emit_message(true, '"'trial', 'x'"')' > /dev/null; query "$1" "SELECT pg_walfile_name(pg_switch_wal())"; }
archived() { segments | grep -qx "$1"; }
# archive_all ORDINAL: until the bucket has all that was written up to now
archive_all() {
  local last
  last=$(switch "$1")
  eventually 60 archived "$last" || { query "$1" 'TABLE pg_stat_archiver'; tail -n 3 "$(log_of "$1" archiver)"; return 1; }
}

# content ORDINAL: one line per table of every database, with its number of rows and a checksum of all of them
content() {
  local database
  for database in $(query "$1" "SELECT datname FROM pg_database WHERE NOT datistemplate ORDER BY 1"); do
    inside "$1" postgresql psql -XAtq -v ON_ERROR_STOP=1 -v database="$database" -h /var/run/postgresql -U postgres -d "$database" -f - << 'SQL'
SELECT format('SELECT %L, count(*), md5(coalesce(string_agg(md5(t::text), %L ORDER BY md5(t::text)), %L)) FROM %s t',
  :'database' || '.' || c.oid::regclass, '', '', c.oid::regclass)
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE relkind = 'r' AND n.nspname !~ '^pg_|^information_schema$' ORDER BY 1 \gexec
SQL
  done
}
