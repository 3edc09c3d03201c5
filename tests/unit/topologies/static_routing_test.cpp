// Static routing by a seeded hash, and bundles against the spines that they stand for.
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "tests/unit/topologies/routes_by_name.h"

namespace busbar {
namespace {

using testing::topology_of;

Topology tree(const std::string& keys, std::uint64_t seed = 0) {
  return topology_of(R"("hosts": {"count": 16, "type": "dgx-h100", "gpus": 1, "nics": 1},
    "fabric": {"family": "fat-tree", "hosts_per_leaf": 4)" +
                         keys + "}",
                     seed);
}

/// The path of every ordered pair of hosts.
std::vector<std::vector<LinkId>> all_paths(const Topology& t) {
  std::vector<std::vector<LinkId>> paths;
  Router router(t);
  for (const Host& a : t.hosts()) {
    for (const Host& b : t.hosts()) {
      if (&a != &b) paths.push_back(router.route(a.nics[0], b.nics[0], RouteScope::kFabric).value().path);
    }
  }
  return paths;
}

TEST(StaticRouting, PutsEachFlowOnExactlyOnePath) {
  for (const char* tiers : {"", R"(, "tiers": 3, "hosts_per_pod": 8)"}) {
    const Topology t = tree(std::string(R"(, "routing": "static")") + tiers);
    Router router(t);
    for (const Host& a : t.hosts()) {
      for (const Host& b : t.hosts()) {
        const Route route = router.route(a.nics[0], b.nics[0], RouteScope::kFabric).value();
        ASSERT_EQ(route.usage.size(), route.path.size());
        for (std::size_t i = 0; i < route.path.size(); ++i) {
          EXPECT_EQ(route.usage[i].resource.value(), route.path[i].value());
          EXPECT_EQ(route.usage[i].flows, kOneFlow);
          if (i == 0) continue;
          EXPECT_EQ(t.link(route.path[i]).from, t.link(route.path[i - 1]).to);
        }
        if (&a == &b) continue;
        EXPECT_EQ(t.link(route.path.front()).from, a.nics[0]);
        EXPECT_EQ(t.link(route.path.back()).to, b.nics[0]);
      }
    }
  }
}

TEST(StaticRouting, IsTheSamePerSeedAndAnotherWithAnother) {
  const std::string keys = R"(, "routing": "static")";
  EXPECT_EQ(all_paths(tree(keys, 7)), all_paths(tree(keys, 7)));
  EXPECT_NE(all_paths(tree(keys, 7)), all_paths(tree(keys, 8)));
}

TEST(StaticRouting, UsesEverySpineAboutEvenly) {
  const Topology t = tree(R"(, "routing": "static")");
  std::map<std::string, int> flows;
  int crossing = 0;
  for (const auto& path : all_paths(t)) {
    if (path.size() < 4) continue;
    ++flows[t.name_of(t.link(path[1]).to)];
    ++crossing;
  }
  EXPECT_EQ(crossing, 16 * 12);
  ASSERT_EQ(flows.size(), 4U);
  // Binomial with mean 48 and deviation 6: five deviations.
  for (const auto& [spine, count] : flows) EXPECT_NEAR(count, 48, 30) << spine;
}

TEST(StaticRouting, HasAsManySpinesAsTheFullestLeafNeedsCables) {
  const auto spines = [](const Topology& t) {
    std::set<std::string> ids;
    for (std::size_t d = 0; d < t.devices().size(); ++d) {
      const std::string id = t.name_of(DeviceId::from_index(d));
      if (id.starts_with("spine")) ids.insert(id);
    }
    return ids.size();
  };
  EXPECT_EQ(spines(tree(R"(, "routing": "static")")), 4U);
  EXPECT_EQ(spines(tree(R"(, "routing": "static", "oversubscription": 2)")), 2U);
  EXPECT_EQ(spines(tree(R"(, "routing": "static", "oversubscription": 3)")), 2U);  // of 4/3 / 2 B each
  EXPECT_EQ(spines(tree(R"(, "routing": "static", "spines": 8)")), 8U);
  EXPECT_EQ(spines(tree("")), 1U);
}

/// Per ordered pair of hosts: what crosses between each leaf and all spines, each way, in flows.
std::map<std::string, double> between_tiers(const Topology& t, DeviceId from, DeviceId to) {
  std::map<std::string, double> sums;
  Router router(t);
  const Route route = router.route(from, to, RouteScope::kFabric).value();
  for (const ResourceUse& use : route.usage) {
    std::string name = t.link_name(LinkId(use.resource.value()));
    const auto spine = name.find("spine");
    if (spine != name.npos)
      name = spine == 0 ? "down " + name.substr(name.find('>')) : "up " + name.substr(0, spine);
    sums[name] += static_cast<double>(use.flows) / kOneFlow;
  }
  return sums;
}

// A bundle of capacity C under u flows is u/C full; n cables of C/n under u/n flows each are, too.
TEST(AdaptiveRouting, OverABundleEqualsSpinesOneByOne) {
  const Topology bundle = tree(R"(, "oversubscription": 2)");
  const Topology spines = tree(R"(, "oversubscription": 2, "spines": 8)");
  for (std::size_t a = 0; a < 16; a += 3) {
    for (std::size_t b = 0; b < 16; ++b) {
      const auto whole = between_tiers(bundle, bundle.hosts()[a].nics[0], bundle.hosts()[b].nics[0]);
      const auto parts = between_tiers(spines, spines.hosts()[a].nics[0], spines.hosts()[b].nics[0]);
      EXPECT_EQ(whole, parts);  // eighths are exact
    }
  }
  double all = 0;
  for (const Link& link : spines.links()) {
    const bool up = spines.name_of(link.from) == "leaf0" && spines.name_of(link.to).starts_with("spine");
    if (!up) continue;
    EXPECT_DOUBLE_EQ(link.bandwidth.Bps(), 100e9 / 8);
    all += link.bandwidth.Bps();
  }
  EXPECT_DOUBLE_EQ(all, testing::link_called(bundle, "leaf0->spine").bandwidth.Bps());
}

}  // namespace
}  // namespace busbar
