#pragma once
// Runs a seccomp program (classic BPF over struct seccomp_data, seccomp(2)) without a kernel.

#include <linux/filter.h>
#include <linux/seccomp.h>

#include <cstdint>
#include <cstring>
#include <span>
#include <stdexcept>

namespace asg::test {

/// The program's verdict (SECCOMP_RET_*). Throws on anything that a filter of ours does not hold.
inline std::uint32_t evaluate(std::span<const sock_filter> program, const seccomp_data& data) {
  std::uint32_t accumulator = 0;
  for (std::size_t at = 0; at < program.size(); ++at) {
    const sock_filter& step = program[at];
    const auto jump = [&](bool condition) { at += condition ? step.jt : step.jf; };
    switch (step.code) {
      case BPF_LD | BPF_W | BPF_ABS:
        if (step.k + sizeof accumulator > sizeof data) throw std::out_of_range("load outside seccomp_data");
        std::memcpy(&accumulator, reinterpret_cast<const char*>(&data) + step.k, sizeof accumulator);
        break;
      case BPF_ALU | BPF_AND | BPF_K: accumulator &= step.k; break;
      case BPF_JMP | BPF_JA: at += step.k; break;
      case BPF_JMP | BPF_JEQ | BPF_K: jump(accumulator == step.k); break;
      case BPF_JMP | BPF_JGT | BPF_K: jump(accumulator > step.k); break;
      case BPF_JMP | BPF_JGE | BPF_K: jump(accumulator >= step.k); break;
      case BPF_JMP | BPF_JSET | BPF_K: jump((accumulator & step.k) != 0); break;
      case BPF_RET | BPF_K: return step.k;
      default: throw std::logic_error("unexpected instruction");
    }
  }
  throw std::logic_error("ran off the end");
}

}  // namespace asg::test
