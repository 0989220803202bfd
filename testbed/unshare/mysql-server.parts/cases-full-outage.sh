# shellcheck shell=bash
# All members gone, and back in every order: the one with the most transactions leads, or somebody is waited for by name.

case_full_outage_in_every_order() {
  local order rows=20
  three
  insert 0 1 $rows
  within 20 "rows" holds 2 $rows
  for order in '0 1 2' '0 2 1' '1 0 2' '1 2 0' '2 0 1' '2 1 0'; do
    # shellcheck disable=SC2086 # three words
    set -- $order
    # the last to go has the most
    kill_pod "$1"
    sleep 7
    eventually 30 moved "$3" "$1"
    insert "$(primary_of "$3" | head -n 1)" $((rows + 1)) $((rows + 10))
    rows=$((rows + 10))
    stop_pod "$2" > "$WORLD/out"
    eventually 40 is "$3" primary
    insert "$3" $((rows + 1)) $((rows + 10))
    rows=$((rows + 10))
    kill_pod "$3"
    start "$1"
    within 60 "$order: the first to go waits for the others" says 'somebody may have more than this member|have transactions that this member lacks|not answering|never finished joining' "$(says_now "$1")"
    start "$2"
    within 60 "$order: the second is there" same OFFLINE state_of_member "$2"
    sleep 6
    check "$order: two of three do not begin without the third" same OFFLINE state_of_member "$2"
    start "$3"
    within 120 "$order: all are in one group again" online "$1" 3
    within 20 "$order: with every row" holds "$1" $rows
    check "$order: on all" same "$(checksum "$1")" checksum "$3"
  done
}
