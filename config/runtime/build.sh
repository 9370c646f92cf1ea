#!/bin/bash
# shellcheck source-path=SCRIPTDIR
# build.sh [DIRECTORY]: makes the runtime image and prints where it is.
#
# The image is a plain directory tree: Python 3.11, Node 18 and the promised libraries from
# Debian 12, and no way to install anything. It is kept under a name made from all that went
# into it, so an unchanged list costs nothing and a changed one never alters an image in use.
# With DIRECTORY the tree goes there instead of the cache (for packages and container images).
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=../setup/common.sh
. "$here/../setup/common.sh"
# shellcheck source=../setup/packages.sh
. "$here/../setup/packages.sh"
umask 022

suite=bookworm
keyring=/usr/share/keyrings/debian-archive-keyring.gpg

image_key() {
  (
    cd "$here"
    echo "$suite $(dpkg --print-architecture)"
    sha256sum packages.list package.json package-lock.json build.sh trim.sh describe.py check-tree.sh check/*
  ) | sha256sum | cut -c1-16
}

# An image that root built serves everybody.
cache_directory() {
  local shared=/var/cache/asg-sandbox/runtime
  if is_root || [ -e "$shared/$key/etc/asg-image.json" ]; then echo "$shared"
  else echo "${XDG_CACHE_HOME:-$HOME/.cache}/asg-sandbox/runtime"; fi
}

# The mirrors of this machine's own apt settings, Debian's own archives only: a third-party
# source may carry another Node.
apt_sources() {
  # shellcheck disable=SC2016  # apt's own placeholders
  apt-get indextargets --format '$(ORIGIN) $(CODENAME) $(REPO_URI) $(COMPONENT)' 'Created-By: Packages' |
    awk -v suite="$suite" -v keyring="$keyring" \
      '$1 == "Debian" && $4 == "main" && ($2 == suite || $2 == suite "-updates" || $2 == suite "-security") \
       && !seen[$2]++ { print "deb [signed-by=" keyring "] " $3 " " $2 " main" }'
}

require_tools() {
  have mmdebstrap || die "mmdebstrap is missing: apt-get install --no-install-recommends mmdebstrap"
  [ -r "$keyring" ] || die "debian-archive-keyring is missing: apt-get install debian-archive-keyring"
  is_root && return
  { have newuidmap && grep -q "^$(id -un):" /etc/subuid 2>/dev/null; } ||
    die "an ordinary user needs a range of user ids to unpack Debian packages: as root," \
      "apt-get install --no-install-recommends uidmap and usermod --add-subuids 100000-165535" \
      "--add-subgids 100000-165535 $(id -un). Or run this once as root."
  unshare --map-root-user true 2>/dev/null ||
    die "this kernel lets ordinary users make no user namespaces (kernel.unprivileged_userns_clone," \
      "user.max_user_namespaces); run this once as root."
}

install_debian_packages() {
  local mode include sources
  mode=unshare
  if is_root; then mode=root; fi
  include=$(sed -n 's/^\([a-z0-9][^ ]*\).*/\1/p' "$here/packages.list" | paste -sd,)
  sources=$(apt_sources)
  if [ -z "$sources" ] && is_root; then # the lists were cleared after the last installation
    apt_get update
    sources=$(apt_sources)
  fi
  grep -q " $suite main" <<<"$sources" ||
    die "no Debian 12 ($suite) archive in this machine's apt settings; run apt-get update, or add one"
  # mmdebstrap makes device nodes; a tar in between lets an ordinary user leave them out.
  mmdebstrap --format=tar --mode="$mode" --variant=essential \
    --hook-dir=/usr/share/mmdebstrap/hooks/merged-usr --include="$include" \
    --aptopt='Acquire::Languages "none"' --aptopt='APT::Install-Recommends "0"' --aptopt='Acquire::Retries "3"' \
    --dpkgopt=force-unsafe-io --dpkgopt='path-exclude=/usr/share/doc/*' --dpkgopt='path-exclude=/usr/share/man/*' \
    --dpkgopt='path-exclude=/usr/share/locale/*' "$suite" - <<<"$sources" |
    tar -C "$tree" -x --no-same-owner --exclude='./dev/*'
}

# Runs a program of the image. Needs no privilege and no /proc: a user namespace will do.
in_image() {
  local enter=(chroot)
  is_root || enter=(unshare --map-root-user chroot)
  env -i PATH=/usr/sbin:/usr/bin PYTHONDONTWRITEBYTECODE=1 LANG=C.UTF-8 HOME=/workspace "${enter[@]}" "$tree" "$@"
}

# The image is mounted read-only, so what is not compiled now is compiled at every import.
# Unchecked hashes keep that valid however the tree is copied.
compile_python() {
  local compile=(/usr/bin/python3.11 -m compileall -q --invalidation-mode unchecked-hash) standard_library
  in_image "${compile[@]}" /usr/lib/python3.11 &
  standard_library=$!
  in_image "${compile[@]}" /usr/lib/python3
  wait "$standard_library"
}

finish_tree() {
  # Before the trimming: dpkg's data is the only place that knows the versions.
  python3 "$here/describe.py" debian "$tree" >"$tree.packages"
  bash "$here/trim.sh" "$tree"
  in_image ldconfig
  rm -rf "$tree/var/cache"
  compile_python
  python3 "$here/describe.py" image "$tree" "$key" <"$tree.packages" >"$tree.json"
  rm "$tree.packages"
  install -m 0644 "$tree.json" "$tree/etc/asg-image.json"
  rm "$tree.json"
}

check_tree() {
  cp "$here"/check/* "$tree/workspace/"
  in_image /usr/bin/python3 /workspace/check.py
  in_image /usr/bin/node /workspace/check.cjs
  in_image /usr/bin/node /workspace/check.mjs
  rm "$tree"/workspace/*
  bash "$here/check-tree.sh" "$tree"
}

build() {
  require_tools
  rm -rf "$(dirname "$target")"/.asg-build.* # of a build that was killed: this one holds the lock
  work=$(mktemp -d "$(dirname "$target")/.asg-build.XXXXXX")
  trap clean_up EXIT
  tree=$work/tree
  log=$(dirname "$target")/asg-build.log
  mkdir "$tree"
  # Debian's files go through here; /tmp may be a small memory file system.
  export TMPDIR=${TMPDIR:-/var/tmp}
  # First what is quick and may fail on the network.
  with_progress "runtime image: fetching npm packages" "$log" \
    python3 "$here/../setup/npm-fetch.py" "$here/package-lock.json" "$tree"
  with_progress "runtime image: installing Debian packages (1 to 5 minutes)" "$log" install_debian_packages
  with_progress "runtime image: trimming and compiling" "$log" finish_tree
  with_progress "runtime image: trying every promised library" "$log" check_tree
  chmod 0755 "$tree"
  mv -T "$tree" "$target"
  rm -f "$log"
}

clean_up() {
  end_progress
  chmod -R u+w "$work" && rm -rf "$work"
}

key=$(image_key)
target=${1:-$(cache_directory)/$key}
if [ ! -e "$target/etc/asg-image.json" ]; then
  mkdir -p "$(dirname "$target")"
  exec 9>"$(dirname "$target")/.asg-lock"
  flock -n 9 || { say "another build of the runtime image is running; waiting for it"; flock 9; }
  if [ ! -e "$target/etc/asg-image.json" ]; then build >&2; fi
fi
echo "$target"
