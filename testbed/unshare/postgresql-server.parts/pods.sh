# shellcheck shell=bash
# Pods: what a kubelet does with them, without one. Sourced inside of the namespaces.
# Needs $WORLD, $IMAGE, $parts, $scripts.

name=order-db
subnet=10.77.0
address_of() { echo "$subnet.$((10 + $1))"; }
pod_of() { readlink "$WORLD/pods/$1" || echo "$WORLD/pods/none"; }

make_world() {
  mount -t tmpfs -o size=6g,mode=755 world "$WORLD"
  ip link set lo up
  ip link add bridge0 type bridge
  ip addr add "$subnet.1/24" dev bridge0
  ip link set bridge0 up
  mkdir "$WORLD"/{pods,volumes,scripts}
  cp "$scripts"/*.sh "$WORLD/scripts/"
  chmod 0555 "$WORLD"/scripts/*.sh
  cp "$parts/container.sh" "$WORLD/"
  : > "$WORLD/hosts"
}

# names: what the headless Service would publish. In place, because the file is mounted.
publish_names() {
  local i
  {
    echo '127.0.0.1 localhost'
    for i in 0 1 2 3 4 5 6; do
      [[ -e $(pod_of "$i")/published ]] && echo "$(address_of "$i") $name-$i.$name-headless.production.svc.cluster.local"
    done
    cat "$WORLD/hosts.more" 2> /dev/null
  } > "$WORLD/hosts.new" || :
  cat "$WORLD/hosts.new" > "$WORLD/hosts"
}

# swap DIRECTORY SOURCE: mounts' content, the way a kubelet updates it
swap() {
  local stamp=..$RANDOM$RANDOM key
  mkdir "$1/$stamp"
  cp "$2"/* "$1/$stamp/"
  chown -R 0:999 "$1/$stamp"
  chmod -R 0440 "$1/$stamp"
  chmod 0755 "$1/$stamp"
  for key in "$1"/*; do [[ -e $2/$(basename "$key") ]] || rm -f "$key"; done
  ln -s "$stamp" "$1/..tmp"
  mv -T "$1/..tmp" "$1/..data"
  for key in "$2"/*; do
    [[ -L $1/$(basename "$key") ]] || ln -s "..data/$(basename "$key")" "$1/$(basename "$key")"
  done
}

volume_of() { echo "$WORLD/volumes/$1"; }
# make_volume ORDINAL [TMPFS-OPTIONS]: an empty claim as fsGroup leaves it, with lost+found
make_volume() {
  local directory
  directory=$(volume_of "$1")
  mkdir -p "$directory"
  [[ -z ${2:-} ]] || mount -t tmpfs -o "$2" claim "$directory"
  mkdir -p "$directory/lost+found"
  chmod 0700 "$directory/lost+found"
  chown 0:999 "$directory"
  chmod 2775 "$directory"
}
remove_volume() {
  mountpoint -q "$(volume_of "$1")" && umount "$(volume_of "$1")"
  rm -rf "$(volume_of "$1")"
}

# run_container POD CONTAINER COMMAND…: in the foreground; output to the container's log
run_container() {
  local pod=$1 container=$2 code=0 unshared i image inside=container.sh
  i=$(cat "$pod/ordinal")
  image=$(cat "$pod/image")
  # rclone's image has other programs, and other mounts and variables
  case $container in archiver | fetch) image=$RCLONE_IMAGE inside=rclone-container.sh ;; esac
  shift 2
  : > "$pod/termination-$container"
  chmod 666 "$pod/termination-$container"
  echo "--- started" >> "$pod/log-$container"
  POD=$pod CONTAINER=$container VOLUME=$(volume_of "$i") NAME=$name-$i ADDRESS=$(address_of "$i") REVISION=$(cat "$pod/revision") \
    IMAGE=$image MAJOR=$(cat "$pod/major") \
    nsenter --net="/proc/$(cat "$pod/sandbox")/ns/net" --ipc="/proc/$(cat "$pod/sandbox")/ns/ipc" \
    unshare --mount --uts --pid --fork --kill-child \
    bash "$WORLD/$inside" "$@" >> "$pod/log-$container" 2>&1 < /dev/null &
  unshared=$!
  echo "$unshared" > "$pod/unshared-$container"
  wait "$unshared" || code=$?
  rm -f "$pod/unshared-$container"
  echo "--- ended with $code" >> "$pod/log-$container"
  [[ ! -s $pod/termination-$container ]] || cp "$pod/termination-$container" "$pod/last-message-$container"
  return "$code"
}

# keep_running POD CONTAINER COMMAND…: restartPolicy Always, without the growing pause
keep_running() {
  until [[ -e $1/stopping ]]; do
    run_container "$@" || :
    echo x >> "$1/restarts-$2"
    sleep 0.3
  done
}

# live POD: what a kubelet does from the init containers on
live() {
  local pod=$1 container command
  for container in setup ${init_containers-bootstrap}; do
    command=/opt/dbrender/$container.sh
    case $container in
      setup) command='/bin/bash /etc/dbrender/scripts/setup.sh' ;;
      fetch) command='/bin/sh /opt/dbrender/fetch.sh' ;;
    esac
    # shellcheck disable=SC2086 # a command and its argument
    until run_container "$pod" "$container" $command; do
      [[ -e $pod/stopping ]] && return
      echo x >> "$pod/restarts-$container"
      sleep 0.5
    done
  done
  [[ -n ${no_agent:-} ]] || keep_running "$pod" agent /opt/dbrender/agent.sh &
  [[ -z ${archives:-} ]] || keep_running "$pod" archiver /bin/sh /opt/dbrender/archiver.sh &
  keep_running "$pod" postgresql /opt/dbrender/start.sh &
  wait
}

# start_pod ORDINAL: returns at once; the pod's life goes on in the background. Its directory is a new one each time.
start_pod() {
  local pod i=$1
  pod=$WORLD/pods/life-$1.$((++lives))
  mkdir -p "$pod"/{config,credentials,tls,opt,patroni,run,tmp}
  ln -sfn "$pod" "$WORLD/pods/$1"
  chmod 2777 "$pod"/{opt,patroni,run}
  chown 0:999 "$pod"/{opt,patroni,run}
  chmod 1777 "$pod/tmp"
  echo "$i" > "$pod/ordinal"
  echo "${revision:-r1}" > "$pod/revision"
  echo "${image:-$IMAGE}" > "$pod/image"
  echo "${major:-$MAJOR}" > "$pod/major"
  swap "$pod/config" "$WORLD/config"
  swap "$pod/credentials" "$WORLD/credentials"
  [[ ! -e $WORLD/tls ]] || swap "$pod/tls" "$WORLD/tls"
  unshare --net --ipc sleep infinity &
  echo $! > "$pod/sandbox"
  eventually 5 test ! "/proc/self/ns/ipc" -ef "/proc/$(cat "$pod/sandbox")/ns/ipc"
  ip link del "veth$i" 2> /dev/null || :
  ip link add "veth$i" type veth peer name eth0 netns "$(cat "$pod/sandbox")"
  ip link set "veth$i" master bridge0 up
  nsenter --net="/proc/$(cat "$pod/sandbox")/ns/net" bash -c "ip link set lo up; ip addr add $(address_of "$i")/24 dev eth0; ip link set eth0 up; ip route add default via $subnet.1"
  : > "$pod/published"
  publish_names
  (set +e; live "$pod") 2>> "$pod/log-kubelet" &
}
lives=0

# process_of ORDINAL CONTAINER: its process 1, as seen from here
process_of() {
  local unshared
  unshared=$(cat "$(pod_of "$1")/unshared-$2" 2> /dev/null) || return 1
  pgrep -P "$unshared"
}
# signal SIGNAL ORDINAL CONTAINER: to its process 1
signal() {
  local process
  process=$(process_of "$2" "$3") || return 1
  kill "-$1" "$process" 2> /dev/null
}
# postmaster ORDINAL: the server's own process
postmaster() {
  local process
  for process in $(pgrep -f '^postgres -D /var/lib/postgresql/'); do
    [[ /proc/$process/ns/ipc -ef /proc/$(cat "$(pod_of "$1")/sandbox")/ns/ipc ]] && { echo "$process"; return; }
  done
  return 1
}

# stop_pod ORDINAL [SIGNAL]: a deletion: preStop, the signal, the end; the volume stays. Prints the seconds it took.
stop_pod() {
  local pod i=$1 container began=$SECONDS
  pod=$(pod_of "$1")
  : > "$pod/stopping"
  inside "$i" postgresql /opt/dbrender/leave.sh >> "$pod/log-leave" 2>&1 || :
  for container in setup fetch bootstrap agent archiver postgresql; do signal "${2:-TERM}" "$i" "$container" || :; done
  eventually "${grace:-60}" no_container "$pod" || : > "$pod/killed"
  end_pod "$i"
  echo $((SECONDS - began))
}
no_container() { ! compgen -G "$1/unshared-*" > /dev/null; }

# kill_pod ORDINAL: the node is gone
kill_pod() {
  : > "$(pod_of "$1")/stopping"
  end_pod "$1"
}

end_pod() {
  local pod unshared i=$1
  pod=$(pod_of "$1")
  # unplugged first: what a dying server still sends must not arrive
  ip link del "veth$i" 2> /dev/null || :
  # process 1 of each container; with it the kernel ends the others
  for unshared in "$pod"/unshared-*; do
    if [[ -s $unshared ]]; then pkill -KILL --parent "$(< "$unshared")" || :; fi
  done 2> /dev/null
  eventually 10 no_container "$pod" || echo "trial: a container of pod $i outlives it" >&2
  kill "$(cat "$pod/sandbox")" 2> /dev/null || :
  wait "$(cat "$pod/sandbox")" 2> /dev/null || :
  rm -f "$pod/published" "$WORLD/pods/$1"
  publish_names
  mkdir -p "$WORLD/ended"
  ln -sfn "$pod" "$WORLD/ended/$1"
}

# inside ORDINAL CONTAINER COMMAND…: kubectl exec
inside() {
  local process i=$1
  process=$(process_of "$1" "$2") || return 1
  shift 2
  nsenter --target "$process" --mount --pid --net --uts --root --wd -- setpriv --reuid=999 --regid=999 --clear-groups \
    env -i PATH="/usr/local/bin:/usr/bin:/bin:/usr/lib/postgresql/$MAJOR/bin" HOME=/tmp LANG=C.UTF-8 \
    POD_NAME="$name-$i" POD_NAMESPACE=production REVISION="$(cat "$(pod_of "$i")/revision")" "$@"
}

show_logs() {
  local file
  for file in "$WORLD"/pods/?/log-*; do
    [[ -e $file ]] || continue
    echo "----- ${file#"$WORLD"/pods/}"
    tail -n "${FAIL_LOGS:-20}" "$file"
  done
}
