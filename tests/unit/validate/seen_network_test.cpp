#include "validate/seen_network.h"

#include <gtest/gtest.h>

namespace busbar {
namespace {

Machine hosts(std::int64_t n, double seen_GBps) {
  return {.host = "dgx-h100",
          .fabric = n > 1 ? "rail-optimized" : "none",
          .hosts = n,
          .gpus_per_host = 8,
          .seen_all_gather = Bandwidth::gigabytes_per_second(seen_GBps)};
}

// On an ideal machine a ring over two hosts runs at what all NICs of a host carry together: 8 NICs that reach
// 40 GB/s of busbw are 5 GB/s each.
TEST(SeenNetwork, FindsTheRateThatGivesWhatTheJobSaw) {
  const Profile profile = ideal_profile();
  SeenNetwork network(profile);
  Machine machine = hosts(2, 40);
  network.apply(machine);
  ASSERT_TRUE(machine.nic);
  // Half a step of the bins (2.5 %) and half of the bisection's (1.25 %).
  EXPECT_NEAR(machine.nic->Bps(), 5e9, 0.04 * 5e9);
}

TEST(SeenNetwork, StopsAtTheHostsOwnRate) {
  const Profile profile = ideal_profile();
  SeenNetwork network(profile);
  Machine machine = hosts(2, 1000);
  network.apply(machine);
  EXPECT_EQ(machine.nic->Bps(), Bandwidth::gigabits_per_second(400).Bps());
}

TEST(SeenNetwork, LeavesMachinesWithoutSuchATimeAlone) {
  const Profile profile = ideal_profile();
  SeenNetwork network(profile);
  Machine machine = hosts(2, 40);
  machine.seen_all_gather.reset();
  network.apply(machine);
  EXPECT_FALSE(machine.nic);
}

}  // namespace
}  // namespace busbar
