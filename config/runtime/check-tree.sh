#!/bin/bash
# check-tree.sh TREE: fails when a runtime image holds what it must not.
set -euo pipefail
tree=$1
failed=0

complain() { echo "runtime image: $*"; failed=1; }

# nothing EXPRESSION...: complains about every path that find's expression matches.
nothing() {
  local what=$1 found
  shift
  found=$(cd "$tree" && find . "$@" | head -n 5)
  [ -z "$found" ] || complain "$what: ${found//$'\n'/ }"
}

nothing "set-id files" -perm /6000
nothing "device nodes, fifos or sockets" \( -type b -o -type c -o -type p -o -type s \)
nothing "folders not open to everyone" -type d ! -perm 0755
nothing "files not readable by everyone" -type f ! -perm -0444
nothing "files writable by others" -type f -perm /0022
nothing "an installer or perl" \( -path './usr/bin/*' -o -path './usr/sbin/*' \) \
  \( -name 'pip*' -o -name 'npm*' -o -name 'npx*' -o -name 'apt*' -o -name 'dpkg*' -o -name 'perl*' -o -name 'yarn*' \)
for empty in proc dev tmp workspace opt/asg; do
  if [ ! -d "$tree/$empty" ] || [ -n "$(ls -A "$tree/$empty")" ]; then complain "/$empty must be an empty folder"; fi
done
for absent in sys boot home root srv mnt media etc/machine-id etc/resolv.conf etc/apt etc/shadow var/lib/apt var/lib/dpkg; do
  [ ! -e "$tree/$absent" ] || complain "/$absent must not exist"
done
exit "$failed"
