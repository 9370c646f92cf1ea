#pragma once
// The real launcher under the real executor, with a thread in the supervisor's place that makes its control groups.

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "asg/executor/executor.hpp"
#include "asg/linux/cgroup.hpp"
#include "asg/linux/io.hpp"
#include "asg/sandbox/launcher.hpp"
#include "asg/sandbox/protocol.hpp"
#include "asg/sandbox/seccomp.hpp"
#include "host.hpp"
#include "support/must_run.hpp"

namespace asg::test {

using sandbox::Cause;
using sandbox::Language;
using sandbox::Outcome;

/// Answers a launcher's wishes for control groups until it goes.
class Groups {
 public:
  Groups(std::shared_ptr<sys::CgroupTree> tree, const sandbox::LimitSet& limits, sys::UniqueFd socket)
      : tree_(std::move(tree)), limits_(limits), socket_(std::move(socket)), thread_([this] { serve(); }) {}
  ~Groups() { thread_.join(); }
  Groups(const Groups&) = delete;
  Groups& operator=(const Groups&) = delete;

 private:
  static std::string name(sandbox::RunId run) { return "run-" + std::to_string(run); }

  void serve() {
    constexpr int kRetryMs = 20;
    for (;;) {
      pollfd polled{socket_.get(), POLLIN, 0};
      (void)::poll(&polled, 1, to_remove_.empty() ? -1 : kRetryMs);
      if (polled.revents != 0 && !serve_one()) break;
      std::erase_if(to_remove_, [this](sandbox::RunId run) { return tree_->remove(name(run)); });
    }
    to_remove_.merge(made_);
    for (int tries = 0; !to_remove_.empty() && tries < 500; ++tries) {
      std::erase_if(to_remove_, [this](sandbox::RunId run) { return tree_->remove(name(run)); });
      (void)::poll(nullptr, 0, kRetryMs);  // the kernel is still ending the last of them
    }
  }

  bool serve_one() {
    sandbox::Message request;
    auto received = sys::receive_message(socket_.get(), sys::writable_bytes_of(request), MSG_DONTWAIT);
    if (!received || (*received && (*received)->size != sizeof request)) return false;
    if (!*received) return true;
    if (request.type == sandbox::MessageType::remove_group) {
      made_.erase(request.run);
      to_remove_.insert(request.run);
    }
    if (request.type != sandbox::MessageType::make_group) return true;
    auto fds = tree_->make(name(request.run), {.memory_bytes = limits_.memory_bytes, .cpus = limits_.cpus, .processes = limits_.processes + 1});
    sandbox::Message reply{.type = sandbox::MessageType::group, .value = fds ? 0U : EIO, .run = request.run};
    std::vector<int> raw;
    for (std::size_t i = 0; fds && i < fds->size(); ++i) {
      reply.kinds[i] = (*fds)[i].kind;
      raw.push_back((*fds)[i].fd.get());
    }
    made_.insert(request.run);
    return sys::send_message(socket_.get(), sys::bytes_of(reply), raw).has_value();
  }

  std::shared_ptr<sys::CgroupTree> tree_;
  sandbox::LimitSet limits_;
  sys::UniqueFd socket_;
  std::set<sandbox::RunId> made_;
  std::set<sandbox::RunId> to_remove_;
  std::thread thread_;
};

struct RealCall {
  CancelTokenPtr cancel = std::make_shared<CancelToken>();
  std::optional<Result<Outcome>> result;
};
using RealCallPtr = std::shared_ptr<RealCall>;

/// A launcher with all around it. Ended by its destructor.
class Sandboxes {
 public:
  static constexpr std::uint32_t kUidBase = 1878982656;  // the default of sandbox.uid_base

  static sandbox::LimitSet small_limits() {
    return {.memory_bytes = 160ULL << 20, .cpus = 1, .processes = 24, .files_bytes = 16ULL << 20, .inodes = 500, .open_files = 100};
  }
  static sandbox::LauncherSettings settings(const sandbox::PoolSizes& pool) {
    const bool root = ::geteuid() == 0;
    return {.image = std::filesystem::canonical(ASG_BINARY_DIR "/runtime").string(),
            .runner = ASG_BINARY_DIR "/runner",
            .limits = small_limits(),
            .filter = sandbox::compile_filter().value(),
            .pool = pool,
            .uid_base = root ? kUidBase : ::geteuid(),
            .uid_count = root ? 65536U : 1U};
  }

  /// Call from the process's only thread.
  Result<void> start(const sandbox::LauncherSettings& settings, std::uint32_t slots = 4) {
    settings_ = settings;
    executor_.emplace(io_, executor::ExecutorSettings{.max_concurrent = slots, .queue = 64}, Logger());
    auto host = sys::find_cgroups(file_text("/proc/self/mountinfo"), file_text("/proc/self/cgroup"));
    if (!host) return std::unexpected(host.error());
    cgroups_ = sys::make_cgroup_tree(*host, {.owner = sys::owner_name(), .enter_uid = settings_.uid_base, .v2_fault = {}});
    return start_launcher();
  }
  Result<void> start_launcher() {
    groups_.reset();
    auto launcher = sandbox::spawn_launcher(settings_);
    if (!launcher) return std::unexpected(launcher.error());
    launcher_ = std::move(*launcher);
    auto adopted = cgroups_->adopt_launcher(launcher_.pid);
    if (!adopted) return adopted;
    groups_ = std::make_unique<Groups>(cgroups_, settings_.limits, std::move(launcher_.supervisor));
    executor_->attach(std::move(launcher_.front));
    return {};
  }
  ~Sandboxes() { kill_launcher(); }

