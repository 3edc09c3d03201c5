// The engine's parts alone.
#include <benchmark/benchmark.h>

#include "sim/engine/event_queue.h"
#include "sim/engine/max_min.h"
#include "tests/support/seeded.h"

namespace busbar {
namespace {

// The classic hold model: pop one, push one, with `pending` events in the queue. One event = one push and one
// pop.
void BM_EventQueue(benchmark::State& state) {
  Seeded random(1);
  std::vector<Time> ahead;
  for (int i = 0; i < 4096; ++i) ahead.push_back(Time::picoseconds(random.integer(1, 1000000)));
  EventQueue queue;
  for (std::int64_t i = 0; i < state.range(0); ++i)
    queue.push(Time::picoseconds(random.integer(1, 1000000)), {});
  std::size_t next = 0;
  for (auto unused : state) {
    const Time now = queue.next_time();
    benchmark::DoNotOptimize(queue.pop());
    queue.push(now + ahead[next++ & 4095U], {});
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(BM_EventQueue)->Arg(1000)->Arg(100000);

// Flows between random pairs on one switch: each uses one up-link and one down-link.
void BM_MaxMin(benchmark::State& state) {
  constexpr std::uint32_t kPorts = 256;
  Seeded random(2);
  std::vector<std::vector<ResourceUse>> usage;
  for (std::int64_t i = 0; i < state.range(0); ++i)
    usage.push_back(
        {{ResourceId(static_cast<std::uint32_t>(random.integer(0, kPorts - 1))), kOneFlow},
         {ResourceId(static_cast<std::uint32_t>(random.integer(kPorts, 2 * kPorts - 1))), kOneFlow}});
  MaxMinSolver solver(std::vector<double>(std::size_t{2} * kPorts, 50e9));
  std::vector<MaxMinEntry> entries;
  for (const auto& u : usage) entries.push_back({u, 1, 1e12, 0});
  for (auto unused : state) solver.solve(entries);
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(BM_MaxMin)->Arg(64)->Arg(512)->Arg(4096)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace busbar
