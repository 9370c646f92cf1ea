# shellcheck shell=bash
# Sourced by the scripts under config/ and tests/: messages and where things are.

repo=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
export repo

say() { echo "[asg] $*" >&2; }
die() { say "error: $*"; exit 1; }
have() { command -v "$1" >/dev/null 2>&1; }
is_root() { [ "$(id -u)" = 0 ]; }

# with_progress WHAT LOG COMMAND...: runs COMMAND with its output in LOG and says every 15 seconds
# that it still runs: a silent minute looks like a hang. The caller's EXIT trap must call
# end_progress, which shows the end of LOG when the command failed. COMMAND may be a function
# and runs in the foreground, so set -e and Ctrl-C mean in it what they mean everywhere.
with_progress() {
  local started=$SECONDS
  progress_what=$1 progress_log=$2
  shift 2
  say "$progress_what ..."
  : >"$progress_log"
  tick "$progress_what" "$progress_log" 9>&- &
  progress_ticker=$!
  "$@" >"$progress_log" 2>&1 </dev/null
  stop_ticker
  say "$progress_what: done in $((SECONDS - started)) s"
  progress_what=
}

tick() {
  local started=$SECONDS sleeper=
  trap 'kill "$sleeper" 2>/dev/null; exit 0' TERM
  while :; do
    sleep 15 >/dev/null 2>&1 &
    sleeper=$!
    wait "$sleeper"
    say "$1: $((SECONDS - started)) s; $(tail -c 300 "$2" | tr '\r' '\n' | sed '/^ *$/d' | tail -n 1 | cut -c1-100)"
  done
}

stop_ticker() {
  kill "$progress_ticker" 2>/dev/null || true
  wait "$progress_ticker" 2>/dev/null || true
}

end_progress() {
  [ -n "${progress_what:-}" ] || return 0
  stop_ticker
  tail -n 25 "$progress_log" >&2
  say "error: $progress_what failed; the whole output: $progress_log"
}
