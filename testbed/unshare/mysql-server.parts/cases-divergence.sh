# shellcheck shell=bash
# A joiner that leads without the data: the find that the rules of the group are made of, without them and with them.

# drop_rules: the scripts without the rules against a member that leads without the data: the wait of the last full member, the file
# `joining`, the view on the volume, another group name each time, and a new primary that stays read-only. To see what they are for.
drop_rules() {
  local agent=$WORLD/scripts/agent-automatic.sh
  # shellcheck disable=SC2016 # texts of the script
  sed -i -e 's/^    before="SET GLOBAL super_read_only.*/    before=""/' -e 's/^    put "\$joining" .*/    :/' -e 's/^  put "\$marker" "\$text"/  :/' \
    -e 's/^    \[ -n "\$members" \] || missing.*/    :/' -e 's,< /proc/sys/kernel/random/uuid,echo aaaaaaaa-0000-4000-8000-000000000001,' "$agent"
  sed -i -e 's/LEAVE_WAIT:-40/LEAVE_WAIT:-0/' "$WORLD/scripts/leave.sh"
  check "five rules are gone" same 5 changed_lines "$agent" "$scripts/agent-automatic.sh"
  check "and the wait" same 1 changed_lines "$WORLD/scripts/leave.sh" "$scripts/leave.sh"
}
changed_lines() { diff "$2" "$1" | grep -c '^>'; }
whole_rules() {
  cp "$scripts"/*.sh "$WORLD/scripts/"
  chmod 0555 "$WORLD"/scripts/*.sh
}

# single_rows ORDINAL FROM TO: a transaction for each row
single_rows() {
  query "$1" 'DROP PROCEDURE IF EXISTS app.fill; CREATE TABLE IF NOT EXISTS app.numbers (n INT PRIMARY KEY)' > /dev/null
  inside "$1" mysql mysql --no-defaults -S /var/run/mysqld/mysqld.sock -u mysql app > /dev/null << SQL
DELIMITER //
CREATE PROCEDURE fill(f INT, t INT) BEGIN WHILE f <= t DO INSERT INTO numbers VALUES (f); SET f = f + 1; END WHILE; END//
DELIMITER ;
CALL fill($2, $3);
SQL
}

# recovering_joiner: 0 leads and has 600 rows, 100 of which 1 has too; 1 joins, and what it logs in to 0 with is wrong until `let_go`.
recovering_joiner() {
  replicas=2 write_config
  start 0 1
  within 120 "two members" online 0 2
  within 30 "with the application's database" same '' query 0 'USE app'
  single_rows 0 1 100
  within 20 "with the same rows" holds 1 100
  sleep 2
  stop_pod 1 > "$WORLD/out"
  single_rows 0 101 600
  no_agent=yes start 1
  within 60 "the server of the second is back" same 1 query 1 'SELECT 1'
  # shellcheck disable=SC2016 # a text of the script
  sed -i 's/PASSWORD = \$secret/PASSWORD = '"'wrong'/" "$(pod_of 1)/opt/agent-automatic.sh"
  grep -q "PASSWORD = 'wrong'" "$(pod_of 1)/opt/agent-automatic.sh"
  keep_running "$(pod_of 1)" agent /opt/dbrender/agent.sh 2> "$WORLD/out" &
  within 60 "it recovers from the first" same RECOVERING state_of_member 1
}
let_go() {
  cp "$WORLD/scripts/agent-automatic.sh" "$(pod_of "${1:-1}")/opt/agent-automatic.sh"
  signal TERM "${1:-1}" agent
}

# A joiner that has everything, but was never ONLINE, and whose ordinal is the lower one: it must neither lead nor be waited for.
case_joiner_that_has_everything() {
  local had
  replicas=2 write_config
  start 0 1
  within 120 "two members" online 0 2
  within 30 "with the application's database" same '' query 0 'USE app'
  single_rows 0 1 50
  within 20 "with the same rows" holds 1 50
  sleep 2
  stop_pod 0 > "$WORLD/out"
  within 30 "the second leads" is 1 primary
  had=$(query 1 "SELECT REPLACE(@@gtid_executed, '\n', '')")
  began_to_join
  kill_pod 1
  start 0 1
  within 60 "the first does not lead" says 'never finished joining' "$(log_of 0 agent)"
  within 90 "the second does, and both are in one group" online 1 2
  within 20 "with all of the rows" holds 0 50

  # and when nobody else has the data any more
  kill_pod 1
  kill_pod 0
  began_to_join
  remove_volume 1
  start 0 1
  within 60 "it says what a person can do" says 'remove /var/lib/mysql/joining in this pod' "$(says_now 0)"
  check "it does not lead" not is 0 primary
  inside 0 mysql rm /var/lib/mysql/joining
  within 90 "when a person has done it, it leads, and the other joins" online 0 2
  within 20 "with all of the rows" holds 1 50
}
# began_to_join: what the first member leaves when it is killed right after it began to join; a server that lacks nothing is ONLINE within a moment
began_to_join() {
  echo "$had" > "$(volume_of 0)/joining"
  chown 999:999 "$(volume_of 0)/joining"
}
case_silent_divergence_without_the_rules() {
  drop_rules
  recovering_joiner
  stop_pod 0 > "$WORLD/out"
  within 60 "WITHOUT THE RULES the joiner becomes a primary that takes writes" writable 1
  check "WITHOUT THE RULES it lacks acknowledged rows" test "$(rows 1)" -lt 600
  query 1 'INSERT INTO app.numbers SELECT 100000 + n FROM app.numbers' > "$WORLD/out"
  single_rows 1 200001 200700
  start 0
  within 90 "WITHOUT THE RULES the former primary joins it without a word" online 0 2
  check "WITHOUT THE RULES the two members, both ONLINE, hold different rows" test "$(checksum 0)" != "$(checksum 1)"
  whole_rules
}

case_silent_divergence() {
  local how
  for how in stop kill; do
    recovering_joiner
    if [[ $how == stop ]]; then stop_pod 0 > "$WORLD/out"; else kill -KILL "$(process_of 0 mysql)"; fi
    within 90 "$how: the joiner, alone, does not believe that it has the data" says 'no other member is ONLINE|never finished joining|members that have the data are gone' "$(log_of 1 agent)"
    check "$how: it takes no writes" not writable 1
    check "$how: and is not called primary" not is 1 primary
    let_go
    [[ $how != stop ]] || start 0
    within 120 "$how: the one that has the rows leads again" is 0 primary
    within 120 "$how: both are in one group" online 0 2
    within 30 "$how: with all of the rows" holds 0 600
    within 30 "$how: on both" holds 1 600
    check "$how: and the same checksum" test "$(checksum 0)" == "$(checksum 1)"
    remove_database
    fresh_database
  done
}
