# shellcheck shell=bash
# The cluster of a trial: what is applied, what is waited for, and what its members say when something went wrong.
# Needs lib/messages.sh; in: $of_version (of what is rendered next), $kubeconfig, $kubectl, $namespace, $dbrender, $work, $image, $platform (options of render).

patience=${PATIENCE:-900} # seconds that anything may take; this machine may be busy with other things

# DBRENDER_ON_NODE: a command that runs others on the one node of another cluster, for example `docker exec -i kind-control-plane`
on_node() {
  # shellcheck disable=SC2086 # words
  if [[ -n ${DBRENDER_ON_NODE:-} ]]; then $DBRENDER_ON_NODE "$@"; else "$testbed/on-node" "$kubeconfig" "$@"; fi
}
kube() { "$kubectl" --kubeconfig "$kubeconfig" --namespace "$namespace" "$@"; }
quietly() { "$@" >/dev/null; }

# database NAME REPLICAS [LINE…]: writes the Database's file; LINEs stand below `spec`
database() {
  local name=$1 replicas=$2
  shift 2
  {
    printf 'apiVersion: app.example.com/v1alpha1\nkind: Database\nmetadata: {name: %s, namespace: %s}\nspec:\n' "$name" "$namespace"
    printf '  engine: %s\n  version: "%s"\n  failover: %s\n  replication: %s\n  replicas: %s\n' "$engine" "$of_version" "$failover" "$replication" "$replicas"
    printf '  storage: {size: 1Gi, storageClass: standard}\n  resources: {cpu: 500m, memory: %s}\n' "${memory:-512Mi}"
    printf '  backup: {enabled: true, schedule: "0 3 * * *", retention: 3}\n'
    if (($# > 0)); then printf '  %s\n' "$@"; fi
  } >"$work/$name.yaml"
}

# apply NAME: renders the Database's file and applies what comes out
apply() {
  "$dbrender" render --quiet "${platform[@]}" "$work/$1.yaml" -o yaml >"$work/$1.objects.yaml" || give_up "dbrender render refuses $work/$1.yaml, as it says above."
  kube apply --server-side --filename "$work/$1.objects.yaml" >"$work/apply.log" 2>&1 ||
    { tail -n 20 "$work/apply.log" >&2; give_up "the API server does not take what was rendered for $1."; }
}

# ready NAME: waits until every member is; the controller must have seen the last apply
ready() {
  quietly kube rollout status "statefulset/$1" --timeout="${patience}s" || give_up "not every member of $1 became ready within $patience s."
}

# whole NAME MEMBERS: waits until every member is ready, one takes writes and feeds all others, and another could take over from it
whole() {
  local deadline=$((SECONDS + patience)) first
  ready "$1"
  while :; do
    mapfile -t first < <(primaries "$1")
    if ((${#first[@]} == 1)) && [[ $(streaming "${first[0]}" 2>/dev/null || :) == $(($2 - 1)) ]] && { (($2 == 1)) || heir "$1"; }; then return; fi
    ((SECONDS < deadline)) || give_up "of $1, ${#first[@]} members take writes (${first[*]}), and not all others follow one, or none of them may take over."
    sleep 1
  done
}

# primaries NAME: names of the members that take writes, by what each server says
primaries() {
  local member
  for member in $(members "$1"); do
    if [[ $(ask "$member" 2>/dev/null || :) == t ]]; then printf '%s\n' "$member"; fi
  done
}

members() {
  kube get pods --selector "app.example.com/database=$1,app.kubernetes.io/component=database" --output name --sort-by .metadata.name | sed 's,^pod/,,'
}

# job_ends NAME: waits for the Job; prints the last word of its last pod
job_ends() {
  local deadline=$((SECONDS + patience)) state=''
  while [[ -z $state ]]; do
    state=$(kube get job "$1" --output 'jsonpath={.status.conditions[?(@.status=="True")].type}')
    case $state in
      *Complete*) break ;;
      *Failed*) give_up "the Job $1 failed." ;;
    esac
    state=''
    ((SECONDS < deadline)) || give_up "the Job $1 did not end within $patience s."
    sleep 1
  done
  kube get pods --selector "job-name=$1" --sort-by .metadata.creationTimestamp \
    --output 'jsonpath={range .items[*].status.containerStatuses[*]}{.state.terminated.message}{"\n"}{end}' | grep . | tail -n 1
}

# remove NAME: every object and the data volumes, but not the backup claim
remove() {
  local left
  quietly kube delete statefulset,cronjob,job,service,configmap,secret,serviceaccount,role,rolebinding,networkpolicy,poddisruptionbudget \
    --selector "app.example.com/database=$1" --timeout="${patience}s" || give_up "the objects of $1 could not be deleted."
  quietly kube wait --for=delete pod --selector "app.example.com/database=$1" --timeout="${patience}s" || give_up "the pods of $1 did not end."
  # shellcheck disable=SC2046 # names
  quietly kube delete $(kube get pvc --output name | grep "^persistentvolumeclaim/data-$1-[0-9]*\$") --timeout="${patience}s" ||
    give_up "the data volumes of $1 could not be deleted."
  left=$(kube get --filename "$work/$1.objects.yaml" --ignore-not-found --output name)
  [[ $left == "persistentvolumeclaim/$1-backup" ]] || give_up "after the deletion of $1 there should be its backup claim and nothing else, but there is: $left"
}

# have_images FILE: ends when the node has not all images that the manifests name. Another cluster than the test bed's pulls them itself.
have_images() {
  local reference there
  there=$(on_node ctr --namespace k8s.io images list --quiet)
  if [[ -n ${DBRENDER_ON_NODE:-} ]]; then there+=$'\n'$(sed -n 's/^ *image: *//p' "$1" | tr -d \"); fi
  for reference in $(sed -n 's/^ *image: *//p' "$1" | tr -d \" | sort -u); do
    grep -qxF "$reference" <<<"$there" || fail "the node lacks the image $reference: start it with --images $images,dbrender --dbrender $dbrender."
    if [[ $reference != */dbrender:* ]]; then image=$reference; fi
  done
}

# client NAME: a pod with the Secret for applications of that Database, which writes and reads through its Service
client() {
  kube apply --server-side --filename - >/dev/null <<EOF
apiVersion: v1
kind: Pod
metadata: {name: client-of-$1}
spec:
  automountServiceAccountToken: false
  containers:
    - name: client
      image: $image
      command: [/bin/bash, -c, "trap exit TERM; while :; do sleep 1; done"]
      securityContext: {runAsUser: 999, runAsGroup: 999}
      volumeMounts:
        - {name: secret, mountPath: /secret}
        - {name: work, mountPath: /rows}
  terminationGracePeriodSeconds: 2
  volumes:
    - {name: secret, secret: {secretName: $1-app}}
    - {name: work, hostPath: {path: $work/client, type: Directory}}
EOF
  quietly kube wait --for=condition=Ready "pod/client-of-$1" --timeout="${patience}s" || give_up "the client of $1 did not start."
}
in_client() { kube exec --stdin "client-of-$1" -- "${@:2}"; }

# what_they_say: everything that helps to see why, at most some two hundred lines, on stderr
what_they_say() {
  {
    echo '== pods, jobs, claims'
    kube get pods,jobs,pvc --output wide --label-columns app.example.com/role | cut -c 1-180 | head -n 40
    echo '== last words'
    kube get pods --output 'jsonpath={range .items[*]}{range .status.initContainerStatuses[*]}{"init "}{.name}{": "}{.state.terminated.message}{.lastState.terminated.message}{"\n"}{end}{range .status.containerStatuses[*]}{.name}{": "}{.state.waiting.reason}{" "}{.state.terminated.message}{.lastState.terminated.message}{"\n"}{end}{end}' |
      grep ': *[^ ]' | cut -c 1-400 | head -n 20
    echo '== warnings'
    kube get events --field-selector type=Warning --sort-by .lastTimestamp --output 'custom-columns=:.lastTimestamp,:.involvedObject.name,:.message' | cut -c 1-250 | tail -n 15
    local pod container
    for pod in $(kube get pods --output name | grep -v client-of); do
      for container in $(kube get "$pod" --output 'jsonpath={.spec.initContainers[*].name} {.spec.containers[*].name}'); do
        echo "== $pod $container"
        kube logs "$pod" --container "$container" --tail 12 | cut -c 1-300
      done
    done | head -n 170
  } >&2 2>/dev/null
}
