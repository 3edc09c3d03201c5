#include "sim/base/unit_text.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace busbar {
namespace {

constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();

std::string show(const UnitError& error) { return error.expected + "; " + error.suggestion; }

/// The value in base units, or nothing with a failure that shows the error.
template <class T>
std::optional<T> value_of(const Parsed<T>& parsed) {
  if (const auto* error = std::get_if<UnitError>(&parsed)) {
    ADD_FAILURE() << show(*error);
    return std::nullopt;
  }
  return std::get<T>(parsed);
}

std::int64_t ps(std::string_view text) {
  SCOPED_TRACE(text);
  return value_of(parse_time(text)).value_or(Time::picoseconds(-1)).ps();
}
std::int64_t bytes(std::string_view text) {
  SCOPED_TRACE(text);
  return value_of(parse_bytes(text)).value_or(Bytes(-1)).count();
}
double Bps(std::string_view text) {
  SCOPED_TRACE(text);
  return value_of(parse_bandwidth(text)).value_or(Bandwidth()).Bps();
}
double flops(std::string_view text) {
  SCOPED_TRACE(text);
  return value_of(parse_flop_rate(text)).value_or(FlopRate()).flops();
}

template <class T>
std::string error_of(const Parsed<T>& parsed) {
  const auto* error = std::get_if<UnitError>(&parsed);
  return error == nullptr ? "no error" : show(*error);
}
template <class T>
std::string hint_of(const Parsed<T>& parsed) {
  const auto* error = std::get_if<UnitError>(&parsed);
  return error == nullptr ? "no error" : error->suggestion;
}

const std::string kTimeWords = "a time such as \"1.5 us\" or \"2 ms\"; ";
const std::string kSizeWords = "a size such as \"25 MiB\" or \"14 GB\"; ";
const std::string kBandwidthWords = "a bandwidth such as \"400 Gb/s\" or \"50 GB/s\"; ";
const std::string kRateWords = "a rate of computing such as \"989 TFLOP/s\"; ";

TEST(ParseTime, KnowsEveryUnit) {
  EXPECT_EQ(ps("3 ps"), 3);
  EXPECT_EQ(ps("3 ns"), 3'000);
  EXPECT_EQ(ps("3 us"), 3'000'000);
  EXPECT_EQ(ps("3 \u00b5s"), 3'000'000);
  EXPECT_EQ(ps("3 \u03bcs"), 3'000'000);
  EXPECT_EQ(ps("3 ms"), 3'000'000'000);
  EXPECT_EQ(ps("3 s"), 3'000'000'000'000);
  EXPECT_EQ(ps("3 min"), 180'000'000'000'000);
  EXPECT_EQ(ps("3 h"), 10'800'000'000'000'000);
  EXPECT_EQ(ps("3 d"), 259'200'000'000'000'000);
}

TEST(ParseTime, ReadsEveryFormOfNumber) {
  for (const std::string_view text : {"1.5 us", "1.5us", "1.5\t us", " 1.5 us ", "01.50 us", "15e-1 us",
                                      "0.15E1 us", "0.15e+1 us", "1500 ns", ".0015 ms"})
    EXPECT_EQ(ps(text), 1'500'000);
  EXPECT_EQ(ps("2. s"), 2'000'000'000'000);
  EXPECT_EQ(ps("0 s"), 0);
  EXPECT_EQ(ps("0e999999999999 s"), 0);
}

TEST(ParseTime, IsExactWhereADoubleIsNot) {
  // 2^53 + 1 ps and the largest time: neither is a double.
  EXPECT_EQ(ps("9007199254740993 ps"), 9'007'199'254'740'993);
  EXPECT_EQ(ps("9007.199254740993 s"), 9'007'199'254'740'993);
  EXPECT_EQ(ps("9223372036854775807 ps"), kMax);
}

TEST(ParseTime, RoundsToTheNearestPicosecond) {
  EXPECT_EQ(ps("0.4 ps"), 0);
  EXPECT_EQ(ps("0.5 ps"), 1);
  EXPECT_EQ(ps("1.4999999999999999999999 ps"), 1);
  EXPECT_EQ(ps("1e-300 s"), 0);
  EXPECT_EQ(ps("1e-999999999999 s"), 0);
  // 1/7 d of 19 digits, x 86400 beyond 64 bits: 12342.857142857142848 s = 12342857142857142.8 ps.
  EXPECT_EQ(ps("0.1428571428571428571 d"), 12'342'857'142'857'143);
}

TEST(ParseTime, RefusesTimesBeyondItsRange) {
  const std::string words = "a time of at most 106 days such as \"1.5 us\" or \"2 ms\"; ";
  EXPECT_EQ(error_of(parse_time("9223372036854775808 ps")), words);
  EXPECT_EQ(error_of(parse_time("107 d")), words);
  EXPECT_EQ(error_of(parse_time("1e999999999999 s")), words);
  EXPECT_EQ(error_of(parse_time("99999999999999999999999999999999 h")), words);
}

TEST(ParseBytes, KnowsEveryUnit) {
  const std::vector<std::pair<std::string_view, std::int64_t>> units = {{"B", 1},
                                                                        {"kB", 1000},
                                                                        {"MB", 1'000'000},
                                                                        {"GB", 1'000'000'000},
                                                                        {"TB", 1'000'000'000'000},
                                                                        {"PB", 1'000'000'000'000'000},
                                                                        {"KiB", std::int64_t{1} << 10},
                                                                        {"MiB", std::int64_t{1} << 20},
                                                                        {"GiB", std::int64_t{1} << 30},
                                                                        {"TiB", std::int64_t{1} << 40},
                                                                        {"PiB", std::int64_t{1} << 50}};
  for (const auto& [unit, size] : units) EXPECT_EQ(bytes(fmt::format("3 {}", unit)), 3 * size);
}

TEST(ParseBytes, TakesFractionsThatAreWholeBytes) {
  EXPECT_EQ(bytes("1.5 KiB"), 1536);
  EXPECT_EQ(bytes("0.1 GB"), 100'000'000);
  EXPECT_EQ(bytes("2.000 B"), 2);
  EXPECT_EQ(bytes("1e3 B"), 1000);
  EXPECT_EQ(bytes("1000000000000000000000e-20 B"), 10);
  EXPECT_EQ(bytes("0 B"), 0);
  EXPECT_EQ(bytes("0.0009765625 KiB"), 1);  // 2^-10
}

TEST(ParseBytes, IsExactUpToTheLargestSize) {
  EXPECT_EQ(bytes("9223372036854775807 B"), kMax);
  EXPECT_EQ(bytes("9223372036854775.807 kB"), kMax);
  EXPECT_EQ(bytes("9007199254740993 B"), 9'007'199'254'740'993);  // 2^53 + 1
  EXPECT_EQ(bytes("5142435040116437.15625 KiB"), 5'265'853'481'079'231'648);
  EXPECT_EQ(bytes("0.000000000931322574615478515625 GiB"), 1);  // 2^-30
  EXPECT_EQ(bytes("8191 PiB"), std::int64_t{8191} << 50);
}

TEST(ParseBytes, RefusesPartsOfAByte) {
  const std::string words = "a size of a whole number of bytes such as \"25 MiB\" or \"14 GB\"; ";
  for (const std::string_view text :
       {"0.3 B", "0.0001 kB", "1.0000000000000000000001 B", "1e-300 GB", "0.7 KiB"})
    EXPECT_EQ(error_of(parse_bytes(text)), words) << text;
}

TEST(ParseBytes, RefusesSizesFrom2To63) {
  const std::string words = "a size below 2^63 bytes such as \"25 MiB\" or \"14 GB\"; ";
  for (const std::string_view text :
       {"9223372036854775808 B", "8192 PiB", "9224 PB", "99999999999999999999.5 B", "1e19 B", "1e999 B",
        "18446744073709551616 B", "18014398509481984 KiB"})
    EXPECT_EQ(error_of(parse_bytes(text)), words) << text;
}

TEST(ParseBandwidth, KnowsEveryUnit) {
  const std::vector<std::pair<std::string_view, double>> units = {
      {"B/s", 1},          {"kB/s", 1e3},       {"MB/s", 1e6},       {"GB/s", 1e9},       {"TB/s", 1e12},
      {"KiB/s", 0x1p10},   {"MiB/s", 0x1p20},   {"GiB/s", 0x1p30},   {"TiB/s", 0x1p40},   {"b/s", 0.125},
      {"kb/s", 1e3 / 8},   {"Mb/s", 1e6 / 8},   {"Gb/s", 1e9 / 8},   {"Tb/s", 1e12 / 8},  {"bit/s", 0.125},
      {"kbit/s", 1e3 / 8}, {"Mbit/s", 1e6 / 8}, {"Gbit/s", 1e9 / 8}, {"Tbit/s", 1e12 / 8}};
  for (const auto& [unit, factor] : units) EXPECT_EQ(Bps(fmt::format("3 {}", unit)), 3 * factor);
}

TEST(ParseBandwidth, CountsEightBitsToTheByte) {
  EXPECT_EQ(Bps("400 Gb/s"), 50e9);
  EXPECT_EQ(Bps("400 Gb/s"), Bps("50 GB/s"));
  EXPECT_EQ(Bps("3.35 TB/s"), 3.35e12);
}

TEST(ParseBandwidth, MustBeAboveZeroAndFinite) {
  const std::string words = "a bandwidth above zero such as \"400 Gb/s\" or \"50 GB/s\"; ";
  EXPECT_EQ(error_of(parse_bandwidth("0 GB/s")), words);
  EXPECT_EQ(error_of(parse_bandwidth("-5 GB/s")), words);
  EXPECT_EQ(error_of(parse_bandwidth("1e-999 GB/s")), words);
  EXPECT_EQ(error_of(parse_bandwidth("1e300 GB/s")),
            "a bandwidth below 1e308 such as \"400 Gb/s\" or \"50 GB/s\"; ");
  EXPECT_EQ(error_of(parse_bandwidth("1e999 GB/s")), error_of(parse_bandwidth("1e300 GB/s")));
}

TEST(ParseFlopRate, KnowsEveryUnit) {
  const std::vector<std::pair<std::string_view, double>> units = {
      {"FLOP/s", 1},     {"kFLOP/s", 1e3},  {"MFLOP/s", 1e6}, {"GFLOP/s", 1e9},
      {"TFLOP/s", 1e12}, {"PFLOP/s", 1e15}, {"EFLOP/s", 1e18}};
  for (const auto& [unit, factor] : units) EXPECT_EQ(flops(fmt::format("989 {}", unit)), 989 * factor);
  EXPECT_EQ(flops("2EFLOP/s"), 2e18);  // this E is a prefix, not an exponent
  EXPECT_EQ(error_of(parse_flop_rate("0 TFLOP/s")),
            "a rate of computing above zero such as \"989 TFLOP/s\"; ");
}

TEST(ParsePercent, IsAFraction) {
  EXPECT_EQ(value_of(parse_percent("50%")), 0.5);
  EXPECT_EQ(value_of(parse_percent("12.5 %")), 0.125);
  EXPECT_EQ(value_of(parse_percent("0%")), 0);
  EXPECT_EQ(value_of(parse_percent("400%")), 4);
}

TEST(ParsePercent, RefusesOtherForms) {
  const std::string words = "a percentage such as \"50%\"; ";
  EXPECT_EQ(error_of(parse_percent("50")), words + "a bare number has no unit");
  EXPECT_EQ(error_of(parse_percent("%")), words);
  EXPECT_EQ(error_of(parse_percent("1e999%")), words);
  EXPECT_EQ(error_of(parse_percent("50 GB")), words);
  EXPECT_EQ(error_of(parse_percent("-1%")), "a percentage of zero or more such as \"50%\"; ");
}

TEST(ParseNcclSize, TakesPowersOf1024) {
  const std::vector<std::pair<std::string_view, std::int64_t>> sizes = {{"8", 8},
                                                                        {"0", 0},
                                                                        {"4K", 4 << 10},
                                                                        {"4k", 4 << 10},
                                                                        {"32M", 32 << 20},
                                                                        {"8G", std::int64_t{8} << 30},
                                                                        {"9223372036854775807", kMax}};
  for (const auto& [text, size] : sizes) EXPECT_EQ(value_of(parse_nccl_size(text)), Bytes(size)) << text;
}

TEST(ParseNcclSize, RefusesOtherForms) {
  const std::string words =
      "a size such as \"8\", \"4K\" or \"8G\"; K, M and G are powers of 1024, without a 'B'";
  for (const std::string_view text : {"", "K", "4KiB", "4 K", "1.5K", "-8", "4T", "0x8"})
    EXPECT_EQ(error_of(parse_nccl_size(text)), words) << text;
  for (const std::string_view text : {"8589934592G", "9223372036854775808", "99999999999999999999999"})
    EXPECT_EQ(error_of(parse_nccl_size(text)), "a size below 2^63 bytes such as \"8\", \"4K\" or \"8G\"; ")
        << text;
}

TEST(UnitError, NamesTheUnitThatABareNumberWants) {
  EXPECT_EQ(error_of(parse_time("5")), kTimeWords + "a bare number has no unit");
  EXPECT_EQ(error_of(parse_bytes("5")), kSizeWords + "a bare number has no unit");
  EXPECT_EQ(error_of(parse_bandwidth("400")), kBandwidthWords + "a bare number has no unit");
  EXPECT_EQ(error_of(parse_flop_rate("5e3")), kRateWords + "a bare number has no unit");
}

TEST(UnitError, RefusesWhatIsNoNumber) {
  for (const std::string_view text :
       {"", " ", "fast", "nan GB/s", "inf GB/s", "+5 GB/s", ". GB/s", "e5 GB/s", "0x10 GB/s", "5e GB/s",
        "1.2.3 GB/s", "5 5 GB/s", "GB/s", "-fast", "- 5 GB/s"})
    EXPECT_EQ(error_of(parse_bandwidth(text)), kBandwidthWords) << text;
  EXPECT_EQ(hint_of(parse_bandwidth("1,000 GB/s")), "digits are not grouped; decimals follow a '.'");
  EXPECT_EQ(hint_of(parse_bandwidth("1_000 GB/s")), "digits are not grouped; decimals follow a '.'");
}

TEST(UnitError, SaysThatANegativeValueIsOutOfRange) {
  EXPECT_EQ(error_of(parse_time("-1 us")), "a time of zero or more such as \"1.5 us\" or \"2 ms\"; ");
  EXPECT_EQ(error_of(parse_bytes("-1 B")), "a size of zero or more such as \"25 MiB\" or \"14 GB\"; ");
}

}  // namespace
}  // namespace busbar
