#include "hints.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <span>
#include <string_view>

#include <fmt/format.h>

#include "features.hpp"

namespace asg::tools {

namespace {

using sandbox::Cause;
using sandbox::Language;
using sandbox::Outcome;
using std::string_view;

constexpr int kNodeUnsettledAwait = 13;  // nodejs.org/docs/latest-v18.x/api/process.html#exit-codes

// What the runtimes say when a name cannot be resolved or no route exists.
constexpr std::array<string_view, 11> kNetworkWords{
    "Temporary failure in name resolution", "Name or service not known", "No address associated with hostname",
    "NameResolutionError", "Network is unreachable", "ENETUNREACH", "ENOTFOUND", "EAI_AGAIN", "EAI_FAIL",
    "No route to host", "blocked by the sandbox network policy"};
constexpr std::array<string_view, 4> kInstallWords{"pip install", "pip\", \"install", "'pip', 'install'", "npm install"};
constexpr std::array<string_view, 3> kProcessWords{"can't start new thread", "BlockingIOError: [Errno 11]", "spawn EAGAIN"};
constexpr std::array<string_view, 2> kDiskWords{"No space left on device", "ENOSPC"};
constexpr std::array<string_view, 2> kReadOnlyWords{"Read-only file system", "EROFS"};

bool holds_any(string_view text, std::span<const string_view> words) {
  return std::any_of(words.begin(), words.end(), [text](string_view word) { return text.find(word) != string_view::npos; });
}

std::string memory_hint(const config::Limits& limits) {
  return fmt::format("memory limit of {} MiB reached: work on less data at once", limits.memory_bytes >> 20);
}

std::string install_hint() {
  if constexpr (kPackagesAvailable) return "the sandbox has no network of its own: name packages in the \"packages\" argument";
  return "packages cannot be installed in this version; only the preinstalled ones can be used";
}

/// What the words on standard error say about the sandbox's rules, for a program that could not do something.
std::string from_stderr(const HintContext& context, string_view text, const config::Limits& limits) {
  if (context.language == Language::javascript && text.find("heap out of memory") != string_view::npos) return memory_hint(limits);
  if (context.code_installs && (holds_any(text, kNetworkWords) || text.find("No module named pip") != string_view::npos)) {
    return install_hint();
  }
  if (holds_any(text, kNetworkWords)) {
    return "blocked by the sandbox network policy: programs inside reach no other host than themselves, trying again will not help";
  }
  if (holds_any(text, kProcessWords)) return fmt::format("limit of {} processes and threads reached", limits.processes);
  if (holds_any(text, kDiskWords)) {
    return fmt::format("file space limit of {} MiB or {} files reached", limits.files_bytes >> 20, limits.inodes);
  }
  if (holds_any(text, kReadOnlyWords)) return "only the working directory and /tmp can be written";
  if (!context.has_stdin && text.find("EOFError: EOF when reading a line") != string_view::npos) {
    return "the program read standard input, which was empty: give its input in the \"stdin\" argument";
  }
  return {};
}

}  // namespace

HintContext hint_context(const sandbox::RunSpec& spec) {
  return {.language = spec.language,
          .timeout_seconds = std::chrono::duration<double>(spec.timeout).count(),
          .has_stdin = spec.stdin_text.has_value(),
          .code_installs = holds_any(spec.code, kInstallWords)};
}

std::string make_hint(const HintContext& context, const Outcome& outcome, const config::Limits& limits) {
  if (outcome.cause == Cause::timed_out) {
    return fmt::format("time limit of {} s reached: the program was ended, its output up to then is here", context.timeout_seconds);
  }
  if (outcome.cause == Cause::out_of_memory) return memory_hint(limits);
  const bool node = context.language == Language::javascript;
  if (node && outcome.exit_code == kNodeUnsettledAwait) {
    return "the program ended while a top-level await never settled: nothing was left that could settle it";
  }
  return from_stderr(context, outcome.err.text, limits);
}

}  // namespace asg::tools
