#include "sim/base/units.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

#include "sim/base/error.h"

namespace busbar {
namespace {

constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();

std::string error_of_seconds(double seconds) {
  try {
    (void)Time::from_seconds(seconds);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kInput);
    return error.what();
  }
  return "no error";
}

TEST(Time, RoundsSecondsToTheNearestPicosecond) {
  EXPECT_EQ(Time::from_seconds(1.5e-6).ps(), 1'500'000);
  EXPECT_EQ(Time::from_seconds(0.6e-12).ps(), 1);
  EXPECT_EQ(Time::from_seconds(0.4e-12).ps(), 0);
  EXPECT_EQ(Time::from_seconds(-2).ps(), -2'000'000'000'000);
  EXPECT_EQ(Time::from_microseconds(2.5).ps(), 2'500'000);
}

TEST(Time, RefusesWhatIsNoNumberOrBeyond106Days) {
  // 2^63 ps = 9223372.036854775808 s = 106.75 days.
  EXPECT_EQ(Time::from_seconds(9223372).ps(), 9'223'372'000'000'000'000);
  EXPECT_EQ(error_of_seconds(9223373), "expected a time within 106 days, got 9.22337e+06 s");
  EXPECT_EQ(error_of_seconds(-1e300), "expected a time within 106 days, got -1e+300 s");
  EXPECT_EQ(error_of_seconds(std::nan("")), "expected a time within 106 days, got nan s");
  EXPECT_EQ(error_of_seconds(std::numeric_limits<double>::infinity()),
            "expected a time within 106 days, got inf s");
}

TEST(Bytes, HaveDecimalAndBinaryLiteralsThatDiffer) {
  EXPECT_EQ((1_kB).count(), 1000);
  EXPECT_EQ((1_KiB).count(), 1024);
  EXPECT_EQ((3_MB).count(), 3'000'000);
  EXPECT_EQ((3_MiB).count(), 3 * 1024 * 1024);
  EXPECT_EQ((2_GB).count(), 2'000'000'000);
  EXPECT_EQ((2_GiB).count(), 2'147'483'648);
  EXPECT_EQ(1_KiB - 1_kB, 24_B);
}

TEST(Bandwidth, CountsEightBitsToTheByte) {
  EXPECT_EQ(Bandwidth::gigabits_per_second(400), Bandwidth::gigabytes_per_second(50));
  EXPECT_GT(Bandwidth::unlimited(), Bandwidth::bytes_per_second(1e300));
}

TEST(CheckedMul, EqualsTheProductWhereItFits) {
  EXPECT_EQ(checked_mul(3'000'000'000, 3, "bytes"), 9'000'000'000);
  EXPECT_EQ(checked_mul(kMin, 1, "bytes"), kMin);
  EXPECT_EQ(checked_mul(0, kMax, "bytes"), 0);
}

TEST(CheckedMul, NamesWhatOverflows) {
  try {
    (void)checked_mul(4'294'967'296, 2'147'483'648, "devices");  // 2^32 x 2^31 = 2^63
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "devices: expected a product below 2^63, got 4294967296 x 2147483648");
    EXPECT_EQ(error.exit_code(), 2);
  }
  EXPECT_THROW((void)checked_mul(kMin, -1, "devices"), Error);
}

TEST(CheckedAdd, NamesWhatOverflows) {
  EXPECT_EQ(checked_add(kMax - 1, 1, "bytes"), kMax);
  try {
    (void)checked_add(kMax, 1, "bytes");
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "bytes: expected a sum below 2^63, got 9223372036854775807 + 1");
  }
  EXPECT_THROW((void)checked_add(kMin, -1, "bytes"), Error);
}

}  // namespace
}  // namespace busbar
