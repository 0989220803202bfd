#!/bin/bash
# shellcheck disable=SC2154,SC2034  # names are shared with the files that this one is sourced with
# Roles, the application's database, and passwords, on a server that takes writes. Sourced after members.sh and passwords.sh.
# psql reads each password from its file; statements that carry one are neither logged by the server nor echoed by psql.

quiet_sql="SET log_statement = 'none'; SET log_min_duration_statement = -1; SET log_min_duration_sample = -1;
SET log_min_error_statement = panic; SET log_duration = off; SET log_transaction_sample_rate = 0;
SET pg_stat_statements.track_utility = off; SET pgaudit.log = 'none'; SET synchronous_commit = local;"

# sql SOCKET_DIRECTORY [PSQL-OPTION...]: a script from standard input, as the superuser.
sql() {
  local directory=$1
  shift
  PGOPTIONS=$quiet PGAPPNAME=dbrender timeout 60 psql -XAtqw -F ' ' -v ON_ERROR_STOP=1 -v VERBOSITY=terse -h "$directory" -p "$PORT" -U postgres -d postgres "$@" -f -
}

# create_roles SOCKET_DIRECTORY: everything that is missing; changes nothing that is there.
create_roles() {
  sql "$1" -v app="$APP_USERNAME" -v database="$APP_DATABASE" <<SQL
$quiet_sql
\\set pw \`cat "$credentials/replication-password"\`
SELECT format('CREATE ROLE replication LOGIN REPLICATION PASSWORD %L', :'pw') WHERE to_regrole('replication') IS NULL \\gexec
\\set pw \`cat "$credentials/rewind-password"\`
SELECT format('CREATE ROLE rewind LOGIN PASSWORD %L', :'pw') WHERE to_regrole('rewind') IS NULL \\gexec
SELECT format('GRANT EXECUTE ON FUNCTION pg_catalog.%s TO rewind', f) FROM unnest(ARRAY['pg_ls_dir(text, boolean, boolean)', 'pg_stat_file(text, boolean)',
  'pg_read_binary_file(text)', 'pg_read_binary_file(text, bigint, bigint, boolean)']) f WHERE NOT has_function_privilege('rewind', 'pg_catalog.' || f, 'EXECUTE') \\gexec
\\set pw \`cat "$credentials/backup-password"\`
SELECT format('CREATE ROLE backup LOGIN BYPASSRLS PASSWORD %L', :'pw') WHERE to_regrole('backup') IS NULL \\gexec
SELECT 'GRANT pg_read_all_data TO backup' WHERE NOT pg_has_role('backup', 'pg_read_all_data', 'USAGE') \\gexec
\\set pw \`cat "$credentials/monitor-password"\`
SELECT format('CREATE ROLE monitor LOGIN PASSWORD %L', :'pw') WHERE to_regrole('monitor') IS NULL \\gexec
SELECT 'GRANT pg_monitor TO monitor' WHERE NOT pg_has_role('monitor', 'pg_monitor', 'USAGE') \\gexec
\\set pw \`cat "$credentials/app-password"\`
SELECT format('CREATE ROLE %I LOGIN PASSWORD %L', :'app', :'pw') WHERE to_regrole(quote_ident(:'app')) IS NULL \\gexec
\\unset pw
SELECT format('CREATE DATABASE %I OWNER %I', :'database', :'app') WHERE NOT EXISTS (SELECT FROM pg_database WHERE datname = :'database') \\gexec
-- large objects have no pg_read_all_data before version 19; the setting lets this one role read them, and it stays read-only
SELECT 'ALTER ROLE backup SET lo_compat_privileges = on' WHERE NOT EXISTS (SELECT FROM pg_db_role_setting WHERE setrole = 'backup'::regrole AND setdatabase = 0
  AND 'lo_compat_privileges=on' = ANY (setconfig)) \\gexec
SELECT 'ALTER ROLE backup SET default_transaction_read_only = on' WHERE NOT EXISTS (SELECT FROM pg_db_role_setting WHERE setrole = 'backup'::regrole AND setdatabase = 0
  AND 'default_transaction_read_only=on' = ANY (setconfig)) \\gexec
-- an owner may have taken CONNECT from everybody: the backup still has to get in
SELECT format('GRANT CONNECT ON DATABASE %I TO backup', datname) FROM pg_database WHERE datallowconn AND NOT has_database_privilege('backup', oid, 'CONNECT') \\gexec
SQL
}

# accepted ROLE: 0 the server takes the mounted password, 1 it does not, 2 no answer that settles it. Needs write_passfile.
accepted() {
  local text options=''
  [ "$1" = replication ] && options='replication=true'
  text=$(PGPASSFILE=$run/passwords PGDATABASE=postgres PGUSER=$1 timeout 10 psql -XAtqw -c 'SHOW port' \
    "host=127.0.0.1 port=$PORT $options connect_timeout=5" 2>&1) && return 0
  case $text in
    *'password authentication failed'*) return 1 ;;
    # these come after the password was right
    *'not permitted to log in'* | *'permission denied for database'* | *'too many connections for role'*) return 0 ;;
    *) return 2 ;;
  esac
}

# set_password ROLE FILE
set_password() {
  sql "$run" -v role="$1" <<SQL
$quiet_sql
\\set pw \`cat "$credentials/$2"\`
SELECT format('ALTER ROLE %I PASSWORD %L', :'role', :'pw') \\gexec
SQL
}

# follow_passwords: makes the server take what is mounted. Open connections are not touched: a password is asked for at login only.
# 0 when all is settled, 1 when it has to be tried again.
follow_passwords() {
  local line role file rc=0 answer
  if ! write_passfile; then report "$complaint The server keeps the former password."; fi
  while IFS= read -r line; do
    role=${line%:*}
    file=${line##*:}
    read_password "$file" || continue
    answer=0
    accepted "$role" || answer=$?
    case $answer in
      0) ;;
      1)
        if set_password "$role" "$file" && accepted "$role"; then
          say "The password of role $role was changed to the one in $credentials/$file."
        else
          report "The password of role $role could not be changed to the one in $credentials/$file."
          rc=1
        fi
        ;;
      *) rc=1 ;;
    esac
  done < <(password_roles)
  password=''
  return "$rc"
}

# follow_restore: the role restore exists, as a superuser, only while the restore that is asked for has not left its row.
follow_restore() {
  local finished=f
  if [ -n "$RESTORE_ID" ]; then
    sql "$run" <<SQL || return 1
SET client_min_messages = warning;
CREATE SCHEMA IF NOT EXISTS dbrender;
CREATE TABLE IF NOT EXISTS dbrender.restore (id text PRIMARY KEY, backup text, finished_at timestamptz NOT NULL DEFAULT now());
SQL
    finished=$(sql "$run" <<< "SELECT EXISTS (SELECT FROM dbrender.restore WHERE id = '${RESTORE_ID//\'/\'\'}' AND finished_at IS NOT NULL);") || return 1
  fi
  if [ -n "$RESTORE_ID" ] && [ "$finished" = f ]; then
    if ! read_password restore-password; then report "$complaint The restore cannot begin."; return 1; fi
    [ "$(here "SELECT rolsuper AND rolcanlogin FROM pg_roles WHERE rolname = 'restore'")" = t ] && return 0
    sql "$run" <<SQL || return 1
$quiet_sql
\\set pw \`cat "$credentials/restore-password"\`
SELECT 'CREATE ROLE restore' WHERE to_regrole('restore') IS NULL \\gexec
SELECT format('ALTER ROLE restore LOGIN SUPERUSER PASSWORD %L', :'pw') \\gexec
SQL
    say "Role restore is open for restore $RESTORE_ID."
  elif [ "$(here "SELECT to_regrole('restore') IS NOT NULL")" = t ]; then
    close_restore
  fi
}

# close_restore: first it can do nothing any more, then what it owns (extensions above all) gets another owner, then it goes.
close_restore() {
  local database
  here "ALTER ROLE restore NOLOGIN NOSUPERUSER PASSWORD NULL" || return 1
  here "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE usename = 'restore'" > /dev/null
  while IFS= read -r database; do
    timeout 60 psql -XAtqw -v ON_ERROR_STOP=1 -h "$run" -p "$PORT" -U postgres -d "dbname='${database//\'/\\\'}'" \
      -c 'REASSIGN OWNED BY restore TO postgres' -c 'DROP OWNED BY restore' || return 1
  done < <(here 'SELECT datname FROM pg_database WHERE datallowconn')
  here "DROP ROLE IF EXISTS restore" || return 1
  say "Role restore is gone."
}
