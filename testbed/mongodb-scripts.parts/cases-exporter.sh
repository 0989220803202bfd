# shellcheck shell=bash
# The exporter of the catalog with what is rendered for its container. No server is there: what it gives of one comes from its own code over the
# answer of a MongoDB 4.2 that it keeps as test data. In: $EXPORTER, a directory; RECORD, a folder for both lists.

rendered=$testbed/../fixtures/render/mongodb-monitoring/expected/production/order-db/statefulset-order-db.yaml
# of_exporter: the lines of its container
of_exporter() { awk '/^      - name: / { inside = $3 == "exporter" } inside' "$rendered"; }

# labelled: name and labels of each series of an answer of Prometheus' format, once, sorted
labelled() { grep '^mongodb_' "$1" | sed -E 's/"([^"\\]|\\.)*"//g; s/ [^ ]*$//; s/=//g; s/[{},]+/ /g; s/ +$//' | LC_ALL=C sort -u; }
scraped() { curl --silent --fail --max-time 20 http://127.0.0.1:9216/metrics >"$WORLD/series" && grep -Eq -- "$1" "$WORLD/series"; }
not_in() { ! grep -qF -- "$1" "$2"; }

case_the_exporter() {
  local arguments uri each
  mapfile -t arguments < <(of_exporter | awk '/^        - --/ { print $2 }')
  uri=$(of_exporter | awk '/name: MONGODB_URI/ { getline; print $2 }')
  check "arguments and address are the rendered ones" test "${#arguments[@]}" -gt 3 -a -n "$uri"
  MONGODB_URI=$uri MONGODB_USER=monitor MONGODB_PASSWORD="secret'%" "$EXPORTER/mongodb_exporter" "${arguments[@]}" >"$WORLD/exporter" 2>&1 &
  check "it takes the rendered arguments, and says that no server is there" await 60 "the exporter" scraped '^mongodb_up\{.*\} 0$'
  check "no password is among the series" not_in "secret'%" "$WORLD/series"
  check "and none in its log" not_in "secret" "$WORLD/exporter"
  labelled "$WORLD/series" >"$WORLD/mongodb-of-no-server.txt"
  "$EXPORTER/own_answers" "$EXPORTER/get_diagnostic_data.json" 2>"$WORLD/own" | LC_ALL=C sort -u >"$WORLD/mongodb-of-exporters-test-data.txt"
  for each in "$WORLD"/mongodb-of-*.txt; do
    [[ -z ${RECORD:-} ]] || cp "$each" "$RECORD/"
    check "${each##*/} is what was recorded" diff "$testbed/../fixtures/series/${each##*/}" "$each"
  done
}
