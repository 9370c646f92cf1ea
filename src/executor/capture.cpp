#include "asg/executor/capture.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>

namespace asg::executor {
namespace {

bool is_continuation(char c) {
  return (static_cast<unsigned char>(c) & 0xC0U) == 0x80;
}

// Length of the UTF-8 sequence that this byte begins; 1 for ASCII and for bytes that begin none.
std::size_t sequence_length(char lead) {
  const auto byte = static_cast<unsigned char>(lead);
  if (byte >= 0xF0 && byte <= 0xF4) return 4;
  if (byte >= 0xE0 && byte < 0xF0) return 3;
  if (byte >= 0xC2 && byte < 0xE0) return 2;
  return 1;
}

// Without a sequence that begins at the end and is not whole.
std::string_view cut_end(std::string_view text) {
  for (std::size_t back = 1; back <= std::min<std::size_t>(3, text.size()); ++back) {
    const char c = text[text.size() - back];
    if (is_continuation(c)) continue;
    return sequence_length(c) > back ? text.substr(0, text.size() - back) : text;
  }
  return text;
}

// Without the rest of a sequence that began before the text.
std::string_view cut_start(std::string_view text) {
  std::size_t skip = 0;
  while (skip < 3 && skip < text.size() && is_continuation(text[skip])) ++skip;
  return text.substr(skip);
}

std::string marker_line(std::uint64_t left_out) {
  return "[... " + std::to_string(left_out) + " bytes left out ...]\n";
}

// Appends with growth by doubling, but never beyond the cap.
void append_bounded(std::vector<char>& kept, std::span<const char> bytes, std::size_t cap) {
  const std::size_t needed = kept.size() + bytes.size();
  if (needed > kept.capacity()) kept.reserve(std::min(cap, std::max(needed, 2 * kept.capacity())));
  kept.insert(kept.end(), bytes.data(), bytes.data() + bytes.size());
}

// Head, marker line and tail, together not longer than head and tail were: the marker's room is taken from the tail.
std::string with_marker(std::string_view head, std::string_view tail, std::uint64_t total) {
  head = cut_end(head);
  const std::string_view line_end = head.empty() || head.ends_with('\n') ? "" : "\n";
  const std::size_t room = line_end.size() + marker_line(total).size();
  if (room < tail.size()) tail.remove_prefix(room);
  tail = cut_start(tail);
  std::string text(head);
  text.append(line_end).append(marker_line(total - head.size() - tail.size())).append(tail);
  return text;
}

}  // namespace

Capture::Capture(std::size_t cap) : head_cap_(cap / 2), tail_cap_(cap - cap / 2) {}

void Capture::append(std::span<const char> bytes) {
  total_ += bytes.size();
  const auto first = bytes.first(std::min(bytes.size(), head_cap_ - head_.size()));
  if (!first.empty()) append_bounded(head_, first, head_cap_);
  append_tail(bytes.subspan(first.size()));
}

void Capture::append_tail(std::span<const char> bytes) {
  if (bytes.empty()) return;
  if (bytes.size() >= tail_cap_) {  // nothing older can stay
    tail_.clear();
    tail_start_ = 0;
    append_bounded(tail_, bytes.last(tail_cap_), tail_cap_);
    return;
  }
  const auto growing = bytes.first(std::min(bytes.size(), tail_cap_ - tail_.size()));
  if (!growing.empty()) append_bounded(tail_, growing, tail_cap_);
  auto rest = bytes.subspan(growing.size());
  while (!rest.empty()) {
    const auto chunk = rest.first(std::min(rest.size(), tail_cap_ - tail_start_));
    std::memcpy(tail_.data() + tail_start_, chunk.data(), chunk.size());
    tail_start_ = (tail_start_ + chunk.size()) % tail_cap_;
    rest = rest.subspan(chunk.size());
  }
}

sandbox::Captured Capture::finish() {
  std::ranges::rotate(tail_, tail_.begin() + static_cast<std::ptrdiff_t>(tail_start_));
  const std::string_view head(head_.data(), head_.size());
  const std::string_view tail(tail_.data(), tail_.size());
  sandbox::Captured captured{.text = {}, .bytes = total_, .truncated = total_ > head.size() + tail.size()};
  if (captured.truncated) {
    captured.text = with_marker(head, tail, total_);
  } else {
    captured.text.append(head).append(tail);
  }
  *this = Capture(head_cap_ + tail_cap_);
  return captured;
}

}  // namespace asg::executor
