# shellcheck shell=bash
# The bucket: backup.sh into an emptyDir, upload.sh with busybox and rclone, download.sh, restore.sh.

bucket=$WORLD/bucket
keys='RCLONE_CONFIG_DEST_TYPE=s3 RCLONE_CONFIG_DEST_PROVIDER=Rclone RCLONE_CONFIG_DEST_ENDPOINT=http://bucket.example.com:9000 RCLONE_CONFIG_DEST_NO_CHECK_BUCKET=true RCLONE_CONFIG=/tmp/rclone.conf'
good_keys="$keys RCLONE_CONFIG_DEST_ACCESS_KEY_ID=KEY RCLONE_CONFIG_DEST_SECRET_ACCESS_KEY=SECRET"

start_bucket() {
  rm -rf "$bucket"
  serve_bucket
}
# The server keeps what it has read of directories, so it is started anew when the trial has changed files behind its back.
serve_bucket() {
  [[ -z ${bucket_id:-} ]] || stop_bucket
  mkdir -p "$bucket/backups"
  "$RCLONE" serve s3 --config /dev/null --addr 127.0.0.9:9000 --auth-key KEY,SECRET --vfs-cache-mode off "$bucket" >"$WORLD/bucket.log" 2>&1 &
  bucket_id=$!
  until_true 10 bash -c 'echo >/dev/tcp/127.0.0.9/9000'
}
stop_bucket() {
  kill "$bucket_id"
  wait "$bucket_id" 2>/dev/null || :
  bucket_id=
}

# to_bucket [NAME=VALUE]...: what the pod of the CronJob does, with a new emptyDir
to_bucket() {
  volume work
  configure source DESTINATION=s3 REMOTE="dest:backups/db/$namespace/source" "$@"
  backup source work
  ((code != 0)) || pod_environment=${pod_keys:-$good_keys} upload
}
in_bucket() { find "$bucket/backups/db/$namespace/source" -name SHA256SUMS 2>/dev/null | sed 's|.*/\(.*\)/SHA256SUMS|\1|' | sort; }
# from_bucket DATABASE [NAME=VALUE]...: what the pod of the restore Job does
from_bucket() {
  local name=$1
  shift
  volume work
  configure "$name" REMOTE="dest:backups/db/$namespace/source" RESTORE_ID="$namespace/source/latest" "$@"
  pod_environment=$good_keys download "$name"
  ((code != 0)) || restore "$name" work
}

cases_bucket() {
  fill_source
  start_bucket
  to_bucket
  ended_well 'a backup goes into the bucket'
  local id
  id=$(value id)
  is 'the message of the upload is that of the dump' "$id 8" "$(in_bucket) $(value databases)"
  ok 'the objects are what the sums say' bash -c "cd '$bucket/backups/db/$namespace/source/$id' && sha256sum --strict -c SHA256SUMS"
  empty_target
  from_bucket target
  ended_well 'it is fetched and restored'
  same 'with everything in it' "$WORLD/expected" target
  no 'the keys of the bucket are not in a log' grep -rqE 'SECRET' "$pod/log"
  stop_bucket
}

