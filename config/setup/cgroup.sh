# shellcheck shell=bash
# Sourced after common.sh: a control group for a server that is started by hand.

# Whether systemd already gave this process a group of its own to divide.
is_delegated() {
  local group unit
  group=$(sed -n 's/^0:://p' /proc/self/cgroup)
  unit=$(basename "$group")
  [ "$(systemctl show --property=Delegate --value -- "$unit" 2>/dev/null)" = yes ] ||
    [ "$(systemctl --user show --property=Delegate --value -- "$unit" 2>/dev/null)" = yes ]
}

# exec_in_own_cgroup COMMAND...: becomes COMMAND. On cgroup v2 the group of a login shell holds the
# shell, so the kernel lets nobody divide it: the limits of the sandboxes need a scope of their own.
exec_in_own_cgroup() {
  local scope=(systemd-run --scope --quiet --property=Delegate=yes)
  if [ "$(stat -f -c %T /sys/fs/cgroup 2>/dev/null)" != cgroup2fs ] || [ ! -d /run/systemd/system ] ||
    ! have systemd-run || is_delegated; then
    exec "$@"
  fi
  if ! is_root; then
    if [ ! -S "${XDG_RUNTIME_DIR:-/run/user/$(id -u)}/systemd/private" ]; then
      say "no systemd user session (log in by ssh or console, not by su), so no group for limits; trying without"
      exec "$@"
    fi
    export XDG_RUNTIME_DIR=${XDG_RUNTIME_DIR:-/run/user/$(id -u)}
    scope+=(--user)
  fi
  exec "${scope[@]}" -- "$@"
}
