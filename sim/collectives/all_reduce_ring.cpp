// Ring all-reduce. Source: Patarasuk & Yuan, "Bandwidth optimal all-reduce algorithms for clusters of
// workstations", JPDC 2009. Each rank sends 2(n-1)/n S.
#include "sim/collectives/rows.h"

namespace busbar {

Schedule all_reduce_ring_schedule(const GroupShape& shape) {
  Schedule s{.kind = CollectiveKind::kAllReduce, .ranks = shape.ranks, .chunks = shape.ranks};
  if (shape.ranks < 2) return s;
  // After n-1 reducing rounds rank i holds the whole sum of chunk i+1, and passes it on for n-1 more.
  append_ring_rounds(s, 0, shape.ranks - 1, true);
  append_ring_rounds(s, 1, shape.ranks - 1, false);
  return s;
}

Plan all_reduce_ring_plan(const PlanRequest& request) {
  return ring_plan(request, 2 * (std::int64_t{request.routes->ranks} - 1));
}

}  // namespace busbar
