# shellcheck shell=bash
# Root file systems from Debian packages that are unpacked, not installed: no maintainer script runs, nothing is started,
# and the machine's own packages are not touched. Needs messages.sh, cache.sh.

# What every root file system has: what a slim Debian image has, without the package manager.
debian_base=(base-files base-passwd bash dash coreutils debianutils diffutils findutils grep gzip hostname libc-bin libc6 mawk
  ncurses-base openssl sed tar tzdata util-linux xz-utils zstd)

# What dependencies name and no program here runs.
debian_without='^(adduser|cdebconf|dbus.*|debconf.*|dmsetup|dpkg|gcc-.*-base|init-system-helpers|install-info|libapparmor1|libcommon-sense-perl'
debian_without+='|libcryptsetup.*|libdb5.3.*|libdevmapper.*|libfdisk1|libgdbm.*|libio-pty-perl|libipc-run-perl|libjson.*-perl|libjson-c5|libkmod2'
debian_without+='|libllvm.*|libperl.*|libsystemd-shared|libtypes-serialiser-perl|lsb-base|media-types|mount|netbase|passwd|perl.*|postgresql-.*-jit'
debian_without+='|postgresql-client-common|postgresql-common.*|psmisc|sensible-utils|ssl-cert|systemd.*|sysvinit-utils|tzdata-legacy|ucf)$'

# debian_mirror: where this machine gets its own Debian packages from
debian_mirror() {
  local mirror=${DEBIAN_MIRROR:-}
  command -v apt-get >/dev/null || cannot "images are made of Debian packages, and there is no apt-get on this machine: without it no image, and tier 3 cannot run."
  if [[ -z $mirror ]]; then
    # shellcheck disable=SC2016 # apt's own placeholders
    mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Origin: Debian' 2>/dev/null | grep -v security | head -n 1)
  fi
  [[ -n $mirror ]] || cannot "this machine's package sources name no Debian mirror: run 'apt-get update', or set DEBIAN_MIRROR to one."
  printf '%s\n' "$mirror"
}

# apt SUITE ARGUMENT…: apt-get with a state of its own for the suite, one call at a time
apt() {
  local suite=$1 state=$cache/apt/$1
  shift
  flock "$cache/locks/apt" env APT_CONFIG="$state/apt.conf" apt-get --quiet=2 \
    -o Dir::State="$state" -o Dir::State::status="$state/status" -o Dir::Cache="$state/cache" \
    -o Dir::Etc::sourcelist="$state/sources.list" -o Dir::Etc::sourceparts="$state/none" -o Dir::Etc::preferencesparts="$state/none" \
    -o Acquire::Check-Valid-Until=false -o Acquire::Languages=none -o Acquire::Retries=3 -o APT::Install-Recommends=false \
    -o APT::Sandbox::User=root "$@"
}

# apt_lists SUITE: the suite's list of packages, at most a day old
apt_lists() {
  local state=$cache/apt/$1 mirror
  mirror=$(debian_mirror)
  mkdir -p "$state"/{lists/partial,cache/archives/partial,packages,none}
  : >"$state/status"
  : >"$state/apt.conf"
  echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror $1 main" >"$state/sources.list"
  if [[ -z $(find "$state/updated" -mtime -1 2>/dev/null) ]]; then
    apt "$1" update -o APT::Update::Error-Mode=any
    touch "$state/updated"
    find "$state/packages" -name '*.deb' -mtime +30 -delete
  fi
}

# debian_packages SUITE ROOT PACKAGE…: unpacks the packages and what they depend on
debian_packages() {
  local suite=$1 root=$2 state=$cache/apt/$1 name
  local -a names
  shift 2
  apt_lists "$suite"
  apt "$suite" --print-uris install "$@" >"$root.uris"
  mapfile -t names < <(awk '/^.http/ { print $2 }' "$root.uris" | cut -d _ -f 1 | sort -u | grep -vE "$debian_without")
  rm "$root.uris"
  ((${#names[@]} > 0))
  # apt-get download leaves alone what is there and whole
  if ! (cd "$state/packages" && apt "$suite" download "${names[@]}"); then
    # the list may be older than the mirror
    rm "$state/updated"
    apt_lists "$suite"
    (cd "$state/packages" && apt "$suite" download "${names[@]}")
  fi
  for name in "${names[@]}"; do unpack_package "$suite" "$name" "$root"; done
}

# unpack_package SUITE NAME ROOT: the newest that was downloaded, without documentation and translations
unpack_package() {
  local file
  file=$(find "$cache/apt/$1/packages" -name "$2_*.deb" -printf '%T@ %p\n' | sort -n | tail -n 1 | cut -d ' ' -f 2)
  dpkg-deb --fsys-tarfile "$file" | tar --directory "$3" --keep-directory-symlink --extract --file - \
    --exclude='./usr/share/doc/*' --exclude='./usr/share/man/*' --exclude='./usr/share/locale/*' --exclude='./usr/share/info/*' \
    --exclude='./usr/share/i18n/*' --exclude='./usr/share/postgresql/*/man/*' --exclude='./usr/share/lintian/*'
}

# debian_root SUITE ROOT PACKAGE…: a whole root file system in the empty directory ROOT
debian_root() {
  local suite=$1 root=$2 directory
  shift 2
  for directory in bin sbin lib lib64; do
    mkdir -p "$root/usr/$directory"
    ln -s "usr/$directory" "$root/$directory"
  done
  mkdir "$root/var"
  ln -s /run "$root/var/run"
  debian_packages "$suite" "$root" "${debian_base[@]}" "$@"
  # what the maintainer scripts would have done
  cp "$root/usr/share/base-passwd/passwd.master" "$root/etc/passwd"
  cp "$root/usr/share/base-passwd/group.master" "$root/etc/group"
  ln -sf dash "$root/usr/bin/sh"
  ln -sf mawk "$root/usr/bin/awk"
  echo '127.0.0.1 localhost' >"$root/etc/hosts"
  echo 'hosts: files dns' >"$root/etc/nsswitch.conf"
  mkdir -p "$root"/{tmp,run,proc,sys,dev}
  chmod 1777 "$root/tmp"
  ldconfig -r "$root"
}
