// The pieces of a call that are ours and take CPU time, each alone (Google Benchmark).

#include <benchmark/benchmark.h>

#include <span>
#include <string>

#include "asg/executor/capture.hpp"
#include "asg/sandbox/payload_writer.hpp"
#include "asg/sandbox/seccomp.hpp"
#include "sandbox/payload.hpp"

namespace {

void encode_and_decode_payload(benchmark::State& state) {
  asg::sandbox::RunSpec spec;
  spec.code.assign(static_cast<std::size_t>(state.range(0)), 'x');
  for (auto _ : state) {
    const std::string bytes = asg::sandbox::encode_payload(spec);
    benchmark::DoNotOptimize(asg::sandbox::decode_payload(bytes));
  }
  state.SetBytesProcessed(state.iterations() * state.range(0));
}
BENCHMARK(encode_and_decode_payload)->Arg(100)->Arg(100'000);

void capture_output(benchmark::State& state) {
  const std::string chunk(65536, 'x');
  for (auto _ : state) {
    asg::executor::Capture capture(1 << 20);
    for (std::int64_t left = state.range(0); left > 0; left -= 65536) capture.append(chunk);
    benchmark::DoNotOptimize(capture.finish());
  }
  state.SetBytesProcessed(state.iterations() * state.range(0));
}
BENCHMARK(capture_output)->Arg(65536)->Arg(16 << 20);

void compile_the_filter(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(asg::sandbox::compile_filter());
}
BENCHMARK(compile_the_filter);

}  // namespace

BENCHMARK_MAIN();