cases_bucket_retention() {
  lean_source
  start_bucket
  local i made=() stale=20200101T000000Z fresh
  for i in 1 2 3 4 5; do
    to_bucket RETENTION=3
    made+=("$(value id)")
  done
  is 'of five backups the newest three are kept' "${made[*]:2}" "$(in_bucket | xargs)"
  pod_keys="$keys RCLONE_CONFIG_DEST_ACCESS_KEY_ID=KEY RCLONE_CONFIG_DEST_SECRET_ACCESS_KEY=WRONG" to_bucket RETENTION=3
  ended_badly 'wrong keys' 1 'Could not list the backups in the bucket: .*(403|SignatureDoesNotMatch|Forbidden)'
  is 'change nothing' "${made[*]:2}" "$(in_bucket | xargs)"

  # Two uploads that died: one long ago, one that may still run.
  fresh=$(date -u +%Y%m%dT%H%M%SZ)
  for i in "$stale" "$fresh"; do
    mkdir -p "$bucket/backups/db/$namespace/source/$i"
    echo x >"$bucket/backups/db/$namespace/source/$i/manifest.json"
  done
  serve_bucket
  to_bucket RETENTION=3
  ended_well 'partial uploads beside it do not matter'
  is 'they do not count' "${made[*]:3} $(value id)" "$(in_bucket | xargs)"
  no 'the old one is removed' test -e "$bucket/backups/db/$namespace/source/$stale/manifest.json"
  ok 'the young one is left alone' test -e "$bucket/backups/db/$namespace/source/$fresh/manifest.json"

  # An emptied server.
  fresh_server source
  to_bucket RETENTION=1
  local last=${made[4]}
  to_bucket RETENTION=1
  to_bucket RETENTION=1
  is 'empty backups leave the newest one that holds tables' 2 "$(in_bucket | count)"
  no 'which is the last of the former server' test "$(in_bucket | head -n 1)" = "$last"
  stop_bucket
}

cases_bucket_failures() {
  lean_source
  start_bucket
  local id older dir
  to_bucket
  older=$(value id)
  to_bucket
  id=$(value id)
  dir=$bucket/backups/db/$namespace/source
  fresh_server target

  truncate -s -10 "$dir/$id/databases/app.dump"
  serve_bucket
  from_bucket target
  ended_badly 'a truncated object in the newest backup is refused, with the next older id' 4 "Backup $id is damaged .*next older one is $older"
  from_bucket target BACKUP="$older"
  ended_well 'which can be named'
  from_bucket target BACKUP=20200101T000000Z
  ended_badly 'an id that is not there' 4 "no finished backup 20200101T000000Z .*newest is $id"
  rm "$dir/$id/SHA256SUMS"
  serve_bucket
  fresh_server target
  from_bucket target
  ended_well 'an upload that did not finish is no backup'
  is 'so latest is the one before' "$older" "$(value backup)"
  rm -rf "${dir:?}"
  serve_bucket
  from_bucket target
  ended_badly 'an empty bucket' 4 'no finished backup'
  stop_bucket
  to_bucket
  ended_badly 'a bucket that does not answer' 1 'Could not list the backups in the bucket: .*refused'

  # Deleting fails: the backup itself is safe and the run says so.
  start_bucket
  to_bucket RETENTION=1
  mkdir -p "$WORLD/stub"
  cat >"$WORLD/stub/rclone" <<'END'
#!/bin/sh
case "$*" in *deletefile*|*purge*) echo 'ERROR : AccessDenied' >&2; exit 1 ;; esac
exec /usr/local/bin/rclone "$@"
END
  chmod -R a+rx "$WORLD/stub"
  pod_path=$WORLD/stub to_bucket RETENTION=1
  ended_well 'a bucket that does not let us delete still has the new backup'
  is 'beside the old one' 2 "$(in_bucket | count)"
  ok 'and the log tells' grep -q 'old backups could not be removed' "$pod/log"
  rm -rf "$WORLD/stub"

  # The upload is killed half-way.
  volume work
  backup source work
  mkdir -p "$WORLD/stub"
  printf '#!/bin/sh\ncase "$*" in *copyto*) sleep 60 ;; esac\nexec /usr/local/bin/rclone "$@"\n' >"$WORLD/stub/rclone"
  chmod -R a+rx "$WORLD/stub"
  pod_path=$WORLD/stub pod_environment=$good_keys begin_pod rclone source work /bin/sh /etc/dbrender/scripts/upload.sh
  until_true 20 pgrep -f 'rclone.*copyto'
  kill_pod TERM
  end_pod
  ended_badly 'an upload that is stopped says so' 1 'Stopped by a signal'
  is 'and leaves nothing that looks whole' 2 "$(in_bucket | count)"
  rm -rf "$WORLD/stub"
  stop_bucket
}
