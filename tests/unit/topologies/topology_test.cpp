#include "topologies/topology.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <random>

#include "tests/unit/topologies/topology_text.h"

namespace busbar {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::ids_of;
using ::testing::IsEmpty;

constexpr Bandwidth kTen = Bandwidth::gigabytes_per_second(10);

/// Two hosts "a" and "b" of one GPU, "a.gpu" and "b.gpu", with no link yet.
struct Pair {
  TopologyBuilder builder{"pair", "test"};
  std::uint32_t host_a = builder.add_host("a", "");
  std::uint32_t host_b = builder.add_host("b", "");
  DeviceId a = builder.add_device("a.gpu", DeviceKind::kGpu, host_a);
  DeviceId b = builder.add_device("b.gpu", DeviceKind::kGpu, host_b);
};

std::string error_in(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(Topology, AFullDuplexLinkIsTwoDirectionsForwardFirst) {
  Pair p;
  const LinkId forward = p.builder.add_link(p.a, p.b, kTen, LinkType::kNvlink, Time::from_microseconds(1));
  const Topology t = std::move(p.builder).build();
  ASSERT_EQ(t.links().size(), 2U);
  EXPECT_EQ(forward, LinkId(0));
  EXPECT_EQ(t.link_name(LinkId(0)), "a.gpu->b.gpu");
  EXPECT_EQ(t.link_name(LinkId(1)), "b.gpu->a.gpu");
  for (const Link& link : t.links()) {
    EXPECT_EQ(link.bandwidth, kTen);
    EXPECT_EQ(link.latency, Time::from_microseconds(1));
  }
}

TEST(Topology, OutLinksAreTheDirectionsThatLeaveADevice) {
  Pair p;
  const DeviceId hub = p.builder.add_device("hub", DeviceKind::kNvswitch);
  p.builder.add_link(p.a, hub, kTen, LinkType::kNvlink);  // 0: a->hub, 1: hub->a
  p.builder.add_link(hub, p.b, kTen, LinkType::kNvlink);  // 2: hub->b, 3: b->hub
  const Topology t = std::move(p.builder).build();
  EXPECT_THAT(t.out_links(p.a), ElementsAre(LinkId(0)));
  EXPECT_THAT(t.out_links(p.b), ElementsAre(LinkId(3)));
  EXPECT_THAT(t.out_links(hub), ElementsAre(LinkId(1), LinkId(2)));
}

TEST(Topology, HostsListTheirGpusAndTheNicsThatHaveANetworkLink) {
  Pair p;
  const DeviceId wired = p.builder.add_device("a.nic0", DeviceKind::kNic, p.host_a);
  const DeviceId bare = p.builder.add_device("a.nic1", DeviceKind::kNic, p.host_a);
  const DeviceId leaf = p.builder.add_device("leaf0", DeviceKind::kSwitch);
  p.builder.add_link(p.a, p.b, kTen, LinkType::kNvlink);
  p.builder.add_link(p.a, wired, kTen, LinkType::kPcie);
  p.builder.add_link(p.a, bare, kTen, LinkType::kPcie);
  p.builder.add_link(wired, leaf, kTen, LinkType::kRdma);
  const Topology t = std::move(p.builder).build();
  EXPECT_THAT(t.hosts()[0].gpus, ElementsAre(p.a));
  EXPECT_THAT(t.hosts()[0].nics, ElementsAre(wired));
  EXPECT_THAT(t.hosts()[1].gpus, ElementsAre(p.b));
  EXPECT_THAT(t.hosts()[1].nics, IsEmpty());
}

TEST(Topology, LinkClassesAreTypesInAHostAndTiersInTheNetwork) {
  Pair p;
  const auto add = [&](const char* id, DeviceKind kind) { return p.builder.add_device(id, kind, kNoHost); };
  const DeviceId nic = p.builder.add_device("a.nic", DeviceKind::kNic, p.host_a);
  const DeviceId leaf = add("leaf12", DeviceKind::kSwitch);
  const DeviceId spine = add("spine", DeviceKind::kSwitch);
  const DeviceId core = add("core0", DeviceKind::kSwitch);
  const LinkId links[] = {p.builder.add_link(p.a, p.b, kTen, LinkType::kNvlink),
                          p.builder.add_link(p.a, nic, kTen, LinkType::kPcie),
                          p.builder.add_link(nic, leaf, kTen, LinkType::kRdma),
                          p.builder.add_link(leaf, spine, kTen, LinkType::kRdma),
                          p.builder.add_link(spine, core, kTen, LinkType::kRdma)};
  const Topology t = std::move(p.builder).build();
  std::vector<std::string> classes;
  for (const LinkId link : links) classes.push_back(t.link_class(link));
  EXPECT_THAT(classes, ElementsAre("nvlink", "pcie", "nic->leaf", "leaf->spine", "spine->core"));
  EXPECT_EQ(t.link_class(LinkId(links[2].value() + 1)), "leaf->nic");
}

TEST(TopologyBuilder, FindsBothDirectionsOrOne) {
  Pair p;
  p.builder.add_link(p.a, p.b, kTen, LinkType::kNvlink);  // 0, 1
  p.builder.add_link(p.a, p.b, kTen, LinkType::kNvlink);  // 2, 3: a second link between the same devices
  EXPECT_THAT(p.builder.find_links("a.gpu--b.gpu"), ElementsAre(LinkId(0), LinkId(1), LinkId(2), LinkId(3)));
  EXPECT_THAT(p.builder.find_links("b.gpu--a.gpu"), ElementsAre(LinkId(0), LinkId(1), LinkId(2), LinkId(3)));
  EXPECT_THAT(p.builder.find_links("b.gpu->a.gpu"), ElementsAre(LinkId(1), LinkId(3)));
  for (const char* unknown : {"a.gpu--c.gpu", "a.gpu", "", "--", "->b.gpu"}) {
    EXPECT_THAT(p.builder.find_links(unknown), IsEmpty()) << unknown;
  }
}

TEST(TopologyBuilder, FindsLinksOfDevicesWhoseIdsHoldTheSeparator) {
  Pair p;
  const DeviceId odd = p.builder.add_device("x--y", DeviceKind::kNvswitch);
  const LinkId link = p.builder.add_link(p.a, odd, kTen, LinkType::kNvlink);
  EXPECT_THAT(p.builder.find_links("a.gpu--x--y"), ElementsAre(link, LinkId(link.value() + 1)));
}

TEST(TopologyBuilder, AGpuModelOfTheSameNameIsAddedOnce) {
  Pair p;
  EXPECT_EQ(p.builder.add_gpu_model({.name = "X"}), 0);
  EXPECT_EQ(p.builder.add_gpu_model({.name = "Y"}), 1);
  EXPECT_EQ(p.builder.add_gpu_model({.name = "X"}), 0);
}

TEST(TopologyBuilder, RefusesWhatIsNoGraphOfLinks) {
  Pair p;
  const auto link = [&](DeviceId a, DeviceId b, double bps) {
    return error_in([&] { p.builder.add_link(a, b, Bandwidth::bytes_per_second(bps), LinkType::kNvlink); });
  };
  EXPECT_THAT(link(p.a, p.a, 1), HasSubstr("a link from 'a.gpu' to itself"));
  EXPECT_THAT(link(p.a, DeviceId(7), 1), HasSubstr("unknown device"));
  EXPECT_THAT(link(p.a, p.b, 0), HasSubstr("above 0"));
  EXPECT_THAT(link(p.a, p.b, -1), HasSubstr("above 0"));
  EXPECT_THAT(error_in([&] { p.builder.add_device("a.gpu", DeviceKind::kNic, p.host_a); }),
              HasSubstr("two devices are called 'a.gpu'"));
}

TEST(TopologyBuilder, RefusesATopologyWithoutGpus) {
  TopologyBuilder builder("empty", "test");
  builder.add_device("leaf0", DeviceKind::kSwitch);
  EXPECT_THAT(error_in([&] { (void)std::move(builder).build(); }), HasSubstr("at least one GPU"));
}

TEST(TopologyBuilder, NamesTwoGpusThatNoPathConnects) {
  Pair p;
  EXPECT_THAT(error_in([&] { (void)std::move(p.builder).build(); }),
              HasSubstr("no path connects GPU 'a.gpu' to GPU 'b.gpu'"));
}

TEST(TopologyBuilder, RefusesGpusThatAreConnectedInOneDirectionOnly) {
  Pair forward;
  forward.builder.add_directed_link(forward.a, forward.b, kTen, LinkType::kNvlink);
  EXPECT_THAT(error_in([&] { (void)std::move(forward.builder).build(); }),
              HasSubstr("no path connects GPU 'b.gpu' to GPU 'a.gpu'"));
  Pair backward;
  backward.builder.add_directed_link(backward.b, backward.a, kTen, LinkType::kNvlink);
  EXPECT_THAT(error_in([&] { (void)std::move(backward.builder).build(); }),
              HasSubstr("no path connects GPU 'a.gpu' to GPU 'b.gpu'"));
}

TEST(TopologyBuilder, TwoDirectedLinksConnect) {
  Pair p;
  p.builder.add_directed_link(p.a, p.b, kTen, LinkType::kNvlink);
  p.builder.add_directed_link(p.b, p.a, kTen, LinkType::kNvlink);
  EXPECT_EQ(std::move(p.builder).build().links().size(), 2U);
}

TEST(TopologyBuilder, RanksFollowTheGpusUnlessTheyAreOrdered) {
  Pair plain;
  plain.builder.add_link(plain.a, plain.b, kTen, LinkType::kNvlink);
  const Topology in_order = std::move(plain.builder).build();
  EXPECT_THAT(ids_of(in_order, in_order.ranks()), ElementsAre("a.gpu", "b.gpu"));
  Pair ordered;
  ordered.builder.add_link(ordered.a, ordered.b, kTen, LinkType::kNvlink);
  ordered.builder.set_rank_order({ordered.b, ordered.a});
  const Topology reversed = std::move(ordered.builder).build();
  EXPECT_THAT(ids_of(reversed, reversed.ranks()), ElementsAre("b.gpu", "a.gpu"));
}

TEST(TopologyBuilder, RefusesARankOrderThatIsNoPermutationOfTheGpus) {
  Pair p;
  const DeviceId hub = p.builder.add_device("hub", DeviceKind::kNvswitch);
  const auto order = [&](std::vector<DeviceId> gpus) {
    return error_in([&] { p.builder.set_rank_order(std::move(gpus)); });
  };
  EXPECT_THAT(order({p.a}), HasSubstr("GPU 'b.gpu' has no rank"));
  EXPECT_THAT(order({p.a, p.b, p.a}), HasSubstr("GPU 'a.gpu' has two ranks"));
  EXPECT_THAT(order({p.a, p.b, hub}), HasSubstr("only GPUs have ranks, and 'hub' is none"));
}

TEST(TopologyBuilder, FaultsScaleWhatIsThere) {
  Pair p;
  const LinkId link = p.builder.add_link(p.a, p.b, kTen, LinkType::kNvlink);
  p.builder.scale_link(link, 0.5);
  p.builder.scale_compute(p.a, 0.25);
  for (const double share : {0.0, -0.5, 1.5}) {
    EXPECT_THAT(error_in([&] { p.builder.scale_link(link, share); }), HasSubstr("at most 100%")) << share;
    EXPECT_THAT(error_in([&] { p.builder.scale_compute(p.a, share); }), HasSubstr("at most 100%")) << share;
  }
  const Topology t = std::move(p.builder).build();
  EXPECT_EQ(t.link(link).bandwidth, kTen * 0.5);
  EXPECT_EQ(t.link(LinkId(1)).bandwidth, kTen) << "the other direction is as it was";
  EXPECT_EQ(t.device(p.a).compute, 0.25);
  EXPECT_EQ(t.device(p.b).compute, 1.0);
}

TEST(DeviceIndex, AgreesWithAMapOnManyIds) {
  constexpr std::uint32_t kSeed = 7;
  SCOPED_TRACE(kSeed);
  std::mt19937 random(kSeed);
  std::map<std::string, std::uint32_t> twin;
  std::vector<std::string> ids;
  const auto name_at = [&](std::uint32_t number) { return ids[number]; };
  DeviceIndex index;
  for (int i = 0; i < 20'000; ++i) {
    const std::string id = "d" + std::to_string(random() % 15'000);
    const auto number = static_cast<std::uint32_t>(ids.size());
    const bool is_new = twin.try_emplace(id, number).second;
    ASSERT_EQ(index.insert(id, number, name_at), is_new);
    if (is_new) ids.push_back(id);
  }
  for (int i = 0; i < 15'000; ++i) {
    const std::string id = "d" + std::to_string(i);
    const auto known = twin.find(id);
    const auto found = index.find(id, name_at);
    ASSERT_EQ(found.has_value(), known != twin.end());
    if (found) {
      ASSERT_EQ(*found, known->second);
    }
  }
}

TEST(DeviceIndex, FindsNothingWhenItIsEmpty) {
  EXPECT_FALSE(DeviceIndex().find("x", [](std::uint32_t) { return std::string(); }).has_value());
}

}  // namespace
}  // namespace busbar
