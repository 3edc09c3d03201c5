#include "workloads/trace.h"

#include <algorithm>

#include "sim/base/error.h"
#include "workloads/rank_set.h"

namespace busbar {

std::string_view name_of(Phase phase) {
  switch (phase) {
    case Phase::kNone:
      return "none";
    case Phase::kForward:
      return "forward";
    case Phase::kBackward:
      return "backward";
    case Phase::kOptimizer:
      return "optimizer";
  }
  BUSBAR_CHECK(false);
  return "";
}

bool communicates(const Op& op) { return op.kind != OpKind::kCompute && op.kind != OpKind::kHost; }

std::string_view activity_of(const Op& op) {
  if (op.kind == OpKind::kCompute) return "compute";
  if (op.kind == OpKind::kHost) return "host";
  return op.kind == OpKind::kCollective ? name_of(op.collective) : "send_recv";
}

Bytes SplitMatrix::size() const {
  std::int64_t largest = 0;
  for (std::uint32_t a = 0; a < members; ++a) {
    std::int64_t sent = 0;
    std::int64_t received = 0;
    for (std::uint32_t b = 0; b < members; ++b) {
      sent = checked_add(sent, at(a, b).count(), "the bytes of a split matrix");
      received = checked_add(received, at(b, a).count(), "the bytes of a split matrix");
    }
    largest = std::max({largest, sent, received});
  }
  return Bytes(largest);
}

}  // namespace busbar
