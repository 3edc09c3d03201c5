// The units by name: what unit_text.h reads and writes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace busbar::detail {

enum class Dimension : std::uint8_t { kTime, kSize, kBandwidth, kFlopRate, kPower };

/// One unit is mantissa x 10^exp10 x 2^exp2 of its dimension's base unit: picosecond, byte, byte/s, FLOP/s,
/// watt. Integers, so that a size is read without rounding.
struct Unit {
  Dimension dimension;
  std::string_view name;
  int mantissa = 1;
  int exp10 = 0;
  int exp2 = 0;
};

inline constexpr Unit kUnits[] = {
    {Dimension::kTime, "ps"},
    {Dimension::kTime, "ns", 1, 3},
    {Dimension::kTime, "us", 1, 6},
    {Dimension::kTime, "\u00b5s", 1, 6},  // micro sign
    {Dimension::kTime, "\u03bcs", 1, 6},  // Greek mu, which looks the same
    {Dimension::kTime, "ms", 1, 9},
    {Dimension::kTime, "s", 1, 12},
    {Dimension::kTime, "min", 60, 12},
    {Dimension::kTime, "h", 3600, 12},
    {Dimension::kTime, "d", 86400, 12},

    {Dimension::kSize, "B"},
    {Dimension::kSize, "kB", 1, 3},
    {Dimension::kSize, "MB", 1, 6},
    {Dimension::kSize, "GB", 1, 9},
    {Dimension::kSize, "TB", 1, 12},
    {Dimension::kSize, "PB", 1, 15},
    {Dimension::kSize, "KiB", 1, 0, 10},
    {Dimension::kSize, "MiB", 1, 0, 20},
    {Dimension::kSize, "GiB", 1, 0, 30},
    {Dimension::kSize, "TiB", 1, 0, 40},
    {Dimension::kSize, "PiB", 1, 0, 50},

    {Dimension::kBandwidth, "B/s"},
    {Dimension::kBandwidth, "kB/s", 1, 3},
    {Dimension::kBandwidth, "MB/s", 1, 6},
    {Dimension::kBandwidth, "GB/s", 1, 9},
    {Dimension::kBandwidth, "TB/s", 1, 12},
    {Dimension::kBandwidth, "KiB/s", 1, 0, 10},
    {Dimension::kBandwidth, "MiB/s", 1, 0, 20},
    {Dimension::kBandwidth, "GiB/s", 1, 0, 30},
    {Dimension::kBandwidth, "TiB/s", 1, 0, 40},
    {Dimension::kBandwidth, "b/s", 1, 0, -3},
    {Dimension::kBandwidth, "kb/s", 1, 3, -3},
    {Dimension::kBandwidth, "Mb/s", 1, 6, -3},
    {Dimension::kBandwidth, "Gb/s", 1, 9, -3},
    {Dimension::kBandwidth, "Tb/s", 1, 12, -3},
    {Dimension::kBandwidth, "bit/s", 1, 0, -3},
    {Dimension::kBandwidth, "kbit/s", 1, 3, -3},
    {Dimension::kBandwidth, "Mbit/s", 1, 6, -3},
    {Dimension::kBandwidth, "Gbit/s", 1, 9, -3},
    {Dimension::kBandwidth, "Tbit/s", 1, 12, -3},

    {Dimension::kFlopRate, "FLOP/s"},
    {Dimension::kFlopRate, "kFLOP/s", 1, 3},
    {Dimension::kFlopRate, "MFLOP/s", 1, 6},
    {Dimension::kFlopRate, "GFLOP/s", 1, 9},
    {Dimension::kFlopRate, "TFLOP/s", 1, 12},
    {Dimension::kFlopRate, "PFLOP/s", 1, 15},
    {Dimension::kFlopRate, "EFLOP/s", 1, 18},

    {Dimension::kPower, "W"},
    {Dimension::kPower, "kW", 1, 3},
};

/// The unit of exactly this name, or nullptr.
[[nodiscard]] const Unit* find_unit(std::string_view name);
/// The unit in base units. Exact: every power in the table is a double.
[[nodiscard]] double factor_of(const Unit& unit);

/// What the writer of `given` most likely meant where a unit of `wanted` is due: "'GBps' is written 'GB/s'",
/// "'GB' is a size; a bandwidth is 'GB/s'". "" where nothing is near.
[[nodiscard]] std::string unit_hint(Dimension wanted, std::string_view given);

}  // namespace busbar::detail
