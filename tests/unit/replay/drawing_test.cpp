// The machine as it is drawn, with its loads.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "tests/support/inline.h"

namespace busbar {
namespace {

constexpr const char* kReduce =
    R"({"id": "r", "op": "all_reduce", "stream": "s", "group": "all", "bytes": "800 MB", "type": "bf16", "reduction": "sum"})";

Drawing drawing_of_step(const Topology& topology, const StepTrace& trace, bool symmetry) {
  return *simulate(topology, trace, ideal_profile(), {.details = true, .symmetry = symmetry}).layout;
}

Topology cluster(int hosts, const std::string& more = "") {
  return topology_from(fmt::format(
      R"({{"schema": "busbar.topology/1", "name": "c", "hosts": {{"count": {}, "type": "dgx-h100"}},
          "fabric": {{"family": "rail-optimized", "nic": "400 Gb/s"}}{}}})",
      hosts, more));
}

std::uint64_t members_of(const Drawing& layout, const std::string& kind) {
  std::uint64_t sum = 0;
  for (const DrawingNode& n : layout.nodes) sum += n.kind == kind ? n.members : 0;
  return sum;
}

// Ring all-reduce on n GPUs of a star: each link carries 2 (n-1) / n S each way, all the time.
TEST(Drawing, OfARingOnAStarHasEveryLinkFull) {
  const Topology topology = star(8, "100 GB/s");
  const Drawing layout = drawing_of_step(topology, trace_from(one_program(8, kReduce)), false);
  ASSERT_EQ(layout.nodes.size(), 9U);
  ASSERT_EQ(layout.links.size(), 16U);
  for (const DrawingLink& link : layout.links) {
    EXPECT_EQ(link.link_class, "nvlink");
    EXPECT_EQ(link.members, 1U);
    EXPECT_EQ(link.capacity_Bps, 100e9);
    EXPECT_NEAR(link.busy_fraction, 1, 1e-9);
    EXPECT_NEAR(link.peak_fraction, 1, 1e-9);
  }
}

TEST(Drawing, DrawsTwoHostsEachAndOfMoreOneForAll) {
  const Drawing two = drawing_of_step(cluster(2), trace_from(one_program(16, kReduce)), false);
  EXPECT_EQ(std::count_if(two.nodes.begin(), two.nodes.end(), [](const auto& n) { return n.kind == "gpu"; }),
            16);
  for (const DrawingNode& n : two.nodes) EXPECT_EQ(n.members, 1U) << n.name;
  const Drawing many = drawing_of_step(cluster(12), trace_from(one_program(96, kReduce)), false);
  EXPECT_EQ(
      std::count_if(many.nodes.begin(), many.nodes.end(), [](const auto& n) { return n.kind == "gpu"; }), 8);
  for (const char* kind : {"gpu", "nic"}) EXPECT_EQ(members_of(many, kind), 96U) << kind;
}

TEST(Drawing, CountsEveryDeviceAndLinkOnce) {
  const Topology topology = cluster(12);
  const Drawing layout = drawing_of_step(topology, trace_from(one_program(96, kReduce)), false);
  std::uint64_t devices = 0, links = 0;
  for (const DrawingNode& n : layout.nodes) devices += n.members;
  for (const DrawingLink& l : layout.links) links += l.members;
  EXPECT_EQ(devices, topology.devices().size());
  EXPECT_EQ(links, topology.links().size());
}

// The same where one rank stands for a class of them, and where a slow cable sets some apart.
TEST(Drawing, DoesNotDependOnWhoIsReplayed) {
  const std::string slow = R"(, "faults": [{"link": "h3.nic5--leaf5", "bandwidth": "50%"}])";
  for (const std::string& more : {std::string(), slow}) {
    const Topology topology = cluster(8, more);
    const StepTrace trace = trace_from(one_program(64, kReduce));
    const Drawing whole = drawing_of_step(topology, trace, false),
                  merged = drawing_of_step(topology, trace, true);
    ASSERT_EQ(whole.links.size(), merged.links.size());
    double fullest = 0;
    for (std::size_t i = 0; i < whole.links.size(); ++i) {
      EXPECT_EQ(whole.links[i].members, merged.links[i].members);
      EXPECT_NEAR(whole.links[i].busy_fraction, merged.links[i].busy_fraction, 1e-9) << i;
      EXPECT_NEAR(whole.links[i].peak_fraction, merged.links[i].peak_fraction, 1e-9) << i;
      fullest = std::max(fullest, whole.links[i].busy_fraction);
    }
    EXPECT_GT(fullest, 0.5);
  }
}

TEST(AttainableBusbw, IsWhatALoneOperationReachesWhateverItIsMixedWith) {
  const Topology topology = star(4, "100 GB/s");
  const RunResult alone = simulate_ideal(topology, trace_from(one_program(4, kReduce)));
  // A second, unordered all-reduce shares the links: each reaches half.
  const std::string both =
      std::string(kReduce) + ", " +
      R"({"id": "q", "op": "all_reduce", "stream": "t", "group": "other", "bytes": "800 MB", "type": "bf16", "reduction": "sum"})";
  const RunResult shared = simulate_ideal(
      topology, trace_from(fmt::format(
                    R"({{"schema": "busbar.trace/1", "name": "t", "groups": {{"all": "0-3", "other": "0-3"}},
        "programs": {{"p": {{"ops": [{}]}}}}, "bindings": [{{"ranks": "0-3", "program": "p", "groups": {{"all": "all", "other": "other"}}}}]}})",
                    both)));
  ASSERT_EQ(alone.collectives.size(), 1U);
  EXPECT_NEAR(alone.collectives[0].attainable_busbw_Bps, 100e9, 1);
  EXPECT_NEAR(alone.collectives[0].busbw_Bps, 100e9, 1);
  ASSERT_EQ(shared.collectives.size(), 2U);
  for (const CollectiveRecord& c : shared.collectives) {
    EXPECT_NEAR(c.attainable_busbw_Bps, 100e9, 1);
    EXPECT_NEAR(c.busbw_Bps, 50e9, 1);
  }
}

}  // namespace
}  // namespace busbar
