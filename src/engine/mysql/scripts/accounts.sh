#!/bin/bash
# shellcheck disable=SC2154,SC2034  # names are shared with the files that this one is sourced with
# Users, the application's database, and passwords. Sourced after members.sh and passwords.sh. Statements that hold a password go to
# the server by its socket or by a file in memory; the server writes a hash in their place into its logs.

# user:host:file of every password that the server knows.
account_passwords() {
  printf '%s\n' replication:%:replication-password backup:%:backup-password monitor:localhost:monitor-password \
    root:localhost:root-password "$APP_USERNAME:%:app-password"
}

# secret_of FILE: its password as a literal.
secret_of() { read_password "$1" && text "$password"; }

# first_accounts: the users that every member has before it has anything else, for mysqld's --init-file. A statement a line.
# `mysql` is whoever runs as the server's own user in this pod: the socket says so, and nobody needs a password.
first_accounts() {
  local replication backup monitor root
  replication=$(secret_of replication-password) backup=$(secret_of backup-password)
  monitor=$(secret_of monitor-password) root=$(secret_of root-password)
  cat << SQL
INSTALL PLUGIN auth_socket SONAME 'auth_socket.so';
CREATE USER mysql@localhost IDENTIFIED WITH auth_socket;
GRANT ALL ON *.* TO mysql@localhost WITH GRANT OPTION;
ALTER USER root@localhost IDENTIFIED BY $root;
CREATE USER replication@'%' IDENTIFIED BY $replication REQUIRE SSL;
GRANT REPLICATION SLAVE, REPLICATION CLIENT, BACKUP_ADMIN, CONNECTION_ADMIN, GROUP_REPLICATION_STREAM ON *.* TO replication@'%';
GRANT SELECT ON performance_schema.* TO replication@'%';
CREATE USER backup@'%' IDENTIFIED BY $backup;
GRANT SELECT, SHOW VIEW, TRIGGER, EVENT, PROCESS, REPLICATION CLIENT, SHOW_ROUTINE ON *.* TO backup@'%';
CREATE USER monitor@localhost IDENTIFIED BY $monitor WITH MAX_USER_CONNECTIONS 5;
GRANT PROCESS, REPLICATION CLIENT ON *.* TO monitor@localhost;
GRANT SELECT ON performance_schema.* TO monitor@localhost;
SQL
}

# create_accounts: the application's database and user, on the member that takes writes, once.
create_accounts() {
  local secret
  [ "$(here <<< "SELECT COUNT(*) FROM mysql.user WHERE user = $(text "$APP_USERNAME") AND host = '%'")" = 0 ] || return 0
  secret=$(secret_of app-password) || { report "${complaint:-The password of the application is unusable.}"; return 1; }
  here << SQL || { report "The application's user could not be made: $(what_it_said)"; return 1; }
CREATE DATABASE IF NOT EXISTS \`$APP_DATABASE\`;
CREATE USER $(text "$APP_USERNAME")@'%' IDENTIFIED BY $secret;
GRANT ALL ON \`${APP_DATABASE//_/\\_}\`.* TO $(text "$APP_USERNAME")@'%';
SQL
  say "Made the database $APP_DATABASE and its user $APP_USERNAME."
}

# accepted USER HOST FILE: 0 the server takes the mounted password, 1 it does not, 2 no answer that settles it.
accepted() {
  local where=(-h 127.0.0.1 -P "$PORT" --ssl-mode=REQUIRED) rc=0
  [ "$2" = % ] || where=(-S "$run/mysqld.sock")
  write_login "$1" "$3" "$run/try.cnf" || return 2
  timeout 10 mysql --defaults-file="$run/try.cnf" "${where[@]}" -N -B --connect-timeout=5 -e 'DO 0' > "$work/try" 2>&1 < /dev/null || rc=$?
  rm -f "$run/try.cnf"
  [ "$rc" != 0 ] || return 0
  grep -q 'ERROR 1045' "$work/try" && return 1
  # these come after the password was right
  grep -Eq 'ERROR (1226|1203|1040|3032|1862|3118)' "$work/try" && return 0
  return 2
}

# follow_passwords: makes the server take what is mounted, on the member that takes writes. The former password stays valid as a
# second one until discard_passwords, so that nobody who has not read the new one yet is shut out. Open connections are not touched.
# 0 when all is settled, 1 when it has to be tried again.
follow_passwords() {
  local line user host file rc=0 answer secret
  while IFS= read -r line; do
    file=${line##*:} line=${line%:*}
    host=${line##*:} user=${line%:*}
    if ! read_password "$file"; then
      report "$complaint The server keeps the former password."
      rc=1
      continue
    fi
    answer=0
    accepted "$user" "$host" "$file" || answer=$?
    case $answer in
      0) ;;
      1)
        secret=$(secret_of "$file")
        if here <<< "ALTER USER $(text "$user")@'$host' IDENTIFIED BY $secret RETAIN CURRENT PASSWORD" && accepted "$user" "$host" "$file"; then
          say "The password of $user was changed to the one in $credentials/$file; the former one is valid for ${RETAIN_SECONDS:-300} s more."
          retained_since=$SECONDS
        else
          report "The password of $user could not be changed to the one in $credentials/$file: $(what_it_said)"
          rc=1
        fi
        ;;
      *) rc=1 ;;
    esac
  done < <(account_passwords)
  password=''
  return "$rc"
}

# discard_passwords: former passwords go after a while. A primary that has just begun to lead counts from then.
retained_since=$SECONDS
discard_passwords() {
  local user host
  [ $((SECONDS - retained_since)) -ge "${RETAIN_SECONDS:-300}" ] || return 0
  retained_since=$SECONDS
  while IFS=$'\t' read -r user host; do
    here <<< "ALTER USER $(text "$user")@$(text "$host") DISCARD OLD PASSWORD" && say "Discarded the former password of $user."
  done < <(here <<< "SELECT user, host FROM mysql.user WHERE User_attributes->>'\$.additional_password' IS NOT NULL
    AND user IN ('replication', 'backup', 'monitor', 'root', $(text "$APP_USERNAME"))")
}

# follow_restore: the user restore exists only while the restore that is asked for has not left its row in dbrender.restore.
follow_restore() {
  local finished=0 there secret
  there=$(here <<< "SELECT COUNT(*) FROM mysql.user WHERE user = 'restore' AND host = '%'") || return 1
  if [ -n "$RESTORE_ID" ]; then
    if [ "$(here <<< "SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = 'dbrender' AND table_name = 'restore'")" = 1 ]; then
      finished=$(here <<< "SELECT COUNT(*) FROM dbrender.restore WHERE id = $(text "$RESTORE_ID") AND finished_at IS NOT NULL") || return 1
    fi
    if [ "$finished" = 0 ]; then
      [ "$there" = 0 ] || return 0
      secret=$(secret_of restore-password) || { report "$complaint The restore cannot begin."; return 1; }
      here << SQL || { report "The user restore could not be made: $(what_it_said)"; return 1; }
CREATE USER restore@'%' IDENTIFIED BY $secret;
GRANT ALL ON *.* TO restore@'%' WITH GRANT OPTION;
SQL
      say "The user restore is open for restore $RESTORE_ID."
      return 0
    fi
  fi
  [ "$there" = 0 ] && return 0
  # The restore locks the application out, and may have been killed before it let it in again.
  here <<< "ALTER USER IF EXISTS $(text "$APP_USERNAME")@'%' ACCOUNT UNLOCK; DROP USER restore@'%'" && say "The user restore is gone."
}
