# shellcheck shell=bash
# The second life: backup, deletion (not with --restore-as), restore under another name, comparison; and growing and shrinking. Needs cluster.sh and the
# engine's file; in: $name, $again. Sets restored and scaled.

restore_elsewhere() {
  local word job
  fingerprint "$(primaries "$name")" >"$work/before" || give_up "the content of $name could not be read."
  cp "$work/rows" "$work/rows.before"
  quietly kube create job "$name-backup-by-hand" --from="cronjob/$name-backup"
  word=$(job_ends "$name-backup-by-hand")
  say "backup: $word"
  [[ $word == *'"id"'* ]] || give_up "the backup did not say what it made."

  quietly kube delete pod "client-of-$name"
  if [[ -z $restore_as ]]; then
    remove "$name"
    say "$name is deleted but for its backup claim; restoring as $again"
  else
    say "$name stays; restoring as $again, of version $restore_as"
    of_version=$restore_as
  fi
  database "$again" 1 "bootstrap: {fromBackup: {name: $name}}"
  apply "$again"
  job=$(kube get jobs --selector "app.example.com/database=$again,app.kubernetes.io/component=restore" --output name)
  word=$(job_ends "${job#job.batch/}")
  say "restore: $word"
  whole "$again" 1
  restore_is_closed "$again-0"
  client "$again"
  if [[ $plant == skipped-table ]]; then plant_skipped_table "$again"; fi
  compare "restored"
  restored=true
}

# comparable FILE: of a fingerprint what has to be the same; in another major that is the content, because its catalogs have more columns,
# rights and constraints
comparable() { if [[ -z $restore_as ]]; then cat "$1"; else grep -E '^[^:]*: (rows of|at|large object)' "$1"; fi; }

# compare WHAT: every table and all else of $again with what $name held
compare() {
  rows "$again" | LC_ALL=C sort >"$work/rows.after" || give_up "the rows could not be read through the Service of $again."
  cmp -s "$work/rows.before" "$work/rows.after" || give_up "what was $1 has $(wc -l <"$work/rows.after") rows, the original had $(wc -l <"$work/rows.before")."
  fingerprint "$(primaries "$again")" >"$work/after" || give_up "the content of $again could not be read."
  if ! diff <(comparable "$work/before") <(comparable "$work/after") >"$work/difference"; then
    head -n 20 "$work/difference" | cut -c 1-300 >&2
    give_up "what was $1 differs from the original in $(grep -c '^[<>]' "$work/difference") lines; the first are above."
  fi
  say "$1: $(grep -c 'rows of' "$work/before") tables and all else are the same ($(comparable "$work/before" | wc -l) lines)"
}

# scale_up_and_down: from one member to three and back, the highest ordinal leading when it has to leave
scale_up_and_down() {
  database "$again" 3 "bootstrap: {fromBackup: {name: $name}}"
  apply "$again"
  whole "$again" 3
  say "one member became three"
  lead "$again-2" "$again"
  whole "$again" 3
  say "$(primaries "$again") leads, and has to leave"
  database "$again" 1 "bootstrap: {fromBackup: {name: $name}}"
  apply "$again"
  quietly kube wait --for=delete "pod/$again-1" "pod/$again-2" --timeout="${patience}s" || give_up "the members of $again that are not wanted any more did not end."
  whole "$again" 1
  compare "left after three members became one"
  scaled=true
}
