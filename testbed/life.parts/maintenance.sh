# shellcheck shell=bash
# What a database lives through later: a password made anew, and a newer image of its series. Needs cluster.sh, restore.sh and the engine's
# file; in: $again. Sets rotated and upgraded.

# rotate: the application's password, made anew in the Secret; the client's pod reads it again, and the server has followed
rotate() {
  local former made deadline=$((SECONDS + patience))
  former=$(kube get secret "$again-app" --output 'jsonpath={.data.password}')
  "$dbrender" credentials rotate --kubeconfig "$kubeconfig" --namespace "$namespace" --engine "$engine" --app-secret "$again-app" --admin-secret "$again-admin" password \
    >"$work/rotate.log" 2>&1 || give_up "the password could not be made anew: $(tail -n 1 "$work/rotate.log")"
  made=$(kube get secret "$again-app" --output 'jsonpath={.data.password}')
  [[ $made != "$former" ]] || give_up "the Secret $again-app still has the former password."
  until [[ $(in_client "$again" base64 --wrap=0 /secret/password </dev/null) == "$made" ]] && rows "$again" >"$work/rows.rotated" 2>"$work/rotate.log"; do
    ((SECONDS < deadline)) || give_up "the application cannot log in with its new password: $(tail -n 1 "$work/rotate.log")"
    sleep 2
  done
  compare "there after a new password"
  rotated=true
}

# upgrade: from the image that the platform file names to the catalog's
upgrade() {
  local before after
  before=$(image_of)
  platform=()
  apply "$again"
  whole "$again" 1
  after=$(image_of)
  [[ $before == "$upgrade_from" && $after != "$before" ]] || give_up "the server's image was $before and is $after."
  compare "there after $before became $after"
  upgraded=true
}
image_of() { kube get pod "$again-0" --output "jsonpath={.spec.containers[?(@.name=='$container')].image}"; }

# older IMAGE: a platform file that puts IMAGE in the place of the catalog's
older() {
  local catalog
  catalog=$("$dbrender" render --quiet "$work/$name.yaml" -o json | sed -n 's/.*"image": "\([^"]*\)".*/\1/p' | grep -F "${1%:*}:" | sort -u | head -n 1)
  [[ -n $catalog ]] || fail "the catalog has no image of ${1%:*}."
  printf 'apiVersion: dbrender.app.example.com/v1alpha1\nkind: Platform\nimages: {"%s": "%s"}\n' "$catalog" "$1" >"$work/platform.yaml"
  platform=(--platform "$work/platform.yaml")
}
