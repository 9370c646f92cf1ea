#!/bin/bash
# shellcheck source-path=SCRIPTDIR
# run.sh [unit|privileged|e2e|asan|vm|bench ...]: sets up what config/run.sh sets up, then runs the
# suites named, or all but asan (unit and e2e in a sanitizer build) and bench. ASG_MUST_RUN=1 (CI) turns a skip into a failure, unless its key
# stands in tests/support/allowed_skips.txt.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=../config/setup/common.sh
. "$here/../config/setup/common.sh"
# shellcheck source=../config/setup/packages.sh
. "$here/../config/setup/packages.sh"
# shellcheck source=../config/setup/build.sh
. "$here/../config/setup/build.sh"

reports=$repo/build/reports

# What only the end-to-end tests need: clients from npm, by their lock file.
prepare_e2e() {
  local lock=$here/e2e/package-lock.json key target
  [ -e "$lock" ] || return 0
  key=$(sha256sum "$lock" | cut -c1-16)
  target=$repo/build/e2e/$key
  if [ ! -e "$target/complete" ]; then
    rm -rf "$target"
    mkdir -p "$target"
    with_progress "fetching the clients of the e2e tests" "$repo/build/e2e.log" \
      python3 "$repo/config/setup/npm-fetch.py" "$lock" "$target"
    touch "$target/complete"
  fi
  ln -sfn "$key/node_modules" "$repo/build/e2e/node_modules"
}

# run_label SUITE DIRECTORY LABEL: the tests of one label in one build tree.
run_label() {
  local suite=$1 directory=$2 label=$3 started=$SECONDS status=0
  say "suite $suite ($label) ..."
  ctest --test-dir "$directory" -L "^$label\$" --output-on-failure --no-tests=ignore \
    --output-junit "$reports/$suite-$label.xml" || status=$?
  say "suite $suite ($label): $((SECONDS - started)) s, ctest status $status"
  [ "$status" = 0 ] || failed_suites+=("$suite")
}

run_asan() {
  build_tree asan build/asan
  ln -sfn ../runtime "$repo/build/asan/runtime" # the server looks beside itself
  # A leak found at exit is a failure like any other; the first error ends the program.
  export ASAN_OPTIONS=${ASAN_OPTIONS:-detect_leaks=1}
  export ASG_TIME_FACTOR=${ASG_TIME_FACTOR:-4} # the server and the interpreters beside it are slower
  export UBSAN_OPTIONS=${UBSAN_OPTIONS:-halt_on_error=1:print_stacktrace=1}
  run_label asan build/asan unit
  run_label asan build/asan e2e
}

run_suite() {
  case $1 in
    asan) run_asan ;;
    e2e) run_label e2e build e2e ;;
    *) run_label "$1" build "$1" ;;
  esac
}

suites=("$@")
[ $# != 0 ] || suites=(unit privileged e2e vm)
for suite in "${suites[@]}"; do
  case $suite in
    unit | privileged | e2e | asan | vm | bench) ;;
    *) echo "usage: tests/run.sh [unit|privileged|e2e|asan|vm|bench ...]" >&2; exit 2 ;;
  esac
done

preset=release
[[ " ${suites[*]} " != *" bench "* ]] || preset=bench
set_up "$preset" build
case " ${suites[*]} " in *" e2e "* | *" asan "*) prepare_e2e ;; esac
rm -rf "$reports"
mkdir -p "$reports"
failed_suites=()
for suite in "${suites[@]}"; do run_suite "$suite"; done
status=0
python3 "$repo/config/setup/test-summary.py" "$reports" "$here/support/allowed_skips.txt" "${suites[@]}" || status=$?
if [ ${#failed_suites[@]} != 0 ]; then
  say "failed: ${failed_suites[*]}"
  status=1
fi
exit "$status"
