#include "asg/sandbox/seccomp.hpp"

#include <linux/seccomp.h>
#include <seccomp.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <memory>

#include "asg/linux/unique_fd.hpp"
#include "seccomp_rules.hpp"

namespace asg::sandbox {
namespace {

std::uint32_t libseccomp_action(Action action) {
  switch (action) {
    case Action::allow: return SCMP_ACT_ALLOW;
    case Action::refuse: return SCMP_ACT_ERRNO(EPERM);
    case Action::unknown: return SCMP_ACT_ERRNO(ENOSYS);
    case Action::unsupported: return SCMP_ACT_ERRNO(EOPNOTSUPP);
  }
  return SCMP_ACT_ERRNO(EPERM);
}

const char* action_name(Action action) {
  switch (action) {
    case Action::allow: return "allow";
    case Action::refuse: return "EPERM";
    case Action::unknown: return "ENOSYS";
    case Action::unsupported: return "EOPNOTSUPP";
  }
  return "?";
}

struct Release {
  void operator()(void* context) const { seccomp_release(context); }
};
using Context = std::unique_ptr<void, Release>;

Result<void> add(const Context& context, const Rule& rule) {
  if (rule.action == Action::refuse) return {};  // the default says the same
  const int number = seccomp_syscall_resolve_name(rule.call);
  if (number == __NR_SCMP_ERROR) return {};  // newer than this libseccomp: the default answers
  std::array<scmp_arg_cmp, kMaxConditions> arguments{};
  for (std::size_t i = 0; i < rule.condition_count; ++i) {
    const Condition& c = rule.conditions[i];
    arguments[i] = scmp_arg_cmp{.arg = c.argument, .op = SCMP_CMP_MASKED_EQ, .datum_a = c.mask, .datum_b = c.value};
  }
  const int rc = seccomp_rule_add_array(context.get(), libseccomp_action(rule.action), number, rule.condition_count,
                                        arguments.data());
  if (rc != 0) return fail_errno(std::string("seccomp rule ") + rule.call, -rc);
  return {};
}

Result<Context> build() {
  Context context(seccomp_init(libseccomp_action(Action::refuse)));
  if (!context) return fail(ErrorCode::internal, "seccomp_init");
  // Foreign architectures are killed by default; a binary tree answers in log n steps.
  int rc = seccomp_attr_set(context.get(), SCMP_FLTATR_ACT_BADARCH, libseccomp_action(Action::unknown));
  if (rc == 0) rc = seccomp_attr_set(context.get(), SCMP_FLTATR_CTL_OPTIMIZE, 2);
  if (rc != 0) return fail_errno("seccomp_attr_set", -rc);
  for (const Rule& rule : seccomp_rules()) {
    auto added = add(context, rule);
    if (!added) return std::unexpected(added.error());
  }
  return context;
}

/// "Newer than the list" is a range of numbers, which libseccomp has no rule for: three instructions before its program.
std::vector<sock_filter> newer_calls_are_unknown() {
  return {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)), BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, kNewestCall, 0, 1),
          BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS)};
}

}  // namespace

Result<std::vector<sock_filter>> compile_filter() {
  auto context = build();
  if (!context) return std::unexpected(context.error());
  const sys::UniqueFd file(::memfd_create("seccomp", MFD_CLOEXEC));
  if (!file) return fail_errno("memfd_create");
  const int rc = seccomp_export_bpf(context->get(), file.get());
  if (rc != 0) return fail_errno("seccomp_export_bpf", -rc);
  const off_t size = ::lseek(file.get(), 0, SEEK_END);
  std::vector<sock_filter> exported(static_cast<std::size_t>(size) / sizeof(sock_filter));
  if (::pread(file.get(), exported.data(), static_cast<std::size_t>(size), 0) != size) return fail_errno("reading the filter");
  auto filter = newer_calls_are_unknown();
  filter.insert(filter.end(), exported.begin(), exported.end());
  return filter;
}

std::string describe_filter() {
  std::string text;
  for (const Rule& rule : seccomp_rules()) {
    std::string line = std::string(action_name(rule.action)) + " " + rule.call;
    for (std::size_t i = 0; i < rule.condition_count; ++i) {
      const Condition& c = rule.conditions[i];
      std::array<char, 80> words{};
      std::snprintf(words.data(), words.size(), " (arg%d & %#llx) == %#llx", int{c.argument},
                    static_cast<unsigned long long>(c.mask), static_cast<unsigned long long>(c.value));
      line += words.data();
    }
    text += line + "  # " + rule.why + "\n";
  }
  return text + "ENOSYS any call newer than number " + std::to_string(kNewestCall) + "\nEPERM any other call\n";
}

}  // namespace asg::sandbox
