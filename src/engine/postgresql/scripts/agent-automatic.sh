#!/bin/bash
# shellcheck disable=SC2154,SC2034  # names are shared with the files that this one is sourced with
# Automatic: the agent's turn. Patroni leads; this reloads it, restarts what it reports as pending, and helps a stale replica.
# Sourced by agent.sh.
# shellcheck source-path=SCRIPTDIR source=patroni.sh
. "$scripts/patroni.sh"

pace=2
reload_due='' cluster_checked=0 stale_since='' leaderless_since=''

begin() {
  write_passfile || report "$complaint"
  credentials_seen=$(version_of "$credentials")
  read_password patroni-password && former_rest_password=$password
  password=''
}

turn() {
  local seen
  seen=$(version_of "$credentials")
  if [ "$seen" != "$credentials_seen" ]; then
    credentials_seen=$seen
    write_passfile || true
    if write_auth; then reload_due=yes; else report "$complaint Patroni keeps the former passwords."; fi
  fi
  seen=$(version_of "$config")
  if [ "$seen" != "$config_seen" ]; then
    config_seen=$seen
    write_patroni && reload_due=yes
  fi
  seen=$(version_of /etc/dbrender/tls)
  if [ "$seen" != "$tls_seen" ]; then
    here 'SELECT pg_reload_conf()' > /dev/null 2>&1 && { tls_seen=$seen; say "The certificate was read again."; }
  fi
  if [ "$SECONDS" -ge "$cluster_checked" ]; then
    cluster_checked=$((SECONDS + 4))
    look_at_cluster
  fi
  if [ -n "$reload_due" ] && post /reload; then
    reload_due=''
    say "Patroni was told to read its files again."
  fi
  [ "$(here 'SELECT pg_is_in_recovery()' 2>/dev/null)" = f ] && on_primary
}

look_at_cluster() {
  local table name role state revision pending raised host
  local leader='' leader_revision='' leader_host='' leader_pending='' mine='' unsettled='' others_raised='' before=''
  if ! has_data; then
    if http GET /cluster && [[ $http_body != *'"role": "leader"'* ]]; then
      : "${leaderless_since:=$SECONDS}"
      [ $((SECONDS - leaderless_since)) -lt 90 ] ||
        report "This volume is empty and no member leads: the ConfigMap $DB_NAME-patroni-config says by its annotation initialize that the data exists, so a member that has it is waited for. If all volumes are lost: kubectl -n $NAMESPACE annotate configmap $DB_NAME-patroni-config initialize- ."
    else
      leaderless_since=''
    fi
    return
  fi
  table=$(members_table 2>/dev/null) || return
  while read -r name role state revision pending raised host; do
    [ -n "$name" ] || continue
    case $role in
      leader | standby_leader) leader=$name leader_revision=$revision leader_host=$host leader_pending=$pending ;;
    esac
    case $state in running | streaming) ;; *) unsettled+=" $name($state)" ;; esac
    if [ "$name" = "$POD_NAME" ]; then
      mine="$role $state $pending $raised"
    elif [ "$pending" = t ]; then
      [ "$role" != leader ] && [ "$raised" = t ] && others_raised=yes
      [ "$role" != leader ] && [ "${name##*-}" -gt "$me" ] && before+=" $name"
    fi
  done <<< "$table"
  [ -n "$mine" ] || return
  read -r role state pending raised <<< "$mine"

  if [ ! -e "$patroni_files/leaving" ]; then
    if [ -n "$leader" ] && [ "$leader" != "$POD_NAME" ] && [ "$leader_revision" != "${REVISION:--}" ]; then
      write_member 200 && reload_due=yes
    else
      write_member 100 && reload_due=yes
    fi
  fi

  # A setting that standbys must not have lower than the primary: raised, replicas first; lowered, the primary first. What comes
  # back as pending (Patroni keeps a replica at what the primary's WAL says) gets its turn again.
  if [ "$pending" = t ] && [ -z "$unsettled" ]; then
    if [ "$role" = leader ]; then
      [ -z "$others_raised" ] && restart_pending
    elif [ "$raised" = t ] || [ "$leader_pending" != t ]; then
      [ -z "$before" ] && restart_pending
    fi
  fi

  if [ "$role" != leader ] && [ -n "$leader_host" ] && [ "$leader_host" != - ] && [ "$state" = running ]; then
    help_stale "$leader_host"
  else
    stale_since=''
  fi
}

restart_pending() {
  say "Restarting the server for settings that wait for it."
  http_timeout=120 post /restart '{"restart_pending": true}' || say "Patroni answered $http_status to the restart: ${http_body:0:200}"
}

# help_stale HOST: a replica that runs but does not stream. Patroni does not copy it anew when the WAL it needs is gone.
help_stale() {
  local position
  : "${stale_since:=$SECONDS}"
  [ $((SECONDS - stale_since)) -ge 20 ] || return
  position=$(here 'SELECT pg_last_wal_replay_lsn()') || return
  if wal_is_gone "$1" "$position"; then
    report "The leader no longer has the WAL from $position on, which this replica needs: it is copied anew."
    post /reinitialize '{"force": false}' || say "Patroni answered $http_status to reinitialize: ${http_body:0:200}"
    stale_since=''
  fi
}
