// Ring reduce-scatter: each rank sends (n-1)/n S, S being the size before scattering.
#include "sim/collectives/rows.h"

namespace busbar {

Schedule reduce_scatter_ring_schedule(const GroupShape& shape) {
  Schedule s{.kind = CollectiveKind::kReduceScatter, .ranks = shape.ranks, .chunks = shape.ranks};
  // Starting with chunk i-1 leaves rank i with the whole sum of chunk i after n-1 rounds.
  if (shape.ranks > 1) append_ring_rounds(s, shape.ranks - 1, shape.ranks - 1, true);
  return s;
}

Plan reduce_scatter_ring_plan(const PlanRequest& request) {
  return ring_plan(request, std::int64_t{request.routes->ranks} - 1);
}

}  // namespace busbar
