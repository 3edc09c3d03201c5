// Which GPUs a group with one member per host may take for each other.
#include "sim/replay/place_kinds.h"

#include <gtest/gtest.h>

#include <set>

#include "tests/support/inline.h"

namespace busbar {
namespace {

/// The kind of each rank's GPU with its nearest NIC, on two DGX H100.
std::vector<std::uint32_t> kinds(const std::string& faults) {
  const Topology t = topology_from(R"({"schema": "busbar.topology/1", "name": "t",
    "hosts": {"count": 2, "type": "dgx-h100"}, "fabric": {"family": "rail-optimized"},
    "faults": [)" + faults + "]}");
  const Profile profile = default_profile();
  Placement placement(t, profile);
  PlaceKinds place_kinds(placement);
  std::vector<std::uint32_t> numbers;
  for (const DeviceId gpu : t.ranks())
    numbers.push_back(place_kinds.number(gpu, placement.router().nearest_nic(gpu).value()));
  return numbers;
}

TEST(PlaceKinds, AreOneForAllPlacesOfAHostWhoseGpusHaveANicEach) {
  const auto numbers = kinds("");
  EXPECT_EQ(std::set(numbers.begin(), numbers.end()).size(), 1U);
}

TEST(PlaceKinds, SetApartASlowGpuAndASlowNic) {
  for (const char* fault :
       {R"({"device": "h1.gpu5", "compute": "80%"})", R"({"link": "h1.nic5--leaf5", "bandwidth": "50%"})"}) {
    const auto numbers = kinds(fault);
    for (std::size_t rank = 0; rank < numbers.size(); ++rank)
      EXPECT_EQ(numbers[rank] == numbers[0], rank != 13) << fault << ", rank " << rank;
  }
}

}  // namespace
}  // namespace busbar
