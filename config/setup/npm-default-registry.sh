#!/bin/bash
# Prints the registry that npm uses when nobody configured one, read from Debian's own npm
# package: 0.5 MB to look into instead of some hundred packages to install.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
apt-get -qq -o APT::Sandbox::User="$(id -un)" download npm >&2
dpkg-deb --fsys-tarfile npm_*.deb |
  tar -xO --wildcards '*/lib/utils/config/definitions.js' |
  sed -n "/^define('registry'/,/^})/s/^ *default: [\`'\"]\(http[^\`'\"]*\).*/\1/p" | head -n1
