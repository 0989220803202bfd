# shellcheck shell=bash
# Container images and root file systems, each made once: a directory in the cache with root/ and image.tar.
# In: images.txt (names, recipes, references), $dbrender (the program for the image dbrender). Needs messages.sh, cache.sh,
# programs.sh, debian.sh, recipes.sh.

pause_image=$(awk '$1 == "pause" { print $4 }' "$testbed/images.txt")

# image_names: every image that can be made here; dbrender's only when there is a program for it, and MongoDB's where one is installed
image_names() {
  awk '!/^#/ && NF == 4 { print $1 }' "$testbed/images.txt" | { if command -v mongod >/dev/null; then cat; else grep -v '^mongodb-'; fi; } | { if [[ -n $dbrender ]]; then cat; else grep -vx dbrender; fi; }
}

# image NAME: prints its directory, after making it when the cache has none
image() {
  local name=$1 recipe argument reference key
  read -r _ recipe argument reference < <(awk -v name="$name" '$1 == name' "$testbed/images.txt") ||
    wrong_usage "there is no image $name; there are: $(image_names | tr '\n' ' ')"
  [[ $EUID == 0 ]] || cannot "an image holds files of other users, so it needs root: run this with sudo."
  if [[ $name == dbrender ]]; then
    [[ -x $dbrender ]] || wrong_usage "the image dbrender needs the program: give it with --dbrender FILE."
    key=$(hash_of "$dbrender" "$testbed/lib/recipes.sh" "$testbed/lib/debian.sh" <<<"$reference")
  else
    key=$({ recipe_"$recipe"_inputs "$argument"; echo "$recipe $argument $reference"; } | hash_of "$testbed/lib/debian.sh")
  fi
  cached "image-$name" "$key" make_image "$recipe" "$argument" "$reference"
}

# make_image RECIPE ARGUMENT REFERENCE OUT
make_image() {
  local out=$4 started=$SECONDS
  need_space 2000 "the image $3"
  say "making the image $3; the log is $cache/logs/image.log"
  mkdir "$out/root"
  # in the background, so that the recipe still ends at its first failure
  recipe_"$1" "$2" "$out/root" >"$cache/logs/image.log" 2>&1 &
  wait $! || {
    tail -n 5 "$cache/logs/image.log" >&2
    if grep -q 'No space left on device' "$cache/logs/image.log"; then fail "the disk is full: free some space and run again."; fi
    if grep -qE 'Failed to fetch|Temporary failure|ENOTFOUND|Could not resolve|unreachable' "$cache/logs/image.log"; then
      fail "the image $3 needs packages that cannot be fetched: run again with a network."
    fi
    fail "the image $3 could not be made; its last lines are above."
  }
  pack "$out" "$3" "$(recipe_"$1"_config "$2")"
  say "made in $((SECONDS - started)) s"
}

# pack DIRECTORY REFERENCE CONFIG: writes DIRECTORY/image.tar, which `ctr images import` and `docker load` read
pack() {
  local digest
  (
    cd "$1" || exit
    tar --directory root --numeric-owner --sort=name --one-file-system --create --file layer.tar .
    digest=$(sha256sum layer.tar | cut -d ' ' -f 1)
    cat >config.json <<EOF
{"created": "1970-01-01T00:00:00Z", "architecture": "$(dpkg --print-architecture)", "os": "linux", "config": $3,
 "rootfs": {"type": "layers", "diff_ids": ["sha256:$digest"]}, "history": [{"created": "1970-01-01T00:00:00Z", "created_by": "testbed"}]}
EOF
    echo "[{\"Config\": \"config.json\", \"RepoTags\": [\"$2\"], \"Layers\": [\"layer.tar\"]}]" >manifest.json
    tar --create --file image.tar manifest.json config.json layer.tar
    rm manifest.json config.json layer.tar
  )
}
