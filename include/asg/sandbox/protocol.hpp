#pragma once
// What front, launcher, supervisor and init say to each other: one fixed-size message a packet over SOCK_SEQPACKET pairs,
// descriptors by SCM_RIGHTS. Both ends are one program, so layout is no question.

#include <cstdint>
#include <type_traits>

#include "asg/linux/cgroup.hpp"
#include "asg/linux/io.hpp"
#include "asg/sandbox/run_spec.hpp"

namespace asg::sandbox {

using RunId = std::uint64_t;

enum class MessageType : std::uint32_t {
  // front -> launcher
  launch,   // start; fds: payload[, stdin]. Answer: launched or launch_failed
  finish,   // kill what is left and say what it used. Answer: finished, later gone. With fds (working directory, patterns, a
            // memfd for the answer): collect output files when everything is dead; collected comes before gone
  // launcher -> front
  launched,       // value: 1 for a warm one; fds: stdout, stderr (read ends), control; of a warm one also
                  // its words and its working directory
  launch_failed,  // value: errno, text; gone follows
  finished,       // usage
  collected,      // value: 0, or 1 when the collection was cut short
  gone,           // its PID namespace is empty and its group handed back: the slot is free
  // launcher -> supervisor
  make_group,    // Answer: group
  remove_group,  // no answer
  // supervisor -> launcher
  group,  // value: errno; fds and their kinds
  // supervisor -> front
  new_launcher,  // fds: socket
  drain,         // stop taking calls, end by itself
  reload,        // other keys and certificate; value: which, fds: the files
  ping,          // Answer: alive
  // front -> supervisor
  ready,     // serving
  draining,
  alive,     // its event loop goes round
};

struct Usage32 {
  std::uint64_t cpu_us = 0;
  std::uint64_t memory_peak_bytes = 0;
  std::uint64_t oom_kills = 0;
  std::uint32_t processes_peak = 0;
};

/// What a program wants to find imported (Python), or that it needs an interpreter of its own from the start.
enum class Start : std::uint32_t { light, heavy, cold };

struct Message {
  MessageType type{};
  std::uint32_t value = 0;
  RunId run = 0;
  Language language{};
  Start start{};
  Usage32 usage{};
  sys::CgroupFdKind kinds[sys::kMaxMessageFds]{};  // of the attached descriptors, in a group message
  char text[120]{};                                // what failed, for our log
};
static_assert(std::is_trivially_copyable_v<Message>);

/// From a sandbox's PID 1 (or the launcher) to the front, on the run's control socket, which no program holds; and a warm program's
/// own words, over a pipe: its status, before its memory is torn down. End of file without `exited` means that PID 1 was killed.
enum class ControlType : std::uint32_t {
  started,  // fds: the working directory
  failed,   // could not be set up: stage, index, value = errno
  exited,   // value: wait status of the main process (waitpid(2))
  up,       // init can no longer be looked into
  ready,    // a warm process waits for its program
  go,       // to a warm process: its program stands in the payload
  running,  // from a warm process: the program comes next, and what follows here may be its own words
};

struct Control {
  ControlType type{};
  std::uint32_t value = 0;
  std::uint32_t stage = 0;
  std::uint32_t index = 0;
};
static_assert(std::is_trivially_copyable_v<Control> && sizeof(Control) == 16);  // init.c knows it by this layout

}  // namespace asg::sandbox
