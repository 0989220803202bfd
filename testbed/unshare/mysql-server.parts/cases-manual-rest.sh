# shellcheck shell=bash
# A former primary that has what nobody else has.
case_manual_errant() {
  three_standbys
  insert 0 1 50
  within 20 "rows" holds 1 50
  kill_pod 1
  kill_pod 2
  insert 0 51 60
  kill_pod 0
  set_primary 1
  start 1 2
  within 60 "the standbys are back" says 'was the last primary and does not answer' "$(says_now 1)"
  force 1/1
  deliver
  within 40 "forced, it leads without the last rows" leads 1
  check "as said" holds 1 50
  force ''
  deliver
  insert 1 61 70
  start 0
  within 60 "the former primary is not taken in, and what only it has is named" says 'Not following: this member holds transactions' "$(says_now 0)"
  check "its data is kept" same 60 rows 0
  check "it takes no writes" not writable 0
}

case_manual_empty_primary() {
  three_standbys
  insert 0 1 50
  within 20 "rows" holds 2 50
  kill_pod 0
  remove_volume 0
  start 0
  within 60 "an emptied primary is not opened beside data" says 'has all|these have transactions|data is on' "$(says_now 0)"
  check "it takes no writes" not writable 0
  kill_pod 1
  kill_pod 2
  kill_pod 0
  remove_volume 0
  start 0
  within 60 "nor while those that are to exist are missing" says 'do not exist yet' "$(says_now 0)"
  start 1 2
  set_primary 1
  deliver
  within 90 "a member with the data waits for a word, because the last primary came back empty" says 'order-db-0 was the last primary.*set force-primary to 1/1' "$(says_now 1)"
  force 1/1
  deliver
  within 60 "with it, it leads" leads 1
  within 20 "with its rows" holds 1 50
  within 120 "the emptied one is copied" follows 0 1
  within 20 "with the rows" holds 0 50
}

# One that was away does not know who led meanwhile: another one tells it.
case_manual_unseen_primary() {
  three_standbys
  insert 0 1 50
  set_primary 1
  deliver
  within 60 "the second leads" leads 1
  within 40 "the first follows it" follows 0 1
  within 20 "and has seen it lead" says '^1 ' "$(volume_of 0)/last-primary"
  kill_pod 0
  set_primary 2
  deliver
  within 60 "without the first, the third leads" leads 2
  within 60 "the second follows it" follows 1 2
  insert 2 51 60
  within 20 "and has its rows" holds 1 60
  kill_pod 2
  set_primary 0
  deliver
  start 0
  within 90 "the first takes what the second has" same 60 rows 0
  within 40 "and waits for the third, which it never saw" says 'order-db-2 was the last primary.*set force-primary to 0/3' "$(says_now 0)"
  check "it does not lead" not leads 0
  start 2
  within 90 "when that one is back, it leads" leads 0
  within 20 "with all rows" holds 0 60
}

# From one member to three and back, and the primary moved and its pod removed by one change.
case_manual_scale() {
  manual 1
  start 0
  within 90 "one member" leads 0
  within 30 "with the application's database" same '' query 0 'USE app'
  insert 0 1 30
  set_replicas 3
  deliver
  start 1 2
  within 120 "three" follows 1 0
  within 60 "both follow" follows 2 0
  within 20 "with the rows" holds 2 30
  set_primary 2
  deliver
  within 60 "the highest leads" leads 2
  within 40 "the lowest follows" follows 0 2
  insert 2 31 40
  # what it has and nobody else
  stop_pod 1 > "$WORLD/out"
  freeze 0
  within 40 "a commit goes on when standbys are silent" insert 2 41 45
  set_replicas 1
  set_primary 0
  deliver
  stop_pod 2 > "$WORLD/out"
  thaw 0
  within 60 "moved and removed by one change: the lowest waits for the one that led" says 'order-db-2 was the last primary' "$(says_now 0)"
  check "it does not lead" not leads 0
  start 2
  within 90 "when that one is back, the lowest leads" leads 0
  within 20 "with its last rows" holds 0 45
  stop_pod 2 > "$WORLD/out"
  insert 0 46 50
  check "one member again, with all rows" holds 0 50
  signal TERM 0 mysql
  within 60 "it comes back alone" leads 0
  check "with all rows" holds 0 50
  set_replicas 2
  deliver
  start 1
  within 90 "a former member joins with its old volume" follows 1 0
  within 20 "and has what it missed" holds 1 50
}

# An agent that does not know what it copied is asked to lead.
case_manual_copy_killed() {
  three_standbys
  inside 0 mysql mysql --no-defaults -S /var/run/mysqld/mysqld.sock -u mysql app -e "CREATE TABLE app.large (n INT PRIMARY KEY, t LONGTEXT); SET SESSION cte_max_recursion_depth = 10000;
    INSERT INTO app.large WITH RECURSIVE r (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 300) SELECT n, REPEAT(SHA2(n, 256), 10000) FROM r"
  insert 0 1 50
  within 60 "rows" holds 2 50
  kill_pod 2
  remove_volume 2
  query 0 'FLUSH LOGS' > "$WORLD/out"
  query 0 "PURGE BINARY LOGS BEFORE NOW() + INTERVAL 1 DAY" > "$WORLD/out"
  start 2
  within 90 "an emptied standby is being copied" test -e "$(volume_of 2)/cloning"
  kill_pod 2
  set_primary 2
  deliver
  start 2
  within 90 "killed in the middle and named as primary, it does not lead" says 'the copy did not end; it cannot lead. Set primary to 0' "$(says_now 2)"
  check "the primary goes on" leads 0
  set_primary 0
  deliver
  within 120 "named as standby, it is copied again" follows 2 0
  within 30 "with all rows" holds 2 50
}
