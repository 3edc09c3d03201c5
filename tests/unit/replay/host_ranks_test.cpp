#include "sim/replay/host_ranks.h"

#include <gtest/gtest.h>

#include "tests/support/inline.h"

namespace busbar {
namespace {

std::optional<std::int64_t> ranks_of(const std::string& hosts, const std::string& more = "") {
  return host_ranks_of(topology_from(R"({"schema": "busbar.topology/1", "hosts": )" + hosts +
                                     R"(, "fabric": {"family": "rail-optimized", "wire": "rdma"})" + more +
                                     "}"));
}

TEST(HostRanks, AreThoseOfAHostOrRack) {
  EXPECT_EQ(ranks_of(R"({"count": 3, "type": "dgx-h100"})"), 8);
  EXPECT_EQ(ranks_of(R"({"count": 3, "type": "dgx-h100", "gpus": 2})"), 2);
  // 18 trays of 4 GPUs share NVLink; the second rack has two.
  EXPECT_EQ(ranks_of(R"({"count": 20, "type": "gb200-nvl72"})"), 72);
}

TEST(HostRanks, AreNotKnownWhereHostsDifferOrTakeTurns) {
  EXPECT_EQ(ranks_of(R"([{"count": 1, "type": "dgx-h100", "gpus": 4}, {"count": 1, "type": "dgx-h100"}])"),
            std::nullopt);
  EXPECT_EQ(ranks_of(R"({"count": 2, "type": "dgx-h100", "gpus": 2})",
                     R"(, "rank_order": ["h0.gpu0", "h1.gpu0", "h0.gpu1", "h1.gpu1"])"),
            std::nullopt);
}

}  // namespace
}  // namespace busbar
