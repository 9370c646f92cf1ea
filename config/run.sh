#!/bin/bash
# shellcheck source-path=SCRIPTDIR
# run.sh [serve options]: from a fresh Debian 12 to a running server, in one command.
# Installs what the build needs, builds into build/, makes the runtime image, then serves in the
# foreground. What is done already is skipped, so this is also how to start it the next time.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=setup/common.sh
. "$here/setup/common.sh"
# shellcheck source=setup/packages.sh
. "$here/setup/packages.sh"
# shellcheck source=setup/build.sh
. "$here/setup/build.sh"
# shellcheck source=setup/cgroup.sh
. "$here/setup/cgroup.sh"

# listen_address OPTION...: where serve will listen, for the line to try.
listen_address() {
  local address=127.0.0.1:8080
  while [ $# -gt 0 ]; do
    case $1 in
      --listen) address=${2:-$address} ;;
      --listen=*) address=${1#--listen=} ;;
    esac
    shift
  done
  echo "$address"
}

print_first_call() {
  cat >&2 <<CALL

Try it in another terminal:

curl -X POST http://$1/mcp -H "Content-Type: application/json" -d '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"sandbox_execute","arguments":{"language":"python","code":"import math\nprint(math.sqrt(144))"},"_meta":{"payment":{"tx_signature":"<your-signature>"}}}}'

CALL
}

case ${1:-} in
  -h | --help)
    sed -n '3,5s/^# //p' "${BASH_SOURCE[0]}"
    exit 0
    ;;
esac
started_in=$PWD
set_up release build asg-sandbox
cd "$started_in" # relative paths in serve's options mean what they say
print_first_call "$(listen_address "$@")"
exec_in_own_cgroup "$repo/build/asg-sandbox" serve "$@"
