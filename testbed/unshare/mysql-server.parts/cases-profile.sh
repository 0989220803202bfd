# shellcheck shell=bash
# From Manual to Automatic and back, by the recipe of docs/mysql.md: with one member, which keeps its volume; the volumes of the others are
# used again.

# rendered_for PROFILE REPLICAS: what is mounted, as it is rendered for that profile
rendered_for() {
  rm -f "$WORLD"/config/*
  profile=$1
  replicas=$2 primary=0 write_config
}

# keyless_question: the statement that docs/mysql.md shows
# shellcheck disable=SC2016 # not for this shell
keyless_question() { sed -n '/^```sql$/,/^```$/p' "$testbed/../docs/mysql.md" | grep -v '^```'; }

case_manual_to_automatic_and_back() {
  local i
  three_standbys
  insert 0 1 100
  for i in 1 2; do within 20 "rows on $i" holds "$i" 100; done
  query 0 'CREATE TABLE app.loose (a INT); INSERT INTO app.loose VALUES (1)' > "$WORLD/out"
  check "the question of docs/mysql.md finds a table without a primary key" same $'app\tloose' query 0 "$(keyless_question)"
  set_replicas 1
  deliver
  stop_pod 2 > "$WORLD/out"
  stop_pod 1 > "$WORLD/out"
  within 30 "replicas 1: the primary takes writes alone" same '' insert 0 101 110

  rendered_for automatic 1
  stop_pod 0 > "$WORLD/out"
  start 0
  within 120 "failover Automatic: a group of one with the data that is there" is 0 primary
  within 20 "it takes writes" same '' insert 0 111 120
  check "all rows are there" holds 0 120
  check "the application logs in" same 1 login 0 app "$awkward_password"
  check "a table without a primary key takes no writes" says 'requirements by an external plugin' <(query 0 'INSERT INTO app.loose VALUES (2)')
  check "until it has one" same '' query 0 'ALTER TABLE app.loose ADD COLUMN id BIGINT UNSIGNED AUTO_INCREMENT PRIMARY KEY INVISIBLE; INSERT INTO app.loose VALUES (2)'
  set_replicas 3
  deliver
  start 1 2
  within 180 "replicas 3: the others join on their former volumes" online 0 3
  for i in 1 2; do within 60 "with all rows on $i" holds "$i" 120; done
  kill -KILL "$(process_of 0 mysql)"
  within 60 "and another leads when one is killed" moved 1 0
  within 120 "all are in the group" online 1 3
  insert "$(primary_of 1 | head -n 1)" 121 130
  within 20 "with the new rows" holds 0 130

  set_replicas 1
  deliver
  stop_pod 2 > "$WORLD/out"
  stop_pod 1 > "$WORLD/out"
  within 60 "replicas 1: the lowest leads" is 0 primary
  within 20 "and takes writes" same '' insert 0 131 140
  check "with all rows" holds 0 140
  rendered_for manual 1
  stop_pod 0 > "$WORLD/out"
  start 0
  within 120 "failover Manual: a primary with the data that is there" leads 0
  within 20 "it takes writes" same '' insert 0 141 150
  check "all rows are there" holds 0 150
  set_replicas 3
  deliver
  start 1 2
  within 180 "replicas 3: the others follow on their former volumes" follows 1 0
  within 180 "both" follows 2 0
  for i in 1 2; do within 60 "with all rows on $i" holds "$i" 150; done
  set_primary 1
  deliver
  within 60 "and the primary can be moved" leads 1
  within 60 "and is followed" follows 0 1
}

# One that has never been anything but Automatic.
case_automatic_to_manual() {
  start 0
  within 90 "a group of one" is 0 primary
  within 30 "with the application's database" same '' query 0 'USE app'
  insert 0 1 50
  rendered_for manual 1
  stop_pod 0 > "$WORLD/out"
  start 0
  within 120 "failover Manual: it leads with the data that is there, and nobody has to force it" leads 0
  check "with all rows" holds 0 50
  rendered_for automatic 1
  stop_pod 0 > "$WORLD/out"
  start 0
  within 120 "and Automatic again" is 0 primary
  check "with all rows" holds 0 50
}

# What DBR412 refuses: with several members the highest ordinal restarts first, beside a primary of the other kind.
case_manual_to_automatic_at_once() {
  three_standbys
  insert 0 1 10
  rendered_for automatic 3
  stop_pod 2 > "$WORLD/out"
  start 2
  within 60 "failover Automatic with three members: the first that restarts waits, and says what to do" says 'order-db-0 led last, with failover: Manual.*Set failover back to Manual' "$(says_now 2)"
  sleep 5
  check "it is in no group" same OFFLINE state_of_member 2
  check "and takes no writes" not writable 2
  check "the primary stays" leads 0
  check "and takes writes" same '' insert 0 11 20
  rendered_for manual 3
  stop_pod 2 > "$WORLD/out"
  start 2
  within 90 "failover Manual again: it follows" follows 2 0
  within 20 "with all rows" holds 2 20
}

# A standby that is alone and becomes a group would be one without the last rows of its primary.
case_standby_to_automatic() {
  manual 2
  start 0 1
  within 120 "a primary" leads 0
  within 60 "and a standby" follows 1 0
  within 30 "with the application's database" same '' query 0 'USE app'
  insert 0 1 10
  within 20 "rows on both" holds 1 10
  set_primary 1
  deliver
  within 60 "the standby becomes the primary" leads 1
  within 60 "and is followed" follows 0 1
  within 30 "by one that has seen it lead" says '^1 ' "$(volume_of 0)/last-primary"
  stop_pod 0 > "$WORLD/out"
  insert 1 11 20
  stop_pod 1 > "$WORLD/out"
  rendered_for automatic 1
  start 0
  within 60 "alone, and Automatic, the former standby founds nothing and names who has led" says 'order-db-1 led last' "$(says_now 0)"
  sleep 5
  check "it takes no writes" not writable 0
  rendered_for manual 2
  set_primary 1
  stop_pod 0 > "$WORLD/out"
  start 0 1
  within 90 "Manual again, with both, nothing is lost" leads 1
  within 60 "on either" holds 0 20
}
