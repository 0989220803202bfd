# shellcheck shell=bash
# Settings and passwords that change while the server runs, and the role of a restore.

case_settings() {
  start 0
  within 60 'ready' ready 0
  local started
  started=$(query 0 'SELECT pg_postmaster_start_time()')
  write_settings "work_mem = '7MB'" "max_connections = '70'"
  sed -i '4i host all visitor 192.0.2.0/24 reject' "$WORLD/config/pg_hba.conf"
  deliver
  within 15 'a reloadable setting arrives' same 7MB query 0 'SHOW work_mem'
  check 'without a restart' same "$started" query 0 'SELECT pg_postmaster_start_time()'
  within 5 'pg_hba arrives' same t query 0 "SELECT EXISTS (SELECT FROM pg_hba_file_rules WHERE 'visitor' = ANY (user_name))"
  within 5 'what needs a restart is named' says 'wait for a restart: max_connections' "$(log_of 0 agent)"
  write_settings "work_mem = 'much'"
  deliver
  within 15 'a setting that the server refuses is told' says 'does not take these settings: work_mem' "$(log_of 0 agent)"
  check 'the former value stays' same 7MB query 0 'SHOW work_mem'
  check 'member.conf is read last' same order-db-0 query 0 'SHOW cluster_name'
}

case_passwords() {
  set_replicas 2
  start 0 1
  within 90 'two members' streams 1 0
  # a session of the owner that stays open
  mkfifo "$WORLD/session"
  (PGPASSFILE=$WORLD/session.pass chroot_client psql -XAtqw -h "$(address_of 0)" -U 'order user' -d orders < "$WORLD/session" > "$WORLD/session.out" 2>&1) &
  local session=$!
  local escaped=${awkward_password//\\/\\\\}
  printf '*:*:*:*:%s\n' "${escaped//:/\\:}" > "$WORLD/session.pass"
  chmod 600 "$WORLD/session.pass"
  exec {to_session}> "$WORLD/session"
  echo 'SELECT 1;' >&"$to_session"
  within 10 'a session is open' says 1 "$WORLD/session.out"
  local new=$'new:\\pass\'word"{'
  printf '%s' "$new" > "$WORLD/credentials/app-password"
  printf '%s' 'new replication' > "$WORLD/credentials/replication-password"
  printf '%s' 'new rewind' > "$WORLD/credentials/rewind-password"
  printf '%s' 'new backup' > "$WORLD/credentials/backup-password"
  deliver
  within 20 'the new password works' same 1 login 0 'order user' "$new" orders
  check 'the former one does not' not login 0 'order user' "$awkward_password" orders
  within 10 'the backup role too' same 1 login 0 backup 'new backup' orders
  echo 'SELECT 2;' >&"$to_session"
  within 10 'the open session goes on' says 2 "$WORLD/session.out"
  exec {to_session}>&-
  wait "$session" || :
  check 'replication was not interrupted' streams 1 0
  kill_pod 1
  start 1
  within 60 'a member that starts later uses the new password' streams 1 0
  local verifier
  verifier=$(query 0 "SELECT rolpassword FROM pg_authid WHERE rolname = 'order user'")
  signal KILL 0 agent
  sleep 6
  check 'an agent that starts again changes nothing' same "$verifier" query 0 "SELECT rolpassword FROM pg_authid WHERE rolname = 'order user'"
  printf 'two\nlines' > "$WORLD/credentials/app-password"
  deliver
  within 15 'a password with a line break is told' says 'app-password has a line break.*keeps the former' "$(log_of 0 agent)"
  check 'and the former one stays' same 1 login 0 'order user' "$new" orders
  check 'no password in a log' not grep -rqF -e 'new replication' -e 'pass'"'"'word' -e "pass''word" "$(pod_of 0)"/log-postgresql "$(pod_of 0)"/log-agent "$(pod_of 1)"/log-postgresql "$(pod_of 1)"/log-agent
}

case_restore_role() {
  write_facts "RESTORE_ID=production/source/20261130T020000Z"
  start 0
  within 60 'ready' ready 0
  local secret="$awkward_password of restore"
  within 20 'the role restore is there' same t login 0 restore "$secret" postgres 'SELECT rolsuper FROM pg_roles WHERE rolname = current_user'
  login 0 restore "$secret" orders 'CREATE TABLE restored (n int); CREATE EXTENSION IF NOT EXISTS citext' > /dev/null
  signal KILL 0 agent
  sleep 3
  check 'an agent that starts again leaves it' same 1 login 0 restore "$secret" postgres
  login 0 restore "$secret" postgres "INSERT INTO dbrender.restore (id, backup) VALUES ('production/source/20261130T020000Z', 'x')" > /dev/null
  within 30 'with the marker row the role goes' same f query 0 "SELECT EXISTS (SELECT FROM pg_roles WHERE rolname = 'restore')"
  check 'what it owned is there' same 0 query 0 'SELECT count(*) FROM restored' orders
  check 'and belongs to the superuser' same postgres query 0 "SELECT pg_get_userbyid(relowner) FROM pg_class WHERE relname = 'restored'" orders
  write_facts
  deliver
  sleep 12
  check 'without a restore there is none' same f query 0 "SELECT EXISTS (SELECT FROM pg_roles WHERE rolname = 'restore')"
}

# certificate NAME: a new key and certificate for the members
certificate() {
  mkdir -p "$WORLD/tls"
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj "/CN=$1" -keyout "$WORLD/tls/tls.key" -out "$WORLD/tls/tls.crt" 2> /dev/null
  cp "$WORLD/tls/tls.crt" "$WORLD/tls/ca.crt"
}
shown_certificate() {
  openssl s_client -starttls postgres -connect "$(address_of 0):5432" < /dev/null 2> /dev/null | openssl x509 -noout -subject
}

case_certificate() {
  certificate first
  write_facts TLS=on
  write_settings "ssl = 'on'" "ssl_cert_file = '/etc/dbrender/tls/tls.crt'" "ssl_key_file = '/etc/dbrender/tls/tls.key'" "ssl_ca_file = '/etc/dbrender/tls/ca.crt'"
  sed -i '/^host \(replication\|postgres\|all all\)/s/^host/hostssl/' "$WORLD/config/pg_hba.conf"
  set_replicas 2
  start 0 1
  within 90 'members stream with a certificate' streams 1 0
  check 'encrypted' same t query 0 "SELECT ssl FROM pg_stat_ssl JOIN pg_stat_replication USING (pid)"
  check 'the owner logs in' same 1 login 0 'order user' "$awkward_password" orders
  check 'not without TLS' not env PGSSLMODE=disable bash -c "$(declare -f login address_of chroot_client); subnet=$subnet login 0 'order user' \"\$1\" orders" _ "$awkward_password"
  check 'the first certificate' says 'CN = ?first' <(shown_certificate)
  certificate second
  deliver
  within 20 'the renewed one, without a restart' says_second
  check 'streaming was not interrupted' streams 1 0
  within 20 'the agent logs in to see that passwords are right' says 'Primary; synchronous' "$(log_of 0 agent)"
}
says_second() { says 'CN = ?second' <(shown_certificate); }

# The way to lower what a standby must not have lower than its primary: alone, and with standbys that are copied anew.
case_lowered_without_standbys() {
  check 'three members' three
  insert 0 1 100
  within 10 'rows everywhere' holds 2 100
  stop_pod 2 > /dev/null
  stop_pod 1 > /dev/null
  set_replicas 1
  write_settings "max_connections = '40'"
  deliver
  stop_pod 0 > /dev/null
  start 0
  within 60 'alone, the primary starts with the lowered setting' same 40 query 0 'SHOW max_connections'
  insert 0 101 200
  set_replicas 2
  deliver
  start 1
  within 60 'a standby of before does not start on its volume' says 'insufficient parameter settings' "$(log_of 1 postgresql)"
  kill_pod 1
  remove_volume 1
  remove_volume 2
  set_replicas 3
  deliver
  start 1 2
  within 90 'without its volume it is copied' streams 1 0
  within 90 'the other too' streams 2 0
  within 20 'with all rows' holds 2 200
  within 20 'and the lowered setting' same 40 query 1 'SHOW max_connections'
}

case_exporter() {
  check 'a primary and two standbys' three
  exporter_of 0 1
}
