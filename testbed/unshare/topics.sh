# shellcheck shell=bash
# What ran, by topic. In: topics.txt beside it, and the trial's own counts $passed and $failed.

topics=$(dirname "${BASH_SOURCE[0]}")/topics.txt

# ran TRIAL CASE PASSED FAILED: remembers a case with what it added to the counts
ran() {
  local topic
  topic=$(awk -v trial="$1" -v name="$2" '$1 == trial && $3 == name { print $2 }' "$topics")
  if [[ -z $topic ]]; then
    failed=$((failed + 1))
    printf 'the case %s is not in %s\n' "$2" "$topics"
  else
    ran_cases+=("$topic $3 $4 ${2//_/ }")
  fi
}
ran_cases=()

# print_topics WHAT: a line for each topic of which something ran; WHAT says which servers
print_topics() {
  printf '%s\n' "${ran_cases[@]}" | sort -n -k 1,1 -s | awk -v what="$1" -v topics="$topics" '
    BEGIN { while ((getline line < topics) > 0) if (split(line, f, " +") > 2 && f[1] == "=") { t = line; sub(/^= +[0-9]+ +/, "", t); title[f[2]] = t } }
    NF { passed[$1] += $2; failed[$1] += $3; n = $1; $1 = $2 = $3 = ""; sub(/^ +/, ""); cases[n] = cases[n] (cases[n] == "" ? "" : ", ") $0 }
    END { for (n = 1; n <= 9; n++) if (n in cases) printf "topic %s, %s, on %s: %s passed, %s failed: %s\n", n, title[n], what, passed[n], failed[n], cases[n] }'
}
