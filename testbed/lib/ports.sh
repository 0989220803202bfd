# shellcheck shell=bash
# Free TCP ports of this machine, chosen so that two runs at once do not choose the same.
# Needs messages.sh and cache.sh; every run keeps its own in $cache/runs/RUN/ports.

# ports_in_use: the ports that something listens on, and those that a run has chosen
ports_in_use() {
  local hex
  while read -r hex; do echo $((16#$hex)); done < <(awk '$4 == "0A" { sub(/.*:/, "", $2); print $2 }' /proc/net/tcp /proc/net/tcp6 2>/dev/null)
  cat "$cache"/runs/*/ports 2>/dev/null || :
}

# choose_ports COUNT FILE: writes COUNT free ports, one a line, below the range that outgoing connections use
choose_ports() {
  local port
  local -A taken=()
  lock ports
  for port in $(ports_in_use); do taken[$port]=1; done
  : >"$2"
  while (($(wc -l <"$2") < $1)); do
    port=$((20000 + RANDOM % 12000))
    if [[ -z ${taken[$port]:-} ]]; then
      taken[$port]=1
      echo "$port" >>"$2"
    fi
  done
  unlock
}
