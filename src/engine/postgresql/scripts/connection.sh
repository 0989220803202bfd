#!/bin/bash
# How backup.sh and restore.sh reach the server: password, names, waiting, asking.
# Sourced after archive.sh.

CREDENTIALS=${CREDENTIALS:-/etc/dbrender/credentials}
CERTIFICATE=/etc/dbrender/tls/ca.crt

# connect_as USER PASSWORD_FILE: the password goes from the file into a PGPASSFILE below /tmp,
# never into an argument or the environment. In such a file `:` and `\` must be escaped, and
# a line is a password, so one with a line break in it cannot be used; the agent, which gives
# the server its passwords, refuses it too, at the end as well.
connect_as() {
    local password
    [[ -r $2 ]] || fail "The password file $2 is missing or unreadable; the Secret of the Database has no key ${2##*/} yet."
    IFS= read -r -d '' password <"$2" || :
    [[ -n $password ]] || fail "The password file $2 is empty; fill the key ${2##*/} of the Database's admin Secret."
    [[ $password != *$'\n'* && $password != *$'\r'* ]] ||
        fail "The password in $2 has a line break in it, perhaps at its end; PostgreSQL clients cannot use it. Store it without one." 4
    password=${password//\\/\\\\}
    password=${password//:/\\:}
    PGPASSFILE=$WORK/pgpass
    (umask 077 && printf '*:*:*:%s:%s\n' "$1" "$password" >"$PGPASSFILE") ||
        fail "Could not write $PGPASSFILE; /tmp must be writable."
    export PGPASSFILE PGUSER=$1 PGHOST=$SERVICE PGPORT=$PORT
    export PGCONNECT_TIMEOUT=10 PGAPPNAME=${0##*/}
    export PGSSLMODE=prefer
    if [[ ${TLS:-off} == on ]]; then
        export PGSSLMODE=require
        if [[ -r $CERTIFICATE ]]; then
            export PGSSLMODE=verify-ca PGSSLROOTCERT=$CERTIFICATE
        fi
    fi
}

# A database's name as libpq wants it. A bare name with `=` in it would be read as settings.
database() {
    local name=${1//\\/\\\\}
    printf "dbname='%s'" "${name//\'/\\\'}"
}

# ask DATABASE [-v NAME=VALUE]... <<'SQL': plain rows, a field separator of one tab, any error
# is an exit code. The server's words go to the log and stay in $WORK/said for cause.
ask() {
    local name=$1 code=0
    shift
    PGCLIENTENCODING=UTF8 psql -X -A -t -q -w -F $'\t' -v ON_ERROR_STOP=1 -v VERBOSITY=terse \
        -d "$(database "$name")" "$@" -f - 2>"$WORK/said" || code=$?
    cat "$WORK/said" >&2
    return "$code"
}

# Runs a client in the background and waits, so that bash as process 1 hears SIGTERM at once
# and not when a dump of two hours has ended. Its words go to the log and to $WORK/said.
run() {
    local code=0
    "$@" 2>"$WORK/said" &
    CHILD=$!
    wait "$CHILD" || code=$?
    CHILD=
    cat "$WORK/said" >&2
    return "$code"
}

# Waits until the server answers. A NetworkPolicy takes a moment until it knows a new pod. What
# psql says in the end is the cause: pg_isready calls a certificate that it does not trust "no response".
await_server() {
    local deadline=$1
    until pg_isready -q -t 5; do
        if ((SECONDS >= deadline)); then
            ask postgres <<<'select 1' >/dev/null || return 1
            return 0
        fi
        pause 2
    done
}

pause() {
    sleep "$1" &
    CHILD=$!
    wait "$CHILD" || :
    CHILD=
}

# Every script that uses this file calls it first: a private directory, and an end that always
# says why. A path in $PARTIAL is removed at the end, however that comes.
begin() {
    CHILD=
    PARTIAL=
    WORK=$(mktemp -d /tmp/"${0##*/}".XXXXXX) || fail "Could not make a directory below /tmp."
    trap 'ended $?' EXIT
    trap 'stopped TERM' TERM
    trap 'stopped INT' INT
}

stopped() {
    trap '' TERM INT
    if [[ -n $CHILD ]]; then
        kill "$CHILD" 2>/dev/null || :
        wait "$CHILD" 2>/dev/null || :
    fi
    fail "Stopped by SIG$1 before it was done; the pod was deleted or ran into its deadline."
}

ended() {
    trap - EXIT
    [[ -z $PARTIAL ]] || rm -rf "$PARTIAL" || :
    if (($1 != 0)) && [[ ! -e $WORK/reported ]]; then
        report "{\"error\": \"${0##*/} stopped with exit code $1; see the log of this container.\"}"
    fi
    rm -rf "$WORK"
    exit "$1"
}
