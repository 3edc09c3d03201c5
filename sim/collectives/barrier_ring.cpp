// A barrier as an empty all-reduce: nobody leaves before everyone has come.
#include "sim/collectives/rows.h"

namespace busbar {

Schedule barrier_ring_schedule(const GroupShape& shape) {
  Schedule s = all_reduce_ring_schedule(shape);
  s.kind = CollectiveKind::kBarrier;
  return s;
}

Plan barrier_ring_plan(const PlanRequest& request) {
  PlanRequest empty = request;
  empty.bytes = Bytes(0);
  return ring_plan(empty, 2 * (std::int64_t{request.routes->ranks} - 1));
}

}  // namespace busbar
