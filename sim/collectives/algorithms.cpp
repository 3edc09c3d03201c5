#include "sim/collectives/algorithm.h"

namespace busbar {

namespace {

constexpr Algorithm kAlgorithms[] = {
    {"ring", CollectiveKind::kAllReduce, "reduce-scatter then all-gather round a ring: 2(n-1) steps of S/n",
     all_reduce_ring_schedule, all_reduce_ring_plan},
    {"ring", CollectiveKind::kAllGather, "each part travels once round a ring: n-1 steps of S/n",
     all_gather_ring_schedule, all_gather_ring_plan},
    {"ring", CollectiveKind::kReduceScatter, "partial sums travel once round a ring: n-1 steps of S/n",
     reduce_scatter_ring_schedule, reduce_scatter_ring_plan},
    {"direct", CollectiveKind::kSendRecv, "each rank sends S to the next: one step", send_recv_schedule,
     send_recv_plan},
    {"ring", CollectiveKind::kBarrier, "an empty all_reduce: 2(n-1) steps of nothing", barrier_ring_schedule,
     barrier_ring_plan},
};

}  // namespace

std::span<const Algorithm> algorithms() { return kAlgorithms; }

const Algorithm* find_algorithm(CollectiveKind kind, std::string_view name) {
  for (const Algorithm& row : kAlgorithms)
    if (row.kind == kind && row.name == name) return &row;
  return nullptr;
}

// The send of round k+1 forwards what round k brought: its one predecessor is the send of the rank before.
void append_ring_rounds(Schedule& s, std::uint32_t first_chunk, std::uint32_t steps, bool reduce) {
  const std::uint32_t n = s.ranks;
  for (std::uint32_t k = 0; k < steps; ++k) {
    const auto previous_round = static_cast<std::uint32_t>(s.sends.size()) - n;
    for (std::uint32_t i = 0; i < n; ++i) {
      Send send{.from = i,
                .to = (i + 1) % n,
                .chunk = (first_chunk + i + n - k % n) % n,
                .reduce = reduce,
                .round = s.rounds};
      if (s.rounds > 0) send.after.push_back(previous_round + (i + n - 1) % n);
      s.sends.push_back(send);
    }
    ++s.rounds;
  }
}

}  // namespace busbar
