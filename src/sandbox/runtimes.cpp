#include "runtimes.hpp"

#include <algorithm>
#include <cmath>

namespace asg::sandbox {
namespace {

constexpr Runtime kRuntimes[] = {
    {Language::python, "/usr/bin/python3.11", "main.py", 64 << 10},
    // Node writes to a pipe without waiting and drops what did not fit at process.exit: 1 MiB is what an ordinary user may have.
    {Language::javascript, "/usr/bin/node", "main.cjs", 1 << 20},
};

// Of the memory limit; the rest is for code, stacks, buffers and young objects. Node cannot see the limit itself (no /sys).
constexpr double kNodeHeapShare = 0.75;

}  // namespace

const Runtime& runtime(Language language) {
  return kRuntimes[language == Language::python ? 0 : 1];
}

std::vector<std::string> command_line(const Runtime& runtime, const LimitSet& limits) {
  const std::string main = std::string("/workspace/") + runtime.main_file;
  if (runtime.language == Language::python) return {runtime.program, main};
  const auto heap = static_cast<std::uint64_t>(static_cast<double>(limits.memory_bytes >> 20) * kNodeHeapShare);
  return {runtime.program, "--max-old-space-size=" + std::to_string(heap), "--require=/opt/asg/prepare.cjs", main};
}

std::vector<std::string> base_environment(const LimitSet& limits) {
  const auto threads = static_cast<unsigned>(std::max(1.0, std::ceil(limits.cpus)));
  // libuv's threads mostly wait for files: fewer than its default of four would only make a program wait for itself.
  const unsigned waiting_threads = std::max(4U, threads);
  std::vector<std::string> env = {
      "PATH=/usr/local/bin:/usr/bin:/bin",
      "HOME=/workspace",
      "USER=sandbox",
      "LOGNAME=sandbox",
      "SHELL=/bin/sh",
      "LANG=C.UTF-8",
      "TZ=UTC",
      "TMPDIR=/tmp",
      "XDG_CACHE_HOME=/tmp/.cache",
      "PYTHONUNBUFFERED=1",
      "PYTHONDONTWRITEBYTECODE=1",
      "MPLBACKEND=Agg",
      "MPLCONFIGDIR=/tmp/.matplotlib",
      "UV_THREADPOOL_SIZE=" + std::to_string(waiting_threads),
  };
  for (const char* name : {"OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS"}) {
    env.push_back(std::string(name) + "=" + std::to_string(threads));
  }
  return env;
}

}  // namespace asg::sandbox
