#include "workloads/trace.h"

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

std::vector<std::uint32_t> expand(const std::vector<RankRange>& ranges) {
  std::vector<std::uint32_t> ranks;
  ranks.reserve(count(ranges));
  for_each_rank(ranges, [&](std::uint32_t rank) { ranks.push_back(rank); });
  return ranks;
}

std::uint64_t count(const std::vector<RankRange>& ranges) {
  std::uint64_t total = 0;
  for (const RankRange& range : ranges) total += range.count;
  return total;
}

}  // namespace busbar
