#include "stage.hpp"

#include <fcntl.h>
#include <linux/mount.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <utility>

#include "asg/linux/io.hpp"

namespace asg::sandbox {
namespace {

constexpr const char* kDevices[] = {"null", "zero", "full", "random", "urandom"};
constexpr std::pair<const char*, const char*> kDevLinks[] = {
    {"/proc/self/fd", "dev/fd"},
    {"/proc/self/fd/0", "dev/stdin"},
    {"/proc/self/fd/1", "dev/stdout"},
    {"/proc/self/fd/2", "dev/stderr"},
};

Result<void> mount_one(const char* source, const char* target, const char* type, unsigned long flags, const char* data = nullptr) {
  if (::mount(source, target, type, flags, data) != 0) return fail_errno(std::string("mount ") + source + " on " + target);
  return {};
}

/// Adds flags and clears none: flags that a mount got in an outer user namespace are locked (mount_namespaces(7)).
Result<void> restrict_mount(const char* target, std::uint64_t attributes) {
  mount_attr attr{};
  attr.attr_set = attributes;
  if (::syscall(SYS_mount_setattr, AT_FDCWD, target, 0, &attr, sizeof attr) != 0) {
    return fail_errno(std::string("mount_setattr ") + target);
  }
  return {};
}

Result<void> make_devices() {
  auto made = mount_one("tmpfs", "dev", "tmpfs", MS_NOSUID | MS_NOEXEC, "size=64k,nr_inodes=64,mode=0755");
  if (!made) return made;
  for (const char* name : kDevices) {
    const std::string inside = std::string("dev/") + name;
    auto file = sys::open_at(AT_FDCWD, inside, O_WRONLY | O_CREAT | O_EXCL, 0666);
    if (!file) return std::unexpected(file.error());
    auto bound = mount_one((std::string("/dev/") + name).c_str(), inside.c_str(), nullptr, MS_BIND);
    // Can be written to all the same; its times and modes cannot be changed.
    if (bound) bound = restrict_mount(inside.c_str(), MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC);
    if (!bound) return bound;
  }
  for (const auto& [target, link] : kDevLinks) {
    if (::symlink(target, link) != 0) return fail_errno(std::string("symlink ") + link);
  }
  if (::mkdir("dev/shm", 0755) != 0) return fail_errno("mkdir dev/shm");
  return restrict_mount("dev", MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC);
}

}  // namespace

Result<void> enter_image(const LauncherSettings& settings) {
  if (::mount(nullptr, "/", nullptr, MS_REC | MS_SLAVE, nullptr) != 0) return fail_errno("making mounts private");
  auto image = mount_one(settings.image.c_str(), settings.image.c_str(), nullptr, MS_BIND);
  if (!image) return image;
  if (::chdir(settings.image.c_str()) != 0) return fail_errno("chdir " + settings.image);
  return mount_one(settings.runner.c_str(), "opt/asg", nullptr, MS_BIND);
}

Result<void> finish_stage() {
  auto done = restrict_mount("opt/asg", MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV);
  if (done) done = make_devices();
  if (done) done = mount_one("proc", "proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC);
  if (done) done = restrict_mount(".", MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV);
  if (!done) return done;
  // pivot_root(2), NOTES: with "." twice the old root comes to lie under the new one and can be let go of.
  if (::syscall(SYS_pivot_root, ".", ".") != 0) return fail_errno("pivot_root");
  if (::umount2(".", MNT_DETACH) != 0) return fail_errno("umount of the old root");
  if (::chdir("/") != 0) return fail_errno("chdir /");
  constexpr char kHostName[] = "sandbox";
  if (::sethostname(kHostName, sizeof kHostName - 1) != 0) return fail_errno("sethostname");
  return {};
}

}  // namespace asg::sandbox