  void kill_launcher() {
    if (launcher_.pid < 0) return;
    (void)::syscall(SYS_pidfd_send_signal, launcher_.pidfd.get(), SIGKILL, nullptr, 0);
    (void)::waitpid(launcher_.pid, nullptr, 0);
    launcher_.pid = -1;
    groups_.reset();
  }

  RealCallPtr begin(sandbox::RunSpec spec) {
    auto call = std::make_shared<RealCall>();
    executor::RunHooks hooks{.cancel = call->cancel, .on_phase = {}};
    auto task = executor_->run(std::move(spec), std::move(hooks));
    boost::asio::co_spawn(io_, std::move(task), [call](const std::exception_ptr& failure, Result<Outcome> result) {
      EXPECT_FALSE(failure);
      call->result = std::move(result);
    });
    return call;
  }
  /// Turns the loop until something holds; whether it did.
  bool until(const std::function<bool()>& holds, std::chrono::seconds patience = std::chrono::seconds(40)) {
    const auto give_up = std::chrono::steady_clock::now() + patience;
    while (!holds()) {
      if (std::chrono::steady_clock::now() > give_up) return false;
      io_.restart();
      (void)io_.run_one_for(std::chrono::milliseconds(5));
    }
    return true;
  }
  Result<Outcome> run(sandbox::RunSpec spec) {
    const auto call = begin(std::move(spec));
    if (!until([&] { return call->result.has_value(); })) return fail(ErrorCode::internal, "no answer");
    return std::move(*call->result);
  }
  Result<Outcome> run(std::string code, Language language = Language::python) { return run(spec(std::move(code), language)); }

  static sandbox::RunSpec spec(std::string code, Language language = Language::python) {
    sandbox::RunSpec spec;
    spec.language = language;
    spec.code = std::move(code);
    spec.timeout = std::chrono::seconds(30);
    spec.output_cap = 1 << 20;
    return spec;
  }

  /// Processes of the program that calls itself by this name (/proc/self/comm).
  [[nodiscard]] std::vector<Process> named(const std::string& name) const {
    auto all = below(launcher_.pid);
    std::erase_if(all, [&](const Process& process) { return process["Name"] != name; });
    return all;
  }
  /// Those of the launcher's own PID namespace: zygotes.
  [[nodiscard]] std::vector<Process> zygotes() const {
    auto all = below(launcher_.pid);
    std::erase_if(all, [](const Process& process) { return process.numbers().size() != 2 || process["Name"].find("python") == std::string::npos; });
    return all;
  }

  /// Whether a Python waits for its program.
  [[nodiscard]] bool waits() const {
    return std::ranges::any_of(below(launcher_.pid), [](const Process& process) { return process.numbers().size() == 3 && process["Name"].find("python") != std::string::npos; });
  }

  [[nodiscard]] pid_t launcher_pid() const { return launcher_.pid; }
  [[nodiscard]] const sys::CgroupTree& cgroups() const { return *cgroups_; }
  [[nodiscard]] const sandbox::LauncherSettings& current() const { return settings_; }
  [[nodiscard]] executor::ExecutorCounts counts() const { return executor_->counts(); }

 private:
  boost::asio::io_context io_;
  sandbox::LauncherSettings settings_;
  std::shared_ptr<sys::CgroupTree> cgroups_;
  std::optional<executor::Executor> executor_;
  sandbox::LauncherHandle launcher_;
  std::unique_ptr<Groups> groups_;
};

inline constexpr sandbox::PoolSizes kCold{};
inline constexpr sandbox::PoolSizes kWarm{.python_light = 2, .python_heavy = 1, .node = 1};

/// Cold and warm: a program cannot tell.
class SandboxTest : public testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) ASG_SKIP("root", "a range of ids takes root");
    if (!std::filesystem::exists(ASG_BINARY_DIR "/runtime/usr/bin/python3.11")) ASG_SKIP("runtime-image", "config/run.sh makes the runtime image");
    start(Sandboxes::settings(warm() ? kWarm : kCold));
  }
  void start(const sandbox::LauncherSettings& settings) {
    sandboxes_.emplace();
    auto started = sandboxes_->start(settings);
    ASSERT_TRUE(started) << started.error().to_string();
    // With one that waits there is a zygote to fork from as well.
    ASSERT_TRUE(!warm() || sandboxes_->until([&] { return sandboxes_->waits(); }));
  }
  [[nodiscard]] static bool warm() { return GetParam(); }

  /// What the program printed; the test fails when it did not end well.
  std::string prints(const std::string& code, Language language = Language::python) {
    auto outcome = sandboxes_->run(code, language);
    if (!outcome) {
      ADD_FAILURE() << outcome.error().to_string();
      return {};
    }
    EXPECT_EQ(outcome->exit_code, 0) << outcome->err.text;
    EXPECT_EQ(outcome->err.text, "");
    return outcome->out.text;
  }
  /// A program that goes on and has called itself "probe", seen from outside.
  RealCallPtr begin_probe(std::string before = "") {
    return sandboxes_->begin(Sandboxes::spec(std::move(before) + "\nopen('/proc/self/comm', 'w').write('probe')\nimport time; time.sleep(60)\n"));
  }
  Process probe() {
    EXPECT_TRUE(sandboxes_->until([&] { return !sandboxes_->named("probe").empty(); }));
    auto found = sandboxes_->named("probe");
    return found.empty() ? Process(-1) : found.front();
  }
  void end(const RealCallPtr& call) {
    call->cancel->cancel();
    EXPECT_TRUE(sandboxes_->until([&] { return call->result.has_value(); }));
  }

  std::optional<Sandboxes> sandboxes_;
};

inline std::string name_of(const testing::TestParamInfo<bool>& info) { return info.param ? "Warm" : "Cold"; }

}  // namespace asg::test
