// The router's caches against the search behind them, its splitting against a slow twin, and the order of
// NICs.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <queue>
#include <random>

#include "tests/unit/topologies/routes_by_name.h"
#include "topologies/route_search.h"

namespace busbar {
namespace {

using testing::between_switches;
using testing::cable;
using testing::device_called;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::rails;
using testing::Routes;
using testing::Shares;
using testing::switch_called;
using testing::topology_of;

TEST(NicsByDistance, GiveEachGpuItsOwnNicFirst) {
  for (const char* type : {"dgx-h100", "dgx-a100"}) {
    const Topology t = rails(2, type);
    Routes r(t);
    for (const char* host : {"h0", "h1"}) {
      for (int i = 0; i < 8; ++i) {
        const std::string number = std::to_string(i);
        const auto nics = r.nics((host + (".gpu" + number)).c_str());
        ASSERT_EQ(nics.size(), 8U);
        EXPECT_EQ(nics[0], host + (".nic" + number)) << type;
      }
    }
  }
}

TEST(NicsByDistance, PutTheSameSwitchBeforeOthersThenTheLessTaken) {
  const Topology t = rails(1, "dgx-a100");
  Routes r(t);
  // NICs 0 and 1 are at GPU 0's switch; none is taken yet, so file order decides, also among those behind
  // proxies.
  EXPECT_THAT(r.nics("h0.gpu0"), ElementsAre("h0.nic0", "h0.nic1", "h0.nic2", "h0.nic3", "h0.nic4", "h0.nic5",
                                             "h0.nic6", "h0.nic7"));
  // NIC 0 is taken by GPU 0.
  EXPECT_THAT(r.nics("h0.gpu1"), ElementsAre("h0.nic1", "h0.nic0", "h0.nic2", "h0.nic3", "h0.nic4", "h0.nic5",
                                             "h0.nic6", "h0.nic7"));
}

TEST(NicsByDistance, SpreadGpusWithoutANearNicOverThoseThereAre) {
  const Topology t = topology_of(
      R"("hosts": {"count": 1, "type": "dgx-h100", "nics": 4}, "fabric": {"family": "rail-optimized"})");
  Routes r(t);
  // NIC k is at GPU 2k's switch; the odd GPUs are dealt one to each.
  std::map<std::string, int> served;
  for (int i = 0; i < 8; ++i) {
    const std::string nic = r.nics(("h0.gpu" + std::to_string(i)).c_str())[0];
    if (i % 2 == 0) {
      EXPECT_EQ(nic, "h0.nic" + std::to_string(i / 2));
    }
    ++served[nic];
  }
  for (const auto& [nic, gpus] : served) EXPECT_EQ(gpus, 2) << nic;
}

TEST(NicsByDistance, AreNoneWithoutANetwork) {
  const Topology t =
      topology_of(R"("hosts": {"count": 1, "type": "dgx-h100"}, "fabric": {"family": "none"})");
  Routes r(t);
  EXPECT_THAT(r.nics("h0.gpu0"), IsEmpty());
}

bool same_route(const Route& a, const Route& b) {
  const auto same_use = [](const ResourceUse& x, const ResourceUse& y) {
    return x.resource == y.resource && x.flows == y.flows;
  };
  return a.path == b.path && std::ranges::equal(a.usage, b.usage, same_use);
}

Shares by_link(const Topology& t, const std::vector<ResourceUse>& usage) {
  Shares shares;
  for (const ResourceUse& use : usage) shares[t.link_name(LinkId(use.resource.value()))] += use.flows;
  return shares;
}

// The caches against the search that they stand in front of. Returns how many routes there are.
std::size_t expect_as_uncached(const Topology& t, std::span<const RouteScope> scopes) {
  Router router(t);
  RouteSearch search(t);
  std::size_t routes = 0;
  for (std::size_t i = 0; i < t.devices().size(); ++i)
    for (std::size_t j = 0; j < t.devices().size(); ++j)
      for (const RouteScope scope : scopes) {
        const DeviceId a = DeviceId::from_index(i), b = DeviceId::from_index(j);
        const auto cached = router.route(a, b, scope);
        const auto direct = search.find(a, b, scope);
        EXPECT_EQ(cached.has_value(), direct.has_value()) << t.name_of(a) << " to " << t.name_of(b);
        if (!cached || !direct) continue;
        ++routes;
        EXPECT_EQ(cached->path, direct->route.path) << t.name_of(a) << " to " << t.name_of(b);
        EXPECT_EQ(by_link(t, cached->usage), by_link(t, direct->route.usage));
      }
  return routes;
}

constexpr RouteScope kInside[] = {RouteScope::kHost, RouteScope::kFabric};
constexpr RouteScope kAll[] = {RouteScope::kHost, RouteScope::kFabric, RouteScope::kAnywhere};

// Two shapes and two pods, one host with a fault.
TEST(Router, AgreesWithTheUncachedSearch) {
  const Topology t =
      topology_of(R"("hosts": [{"count": 2, "type": "dgx-h100"}, {"count": 2, "type": "dgx-a100"},
      {"count": 1, "type": "dgx-h100", "gpus": 3}, {"count": 1, "type": "dgx-h100"}],
    "fabric": {"family": "rail-optimized", "hosts_per_leaf": 3}, "faults": [{"link": "h1.gpu0--h1.nvs", "bandwidth": "1%"}])");
  EXPECT_GT(expect_as_uncached(t, kInside), 5'000U);
}

// Leaves at the edge of two tiers of spines: what lies behind them is found once for all.
TEST(Router, AgreesWithTheUncachedSearchOverThreeTiers) {
  const Topology t = topology_of(R"("hosts": {"count": 8, "type": "dgx-h100", "gpus": 2, "nics": 2},
    "fabric": {"family": "rail-optimized", "hosts_per_leaf": 2, "hosts_per_pod": 4, "tiers": 3})");
  EXPECT_GT(expect_as_uncached(t, kInside), 2'000U);
}

// GPUs cabled to switches themselves: one alone, two switches with two cables between them, one GPU with two
// cables of its own.
TEST(Router, AgreesWithTheUncachedSearchWhereGpusHaveNoNic) {
  const auto gpu = [](int i) {
    return fmt::format(R"({{"id": "g{0}", "kind": "gpu", "host": "h{0}"}}, )", i);
  };
  const auto wire = [](const std::string& a, const std::string& b) {
    return R"({"from": ")" + a + R"(", "to": ")" + b + R"(", "bandwidth": "50 GB/s", "type": "rdma"}, )";
  };
  std::string devices, links;
  for (int i = 0; i < 7; ++i) devices += gpu(i);
  for (int i = 0; i < 6; ++i) links += wire("g" + std::to_string(i), i < 4 ? "x" : "y");
  links += wire("g6", "x") + wire("g6", "y") + wire("x", "y");
  links += R"({"from": "x", "to": "y", "bandwidth": "50 GB/s", "type": "rdma"})";
  devices += R"({"id": "x", "kind": "switch"}, {"id": "y", "kind": "switch"})";
  const Topology t = topology_of(R"("devices": [)" + devices + R"(], "links": [)" + links + "]");
  EXPECT_GT(expect_as_uncached(t, kAll), 9U * (1 + 8 + 8));
}

TEST(Router, GivesTheSameRouteAgain) {
  const Topology t = rails(40, "dgx-a100");
  Router router(t);
  const DeviceId a = device_called(t, "h0.gpu5");
  const DeviceId b = device_called(t, "h39.gpu2");
  const auto first = router.route(a, b, RouteScope::kAnywhere);
  EXPECT_TRUE(same_route(first.value(), router.route(a, b, RouteScope::kAnywhere).value()));
}

/// A random graph of switches (all links of one cost) with two NICs, and the obvious way to split flows in
/// it.
class RandomFabric {
 public:
  explicit RandomFabric(std::uint32_t seed) : random_(seed) {
    const std::size_t switches = 2 + random_() % 7;
    for (std::size_t s = 0; s < switches; ++s) {
      names_.push_back("x" + std::to_string(s));
      switches_ += switch_called(names_.back());
    }
    const std::size_t cables = random_() % (3 * switches);
    for (std::size_t c = 0; c < cables; ++c) {
      const std::size_t a = random_() % switches;
      const std::size_t b = random_() % switches;
      if (a != b) cables_ += cable(names_[a], names_[b]);
    }
    // s and t are always joined, if only by a detour, so that the topology is valid.
    cables_ += cable("s", names_[random_() % switches]) + cable("t", names_[random_() % switches]);
    for (std::size_t s = 0; s + 1 < switches; ++s) cables_ += cable(names_[s], names_[s + 1]);
  }
  Topology topology() const { return between_switches(switches_, cables_); }

 private:
  std::mt19937 random_;
  std::vector<std::string> names_;
  std::string switches_, cables_;
};

/// Hops from each device to `goal` through switches only.
std::vector<int> hops_to(const Topology& t, DeviceId goal) {
  std::vector<int> hops(t.devices().size(), 1'000'000);
  std::queue<DeviceId> queue({goal});
  hops[goal.index()] = 0;
  for (; !queue.empty(); queue.pop()) {
    for (const Link& link : t.links()) {
      if (link.to != queue.front() || !is_network(link.type) || hops[link.from.index()] < 1'000'000) continue;
      hops[link.from.index()] = hops[queue.front().index()] + 1;
      if (t.device(link.from).kind == DeviceKind::kSwitch) queue.push(link.from);
    }
  }
  return hops;
}

void split(const Topology& t, const std::vector<int>& hops, DeviceId at, double flow,
           std::vector<double>& on_link) {
  std::vector<LinkId> onward;
  for (const LinkId l : t.out_links(at)) {
    if (is_network(t.link(l).type) && hops[t.link(l).to.index()] == hops[at.index()] - 1) onward.push_back(l);
  }
  for (const LinkId l : onward) {
    on_link[l.index()] += flow / static_cast<double>(onward.size());
    split(t, hops, t.link(l).to, flow / static_cast<double>(onward.size()), on_link);
  }
}

TEST(FabricRoutes, SplitAsAWalkThatHalvesAtEveryFork) {
  for (std::uint32_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    const Topology t = RandomFabric(seed).topology();
    const DeviceId from = device_called(t, "a.nic");
    const DeviceId to = device_called(t, "b.nic");
    std::vector<double> expected(t.links().size(), 0);
    split(t, hops_to(t, to), from, 1, expected);
    std::vector<double> found(t.links().size(), 0);
    Router router(t);
    const Route route = router.route(from, to, RouteScope::kFabric).value();
    for (const ResourceUse& use : route.usage) {
      found[use.resource.index()] += static_cast<double>(use.flows) / static_cast<double>(kOneFlow);
    }
    // Shares are rounded once, to the nearest of 2^20 parts.
    for (std::size_t l = 0; l < expected.size(); ++l) ASSERT_NEAR(found[l], expected[l], 0.5001 / kOneFlow);
  }
}

}  // namespace
}  // namespace busbar
