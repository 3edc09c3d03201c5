// A barrier as an empty all-reduce: nobody leaves before everyone has come.
#include "sim/collectives/algorithm.h"

namespace busbar {

Schedule barrier_ring_schedule(std::uint32_t ranks) {
  Schedule s = all_reduce_ring_schedule(ranks);
  s.kind = CollectiveKind::kBarrier;
  return s;
}

Plan barrier_ring_plan(const PlanRequest& request) {
  PlanRequest empty = request;
  empty.bytes = Bytes(0);
  return ring_plan(empty, 2 * (std::int64_t{request.routes->ranks} - 1));
}

}  // namespace busbar
