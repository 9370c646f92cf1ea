# shellcheck shell=bash
# Sourced after common.sh: Debian packages of the build.
: "${repo:?}"

# missing_packages NAME...: those of NAME that are not installed.
missing_packages() {
  local installed
  installed=$(dpkg-query -W -f '${db:Status-Status} ${Package}\n' "$@" 2>/dev/null || true)
  printf '%s\n' "$@" | grep -vxF -f <(sed -n 's/^installed //p' <<<"$installed") || true
}

# Another apt (unattended-upgrades on a new machine) may hold the lock for minutes.
apt_get() {
  DEBIAN_FRONTEND=noninteractive apt-get -q -o DPkg::Lock::Timeout=600 -o Acquire::Retries=3 "$@" </dev/null
}

install_packages() {
  local wanted missing
  mapfile -t wanted < <(sed -n 's/^\([a-z0-9][^ ]*\).*/\1/p' "$repo/config/setup/packages.list")
  mapfile -t missing < <(missing_packages "${wanted[@]}" "$@")
  [ ${#missing[@]} != 0 ] || return 0
  have apt-get || die "this set-up is for Debian 12; install these by hand: ${missing[*]}"
  is_root || die "packages are missing; as root: apt-get install --no-install-recommends ${missing[*]}"
  with_progress "apt-get update" "$repo/build/apt.log" apt_get update
  with_progress "installing ${#missing[@]} Debian packages" "$repo/build/apt.log" \
    apt_get install --yes --no-install-recommends "${missing[@]}"
}
