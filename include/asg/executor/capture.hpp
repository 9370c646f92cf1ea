#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "asg/sandbox/outcome.hpp"

namespace asg::executor {

/// Bounded capture of one output stream: the first and the last half of the cap are kept, what lies between is counted
/// and forgotten. Never fails and never asks the writer to wait. Memory grows with what was written, up to the cap.
/// Thread: one at a time.
class Capture {
 public:
  /// cap: bytes kept, marker line included.
  explicit Capture(std::size_t cap);

  void append(std::span<const char> bytes);
  /// Bytes appended so far.
  [[nodiscard]] std::uint64_t total() const { return total_; }

  /// The stream as it came, or head, one marker line and tail. The cuts do not split UTF-8 sequences. The text is not
  /// longer than the cap, unless the cap is too small for the marker. Leaves the capture empty.
  [[nodiscard]] sandbox::Captured finish();

 private:
  void append_tail(std::span<const char> bytes);

  std::size_t head_cap_;
  std::size_t tail_cap_;
  std::vector<char> head_;
  std::vector<char> tail_;      // grows to tail_cap_, then is a ring
  std::size_t tail_start_ = 0;  // oldest byte of the ring
  std::uint64_t total_ = 0;
};

}  // namespace asg::executor
