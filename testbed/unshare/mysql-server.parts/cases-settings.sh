# shellcheck shell=bash
# What a running server takes: settings, passwords, certificates.

case_settings_without_a_restart() {
  local before
  start 0
  within 90 "a primary" is 0 primary
  before=$(query 0 "SELECT VARIABLE_VALUE FROM performance_schema.global_status WHERE VARIABLE_NAME = 'Uptime'")
  check "the rendered number of connections" same 100 query 0 'SELECT @@max_connections'
  sed -i 's/max_connections = 100/max_connections = 150/' "$WORLD/config/dynamic.sql"
  echo "SET GLOBAL long_query_time = 0.5;" >> "$WORLD/config/dynamic.sql"
  deliver
  within 10 "a changed setting is in the running server" same 150 query 0 'SELECT @@max_connections'
  within 10 "a new one too" same 0.500000 query 0 'SELECT @@GLOBAL.long_query_time'
  sed -i '/long_query_time/d' "$WORLD/config/dynamic.sql"
  deliver
  within 10 "one that is taken back becomes the server's own" same 10.000000 query 0 'SELECT @@GLOBAL.long_query_time'
  echo "SET GLOBAL innodb_page_cleaners = 99;" >> "$WORLD/config/dynamic.sql"
  deliver
  within 10 "one that it does not take is told" says 'innodb_page_cleaners' "$(log_of 0 agent)"
  check "the group saw nothing of it" not says 'Joining|Founding|Waiting' <(sed '1,/Primary of group/d' "$(log_of 0 agent)")
  check "and writes went on" same 1 grep -c 'Opened for writes' "$(log_of 0 agent)"
  check "the server was not restarted" test "$(query 0 "SELECT VARIABLE_VALUE FROM performance_schema.global_status WHERE VARIABLE_NAME = 'Uptime'")" -gt "$before"
}

case_passwords_change() {
  local each
  replicas=2 retain=20 write_config
  start 0 1
  within 120 "two members" online 0 2
  within 20 "the application logs in" same 1 login 0 app "$awkward_password"
  # an open connection with the former password
  (login 0 app "$awkward_password" 'SELECT SLEEP(25); SELECT 77' > "$WORLD/open-connection") &
  sleep 1
  for each in app backup monitor root; do printf 'new "%s\\ #\x27 %s' "$each" "$RANDOM" > "$WORLD/credentials/$each-password"; done
  printf 'new "r\\ #\x27 %s' "$RANDOM" > "$WORLD/credentials/replication-password"
  deliver 0
  within 20 "the new password is good" same 1 login 0 app "$(< "$WORLD/credentials/app-password")"
  within 20 "the former one still is" same 1 login 0 app "$awkward_password"
  within 20 "the backup's too" same 1 login 0 backup "$(< "$WORLD/credentials/backup-password")"
  sleep 2
  within 40 "after a while the former one is discarded" says 'Discarded the former password of app' "$(log_of 0 agent)"
  check "and refused" says 'Access denied' <(login 0 app "$awkward_password")
  within 30 "a connection that was open stayed open" says 77 "$WORLD/open-connection"
  deliver 1
  check "the group is whole" online 0 2
  kill -KILL "$(process_of 1 mysql)"
  within 120 "a member joins with the new password" online 0 2
  check "no password stands in a log or on the volume" not grep -rqF -e 'new "' "$(pod_of 0)"/log-* "$(pod_of 1)"/log-* "$(volume_of 0)" "$(volume_of 1)"
  printf 'line\nbreak' > "$WORLD/credentials/app-password"
  deliver
  within 30 "an unusable one is told, and the former stays" says 'app-password has a line break.*keeps the former' "$(log_of 0 agent)"
}

case_certificates() {
  local serial each
  mkdir -p "$WORLD/tls"
  certificate() {
    openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj "/CN=$1" -keyout "$WORLD/tls/tls.key" -out "$WORLD/tls/tls.crt" 2> /dev/null
    cp "$WORLD/tls/tls.crt" "$WORLD/tls/ca.crt"
  }
  certificate first
  replicas=2 write_config TLS=on
  for each in 'require_secure_transport = "ON"' 'ssl_ca = "/etc/dbrender/tls/ca.crt"' 'ssl_cert = "/etc/dbrender/tls/tls.crt"' 'ssl_key = "/etc/dbrender/tls/tls.key"'; do
    sed -i "/^!include/ i $each" "$WORLD/config/my.cnf"
  done
  start 0 1
  within 90 "with a certificate it leads" is 0 primary
  within 90 "and another joins it" online 0 2
  within 20 "clients speak with TLS" same 1 login 0 app "$awkward_password"
  ssl_mode=DISABLED check "and not without" says 'require_secure_transport|insecure transport' <(ssl_mode=DISABLED login 0 app "$awkward_password")
  serial=$(query 0 "SELECT VARIABLE_VALUE FROM performance_schema.global_status WHERE VARIABLE_NAME = 'Ssl_server_not_after'")
  sleep 1
  certificate second
  deliver
  within 20 "a new certificate is read without a restart" says 'certificate was read again' "$(log_of 0 agent)"
  check "and shown" test "$(query 0 "SELECT VARIABLE_VALUE FROM performance_schema.global_status WHERE VARIABLE_NAME = 'Ssl_server_not_after'")" != "$serial"
  check "the group is whole" online 0 2
  kill -KILL "$(process_of 1 mysql)"
  within 120 "and a member comes back to it" eventually 60 online 1 2
  rm -rf "$WORLD/tls"
}
