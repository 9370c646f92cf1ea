#!/bin/bash
# shellcheck source-path=SCRIPTDIR
# boot.sh [-i DIRECTORY]... [-o DIRECTORY] [-t SECONDS] [-e ENGINE] [--] COMMAND: boots the test guest, runs COMMAND in it as
# root with the contents of the input directories around it, and powers off. The guest has no network but its own loopback,
# and its disk forgets everything.
#
#   -i DIRECTORY  copied to /job/NAME of the guest, where COMMAND starts; may be repeated
#   -o DIRECTORY  gets what the command wrote to $OUT, and console.log
#   -t SECONDS    limit for everything (default 600); its exit status is 124
#   -e ENGINE     uml, kvm or tcg; by default the first of them that this machine offers:
#                 uml  a User-Mode Linux kernel, named by ASG_VM_KERNEL or linux.uml on the PATH
#                 kvm  Debian's kernel under qemu, with /dev/kvm
#                 tcg  the same, emulated: works everywhere, ten times slower
#
# Exit status: the command's own; 124 out of time; 125 the guest itself failed, and its console is shown.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=../../config/setup/common.sh
. "$here/../../config/setup/common.sh"

inputs=() output='' limit=600 engine=''
while getopts 'i:o:t:e:' option; do
  case $option in
    i) inputs+=("$OPTARG") ;;
    o) output=$OPTARG ;;
    t) limit=$OPTARG ;;
    e) engine=$OPTARG ;;
    *) exit 2 ;;
  esac
