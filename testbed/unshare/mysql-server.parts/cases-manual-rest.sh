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
  within 90 "a member with the data leads when it is named" says 'set force-primary to 1/1|Primary, of term 2' "$(says_now 1)"
}
