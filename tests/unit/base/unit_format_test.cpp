// Quantities written for people and for files.
#include <gtest/gtest.h>

#include <limits>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "sim/base/unit_text.h"

namespace busbar {
namespace {

constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();

// A text that does not parse throws std::bad_variant_access, which fails the test.
std::int64_t ps(std::string_view text) { return std::get<Time>(parse_time(text)).ps(); }
std::int64_t bytes(std::string_view text) { return std::get<Bytes>(parse_bytes(text)).count(); }
double Bps(std::string_view text) { return std::get<Bandwidth>(parse_bandwidth(text)).Bps(); }

TEST(ToText, ShowsTimesWithThreeDigits) {
  const std::vector<std::pair<std::string_view, std::string_view>> times = {
      {"0 s", "0 ps"},         {"850 ps", "850 ps"}, {"850 ns", "850 ns"},
      {"12.34 us", "12.3 us"}, {"412 ms", "412 ms"}, {"1.2349 s", "1.23 s"},
      {"999.4 us", "999 us"},  {"999.5 us", "1 ms"}, {"999.9999 s", "16.7 min"},
      {"30 min", "30 min"},    {"2 h", "2 h"},       {"47 h", "47 h"},
      {"48 h", "2 d"},         {"100 d", "100 d"}};
  for (const auto& [given, shown] : times) EXPECT_EQ(to_text(Time::picoseconds(ps(given))), shown) << given;
  EXPECT_EQ(to_text(Time::picoseconds(-1'500'000)), "-1.5 us");
}

TEST(ToText, ShowsWholeBinarySizesAsSuch) {
  const std::vector<std::pair<std::int64_t, std::string_view>> sizes = {
      {0, "0 B"},
      {512, "512 B"},
      {1000, "1 kB"},
      {1024, "1 KiB"},
      {1536, "1.54 kB"},
      {std::int64_t{25} << 20, "25 MiB"},
      {std::int64_t{1} << 30, "1 GiB"},
      {std::int64_t{1} << 60, "1153 PB"},
      {262'144'001, "262 MB"},
      {26'214'401, "26.2 MB"},
      {999'499, "999 kB"},
      {999'501, "1 MB"},
      {102'400'000, "102 MB"}};  // 100000 KiB
  for (const auto& [count, shown] : sizes) EXPECT_EQ(to_text(Bytes(count)), shown);
}

TEST(ToText, ShowsRates) {
  EXPECT_EQ(to_text(Bandwidth::gigabytes_per_second(400)), "400 GB/s");
  EXPECT_EQ(to_text(Bandwidth::gigabits_per_second(100)), "12.5 GB/s");
  EXPECT_EQ(to_text(Bandwidth::bytes_per_second(3.35e12)), "3.35 TB/s");
  EXPECT_EQ(to_text(Bandwidth::unlimited()), "unlimited");
  EXPECT_EQ(to_text(FlopRate::teraflops_per_second(989)), "989 TFLOP/s");
  EXPECT_EQ(to_text(FlopRate::flops_per_second(2.5e18)), "2.5 EFLOP/s");
}

TEST(ToExactText, IsTheShortestForm) {
  EXPECT_EQ(to_exact_text(Bytes(32 << 20)), "32 MiB");
  EXPECT_EQ(to_exact_text(Bytes(1'234'567)), "1234567 B");
  EXPECT_EQ(to_exact_text(Bytes(1'500'000)), "1.5 MB");
  EXPECT_EQ(to_exact_text(Bytes(0)), "0 B");
  EXPECT_EQ(to_exact_text(Bytes(kMax)), "9223372036854775807 B");
  EXPECT_EQ(to_exact_text(Time::picoseconds(1'500'000)), "1.5 us");
  EXPECT_EQ(to_exact_text(Time::picoseconds(0)), "0 s");
  EXPECT_EQ(to_exact_text(Time::from_seconds(7200)), "2 h");
  EXPECT_EQ(to_exact_text(Bandwidth::gigabits_per_second(400)), "50 GB/s");
  EXPECT_EQ(to_exact_text(Bandwidth::bytes_per_second(1.0 / 3)), "0.3333333333333333 B/s");
}

TEST(ToExactText, ParsesBackToTheSameValue) {
  const unsigned seed = 20240613;
  SCOPED_TRACE(seed);
  std::mt19937_64 random(seed);
  for (int i = 0; i < 3000; ++i) {
    const auto n = static_cast<std::int64_t>(random() >> (1 + random() % 63));  // all magnitudes alike
    EXPECT_EQ(bytes(to_exact_text(Bytes(n))), n);
    EXPECT_EQ(ps(to_exact_text(Time::picoseconds(n))), n);
    const double rate = static_cast<double>(n + 1) / 7;
    EXPECT_EQ(Bps(to_exact_text(Bandwidth::bytes_per_second(rate))), rate);
  }
}

}  // namespace
}  // namespace busbar
