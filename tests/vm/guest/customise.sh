#!/bin/bash
# customise.sh TREE: turns an unpacked Debian into the test guest, by file operations alone.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
tree=$1
units=$tree/etc/systemd/system

install -m 0755 "$here/agent.sh" "$tree/usr/local/sbin/asg-agent"
cat >"$units/asg-agent.service" <<'U'
[Unit]
Description=Run the host's job, then power off
After=multi-user.target
[Service]
ExecStart=/usr/local/sbin/asg-agent
StandardOutput=null
OOMScoreAdjust=-900
TasksMax=infinity
U
cat >"$units/asg-agent.target" <<'U'
[Unit]
Description=Multi-user and the agent
Requires=multi-user.target
Wants=asg-agent.service
After=multi-user.target
AllowIsolate=yes
U
ln -sf /etc/systemd/system/asg-agent.target "$units/default.target"

# Devices, consoles, disks and housekeeping that this guest does not have: under emulation each costs seconds.
for unit in getty@tty1 serial-getty@ttyS0 e2scrub_reap systemd-pstore systemd-udev-settle systemd-hwdb-update \
  systemd-binfmt systemd-random-seed systemd-firstboot systemd-machine-id-commit systemd-update-utmp \
  systemd-update-utmp-runlevel systemd-update-done systemd-journal-flush systemd-journal-catalog-update ldconfig \
  systemd-fsck-root systemd-remount-fs systemd-udevd systemd-udev-trigger kmod-static-nodes systemd-repart \
  modprobe@configfs modprobe@drm modprobe@fuse modprobe@efi_pstore modprobe@dm_mod modprobe@loop; do
  ln -sf /dev/null "$units/$unit.service"
done
for unit in getty.target remote-fs.target systemd-udevd-control.socket systemd-udevd-kernel.socket systemd-initctl.socket \
  systemd-journald-audit.socket apt-daily.timer apt-daily-upgrade.timer dpkg-db-backup.timer e2scrub_all.timer \
  fstrim.timer systemd-tmpfiles-clean.timer dev-hugepages.mount dev-mqueue.mount sys-kernel-debug.mount \
  sys-kernel-tracing.mount sys-fs-fuse-connections.mount sys-kernel-config.mount proc-sys-fs-binfmt_misc.automount \
  systemd-ask-password-console.path systemd-ask-password-wall.path; do
  ln -sf /dev/null "$units/$unit"
done
mkdir -p "$tree/etc/systemd/system-generators"
for generator in cryptsetup debug fstab getty gpt-auto hibernate-resume integritysetup rc-local run system-update \
  veritysetup; do
  ln -sf /dev/null "$tree/etc/systemd/system-generators/systemd-$generator-generator"
done

echo guest >"$tree/etc/hostname"
printf '127.0.0.1 localhost guest\n::1 localhost\n' >"$tree/etc/hosts"
: >"$tree/etc/fstab"
echo 0123456789abcdef0123456789abcdef >"$tree/etc/machine-id"
mkdir -p "$tree/etc/systemd/system.conf.d" "$tree/etc/systemd/journald.conf.d"
# Under emulation a start that takes a second elsewhere takes a minute.
printf '[Manager]\nDefaultTimeoutStartSec=300s\nShowStatus=no\n' >"$tree/etc/systemd/system.conf.d/guest.conf"
printf '[Journal]\nStorage=volatile\nRateLimitBurst=0\n' >"$tree/etc/systemd/journald.conf.d/guest.conf"
printf 'Acquire::Retries "0";\nAPT::Sandbox::User "root";\n' >"$tree/etc/apt/apt.conf.d/99guest"
echo force-unsafe-io >"$tree/etc/dpkg/dpkg.cfg.d/guest"

# The ordinary user of the tests.
echo 'tester:x:1000:1000::/home/tester:/bin/bash' >>"$tree/etc/passwd"
echo 'tester:x:1000:' >>"$tree/etc/group"
echo 'tester:!:19000:0:99999:7:::' >>"$tree/etc/shadow"
mkdir -p "$tree/home/tester"
chown 1000:1000 "$tree/home/tester"
