# shellcheck shell=bash
# A client that writes while things happen, and what it was told.

# a writer that counts what was acknowledged, through whichever member takes writes, as a client of the Service
start_writer() {
  : > "$WORLD/acknowledged"
  query "$1" 'CREATE TABLE IF NOT EXISTS app.numbers (n INT PRIMARY KEY)' > /dev/null
  (
    umask 077
    printf '[client]\nuser=app\npassword="%s"\n' "$(escaped=${awkward_password//\\/\\\\}; printf '%s' "${escaped//\"/\\\"}")" > "$WORLD/writer.cnf"
  )
  chroot_client true
  (
    set +e
    n=1000000
    while [[ ! -e $WORLD/stop-writer ]]; do
      for i in 0 1 2; do
        is "$i" primary 2> /dev/null || continue
        n=$((n + 1))
        if timeout 3 chroot "$WORLD/client" mysql --defaults-file="$WORLD/writer.cnf" -h "$(address_of "$i")" -N -B --connect-timeout=1 -e "INSERT INTO app.numbers VALUES ($n)" > /dev/null 2>&1; then
          echo "$n $(date +%s.%N)" >> "$WORLD/acknowledged"
        fi
      done
      sleep 0.05
    done
  ) &
  writer=$!
}
stop_writer() {
  : > "$WORLD/stop-writer"
  wait "$writer" || :
  rm "$WORLD/stop-writer"
}
# gap: longest time between two acknowledged rows, in seconds
gap() { awk 'NR > 1 && $2 - last > most { most = $2 - last } { last = $2 } END { printf "%.1f", most }' "$WORLD/acknowledged"; }
# lost ORDINAL: acknowledged rows that the member has not
lost() { comm -23 <(cut -d ' ' -f 1 "$WORLD/acknowledged" | sort) <(query "$1" 'SELECT n FROM app.numbers WHERE n > 1000000' | sort) | wc -l; }
