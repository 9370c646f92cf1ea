#!/bin/bash
# shellcheck source-path=SCRIPTDIR
# image.sh: makes the test guest, Debian 12 with systemd and cgroup v2, and prints the directory it is in.
#
# root.ext4 is the guest's disk, vmlinuz the stock Debian kernel. Kept under a name made from all that went into it.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=../../config/setup/common.sh
. "$here/../../config/setup/common.sh"
# shellcheck source=../../config/setup/packages.sh
. "$here/../../config/setup/packages.sh"
umask 022
suite=bookworm
keyring=/usr/share/keyrings/debian-archive-keyring.gpg

image_key() {
  (
    cd "$here"
    echo "$suite $(dpkg --print-architecture)"
    sha256sum image.sh guest/*
  ) | sha256sum | cut -c1-16
}

# Debian's own archives, at the mirrors of this machine's apt settings.
debian_sources() {
  # shellcheck disable=SC2016  # apt's own placeholders
  apt-get indextargets --format '$(ORIGIN) $(CODENAME) $(REPO_URI) $(COMPONENT)' 'Created-By: Packages' |
    awk -v suite="$suite" -v keyring="$keyring" \
      '$1 == "Debian" && $4 == "main" && ($2 == suite || $2 == suite "-updates" || $2 == suite "-security") \
       && !seen[$2]++ { print "deb [signed-by=" keyring "] " $3 " " $2 " main" }'
}

bootstrap() {
  local mode=unshare include sources
  if is_root; then mode=root; fi
  include=$(sed -n 's/^\([a-z0-9][^ ]*\).*/\1/p' "$here/guest/packages.list" | paste -sd,)
  sources=$(debian_sources)
  if [ -z "$sources" ] && is_root; then
    apt_get update
    sources=$(debian_sources)
  fi
  [ -n "$sources" ] || die "no Debian 12 ($suite) archive in this machine's apt settings"
  mmdebstrap --format=tar --mode="$mode" --variant=minbase --include="$include" \
    --aptopt='Acquire::Languages "none"' --aptopt='APT::Install-Recommends "0"' --aptopt='Acquire::Retries "3"' \
    --dpkgopt=force-unsafe-io --dpkgopt='path-exclude=/usr/share/doc/*' --dpkgopt='path-exclude=/usr/share/man/*' \
    --dpkgopt='path-exclude=/usr/share/locale/*' "$suite" "$work/root.tar" - <<<"$sources"
}

# The cloud flavour has NVMe and ext4 built in, so it boots without an initial ram disk.
fetch_kernel() {
  local package
  package=$(apt-cache depends linux-image-cloud-amd64 | awk '/Depends: linux-image/ { print $2; exit }')
  [ -n "$package" ] || die "apt does not know linux-image-cloud-amd64; run apt-get update"
  (cd "$work" && apt-get -q -o APT::Sandbox::User="$(id -un)" -o Acquire::Retries=3 download "$package")
  dpkg-deb -x "$work"/linux-image-*.deb "$work/kernel"
  cp "$work"/kernel/boot/vmlinuz-* "$work/new/vmlinuz"
}

# In a user namespace for an ordinary user, so that the files in the image can belong to several users.
pack() {
  mkdir "$work/tree"
  tar -C "$work/tree" --numeric-owner -xf "$work/root.tar" --exclude='./dev/*'
  bash "$here/guest/customise.sh" "$work/tree"
  truncate -s 3G "$work/new/root.ext4"
  mke2fs -q -F -t ext4 -O ^has_journal,^metadata_csum -m0 -d "$work/tree" "$work/new/root.ext4"
  rm -rf "$work/tree"
}

# In this order: what is quick and may fail on the network comes first.
build() {
  mkdir "$work/new"
  fetch_kernel
  bootstrap
  if is_root; then pack; else here=$here work=$work unshare --map-auto --map-root-user bash -euc "$(declare -f pack); pack"; fi
  chmod 0755 "$work/new"
  mv -T "$work/new" "$target"
}

clean_up() {
  end_progress
  rm -rf "$work"
}

key=$(image_key)
cache=$repo/build
if is_root; then cache=/var/cache/asg-sandbox; fi
target=$cache/vm-$key
if [ ! -e "$target/root.ext4" ]; then
  mkdir -p "$cache"
  exec 9>"$cache/.vm-lock"
  flock 9
  if [ ! -e "$target/root.ext4" ]; then
    work=$(mktemp -d "$cache/.vm-build.XXXXXX")
    trap clean_up EXIT
    with_progress "test guest: installing Debian packages (1 to 5 minutes)" "$cache/vm-build.log" build
  fi
fi
echo "$target"