done
shift $((OPTIND - 1))
[ $# = 1 ] || die "boot.sh takes one command, a line of shell"
image=$("$here/image.sh")
cpus=$(nproc)
[ "$cpus" -le 4 ] || cpus=4

uml_kernel() { if [ -n "${ASG_VM_KERNEL:-}" ]; then echo "$ASG_VM_KERNEL"; else command -v linux.uml; fi; }
# A device file alone means little: nested machines offer one that does not work.
kvm_works() { [ -w /dev/kvm ] && grep -qwE 'vmx|svm' /proc/cpuinfo; }
if [ -z "$engine" ]; then
  if uml_kernel >/dev/null; then engine=uml
  elif kvm_works; then engine=kvm
  else engine=tcg; fi
fi

work=$(mktemp -d "${TMPDIR:-/var/tmp}/asg-vm.XXXXXX")
guest='' tail_pid=''
clean_up() {
  local pid
  for pid in $guest $tail_pid; do kill -KILL "$pid" 2>/dev/null && wait "$pid" 2>/dev/null || true; done
  rm -rf "$work"
}
trap clean_up EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

mkdir "$work/job"
printf '%s\n' "$1" >"$work/job/command"
archive=(tar -cf "$work/in.tar" -C "$work/job" command)
for directory in "${inputs[@]}"; do
  archive+=(-C "$(cd "$(dirname "$directory")" && pwd)" "$(basename "$directory")")
done
"${archive[@]}"
truncate -s 1G "$work/out.tar"
: >"$work/console.log"
: >"$work/live.log"

# Every link of the chain dies with the one above it. Set last, since a change of user clears it.
die_with_parent=(setpriv --pdeathsig KILL)
as_nobody=("${die_with_parent[@]}")
if is_root; then
  chown -R 65534:65534 "$work"
  as_nobody+=(--reuid=65534 --regid=65534 --clear-groups --no-new-privs)
fi
agent="asg.live=/dev/ttyS"

start_uml() {
  # Its memory is a file: /dev/shm is too small in many containers.
  local memory=$work space options=()
  space=$(df -Pk /dev/shm 2>/dev/null | awk 'NR == 2 { print $4 }')
  [ "${space:-0}" -lt 3000000 ] || memory=/dev/shm
  local kernel enter=(unshare --pid --fork --kill-child --mount-proc)
  kernel=$(uml_kernel) || die "no User-Mode Linux kernel: set ASG_VM_KERNEL"
  is_root || enter+=(--user --map-current-user)
  ! "$kernel" --help 2>/dev/null | grep -q '^seccomp=' || options+=(seccomp=on)
  ! "$kernel" --help 2>/dev/null | grep -q '^ncpus=' || options+=("ncpus=$cpus")
  (cd "$work" && exec "${die_with_parent[@]}" env -i PATH="$PATH" TMPDIR="$memory" HOME="$work" \
    timeout -s KILL "$limit" "${die_with_parent[@]}" "${enter[@]}" "${as_nobody[@]}" "$kernel" \
    mem=2G "${options[@]}" uml_dir="$work/uml" umid=vm noreboot panic=-1 quiet root=/dev/ubda rw \
    ubd0="$work/cow,$image/root.ext4" ubd1r="$work/in.tar" ubd2="$work/out.tar" \
    con0=null,fd:1 con=null ssl0=null,fd:3 ssl=null systemd.unified_cgroup_hierarchy=1 \
    "${agent}0" asg.in=/dev/ubdb asg.out=/dev/ubdc) </dev/null >>"$work/console.log" 2>&1 3>>"$work/live.log" &
  guest=$!
}

start_qemu() {
  local accelerate=(-accel kvm -cpu host) user=("${as_nobody[@]}")
  [ "$1" = kvm ] || accelerate=(-accel tcg,thread=multi,tb-size=512 -cpu max)
  [ "$1" = tcg ] || user=("${die_with_parent[@]}") # nobody may not open /dev/kvm
  have qemu-system-x86_64 || die "qemu-system-x86 is missing: apt-get install --no-install-recommends qemu-system-x86"
  disk() { echo "file=$1,format=raw,if=none,id=$2$3"; }
  (exec "${die_with_parent[@]}" env -i PATH="$PATH" HOME="$work" TMPDIR="$work" timeout -s KILL "$limit" "${user[@]}" \
    qemu-system-x86_64 -M q35,usb=off,sata=off,smbus=off,vmport=off "${accelerate[@]}" -smp "$cpus" -m 2G \
    -nodefaults -no-user-config -display none -no-reboot -kernel "$image/vmlinuz" \
    -append "console=ttyS0 quiet root=/dev/nvme0n1 rw panic=-1 mitigations=off nokaslr tsc=reliable ${agent}1 \
asg.in=/dev/nvme1n1 asg.out=/dev/nvme2n1" \
    -serial file:"$work/console.log" -serial file:"$work/live.log" \
    -drive "$(disk "$image/root.ext4" d0 ,snapshot=on)" -device nvme,drive=d0,serial=d0 \
    -drive "$(disk "$work/in.tar" d1 ,readonly=on)" -device nvme,drive=d1,serial=d1 \
    -drive "$(disk "$work/out.tar" d2 '')" -device nvme,drive=d2,serial=d2) </dev/null >>"$work/console.log" 2>&1 &
  guest=$!
}

started=$SECONDS
case $engine in
  uml) start_uml ;;
  kvm | tcg) start_qemu "$engine" ;;
  *) die "no engine $engine" ;;
esac
tail -q -n +1 -s 0.2 -f --pid="$guest" "$work/live.log" &
tail_pid=$!
ended=0
wait "$guest" 2>/dev/null || ended=$?
wait "$tail_pid" || true
guest='' tail_pid=''

status=$(tar -xOf "$work/out.tar" ./status 2>/dev/null || true)
if [ -n "$output" ]; then
  mkdir -p "$output"
  cp "$work/console.log" "$output/"
  tar -C "$output" --no-same-owner --strip-components=2 -xf "$work/out.tar" ./out 2>/dev/null || true
fi
if [[ $status =~ ^[0-9]+$ ]]; then
  say "guest ($engine): up after $(tar -xOf "$work/out.tar" ./uptime) s, $((SECONDS - started)) s in all"
  exit "$status"
fi
if [ "$ended" = 137 ] || [ "$ended" = 124 ]; then
  say "guest ($engine): out of time after $limit s"
  exit 124
fi
say "guest ($engine): no result (status $ended); its console ended with"
tail -n 30 "$work/console.log" >&2
exit 125
