#pragma once

#include <algorithm>
#include <cstdint>

namespace asg::http {

/// The request bodies in memory, all together. Small ones are free: the bound on connections bounds them, too, and who fills
/// the budget does not keep them out. Thread: the front's single thread.
class ByteBudget {
 public:
  static constexpr std::uint64_t kFree = 64UL << 10;

  explicit ByteBudget(std::uint64_t limit) : limit_(limit) {}
  [[nodiscard]] std::uint64_t used() const { return used_; }

  /// The share of one request. The budget must outlive it.
  class Lease {
   public:
    explicit Lease(ByteBudget& budget) : budget_(budget) {}
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;
    ~Lease() { release(); }

    /// Whether the request may hold so many bytes; never takes less than before.
    [[nodiscard]] bool grow_to(std::uint64_t bytes) {
      const std::uint64_t wanted = bytes > kFree ? bytes : 0;
      const std::uint64_t more = wanted > held_ ? wanted - held_ : 0;
      if (more > budget_.limit_ - std::min(budget_.used_, budget_.limit_)) return false;
      held_ += more;
      budget_.used_ += more;
      return true;
    }
    void release() {
      budget_.used_ -= held_;
      held_ = 0;
    }

   private:
    ByteBudget& budget_;
    std::uint64_t held_ = 0;
  };

 private:
  std::uint64_t limit_;
  std::uint64_t used_ = 0;
};

}  // namespace asg::http
