#include "workloads/strategies/layout.h"

#include <gtest/gtest.h>

#include <set>

#include "workloads/strategies/layout.h"

namespace busbar {
namespace {

using Ranks = std::vector<std::uint32_t>;

ParallelSpec spec(std::int64_t tp, std::int64_t cp, std::int64_t dp, std::int64_t pp) {
  ParallelSpec p;
  p.tp = p.etp = tp;
  p.cp = cp;
  p.dp = dp;
  p.pp = pp;
  return p;
}

TEST(Layout, NumbersTpFastest) {
  const Layout layout(spec(2, 1, 4, 2));
  EXPECT_EQ(layout.members("tp", layout.place_of(0)), (Ranks{0, 1}));
  EXPECT_EQ(layout.members("dp", layout.place_of(0)), (Ranks{0, 2, 4, 6}));
  EXPECT_EQ(layout.members("dp", layout.place_of(9)), (Ranks{9, 11, 13, 15}));
  EXPECT_EQ(layout.members("pp", layout.place_of(3)), (Ranks{3, 11}));
  EXPECT_EQ(layout.pipeline_stride(), 8);
}

TEST(Layout, FollowsAnotherOrder) {
  ParallelSpec p = spec(2, 1, 2, 2);
  p.order = {"tp", "cp", "pp", "dp"};
  const Layout layout(p);
  EXPECT_EQ(layout.members("pp", layout.place_of(0)), (Ranks{0, 2}));
  EXPECT_EQ(layout.members("dp", layout.place_of(0)), (Ranks{0, 4}));
  EXPECT_EQ(layout.stage(1), (Ranks{2, 3, 6, 7}));
}

// Gradients are shared by all that hold the same parameters: context ranks too.
TEST(Layout, SharesGradientsAlongCpAndDp) {
  const Layout layout(spec(2, 2, 2, 1));
  EXPECT_EQ(layout.members("cp", layout.place_of(0)), (Ranks{0, 2}));
  EXPECT_EQ(layout.members("dp", layout.place_of(0)), (Ranks{0, 2, 4, 6}));
}

TEST(Layout, CutsShardsFromNeighbours) {
  ParallelSpec p = spec(1, 1, 8, 1);
  p.shard_size = 4;
  const Layout layout(p);
  EXPECT_EQ(layout.members("shard", layout.place_of(5)), (Ranks{4, 5, 6, 7}));
  EXPECT_EQ(layout.members("replica", layout.place_of(5)), (Ranks{1, 5}));
}

// Eight ranks as tp 2 x dp 4: with etp 1 the expert group runs over tp and dp.
TEST(Layout, FoldsExpertsIntoTheWholeStage) {
  ParallelSpec p = spec(2, 1, 4, 1);
  p.ep = 4;
  p.etp = 1;
  const Layout folded(p);
  EXPECT_EQ(folded.members("ep", folded.place_of(0)), (Ranks{0, 1, 2, 3}));
  EXPECT_EQ(folded.members("edp", folded.place_of(1)), (Ranks{1, 5}));
  p.etp = 2;
  const Layout whole(p);
  EXPECT_EQ(whole.members("ep", whole.place_of(0)), (Ranks{0, 2, 4, 6}));
  EXPECT_EQ(whole.members("etp", whole.place_of(2)), (Ranks{2, 3}));
  EXPECT_EQ(whole.size("edp"), 1);
}

// The communicators of a kind partition the ranks, and a rank finds itself in its own.
TEST(Layout, PartitionsTheRanksByEachCommunicator) {
  ParallelSpec p = spec(2, 2, 6, 3);
  p.ep = 4;
  p.etp = 1;
  p.shard_size = 3;
  p.order = {"cp", "tp", "pp", "dp"};
  const Layout layout(p);
  for (const char* slot : {"tp", "cp", "dp", "pp", "shard", "replica", "ep", "etp", "edp"}) {
    std::set<Ranks> groups;
    for (std::uint32_t rank = 0; rank < static_cast<std::uint32_t>(layout.world()); ++rank) {
      EXPECT_EQ(layout.rank_of(layout.place_of(rank)), rank);
      const Ranks members = layout.members(slot, layout.place_of(rank));
      EXPECT_EQ(static_cast<std::int64_t>(members.size()), layout.size(slot)) << slot;
      EXPECT_EQ(std::count(members.begin(), members.end(), rank), 1) << slot << " " << rank;
      groups.insert(members);
    }
    EXPECT_EQ(static_cast<std::int64_t>(groups.size()) * layout.size(slot), layout.world()) << slot;
  }
}

}  // namespace
}  // namespace busbar
