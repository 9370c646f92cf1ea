#pragma once
// The other end of an executor: the launcher and its sandboxes, played by the test.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "asg/linux/io.hpp"
#include "asg/sandbox/output_files.hpp"
#include "asg/sandbox/protocol.hpp"

namespace asg::test {

class FakeLauncher {
 public:
  struct Heard {
    sandbox::Message message;
    std::vector<sys::UniqueFd> fds;
  };
  /// The sandbox's ends of one run.
  struct Sandbox {
    sys::UniqueFd out;
    sys::UniqueFd err;
    sys::UniqueFd control;
    sys::UniqueFd words;  // a warm program's own
  };

  FakeLauncher() {
    auto pair = sys::make_message_pair().value();
    ours_ = std::move(pair.first);
    theirs_ = std::move(pair.second);
  }

  /// For Executor::attach.
  sys::UniqueFd socket() { return std::move(theirs_); }
  /// Dies, and every sandbox with it.
  void die() {
    ours_.reset();
    sandboxes_.clear();
  }
  /// Dies, and its sandboxes take longer.
  std::map<sandbox::RunId, Sandbox> die_alone() {
    ours_.reset();
    return std::move(sandboxes_);
  }

  /// The run that the executor asks for; 0 when it asks for none.
  sandbox::RunId asked_to_launch() { return asked(sandbox::MessageType::launch, last_launch_); }
  sandbox::RunId asked_to_finish() { return asked(sandbox::MessageType::finish, last_finish_); }
  const Heard& last_launch() const { return last_launch_; }
  const Heard& last_finish() const { return last_finish_; }

  /// With a descriptor for the working directory: a warm one.
  Sandbox& launched(sandbox::RunId run, int workspace = -1) {
    auto out = sys::make_pipe().value();
    auto err = sys::make_pipe().value();
    auto control = sys::make_message_pair().value();
    std::vector<int> fds = {out.read_end.get(), err.read_end.get(), control.first.get()};
    auto words = sys::make_pipe().value();
    EXPECT_TRUE(sys::set_nonblocking(words.read_end.get()));
    if (workspace >= 0) fds.insert(fds.end(), {words.read_end.get(), workspace});
    say({.type = sandbox::MessageType::launched, .run = run}, fds);
    return sandboxes_[run] = Sandbox{std::move(out.write_end), std::move(err.write_end), std::move(control.second), std::move(words.write_end)};
  }
  void launch_failed(sandbox::RunId run, int number, std::string_view text) {
    sandbox::Message message{.type = sandbox::MessageType::launch_failed, .value = static_cast<std::uint32_t>(number), .run = run};
    text.copy(message.text, sizeof message.text - 1);
    say(message);
    gone(run);
  }
  void control(sandbox::RunId run, const sandbox::Control& control, std::vector<int> fds = {}) {
    EXPECT_TRUE(sys::send_message(sandboxes_.at(run).control.get(), sys::bytes_of(control), fds));
  }
  /// What a warm program says itself.
  void words(sandbox::RunId run, std::string_view bytes) {
    EXPECT_EQ(::write(sandboxes_.at(run).words.get(), bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
  }
  void words(sandbox::RunId run, const sandbox::Control& control) {
    words(run, std::string_view(reinterpret_cast<const char*>(&control), sizeof control));
  }
  /// wait_status: as waitpid(2) gives it.
  void exited(sandbox::RunId run, int wait_status) {
    control(run, {.type = sandbox::ControlType::exited, .value = static_cast<std::uint32_t>(wait_status)});
  }
  void prints(sandbox::RunId run, std::string_view text) {
    EXPECT_EQ(::write(sandboxes_.at(run).out.get(), text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }
  Sandbox& sandbox(sandbox::RunId run) { return sandboxes_.at(run); }
  void finished(sandbox::RunId run, const sandbox::Usage32& usage = {}) {
    say({.type = sandbox::MessageType::finished, .run = run, .usage = usage});
  }
  /// The collector's answer to the last finish message.
  void collected(sandbox::RunId run, const std::vector<sandbox::OutputFile>& files) {
    const std::string bytes = sandbox::encode_files(files);
    EXPECT_EQ(::write(last_finish_.fds.at(2).get(), bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
    say({.type = sandbox::MessageType::collected, .run = run});
  }
  void collection_cut_short(sandbox::RunId run) { say({.type = sandbox::MessageType::collected, .value = 1, .run = run}); }
  void gone(sandbox::RunId run) {
    sandboxes_.erase(run);
    say({.type = sandbox::MessageType::gone, .run = run});
  }

 private:
  sandbox::RunId asked(sandbox::MessageType type, Heard& last) {
    hear();
    const auto found = std::ranges::find(heard_, type, [](const Heard& heard) { return heard.message.type; });
    if (found == heard_.end()) return 0;
    last = std::move(*found);
    heard_.erase(found);
    return last.message.run;
  }

  void hear() {
    for (;;) {
      Heard heard;
      auto received = sys::receive_message(ours_.get(), sys::writable_bytes_of(heard.message), MSG_DONTWAIT);
      if (!received || !*received || (*received)->size != sizeof heard.message) return;
      heard.fds = std::move((*received)->fds);
      heard_.push_back(std::move(heard));
    }
  }

  void say(const sandbox::Message& message, const std::vector<int>& fds = {}) {
    EXPECT_TRUE(sys::send_message(ours_.get(), sys::bytes_of(message), fds));
  }

  sys::UniqueFd ours_;
  sys::UniqueFd theirs_;
  std::deque<Heard> heard_;
  Heard last_launch_;
  Heard last_finish_;
  std::map<sandbox::RunId, Sandbox> sandboxes_;
};

}  // namespace asg::test
