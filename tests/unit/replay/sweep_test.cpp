#include <gtest/gtest.h>

#include "sim/base/error.h"
#include "tests/support/inline.h"

namespace busbar {
namespace {

Sweep ideal_sweep(const Topology& t, CollectiveKind kind, std::vector<Bytes> sizes,
                  std::vector<std::uint32_t> ranks = {}) {
  return sweep(t, {.operation = kind, .ranks = std::move(ranks), .sizes = std::move(sizes)}, ideal_profile(),
               {});
}

TEST(Sweep, HasNcclTestsColumns) {
  const Sweep s = ideal_sweep(star(8, "400 GB/s"), CollectiveKind::kAllReduce, {1_GiB});
  ASSERT_EQ(s.rows.size(), 1U);
  EXPECT_EQ(s.rows[0].time, Time::picoseconds(4697620480));  // 2 x 7/8 x 2^30 / 400e9 s
  EXPECT_EQ(s.rows[0].count, (std::int64_t{1} << 30) / 4);
  EXPECT_NEAR(s.rows[0].busbw_Bps, 400e9, 1);
  EXPECT_EQ(s.rows[0].limit, "nvlink g0->s");
}

// Sizes of gathered buffers are whole multiples of 16 bytes per rank; smaller ones are left out.
TEST(Sweep, RoundsGatheredSizesAsNcclTestsDoes) {
  const Sweep s = ideal_sweep(star(3, "100 GB/s"), CollectiveKind::kAllGather, {8_B, 64_B, 100_B, 1_KiB});
  ASSERT_EQ(s.rows.size(), 3U);
  EXPECT_EQ(s.rows[0].size, 48_B);
  EXPECT_EQ(s.rows[1].size, 96_B);
  EXPECT_EQ(s.rows[2].size, 1008_B);
  EXPECT_EQ(s.rows[2].count, 1008 / 4 / 3);
}

TEST(Sweep, RunsOnSomeRanksOnly) {
  const Sweep s = ideal_sweep(star(8, "100 GB/s"), CollectiveKind::kAllReduce, {8_MB}, {2, 5});
  EXPECT_EQ(s.ranks, 2U);
  EXPECT_EQ(s.rows[0].time, Time::from_seconds(8e6 / 100e9));
}

TEST(Sweep, SaysWhenNoSizeIsLargeEnough) {
  EXPECT_THROW(static_cast<void>(ideal_sweep(star(8, "100 GB/s"), CollectiveKind::kAllGather, {8_B})), Error);
}

// Latency 12 us (6 steps of 2 us) against 2 x 3/4 x S / 100 GB/s: half the bandwidth where both are equal, S
// = 800 kB, so 512 KiB is below and 1 MiB above.
TEST(Sweep, EndsWithTheHalfBandwidthSize) {
  std::vector<Bytes> sizes;
  for (std::int64_t k = 10; k <= 34; ++k) sizes.emplace_back(std::int64_t{1} << k);
  const Sweep s = ideal_sweep(star(4, "100 GB/s", "1 us"), CollectiveKind::kAllReduce, sizes);
  EXPECT_EQ(s.half_bandwidth_size, 1_MiB);
}

TEST(Sweep, NeverSlowsALoneCollectiveWithMoreBandwidthOrFewerBytes) {
  for (const CollectiveKind kind : {CollectiveKind::kAllReduce, CollectiveKind::kAllGather,
                                    CollectiveKind::kReduceScatter, CollectiveKind::kSendRecv}) {
    const std::vector<Bytes> sizes = {1_KiB, 64_KiB, 1_MiB, 64_MiB, 1_GiB};
    const Sweep slow = ideal_sweep(star(6, "100 GB/s", "1 us"), kind, sizes);
    const Sweep fast = ideal_sweep(star(6, "200 GB/s", "1 us"), kind, sizes);
    for (std::size_t i = 0; i < slow.rows.size(); ++i) {
      EXPECT_LE(fast.rows[i].time, slow.rows[i].time);
      EXPECT_TRUE(i == 0 || slow.rows[i].time >= slow.rows[i - 1].time);
    }
  }
}

std::vector<Time> ring_times(int bandwidth, const std::vector<Bytes>& sizes,
                             std::optional<std::int64_t> channels) {
  std::vector<Time> times;
  for (const SweepRow& row :
       sweep(star(8, fmt::format("{} GB/s", bandwidth)),
             {.operation = CollectiveKind::kAllReduce, .ranks = {}, .sizes = sizes}, default_profile(),
             {.overrides = {.algorithm = "ring", .protocol = Protocol::kSimple, .channels = channels}})
           .rows)
    times.push_back(row.time);
  return times;
}

// What NCCL chooses may get slower, for its estimates know speeds in steps: so algorithm and protocol are
// held. It also cuts the bandwidth into 4 to 54 channels over this range. More of them shorten the chunk that
// each moves per step, S / (8 c), which shows below 4 MiB; there the channels are held too.
TEST(Sweep, IsNotSlowedByFasterGpuLinksUnderTheDefaultProfileEither) {
  for (const std::optional<std::int64_t> channels : {std::optional<std::int64_t>(16), {}}) {
    std::vector<Bytes> sizes = {4_MiB, 64_MiB, 1_GiB};
    if (channels) sizes.insert(sizes.begin(), {1_KiB, 64_KiB, 1_MiB});
    std::vector<Time> before;
    for (const int bandwidth : {60, 70, 100, 200, 300, 400, 500, 900}) {
      const std::vector<Time> now = ring_times(bandwidth, sizes, channels);
      for (std::size_t i = 0; i < before.size(); ++i)
        EXPECT_LE(now[i], before[i]) << bandwidth << " GB/s, size " << i;
      before = now;
    }
  }
}

// NCCL 2.30's estimates on 8 H100 of a host, us with S in GB/s x us: ring 15.0 + S/80.6 (LL), 40.6 + S/189
// (LL128), 56.0 + S/206 (Simple), NVLS 25.0 + S/272. Rings alone change at 3.6 MB and 37 MB; with NVLS, LL
// gives way to it at 1.1 MB and the others never win.
TEST(Sweep, ChangesProtocolWithSizeAndSaysSo) {
  const Topology t = topology_from(
      R"({"schema": "busbar.topology/1", "name": "one", "hosts": {"count": 1, "type": "dgx-h100"},
                                       "fabric": {"family": "none"}})");
  const SweepRequest request{.operation = CollectiveKind::kAllReduce,
                             .ranks = {},
                             .sizes = {1_KiB, 512_KiB, 2_MiB, 8_MiB, 32_MiB, 64_MiB, 1_GiB}};
  std::vector<std::string> free, rings;
  for (const SweepRow& row : sweep(t, request, default_profile(), {}).rows)
    free.push_back(row.algorithm + "/" + row.protocol);
  for (const SweepRow& row : sweep(t, request, default_profile(), {.overrides = {.algorithm = "ring"}}).rows)
    rings.push_back(row.protocol);
  EXPECT_EQ(free, (std::vector<std::string>{"ring/LL", "ring/LL", "nvls/Simple", "nvls/Simple", "nvls/Simple",
                                            "nvls/Simple", "nvls/Simple"}));
  EXPECT_EQ(rings, (std::vector<std::string>{"LL", "LL", "LL", "LL128", "LL128", "Simple", "Simple"}));
  const Sweep forced =
      sweep(t, {.operation = CollectiveKind::kAllReduce, .sizes = {1_KiB}}, default_profile(),
            {.overrides = {.protocol = Protocol::kSimple, .channels = 4}});
  EXPECT_EQ(forced.rows[0].protocol, "Simple");
  EXPECT_EQ(forced.rows[0].channels, 4);
}

}  // namespace
}  // namespace busbar
