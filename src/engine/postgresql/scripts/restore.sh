#!/bin/bash
# Fills an empty server from one backup, over the network. BACKUP.md says how and when it refuses.
#
# Everything is loaded into databases with a name of ours, which nobody connects to. One
# transaction at the end gives them their names and writes the marker: before it the server
# is empty for everybody, after it everything is there. So a run may die at any point and
# the next one starts again.
set -euo pipefail
export LC_ALL=C
umask 077

SCRIPTS=${BASH_SOURCE[0]%/*}
CONFIG=/etc/dbrender/config
# shellcheck source-path=SCRIPTDIR source=archive.sh
. "$SCRIPTS/archive.sh"
# shellcheck source-path=SCRIPTDIR source=connection.sh
. "$SCRIPTS/connection.sh"

# Names that only a restore uses, followed by the attempt and a number.
PREFIX=dbrender-restore-
# Roles that the new server makes for itself; a backup never changes them.
OWN_ROLES='postgres replication rewind backup monitor restore'

fail_said() {
    fail "$1: $(cause "$WORK/said")"
}

read_values() {
    local file name
    for file in facts restore; do
        [[ -r $CONFIG/$file ]] || fail "The key $file is missing in the mounted ConfigMap ($CONFIG)."
        # shellcheck source=/dev/null
        . "$CONFIG/$file"
    done
    for name in MAJOR APP_DATABASE APP_USERNAME PORT SERVICE RESTORE_ID SOURCE_PATH BACKUP; do
        [[ -n ${!name:-} ]] || fail "The value $name is missing in the mounted ConfigMap ($CONFIG)."
    done
    : "${WAIT_SECONDS:=900}" "${JOBS:=2}"
    BASE=/backup/$SOURCE_PATH
    # Two pods of one Job can overlap when a node is lost; the younger one wins.
    ATTEMPT=$(od -An -N4 -tx4 /dev/urandom | tr -d ' ')
    FORMER_ROLE=$PREFIX$ATTEMPT-former
}

# pick ID|latest: sets ID and DIR, after every byte of the backup was read.
pick() {
    local ids newest
    ids=$(list_ids "$BASE")
    newest=$(tail -n 1 <<<"$ids")
    [[ -n $newest ]] || fail "There is no finished backup in $BASE." 4
    ID=$newest
    [[ $1 == latest ]] || ID=$1
    is_id "$ID" && [[ -d $BASE/$ID ]] ||
        fail "There is no backup $ID in $BASE; the newest is $newest." 4
    DIR=$BASE/$ID
    # Retention leaves a backup alone while somebody reads it.
    if [[ -r $DIR/SHA256SUMS ]]; then
        exec 8<"$DIR/SHA256SUMS"
        flock -s -n 8 || say "warning: could not lock backup $ID against pruning"
    fi
    verify_sums "$DIR" || fail "$(damaged_sentence "$ID" "$problem" <<<"$ids")" 4
    MANIFEST=$DIR/manifest.json
    say "backup $ID reads well"
}

manifest_text() {
    local text
    text=$(sed -n 's/^  "'"$1"'": "\(.*\)",\{0,1\}$/\1/p' "$MANIFEST")
    text=${text//\\\"/\"}
    printf '%s' "${text//\\\\/\\}"
}

# What the backup holds must fit this Database before the server is touched.
check_backup() {
    local format engine number version file i
    format=$(manifest_value "$MANIFEST" format)
    engine=$(manifest_value "$MANIFEST" engine)
    number=$(manifest_value "$MANIFEST" serverVersionNum)
    version=$(manifest_value "$MANIFEST" serverVersion)
    [[ $engine == postgresql ]] || fail "Backup $ID is of engine $engine, not postgresql." 4
    [[ $format == 1 ]] || fail "Backup $ID has format $format; this version reads format 1." 4
    SOURCE_NUMBER=$number
    ((number / 10000 <= MAJOR)) ||
        fail "Backup $ID comes from PostgreSQL $version, and this Database is version $MAJOR; a backup goes into the same or a newer major, never into an older one." 4
    mapfile -t FILES < <(manifest_files "$MANIFEST" | cut -d ' ' -f 3 | grep '^databases/')
    ((${#FILES[@]} > 0)) || fail "Backup $ID lists no database." 4
    NAMES=()
    for file in "${FILES[@]}"; do
        run pg_restore --list -f "$WORK/toc" "$DIR/$file" || fail_said "Backup $ID: $file cannot be read by this pg_restore"
        file=${file#databases/}
        file=${file%.dump}
        printf -v file '%b' "${file//%/\\x}"
        NAMES+=("$file")
    done
    SOURCE_DATABASE=$(manifest_text database)
    SOURCE_USERNAME=$(manifest_text username)
    if [[ $SOURCE_DATABASE != "$APP_DATABASE" ]]; then
        for ((i = 0; i < ${#NAMES[@]}; i++)); do
            [[ ${NAMES[i]} != "$APP_DATABASE" ]] ||
                fail "Backup $ID holds a database $APP_DATABASE beside the application's, which is $SOURCE_DATABASE there; set spec.database to $SOURCE_DATABASE or to a name that is free." 4
        done
    fi
    if [[ $SOURCE_USERNAME != "$APP_USERNAME" ]] && has_role "$APP_USERNAME"; then
        fail "Backup $ID holds a role $APP_USERNAME beside the application's, which is $SOURCE_USERNAME there; set spec.username to $SOURCE_USERNAME or to a name that is free." 4
    fi
}

has_role() {
    grep -qxF "CREATE ROLE \"${1//\"/\"\"}\";" "$DIR/globals.sql"
}

marker_written() {
    local seen
    seen=$(ask postgres <<<"select to_regclass('dbrender.restore') is not null") || return 1
    [[ $seen == t ]] || return 1
    seen=$(ask postgres -v id="$RESTORE_ID" \
        <<<"select exists (select from dbrender.restore where id = :'id' and finished_at is not null)") || return 1
    [[ $seen == t ]]
}

done_already() {
    report "{\"id\": $(json_text "$RESTORE_ID"), \"alreadyRestored\": true}"
    exit 0
}

# The role restore exists only while the marker is absent. So a Job that is started again after
# its work was done finds the role gone; the role backup can still read the marker.
connect() {
    local deadline=$((SECONDS + WAIT_SECONDS)) state number
    local options='-c role=postgres -c default_transaction_read_only=off -c statement_timeout=0'
    options+=' -c lock_timeout=0 -c idle_in_transaction_session_timeout=0 -c standard_conforming_strings=on'
    while :; do
        connect_as restore "$CREDENTIALS/restore-password"
        export PGOPTIONS=$options
        if ! await_server "$deadline"; then
            fail "The server $SERVICE:$PORT did not answer within $WAIT_SECONDS seconds; is it up, and does its NetworkPolicy let restore pods in? $(cause "$WORK/said")"
        fi
        if state=$(ask postgres <<<"select pg_is_in_recovery(), current_setting('server_version_num')"); then
            [[ $state == t* ]] || break
            say "the server is a standby; waiting for its primary"
        elif [[ -r $CREDENTIALS/backup-password ]]; then
            connect_as backup "$CREDENTIALS/backup-password"
            unset PGOPTIONS
            ! marker_written 2>/dev/null || done_already
        fi
        ((SECONDS < deadline)) ||
            fail "Could not log in to $SERVICE:$PORT as restore within $WAIT_SECONDS seconds; the agent of the first member makes this role while the restore $RESTORE_ID is awaited: $(cause "$WORK/said")"
        pause 3
    done
    number=${state#*$'\t'}
    ((SOURCE_NUMBER / 10000 <= number / 10000)) ||
        fail "Backup $ID comes from PostgreSQL $((SOURCE_NUMBER / 10000)) and the server is $((number / 10000)); a backup never goes into an older major." 4
    ! marker_written || done_already
}

# Names the first thing in DATABASE that a user made, or nothing.
first_content() {
    ask "$1" <<'SQL'
with user_schema as (
  select oid, nspname from pg_namespace
  where nspname !~ '^pg_' and nspname <> 'information_schema'
    and not (nspname = 'dbrender' and current_database() = 'postgres'))
select thing from (
  select format('%s %I.%I', case relkind when 'v' then 'view' when 'S' then 'sequence' else 'table' end,
      nspname, relname) as thing, case when relkind in ('r', 'p') then 1 else 2 end as rank
  from pg_class join user_schema on user_schema.oid = relnamespace
  where relkind in ('r', 'p', 'm', 'f', 'v', 'S') and not exists (select from pg_depend
    where classid = 'pg_class'::regclass and objid = pg_class.oid and deptype = 'e')
  union all
  select format('function %I.%I', nspname, proname), 3
  from pg_proc join user_schema on user_schema.oid = pronamespace
  where not exists (select from pg_depend
    where classid = 'pg_proc'::regclass and objid = pg_proc.oid and deptype = 'e')
  union all
  select format('large object %s', oid), 4 from pg_largeobject_metadata) as things
order by rank, thing limit 1
SQL
}

refuse_content() {
    fail "The server holds data already ($2 in database $1). A restore fills an empty server only; nothing was changed. Use a Database with new volumes." 4
}

# Reads the state of a former attempt, and refuses a server with anybody's data before the
# first write to it.
refuse_data() {
    local seen name names
    PROGRESS=
    POSTGRES_DONE=f
    seen=$(ask postgres <<<"select to_regclass('dbrender.restore_progress') is not null") || fail_said "Could not read the server's state"
    if [[ $seen == t ]]; then
        PROGRESS=$(ask postgres -v id="$RESTORE_ID" \
            <<<"select backup, postgres_done from dbrender.restore_progress where id = :'id'") ||
            fail_said "Could not read the state of a former attempt"
        POSTGRES_DONE=${PROGRESS#*$'\t'}
        PROGRESS=${PROGRESS%%$'\t'*}
    fi
    ask postgres -0 -v prefix="$PREFIX" -v ours="$seen" >"$WORK/names" <<'SQL' || fail_said "Could not list the databases"
select datname from pg_database
where not datistemplate and not (:'ours' = 't' and starts_with(datname, :'prefix')) and datconnlimit <> -2
SQL
    mapfile -d '' -t names <"$WORK/names"
    for name in "${names[@]}"; do
        [[ $name != postgres || ${POSTGRES_DONE:-f} != t ]] || continue
        seen=$(first_content "$name") || fail_said "Could not look into database $name"
        [[ -z $seen ]] || refuse_content "$name" "$seen"
    done
    # What a former attempt chose stays chosen, though a newer backup may have come since.
    if [[ -n $PROGRESS && $PROGRESS != "$ID" ]]; then
        if [[ $BACKUP == latest && -d $BASE/$PROGRESS ]]; then
            say "a former attempt began with backup $PROGRESS; going on with that one"
            pick "$PROGRESS"
            check_backup
        elif [[ ${POSTGRES_DONE:-f} == t ]]; then
            fail "A former attempt put a part of backup $PROGRESS into the server; restore that one (spec.bootstrap.fromBackup.backup), or begin with new volumes." 4
        fi
    fi
}

# From here on the server is ours. What earlier attempts left goes, and whoever still works
# on one of those is thrown out.
start_attempt() {
    POSTGRES_DONE=$(ask postgres -v id="$RESTORE_ID" -v backup="$ID" -v attempt="$ATTEMPT" -v prefix="$PREFIX" <<'SQL'
set client_min_messages = warning;
create schema if not exists dbrender;
create table if not exists dbrender.restore (id text primary key, finished_at timestamptz);
alter table dbrender.restore add column if not exists backup text;
create table if not exists dbrender.restore_progress (
  id text primary key, backup text not null, attempt text not null,
  server_start timestamptz not null, postgres_done boolean not null default false);
insert into dbrender.restore_progress (id, backup, attempt, server_start)
values (:'id', :'backup', :'attempt', pg_postmaster_start_time())
on conflict (id) do update
  set backup = excluded.backup, attempt = excluded.attempt, server_start = excluded.server_start
returning postgres_done;
select format('drop database %I with (force)', datname) from pg_database
where starts_with(datname, :'prefix') \gexec
SQL
    ) || fail_said "Could not prepare the server"
}

# pg_dumpall's list of roles, made fit to run on a server that has some of them: a role that
# exists is not an error, and nothing is said about the roles that every server of ours makes
# for itself. Statements end at a `;` outside of quotes; names always stand in double quotes.
own_globals() {
    awk -v own="$OWN_ROLES" '
        BEGIN { n = split(own, names, " "); for (i = 1; i <= n; i++) ours["\"" names[i] "\""] = 1 }
        # The quoted name that begins TEXT, quotes included.
        function name_at(text,    i) {
            if (substr(text, 1, 1) != "\"") return ""
            for (i = 2; i <= length(text); i++)
                if (substr(text, i, 1) == "\"") {
                    if (substr(text, i + 1, 1) != "\"") return substr(text, 1, i)
                    i++
                }
            return ""
        }
        function put(text,    role, rest) {
            if (index(text, "CREATE ROLE ") == 1) {
                role = name_at(substr(text, 13))
                if (!(role in ours))
                    print "DO $dbrender$BEGIN " text " EXCEPTION WHEN duplicate_object THEN NULL; END$dbrender$;"
                return
            }
            if (index(text, "ALTER ROLE ") == 1) role = name_at(substr(text, 12))
            else if (index(text, "COMMENT ON ROLE ") == 1) role = name_at(substr(text, 17))
            else if (match(text, /^SECURITY LABEL FOR .* ON ROLE "/)) role = name_at(substr(text, RLENGTH))
            else if (index(text, "GRANT \"") == 1) {
                role = name_at(substr(text, 7))
                rest = substr(text, 7 + length(role))
                role = index(rest, " TO ") == 1 ? name_at(substr(rest, 5)) : ""
            }
            else if (match(text, /^GRANT [A-Z, ]+ ON PARAMETER .* TO "/)) role = name_at(substr(text, RLENGTH))
            if (!(role in ours)) print text
        }
        {
            if (statement == "" && (/^--/ || /^[ \t]*$/ || /^\\/)) { if (/^\\/) print; next }
            statement = statement == "" ? $0 : statement "\n" $0
            for (i = 1; i <= length($0); i++) {
                c = substr($0, i, 1)
                if (quote == "") { if (c == "\"" || c == "\047") quote = c }
                else if (c == quote) quote = ""
            }
            if (quote == "" && /;$/) { put(statement); statement = "" }
        }
        END { if (statement != "") exit 1 }' "$DIR/globals.sql"
}

load_globals() {
    own_globals >"$WORK/globals.sql" || fail "The list of roles in backup $ID is cut short." 4
    run psql -X -q -w --single-transaction -v ON_ERROR_STOP=1 -d "$(database postgres)" \
        -f "$WORK/globals.sql" -o /dev/null || fail_said "The roles could not be restored"
}

# Shuts clients out of a database that the server made for itself, as the agent does for the
# application, and then looks into it once more: after that look nobody can have written.
shut() {
    local limit content
    limit=$(ask postgres -v name="$1" <<<"select datconnlimit from pg_database where datname = :'name'") || return 1
    [[ -n $limit ]] || return 0
    ask postgres -v name="$1" >/dev/null <<'SQL' || return 1
select format('alter database %I connection limit 0', :'name') \gexec
select pg_terminate_backend(pid) from pg_stat_activity where datname = :'name' and pid <> pg_backend_pid();
SQL
    content=$(first_content "$1") || return 1
    if [[ -n $content ]]; then
        ask postgres -v name="$1" -v count="$limit" \
            <<<"select format('alter database %I connection limit %s', :'name', :'count') \\gexec" || :
        refuse_content "$1" "$content"
    fi
}

drop() {
    ask postgres -v name="$1" <<<"select format('drop database if exists %I with (force)', :'name') \\gexec"
}

# The entries of FILE that speak of the database itself: creation, settings, privileges.
database_entries() {
    pg_restore --create --list "$1" |
        grep -E '^[0-9]+; [0-9]+ [0-9]+ (DATABASE|DATABASE PROPERTIES|(ACL|COMMENT|SECURITY LABEL) - DATABASE) '
}

# Makes an empty database with the settings of the archive, under a name of ours. Only the
# archive's own name can be given to it at first, so somebody could come in at that moment.
create_database() {
    local name=$1 file=$2 temporary=$3 try
    database_entries "$file" >"$WORK/entries" || fail "The dump of database $name does not say how to create it."
    for ((try = 1; try <= 10; try++)); do
        ((try == 1)) || pause 1
        shut "$name" || continue
        drop "$name" || continue
        run pg_restore --create --exit-on-error --no-tablespaces -w -L "$WORK/entries" \
            -d "$(database postgres)" "$file" || continue
        ask postgres -v name="$name" -v temporary="$temporary" >/dev/null <<'SQL' || continue
select pg_terminate_backend(pid) from pg_stat_activity where datname = :'name' and pid <> pg_backend_pid();
select format('alter database %I rename to %I', :'name', :'temporary') \gexec
SQL
        [[ -z $(first_content "$temporary") ]] && return
        drop "$temporary" || :
    done
    fail_said "Database $name could not be made"
}

# The settings are for the load alone. Nothing is lost by an asynchronous commit here: the last
# transaction waits for all before it, and it notices when the server was started anew.
load_database() {
    local name=$1 file=$2 temporary=$3
    say "restoring $name"
    PGOPTIONS="$PGOPTIONS -c synchronous_commit=off" run pg_restore --exit-on-error --no-tablespaces \
        --jobs="$JOBS" -w -d "$(database "$temporary")" "$file" || fail_said "Database $name could not be restored"
    run vacuumdb --analyze-only --quiet --jobs="$JOBS" -w -d "$(database "$temporary")" ||
        fail_said "Database $name could not be analyzed"
}

# The database postgres is there already and cannot be renamed away. Its contents come in one
# transaction, together with the note that they are in.
load_postgres() {
    local file=$1
    if [[ $POSTGRES_DONE == t ]]; then
        say "postgres was restored by a former attempt"
        return
    fi
    say "restoring postgres"
    # A pg_restore that fails leaves out the commit, which psql itself would not notice.
    run psql -X -q -w -v ON_ERROR_STOP=1 -d "$(database postgres)" -o /dev/null -f <(
        printf 'begin;\n%s\n' "$(still_ours)"
        pg_restore --no-tablespaces -f - "$file" &&
            printf "update dbrender.restore_progress set postgres_done = true where attempt = '%s';\ncommit;\n" "$ATTEMPT"
    ) || fail_said "Database postgres could not be restored"
    POSTGRES_DONE=$(ask postgres <<<"select postgres_done from dbrender.restore_progress where attempt = '$ATTEMPT'") || POSTGRES_DONE=
    [[ $POSTGRES_DONE == t ]] || fail "Database postgres could not be restored; see the log of this container."
    # Its settings and privileges come only together with its creation, of which it has no need.
    if ! database_entries "$file" >"$WORK/entries" ||
        ! pg_restore --create -L "$WORK/entries" -f "$WORK/settings.sql" "$file" ||
        ! sed -i '0,/^CREATE DATABASE "postgres" WITH /{//d}' "$WORK/settings.sql"; then
        fail "The dump of database postgres does not tell its settings."
    fi
    run psql -X -q -w -v ON_ERROR_STOP=1 -d "$(database postgres)" -o /dev/null -f "$WORK/settings.sql" ||
        fail_said "The settings of database postgres could not be restored"
    run vacuumdb --analyze-only --quiet -w -d "$(database postgres)" || fail_said "Database postgres could not be analyzed"
}

# SQL that fails unless this attempt is the youngest and the server is the process it began
# with. A standby that took over may lack the end of what was loaded.
still_ours() {
    cat <<SQL
select count(*) = 1 as ours from (select from dbrender.restore_progress
  where attempt = '$ATTEMPT' and server_start = pg_postmaster_start_time() for update) as mine \gset
\if :ours
\else
do \$\$begin raise exception 'another restore pod took over, or the server was started anew; starting over'; end\$\$;
\endif
SQL
}

# sql_text TEXT: as a literal.
sql_text() {
    printf "'%s'" "${1//\'/\'\'}"
}

final_statements() {
    local i
    printf 'begin;\nset local log_statement = none;\nset local log_min_error_statement = panic;\n'
    still_ours
    # What stands under a name gives it up, if `shut` was there; else the second rename fails.
    for i in "${!TEMPORARY[@]}"; do
        printf "select format('alter database %%I rename to %%I', datname, %s) from pg_database where datname = %s and datconnlimit = 0 \\\\gexec\n" \
            "$(sql_text "${TEMPORARY[i]}-former")" "$(sql_text "${FINAL[i]}")"
        printf "select format('alter database %%I rename to %%I', %s, %s) \\\\gexec\n" \
            "$(sql_text "${TEMPORARY[i]}")" "$(sql_text "${FINAL[i]}")"
    done
    if [[ $SOURCE_USERNAME != "$APP_USERNAME" ]] && has_role "$SOURCE_USERNAME"; then
        # A renamed role keeps everything: ownership, privileges, memberships, policies, default
        # privileges. The role that the agent may have made gives up its name and its password.
        printf 'create temp table dbrender_names on commit drop as select %s::text as was, %s::text as new, %s::text as former;\n' \
            "$(sql_text "$SOURCE_USERNAME")" "$(sql_text "$APP_USERNAME")" "$(sql_text "$FORMER_ROLE")"
        cat <<'SQL'
do $$
declare
  names record;
  secret text;
begin
  select * into names from dbrender_names;
  select rolpassword into secret from pg_authid where rolname = names.new;
  if found then
    execute format('alter role %I nologin', names.new);
    execute format('alter role %I rename to %I', names.new, names.former);
  end if;
  execute format('alter role %I rename to %I', names.was, names.new);
  if secret is not null then
    execute format('alter role %I password %L', names.new, secret);
  end if;
end $$;
SQL
    fi
    printf "select format('alter database %%I owner to %%I', datname, rolname) from pg_database, pg_roles\n"
    printf "where datname = %s and rolname = %s and datdba <> pg_roles.oid \\\\gexec\n" \
        "$(sql_text "$APP_DATABASE")" "$(sql_text "$APP_USERNAME")"
    cat <<SQL
insert into dbrender.restore (id, backup, finished_at)
values ($(sql_text "$RESTORE_ID"), '$ID', clock_timestamp());
drop table dbrender.restore_progress;
commit;
SQL
}

# What the agent had made and the restored databases and role took the names of. In one session:
# the agent ends the sessions of the role restore as soon as it sees the marker.
remove_former() {
    ask postgres -v prefix="$PREFIX" -v role="$FORMER_ROLE" <<'SQL'
select format('drop database %I with (force)', datname) from pg_database where starts_with(datname, :'prefix') \gexec
select format('drop owned by %I', rolname) from pg_roles where rolname = :'role' \gexec
select format('drop role %I', rolname) from pg_roles where rolname = :'role' \gexec
SQL
}

# Everything becomes visible at once. The empty databases that stand under the names keep them
# until then, so that an agent which makes missing ones has nothing to do; they go afterwards.
finish() {
    local try i
    final_statements >"$WORK/final.sql"
    for ((try = 1; try <= 10; try++)); do
        ((try == 1)) || pause 1
        for i in "${!FINAL[@]}"; do
            shut "${FINAL[i]}" || continue 2
        done
        if run psql -X -q -w -v ON_ERROR_STOP=1 -v VERBOSITY=terse -d "$(database postgres)" \
            -o /dev/null -f "$WORK/final.sql"; then
            remove_former || say "warning: empty databases or the role $FORMER_ROLE are left and can be dropped"
            return
        fi
    done
    fail_said "The restored databases could not be given their names"
}

main() {
    local i postgres=
    begin
    read_values
    pick "$BACKUP"
    check_backup
    connect
    refuse_data
    start_attempt
    load_globals
    TEMPORARY=()
    FINAL=()
    for i in "${!FILES[@]}"; do
        if [[ ${NAMES[i]} == postgres ]]; then
            postgres=$DIR/${FILES[i]}
            continue
        fi
        create_database "${NAMES[i]}" "$DIR/${FILES[i]}" "$PREFIX$ATTEMPT-$i"
        load_database "${NAMES[i]}" "$DIR/${FILES[i]}" "$PREFIX$ATTEMPT-$i"
        TEMPORARY+=("$PREFIX$ATTEMPT-$i")
        if [[ ${NAMES[i]} == "$SOURCE_DATABASE" ]]; then
            FINAL+=("$APP_DATABASE")
        else
            FINAL+=("${NAMES[i]}")
        fi
    done
    [[ -z $postgres ]] || load_postgres "$postgres"
    finish
    report "$(printf '{"id": %s, "backup": "%s", "version": "%s", "databases": %d, "seconds": %d}' \
        "$(json_text "$RESTORE_ID")" "$ID" "$(manifest_value "$MANIFEST" serverVersion)" "${#FILES[@]}" "$SECONDS")"
}

main "$@"
exit
