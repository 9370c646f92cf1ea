# shellcheck shell=bash
# Sourced after common.sh: the build and the runtime image.
: "${repo:?}"

# build_tree PRESET DIRECTORY [TARGET...]: configures when that is not done, then builds.
build_tree() {
  local preset=$1 directory=$2
  shift 2
  cd "$repo" || return
  # A build tree copied from another place would build the sources there.
  if [ -e "$directory/CMakeCache.txt" ] &&
    ! grep -qxF "CMAKE_HOME_DIRECTORY:INTERNAL=$repo" "$directory/CMakeCache.txt"; then
    rm -rf "$directory/CMakeCache.txt" "$directory/CMakeFiles" "$directory/build.ninja"
  fi
  if [ ! -e "$directory/build.ninja" ]; then
    with_progress "configuring ($preset)" "$repo/build/configure.log" cmake --preset "$preset"
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
  build_tree "$@"
  make_runtime_image
}
