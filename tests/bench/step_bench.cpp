// Whole predictions: topology, routes, plans and replay, from nothing.
#include <benchmark/benchmark.h>
#include <sys/resource.h>

#include "tests/support/inline.h"

namespace busbar {
namespace {

std::string cluster(std::int64_t hosts) {
  return fmt::format(
      R"({{"schema": "busbar.topology/1", "name": "t", "hosts": {{"count": {}, "type": "dgx-h100"}},
    "fabric": {{"family": "rail-optimized"}}}})",
      hosts);
}

double peak_MiB() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

// One ring all_reduce of 1 GiB. Run sizes one by one (--benchmark_filter) to read its memory: it is the
// process's peak.
void BM_RingAllReduce(benchmark::State& state) {
  const std::string text = cluster(state.range(0) / 8);
  for (auto unused : state) {
    const Topology topology = topology_from(text);
    benchmark::DoNotOptimize(
        sweep(topology, {.operation = CollectiveKind::kAllReduce, .sizes = {1_GiB}}, default_profile(), {}));
  }
  state.SetComplexityN(state.range(0));
  state.counters["peak_MiB"] = peak_MiB();
}
BENCHMARK(BM_RingAllReduce)
    ->RangeMultiplier(4)
    ->Range(8, 8192)
    ->Arg(16384)
    ->Unit(benchmark::kMillisecond)
    ->Complexity();

// An FSDP step of llama-2-7b.
void BM_FsdpStep(benchmark::State& state) {
  const std::string text = cluster(state.range(0) / 8);
  const StepTrace trace = workload_from(fmt::format(
      R"({{"schema": "busbar.workload/1", "name": "w", "model": {{"preset": "llama-2-7b"}},
          "batch": {{"sequence": 4096, "micro": 1, "global": {}}}, "parallel": {{"dp": {}, "sharding": "fsdp"}}}})",
      state.range(0), state.range(0)));
  for (auto unused : state) {
    const Topology topology = topology_from(text);
    const RunResult result = simulate(topology, trace, default_profile(), {});
    state.counters["events"] = static_cast<double>(result.events);
  }
  state.SetComplexityN(state.range(0));
  state.counters["peak_MiB"] = peak_MiB();
}
BENCHMARK(BM_FsdpStep)->Arg(16)->Arg(128)->Arg(1024)->Unit(benchmark::kMillisecond)->Complexity();

}  // namespace
}  // namespace busbar
