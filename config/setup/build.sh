# shellcheck shell=bash
# Sourced after common.sh: the build and the runtime image.
: "${repo:?}"

# build_tree PRESET DIRECTORY [TARGET...]: configures when that is not done, then builds.
build_tree() {
  local preset=$1 directory=$2 stamp
  shift 2
  cd "$repo" || return
  # What another clone has compiled is found again: paths below the repository count from its root.
  export CCACHE_BASEDIR=$repo CCACHE_NOHASHDIR=1
  # One tree serves several presets, and a copied tree would build the sources it came from.
  stamp="$preset $repo $(sha256sum <CMakePresets.json)"
  if [ ! -e "$directory/build.ninja" ] || [ "$(cat "$directory/.configured" 2>/dev/null)" != "$stamp" ]; then
    if ! grep -qsxF "CMAKE_HOME_DIRECTORY:INTERNAL=$repo" "$directory/CMakeCache.txt"; then
      rm -rf "$directory/CMakeCache.txt" "$directory/CMakeFiles"
    fi
    with_progress "configuring ($preset)" "$repo/build/configure.log" cmake --preset "$preset"
    echo "$stamp" >"$directory/.configured"
  fi
  # An up-to-date tree says nothing; a full build takes minutes and says where it is.
  if cmake --build "$directory" -- -n "$@" | grep -q '^ninja: no work to do'; then return; fi
  with_progress "building ($preset)" "$repo/build/build-$preset.log" \
    cmake --build "$directory" --parallel "$(nproc)" -- "$@"
}

# build/runtime: a link to the image, which other checkouts share.
make_runtime_image() {
  local image
  image=$("$repo/config/runtime/build.sh")
  [ "$(readlink "$repo/build/runtime" || true)" != "$image" ] || return 0
  ln -sfn "$image" "$repo/build/runtime.new"
  mv -T "$repo/build/runtime.new" "$repo/build/runtime"
}

# Everything that run.sh and tests/run.sh have in common, in this order since each needs the one before.
set_up() {
  umask 022
  mkdir -p "$repo/build" || die "cannot write to $repo/build; is this checkout another user's?"
  [ -w "$repo/build" ] || die "cannot write to $repo/build; is this checkout another user's?"
  trap end_progress EXIT
  install_packages
  make_runtime_image
  build_tree "$@"
}
