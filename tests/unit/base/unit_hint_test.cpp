// What the reader of quantities suggests where a unit is not one.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "sim/base/unit_text.h"

namespace busbar {
namespace {

template <class T>
std::string hint_of(const Parsed<T>& parsed) {
  const auto* error = std::get_if<UnitError>(&parsed);
  return error == nullptr ? "no error" : error->suggestion;
}

TEST(UnitHint, RespellsWhatPeopleWrite) {
  const std::vector<std::pair<std::string_view, std::string_view>> bandwidths = {
      {"GBps", "'GBps' is written 'GB/s'"},
      {"Gbps", "'Gbps' is written 'Gb/s'"},
      {"GB/sec", "'GB/sec' is written 'GB/s'"},
      {"GB/second", "'GB/second' is written 'GB/s'"},
      {"gb/s", "'GB/s' is in bytes, 'Gb/s' in bits"},
      {"gbps", "'GB/s' is in bytes, 'Gb/s' in bits"},
      {"gib/s", ""},
      {"Gib/s", ""},
      {"GIB/s", "'GIB/s' is written 'GiB/s'"},
      {"Gb", "write 'Gb/s'"},
      {"KB/s", "'kB/s' is in bytes, 'kb/s' in bits"},
      {"GBIT/s", "'GBIT/s' is written 'Gbit/s'"}};
  for (const auto& [unit, hint] : bandwidths)
    EXPECT_EQ(hint_of(parse_bandwidth(fmt::format("4 {}", unit))), hint);
}

TEST(UnitHint, RespellsSizes) {
  const std::vector<std::pair<std::string_view, std::string_view>> sizes = {
      {"KB", "'KB' is written 'kB' (powers of 1000) or 'KiB' (powers of 1024)"},
      {"G", "write 'GB' (powers of 1000) or 'GiB' (powers of 1024)"},
      {"K", "write 'kB' (powers of 1000) or 'KiB' (powers of 1024)"},
      {"k", "write 'kB' (powers of 1000) or 'KiB' (powers of 1024)"},
      {"mib", "'mib' is written 'MiB'"},
      {"Gb", "'Gb' counts bits; a size is in bytes"},
      {"bytes", "'bytes' is written 'B'"},
      {"EiB", ""}};
  for (const auto& [unit, hint] : sizes) EXPECT_EQ(hint_of(parse_bytes(fmt::format("4 {}", unit))), hint);
}

TEST(UnitHint, RespellsTimesAndRates) {
  for (const std::string_view unit : {"sec", "secs", "second", "Seconds"})
    EXPECT_EQ(hint_of(parse_time(fmt::format("4 {}", unit))), fmt::format("'{}' is written 's'", unit));
  EXPECT_EQ(hint_of(parse_time("4 usec")), "'usec' is written 'us'");
  EXPECT_EQ(hint_of(parse_time("4 hours")), "'hours' is written 'h'");
  EXPECT_EQ(hint_of(parse_time("4 MS")), "'MS' is written 'ms'");
  for (const std::string_view unit : {"TFLOPS", "TFLOPs", "TFLOP", "TFLOPs/s", "Tflop/s", "tflops"})
    EXPECT_EQ(hint_of(parse_flop_rate(fmt::format("4 {}", unit))),
              fmt::format("'{}' is written 'TFLOP/s'", unit));
}

TEST(UnitHint, SaysWhatAUnitOfAnotherDimensionIs) {
  EXPECT_EQ(hint_of(parse_bandwidth("450 GB")), "'GB' is a size; a bandwidth is 'GB/s'");
  EXPECT_EQ(hint_of(parse_bandwidth("450 us")), "'us' is a time");
  EXPECT_EQ(hint_of(parse_bytes("450 GB/s")), "'GB/s' is a bandwidth; a size is 'GB'");
  EXPECT_EQ(hint_of(parse_bytes("450 Gb/s")), "'Gb/s' is a bandwidth");
  EXPECT_EQ(hint_of(parse_bytes("450 GBps")), "'GB/s' is a bandwidth; a size is 'GB'");
  EXPECT_EQ(hint_of(parse_time("450 TFLOP/s")), "'TFLOP/s' is a rate of computing");
}

TEST(UnitHint, StaysShortForLongGarbage) {
  EXPECT_EQ(hint_of(parse_time("4 " + std::string(65536, 'x'))), "");
  EXPECT_LT(hint_of(parse_flop_rate("4 " + std::string(65536, 'x') + "flops")).size(), 100U);
}

}  // namespace
}  // namespace busbar
