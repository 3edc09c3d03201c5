// Ring all-gather: each rank sends (n-1)/n S, S being the gathered size.
#include "sim/collectives/rows.h"

namespace busbar {

Schedule all_gather_ring_schedule(const GroupShape& shape) {
  Schedule s{.kind = CollectiveKind::kAllGather, .ranks = shape.ranks, .chunks = shape.ranks};
  if (shape.ranks > 1) append_ring_rounds(s, 0, shape.ranks - 1, false);
  return s;
}

Plan all_gather_ring_plan(const PlanRequest& request) {
  return ring_plan(request, std::int64_t{request.routes->ranks} - 1);
}

}  // namespace busbar
